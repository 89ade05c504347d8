/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracepoints of a guest, of the core kernel (symbols __tracepoint_NAME) and of its modules (their tables
 * of tracepoints), as struct tracepoint has them (include/linux/tracepoint-defs.h; offsets from BTF).
 */
#ifndef VP_GUEST_TRACEPOINTS_H
#define VP_GUEST_TRACEPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct vp_guest;
struct vp_module;

#define VP_TRACEPOINT_NAME_MAX 96u /* with the NUL */
#define VP_TRACEPOINTS_MAX     32768u

struct vp_guest_tracepoint {
	const char *name;   /* "sched_switch": letters, digits and underscores */
	const char *module; /* the kernel module that has it: "vmlinux", "xfs" */
	const char *system; /* of its trace event: "sched"; "": it has none */
	uint64_t gva;       /* of the struct tracepoint */
	uint64_t key;       /* of the static key that enables it */
	uint64_t regfunc;   /* the function that is called when it is enabled for the first time; 0: none */
	uint64_t call_key;  /* of the static call key of the calls that are its events; 0: none */
};

struct vp_guest_tracepoints {
	struct vp_guest_tracepoint *list; /* the core kernel's by address, then modules' */
	size_t count;
	uint64_t size; /* of a struct tracepoint, bytes */
	struct ot_arena names;
};

/** Read all tracepoints, within the budget in force. Modules that can't be read are left out. *ret is empty
 * for a guest without BTF. LIMIT: more than VP_TRACEPOINTS_MAX. *ret is owned by the caller. */
OT_MUST_CHECK struct ot_err *vp_guest_tracepoints_read(struct vp_guest *guest,
						       struct vp_guest_tracepoints *ret);
/** The same of one module of that guest. */
OT_MUST_CHECK struct ot_err *vp_guest_tracepoints_read_module(struct vp_guest *guest,
							      const struct vp_module *module,
							      struct vp_guest_tracepoints *ret);
void vp_guest_tracepoints_deinit(struct vp_guest_tracepoints *tracepoints);

#endif
