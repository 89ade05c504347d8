/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm-probe/provider/usdt_places: the notes of a file that a process maps, honest and forged. The file here
 * has four pages: headers, code, data, and notes that no segment has, found without section headers:
 *
 *   process 7 ── [TEXT, +0x1000) code, page 1; [DATA, +0x1000) writable, page 2, with semaphores
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/provider/usdt_places.h"

#define PAGE   4096u
#define PAGES  4096u /* room for notes */
#define BIAS   0x500000ull
#define TEXT   (BIAS + 0x1000)
#define DATA   (BIAS + 0x2000)
#define NOP    0x90
#define MEMORY (2u << 20) /* physical address of PF_BASE */

struct world {
	struct process_guest *pg;
	uint8_t *file;
	size_t used; /* bytes of it */
	bool absent[4];
	const struct vp_code_ops *code;
	struct vp_exprs exprs;
	struct vp_pid_processes all;
	struct vp_pid_process process;
	struct vp_map maps[2];
	struct vp_file of_program;
	struct vp_pid_object object;
	struct vp_usdt_places found;
};

static void ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

/* --- the process ------------------------------------------------------------------------------------------ */

/* Page tables in the fixture's file, whose page 4 is the process's page of semaphores. */
static void make_memory(struct world *w)
{
	uint64_t kernel = PF_BASE + PF_DATA - MEMORY;

	for (unsigned level = 0; level < 4; level++) {
		uint64_t *table = (uint64_t *)(void *)process_page(w->pg, level);

		memset(table, 0, PAGE);
		table[DATA >> (39 - 9 * level) & 511] = (PF_DATA + PAGE * (level + 1)) | 7;
	}
	memset(process_page(w->pg, 4), 0, PAGE);
	*process_word(w->pg, PF_MM) = kernel;
}

static void make_headers(struct world *w)
{
	Elf64_Ehdr *e = (void *)w->file;
	Elf64_Phdr *p = (void *)(w->file + sizeof(*e));

	memcpy(e->e_ident, ELFMAG, SELFMAG);
	e->e_ident[EI_CLASS] = ELFCLASS64;
	e->e_ident[EI_DATA] = ELFDATA2LSB;
	e->e_ident[EI_VERSION] = EV_CURRENT;
	e->e_type = ET_DYN;
	e->e_machine = EM_X86_64;
	e->e_version = EV_CURRENT;
	e->e_phoff = sizeof(*e);
	e->e_ehsize = sizeof(*e);
	e->e_phentsize = sizeof(*p);
	e->e_phnum = 2;
	p[0] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, PAGE };
	p[1] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_W, 0x2000, 0x2000, 0x2000, 0x1000, 0x1000, PAGE };
	for (unsigned i = 0; i < PAGE; i++)
		w->file[0x1000 + i] = i % 16 ? (uint8_t)i : NOP;
	w->used = 0x3000;
}

static bool read_page(void *arg, uint64_t index, uint8_t *dst)
{
	struct world *w = arg;

	if (index < 4 && w->absent[index])
		return false;
	memcpy(dst, w->file + index * PAGE, PAGE);
	return true;
}

static size_t room(size_t bytes)
{
	size_t size = 64;

	while (size < bytes)
		size *= 2;
	return size;
}

/* @p with room for @more bytes behind @used. It doubles: a sanitizer's realloc() always copies. */
static void *with_room(void *p, size_t used, size_t more)
{
	if (!p || room(used) < used + more)
		p = realloc(p, room(used + more));
	assert_non_null(p);
	return p;
}

static void add_symbol(struct world *w, const char *name, uint64_t addr, uint64_t size, uint8_t type)
{
	struct vp_elf_symbols *s = &w->object.symbols;

	s->items = with_room(s->items, s->count * sizeof(*s->items), sizeof(*s->items));
	s->names = with_room(s->names, s->names_len, strlen(name) + 1);
	memcpy(s->names + s->names_len, name, strlen(name) + 1);
	s->items[s->count++] = (struct vp_elf_symbol){
		.addr = addr, .size = size, .name = (uint32_t)s->names_len, .type = type
	};
	s->names_len += strlen(name) + 1;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->pg = process_guest_create(true);
	w->file = calloc(PAGES, PAGE);
	assert_non_null(w->file);
	make_memory(w);
	make_headers(w);
	vp_exprs_init(&w->exprs);
	ok(vp_arch_code(&vp_arch_native, &w->code));
	w->all.ps = process_guest(w->pg);
	w->maps[0] = (struct vp_map){ TEXT, TEXT + PAGE, 0x1000, VP_VMA_READ | VP_VMA_EXEC, 0 };
	w->maps[1] = (struct vp_map){ DATA, DATA + PAGE, 0x2000, VP_VMA_READ | VP_VMA_WRITE, 0 };
	w->process.maps =
	    (struct vp_maps){ .items = w->maps, .count = 2, .files = &w->of_program, .nfiles = 1 };
	w->process.maps.process = (struct vp_guest_process){ .pid = PF_PID, .task = PF_TASK, .mm = PF_MM };
	w->object = (struct vp_pid_object){ .name = "prog", .bias = BIAS, .opened = true, .read = true };
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_elf_symbols_deinit(&w->object.symbols);
	vp_elf_deinit(&w->object.elf);
	vp_elf_pages_destroy(w->object.pages);
	vp_exprs_deinit(&w->exprs);
	process_guest_destroy(w->pg);
	free(w->file);
	free(w);
	return 0;
}

/* --- notes ------------------------------------------------------------------------------------------------ */

static void add_note(struct world *w, uint64_t pc, uint64_t semaphore, const char *provider, const char *name,
		     const char *arguments)
{
	uint64_t words[3] = { pc, 0, semaphore };
	uint8_t *at = w->file + w->used;
	size_t size = sizeof(words) + strlen(provider) + strlen(name) + strlen(arguments) + 3;
	Elf64_Nhdr h = { 8, (Elf64_Word)size, 3 };

	assert_true(w->used + size + 64 < (size_t)PAGES * PAGE);
	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), "stapsdt", 8);
	memcpy(at + sizeof(h) + 8, words, sizeof(words));
	at += sizeof(h) + 8 + sizeof(words);
	at = (uint8_t *)stpcpy((char *)at, provider) + 1;
	at = (uint8_t *)stpcpy((char *)at, name) + 1;
	strcpy((char *)at, arguments);
	w->used += (sizeof(h) + 8 + size + 3) & ~3ull;
}

static struct ot_err *try_read(struct world *w)
{
	const struct vp_usdt_reader reader = { w->code, &w->all, &w->process, &w->exprs };

	vp_elf_symbols_finish(&w->object.symbols);
	ok(vp_elf_pages_create((w->used + PAGE - 1) / PAGE * PAGE, read_page, w, &w->object.pages));
	ok(vp_elf_read(vp_elf_pages_image(w->object.pages), &w->object.elf));
	w->object.has_elf = true;
	return vp_usdt_places_read(&reader, &w->object, &w->found);
}

static const struct vp_usdt_place *read_all(struct world *w, size_t count)
{
	ok(try_read(w));
	assert_true(w->found.whole);
	assert_int_equal(w->found.count, count);
	return w->found.items;
}

/* --- tests ------------------------------------------------------------------------------------------------ */

/* Names, places and arguments of what a compiler would write; in order, though the notes are in none. */
static void honest(void **state)
{
	struct world *w = *state;
	const struct vp_usdt_place *p;

	add_symbol(w, "main", 0x1000, 0x40, STT_FUNC);
	add_symbol(w, "work", 0x1040, 0x40, STT_FUNC);
	add_symbol(w, "table", 0x2100, 8, STT_OBJECT);
	add_note(w, 0x1050, 0, "prov", "two__words__on", "8@%rdi -4@table+4(%rip)");
	add_note(w, 0x1030, 0, "prov", "a___b", "");
	add_note(w, 0x1040, 0, "prov", "two__words__on", "2@%ax");
	add_note(w, 0x1010, 0, "other", "two__words__on", "8f@%xmm0");
	p = read_all(w, 4);
	assert_string_equal(p[0].provider, "other");
	assert_string_equal(p[1].name, "a-_b");
	assert_string_equal(p[1].function, "main");
	assert_string_equal(p[2].name, "two-words-on");
	assert_string_equal(p[2].function, "work");
	for (unsigned i = 0; i < 4; i++) {
		assert_null(p[i].refused);
		assert_int_equal(p[i].site.gva, BIAS + p[i].addr);
		assert_int_equal(p[i].site.length, 1);
		assert_int_equal(p[i].site.room, sizeof(p[i].site.bytes));
		assert_memory_equal(p[i].site.bytes, w->file + p[i].addr, p[i].site.room);
		assert_int_equal(p[i].semaphore, 0);
	}
	assert_int_equal(p[2].addr, 0x1040);
	assert_int_equal(p[3].site.offset, 0x10);
	assert_int_equal(p[3].args.count, 2);
	assert_null(p[3].args.items[1].refused);
	assert_true(p[3].args.items[1].is_signed);
	assert_non_null(p[0].args.items[0].refused);
}

/* Of the file, whose offsets are the same in every process. */
static void of_the_file(void **state)
{
	struct world *w = *state;
	const struct vp_usdt_reader reader = { w->code, &w->all, &w->process, &w->exprs };
	struct vp_usdt_place p;
	bool in_file;

	add_symbol(w, "table", 0x2100, 8, STT_OBJECT);
	add_note(w, 0x1040, 0x2100, "p", "n", "8@table(%rip) 8@none(%rip) 8@%rdi");
	p = *read_all(w, 1);
	assert_int_equal(p.semaphore, DATA + 0x100);
	ok(vp_usdt_place_of_file(&reader, &w->object, &p, &in_file));
	assert_true(in_file);
	assert_int_equal(p.site.gva, 0x1040);
	assert_memory_equal(p.site.bytes, w->file + 0x1040, p.site.room);
	assert_int_equal(p.semaphore, 0x2100);
	assert_int_equal(p.args.count, 3);
	for (unsigned n = 0; n < 3; n++)
		assert_int_equal(p.args.items[n].refused != NULL, n == 1);
	/* it is behind what the file has of its segment */
	p.addr = 0x1040;
	p.semaphore = DATA + 0x100;
	w->object.elf.segments[1].p_filesz = 0x101;
	ok(vp_usdt_place_of_file(&reader, &w->object, &p, &in_file));
	assert_true(in_file);
	assert_int_equal(p.semaphore, 0);
	p.addr = 0x9000;
	ok(vp_usdt_place_of_file(&reader, &w->object, &p, &in_file));
	assert_false(in_file);
}

/* A name that two objects have names neither. */
static void symbols(void **state)
{
	struct world *w = *state;
	const struct vp_usdt_place *p;

	add_symbol(w, "same", 0x2100, 8, STT_OBJECT);
	add_symbol(w, "same", 0x2200, 8, STT_OBJECT);
	add_symbol(w, "once", 0x2300, 8, STT_OBJECT);
	add_note(w, 0x1000, 0, "p", "n", "8@same(%rip) 8@once(%rip) 8@on(%rip) 8@oncemore(%rip)");
	p = read_all(w, 1);
	for (unsigned n = 0; n < 4; n++)
		assert_int_equal(p->args.items[n].refused == NULL, n == 1);
	assert_string_equal(p->function, "");
}

/* The page of the code has not been used: the nop is the note's word. Where one of its page is used, the
 * bytes end with the page. */
static void pages(void **state)
{
	struct world *w = *state;
	const struct vp_usdt_place *p;

	add_note(w, 0x1ff0, 0, "p", "end", "");
	add_note(w, 0x1000, 0, "p", "n", "");
	w->file[0x1ffe] = NOP;
	add_note(w, 0x1ffe, 0, "p", "last", "");
	p = read_all(w, 3);
	assert_int_equal(p[0].site.room, 15);
	assert_int_equal(p[1].site.room, 2);
	vp_elf_pages_destroy(w->object.pages);
	vp_elf_deinit(&w->object.elf);
	w->absent[1] = true;
	p = read_all(w, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_null(p[i].refused);
		assert_int_equal(p[i].site.room, 1);
		assert_int_equal(p[i].site.bytes[0], NOP);
	}
}

static void semaphores(void **state)
{
	struct world *w = *state;
	const struct vp_usdt_place *p;

	process_page(w->pg, 4)[0x102] = 3;
	add_note(w, 0x1000, 0x2100, "p", "a_zero", "");
	add_note(w, 0x1000, 0x2102, "p", "b_raised", "");
	add_note(w, 0x1000, 0x1100, "p", "c_code", "");
	add_note(w, 0x1000, 0x2fff, "p", "d_half", "");
	add_note(w, 0x1000, 0x9000, "p", "e_nowhere", "");
	add_note(w, 0x1000, UINT64_MAX, "p", "f_wraps", "");
	p = read_all(w, 6);
	assert_int_equal(p[0].semaphore, DATA + 0x100);
	assert_int_equal(p[0].raised, 0);
	assert_int_equal(p[1].raised, 3);
	for (unsigned i = 2; i < 6; i++)
		assert_int_equal(p[i].semaphore, 0);
}

/* Neither another file's memory nor what others write too; and a page that is not there. */
static void no_semaphores(void **state)
{
	struct world *w = *state;

	add_note(w, 0x1000, 0x2100, "p", "n", "");
	*process_word(w->pg, PF_MM) = PF_BASE + PF_DATA - MEMORY + 5 * PAGE; /* page tables that are none */
	assert_int_equal(read_all(w, 1)->raised, VP_USDT_NOT_READ);
	for (unsigned i = 0; i < 2; i++) {
		vp_elf_pages_destroy(w->object.pages);
		vp_elf_deinit(&w->object.elf);
		w->maps[1].file = i ? 0 : 1;
		w->maps[1].flags |= i ? VP_VMA_SHARED : 0;
		assert_int_equal(read_all(w, 1)->semaphore, 0);
	}
}

static void forged(void **state)
{
	static const char *const bad[] = { "", "a:b", "a b", "a*", "\x1b[2J", "caf\xc3\xa9", "[a]" };
	struct world *w = *state;
	const struct vp_usdt_place *p;
	char name[2 * VP_USDT_NAME_MAX] = "";

	memset(name, 'x', VP_USDT_NAME_MAX + 1);
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		add_note(w, 0x1000, 0, "p", bad[i], "");
		add_note(w, 0x1000, 0, bad[i], "n", "");
	}
	add_note(w, 0x1000, 0, "p", name, "");
	add_note(w, 0x1000, 0, name, "n", "");
	name[VP_USDT_NAME_MAX] = '\0';
	add_note(w, 0x1000, 0, "p", name, "");
	add_note(w, 0x1001, 0, "p", "a_no_nop", "");
	add_note(w, 0x2000, 0, "p", "b_data", "");
	add_note(w, UINT64_MAX - BIAS, 0, "p", "c_kernel", "");
	add_note(w, 0x1000, 0, "p1", "d_digit", "");
	p = read_all(w, 5);
	assert_non_null(strstr(p[0].refused, "no nop"));
	assert_non_null(strstr(p[1].refused, "code"));
	assert_non_null(strstr(p[2].refused, "code"));
	assert_null(p[3].refused);
	assert_non_null(strstr(p[4].refused, "digit"));
}

/* One address twice in a probe would count twice. */
static void repeated(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 100; i++)
		add_note(w, 0x1000 + 16 * (i % 3), 0, "p", "n", "8@%rdi");
	read_all(w, 3);
}

/* As many notes as a file may have, each with arguments that are looked up: the budget's time, and no more.
 */
static void many(void **state)
{
	struct world *w = *state;
	struct vp_budget budget;

	for (unsigned i = 0; i < 20000; i++)
		add_symbol(w, "a_symbol_of_the_file", 0x2000 + i, 1, STT_OBJECT);
	for (unsigned i = 0; i < 66000; i++)
		add_note(w, 0x1000 + 16 * (i % 256), 0x2000 + i % 0x1000, "p", "n",
			 "8@none(%rip) 8@nine(%rip)");
	vp_budget_begin(&budget, &vp_readings[VP_READ_FUNCTIONS], false);
	struct ot_err *err = try_read(w);
	vp_budget_end(&budget);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
	ot_err_destroy(err);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(honest),        TEST(of_the_file), TEST(symbols),  TEST(pages), TEST(semaphores),
		TEST(no_semaphores), TEST(forged),      TEST(repeated), TEST(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
