/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of the virtual machine: its private state, and memory access. All functions here may
 * set vm->fault, which callers check before they use a result.
 */
#ifndef DIF_VM_VM_PRIV_H
#define DIF_VM_VM_PRIV_H

#include <string.h>

#include "dif/vm/dynvar.h"
#include "dif/vm/vm.h"

/* An element of the tuple stack. size 0: value is the element itself; else its address. */
struct dif_tuple {
	uint64_t value;
	uint64_t size;
	bool text; /* a string, whose last byte counts as NUL whatever its value */
};

#define DIF_NSTRVARS 16 /* a power of two above the number of built-in strings */

/* The base of segments that have no memory: an empty range of it is still an address. */
extern uint8_t dif_vm_nothing[8];

struct dif_vm_priv {
	struct dif_tuple tuple[DIF_NTUPLE];
	unsigned ntuple;
	uint64_t scratch_size;
	/* Buffers for copies of guest strings; strsize + 1 bytes each. */
	char *tmp[2];
	/* strtok's copy of its string; strsize + 1 bytes. vm->strtok_at is 1 + the position. */
	char *strtok;
	uint32_t strtok_len;
	/* Buffer for building the key of a dynamic variable. */
	uint8_t *key;
	uint32_t key_cap;
	/* The current thread, queried at most once per firing. */
	struct dif_thread_key thread;
	bool thread_known;
	/* Built-in strings that are in scratch already; valid if their clause is the current one. */
	uint64_t clause; /* incremented by dif_vm_begin_clause() */
	struct {
		uint64_t clause;
		uint64_t addr;
		uint32_t id;
	} strvars[DIF_NSTRVARS];
};

/* --- faults and fuel ------------------------------------------------------------ */

/* Set the fault of an evaluation, unless there is one already. */
static inline void dif_vm_raise(struct dif_vm *vm, enum dif_fault fault, uint64_t addr)
{
	if (vm->fault == DIF_FAULT_NONE) {
		vm->fault = fault;
		vm->fault_addr = addr;
	}
}

/** Consume fuel for accessing @p bytes. False: it is used up (ILLOP). */
static inline bool dif_vm_burn(struct dif_vm *vm, uint64_t bytes)
{
	uint64_t cost = bytes / 8 + 1;

	if (ot_unlikely(vm->fuel < cost)) {
		vm->fuel = 0;
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return false;
	}
	vm->fuel -= cost;
	return true;
}

/* --- memory ------------------------------------------------------------------------ */

/** The host address of @p len bytes at window address @p addr; NULL: out of bounds. */
static inline uint8_t *dif_mem_window(const struct dif_vm *vm, uint64_t addr, uint64_t len)
{
	uint64_t seg = addr >> 40 & 0xff, offset = addr & 0xffffffffffull;

	if (ot_unlikely(seg >= DIF_NSEGS))
		return NULL;
	const struct dif_seg *s = &vm->seg[seg];
	if (ot_unlikely(offset > s->size || len > s->size - offset))
		return NULL;
	return s->base + offset;
}

/** The same for writing; NULL also if a program may not write there. */
uint8_t *dif_mem_writable(struct dif_vm *vm, uint64_t addr, uint64_t len);

/** Load @p len bytes of window or guest memory. False: unreadable (BADADDR), or no fuel. */
bool dif_mem_load(struct dif_vm *vm, uint64_t addr, void *dst, uint64_t len, bool user);

/** Copy @p len bytes to writable window memory. False: unreadable or not writable (BADADDR), or no fuel. */
bool dif_mem_copy(struct dif_vm *vm, uint64_t from, uint64_t to, uint64_t len, bool user);

/* A string. It is not scanned again for its NUL, because shared memory may change at any time. */
struct dif_str {
	const char *s;
	uint32_t len;
};

/**
 * Read the string at @p addr, at most @p max bytes (and at most strsize). A string in the window is used in
 * place, a guest's is copied to @p buf of max + 1 bytes. False: it is NULL or unreadable (BADADDR), or no
 * fuel.
 */
bool dif_mem_string(struct dif_vm *vm, uint64_t addr, uint32_t max, bool user, char *buf,
		    struct dif_str *ret);

/** Allocate @p size bytes of scratch, aligned to 8, not cleared. NULL: no room (NOSCRATCH). */
void *dif_scratch_alloc(struct dif_vm *vm, uint64_t size, uint64_t *ret_addr);

/** Copy @p len bytes as a string to scratch; its address; 0: no room (NOSCRATCH), or no fuel. */
uint64_t dif_scratch_string(struct dif_vm *vm, const char *s, uint32_t len);

/* --- variables and subroutines ---------------------------------------------------------- */

uint64_t dif_var_builtin(struct dif_vm *vm, uint32_t id);
uint64_t dif_var_load_static(struct dif_vm *vm, unsigned scope, uint32_t id);
void dif_var_store_static(struct dif_vm *vm, unsigned scope, uint32_t id, uint64_t value);
uint64_t dif_var_load_dynamic(struct dif_vm *vm, unsigned scope, uint32_t id, bool array);
void dif_var_store_dynamic(struct dif_vm *vm, unsigned scope, uint32_t id, bool array, uint64_t value);

void dif_tuple_push(struct dif_vm *vm, unsigned kind, uint64_t value, uint64_t size, bool byref);

/** Call a subroutine with the tuple stack as arguments; its result; 0 if vm->fault is set. */
uint64_t dif_subr_call(struct dif_vm *vm, uint32_t subr);

/* Argument @i as a value; dif_arg_string(): as a string, with a buffer for 0 and another for 1. */
static inline uint64_t dif_arg(const struct dif_vm *vm, unsigned i)
{
	return ((const struct dif_vm_priv *)vm->priv)->tuple[i].value;
}
static inline unsigned dif_nargs(const struct dif_vm *vm)
{
	return ((const struct dif_vm_priv *)vm->priv)->ntuple;
}
bool dif_arg_string(struct dif_vm *vm, unsigned i, struct dif_str *ret);

/* Bodies of subroutines, in subr_*.c. Each finds at least its required arguments on the tuple stack; a
 * result counts only where no fault was raised. */
#define DECLARE_own(name) uint64_t dif_subr_##name(struct dif_vm *vm);
#define DECLARE_ask(name)
#define X(num, name, result, required, optional, since, stability, trait, evaluation, lowering) \
	DECLARE_##evaluation(name)
DIF_SUBRS(X)
#undef X
#undef DECLARE_ask
#undef DECLARE_own

#endif
