/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/vmcoreinfo, guest/kernel and guest/guest on a synthetic guest: found by any way that leads to it,
 * and never by one that only seems to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "vmm-probe/guest/guest.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false };

/* Which ways lead to the guest. */
static struct ot_err *find(struct guest_fixture *g, const struct vp_regs *regs, size_t n,
			   struct vp_kernel *kernel)
{
	struct vp_image image = { 0 };
	struct ot_err *err = vp_kernel_find(&vp_arch_x86, g->phys, regs, n, kernel, &image);

	vp_image_deinit(&image);
	return err;
}

static void assert_found_by(struct guest_fixture *g, const struct vp_regs *regs, size_t n, bool unmapped)
{
	struct vp_kernel *kernel = calloc(1, sizeof(*kernel));

	assert_ok(find(g, regs, n, kernel));
	assert_int_equal(kernel->base.v, GUEST_BASE);
	assert_int_equal(kernel->size, GUEST_IMAGE);
	assert_int_equal(kernel->phys_base + (GUEST_BASE - VP_KERNEL_MAP_START), GUEST_IMAGE_GPA);
	assert_int_equal(kernel->mmu.levels, g->levels);
	assert_string_equal(kernel->release, "6.9.0-test");
	assert_string_equal(kernel->banner, "Linux version 6.9.0-test (someone@somewhere) #1 SMP");
	assert_int_equal(kernel->build_id_len, 20);
	assert_int_equal(kernel->build_id[19], 0x5a);
	assert_int_equal(kernel->unmapped, unmapped);
	free(kernel);
}

static void assert_found(struct guest_fixture *g, const struct vp_regs *regs, size_t n)
{
	assert_found_by(g, regs, n, false);
}

static void a_page_table_leads_to_the_kernel(void **state)
{
	(void)state;
	for (unsigned int levels = 4; levels <= 5; levels++) {
		struct guest_fixture g;
		struct vp_regs regs[2];

		guest_fixture_init(&g, &layout, levels);
		regs[0] = guest_regs(&g, GUEST_CR3);
		assert_found(&g, regs, 1);
		regs[0] = guest_regs(&g, GUEST_CR3 | 0x8000000000000007ull); /* PCID, no flush */
		assert_found(&g, regs, 1);
		/* User mode under PTI: that table has no kernel in it, the page before has. */
		regs[0] = guest_regs(&g, (GUEST_CR3 + 0x1000) | 0x800);
		assert_found(&g, regs, 1);
		/* A vCPU that still is in its firmware, another one that isn't. */
		regs[0] = guest_regs(&g, 0x5000);
		regs[1] = guest_regs(&g, GUEST_CR3);
		assert_found(&g, regs, 2);
		/* CR4 not known: the number of levels is tried. */
		regs[0] = guest_regs(&g, GUEST_CR3);
		regs[0].valid = VP_REG_BIT(VP_CR3);
		assert_found(&g, regs, 1);
		guest_fixture_deinit(&g);
	}
}

static void vmcoreinfo_leads_to_the_kernel(void **state)
{
	struct guest_fixture g;
	struct vp_kernel kernel;
	struct vp_regs regs;

	(void)state;
	guest_fixture_init(&g, &layout, 5);
	assert_err(find(&g, NULL, 0, &kernel), OT_ERR_NOT_FOUND, "no vmcoreinfo in RAM");
	regs = guest_regs(&g, 0x5000);
	assert_err(find(&g, &regs, 1, &kernel), OT_ERR_NOT_FOUND, "no Linux kernel found in the guest");

	/* Old copies come first: one that leads nowhere, one of another release, one that says nothing. */
	guest_write_vmcoreinfo(&g, 0x900000, 0xffffffff85000000ull, "");
	guest_write_vmcoreinfo(&g, 0x910000, GUEST_BASE + GUEST_PGT_OFF, "");
	memcpy(g.ram + 0x910000 + 10, "6.8.0", 5);
	memset(g.ram + 0x920000, 0, 4096);
	strcpy((char *)g.ram + 0x920000, "OSRELEASE=6.9.0-test\n");
	assert_err(find(&g, NULL, 0, &kernel), OT_ERR_NOT_FOUND, NULL);
	guest_write_vmcoreinfo(&g, GUEST_VMCOREINFO, GUEST_BASE + GUEST_PGT_OFF, "");
	assert_found_by(&g, NULL, 0, true);
	assert_found_by(&g, &regs, 1, true);
	guest_write_vmcoreinfo(&g, 0x900000, GUEST_BASE + GUEST_PGT_OFF,
			       "NUMBER(sme_mask)=140737488355328\n");
	assert_err(find(&g, NULL, 0, &kernel), OT_ERR_UNSUPPORTED, "encrypted");
	guest_fixture_deinit(&g);
}

/* A page freed between text and constants holds a program's note and a log's banner by now. */
static void freed_pages_are_not_believed(void **state)
{
	static const uint32_t note[] = { 4, 20, 3, 0x00554e47 };
	struct guest_fixture g;
	struct vp_kernel kernel;
	struct vp_regs regs;
	uint8_t *freed;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	regs = guest_regs(&g, GUEST_CR3);
	freed = guest_at(&g, GUEST_BASE + 0x1000);
	memcpy(freed + 0x100, note, sizeof(note));
	memset(freed + 0x100 + sizeof(note), 0x77, 20);
	strcpy((char *)freed + 0x200, "Linux version 5.4.0-old (someone@somewhere) #9\n");
	/* The kernel's own, behind the next 2 MiB. */
	memcpy(guest_at(&g, GUEST_BASE + (2u << 20)), guest_at(&g, GUEST_BASE + 0x2000), 0x1000);
	/* While text seems to have no end, the first is taken. */
	assert_ok(find(&g, &regs, 1, &kernel));
	assert_string_equal(kernel.release, "5.4.0-old");
	assert_int_equal(kernel.build_id[0], 0x77);
	guest_end_text(&g, GUEST_CR3, 0x1000);
	assert_found(&g, &regs, 1);
	guest_fixture_deinit(&g);
}

static void vmcoreinfo_is_parsed(void **state)
{
	static const char text[] = "OSRELEASE=6.1.0\nBUILD-ID=3b43fad5\nSYMBOL(_stext)=ffffffff81000000\n"
				   "SYMBOL(kallsyms_token_table)=ffffffff82000010\nKERNELOFFSET=2b000000\n"
				   "NUMBER(phys_base)=-434110464\nNUMBER(pgtable_l5_enabled)=1\njunk\n=\n";
	static const char *bad[] = { "", "OSRELEAS", "OSRELEASE=", "OSRELEASE=\nX=1", "XOSRELEASE=6\n" };
	struct vp_vmcoreinfo info;
	char page[4096];

	(void)state;
	assert_ok(vp_vmcoreinfo_parse(text, sizeof(text), &info));
	assert_string_equal(info.release, "6.1.0");
	assert_int_equal(info.build_id_len, 4);
	assert_int_equal(info.build_id[0], 0x3b);
	assert_int_equal(info.stext, 0xffffffff81000000);
	assert_int_equal(info.kallsyms_token_table, 0xffffffff82000010);
	assert_int_equal(info.kernel_offset, 0x2b000000);
	assert_true(info.have_phys_base);
	assert_int_equal((int64_t)info.phys_base, -434110464);
	assert_true(info.l5);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_err(vp_vmcoreinfo_parse(bad[i], strlen(bad[i]), &info), OT_ERR_BAD_DATA, NULL);

	/* A page without an end; numbers that are too long or none. */
	memset(page, 'x', sizeof(page));
	memcpy(page,
	       "OSRELEASE=6\nNUMBER(phys_base)=99999999999999999999999\nSYMBOL(_stext)=zz\n"
	       "BUILD-ID=123\nKERNELOFFSET=",
	       91);
	assert_ok(vp_vmcoreinfo_parse(page, sizeof(page), &info));
	assert_false(info.have_phys_base);
	assert_int_equal(info.stext, 0);
	assert_int_equal(info.build_id_len, 0);
	assert_int_equal(info.kernel_offset, 0);
}

static void a_scan_has_a_budget(void **state)
{
	struct guest_fixture g;
	struct vp_vmcoreinfo info;
	uint64_t budget = 4u << 20;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	guest_write_vmcoreinfo(&g, GUEST_VMCOREINFO, GUEST_BASE + GUEST_PGT_OFF, "");
	assert_err(vp_vmcoreinfo_find(g.phys, vp_gpa(0), &budget, &info), OT_ERR_LIMIT, NULL);
	assert_int_equal(budget, 0);
	budget = 4u << 20;
	assert_ok(vp_vmcoreinfo_find(g.phys, vp_gpa(GUEST_VMCOREINFO - 4096), &budget, &info));
	assert_int_equal(info.gpa.v, GUEST_VMCOREINFO);
	guest_fixture_deinit(&g);
}

static struct ot_err *open_guest(struct guest_fixture *g, struct vp_guest_opts opts, struct vp_guest **ret)
{
	struct vp_regs regs = guest_regs(g, GUEST_CR3);

	opts.phys = g->phys;
	opts.regs = &regs;
	opts.nregs = 1;
	return vp_guest_open(&opts, ret);
}

static void a_guest_opens_without_types(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;
	const struct vp_symbol *sym;
	struct vp_gva gva;
	uint64_t off, value;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	assert_non_null(strstr(vp_guest_note(guest), "no types"));
	assert_non_null(strstr(vp_guest_note(guest), "--vmlinux"));
	assert_null(vp_guest_btf(guest));
	assert_int_equal(vp_guest_kaslr_offset(guest), GUEST_BASE - 0xffffffff81000000ull);
	/* Its own page table by now, not the process's. */
	assert_int_equal(vp_guest_mmu(guest)->root.v, GUEST_IMAGE_GPA + GUEST_PGT_OFF);
	assert_ok(vp_guest_symbol(guest, "linux_banner", &gva));
	assert_int_equal(gva.v, GUEST_BASE + GUEST_BANNER_OFF);
	assert_err(vp_guest_symbol(guest, "no_such_thing", &gva), OT_ERR_NOT_FOUND, "no_such_thing");
	sym = vp_symtab_find_addr(vp_guest_symtab(guest), vp_gva(GUEST_BASE + 0x10000 + 16 * 100 + 3), &off);
	assert_non_null(sym);
	assert_int_equal(off, 3);
	sym = vp_symtab_find(vp_guest_symtab(guest), NULL, "current_task");
	assert_int_equal(sym->flags, VP_SYM_PERCPU);
	sym = vp_symtab_find(vp_guest_symtab(guest), NULL, "a_number");
	assert_int_equal(sym->flags, VP_SYM_ABSOLUTE);
	guest_put64(&g, GUEST_BASE + 0x9000, 42);
	assert_ok(vp_guest_read_u64(guest, vp_gva(GUEST_BASE + 0x9000), &value));
	assert_int_equal(value, 42);
	assert_err(vp_guest_read_u64(guest, vp_gva(GUEST_BASE + GUEST_IMAGE), &value), OT_ERR_FAULT, NULL);
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

/* The kernel's own table is believed only if it maps the kernel. */
static void a_wrong_root_is_noted(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	memset(guest_at(&g, GUEST_BASE + GUEST_PGT_OFF), 0, 4096);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	assert_non_null(strstr(vp_guest_note(guest), "page table"));
	assert_int_equal(vp_guest_mmu(guest)->root.v, GUEST_CR3);
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

static void end_process(void *arg, const char *step)
{
	struct guest_fixture *g = arg;

	if (!strcmp(step, "reading symbols"))
		memset(g->ram + GUEST_CR3, 0, 4096);
}

/* The process whose table led to the kernel ends before the symbols are read. */
static void a_process_ends_after_the_search(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;
	uint64_t value;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	guest_put64(&g, GUEST_BASE + 0x9000, 42);
	assert_ok(
	    open_guest(&g, (struct vp_guest_opts){ .progress = end_process, .progress_ctx = &g }, &guest));
	assert_null(strstr(vp_guest_note(guest), "page table"));
	assert_int_equal(vp_guest_mmu(guest)->root.v, GUEST_IMAGE_GPA + GUEST_PGT_OFF);
	assert_ok(vp_guest_read_u64(guest, vp_gva(GUEST_BASE + 0x9000), &value));
	assert_int_equal(value, 42);
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

/* Reads of the guest's memory, during which the process ends. */
static struct ot_err *read_and_end(void *arg, uint64_t gpa, void *dst, size_t len)
{
	struct guest_fixture *g = arg;

	if (gpa >= GUEST_IMAGE_GPA && gpa < GUEST_IMAGE_GPA + GUEST_IMAGE)
		memset(g->ram + GUEST_CR3, 0, 4096);
	memcpy(dst, g->ram + gpa, len);
	return NULL;
}

/* It ends while the image is copied: what was copied is not believed, and another vCPU's table is used. */
static void a_process_ends_during_the_search(void **state)
{
	struct guest_fixture g;
	struct vp_kernel kernel;
	struct vp_image image = { 0 };
	struct vp_regs regs[2];
	struct vp_phys *phys;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	regs[0] = guest_regs(&g, GUEST_CR3);
	regs[1] = guest_regs(&g, GUEST_IMAGE_GPA + GUEST_PGT_OFF);
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_reader(phys, vp_gpa(0), GUEST_RAM, read_and_end, &g));
	assert_ok(vp_kernel_find(&vp_arch_x86, phys, regs, 2, &kernel, &image));
	assert_int_equal(kernel.mmu.root.v, GUEST_IMAGE_GPA + GUEST_PGT_OFF);
	vp_image_deinit(&image);
	vp_phys_destroy(phys);
	guest_fixture_deinit(&g);
}

/* Without the symbol, vmcoreinfo gives the address: the right copy of it. */
static void a_root_without_a_symbol_is_found(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	strcpy(g.syms[7].name, "init_top_pgx");
	ks_write(&layout, guest_at(&g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, g.syms, &g.ks);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	assert_non_null(strstr(vp_guest_note(guest), "no symbol init_top_pgt"));
	vp_guest_destroy(guest);
	guest_write_vmcoreinfo(&g, 0x900000, GUEST_BASE + 0x1000, "");
	guest_write_vmcoreinfo(&g, GUEST_VMCOREINFO, GUEST_BASE + GUEST_PGT_OFF, "");
	assert_ok(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest));
	assert_null(strstr(vp_guest_note(guest), "init_top_pgt"));
	assert_int_equal(vp_guest_mmu(guest)->root.v, GUEST_IMAGE_GPA + GUEST_PGT_OFF);
	vp_guest_destroy(guest);
	guest_fixture_deinit(&g);
}

static void write_list(struct guest_fixture *g, char path[], uint64_t move, const char *more)
{
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	assert_non_null(f);
	for (unsigned int i = 0; i < KS_SYMBOLS; i++) {
		uint64_t addr = g->syms[i].addr;

		fprintf(f, "%016llx %c %s\n", (unsigned long long)(addr >> 32 ? addr - move : addr),
			g->syms[i].type, g->syms[i].name);
	}
	fprintf(f, "%s", more);
	fclose(f);
}

static void hidden_symbols_come_from_a_list(void **state)
{
	struct guest_fixture g;
	struct vp_guest *guest;
	char map[] = "/tmp/ot-map-XXXXXX", kallsyms[] = "/tmp/ot-ksym-XXXXXX", bad[] = "/tmp/ot-bad-XXXXXX";
	char other[] = "/tmp/ot-other-XXXXXX";

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	write_list(&g, map, GUEST_BASE - 0xffffffff81000000ull, "");
	write_list(&g, kallsyms, 0, "ffffffffc0000000 t a_function\t[amodule]\n");
	write_list(&g, bad, 0, "not a symbol\n");
	memset(guest_at(&g, GUEST_BASE + g.ks.tokens), 0, 256);
	assert_err(open_guest(&g, (struct vp_guest_opts){ 0 }, &guest), OT_ERR_NOT_FOUND, "--symbols FILE");

	assert_ok(open_guest(&g, (struct vp_guest_opts){ .symbols = map }, &guest));
	assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	for (unsigned int i = 0; i < KS_SYMBOLS; i++)
		assert_int_equal(vp_symtab_at(vp_guest_symtab(guest), i)->addr, g.syms[i].addr);
	vp_guest_destroy(guest);
	assert_ok(open_guest(&g, (struct vp_guest_opts){ .symbols = kallsyms }, &guest));
	assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	vp_guest_destroy(guest);

	assert_err(open_guest(&g, (struct vp_guest_opts){ .symbols = bad }, &guest), OT_ERR_SYNTAX, ":701:");
	assert_err(open_guest(&g, (struct vp_guest_opts){ .symbols = "/no/such/file" }, &guest), OT_ERR_OS,
		   "/no/such/file");
	assert_err(open_guest(&g, (struct vp_guest_opts){ .symbols = "/dev/null" }, &guest), OT_ERR_BAD_DATA,
		   "_text");
	assert_err(open_guest(&g, (struct vp_guest_opts){ .vmlinux = map }, &guest), OT_ERR_BAD_DATA,
		   "not an ELF file");
	/* A list of another kernel. */
	g.syms[6].addr += 0x100;
	write_list(&g, other, 0, "");
	assert_err(open_guest(&g, (struct vp_guest_opts){ .symbols = other }, &guest), OT_ERR_BAD_DATA,
		   "another kernel");
	unlink(map);
	unlink(kallsyms);
	unlink(bad);
	unlink(other);
	guest_fixture_deinit(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_table_leads_to_the_kernel),
		cmocka_unit_test(vmcoreinfo_leads_to_the_kernel),
		cmocka_unit_test(freed_pages_are_not_believed),
		cmocka_unit_test(vmcoreinfo_is_parsed),
		cmocka_unit_test(a_scan_has_a_budget),
		cmocka_unit_test(a_guest_opens_without_types),
		cmocka_unit_test(a_wrong_root_is_noted),
		cmocka_unit_test(a_process_ends_after_the_search),
		cmocka_unit_test(a_process_ends_during_the_search),
		cmocka_unit_test(a_root_without_a_symbol_is_found),
		cmocka_unit_test(hidden_symbols_come_from_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
