/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known VMMs on this host, QEMU and outsight-vmm, as the kernel and their command lines describe them. The
 * processes are not touched. */
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
	pid_t inner;  /* its PID in its own PID namespace, which is in the name of its socket */
	uid_t uid;    /* its real uid */
	bool one_uid; /* all its uids are the same */
	bool seen;    /* its executable is a VMM's; false: unreadable, only the command line is known */
	bool monitor; /* outsight-vmm */
	bool vouched; /* a PID file of the system's libvirt lists it */
	char name[VP_GUEST_NAME]; /* of the plugin's name=, else of -name; "" */
	char uuid[37];            /* of -uuid; "" */
	uint32_t nvcpus;          /* 0: unknown */
	enum vp_accel accel;
	bool incoming;    /* it was started to take a guest that migrates (-incoming) */
	bool libvirt;     /* libvirt started it */
	bool plugin;      /* our plugin is on the command line, */
	char socket[108]; /* with this socket; "": the default one, or unknown */
	char rundir[96];  /* its XDG_RUNTIME_DIR, the directory of the default socket; "" */
};

/** Parse a command line: @p len bytes of NUL-terminated arguments. Sets all members that it determines; the
 * socket only from socket=. */
void vp_qemu_parse(const char *cmdline, size_t len, struct vp_qemu *ret);

/** All processes of VMMs, sorted by PID; the caller owns *ret. Those that are not @c seen may be listed, but
 * not trusted. */
OT_MUST_CHECK struct ot_err *vp_qemu_list(struct vp_qemu **ret, size_t *ret_count);

#endif
