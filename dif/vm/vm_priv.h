/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the virtual machine share: its private state, and memory access. Every
 * function here may set vm->fault; callers look at it before they use a result.
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
	bool text; /* a string: its last byte counts as NUL, whatever is there */
};

#define DIF_NSTRVARS 16 /* a power of two above the number of built-in strings */

/* The base of segments that have no memory: an empty range of it is still an address. */
extern uint8_t dif_vm_nothing[8];

struct dif_vm_priv {
	struct dif_tuple tuple[DIF_NTUPLE];
	unsigned ntuple;
	uint64_t scratch_size;
	/* Copies of guest strings while a subroutine works on them; strsize + 1 bytes each. */
	char *tmp[2];
	/* What strtok has yet to give out; strsize + 1 bytes. vm->strtok_at is 1 + the position. */
	char *strtok;
	uint32_t strtok_len;
	/* Key of a dynamic variable as it is being built. */
	uint8_t *key;
	uint32_t key_cap;
	/* Who runs, asked for once a firing. */
	struct dif_thread_key thread;
	bool thread_known;
	/* Built-in strings that are in scratch already, if made in this clause. */
	uint64_t clause; /* counts dif_vm_begin_clause() */
	struct {
		uint64_t clause;
		uint64_t addr;
		uint32_t id;
	} strvars[DIF_NSTRVARS];
};

/* --- faults and fuel ------------------------------------------------------------ */

/* The first fault of an evaluation stays. */
static inline void dif_vm_raise(struct dif_vm *vm, enum dif_fault fault, uint64_t addr)
{
	if (vm->fault == DIF_FAULT_NONE) {
		vm->fault = fault;
		vm->fault_addr = addr;
	}
}

/** Pay for touching @p bytes; false (and ILLOP) when fuel is gone. */
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

/** The host address of @p len bytes at window address @p addr, or NULL out of bounds. */
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

/** The same for writing: also NULL for what a program may not write. */
uint8_t *dif_mem_writable(struct dif_vm *vm, uint64_t addr, uint64_t len);

/** Load @p len bytes of window or guest memory; false and BADADDR when that can't be. */
bool dif_mem_load(struct dif_vm *vm, uint64_t addr, void *dst, uint64_t len, bool user);

/** Copy @p len bytes to writable window memory; false and BADADDR when that can't be. */
bool dif_mem_copy(struct dif_vm *vm, uint64_t from, uint64_t to, uint64_t len, bool user);

/* A string as the machine sees it: never scanned again for its NUL, for shared memory may
 * change under us. */
struct dif_str {
	const char *s;
	uint32_t len;
};

/**
 * Look at the string at @p addr, at most @p max bytes of it (no more than strsize). Window
 * strings are used in place, the guest's are copied to @p buf of max + 1 bytes.
 * False and BADADDR when it is NULL or runs into memory that can't be read.
 */
bool dif_mem_string(struct dif_vm *vm, uint64_t addr, uint32_t max, bool user, char *buf,
		    struct dif_str *ret);

/** Take @p size bytes of scratch, aligned to 8, not cleared; NULL and NOSCRATCH without room. */
void *dif_scratch_alloc(struct dif_vm *vm, uint64_t size, uint64_t *ret_addr);

/** A copy of @p len bytes as a string in scratch; its address, or 0 and NOSCRATCH. */
uint64_t dif_scratch_string(struct dif_vm *vm, const char *s, uint32_t len);

/* --- variables and subroutines ---------------------------------------------------------- */

uint64_t dif_var_builtin(struct dif_vm *vm, uint32_t id);
uint64_t dif_var_load_static(struct dif_vm *vm, unsigned scope, uint32_t id);
void dif_var_store_static(struct dif_vm *vm, unsigned scope, uint32_t id, uint64_t value);
uint64_t dif_var_load_dynamic(struct dif_vm *vm, unsigned scope, uint32_t id, bool array);
void dif_var_store_dynamic(struct dif_vm *vm, unsigned scope, uint32_t id, bool array, uint64_t value);

void dif_tuple_push(struct dif_vm *vm, unsigned kind, uint64_t value, uint64_t size, bool byref);

/** Call a subroutine on the tuple stack; its result, 0 with vm->fault set. */
uint64_t dif_subr_call(struct dif_vm *vm, uint32_t subr);

/* Argument @p i as a value; as a string (0 and 1 have a buffer each). */
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
