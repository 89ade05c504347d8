/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A synthetic Linux guest: RAM in a buffer, page tables, a kernel image with banner, build id and
 * kallsyms in any layout, and room for modules. Enough of a guest for everything that reads one.
 */
#ifndef TESTS_GUEST_FIXTURE_H
#define TESTS_GUEST_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/guest/kallsyms.h"
#include "vmm-probe/guest/kernel.h"
#include "vmm-probe/guest/phys.h"

void assert_ok(struct ot_err *err);
void assert_err(struct ot_err *err, enum ot_err_code code, const char *part); /* part of its message */

/* How kallsyms is written. */
struct ks_layout {
	enum vp_kallsyms_values values;
	bool values_first; /* the order before 6.4 */
	bool seqs;         /* 3 bytes a symbol, in their place of either order */
	unsigned int marker_size;
	bool uleb;   /* with a name of more than 127 codes */
	bool packed; /* tables begin at multiples of 4, as compilers have it since 7.x */
};

struct ks_symbol {
	uint64_t addr;
	char type;
	char name[256];
};

#define KS_SYMBOLS 700

/* The symbols that a table for an image at @p base has, by address; per-CPU ones if the layout can. */
void ks_make_symbols(const struct ks_layout *layout, uint64_t base, struct ks_symbol syms[KS_SYMBOLS]);

/* Where it wrote what, for tests that break it. */
struct ks_places {
	size_t start, count, names, markers, tokens, index, end;
};

/* Write the tables into an image that will lie at @p base, from offset @p off on. */
void ks_write(const struct ks_layout *layout, uint8_t *image, size_t size, size_t off, uint64_t base,
	      const struct ks_symbol syms[KS_SYMBOLS], struct ks_places *ret);

/* Bytes that resemble code and data, the same in every run. */
void fill_noise(void *dst, size_t len, uint32_t seed);

#define GUEST_RAM         (16u << 20)
#define GUEST_BASE        0xffffffff92000000ull
#define GUEST_IMAGE       (4u << 20) /* at physical 4 MiB */
#define GUEST_IMAGE_GPA   (4u << 20)
#define GUEST_MODULES     0xffffffffc0200000ull /* 2 MiB, at physical 8 MiB */
#define GUEST_MODULES_GPA (8u << 20)
#define GUEST_CR3         0x10000u /* a process's table; its PTI user half is the page behind */
#define GUEST_PGT_OFF     0x3000u  /* init_top_pgt in the image */
#define GUEST_BANNER_OFF  0x2040u
#define GUEST_NOTE_OFF    0x2800u
#define GUEST_KS_OFF      0x100000u
#define GUEST_VMCOREINFO  0xa00000u /* physical */

struct guest_fixture {
	uint8_t *ram;
	struct vp_phys *phys;
	unsigned int levels;
	struct ks_symbol syms[KS_SYMBOLS];
	struct ks_places ks;
};

void guest_fixture_init(struct guest_fixture *g, const struct ks_layout *layout, unsigned int levels);
void guest_fixture_deinit(struct guest_fixture *g);

/* Memory of the image and of the modules, by kernel address. */
uint8_t *guest_at(struct guest_fixture *g, uint64_t gva);
void guest_put64(struct guest_fixture *g, uint64_t gva, uint64_t value);

/* Map @p size (4 KiB, 2 MiB or 1 GiB) at @p gva in the tables under @p root, taking new tables from *next. */
void map_page(uint8_t *ram, uint64_t root, unsigned int levels, uint64_t gva, uint64_t gpa, uint64_t size,
	      uint64_t *next);

/* Remap the image's first 2 MiB under @p root, in pages of 4 KiB: text, of which the last from @p
 * text_size on may not be run. */
void guest_end_text(struct guest_fixture *g, uint64_t root, uint64_t text_size);

struct vp_regs guest_regs(const struct guest_fixture *g, uint64_t cr3);
void guest_write_vmcoreinfo(struct guest_fixture *g, uint64_t gpa, uint64_t init_top_pgt, const char *more);

#endif
