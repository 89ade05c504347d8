/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm-probe/guest/elf/ against libelf on files of the compiler's (ELF_PROGRAM and variants of it), whole and
 * with pages missing; and a guest's file by vmm-probe/guest/process/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "base/io.h"
#include "process_fixture.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf/notes.h"
#include "vmm-probe/guest/elf/symbols.h"
#include "vmm-probe/guest/process/image.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/guest/process/page_cache.h"

#define FILE_MAX (1u << 24)

/* A file in memory, whose pages can be taken away. */
struct file {
	struct vp_elf_image image;
	uint8_t *data;
	bool *absent;
};

static const uint8_t *page_of(void *arg, uint64_t index)
{
	struct file *f = arg;

	return index * VP_IMAGE_PAGE >= f->image.size || f->absent[index] ? NULL
									  : f->data + index * VP_IMAGE_PAGE;
}

static struct file *file_open(const char *path)
{
	struct file *f = calloc(1, sizeof(*f));
	char *data;
	size_t size;

	assert_non_null(f);
	assert_null(ot_read_file(path, FILE_MAX, &data, &size));
	f->data = calloc(size / VP_IMAGE_PAGE + 1, VP_IMAGE_PAGE);
	f->absent = calloc(size / VP_IMAGE_PAGE + 1, sizeof(*f->absent));
	assert_non_null(f->data);
	assert_non_null(f->absent);
	memcpy(f->data, data, size);
	free(data);
	f->image = (struct vp_elf_image){ .arg = f, .size = size, .page = page_of, .fuel = VP_IMAGE_FUEL };
	return f;
}

static void file_close(struct file *f)
{
	free(f->data);
	free(f->absent);
	free(f);
}

/* --- symbols ----------------------------------------------------------------------------------------- */

/* Each function of the file, by libelf, is found by each of its bytes that begin it, middle it and end it. */
static unsigned check_table(const char *path, uint32_t type, const struct vp_elf_symbols *ours)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned seen = 0;
	GElf_Shdr shdr;
	GElf_Sym sym;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	assert_non_null(elf);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(scn, NULL), i, &sym); i++) {
			if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size ||
			    sym.st_shndx == SHN_UNDEF)
				continue;
			for (int at = 0; at < 3; at++) {
				uint64_t addr =
				    sym.st_value + (at ? (sym.st_size - 1) / (3u - (unsigned)at) : 0);
				const struct vp_elf_symbol *s = vp_elf_symbols_find(ours, addr);

				assert_non_null(s);
				assert_int_equal(s->addr, sym.st_value);
			}
			seen++;
		}
	}
	elf_end(elf);
	close(fd);
	return seen;
}

static void check_file(const char *path, uint32_t type, unsigned least)
{
	struct file *f = file_open(path);
	struct vp_elf_symbols s;
	struct vp_elf elf;

	assert_null(vp_elf_read(&f->image, &elf));
	assert_true(elf.sections);
	assert_int_equal(elf.build_id_len, 8);
	assert_memory_equal(elf.build_id, "\1\2\3\4\5\6\7\10", 8);
	assert_null(vp_elf_symbols_read(&elf, &s));
	assert_true(check_table(path, type, &s) >= least);
	vp_elf_symbols_deinit(&s);
	vp_elf_deinit(&elf);
	file_close(f);
}

static void test_symbols(void **state)
{
	(void)state;
	check_file(ELF_PROGRAM, SHT_SYMTAB, 4);
	check_file(ELF_PROGRAM ".stripped", SHT_DYNSYM, 2);
}

static const struct vp_elf_symbol *named(const struct vp_elf_symbols *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(vp_elf_symbol_name(s, &s->items[i]), name))
			return &s->items[i];
	return NULL;
}

/* Of several names of one address the plainest is given; an object is found too, and what is in none is not.
 */
static void test_find(void **state)
{
	struct file *f = file_open(ELF_PROGRAM);
	const struct vp_elf_symbol *at;
	struct vp_elf_symbols s;
	struct vp_elf elf;

	(void)state;
	assert_null(vp_elf_read(&f->image, &elf));
	assert_null(vp_elf_symbols_read(&elf, &s));
	at = named(&s, "__elf_alias");
	assert_non_null(at);
	assert_string_equal(vp_elf_symbol_name(&s, vp_elf_symbols_find(&s, at->addr)), "elf_global");
	at = named(&s, "elf_object");
	assert_non_null(at);
	assert_ptr_equal(vp_elf_symbols_find(&s, at->addr + 3), at);
	assert_null(vp_elf_symbols_find(&s, 0));
	assert_null(vp_elf_symbols_find(&s, UINT64_MAX));
	vp_elf_symbols_deinit(&s);
	vp_elf_deinit(&elf);
	file_close(f);
}

/* Without section headers, which a running program does not need, the exported names are there. */
static void test_no_sections(void **state)
{
	struct file *f = file_open(ELF_PROGRAM);
	struct vp_elf_symbols s;
	struct vp_elf elf;
	Elf64_Ehdr h;
	char missing[128];

	(void)state;
	memcpy(&h, f->data, sizeof(h));
	f->absent[h.e_shoff / VP_IMAGE_PAGE] = true;
	assert_null(vp_elf_read(&f->image, &elf));
	assert_false(elf.sections);
	assert_null(vp_elf_symbols_read(&elf, &s));
	assert_non_null(named(&s, "elf_global"));
	assert_null(named(&s, "elf_local"));
	vp_elf_image_missing(&f->image, missing, sizeof(missing));
	assert_string_equal(missing, "section headers");
	vp_elf_symbols_deinit(&s);
	vp_elf_deinit(&elf);
	file_close(f);
}

/* A stripped function is known by where it begins and ends. */
static void test_functions(void **state)
{
	struct file *whole = file_open(ELF_PROGRAM), *f = file_open(ELF_PROGRAM ".stripped");
	struct vp_elf elf, stripped;
	struct vp_elf_symbols s;
	uint64_t start, end;
	unsigned seen = 0;

	(void)state;
	assert_null(vp_elf_read(&whole->image, &elf));
	assert_null(vp_elf_read(&f->image, &stripped));
	assert_null(vp_elf_symbols_read(&elf, &s));
	for (size_t i = 0; i < s.count; i++) {
		const char *name = vp_elf_symbol_name(&s, &s.items[i]);

		if (strncmp(name, "elf_", 4) != 0 || !strcmp(name, "elf_object") || strstr(name, "counter") ||
		    strstr(name, "semaphore"))
			continue;
		assert_true(
		    vp_elf_function_at(&stripped, s.items[i].addr + s.items[i].size / 2, &start, &end));
		assert_int_equal(start, s.items[i].addr);
		assert_int_equal(end, s.items[i].addr + s.items[i].size);
		seen++;
	}
	assert_int_equal(seen, 2);
	assert_false(vp_elf_function_at(&stripped, 0, &start, &end));
	assert_false(vp_elf_function_at(&stripped, UINT64_MAX / 2, &start, &end));
	vp_elf_symbols_deinit(&s);
	vp_elf_deinit(&elf);
	vp_elf_deinit(&stripped);
	file_close(whole);
	file_close(f);
}

/* --- probes ------------------------------------------------------------------------------------------ */

struct probes {
	unsigned n;
	struct vp_elf *elf;
	uint64_t semaphore; /* address of elf_semaphore */
};

static bool take_probe(void *arg, const struct vp_stapsdt *probe)
{
	struct probes *p = arg;
	bool first = !strcmp(probe->name, "first");
	uint64_t offset;
	uint8_t nop;

	assert_string_equal(probe->provider, "elf");
	assert_string_equal(probe->name, first ? "first" : "second__one");
	assert_string_equal(probe->arguments, first ? "-4@%edi" : "");
	assert_int_equal(probe->semaphore, first ? p->semaphore : 0);
	assert_true(vp_elf_offset(p->elf, probe->pc, 1, &offset));
	assert_true(vp_elf_image_read(p->elf->image, VP_PART_NOTES, offset, &nop, 1));
	assert_int_equal(nop, 0x90);
	p->n++;
	return true;
}

static void check_probes(const char *path, bool sections)
{
	struct file *f = file_open(path), *whole = file_open(ELF_PROGRAM);
	struct vp_elf elf, unstripped;
	struct vp_elf_symbols s;
	Elf64_Ehdr h;

	memcpy(&h, f->data, sizeof(h));
	if (!sections)
		f->absent[h.e_shoff / VP_IMAGE_PAGE] = true;
	assert_null(vp_elf_read(&f->image, &elf));
	assert_int_equal(elf.sections, sections);
	assert_null(vp_elf_read(&whole->image, &unstripped));
	assert_null(vp_elf_symbols_read(&unstripped, &s));
	struct probes p = { .elf = &elf, .semaphore = named(&s, "elf_semaphore")->addr };

	/* What is behind a missing page may be a probe. */
	assert_int_equal(vp_elf_stapsdt(&elf, take_probe, &p), sections);
	assert_int_equal(p.n, 2);
	vp_elf_symbols_deinit(&s);
	vp_elf_deinit(&unstripped);
	vp_elf_deinit(&elf);
	file_close(whole);
	file_close(f);
}

static void test_probes(void **state)
{
	(void)state;
	check_probes(ELF_PROGRAM, true);
	check_probes(ELF_PROGRAM ".stripped", true);
	/* There a large section is between the notes and the section headers, so that they are on pages of
	 * their own. */
	check_probes(ELF_PROGRAM ".spread", false);
}

/* --- hostile and missing ------------------------------------------------------------------------------ */

static void refused(struct file *f, enum ot_err_code code, const char *part)
{
	struct vp_elf elf;
	struct ot_err *err = vp_elf_read(&f->image, &elf);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	assert_non_null(strstr(ot_err_message(err), part));
	ot_err_destroy(err);
}

static void test_refused(void **state)
{
	struct file *f = file_open(ELF_PROGRAM);
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)f->data;

	(void)state;
	f->absent[0] = true;
	refused(f, OT_ERR_NOT_FOUND, "first page");
	f->absent[0] = false;
	h->e_phnum = 1000;
	refused(f, OT_ERR_LIMIT, "segments");
	h->e_machine = 40;
	refused(f, OT_ERR_BAD_DATA, "architecture");
	f->image.size = 10;
	refused(f, OT_ERR_BAD_DATA, "no program");
	f->image.size = VP_IMAGE_MAX + 1;
	refused(f, OT_ERR_LIMIT, "larger");
	file_close(f);
}

/* Each read costs, so that a reader of a file that promises much ends. */
static void test_fuel(void **state)
{
	struct file *f = file_open(ELF_PROGRAM);
	struct vp_elf_symbols s;
	struct vp_elf elf;

	(void)state;
	assert_null(vp_elf_read(&f->image, &elf));
	f->image.fuel = 5;
	assert_null(vp_elf_symbols_read(&elf, &s));
	assert_int_equal(f->image.fuel, 0);
	assert_true(s.count <= 4);
	vp_elf_symbols_deinit(&s);
	vp_elf_deinit(&elf);
	file_close(f);
}

/* --- a guest's file ---------------------------------------------------------------------------------- */

static void test_page_cache(void **state)
{
	struct process_guest *pg = process_guest_create(true);
	uint8_t page[VP_PAGE_SIZE];

	(void)state;
	for (unsigned i = 0; i < PF_FILE_PAGES; i++) {
		assert_null(vp_page_cache_read(process_guest(pg), PF_MAPPING, i, page));
		assert_int_equal(page[0], i + 1);
		assert_memory_equal(page, process_page(pg, i), sizeof(page));
	}
	/* reclaimed, with a mark of when; being read in; of another file by now */
	*process_word(pg, PF_NODE(2) + PF_XA_SLOTS + 8 * 5) = 0x1235;
	*process_word(pg, PF_PAGE(6)) = 0;
	*process_word(pg, PF_PAGE(7) + PF_FOLIO_MAPPING) = PF_MAPPING + 8;
	static const enum ot_err_code codes[] = { OT_ERR_NOT_FOUND, OT_ERR_NOT_FOUND, OT_ERR_BUSY };

	for (unsigned i = 0; i < 3; i++) {
		struct ot_err *err = vp_page_cache_read(process_guest(pg), PF_MAPPING, 5 + i, page);

		assert_int_equal(ot_err_code(err), codes[i]);
		ot_err_destroy(err);
	}
	process_guest_destroy(pg);
}

static void test_image(void **state)
{
	struct process_guest *pg = process_guest_create(true);
	struct vp_file_reader reader;
	struct vp_elf_pages *image;
	struct vp_maps maps;
	uint64_t pages, missing;
	uint8_t bytes[6000];

	(void)state;
	*process_word(pg, PF_NODE(2) + PF_XA_SLOTS + 8 * 5) = 0;
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_null(vp_file_pages(process_guest(pg), &maps.files[0], &reader, &image));
	struct vp_elf_image *e = vp_elf_pages_image(image);

	assert_true(vp_elf_image_read(e, VP_PART_SYMTAB, 64 * 4096 + 4000, bytes, sizeof(bytes)));
	assert_int_equal(bytes[0], 65);
	assert_int_equal(bytes[96], 66);
	assert_int_equal(bytes[5999], 67);
	assert_false(vp_elf_image_read(e, VP_PART_STRTAB, 5 * 4096 - 1, bytes, 2));
	assert_int_equal(e->missing[VP_PART_STRTAB], 1);
	assert_false(vp_elf_image_read(e, VP_PART_STRTAB, e->size, bytes, 1));
	assert_int_equal(e->missing[VP_PART_STRTAB], 1);
	vp_elf_pages_count(image, &pages, &missing);
	assert_int_equal(pages, PF_FILE_PAGES);
	assert_int_equal(missing, 1);
	/* another file at the same address has other pages */
	vp_elf_pages_forget(image);
	*process_word(pg, PF_INODE) = 4712;
	assert_false(vp_elf_image_read(e, VP_PART_HEADERS, 0, bytes, 1));
	vp_elf_pages_destroy(image);
	vp_maps_deinit(&maps);
	process_guest_destroy(pg);
}

/* --- a file's pages and the budget ------------------------------------------------------------------- */

#define MEMORY_MIB 1u

static const struct vp_reading small = { "a file", 1024, MEMORY_MIB, 1000000, 0, "it is not read" };

/* Of 4 GiB: the first page of a program without section headers, and, with @arg, zeros. */
static bool read_sparse(void *arg, uint64_t index, uint8_t *dst)
{
	const Elf64_Ehdr e = { .e_ident = { ELFMAG0, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			       .e_type = ET_DYN,
			       .e_machine = EM_X86_64,
			       .e_phoff = sizeof(e),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = 1 };
	const Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = VP_IMAGE_PAGE };

	memset(dst, 0, VP_IMAGE_PAGE);
	if (!index) {
		memcpy(dst, &e, sizeof(e));
		memcpy(dst + sizeof(e), &p, sizeof(p));
	}
	return arg || !index;
}

static bool no_note(void *arg, const struct vp_stapsdt *note)
{
	(void)arg;
	(void)note;
	return true;
}

/* A million pages that are not there cost no memory, or those of the next file would count as missing; and
 * who looks for notes gives up long before the last. */
static void test_sparse(void **state)
{
	struct vp_elf_pages *pages;
	struct vp_budget budget;
	struct vp_elf elf;
	uint64_t n, missing;

	(void)state;
	vp_budget_begin(&budget, &small, false);
	assert_null(vp_elf_pages_create(VP_IMAGE_MAX, read_sparse, NULL, &pages));
	assert_null(vp_elf_read(vp_elf_pages_image(pages), &elf));
	assert_false(vp_elf_stapsdt(&elf, no_note, NULL));
	vp_elf_pages_count(pages, &n, &missing);
	assert_in_range(missing, 1, 10000);
	assert_null(vp_budget_check());
	assert_null(vp_budget_take((MEMORY_MIB << 20) - VP_IMAGE_PAGE)); /* the first page is kept */
	vp_elf_deinit(&elf);
	vp_elf_pages_destroy(pages);
	assert_null(vp_budget_take(VP_IMAGE_PAGE));
	vp_budget_end(&budget);
}

/* A page for which there is no room is not one that the guest lacks: the reading is over, which is said. */
static void test_no_room(void **state)
{
	struct vp_elf_pages *pages;
	struct vp_budget budget;
	bool there = true;
	uint8_t byte;

	(void)state;
	vp_budget_begin(&budget, &small, false);
	assert_null(vp_elf_pages_create(VP_IMAGE_MAX, read_sparse, &there, &pages));
	struct vp_elf_image *image = vp_elf_pages_image(pages);

	for (unsigned i = 0; i < (MEMORY_MIB << 20) / VP_IMAGE_PAGE; i++)
		assert_true(vp_elf_image_read(image, VP_PART_NOTES, (uint64_t)i * VP_IMAGE_PAGE, &byte, 1));
	assert_false(vp_budget_is_over());
	assert_false(vp_elf_image_read(image, VP_PART_NOTES, MEMORY_MIB << 20, &byte, 1));
	struct ot_err *err = vp_budget_check();
	assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
	assert_string_equal(ot_err_message(err),
			    "reading a file takes more than its 1 MiB of memory: it is not read");
	ot_err_destroy(err);
	vp_elf_pages_destroy(pages);
	vp_budget_end(&budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),     cmocka_unit_test(test_find),
		cmocka_unit_test(test_no_sections), cmocka_unit_test(test_functions),
		cmocka_unit_test(test_probes),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_fuel),        cmocka_unit_test(test_page_cache),
		cmocka_unit_test(test_image),       cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
