/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's memory access: the D window, bounds-checked; all other addresses through ops->load. */
#include "dif/vm/vm_priv.h"

#define PAGE 4096u

uint8_t *dif_mem_writable(struct dif_vm *vm, uint64_t addr, uint64_t len)
{
	uint64_t seg = addr >> 40 & 0xff;

	if (!dif_window_has(addr) || seg >= DIF_NSEGS || !vm->seg[seg].writable)
		return NULL;
	/* In dynamic variables only values may be written, not the links between cells. */
	if (seg == DIF_SEG_DYNVARS && !dif_dynvars_is_value(vm->dynvars, addr & 0xffffffffffull, len))
		return NULL;
	return dif_mem_window(vm, addr, len);
}

bool dif_mem_load(struct dif_vm *vm, uint64_t addr, void *dst, uint64_t len, bool user)
{
	if (!len)
		return true; /* the address need not be valid */
	if (!dif_vm_burn(vm, len))
		return false;
	if (dif_window_has(addr)) {
		const uint8_t *src = dif_mem_window(vm, addr, len);
		if (src) {
			/* src may be scratch that overlaps dst */
			memmove(dst, src, len);
			return true;
		}
	} else if (len <= UINT32_MAX && vm->ops->load(vm->env, addr, dst, (uint32_t)len, user)) {
		return true;
	}
	dif_vm_raise(vm, DIF_FAULT_BADADDR, addr);
	return false;
}

bool dif_mem_copy(struct dif_vm *vm, uint64_t from, uint64_t to, uint64_t len, bool user)
{
	uint8_t *dst = dif_mem_writable(vm, to, len);

	if (!dst) {
		dif_vm_raise(vm, DIF_FAULT_BADADDR, to);
		return false;
	}
	if (!len)
		return true;
	if (!dif_vm_burn(vm, len))
		return false;
	if (dif_window_has(from)) {
		const uint8_t *src = dif_mem_window(vm, from, len);
		if (src) {
			memmove(dst, src, len);
			return true;
		}
	} else if (len <= UINT32_MAX && vm->ops->load(vm->env, from, dst, (uint32_t)len, user)) {
		return true;
	}
	dif_vm_raise(vm, DIF_FAULT_BADADDR, from);
	return false;
}

/* --- strings --------------------------------------------------------------------- */

static bool window_string(struct dif_vm *vm, uint64_t addr, uint32_t max, struct dif_str *ret)
{
	const char *s = (const char *)dif_mem_window(vm, addr, 0);
	uint64_t left = s ? vm->seg[addr >> 40 & 0xff].size - (addr & 0xffffffffffull) : 0;
	uint32_t n = left < max ? (uint32_t)left : max;

	/* Scanning costs fuel by the bytes scanned. */
	const char *nul = n ? memchr(s, 0, n) : NULL;
	ret->s = s;
	ret->len = nul ? (uint32_t)(nul - s) : n;
	if (!dif_vm_burn(vm, ret->len))
		return false;
	if (nul || (s && n == max))
		return true;
	dif_vm_raise(vm, DIF_FAULT_BADADDR, addr + left);
	return false;
}

/* Guest strings are read in pieces that end at page boundaries, since the next page may not be mapped. The
 * first piece is small, as most strings are. */
static bool guest_string(struct dif_vm *vm, uint64_t addr, uint32_t max, bool user, char *buf,
			 struct dif_str *ret)
{
	uint32_t len = 0, piece = 64;

	while (len < max) {
		uint32_t n = PAGE - (uint32_t)((addr + len) & (PAGE - 1));
		if (n > piece)
			n = piece;
		if (n > max - len)
			n = max - len;
		if (!dif_vm_burn(vm, n))
			return false;
		if (!vm->ops->load(vm->env, addr + len, buf + len, n, user)) {
			dif_vm_raise(vm, DIF_FAULT_BADADDR, addr + len);
			return false;
		}
		const char *nul = memchr(buf + len, 0, n);
		if (nul) {
			len = (uint32_t)(nul - buf);
			break;
		}
		len += n;
		piece = PAGE;
	}
	ret->s = buf;
	ret->len = len;
	return true;
}

bool dif_mem_string(struct dif_vm *vm, uint64_t addr, uint32_t max, bool user, char *buf, struct dif_str *ret)
{
	if (max > vm->strsize)
		max = vm->strsize;
	if (!addr) {
		dif_vm_raise(vm, DIF_FAULT_BADADDR, 0);
		return false;
	}
	if (dif_window_has(addr))
		return window_string(vm, addr, max, ret);
	return guest_string(vm, addr, max, user, buf, ret);
}

/* --- scratch ------------------------------------------------------------------------- */

void *dif_scratch_alloc(struct dif_vm *vm, uint64_t size, uint64_t *ret_addr)
{
	struct dif_vm_priv *p = vm->priv;
	struct dif_seg *scratch = &vm->seg[DIF_SEG_SCRATCH];
	uint64_t at = (vm->scratch_used + 7) & ~7ull;

	*ret_addr = 0;
	if (at > p->scratch_size || size > p->scratch_size - at) {
		dif_vm_raise(vm, DIF_FAULT_NOSCRATCH, 0);
		return NULL;
	}
	vm->scratch_used = at + size;
	*ret_addr = dif_window_addr(DIF_SEG_SCRATCH, at);
	/* A NUL after the allocation ends it if it is used as a string, until the next allocation. The
	 * segment's memory is a few bytes larger than scratch_size. */
	scratch->base[at + size] = 0;
	return scratch->base + at;
}

uint64_t dif_scratch_string(struct dif_vm *vm, const char *s, uint32_t len)
{
	uint64_t addr;

	if (!dif_vm_burn(vm, len))
		return 0;
	char *dst = dif_scratch_alloc(vm, (uint64_t)len + 1, &addr);
	if (!dst)
		return 0;
	memcpy(dst, s, len);
	dst[len] = 0;
	return addr;
}

/* --- values for records ----------------------------------------------------------------- */

static bool copy_string(struct dif_vm *vm, uint64_t addr, bool user, char *dst, uint32_t size)
{
	struct dif_str str;
	struct dif_vm_priv *p = vm->priv;

	if (!size)
		return true;
	/* A string that fills its record has no NUL there. */
	if (!dif_mem_string(vm, addr, size, user, p->tmp[0], &str))
		return false;
	memcpy(dst, str.s, str.len);
	memset(dst + str.len, 0, size - str.len);
	return dif_vm_burn(vm, size);
}

enum dif_fault dif_vm_copy(struct dif_vm *vm, const struct dif_rtype *type, uint64_t addr, void *dst,
			   uint32_t size)
{
	bool user = type->flags & DIF_TF_BYUREF;
	bool ok;

	vm->fault = DIF_FAULT_NONE;
	vm->fault_offset = UINT32_MAX;
	if (type->kind == DIF_TYPE_STRING)
		ok = copy_string(vm, addr, user, dst, size);
	else if (!addr)
		ok = false;
	else
		ok = dif_mem_load(vm, addr, dst, size, user);
	if (!ok)
		dif_vm_raise(vm, DIF_FAULT_BADADDR, addr);
	return vm->fault;
}
