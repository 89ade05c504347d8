/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt's domains: listing, searching, starting and stopping. One connection at a time, one thread. */
#ifndef VP_MACHINES_LIBVIRT_H
#define VP_MACHINES_LIBVIRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum vp_domain_state {
	VP_DOMAIN_RUNNING,
	VP_DOMAIN_PAUSED,
	VP_DOMAIN_SHUT_OFF,
	VP_DOMAIN_CRASHED,
};

/** "running", "paused", "shut off", "crashed". */
const char *vp_domain_state_name(enum vp_domain_state state);

struct vp_domain {
	char name[256];
	char uuid[37];
	enum vp_domain_state state;
	uint32_t nvcpus;
};

struct vp_libvirt;

/**
 * Connect to @p uri; NULL: libvirt's default ($LIBVIRT_DEFAULT_URI, else qemu:///system for root and
 * qemu:///session for others). No daemon is started.
 *
 * @param may_change domains may be started and stopped; false: a read-only connection
 * @return UNSUPPORTED: libvirt is not installed; NOT_FOUND: no daemon answers; PERMISSION.
 */
OT_MUST_CHECK struct ot_err *vp_libvirt_open(const char *uri, bool may_change, struct vp_libvirt **ret);
void vp_libvirt_close(struct vp_libvirt *lv);

/** The connection's URI, valid until it is closed. */
const char *vp_libvirt_uri(const struct vp_libvirt *lv);

/** Are the domains on another host? */
bool vp_libvirt_is_remote(const struct vp_libvirt *lv);

/** All domains, sorted by name; the caller owns *ret. */
OT_MUST_CHECK struct ot_err *vp_libvirt_list(struct vp_libvirt *lv, struct vp_domain **ret,
					     size_t *ret_count);

/** Find a domain by its name or UUID. NOT_FOUND: the message lists the domains that exist. */
OT_MUST_CHECK struct ot_err *vp_libvirt_find(struct vp_libvirt *lv, const char *spec, struct vp_domain *ret);

/** A domain's XML; the caller owns *ret. @p inactive: with which it will be started next; else the current
 * one. */
OT_MUST_CHECK struct ot_err *vp_libvirt_xml(struct vp_libvirt *lv, const struct vp_domain *domain,
					    bool inactive, char **ret);

/** Start a transient domain. @p with_us: libvirt destroys it when this connection ends for any reason. */
OT_MUST_CHECK struct ot_err *vp_libvirt_start(struct vp_libvirt *lv, const char *xml, bool with_us,
					      struct vp_domain *ret);

/** Destroy a running domain. It is not an error if the domain has ended. */
OT_MUST_CHECK struct ot_err *vp_libvirt_stop(struct vp_libvirt *lv, const struct vp_domain *domain);

#endif
