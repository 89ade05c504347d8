/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that D, DIF and the engine share: variables, subroutines, actions,
 * aggregations, faults. 0..43 of the subroutines and the variables below 0x121
 * are the same in every DTrace; 44..53 and 0x121, 0x200 are FreeBSD's; ours are
 * scalars 0x400..0x4ff, arrays 0x40..0x7f and subroutines from 0x100.
 */
#ifndef DIF_OBJ_NAMES_H
#define DIF_OBJ_NAMES_H

/* X(NUMBER, NAME): built-in variables. Arrays first. */
#define DIF_VARS(X)                                                                                         \
	X(0x000, args)                                                                                      \
	X(0x001, regs) X(0x002, uregs) X(0x003, vmregs) X(0x100, curthread) X(0x101, timestamp)             \
	    X(0x102, vtimestamp) X(0x103, ipl) X(0x104, epid) X(0x105, id) X(0x106, arg0) X(0x107, arg1)    \
		X(0x108, arg2) X(0x109, arg3) X(0x10a, arg4) X(0x10b, arg5) X(0x10c, arg6) X(0x10d, arg7)   \
		    X(0x10e, arg8) X(0x10f, arg9) X(0x110, stackdepth) X(0x111, caller) X(0x112, probeprov) \
			X(0x113, probemod) X(0x114, probefunc) X(0x115, probename) X(0x116, pid)            \
			    X(0x117, tid) X(0x118, execname) X(0x119, zonename) X(0x11a, walltimestamp)     \
				X(0x11b, ustackdepth) X(0x11c, ucaller) X(0x11d, ppid) X(0x11e, uid)        \
				    X(0x11f, gid) X(0x120, errno) X(0x121, execargs) X(0x122, jid)          \
					X(0x123, jailname) X(0x200, cpu) X(0x400, vcpu) X(0x401, guest)     \
					    X(0x402, guestid) X(0x403, view) X(0x404, errprov)              \
						X(0x405, errmod) X(0x406, errfunc) X(0x407, errname)        \
						    X(0x408, percpubase)

enum dif_varid {
#define X(num, name) DIF_VAR_##name = num,
	DIF_VARS(X)
#undef X
	DIF_VAR_ARRAY_MAX = 0x00ff,
	DIF_VAR_USER_MIN = 0x500, /* the first user variable */
	DIF_VAR_MAX = 0xffff,
};

/* X(NUMBER, NAME, NARGS_MIN, NARGS_MAX): subroutines, tuple elements they take. */
#define DIF_SUBRS(X)                                                                                 \
	X(0, rand, 0, 0) X(1, mutex_owned, 1, 1) X(2, mutex_owner, 1, 1)                             \
	X(3, mutex_type_adaptive, 1, 1) X(4, mutex_type_spin, 1, 1) X(5, rw_read_held, 1, 1)         \
	X(6, rw_write_held, 1, 1) X(7, rw_iswriter, 1, 1) X(8, copyin, 2, 2)                         \
	X(9, copyinstr, 1, 2) X(10, speculation, 0, 0) X(11, progenyof, 1, 1) X(12, strlen, 1, 1)    \
	X(13, copyout, 3, 3) X(14, copyoutstr, 3, 3) X(15, alloca, 1, 1) X(16, bcopy, 3, 3)          \
	X(17, copyinto, 3, 3) X(18, msgdsize, 1, 1) X(19, msgsize, 1, 1) X(20, getmajor, 1, 1)       \
	X(21, getminor, 1, 1) X(22, ddi_pathname, 2, 2) X(23, strjoin, 2, 2) X(24, lltostr, 1, 2)    \
	X(25, basename, 1, 1) X(26, dirname, 1, 1) X(27, cleanpath, 1, 1) X(28, strchr, 2, 2)        \
	X(29, strrchr, 2, 2) X(30, strstr, 2, 2) X(31, strtok, 2, 2) X(32, substr, 2, 3)             \
	X(33, index, 2, 3) X(34, rindex, 2, 3) X(35, htons, 1, 1) X(36, htonl, 1, 1)                 \
	X(37, htonll, 1, 1) X(38, ntohs, 1, 1) X(39, ntohl, 1, 1) X(40, ntohll, 1, 1)                \
	X(41, inet_ntop, 2, 2) X(42, inet_ntoa, 1, 1) X(43, inet_ntoa6, 1, 1)                        \
	X(44, toupper, 1, 1) X(45, tolower, 1, 1) X(46, memref, 2, 2) X(47, sx_shared_held, 1, 1)    \
	X(48, sx_exclusive_held, 1, 1) X(49, sx_isexclusive, 1, 1) X(50, memstr, 3, 3)               \
	X(51, getf, 1, 1) X(52, json, 2, 2) X(53, strtoll, 1, 2) X(0x100, d_path, 1, 4)              \
	X(0x101, link_ntop, 2, 2)

enum dif_subr {
#define X(num, name, lo, hi) DIF_SUBR_##name = num,
	DIF_SUBRS(X)
#undef X
};

/* X(NUMBER, NAME): actions; the high byte is the class. */
#define DIF_ACTIONS(X)                                                                               \
	X(0x0000, none) X(0x0001, difexpr) X(0x0002, exit) X(0x0003, printf) X(0x0004, printa)       \
	X(0x0005, libact) X(0x0006, tracemem) X(0x0007, tracemem_dynsize) X(0x0008, printm)          \
	X(0x0009, print) X(0x0101, ustack) X(0x0102, jstack) X(0x0103, usym) X(0x0104, umod)         \
	X(0x0105, uaddr) X(0x0201, stop) X(0x0202, raise) X(0x0203, system) X(0x0204, freopen)       \
	X(0x0401, stack) X(0x0402, sym) X(0x0403, mod) X(0x0501, breakpoint) X(0x0502, panic)        \
	X(0x0503, chill) X(0x0601, speculate) X(0x0602, commit) X(0x0603, discard)

enum dif_action_kind {
#define X(num, name) DIF_ACT_##name = num,
	DIF_ACTIONS(X)
#undef X
};

#define DIF_ACT_CLASS(kind)      ((kind) & 0xff00)
#define DIF_ACT_AGGREGATION      0x0700
#define DIF_ACT_IS_AGG(kind)     (DIF_ACT_CLASS(kind) == DIF_ACT_AGGREGATION)
#define DIF_ACT_IS_PRINTFLIKE(k) \
	((k) == DIF_ACT_printf || (k) == DIF_ACT_printa || (k) == DIF_ACT_system || (k) == DIF_ACT_freopen)

/* What a libact action asks of the consumer (its arg). */
enum dif_libact {
	DIF_LIBACT_CLEAR = 1,
	DIF_LIBACT_NORMALIZE,
	DIF_LIBACT_DENORMALIZE,
	DIF_LIBACT_TRUNC,
	DIF_LIBACT_FTRUNCATE,
	DIF_LIBACT_SETOPT,
};

/* X(NUMBER, NAME): aggregating functions, as action kinds. */
#define DIF_AGGS(X)                                                                                  \
	X(0x701, count) X(0x702, min) X(0x703, max) X(0x704, avg) X(0x705, sum) X(0x706, stddev)     \
	X(0x707, quantize) X(0x708, lquantize) X(0x709, llquantize)

enum dif_agg_kind {
#define X(num, name) DIF_AGG_##name = num,
	DIF_AGGS(X)
#undef X
};

/* X(NUMBER, NAME, TEXT, ADDRESS_PRINTED): faults of an evaluation. */
#define DIF_FAULTS(X)                                                                                \
	X(1, BADADDR, "invalid address", 1) X(2, BADALIGN, "invalid alignment", 1)                   \
	X(3, ILLOP, "illegal operation", 0) X(4, DIVZERO, "divide-by-zero", 0)                       \
	X(5, NOSCRATCH, "out of scratch space", 0) X(6, KPRIV, "invalid kernel access", 0)           \
	X(7, UPRIV, "invalid user access", 0) X(8, TUPOFLOW, "tuple stack overflow", 0)              \
	X(9, BADSTACK, "bad stack", 1) X(1000, LIBRARY, "library-level fault", 0)

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
