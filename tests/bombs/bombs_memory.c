/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bombs in page tables, in the kernel's image and in its table of symbols. */
#include <stdlib.h>
#include <string.h>

#include "bombs.h"
#include "tests/unit/guest_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/kallsyms.h"

#define MIB 1048576ull

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false, false };

/* --- page tables ---------------------------------------------------------------------------------------- */

struct machine {
	struct guest_fixture g;
	struct vp_regs regs[256];
	size_t nregs;
};

static struct machine *machine(size_t nregs)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		bomb_ok(ot_err_nomem());
	guest_fixture_init(&m->g, &layout, 4);
	m->nregs = nregs;
	for (size_t i = 0; i < nregs; i++)
		m->regs[i] = guest_regs(&m->g, GUEST_CR3);
	return m;
}

static struct ot_err *open_guest(void *made)
{
	struct machine *m = made;
	const struct vp_guest_opts opts = { .phys = m->g.phys, .regs = m->regs, .nregs = m->nregs };
	struct vp_guest *guest = NULL;
	struct ot_err *err = vp_guest_open(&opts, &guest);

	vp_guest_destroy(guest);
	return err;
}

#define ROOTS_GPA 0xb00000u /* nothing of the fixture's is from here on */

/* 256 roots, each with a page of its own, map 150 MiB of the same 2 MiB, in which there is no kernel. */
static void *make_roots(void)
{
	struct machine *m = machine(256);
	uint64_t next = GUEST_VMCOREINFO + 0x10000;

	memset(m->g.ram + GUEST_CR3, 0, 4096);
	memset(m->g.ram + GUEST_IMAGE_GPA + GUEST_BANNER_OFF, 0, 64);
	for (uint64_t at = 0; at < 150 * MIB; at += 2 * MIB)
		map_page(m->g.ram, GUEST_CR3, 4, GUEST_BASE + at, GUEST_IMAGE_GPA, 2 * MIB, &next);
	for (unsigned i = 0; i < 256; i++) {
		memcpy(m->g.ram + ROOTS_GPA + i * 8192, m->g.ram + GUEST_CR3, 4096);
		memcpy(m->g.ram + ROOTS_GPA + i * 8192 + 4096, m->g.ram + GUEST_CR3, 4096);
		m->regs[i] = guest_regs(&m->g, ROOTS_GPA + i * 8192);
	}
	return m;
}

static void *make_equal(void)
{
	struct machine *m = make_roots();

	for (unsigned i = 1; i < 256; i++)
		m->regs[i] = m->regs[0];
	return m;
}

/* Every entry of the root is the root. */
static void *make_loop(void)
{
	struct machine *m = machine(1);
	uint64_t *root = (uint64_t *)(void *)(m->g.ram + GUEST_CR3);

	for (unsigned i = 0; i < 512; i++)
		root[i] = GUEST_CR3 | 0x63;
	return m;
}

static void *make_endless(void)
{
	struct machine *m = machine(1);
	uint64_t next = GUEST_VMCOREINFO + 0x10000;

	for (uint64_t gva = VP_KERNEL_MAP_START; gva < VP_KERNEL_MAP_END; gva += 2 * MIB)
		map_page(m->g.ram, GUEST_CR3, 4, gva, GUEST_IMAGE_GPA, 2 * MIB, &next);
	return m;
}

/* --- symbols -------------------------------------------------------------------------------------------- */

static struct vp_image *image(size_t mib)
{
	struct vp_image *ret = calloc(1, sizeof(*ret));

	if (ret)
		ret->data = calloc(mib, MIB);
	if (!ret || !ret->data)
		bomb_ok(ot_err_nomem());
	ret->base = vp_gva(BOMB_BASE);
	ret->size = mib * MIB;
	return ret;
}

static struct ot_err *read_kallsyms(void *made)
{
	struct vp_kallsyms ks = { 0 };
	struct vp_budget budget;

	vp_budget_begin(&budget, &vp_readings[VP_READ_SYMBOLS], false);
	struct ot_err *err = vp_kallsyms_decode(made, 0, &ks);
	vp_kallsyms_deinit(&ks);
	vp_budget_end(&budget);
	return err;
}

#define NAMES      1900000u
#define LONG_TOKEN 200u
#define LONG_LEN   510u

/* Names of two bytes in the image, of which each becomes 511. */
static void *make_expanding(void)
{
	struct vp_image *im = image(8);
	uint8_t *at = im->data + 4096, *tokens;
	uint16_t index[256];
	uint32_t count = NAMES;

	memcpy(at, &count, sizeof(count));
	at += 8;
	for (uint32_t i = 0; i < NAMES; i++, at += 3)
		memcpy(at, "\002t\310", 3); /* a type, and the long token */
	at += -(uintptr_t)(at - im->data) & 7;
	for (uint32_t i = 0; i < (NAMES + 255) / 256; i++, at += 4) {
		uint32_t marker = i * 256 * 3;

		memcpy(at, &marker, sizeof(marker));
	}
	at += -(uintptr_t)(at - im->data) & 7;
	tokens = at;
	for (unsigned i = 0; i < 256; i++) {
		size_t len = i == LONG_TOKEN ? LONG_LEN : 1;

		index[i] = (uint16_t)(at - tokens);
		memset(at, i > 32 && i < 127 ? (int)i : 'q', len);
		at += len + 1;
	}
	at += -(uintptr_t)(at - im->data) & 7;
	memcpy(at, index, sizeof(index));
	return im;
}

/* The beginning of a table of tokens, over and over. */
static void *make_tokens(void)
{
	static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";
	struct vp_image *im = image(150);

	for (size_t at = 0; at + sizeof(digits) < im->size; at += sizeof(digits))
		memcpy(im->data + at, digits, sizeof(digits));
	return im;
}

/* --- names ---------------------------------------------------------------------------------------------- */

/* A release that would clear a terminal, and a table of symbols that can't be read, so that it is named. */
static void *make_escapes(void)
{
	struct machine *m = machine(1);
	uint8_t *im = m->g.ram + GUEST_IMAGE_GPA;

	strcpy((char *)im + GUEST_BANNER_OFF, "Linux version 6.1-\033[2J\033]0;mine\007 (x@y) #1\n");
	memset(im + m->g.ks.tokens, 0, 64);
	return m;
}

const struct bomb bombs_memory[] = {
	{ "roots", "256 vCPUs, each with a page table of its own that maps 150 MiB without a kernel",
	  "no Linux kernel found", make_roots, open_guest },
	{ "equal-roots", "256 vCPUs with one such table", "no Linux kernel found", make_equal, open_guest },
	{ "table-loop", "a page table of which every entry is the table", "", make_loop, open_guest },
	{ "image-without-end", "a kernel that fills its whole address range",
	  "reading the kernel's image takes more than its 160 MiB of memory", make_endless, open_guest },
	{ "kallsyms-expands", "1.9 million symbols, of which each has 511 bytes for the three in memory",
	  "reading the symbols takes more than its 56 MiB of memory", make_expanding, read_kallsyms },
	{ "kallsyms-everywhere", "150 MiB of beginnings of a table of symbols", "", make_tokens,
	  read_kallsyms },
	{ "escapes", "control sequences in the kernel's name, which the line has",
	  "kernel 6.1- can't be read", make_escapes, open_guest },
	{ NULL, NULL, NULL, NULL, NULL },
};
