/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machines of this host and how each can be traced: guests with an engine, other QEMUs, libvirt's
 * domains. */
#ifndef VP_HOSTS_MACHINES_H
#define VP_HOSTS_MACHINES_H

#include "vmm-probe/hosts/engines.h"
#include "vmm-probe/machines/domain_xml.h"
#include "vmm-probe/machines/libvirt.h"

enum vp_how {
	VP_HOW_NOW,     /* an engine is in it */
	VP_HOW_ATTACH,  /* -g injects one */
	VP_HOW_PEEK,    /* no engine can be injected (`why`); it can be sampled from outside */
	VP_HOW_START,   /* when it runs; its requirements are met, or it has none */
	VP_HOW_PREPARE, /* only after a restart with more options */
	VP_HOW_NOT,     /* not at all: see `why` */
};

struct vp_machine {
	struct vp_guest_info guest; /* of one without an engine: name, pid, uid, rank, nvcpus */
	enum vp_accel accel;
	enum vp_domain_state state;
	bool domain;           /* libvirt's */
	char domain_name[256]; /* in full */
	char uuid[37];         /* the domain's, or QEMU's -uuid; "" */
	bool incoming;         /* its VMM was started to take a guest that migrates */
	enum vp_how how;
	char why[512];      /* VP_HOW_PEEK, VP_HOW_NOT; one line */
	bool name_is_taken; /* a guest of higher rank has its name: -g takes its PID */
};

struct vp_machines {
	struct vp_machine *items;
	size_t count;
	struct ot_buf unseen; /* parts that could not be inspected, with the reason: lines */
};

/**
 * All of them. @p uri: of libvirt, if one was given; NULL: its usual ones, and no answer of them is no error.
 * Reads only, and changes nothing.
 */
OT_MUST_CHECK struct ot_err *vp_machines_list(const char *uri, struct vp_machines *ret);
/** The same of this host for a caller that lists them repeatedly, in a thread of its own; without the
 * kernels' releases. */
OT_MUST_CHECK struct ot_err *vp_machines_poll(struct vp_machines *ret);
void vp_machines_deinit(struct vp_machines *machines);

/** Connections for listing domains: @p uri, or the usual ones. At most VP_LIBVIRT_USUAL; how many in *ret_n.
 * An error only when @p uri was given. */
#define VP_LIBVIRT_USUAL 2
OT_MUST_CHECK struct ot_err *vp_libvirt_open_usual(const char *uri, struct vp_libvirt *ret[VP_LIBVIRT_USUAL],
						   size_t *ret_n);

/**
 * A better error for a guest that was not found or can't be traced now, if libvirt has a domain @p name that
 * does not run: BUSY, "domain web01 is paused …". NULL: it has none.
 */
struct ot_err *vp_domain_not_running(const char *name);

#endif
