/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/modules: a list of modules in a synthetic guest, in both shapes of struct module, and lists that lie.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/contained.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/mmu.h"
#include "vmm-probe/guest/modules.h"

#define HEAD        (GUEST_BASE + 0x6000)
#define MODULE(n)   (GUEST_MODULES + (uint64_t)(n)*0x10000) /* struct module, its tables behind it */
#define KALLSYMS    0x1000u                                 /* offsets from there */
#define SYMTAB      0x1100u
#define STRTAB      0x2000u
#define TYPETAB     0x3000u
#define EXPORTS     0x4000u
#define EXPORT_NAME 0x4800u
#define TEXT        0x5000u
#define MODULE_SIZE 0x8000u

/* The layout that BTF describes for this guest. */
static struct vp_module_layout layout_of(bool mem)
{
	struct vp_module_layout l;

	memset(&l, 0xff, sizeof(l)); /* VP_MODULE_NONE everywhere */
	l.state = 0;
	l.list = 8;
	l.name = 24;
	l.name_size = 56;
	l.kallsyms = 0x100;
	if (mem) {
		l.mem = 0x140;
		l.mem_count = 3;
		l.mem_stride = 0x20;
		l.mem_base = 0;
		l.mem_size = 8;
	} else {
		l.core_base = 0x140;
		l.core_size = 0x148;
		l.init_base = 0x160;
		l.init_size = 0x168;
	}
	l.percpu = 0x200;
	l.percpu_size = 0x208;
	l.num_orcs = 0x210;
	l.orc_unwind_ip = 0x218;
	l.orc_unwind = 0x220;
	l.syms = 0x230;
	l.num_syms = 0x238;
	l.ks_symtab = 0;
	l.ks_num_symtab = 8;
	l.ks_strtab = 16;
	l.ks_typetab = 24;
	l.export_name = 4;
	l.export_stride = 12;
	l.btf_data = 0x240;
	l.btf_data_size = 0x248;
	l.bm_list = 8;
	l.bm_btf = 24;
	l.bm_module = 32;
	l.btf_blob = 0x10;
	l.btf_blob_size = 0x18;
	return l;
}

static void put_bytes(struct guest_fixture *g, uint64_t gva, const void *data, size_t len)
{
	memcpy(guest_at(g, gva), data, len);
}

static void put_symbol(struct guest_fixture *g, unsigned int n, unsigned int i, uint32_t name, uint64_t value,
		       uint16_t section)
{
	Elf64_Sym sym = { .st_name = name, .st_value = value, .st_shndx = section };

	put_bytes(g, MODULE(n) + SYMTAB + i * sizeof(sym), &sym, sizeof(sym));
}

/* A module with four symbols: one exported, one per-CPU, one absolute; and the empty first one. */
static void put_module(struct guest_fixture *g, const struct vp_module_layout *l, unsigned int n,
		       const char *name, uint64_t next)
{
	static const char strings[] = "\0mod_open\0mod_close\0mod_counter\0a_number";
	uint64_t at = MODULE(n);
	int32_t export[3] = { 0, (int32_t)EXPORT_NAME - (int32_t)(EXPORTS + 4), 0 };

	memset(guest_at(g, at), 0, 0x10000);
	guest_put64(g, at + l->list, next);
	put_bytes(g, at + l->name, name, strlen(name));
	guest_put64(g, at + l->kallsyms, at + KALLSYMS);
	guest_put64(g, at + 0x140, at);
	guest_put64(g, at + 0x148, MODULE_SIZE);
	guest_put64(g, at + l->percpu, 0x30000);
	guest_put64(g, at + l->percpu_size, 0x100);
	guest_put64(g, at + l->num_orcs, 3);
	guest_put64(g, at + l->orc_unwind_ip, at + 0x6000);
	guest_put64(g, at + l->orc_unwind, at + 0x6100);
	guest_put64(g, at + l->syms, at + EXPORTS);
	guest_put64(g, at + l->num_syms, 1);
	guest_put64(g, at + KALLSYMS, at + SYMTAB);
	guest_put64(g, at + KALLSYMS + 8, 5);
	guest_put64(g, at + KALLSYMS + 16, at + STRTAB);
	guest_put64(g, at + KALLSYMS + 24, at + TYPETAB);
	put_bytes(g, at + STRTAB, strings, sizeof(strings));
	put_bytes(g, at + TYPETAB, "?tTdA", 5);
	put_symbol(g, n, 0, 0, 0, 0);
	put_symbol(g, n, 1, 1, at + TEXT, 1);
	put_symbol(g, n, 2, 10, at + TEXT + 0x40, 1);
	put_symbol(g, n, 3, 20, 0x30010, 2);
	put_symbol(g, n, 4, 32, 77, SHN_ABS);
	put_bytes(g, at + EXPORTS, export, sizeof(export));
	put_bytes(g, at + EXPORT_NAME, "mod_open", 9);
}

struct world {
	struct guest_fixture g;
	struct vp_module_layout l;
	struct vp_mmu mmu;
	struct vp_modules modules;
	struct vp_symtab *symtab;
	size_t skipped;
};

static void world_init(struct world *w, bool mem)
{
	static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false };

	memset(w, 0, sizeof(*w));
	guest_fixture_init(&w->g, &layout, 4);
	w->l = layout_of(mem);
	vp_mmu_init(&w->mmu, vp_arch_x86.paging, vp_gpa(GUEST_CR3), 4);
	put_module(&w->g, &w->l, 0, "second", MODULE(1) + w->l.list);
	put_module(&w->g, &w->l, 1, "first", HEAD);
	guest_put64(&w->g, HEAD, MODULE(0) + w->l.list);
}

static struct ot_err *world_read(struct world *w)
{
	struct ot_err *err;

	vp_modules_deinit(&w->modules);
	vp_symtab_destroy(w->symtab);
	w->symtab = NULL;
	w->skipped = 0;
	err = vp_modules_read(w->g.phys, &w->mmu, vp_gva(HEAD), &w->l, &w->modules);
	if (err)
		return err;
	assert_ok(vp_symtab_create(&w->symtab));
	for (size_t i = 0; i < w->modules.count; i++)
		assert_ok(vp_module_add_symbols(w->g.phys, &w->mmu, &w->l, &w->modules.list[i], w->symtab,
						&w->skipped));
	assert_ok(vp_symtab_finish(w->symtab));
	return NULL;
}

static void world_deinit(struct world *w)
{
	vp_modules_deinit(&w->modules);
	vp_symtab_destroy(w->symtab);
	guest_fixture_deinit(&w->g);
}

static void assert_symbol(const struct world *w, const char *module, const char *name, uint64_t addr,
			  char type, uint8_t flags)
{
	const struct vp_symbol *sym = vp_symtab_find(w->symtab, module, name);

	assert_non_null(sym);
	assert_int_equal(sym->addr, addr);
	assert_int_equal(sym->type, type);
	assert_int_equal(sym->flags, flags);
}

static void modules_are_listed(void **state)
{
	(void)state;
	for (int mem = 0; mem <= 1; mem++) {
		struct world w;

		world_init(&w, mem);
		assert_ok(world_read(&w));
		assert_int_equal(w.modules.count, 2);
		assert_int_equal(w.modules.skipped + w.skipped, 0);
		assert_string_equal(w.modules.list[0].name, "second");
		assert_string_equal(w.modules.list[1].name, "first");
		assert_true(w.modules.list[0].live);
		assert_int_equal(w.modules.list[1].nranges, 1);
		assert_int_equal(w.modules.list[1].ranges[0].start, MODULE(1));
		assert_int_equal(w.modules.list[1].ranges[0].end, MODULE(1) + MODULE_SIZE);
		assert_int_equal(w.modules.list[1].num_orcs, 3);
		assert_int_equal(w.modules.list[1].orc_ip.v, MODULE(1) + 0x6000);
		assert_int_equal(vp_symtab_count(w.symtab), 8);
		/* Capitals are for what is exported, whatever the type table says. */
		assert_symbol(&w, "first", "mod_open", MODULE(1) + TEXT, 'T', 0);
		assert_symbol(&w, "first", "mod_close", MODULE(1) + TEXT + 0x40, 't', 0);
		assert_symbol(&w, "second", "mod_counter", 0x30010, 'd', VP_SYM_PERCPU);
		assert_symbol(&w, "second", "a_number", 77, 'a', VP_SYM_ABSOLUTE);
		world_deinit(&w);
	}
}

static void states_tell_who_counts(void **state)
{
	struct world w;
	uint32_t going = 2, unformed = 3;

	(void)state;
	world_init(&w, true);
	put_bytes(&w.g, MODULE(0), &going, 4);
	put_bytes(&w.g, MODULE(1), &unformed, 4);
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 1);
	assert_int_equal(w.modules.skipped, 1);
	assert_false(w.modules.list[0].live);
	world_deinit(&w);
}

static void lists_that_lie_end(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	/* A circle without the head in it. */
	guest_put64(&w.g, MODULE(1) + w.l.list, MODULE(0) + w.l.list);
	assert_err(world_read(&w), OT_ERR_BAD_DATA, "does not end");
	/* Off into nowhere: what came before stays. */
	guest_put64(&w.g, MODULE(1) + w.l.list, 0xdead000000000100);
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 2);
	assert_int_equal(w.modules.skipped, 1);
	assert_true(w.modules.torn);
	guest_put64(&w.g, HEAD, UINT64_MAX);
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 0);
	/* Names that are none. */
	guest_put64(&w.g, HEAD, MODULE(0) + w.l.list);
	guest_put64(&w.g, MODULE(1) + w.l.list, HEAD);
	memset(guest_at(&w.g, MODULE(0) + w.l.name), 'x', w.l.name_size);
	memset(guest_at(&w.g, MODULE(1) + w.l.name), 7, 3);
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 0);
	assert_int_equal(w.modules.skipped, 2);
	/* A head that isn't mapped. */
	assert_err(vp_modules_read(w.g.phys, &w.mmu, vp_gva(0xffffffffa0000000), &w.l, &w.modules),
		   OT_ERR_FAULT, NULL);
	world_deinit(&w);
}

/* By the guest's types, the name begins in what is read and ends behind it. */
static void a_name_ends_in_its_module(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	w.l.name = VP_MODULE_STRUCT_MAX - 8;
	for (unsigned int n = 0; n < 2; n++)
		memcpy(guest_at(&w.g, MODULE(n) + w.l.name), "eight888", 8);
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 0);
	assert_int_equal(w.modules.skipped, 2);
	world_deinit(&w);
}

/* Modules that claim the same quarter of a gigabyte each: reading all of that would take minutes. */
static void modules_have_a_total(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	for (unsigned int n = 0; n < 8; n++) {
		put_module(&w.g, &w.l, n, "big", n == 7 ? HEAD : MODULE(n + 1) + w.l.list);
		guest_put64(&w.g, MODULE(n) + 0x148, 256u << 20);
	}
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 4);
	assert_int_equal(w.modules.skipped, 4);
	guest_put64(&w.g, MODULE(0) + 0x148, (256u << 20) + 1); /* more than a module can be: no range */
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.skipped, 4);
	world_deinit(&w);
}

/* One field after the other turned bad: that module has no symbols, the other one keeps its own. */
static void tables_outside_a_module_are_refused(void **state)
{
	static const struct {
		uint32_t off;
		uint64_t value;
	} lies[] = {
		{ 0x100, 0 },                              /* kallsyms */
		{ 0x100, 0xffffffffa0000000 },             /* not mapped */
		{ KALLSYMS, GUEST_BASE },                  /* symtab outside the module */
		{ KALLSYMS, MODULE(1) + MODULE_SIZE - 8 }, /* hanging out of it */
		{ KALLSYMS + 8, 0xffffffff },              /* symbols without end */
		{ KALLSYMS + 8, 4000 },
		{ KALLSYMS + 16, 0 }, /* strtab */
		{ KALLSYMS + 16, MODULE(1) + MODULE_SIZE - 20 },
		{ KALLSYMS + 24, UINT64_MAX }, /* typetab */
		{ SYMTAB + 24, 0xfffffff0 },   /* st_name of the first symbol */
		{ 0x148, 0x10 },               /* a module of 16 bytes */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct world w;

		world_init(&w, true);
		guest_put64(&w.g, MODULE(1) + lies[i].off, lies[i].value);
		assert_ok(world_read(&w));
		assert_int_equal(w.modules.count, 2);
		assert_int_equal(w.skipped, 1);
		assert_null(vp_symtab_find(w.symtab, "first", "mod_open"));
		assert_non_null(vp_symtab_find(w.symtab, "second", "mod_open"));
		world_deinit(&w);
	}
}

/* A table that takes more than the budget: its module has no symbols, the other one keeps its own. */
static void a_module_over_the_budget_is_skipped(void **state)
{
	static const struct vp_reading small = { "the modules", 1024, 1, 100000, 0, "none" };
	struct vp_budget budget;
	struct world w;

	(void)state;
	world_init(&w, true);
	put_module(&w.g, &w.l, 0, "large", MODULE(1) + w.l.list);
	guest_put64(&w.g, MODULE(0) + 0x148, 0x1f0000);
	guest_put64(&w.g, MODULE(0) + KALLSYMS + 8, 70000);
	vp_budget_begin(&budget, &small, false);
	assert_ok(world_read(&w));
	assert_int_equal(w.modules.count, 2);
	assert_int_equal(w.skipped, 1);
	assert_null(vp_symtab_find(w.symtab, "large", "mod_open"));
	assert_non_null(vp_symtab_find(w.symtab, "first", "mod_open"));
	vp_budget_end(&budget);
	world_deinit(&w);
}

/* When the time has passed, no module is skipped for it. */
static void a_budget_without_time_ends_the_reading(void **state)
{
	static const struct vp_reading timeless = { "the modules", 1024, 1, 0, 0, "none" };
	struct vp_budget budget;
	struct ot_err *err;

	(void)state;
	vp_budget_begin(&budget, &timeless, false);
	while (!vp_budget_is_over())
		;
	assert_false(vp_modules_guests_fault(vp_budget_check(), &err));
	assert_err(err, OT_ERR_LIMIT, "the modules");
	vp_budget_end(&budget);
	assert_true(vp_modules_guests_fault(ot_err_new(OT_ERR_LIMIT, "too large"), &err));
	assert_null(err);
	assert_false(vp_modules_guests_fault(NULL, &err));
}

static void damage_is_survived(void **state)
{
	uint32_t seed = 5;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		struct world w;

		world_init(&w, round & 1);
		for (unsigned int i = 0; i < 40; i++) {
			seed = seed * 1664525u + 1013904223u;
			guest_at(&w.g, MODULE(seed >> 31))[(seed >> 8) % 0x4900] = (uint8_t)seed;
		}
		ot_err_destroy(world_read(&w));
		if (w.symtab) {
			for (size_t i = 0; i < vp_symtab_count(w.symtab); i++)
				assert_true(strlen(vp_symbol_name(w.symtab, vp_symtab_at(w.symtab, i))) <=
					    VP_SYM_NAME_MAX);
		}
		world_deinit(&w);
	}
}

/* The kernel's list of modules' types, with an entry of a module that is not in ours, and its end lost. */
static void types_are_looked_up(void **state)
{
	const uint64_t head = GUEST_BASE + 0x7000, first = GUEST_BASE + 0x7100, second = GUEST_BASE + 0x7200;
	const uint64_t btf = GUEST_BASE + 0x7300;
	struct world w;

	(void)state;
	world_init(&w, true);
	assert_ok(world_read(&w));
	memset(guest_at(&w.g, head), 0, 0x1000);
	guest_put64(&w.g, head, first + w.l.bm_list);
	guest_put64(&w.g, first + w.l.bm_list, second + w.l.bm_list);
	guest_put64(&w.g, first + w.l.bm_btf, btf);
	guest_put64(&w.g, first + w.l.bm_module, MODULE(1));
	guest_put64(&w.g, second + w.l.bm_list, 0); /* torn */
	guest_put64(&w.g, second + w.l.bm_btf, btf);
	guest_put64(&w.g, second + w.l.bm_module, 12345);
	guest_put64(&w.g, btf + w.l.btf_blob, GUEST_BASE + 0x8000);
	guest_put64(&w.g, btf + w.l.btf_blob_size, 0x123);
	assert_ok(vp_modules_read_btf(w.g.phys, &w.mmu, vp_gva(head), &w.l, &w.modules));
	assert_int_equal(w.modules.list[0].btf_data.v, 0);
	assert_int_equal(w.modules.list[1].btf_data.v, GUEST_BASE + 0x8000);
	assert_int_equal(w.modules.list[1].btf_size, 0x123);
	/* A circle: given up in the end. */
	guest_put64(&w.g, second + w.l.bm_list, first + w.l.bm_list);
	assert_ok(vp_modules_read_btf(w.g.phys, &w.mmu, vp_gva(head), &w.l, &w.modules));
	assert_ok(vp_modules_read_btf(w.g.phys, &w.mmu, vp_gva(0), &w.l, &w.modules));
	world_deinit(&w);
}

/* --- read again ---------------------------------------------------------------------------------- */

/* A guest that was opened with the modules of @w. */
static void open_guest(struct world *w, struct vp_guest *guest)
{
	*guest = (struct vp_guest){ .phys = w->g.phys, .layout = w->l, .have_layout = true };
	guest->kernel.mmu = w->mmu;
	assert_ok(world_read(w));
	vp_symtab_destroy(w->symtab);
	assert_ok(vp_symtab_create(&w->symtab));
	assert_ok(vp_symtab_add_range(w->symtab, VP_SYMTAB_VMLINUX, GUEST_BASE, GUEST_BASE + 0x10000));
	assert_ok(vp_symtab_add(w->symtab, HEAD, 'd', VP_SYMTAB_VMLINUX, 0, "modules", 7));
	for (size_t i = 0; i < w->modules.count; i++)
		assert_ok(vp_module_add_symbols(w->g.phys, &w->mmu, &w->l, &w->modules.list[i], w->symtab,
						&w->skipped));
	assert_ok(vp_symtab_finish(w->symtab));
	guest->symtab = w->symtab;
	guest->modules = w->modules;
	w->modules = (struct vp_modules){ 0 };
}

static uint64_t nth(const struct vp_guest *guest, const char *name)
{
	for (size_t i = 0; i < guest->modules.count; i++)
		if (!strcmp(guest->modules.list[i].name, name))
			return guest->modules.list[i].nth;
	return UINT64_MAX;
}

/* Names stay where they were; a module that went and came again at its place is another one. */
static void come_and_go(struct ot_err *(*update)(struct vp_guest *guest))
{
	const uint32_t coming = 1, going = 2;
	struct vp_guest guest;
	struct world w;

	world_init(&w, true);
	guest_put64(&w.g, HEAD, MODULE(1) + w.l.list); /* without "second" */
	open_guest(&w, &guest);
	const char *name = vp_symbol_name(guest.symtab, vp_symtab_find(guest.symtab, "first", "mod_open"));
	assert_ok(update(&guest));
	assert_int_equal(vp_guest_arrivals(&guest), 0);
	assert_null(vp_symtab_find(guest.symtab, "second", "mod_open"));

	guest_put64(&w.g, HEAD, MODULE(0) + w.l.list);
	put_bytes(&w.g, MODULE(0), &going, 4); /* never seen before it goes */
	assert_ok(update(&guest));
	assert_int_equal(vp_guest_arrivals(&guest), 0);
	put_bytes(&w.g, MODULE(0), &coming, 4);
	assert_ok(update(&guest));
	assert_int_equal(vp_guest_arrivals(&guest), 1);
	assert_int_equal(nth(&guest, "second"), 1);
	assert_int_equal(nth(&guest, "first"), 0);
	assert_symbol(&w, "second", "mod_open", MODULE(0) + TEXT, 'T', 0);
	assert_string_equal(name, "mod_open");
	assert_ptr_equal(name,
			 vp_symbol_name(guest.symtab, vp_symtab_find(guest.symtab, "first", "mod_open")));

	size_t count = vp_symtab_count(guest.symtab);
	vp_guest_module_gone(&guest, vp_gva(MODULE(0)));
	assert_int_equal(nth(&guest, "second"), UINT64_MAX);
	assert_symbol(&w, "second", "mod_open", MODULE(0) + TEXT, 'T', 0); /* for stacks of before */
	assert_ok(update(&guest));
	assert_int_equal(nth(&guest, "second"), 2);
	assert_int_equal(vp_symtab_count(guest.symtab), count);
	vp_modules_deinit(&guest.modules);
	world_deinit(&w);
}

/* What a hostile guest says of its modules changes nothing of what is known, but for the module itself. */
static void lie_while_tracing(struct ot_err *(*update)(struct vp_guest *guest))
{
	struct vp_guest guest;
	struct world w;

	world_init(&w, true);
	guest_put64(&w.g, HEAD, MODULE(1) + w.l.list);
	open_guest(&w, &guest);
	size_t count = vp_symtab_count(guest.symtab);
	/* a list that ends nowhere, and one that does not end */
	guest_put64(&w.g, MODULE(1) + w.l.list, 0xdead000000000100);
	assert_err(update(&guest), OT_ERR_BUSY, "keeps changing");
	guest_put64(&w.g, MODULE(1) + w.l.list, MODULE(1) + w.l.list);
	assert_err(update(&guest), OT_ERR_BAD_DATA, "does not end");
	assert_int_equal(guest.modules.count, 1);
	assert_int_equal(vp_symtab_count(guest.symtab), count);
	/* one whose memory is the kernel's own: its symbols are added, the kernel's stay */
	guest_put64(&w.g, MODULE(1) + w.l.list, HEAD);
	guest_put64(&w.g, HEAD, MODULE(0) + w.l.list);
	guest_put64(&w.g, MODULE(0) + w.l.list, MODULE(1) + w.l.list);
	guest_put64(&w.g, MODULE(0) + w.l.mem, GUEST_BASE);
	guest_put64(&w.g, MODULE(0) + w.l.mem + w.l.mem_size, 0x10000);
	assert_ok(update(&guest));
	assert_symbol(&w, "vmlinux", "modules", HEAD, 'd', 0);
	assert_symbol(&w, "first", "mod_open", MODULE(1) + TEXT, 'T', 0);
	/* more than a session may have */
	guest.came = VP_GUEST_ARRIVALS_MAX;
	vp_guest_module_gone(&guest, vp_gva(MODULE(0)));
	assert_err(update(&guest), OT_ERR_LIMIT, "in one session");
	vp_modules_deinit(&guest.modules);
	world_deinit(&w);
}

/* In this process, and by a child whose answer is taken. */
static void modules_come_and_go(void **state)
{
	(void)state;
	come_and_go(vp_guest_modules_update);
	come_and_go(vp_contained_modules_update);
}

static void lies_while_tracing(void **state)
{
	(void)state;
	lie_while_tracing(vp_guest_modules_update);
	lie_while_tracing(vp_contained_modules_update);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_come_and_go),
		cmocka_unit_test(lies_while_tracing),
		cmocka_unit_test(modules_are_listed),
		cmocka_unit_test(states_tell_who_counts),
		cmocka_unit_test(lists_that_lie_end),
		cmocka_unit_test(a_name_ends_in_its_module),
		cmocka_unit_test(modules_have_a_total),
		cmocka_unit_test(tables_outside_a_module_are_refused),
		cmocka_unit_test(a_module_over_the_budget_is_skipped),
		cmocka_unit_test(a_budget_without_time_ends_the_reading),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(types_are_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
