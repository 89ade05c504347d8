/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that D, DIF and the engine share: variables, actions, faults (those of functions are in
 * functions.h). Variables below 0x121 are the same in every DTrace; 0x121 and 0x200 are FreeBSD's; ours are
 * the scalars 0x400..0x4ff and the arrays 0x40..0x7f.
 */
#ifndef DIF_OBJ_NAMES_H
#define DIF_OBJ_NAMES_H

#include "dif/obj/functions.h"

/* clang-format off */
/*
 * X(NUMBER, NAME, TYPE, SINCE, STABILITY): built-in variables, arrays first. Their types are D's; that of
 * args[] is the probe's. SINCE and STABILITY are explained in functions.h. The engine supplies the values
 * (struct dif_vm_ops).
 */
#define DIF_VAR_FIRST_OWN 0x400 /* the first scalar that no other DTrace has */
#define DIF_VARS(X) \
	X(0x000, args,          "",                     0,  stable)   \
	X(0x001, regs,          "uint64_t[]",           0,  stable)   \
	X(0x002, uregs,         "uint64_t[]",           0,  stable)   \
	X(0x003, vmregs,        "uint64_t[]",           7,  stable)   \
	X(0x100, curthread,     "struct task_struct *", 0,  kernel)   \
	X(0x101, timestamp,     "uint64_t",             0,  stable)   \
	X(0x102, vtimestamp,    "uint64_t",             0,  stable)   \
	X(0x103, ipl,           "uint_t",               0,  stable)   \
	X(0x104, epid,          "uint_t",               0,  stable)   \
	X(0x105, id,            "uint_t",               0,  stable)   \
	X(0x106, arg0,          "int64_t",              0,  stable)   \
	X(0x107, arg1,          "int64_t",              0,  stable)   \
	X(0x108, arg2,          "int64_t",              0,  stable)   \
	X(0x109, arg3,          "int64_t",              0,  stable)   \
	X(0x10a, arg4,          "int64_t",              0,  stable)   \
	X(0x10b, arg5,          "int64_t",              0,  stable)   \
	X(0x10c, arg6,          "int64_t",              0,  stable)   \
	X(0x10d, arg7,          "int64_t",              0,  stable)   \
	X(0x10e, arg8,          "int64_t",              0,  stable)   \
	X(0x10f, arg9,          "int64_t",              0,  stable)   \
	X(0x110, stackdepth,    "uint32_t",             0,  stable)   \
	X(0x111, caller,        "uintptr_t",            0,  stable)   \
	X(0x112, probeprov,     "string",               0,  stable)   \
	X(0x113, probemod,      "string",               0,  stable)   \
	X(0x114, probefunc,     "string",               0,  stable)   \
	X(0x115, probename,     "string",               0,  stable)   \
	X(0x116, pid,           "pid_t",                0,  stable)   \
	X(0x117, tid,           "id_t",                 0,  stable)   \
	X(0x118, execname,      "string",               0,  stable)   \
	X(0x119, zonename,      "string",               0,  stable)   \
	X(0x11a, walltimestamp, "int64_t",              0,  stable)   \
	X(0x11b, ustackdepth,   "uint32_t",             2,  stable)   \
	X(0x11c, ucaller,       "uint64_t",             2,  stable)   \
	X(0x11d, ppid,          "pid_t",                0,  stable)   \
	X(0x11e, uid,           "uint32_t",             0,  stable)   \
	X(0x11f, gid,           "uint32_t",             0,  stable)   \
	X(0x120, errno,         "int",                  0,  stable)   \
	X(0x121, execargs,      "string",               0,  stable)   \
	X(0x122, jid,           "int",                  13, stable)   \
	X(0x123, jailname,      "string",               13, stable)   \
	X(0x200, cpu,           "int",                  0,  stable)   \
	X(0x400, vcpu,          "int",                  13, evolving) \
	X(0x401, guest,         "string",               13, evolving) \
	X(0x402, guestid,       "uint32_t",             13, evolving) \
	X(0x403, view,          "string",               13, evolving) \
	X(0x404, errprov,       "string",               0,  stable)   \
	X(0x405, errmod,        "string",               0,  stable)   \
	X(0x406, errfunc,       "string",               0,  stable)   \
	X(0x407, errname,       "string",               0,  stable)   \
	X(0x408, percpubase,    "uint64_t",             13, evolving)
/* clang-format on */

enum dif_varid {
	DIF_VAR_ARRAY_MAX = 0x00ff,
	DIF_VAR_USER_MIN = 0x500,      /* the first user variable */
	DIF_VAR_PROVIDER_MIN = 0xf000, /* the first one of a provider's clauses */
	DIF_VAR_MAX = 0xffff,
#define X(num, name, ...) DIF_VAR_##name = num,
	DIF_VARS(X)
#undef X
};

/* clang-format off */
/* X(NUMBER, NAME): actions; the high byte is the class. */
#define DIF_ACTIONS(X)                                                                         \
	X(0x0000, none) X(0x0001, difexpr) X(0x0002, exit) X(0x0003, printf) X(0x0004, printa) \
	X(0x0005, libact) X(0x0006, tracemem) X(0x0007, tracemem_dynsize) X(0x0008, printm)    \
	X(0x0009, print) X(0x0101, ustack) X(0x0102, jstack) X(0x0103, usym) X(0x0104, umod)   \
	X(0x0105, uaddr) X(0x0201, stop) X(0x0202, raise) X(0x0203, system) X(0x0204, freopen) \
	X(0x0401, stack) X(0x0402, sym) X(0x0403, mod) X(0x0501, breakpoint) X(0x0502, panic)  \
	X(0x0503, chill) X(0x0601, speculate) X(0x0602, commit) X(0x0603, discard)
/* clang-format on */

enum dif_action_kind {
#define X(num, name) DIF_ACT_##name = num,
	DIF_ACTIONS(X)
#undef X
};

#define DIF_ACT_CLASS(kind)  ((kind)&0xff00)
#define DIF_ACT_AGGREGATION  0x0700
#define DIF_ACT_IS_AGG(kind) (DIF_ACT_CLASS(kind) == DIF_ACT_AGGREGATION)
#define DIF_ACT_IS_PRINTFLIKE(k) \
	((k) == DIF_ACT_printf || (k) == DIF_ACT_printa || (k) == DIF_ACT_system || (k) == DIF_ACT_freopen)

/* The arg of a libact action: the operation that the consumer performs. */
enum dif_libact {
	DIF_LIBACT_NONE,
	DIF_LIBACT_CLEAR,
	DIF_LIBACT_NORMALIZE,
	DIF_LIBACT_DENORMALIZE,
	DIF_LIBACT_TRUNC,
	DIF_LIBACT_FTRUNCATE,
	DIF_LIBACT_SETOPT,
};

/* clang-format off */
/* X(NUMBER, NAME, TEXT, ADDRESS_PRINTED): faults of an evaluation. */
#define DIF_FAULTS(X)                                                                      \
	X(1, BADADDR, "invalid address", 1) X(2, BADALIGN, "invalid alignment", 1)         \
	X(3, ILLOP, "illegal operation", 0) X(4, DIVZERO, "divide-by-zero", 0)             \
	X(5, NOSCRATCH, "out of scratch space", 0) X(6, KPRIV, "invalid kernel access", 0) \
	X(7, UPRIV, "invalid user access", 0) X(8, TUPOFLOW, "tuple stack overflow", 0)    \
	X(9, BADSTACK, "bad stack", 1) X(1000, LIBRARY, "library-level fault", 0)
/* clang-format on */

enum dif_fault {
	DIF_FAULT_NONE = 0,
#define X(num, name, text, addr) DIF_FAULT_##name = num,
	DIF_FAULTS(X)
#undef X
};

/* Probe ids that every session has; args of dtrace:::ERROR in docs. */
enum {
	DIF_PROBE_BEGIN = 1,
	DIF_PROBE_END = 2,
	DIF_PROBE_ERROR = 3,
};

#endif
