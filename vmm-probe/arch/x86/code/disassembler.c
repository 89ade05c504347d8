/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening libcapstone, which does not check its own allocations: while it is opened it gets memory from a
 * reserve where there is no other, and is closed again if it needed that. It allocates a last time when it
 * decodes first, so a nop is decoded here.
 */
#include "vmm-probe/arch/x86/code/disassembler.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESERVE_BYTES 131072u /* 20 KiB are needed by libcapstone 4 */
#define ALIGNED(n)    (((n) + 15) & ~(size_t)15)

static struct {
	_Alignas(16) uint8_t memory[RESERVE_BYTES];
	size_t used;
	bool opening;
} reserve;

static bool is_reserved(const void *p)
{
	return (const uint8_t *)p >= reserve.memory && (const uint8_t *)p < reserve.memory + RESERVE_BYTES;
}

static void *take(size_t size)
{
	void *p = malloc(size);

	if (p || !reserve.opening || size > RESERVE_BYTES || ALIGNED(size) > RESERVE_BYTES - reserve.used)
		return p;
	p = reserve.memory + reserve.used;
	reserve.used += ALIGNED(size);
	return p;
}

static void *take_zeroed(size_t n, size_t size)
{
	size_t whole;
	void *p = __builtin_mul_overflow(n, size, &whole) ? NULL : take(whole);

	return p ? memset(p, 0, whole) : NULL;
}

/* libcapstone does not call it while it is opened. */
static void *resize(void *p, size_t size)
{
	return is_reserved(p) ? NULL : realloc(p, size);
}

static void give_back(void *p)
{
	if (!is_reserved(p))
		free(p);
}

static struct ot_err *open_it(bool detail, struct vp_disassembler *d)
{
	static const uint8_t nop[] = { 0x90 };
	const uint8_t *at = nop;
	size_t left = sizeof(nop);
	uint64_t address = 0;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK)
		return reserve.used
			   ? ot_err_nomem()
			   : ot_err_new(OT_ERR_UNSUPPORTED, "this libcapstone was built without x86");
	if (detail)
		cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (!d->insn || !cs_disasm_iter(d->handle, &at, &left, &address, d->insn) || reserve.used)
		return ot_err_nomem();
	return NULL;
}

struct ot_err *vp_x86_disassembler_open(bool detail, struct vp_disassembler *ret)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	cs_opt_mem memory = { take, take_zeroed, resize, give_back, vsnprintf };
	struct vp_disassembler d = { 0 };

	pthread_mutex_lock(&turn); /* guests that join are attached in a separate thread */
	cs_option(0, CS_OPT_MEM, (size_t)&memory);
	reserve.used = 0;
	reserve.opening = true;
	struct ot_err *err = open_it(detail, &d);
	reserve.opening = false;
	pthread_mutex_unlock(&turn);
	if (err)
		vp_x86_disassembler_close(&d);
	else
		*ret = d;
	return err;
}

void vp_x86_disassembler_close(struct vp_disassembler *d)
{
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->handle)
		cs_close(&d->handle);
	*d = (struct vp_disassembler){ 0 };
}
