/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's processes on this host, as their command lines describe them. Nothing in them is touched. */
#ifndef VP_MACHINES_QEMU_H
#define VP_MACHINES_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "vmm-probe/engine/facts.h"

enum vp_accel {
	VP_ACCEL_UNKNOWN,
	VP_ACCEL_KVM,
	VP_ACCEL_TCG,
};

/** "kvm", "tcg", "-". */
const char *vp_accel_name(enum vp_accel accel);

struct vp_qemu {
	pid_t pid;
	char name[VP_GUEST_NAME]; /* of -name; "" */
	char uuid[37];            /* of -uuid; "" */
	uint32_t nvcpus;          /* 0: not known */
	enum vp_accel accel;
	bool libvirt;     /* libvirt's own */
	bool plugin;      /* our plugin is on the command line, */
	char socket[108]; /* with this socket; "": where engines listen when they are not told, or not to be
			     told */
};

/** A command line: @p len bytes of NUL-terminated arguments. Sets all but @c pid; of the socket what socket=
 * says. */
void vp_qemu_parse(const char *cmdline, size_t len, struct vp_qemu *ret);

/** All QEMU processes that this process may look at, by PID; *ret is the caller's. */
OT_MUST_CHECK struct ot_err *vp_qemu_list(struct vp_qemu **ret, size_t *ret_count);

#endif
