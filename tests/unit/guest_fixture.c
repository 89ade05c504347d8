/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up guest's memory and page tables, for tests of what reads a guest. */
#include "guest_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE_FLAGS  0x63ull /* present, writable, accessed, dirty */
#define LARGE       0x80ull
#define NX          (1ull << 63)
#define SPARE_TABLE 0x2f000u /* physical: behind those that map_kernel() takes */
#define TOKEN_SYS   0x80     /* "sys_" */
#define TOKEN_EMPTY 0x90     /* from here on, nothing */
#define RELEASE     "6.9.0-test"

void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

void assert_err(struct ot_err *err, enum ot_err_code code, const char *part)
{
	assert_non_null(err);
	if (ot_err_code(err) != code || (part && !strstr(ot_err_message(err), part)))
		fail_msg("code %d, want %d with \"%s\": %s", ot_err_code(err), code, part ? part : "",
			 ot_err_message(err));
	ot_err_destroy(err);
}

void fill_noise(void *dst, size_t len, uint32_t seed)
{
	uint8_t *out = dst;
	size_t first = len < 65521 ? len : 65521; /* repeated from there, for speed */

	for (size_t i = 0; i < first; i++) {
		seed = seed * 1664525u + 1013904223u;
		out[i] = (uint8_t)(seed >> 24);
	}
	for (size_t i = first; i < len; i += first)
		memcpy(out + i, out, len - i < first ? len - i : first);
}

void ks_make_symbols(const struct ks_layout *layout, uint64_t base, struct ks_symbol syms[KS_SYMBOLS])
{
	bool percpu = layout->values == VP_KALLSYMS_PERCPU || layout->values == VP_KALLSYMS_ABSOLUTE;
	unsigned int n = 0;

	if (percpu) {
		syms[n++] = (struct ks_symbol){ 0, 'A', "__per_cpu_start" };
		syms[n++] = (struct ks_symbol){ 0x1f00, 'A', "current_task" };
		syms[n++] = (struct ks_symbol){ 0x34000, 'A', "__per_cpu_end" };
		syms[n++] = (struct ks_symbol){ 0x80000, 'A', "a_number" };
	}
	syms[n++] = (struct ks_symbol){ base, 'T', "_text" };
	syms[n++] = (struct ks_symbol){ base, 'T', "_stext" };
	syms[n++] = (struct ks_symbol){ base + GUEST_BANNER_OFF, 'D', "linux_banner" };
	syms[n++] = (struct ks_symbol){ base + GUEST_PGT_OFF, 'D', "init_top_pgt" };
	syms[n++] = (struct ks_symbol){ base + 0x6000, 'd', "modules" };
	for (; n < KS_SYMBOLS; n++) {
		syms[n] = (struct ks_symbol){ base + 0x10000 + 16 * (n / 2 * 2), n % 3 ? 't' : 'T', "" };
		snprintf(syms[n].name, sizeof(syms[n].name), n % 7 ? "func_%u" : "__x64_sys_call%u", n);
	}
	if (layout->uleb) {
		memset(syms[300].name, 'x', 200);
		syms[300].name[200] = '\0';
	}
}

static void put(uint8_t *image, size_t size, size_t at, const void *data, size_t len)
{
	assert_true(at <= size && len <= size - at);
	memcpy(image + at, data, len);
}

static size_t align(size_t v, size_t to)
{
	return (v + to - 1) / to * to;
}

static size_t table_align(const struct ks_layout *layout)
{
	return layout->packed ? 4 : 8;
}

static size_t write_tokens(const struct ks_layout *layout, uint8_t *image, size_t size, size_t at,
			   struct ks_places *places)
{
	uint16_t index[256];

	places->tokens = at;
	for (unsigned int i = 0; i < 256; i++) {
		char text[8] = { 0 };

		if (i == TOKEN_SYS)
			strcpy(text, "sys_");
		else if (i < TOKEN_EMPTY)
			text[0] = i > 32 && i < 127 ? (char)i : 'q';
		index[i] = (uint16_t)(at - places->tokens);
		put(image, size, at, text, strlen(text) + 1);
		at += strlen(text) + 1;
	}
	places->index = at = align(at, table_align(layout));
	put(image, size, at, index, sizeof(index));
	return at + sizeof(index);
}

/* One name: its codes, with "sys_" as a token. */
static size_t encode(const struct ks_symbol *sym, uint8_t codes[512])
{
	size_t n = 0;

	codes[n++] = (uint8_t)sym->type;
	for (const char *s = sym->name; *s;) {
		bool token = strncmp(s, "sys_", 4) == 0;

		codes[n++] = token ? TOKEN_SYS : (uint8_t)*s;
		s += token ? 4 : 1;
	}
	return n;
}

static size_t write_names(const struct ks_layout *layout, uint8_t *image, size_t size, size_t at,
			  const struct ks_symbol *syms, struct ks_places *places)
{
	uint64_t markers[KS_SYMBOLS / 256 + 1];
	uint32_t count = KS_SYMBOLS;

	at = align(at, table_align(layout));
	places->count = at;
	memset(image + at, 0, 8);
	put(image, size, at, &count, sizeof(count));
	places->names = at += table_align(layout);
	for (unsigned int i = 0; i < KS_SYMBOLS; i++) {
		uint8_t codes[512], head[2];
		size_t n = encode(&syms[i], codes), len = n < 128 ? 1 : 2;

		if (i % 256 == 0)
			markers[i / 256] = at - places->names;
		head[0] = (uint8_t)(n < 128 ? n : (n & 0x7f) | 0x80);
		head[1] = (uint8_t)(n >> 7);
		put(image, size, at, head, len);
		put(image, size, at + len, codes, n);
		at += len + n;
	}
	memset(image + at, 0, 8);
	places->markers = at = align(at, table_align(layout));
	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++, at += layout->marker_size)
		put(image, size, at, &markers[i], layout->marker_size);
	memset(image + at, 0, 8);
	return align(at, table_align(layout));
}

static size_t write_values(const struct ks_layout *layout, uint8_t *image, size_t size, size_t at,
			   uint64_t base, const struct ks_symbol *syms)
{
	uint64_t relative_base = base;

	at = align(at, table_align(layout));
	for (unsigned int i = 0; i < KS_SYMBOLS; i++) {
		uint64_t addr = syms[i].addr;
		uint32_t rel = (uint32_t)(addr - base);

		if (layout->values == VP_KALLSYMS_ABSOLUTE) {
			put(image, size, at, &addr, 8);
			at += 8;
			continue;
		}
		if (layout->values == VP_KALLSYMS_PERCPU)
			rel = addr < base ? (uint32_t)addr : (uint32_t)(base - 1 - addr);
		else if (layout->values == VP_KALLSYMS_PLACE)
			rel = (uint32_t)(addr - (base + at));
		put(image, size, at, &rel, 4);
		at += 4;
	}
	at = align(at, table_align(layout));
	if (layout->values == VP_KALLSYMS_RELATIVE || layout->values == VP_KALLSYMS_PERCPU) {
		put(image, size, at, &relative_base, 8);
		at += 8;
	}
	return at;
}

static size_t write_seqs(const struct ks_layout *layout, uint8_t *image, size_t size, size_t at)
{
	for (unsigned int i = 0; i < KS_SYMBOLS; i++, at += 3) {
		unsigned int seq = (i * 331) % KS_SYMBOLS;
		uint8_t bytes[3] = { (uint8_t)(seq >> 16), (uint8_t)(seq >> 8), (uint8_t)seq };

		put(image, size, at, bytes, 3);
	}
	memset(image + at, 0, 8);
	return align(at, table_align(layout));
}

void ks_write(const struct ks_layout *layout, uint8_t *image, size_t size, size_t off, uint64_t base,
	      const struct ks_symbol syms[KS_SYMBOLS], struct ks_places *ret)
{
	size_t at = off;

	ret->start = off;
	if (layout->values_first)
		at = write_values(layout, image, size, at, base, syms);
	at = write_names(layout, image, size, at, syms, ret);
	if (layout->values_first && layout->seqs)
		at = write_seqs(layout, image, size, at);
	at = write_tokens(layout, image, size, at, ret);
	if (!layout->values_first)
		at = write_values(layout, image, size, at, base, syms);
	if (!layout->values_first && layout->seqs)
		at = write_seqs(layout, image, size, at);
	ret->end = at;
}

void map_page(uint8_t *ram, uint64_t root, unsigned int levels, uint64_t gva, uint64_t gpa, uint64_t size,
	      uint64_t *next)
{
	uint64_t table = root;

	for (unsigned int level = levels;; level--) {
		unsigned int shift = 12 + 9 * (level - 1);
		uint64_t *entry = (uint64_t *)(ram + table) + ((gva >> shift) & 0x1ff);

		if (1ull << shift == size) {
			*entry = gpa | PAGE_FLAGS | (level > 1 ? LARGE : 0);
			return;
		}
		if (!*entry) {
			memset(ram + *next, 0, 4096);
			*entry = *next | PAGE_FLAGS;
			*next += 4096;
		}
		table = *entry & ~0xfffull;
	}
}

/* The same kernel half under the kernel's own table and a process's; a PTI user table without it. */
static void map_kernel(struct guest_fixture *g)
{
	const uint64_t roots[] = { GUEST_CR3, GUEST_IMAGE_GPA + GUEST_PGT_OFF };
	uint64_t next = GUEST_CR3 + 0x2000;

	memset(g->ram + GUEST_CR3, 0, 0x20000);
	memset(g->ram + GUEST_IMAGE_GPA + GUEST_PGT_OFF, 0, 4096);
	for (int i = 0; i < 2; i++) {
		for (uint64_t at = 0; at < GUEST_IMAGE; at += 2u << 20)
			map_page(g->ram, roots[i], g->levels, GUEST_BASE + at, GUEST_IMAGE_GPA + at, 2u << 20,
				 &next);
		map_page(g->ram, roots[i], g->levels, GUEST_MODULES, GUEST_MODULES_GPA, 2u << 20, &next);
	}
}

void guest_end_text(struct guest_fixture *g, uint64_t root, uint64_t text_size)
{
	uint64_t *table = (uint64_t *)(g->ram + SPARE_TABLE), *entry;
	uint64_t at = root;

	for (unsigned int level = g->levels; level > 2; level--) {
		entry = (uint64_t *)(g->ram + at) + ((GUEST_BASE >> (12 + 9 * (level - 1))) & 0x1ff);
		at = *entry & ~0xfffull;
	}
	entry = (uint64_t *)(g->ram + at) + ((GUEST_BASE >> 21) & 0x1ff);
	*entry = SPARE_TABLE | PAGE_FLAGS;
	for (uint64_t i = 0; i < 512; i++)
		table[i] = (GUEST_IMAGE_GPA + i * 4096) | PAGE_FLAGS | (i * 4096 < text_size ? 0 : NX);
}

void guest_fixture_init(struct guest_fixture *g, const struct ks_layout *layout, unsigned int levels)
{
	static const uint32_t note[] = { 4, 20, 3, 0x00554e47 };
	uint8_t *image;

	memset(g, 0, sizeof(*g));
	g->levels = levels;
	g->ram = malloc(GUEST_RAM);
	assert_non_null(g->ram);
	fill_noise(g->ram, GUEST_RAM, 1);
	image = g->ram + GUEST_IMAGE_GPA;
	memset(image + GUEST_BANNER_OFF - 64, 0, 512);
	strcpy((char *)image + GUEST_BANNER_OFF, "Linux version " RELEASE " (someone@somewhere) #1 SMP\n");
	memcpy(image + GUEST_NOTE_OFF, note, sizeof(note));
	memset(image + GUEST_NOTE_OFF + sizeof(note), 0x5a, 20);
	ks_make_symbols(layout, GUEST_BASE, g->syms);
	ks_write(layout, image, GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, g->syms, &g->ks);
	map_kernel(g);
	memset(g->ram + GUEST_MODULES_GPA, 0, 2u << 20);
	guest_put64(g, GUEST_BASE + 0x6000, GUEST_BASE + 0x6000); /* an empty list of modules */
	guest_put64(g, GUEST_BASE + 0x6008, GUEST_BASE + 0x6000);
	assert_ok(vp_phys_create(&g->phys));
	assert_ok(vp_phys_add_memory(g->phys, vp_gpa(0), GUEST_RAM, g->ram));
}

void guest_fixture_deinit(struct guest_fixture *g)
{
	vp_phys_destroy(g->phys);
	free(g->ram);
}

uint8_t *guest_at(struct guest_fixture *g, uint64_t gva)
{
	if (gva >= GUEST_MODULES)
		return g->ram + GUEST_MODULES_GPA + (gva - GUEST_MODULES);
	return g->ram + GUEST_IMAGE_GPA + (gva - GUEST_BASE);
}

void guest_put64(struct guest_fixture *g, uint64_t gva, uint64_t value)
{
	memcpy(guest_at(g, gva), &value, sizeof(value));
}

struct vp_regs guest_regs(const struct guest_fixture *g, uint64_t cr3)
{
	struct vp_regs regs = { .valid = VP_REG_BIT(VP_CR3) | VP_REG_BIT(VP_CR4) };

	regs.v[VP_CR3] = cr3;
	regs.v[VP_CR4] = g->levels == 5 ? 1u << 12 : 0;
	return regs;
}

void guest_write_vmcoreinfo(struct guest_fixture *g, uint64_t gpa, uint64_t init_top_pgt, const char *more)
{
	char *page = (char *)g->ram + gpa;

	memset(page, 0, 4096);
	snprintf(page, 4096,
		 "OSRELEASE=" RELEASE "\nBUILD-ID=5a5a5a5a5a5a5a5a\nPAGESIZE=4096\n"
		 "SYMBOL(init_top_pgt)=%llx\nNUMBER(phys_base)=%lld\nNUMBER(pgtable_l5_enabled)=%d\n%s",
		 (unsigned long long)init_top_pgt,
		 (long long)(GUEST_IMAGE_GPA - (GUEST_BASE - VP_KERNEL_MAP_START)), g->levels == 5, more);
}
