/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest that bombs are made in: memory that is mapped one to one, symbols, and a list of modules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bombs.h"
#include "vmm-probe/arch/arch.h"

#define LARGE_PAGE (2u << 20)
#define ROOT       0x1000u
#define TABLE      0x3u  /* present, writable */
#define LARGE      0x83u /* … of 2 MiB */

void bomb_ok(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "a bomb can't be made: %s\n", ot_err_message(err));
	exit(3);
}

static void *take(void *mem)
{
	if (!mem)
		bomb_ok(ot_err_nomem());
	return mem;
}

static struct vp_symtab *make_symtab(size_t mib, const struct bomb_symbol *symbols)
{
	struct vp_symtab *tab;

	bomb_ok(vp_symtab_create(&tab));
	bomb_ok(vp_symtab_add_range(tab, VP_SYMTAB_VMLINUX, BOMB_BASE, BOMB_BASE + (mib << 20)));
	for (; symbols && symbols->name; symbols++)
		bomb_ok(vp_symtab_add(tab, symbols->gva, 'D', VP_SYMTAB_VMLINUX, 0, symbols->name,
				      strlen(symbols->name)));
	bomb_ok(vp_symtab_finish(tab));
	return tab;
}

struct bomb_guest *bomb_guest_make(size_t mib, const struct bomb_symbol *symbols)
{
	struct bomb_guest *b = take(calloc(1, sizeof(*b)));
	size_t ram = BOMB_RAM + (mib << 20);
	uint8_t *mem = take(aligned_alloc(LARGE_PAGE, ram));
	uint64_t *table = (uint64_t *)(void *)(mem + ROOT);

	memset(mem, 0, ram);
	b->memory = mem + BOMB_RAM;
	b->guest = take(calloc(1, sizeof(*b->guest)));
	table[BOMB_BASE >> 39 & 511] = (ROOT + 0x1000) | TABLE;
	table[512 + (BOMB_BASE >> 30 & 511)] = (ROOT + 0x2000) | TABLE;
	for (size_t at = 0; at < mib << 20; at += LARGE_PAGE)
		table[1024 + ((BOMB_BASE + at) >> 21 & 511)] = (BOMB_RAM + at) | LARGE;
	bomb_ok(vp_phys_create(&b->phys));
	bomb_ok(vp_phys_add_memory(b->phys, vp_gpa(0), ram, mem));
	b->guest->phys = b->phys;
	vp_mmu_init(&b->guest->kernel.mmu, vp_arch_native.paging, vp_gpa(ROOT), 4);
	b->guest->kernel.base = vp_gva(BOMB_BASE);
	b->guest->kernel.size = mib << 20;
	b->guest->symtab = make_symtab(mib, symbols);
	ot_buf_init(&b->guest->note);
	return b;
}

void bomb_guest_types(struct bomb_guest *b, const void *blob, size_t len)
{
	bomb_ok(vp_btf_create(blob, len, NULL, &b->guest->btf));
}

void *bomb_at(struct bomb_guest *b, uint64_t gva)
{
	return b->memory + (gva - BOMB_BASE);
}

void bomb_put64(struct bomb_guest *b, uint64_t gva, uint64_t value)
{
	memcpy(bomb_at(b, gva), &value, sizeof(value));
}

void bomb_put32(struct bomb_guest *b, uint64_t gva, uint32_t value)
{
	memcpy(bomb_at(b, gva), &value, sizeof(value));
}

void bomb_modules(struct bomb_guest *b, uint64_t head, uint64_t at, unsigned n, uint32_t stride, uint64_t end)
{
	struct vp_module_layout *l = &b->guest->layout;

	memset(l, 0xff, sizeof(*l)); /* VP_MODULE_NONE everywhere */
	l->state = 0;
	l->list = 8;
	l->name = 24;
	l->name_size = 56;
	l->core_base = 0x60;
	l->core_size = 0x68;
	l->btf_data = 0x70;
	l->btf_data_size = 0x78;
	l->kallsyms = 0x80;
	l->ks_symtab = 0;
	l->ks_num_symtab = 8;
	l->ks_strtab = 16;
	b->guest->have_layout = true;
	bomb_put64(b, head, n ? at + l->list : end);
	for (unsigned i = 0; i < n; i++) {
		uint64_t module = at + (uint64_t)i * stride;

		bomb_put64(b, module + l->list, i + 1 < n ? module + stride + l->list : end);
		snprintf(bomb_at(b, module + l->name), l->name_size, "module%u", i);
		bomb_put64(b, module + l->core_base, BOMB_BASE);
		bomb_put32(b, module + l->core_size, 128u << 10);
	}
}
