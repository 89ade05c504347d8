/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a process's functions: where each is left, which a description means, and which are refused.
 * The process runs LEAVING (tests/linux/user/leaving.c), whose functions are assembly, so that their
 * instructions are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/io.h"
#include "process_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/pid_function.h"
#include "vmm-probe/provider/providers.h"

#define FILE_MAX (1u << 20)
#define BIAS     0x555500000000ull
#define PAGE     4096u
/* Free memory of the fixture: the process's page table, four levels, and one page of text. */
#define TABLES   (PF_BASE + 0x16000u)
#define TEXT     (PF_BASE + 0x1a000u)
#define MAPPED   0x7u
#define NOWHERE  UINT64_MAX

struct world {
	struct process_guest *pg;
	struct vp_probes *probes;
	char *file;
	size_t size;
	uint64_t absent; /* page of the file that is not in memory */
	bool of_file;    /* probes are made of the file, not of the process */
	struct vp_pid_processes processes;
	struct vp_pid_process process;
	struct vp_pid_object object;
	struct vp_map maps[4];
	struct vp_file files[1];
	struct vp_pid_making m;
};

static void ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static bool read_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct world *w = arg;
	size_t at = index * PAGE, left = w->size - at;

	if (index == w->absent)
		return false;
	memcpy(dst, w->file + at, left < PAGE ? left : PAGE);
	return true;
}

/* --- the process ---------------------------------------------------------------------------------------- */

static uint64_t gpa_of(struct process_guest *pg, uint64_t gva)
{
	return (uint64_t)((uint8_t *)process_word(pg, gva) - process_page(pg, 0)) + PF_DATA;
}

/* The address, as linked, of @p name. */
static uint64_t address(const struct world *w, const char *name)
{
	const struct vp_elf_symbols *s = &w->object.symbols;

	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(vp_elf_symbol_name(s, &s->items[i]), name))
			return s->items[i].addr;
	fail_msg("no %s", name);
	return 0;
}

/* The byte of the process's memory at @p offset of a function; all functions are in one page. */
static uint8_t *text_of(struct world *w, const char *name, uint64_t offset)
{
	return (uint8_t *)process_word(w->pg, TEXT) + (address(w, name) + offset) % PAGE;
}

static void map_text(struct world *w)
{
	uint64_t gva = BIAS + address(w, "several"), table = TABLES, page = address(w, "several") / PAGE;

	*process_word(w->pg, PF_MM) = TABLES;
	for (unsigned shift = 39; shift >= 12; shift -= 9) {
		uint64_t next = shift == 12 ? TEXT : table + PAGE;

		*process_word(w->pg, table + 8 * (gva >> shift & 511)) = gpa_of(w->pg, next) | MAPPED;
		table = next;
	}
	memcpy(process_word(w->pg, TEXT), w->file + page * PAGE, PAGE);
}

static void map_code(struct world *w)
{
	const struct vp_elf *elf = &w->object.elf;

	w->process.maps.items = w->maps;
	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			w->maps[w->process.maps.count++] = (struct vp_map){
				.start = BIAS + p->p_vaddr,
				.end = (BIAS + p->p_vaddr + p->p_memsz + PAGE - 1) / PAGE * PAGE,
				.offset = p->p_offset,
				.flags = VP_VMA_EXEC,
			};
	}
	assert_int_equal(w->process.maps.count, 1);
	assert_int_equal(w->maps[0].start % PAGE, 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	*state = w;
	w->absent = NOWHERE;
	w->pg = process_guest_create(false);
	ok(vp_probes_create(process_guest_kernel(w->pg), &w->probes));
	ok(ot_read_file(LEAVING, FILE_MAX, &w->file, &w->size));
	w->processes.ps = process_guest(w->pg);
	ot_map_init(&w->processes.made);
	vp_exprs_init(&w->processes.exprs);
	w->object =
	    (struct vp_pid_object){ .name = "leaving", .is_program = true, .bias = BIAS, .read = true };
	ok(vp_elf_pages_create(w->size, read_page, w, &w->object.pages));
	ok(vp_elf_read(vp_elf_pages_image(w->object.pages), &w->object.elf));
	w->object.has_elf = true;
	ok(vp_elf_symbols_read(&w->object.elf, &w->object.symbols));
	w->process = (struct vp_pid_process){ .id = { .pid = PF_PID, .mm = PF_MM }, .provider = "pid7" };
	w->process.maps.files = w->files;
	w->process.maps.nfiles = 1;
	map_code(w);
	map_text(w);
	ok(vp_guest_process_find(w->processes.ps, PF_PID, &w->process.maps.process));
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_pid_piece_deinit(&w->m.piece);
	ot_err_destroy(w->m.why);
	vp_probes_destroy(w->probes);
	vp_elf_symbols_deinit(&w->object.symbols);
	vp_elf_deinit(&w->object.elf);
	vp_elf_pages_destroy(w->object.pages);
	ot_map_deinit(&w->processes.made);
	vp_exprs_deinit(&w->processes.exprs);
	process_guest_destroy(w->pg);
	free(w->file);
	free(w);
	return 0;
}

/* --- asking for probes ---------------------------------------------------------------------------------- */

/* The probes that the description FUNCTION:NAME makes; the first one's ID, how many in *ret. */
static uint32_t make(struct world *w, const char *function, const char *name, uint32_t *ret)
{
	const struct dif_probedesc desc = {
		.provider = "pid7", .module = "", .function = function, .name = name
	};
	uint32_t before = vp_probes_count(w->probes);

	vp_pid_piece_deinit(&w->m.piece);
	ot_err_destroy(w->m.why);
	w->m = (struct vp_pid_making){
		.probes = w->probes,
		.of = &vp_provider_pid,
		.desc = &desc,
		.has_offset = strspn(name, "0123456789abcdef") == strlen(name) && *name,
		.offset = strtoull(name, NULL, 16),
		.processes = &w->processes,
		.process = &w->process,
		.code = { .ops = vp_arch_x86.code,
			  .processes = &w->processes,
			  .process = &w->process,
			  .object = &w->object,
			  .of_file = w->of_file },
		.provider = w->of_file ? "user" : "pid7",
		.module = "leaving",
		.last = UINT64_MAX,
	};
	for (size_t i = 0; i < w->object.symbols.count; i++)
		ok(vp_pid_function_make(&w->m, &w->object.symbols.items[i]));
	*ret = vp_probes_count(w->probes) - before;
	return before + 1;
}

static const struct vp_probe *make_one(struct world *w, const char *function, const char *name)
{
	uint32_t n, id = make(w, function, name, &n);

	assert_int_equal(n, 1);
	return vp_probes_get(w->probes, id);
}

static void refused(struct world *w, const char *function, const char *name, const char *why)
{
	const struct vp_probe *p = make_one(w, function, name);

	assert_non_null(p->refused);
	if (!strstr(p->refused, why))
		fail_msg("%s", p->refused);
	assert_int_equal(((const struct vp_pid_own *)p->own)->nsites, 0);
}

static const struct vp_pid_own *accepted(struct world *w, const char *function, const char *name)
{
	const struct vp_probe *p = make_one(w, function, name);

	if (p->refused)
		fail_msg("%s: %s", function, p->refused);
	return p->own;
}

/* --- tests ---------------------------------------------------------------------------------------------- */

/* Each way out, and which of them are decided by a program. */
static void every_way_out(void **state)
{
	static const struct {
		const char *name;
		unsigned count, programs;
		uint32_t at[4];
	} functions[] = {
		{ "several", 3, 0, { 0x10, 0x16, 0x1c } },
		{ "tail", 1, 0, { 0x3 } },
		{ "pointer", 1, 1, { 0x0 } },
		{ "table", 3, 1, { 0x7, 0xf, 0x15 } },
		{ "moved", 2, 0, { 0x19 } }, /* the other one is elsewhere */
		{ "recursive", 1, 0, { 0x15 } },
		{ "single", 1, 0, { 0x0 } },
	};
	struct world *w = *state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(functions); i++) {
		const struct vp_pid_own *own = accepted(w, functions[i].name, "return");
		uint64_t gva = BIAS + address(w, functions[i].name);
		unsigned programs = 0;

		assert_int_equal(own->nsites, functions[i].count);
		for (uint32_t k = 0; k < own->nsites; k++) {
			const struct vp_batch_site *s = &own->sites[k];

			assert_int_equal(s->gva, gva + (uint64_t)(int64_t)(int32_t)s->offset);
			if (k < OT_ARRAY_SIZE(functions[i].at) && (k == 0 || functions[i].at[k]))
				assert_int_equal(s->offset, functions[i].at[k]);
			programs += s->raw != 0;
			assert_int_equal(s->args, functions[i].programs ? VP_ARGS_FBT_RETURN : VP_ARGS_NONE);
		}
		assert_int_equal(programs, functions[i].programs);
	}
	/* moved's: a part before its function that is not jumped over */
	const struct vp_pid_own *own = vp_probes_get(w->probes, vp_probes_count(w->probes) - 2)->own;
	assert_int_equal(own->sites[1].bytes[0], 0xc3);
	refused(w, "maybe", "return", "conditional jump at +0x3");
}

/* Made of the file, sites are its offsets, and are no process's; the process's own are others. */
static void in_the_file(void **state)
{
	struct world *w = *state;
	const struct vp_pid_own *own = accepted(w, "table", "return"), *files;

	w->of_file = true;
	w->files[0].id.mapping = 0x4711;
	files = accepted(w, "table", "return");
	assert_string_equal(vp_probes_get(w->probes, vp_probes_count(w->probes))->provider, "user");
	assert_int_equal(own->file, 0);
	assert_int_equal(own->process.pid, PF_PID);
	assert_int_equal(files->file, 0x4711);
	assert_int_equal(files->process.pid, 0);
	assert_int_equal(files->nsites, own->nsites);
	for (uint32_t i = 0; i < own->nsites; i++) {
		uint64_t offset = own->sites[i].gva - w->maps[0].start + w->maps[0].offset;

		assert_int_equal(files->sites[i].gva, offset);
		assert_int_equal(files->sites[i].offset, own->sites[i].offset);
		assert_memory_equal(files->sites[i].bytes, own->sites[i].bytes, sizeof(own->sites[i].bytes));
		assert_memory_equal(w->file + offset, own->sites[i].bytes, own->sites[i].length);
	}
	uint32_t n;
	make(w, "table", "return", &n);
	assert_int_equal(n, 0);
}

/* Names of the probes that were made, in their order. */
static void names_are(struct world *w, const char *function, const char *name, const char *const *names)
{
	uint32_t n, id = make(w, function, name, &n);

	for (uint32_t i = 0; i < n; i++) {
		assert_non_null(names[i]);
		assert_string_equal(vp_probes_get(w->probes, id + i)->name, names[i]);
	}
	assert_null(names[n]);
}

static void names(void **state)
{
	static const char *const all[] = { "entry", "return", "0",  "3",  "5",  "9", "b",
					   "10",    "11",     "16", "17", "1c", NULL };
	static const char *const one[] = { "entry", "return", "0", NULL }, *const none[] = { NULL };
	struct world *w = *state;

	names_are(w, "several", "", all);
	names_are(w, "several", "*", none); /* they are there already */
	names_are(w, "sev?ral", "1?", none);
	names_are(w, "several", "10", none);
	assert_int_equal(w->m.made, 1);
	names_are(w, "single", "*", one);
	names_are(w, "tail", "[!er]*", (const char *const[]){ "0", "3", NULL });
	assert_int_equal(accepted(w, "recursive", "8")->sites[0].offset, 8);
}

static void no_such_instruction(void **state)
{
	static const struct {
		const char *function, *name, *why;
	} rows[] = {
		{ "several", "4",
		  "D_PROC_ALIGN: offset 0x4 is not aligned on an instruction: the nearest are at 3 and 5" },
		{ "several", "1d",
		  "D_PROC_OFF: offset 0x1d outside of function 'several', which has 0x1d bytes" },
		{ "tail", "4",
		  "D_PROC_ALIGN: offset 0x4 is not aligned on an instruction: the last one is at 3" },
		{ "single", "ffffff", "D_PROC_OFF: " },
	};
	struct world *w = *state;
	uint32_t n;

	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		make(w, rows[i].function, rows[i].name, &n);
		assert_int_equal(n + w->m.made, 0);
		assert_non_null(w->m.why);
		assert_memory_equal(ot_err_message(w->m.why), rows[i].why, strlen(rows[i].why));
	}
	/* those of several functions that have one there */
	make(w, "*", "19", &n);
	assert_true(n > 0);
}

/* What is not in the guest's memory: the code; what says whose code a jump leads to. */
static void missing(void **state)
{
	struct world *w = *state;

	w->absent = address(w, "several") / PAGE;
	vp_elf_pages_forget(w->object.pages);
	refused(w, "several", "entry", "of leaving on is not in the guest's memory");
	refused(w, "several", "return", "of leaving on is not in the guest's memory");
	refused(w, "single", "[!er]*", "of leaving on is not in the guest's memory");
	uint32_t n;
	make(w, "single", "0", &n);
	assert_int_equal(n, 0);
	make(w, "tail", "0", &n);
	assert_int_equal(n, 0);
	assert_non_null(strstr(ot_err_message(w->m.why), "D_PROC_CREATEFAIL: its code from"));

	for (size_t i = 0; i < w->object.elf.nsegments; i++)
		if (w->object.elf.segments[i].p_type == PT_GNU_EH_FRAME)
			w->absent = w->object.elf.segments[i].p_offset / PAGE;
	vp_elf_pages_forget(w->object.pages);
	refused(w, "moved", "return", "(.eh_frame) is not in the guest's memory");
	accepted(w, "recursive", "return");
}

/* A breakpoint of the guest's own, on the instruction or behind it; another instruction than the file's. */
static void other_bytes(void **state)
{
	struct world *w = *state;

	*text_of(w, "single", 0) = 0xcc;
	refused(w, "single", "entry", "the process has other bytes at +0x0 than its file");
	refused(w, "single", "return", "the process has other bytes at +0x0 than its file");
	refused(w, "single", "0", "the process has other bytes at +0x0 than its file");
	*text_of(w, "several", 3) = 0xcc;
	accepted(w, "several", "entry");
	accepted(w, "several", "return");
	refused(w, "several", "3", "the process has other bytes at +0x3 than its file");
	*text_of(w, "recursive", 4) = 0x90;
	refused(w, "recursive", "entry", "the process has other bytes at +0x0 than its file");
	/* a page that the process has not read in will be the file's */
	*process_word(w->pg, TABLES) = 0;
	memset(process_word(w->pg, TABLES), 0, PAGE);
	accepted(w, "recursive", "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_way_out, setup, teardown),
		cmocka_unit_test_setup_teardown(in_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(no_such_instruction, setup, teardown),
		cmocka_unit_test_setup_teardown(missing, setup, teardown),
		cmocka_unit_test_setup_teardown(other_bytes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
