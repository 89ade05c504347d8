/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMMs on this host that we know: QEMU's processes and our own monitor's, as the kernel and their command
 * lines describe them. Nothing in them is touched. */
#ifndef VP_MACHINES_QEMU_H
#define VP_MACHINES_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/facts.h"

enum vp_accel {
	VP_ACCEL_UNKNOWN,
	VP_ACCEL_KVM,
	VP_ACCEL_TCG,
};

/** "kvm", "tcg", "-". */
const char *vp_accel_name(enum vp_accel accel);

struct vp_qemu {
	pid_t pid;
	pid_t inner;  /* its PID in its own PID namespace, as which it listens */
	uid_t uid;    /* whose it is */
	bool one_uid; /* and all its uids are that */
	bool seen;    /* the file that it runs is a VMM's. Else that may not be looked at, and its own word is
			 all there is */
	bool monitor; /* outsight-vmm */
	bool vouched; /* the system's libvirt has written down that it is one of its domains */
	char name[VP_GUEST_NAME]; /* of the plugin's name=, else of -name; "" */
	char uuid[37];            /* of -uuid; "" */
	uint32_t nvcpus;          /* 0: not known */
	enum vp_accel accel;
	bool libvirt;     /* libvirt's own */
	bool plugin;      /* our plugin is on the command line, */
	char socket[108]; /* with this socket; "": where engines listen when they are not told, or not to be
			     told */
	char rundir[96];  /* its XDG_RUNTIME_DIR, which says where that is; "" */
};

/** A command line: @p len bytes of NUL-terminated arguments. Sets what it tells; of the socket what socket=
 * says. */
void vp_qemu_parse(const char *cmdline, size_t len, struct vp_qemu *ret);

/** All VMMs' processes, by PID; *ret is the caller's. What is not @c seen is for telling of it only. */
OT_MUST_CHECK struct ot_err *vp_qemu_list(struct vp_qemu **ret, size_t *ret_count);

#endif
