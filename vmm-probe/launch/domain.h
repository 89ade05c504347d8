/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting a libvirt domain that can be traced, for `outsight run --libvirt`. */
#ifndef VP_LAUNCH_DOMAIN_H
#define VP_LAUNCH_DOMAIN_H

#include <stdbool.h>

#include "base/err.h"

struct vp_domain_vm;

/* Borrowed for the call. */
struct vp_domain_opts {
	const char *xml; /* the file */
	const char *uri; /* of libvirt; NULL: its default */
	bool with_us;    /* libvirt ends it when this process ends, in any way */
};

/**
 * Start a transient domain from its XML, made traceable, and return when its engine answers; its kernel may
 * still be booting then. Takes some seconds, 30 s at most.
 *
 * @return UNSUPPORTED: libvirt is not installed, or a domain that can't be traced; NOT_FOUND: the file or
 * libvirt's daemon; GUEST_GONE, BUSY: no engine answered. The domain is stopped then.
 */
OT_MUST_CHECK struct ot_err *vp_domain_launch(const struct vp_domain_opts *opts, struct vp_domain_vm **ret);

/** Free it. A domain that was started with_us is stopped, others run on. NULL is fine. */
void vp_domain_vm_destroy(struct vp_domain_vm *vm);

const char *vp_domain_vm_name(const struct vp_domain_vm *vm);
/** Its engine's control socket. */
const char *vp_domain_vm_socket(const struct vp_domain_vm *vm);
/** Readable once its QEMU has ended; owned by the VM. */
int vp_domain_vm_fd(const struct vp_domain_vm *vm);

#endif
