/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DIF virtual machine: evaluates one verified object in the context of one
 * probe firing. One struct dif_vm per vCPU, used by one thread at a time; nothing
 * here allocates, locks, blocks or formats after dif_vm_init().
 *
 * Addresses. No host pointer ever enters a register. An address whose top 16 bits are
 * 0xd100 (non-canonical with 4 and 5 page-table levels) is in the D window:
 *
 *   63      48 47    40 39                                0
 *   |  d100   | segment |            offset               |
 *
 * Every load, store and subroutine resolves it against the segment's bounds. Any other
 * address is the guest's, and goes through ops->load: kernel space for ld*, user space for
 * uld* and copyin. So no forged integer can read the process that evaluates.
 *
 * Fuel. Each firing has fuel (dif_vm_begin()). An evaluation pays one for each instruction of its
 * object (all at once, for there are no loops) and one for each 8 bytes that a subroutine, tuple or
 * string touches. When it is gone the evaluation ends with ILLOP.
 *
 * Strings are looked at once for their end and are (address, length) from then on, and a shared
 * word is read once: other processes may write globals and dynamic variables at any time.
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
	DIF_SEG_GLOBALS, /* by-reference globals; shared by every engine of the session */
	DIF_SEG_LOCALS,  /* by-reference clause-locals, this vCPU's */
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

/* What tells one thread of one guest from another: pid alone is 0 for every idle task. */
struct dif_thread_key {
	uint32_t guest;
	uint32_t interrupt_level;
	uint64_t task;
	uint64_t pid;
	uint64_t start_time;
};

struct dif_vm;

/* The world outside the program. All are called on the vCPU's thread and must be bounded. */
struct dif_vm_ops {
	/* Copy @len bytes of guest memory at @addr; false: not readable (BADADDR). Required. */
	bool (*load)(void *env, uint64_t addr, void *dst, uint32_t len, bool user);
	/* Write guest user memory (copyout); NULL: such calls are ILLOP. */
	bool (*store_user)(void *env, uint64_t addr, const void *src, uint32_t len);
	/* A built-in scalar by enum dif_varid. *fault may be set. Required. */
	uint64_t (*scalar)(void *env, uint32_t id, enum dif_fault *fault);
	/* An element of a built-in array (args, regs, uregs). Required. */
	uint64_t (*array)(void *env, uint32_t id, uint64_t index, enum dif_fault *fault);
	/* A built-in string (execname, probefunc …) into @dst, at most @cap bytes with the NUL;
	 * returns strlen, or -1 when @id is no string. Required. */
	int (*string)(void *env, uint32_t id, char *dst, uint32_t cap);
	/* Who runs now. Required. */
	void (*thread_key)(void *env, struct dif_thread_key *ret);
	/* Subroutines that need the guest (mutex_owned, progenyof, getf …) or the session
	 * (speculation). ddi_pathname writes into @str, the rest return a value. NULL: ILLOP. */
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
	void *env; /* this vCPU's, handed to ops */

	struct dif_seg seg[DIF_NSEGS];
	uint64_t scratch_used; /* bytes of DIF_SEG_SCRATCH taken in this clause */

	const struct dif_var_layout *vars;
	struct dif_dynvars *dynvars;
	uint32_t vcpu; /* index, for the free lists of dynvars */
	uint32_t strsize;

	uint64_t fuel;
	enum dif_fault fault; /* of the last evaluation */
	uint64_t fault_addr;
	uint32_t fault_offset; /* byte offset of the instruction; UINT32_MAX: dif_vm_copy(), no instruction */

	uint64_t strtok_at; /* 1 + the position that strtok saved, valid in one firing; 0: none */
	uint64_t rand_state[2];
	void *priv; /* tables of the implementation, built by dif_vm_init() */
};

struct dif_vm_config {
	const struct dif_vm_ops *ops;
	void *env;
	const struct dif_var_layout *vars; /* borrowed, outlives the vm */
	void *globals;                     /* shared region of vars->globals_size bytes */
	struct dif_dynvars *dynvars;       /* borrowed; NULL: the program has none */
	uint32_t vcpu;
	uint32_t strsize;
	uint32_t scratch_size; /* bytes of private scratch to allocate */
};

OT_MUST_CHECK struct ot_err *dif_vm_init(struct dif_vm *vm, const struct dif_vm_config *config);
void dif_vm_deinit(struct dif_vm *vm);

/** Start of a firing: fuel is filled, strtok forgets. */
void dif_vm_begin(struct dif_vm *vm, uint64_t fuel);

/** Start of a clause: scratch is empty. */
void dif_vm_begin_clause(struct dif_vm *vm);

/**
 * Evaluate a verified object. On DIF_FAULT_NONE *ret is its value; for by-reference types that
 * is an address for dif_vm_copy(), good until the next dif_vm_eval() or begin of a clause. Else *ret is 0 and
 * vm->fault_addr, vm->fault_offset tell where.
 */
enum dif_fault dif_vm_eval(struct dif_vm *vm, const struct dif_object *obj, uint64_t *ret);

/**
 * Copy the value of @p type at @p addr (D window or guest) to @p dst of @p size bytes: a string
 * stops at its NUL and the rest is zeroed (the last byte always is), anything else is exactly
 * @p size bytes. Costs fuel. A NULL string is BADADDR at 0.
 */
enum dif_fault dif_vm_copy(struct dif_vm *vm, const struct dif_rtype *type, uint64_t addr, void *dst,
			   uint32_t size);

#endif
