/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DIF virtual machine: evaluates a verified object for a probe firing. There is one struct dif_vm per
 * vCPU, used by one thread at a time; nothing here allocates, locks, blocks or formats after dif_vm_init().
 *
 * Addresses. No host pointer ever enters a register. An address whose top 16 bits are 0xd100 (non-canonical
 * with 4 and 5 page-table levels) is in the D window:
 *
 *   63      48 47    40 39                                0
 *   |  d100   | segment |            offset               |
 *
 * Every load, store and subroutine checks it against the segment's bounds. All other addresses are the
 * guest's and are read by ops->load: kernel space for ld*, user space for uld* and copyin. So no forged
 * integer can read memory of the evaluating process.
 *
 * Fuel. Each firing has fuel (dif_vm_begin()). An evaluation costs one unit for each instruction of its
 * object (in advance, since there are no loops) and one for each 8 bytes that a subroutine, tuple or string
 * accesses. When the fuel is used up, the evaluation ends with ILLOP.
 *
 * A string is scanned once for its end and is (address, length) from then on, and a shared word is read once,
 * because other processes may write globals and dynamic variables at any time.
 */
#ifndef DIF_VM_VM_H
#define DIF_VM_VM_H

#include "dif/obj/layout.h"
#include "dif/obj/object.h"

#define DIF_WINDOW_TAG   0xd100ull
#define DIF_FUEL_DEFAULT 1000000u

enum dif_segment {
	DIF_SEG_NONE = 0,
	DIF_SEG_STRTAB,  /* the running object's strings; read-only */
	DIF_SEG_SCRATCH, /* alloca, results of string subroutines; freed at the end of a clause */
	DIF_SEG_GLOBALS, /* by-reference globals; shared by all engines of the session */
	DIF_SEG_LOCALS,  /* by-reference clause-locals of this vCPU */
	DIF_SEG_DYNVARS, /* values of dynamic variables; shared */
	DIF_NSEGS,
};

static inline uint64_t dif_window_addr(enum dif_segment seg, uint64_t offset)
{
	return DIF_WINDOW_TAG << 48 | (uint64_t)seg << 40 | offset;
}
static inline bool dif_window_has(uint64_t addr)
{
	return addr >> 48 == DIF_WINDOW_TAG;
}

/* Identifies a thread of a guest. The PID does not suffice: it is 0 for every idle task. */
struct dif_thread_key {
	uint32_t guest;
	uint32_t interrupt_level;
	uint64_t task;
	uint64_t pid;
	uint64_t start_time;
};

struct dif_vm;

/* The environment of the program. All functions are called on the vCPU's thread and must be bounded. */
struct dif_vm_ops {
	/* Copy @len bytes of guest memory at @addr; false: unreadable (BADADDR). Required. */
	bool (*load)(void *env, uint64_t addr, void *dst, uint32_t len, bool user);
	/* Write guest user memory (copyout); NULL: such calls are ILLOP. */
	bool (*store_user)(void *env, uint64_t addr, const void *src, uint32_t len);
	/* A built-in scalar by enum dif_varid. *fault may be set. Required. */
	uint64_t (*scalar)(void *env, uint32_t id, enum dif_fault *fault);
	/* An element of a built-in array (args, regs, uregs). Required. */
	uint64_t (*array)(void *env, uint32_t id, uint64_t index, enum dif_fault *fault);
	/* Store a built-in string (execname, probefunc …) in @dst, at most @cap bytes with the NUL; returns
	 * its length, or -1: @id is not a string. Required. */
	int (*string)(void *env, uint32_t id, char *dst, uint32_t cap);
	/* The current thread. Required. */
	void (*thread_key)(void *env, struct dif_thread_key *ret);
	/* Subroutines that need the guest (mutex_owned, progenyof, getf …) or the session (speculation).
	 * ddi_pathname writes to @str, all others return a value. NULL: ILLOP. */
	uint64_t (*subr)(void *env, uint32_t subr, const uint64_t *args, unsigned nargs, char *str,
			 uint32_t cap, enum dif_fault *fault);
};

struct dif_dynvars; /* dif/vm/dynvar.h */

struct dif_seg {
	uint8_t *base;
	uint64_t size;
	bool writable;
};

struct dif_vm {
	const struct dif_vm_ops *ops;
	void *env; /* this vCPU's argument for ops */

	struct dif_seg seg[DIF_NSEGS];
	uint64_t scratch_used; /* bytes of DIF_SEG_SCRATCH allocated in this clause */

	const struct dif_var_layout *vars;
	struct dif_dynvars *dynvars;
	uint32_t vcpu; /* index, for the free lists of dynvars */
	uint32_t strsize;

	uint64_t fuel;
	enum dif_fault fault; /* of the last evaluation */
	uint64_t fault_addr;
	uint32_t fault_offset; /* byte offset of the instruction; UINT32_MAX: in dif_vm_copy() */

	uint64_t strtok_at; /* 1 + strtok's saved position, valid during one firing; 0: none */
	uint64_t rand_state[2];
	void *priv; /* struct dif_vm_priv, allocated by dif_vm_init() */
};

struct dif_vm_config {
	const struct dif_vm_ops *ops;
	void *env;
	const struct dif_var_layout *vars; /* borrowed, must outlive the vm */
	void *globals;                     /* shared region of vars->globals_size bytes */
	struct dif_dynvars *dynvars;       /* borrowed; NULL: the program has no dynamic variables */
	uint32_t vcpu;
	uint32_t strsize;
	uint32_t scratch_size; /* bytes of private scratch to allocate */
};

OT_MUST_CHECK struct ot_err *dif_vm_init(struct dif_vm *vm, const struct dif_vm_config *config);
void dif_vm_deinit(struct dif_vm *vm);

/** Begin a firing: set the fuel, reset strtok, and begin a clause. */
void dif_vm_begin(struct dif_vm *vm, uint64_t fuel);

/** Begin a clause: free all scratch. */
void dif_vm_begin_clause(struct dif_vm *vm);

/**
 * Evaluate a verified object. With DIF_FAULT_NONE *ret is its value; for by-reference types that is an
 * address for dif_vm_copy(), valid until the next dif_vm_eval() or dif_vm_begin_clause(). With a fault *ret
 * is 0, and vm->fault_addr and vm->fault_offset are set.
 */
enum dif_fault dif_vm_eval(struct dif_vm *vm, const struct dif_object *obj, uint64_t *ret);

/**
 * Evaluate another object while dif_vm_eval() is in an operation of vm->ops, or between evaluations: the
 * outer evaluation continues afterwards. A string constant of @p obj is copied to scratch. A fault stays in
 * the vm, so that the operation's caller reports it with its address.
 */
enum dif_fault dif_vm_eval_within(struct dif_vm *vm, const struct dif_object *obj, uint64_t *ret);

/**
 * Copy the value of @p type at @p addr (D window or guest) to @p dst of @p size bytes: of a string, the bytes
 * before its NUL, and the rest is zeroed (a string of @p size bytes has no NUL); of other types, @p size
 * bytes. Costs fuel. A NULL string is BADADDR at 0.
 */
enum dif_fault dif_vm_copy(struct dif_vm *vm, const struct dif_rtype *type, uint64_t addr, void *dst,
			   uint32_t size);

#endif
