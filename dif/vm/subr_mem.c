/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines on memory: scratch, copies from and to the guest's user space, memref and memstr. */
#include "dif/vm/vm_priv.h"

#define MEMSTR_MAX 4096u

uint64_t dif_subr_alloca(struct dif_vm *vm)
{
	uint64_t addr, size = dif_arg(vm, 0);
	void *mem = dif_scratch_alloc(vm, size, &addr);

	if (!mem || !dif_vm_burn(vm, size))
		return 0;
	memset(mem, 0, size);
	return addr;
}

uint64_t dif_subr_copyin(struct dif_vm *vm)
{
	uint64_t addr, size = dif_arg(vm, 1);
	void *mem = dif_scratch_alloc(vm, size, &addr);

	if (!mem)
		return 0;
	memset(mem, 0, size);
	return dif_mem_load(vm, dif_arg(vm, 0), mem, size, true) ? addr : 0;
}

/* With a second argument, at most that many bytes, and a NUL. */
uint64_t dif_subr_copyinstr(struct dif_vm *vm)
{
	struct dif_vm_priv *p = vm->priv;
	uint64_t max = vm->strsize - 1;
	struct dif_str s;

	if (dif_nargs(vm) > 1 && dif_arg(vm, 1) < max)
		max = dif_arg(vm, 1);
	if (!dif_mem_string(vm, dif_arg(vm, 0), (uint32_t)max, true, p->tmp[0], &s))
		return 0;
	return dif_scratch_string(vm, s.s, s.len);
}

/* Is it scratch that was allocated in this clause? (A program's own stores may go anywhere in scratch.) */
static bool is_allocated(const struct dif_vm *vm, uint64_t addr, uint64_t len)
{
	uint64_t offset = addr & 0xffffffffffull;

	return dif_window_has(addr) && (addr >> 40 & 0xff) == DIF_SEG_SCRATCH && offset <= vm->scratch_used &&
	       len <= vm->scratch_used - offset;
}

static uint64_t copy_to_scratch(struct dif_vm *vm, uint64_t from, uint64_t to, uint64_t len, bool user)
{
	if (is_allocated(vm, to, len))
		dif_mem_copy(vm, from, to, len, user);
	else
		dif_vm_raise(vm, DIF_FAULT_BADADDR, to);
	return 0;
}

uint64_t dif_subr_copyinto(struct dif_vm *vm)
{
	return copy_to_scratch(vm, dif_arg(vm, 0), dif_arg(vm, 2), dif_arg(vm, 1), true);
}

uint64_t dif_subr_bcopy(struct dif_vm *vm)
{
	return copy_to_scratch(vm, dif_arg(vm, 0), dif_arg(vm, 1), dif_arg(vm, 2), false);
}

/* In pieces, so that the buffer need not be as large as the request. */
static void copy_out(struct dif_vm *vm, bool string)
{
	uint64_t src = dif_arg(vm, 0), dst = dif_arg(vm, 1), len = dif_arg(vm, 2);
	uint8_t piece[256];
	struct dif_str s;

	if (!vm->ops->store_user) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return;
	}
	if (string) {
		if (!dif_arg_string(vm, 0, &s))
			return;
		if (len > (uint64_t)s.len + 1)
			len = (uint64_t)s.len + 1;
	}
	for (uint64_t at = 0; at < len; at += sizeof(piece)) {
		uint32_t n = len - at < sizeof(piece) ? (uint32_t)(len - at) : sizeof(piece);
		if (!dif_mem_load(vm, src + at, piece, n, false))
			return;
		if (!vm->ops->store_user(vm->env, dst + at, piece, n)) {
			dif_vm_raise(vm, DIF_FAULT_BADADDR, dst + at);
			return;
		}
	}
}

uint64_t dif_subr_copyout(struct dif_vm *vm)
{
	copy_out(vm, false);
	return 0;
}

uint64_t dif_subr_copyoutstr(struct dif_vm *vm)
{
	copy_out(vm, true);
	return 0;
}

uint64_t dif_subr_memref(struct dif_vm *vm)
{
	uint64_t addr, *pair = dif_scratch_alloc(vm, 16, &addr);

	if (!pair)
		return 0;
	pair[0] = dif_arg(vm, 0);
	pair[1] = dif_arg(vm, 1);
	return addr;
}

/* Bytes as a string: each NUL is replaced, and the last byte becomes the terminator. */
uint64_t dif_subr_memstr(struct dif_vm *vm)
{
	uint64_t size = dif_arg(vm, 2), addr;
	char with = (char)dif_arg(vm, 1);

	if (size > MEMSTR_MAX) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	if (!size)
		return dif_scratch_string(vm, "", 0);
	char *dst = dif_scratch_alloc(vm, size, &addr);
	if (!dst || !dif_mem_load(vm, dif_arg(vm, 0), dst, size, false))
		return 0;
	for (uint64_t i = 0; i < size - 1; i++) {
		if (!dst[i])
			dst[i] = with;
	}
	dst[size - 1] = 0;
	return addr;
}
