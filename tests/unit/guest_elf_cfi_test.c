/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm-probe/guest/elf/cfi.c against readelf's interpretation of the same .eh_frame: of this program, and of
 * this host's C library, which has everything that assemblers write; and hostile programs of call frame
 * information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/io.h"
#include "base/search.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/elf/cfi.h"
#include "vmm-probe/guest/elf/cfi_program.h"
#include "vmm-probe/guest/elf/symbols.h"

#define FILE_MAX (1u << 28)
#define LINE     1024
#define COLUMNS  32

/* A file in memory; pages from @gone on, in the file, are missing. */
struct file {
	struct vp_elf_image image;
	uint8_t *data;
	uint64_t gone_from, gone_to;
	struct vp_elf elf;
};

static const uint8_t *page_of(void *arg, uint64_t index)
{
	struct file *f = arg;
	uint64_t at = index * VP_IMAGE_PAGE;

	return at >= f->image.size || (at >= f->gone_from && at < f->gone_to) ? NULL : f->data + at;
}

static struct file *file_open(const char *path)
{
	struct file *f = calloc(1, sizeof(*f));
	char *data;
	size_t size;

	assert_non_null(f);
	assert_null(ot_read_file(path, FILE_MAX, &data, &size));
	f->data = calloc(size / VP_IMAGE_PAGE + 1, VP_IMAGE_PAGE);
	assert_non_null(f->data);
	memcpy(f->data, data, size);
	free(data);
	f->image = (struct vp_elf_image){ .arg = f, .size = size, .page = page_of, .fuel = VP_IMAGE_FUEL };
	assert_null(vp_elf_read(&f->image, &f->elf));
	return f;
}

static void file_close(struct file *f)
{
	vp_elf_deinit(&f->elf);
	free(f->data);
	free(f);
}

/* The row that holds at @addr; NONE: there is none. */
static struct vp_frame_row row_at(const struct vp_cfi *cfi, uint64_t addr)
{
	size_t n = OT_COUNT_BEFORE(cfi->count, i, cfi->base + cfi->rows[i].offset <= addr);

	return n && addr >= cfi->base ? cfi->rows[n - 1] : vp_frame_row(0, VP_FRAME_NONE, 0, 0);
}

/* --- readelf ----------------------------------------------------------------------------------------- */

struct seen {
	unsigned rows, by_sp, by_fp, saved_fp, plt, signal, stop;
};

/* One description of readelf's. */
struct table {
	char columns[COLUMNS][16];
	int ncolumns;
	const char *saved; /* the register whose column is compared */
	uint64_t signals;  /* offset of the CIE of signals; 0: none was printed yet */
	bool is_signal;    /* the function has that one */
	uint64_t end;
	bool in_function;
};

/* Without the second name of a register: "r10 (r10)". */
static int split(char *line, char *words[COLUMNS])
{
	int n = 0;

	for (char *save, *w = strtok_r(line, " \n", &save); w && n < COLUMNS;
	     w = strtok_r(NULL, " \n", &save))
		if (*w != '(')
			words[n++] = w;
	return n;
}

static const char *value(const struct table *t, char *const *words, int n, const char *column)
{
	for (int i = 0; i < t->ncolumns && i < n; i++)
		if (!strcmp(t->columns[i], column))
			return words[i];
	return "u";
}

/* What readelf's row says, as a row of ours. */
static struct vp_frame_row expected(const struct table *t, char *const *words, int n, bool *ret_is_expression)
{
	const char *cfa = words[1], *fp = value(t, words, n, t->saved), *ra = value(t, words, n, "ra");
	int64_t saved = !strncmp(fp, "c", 1) ? strtoll(fp + 1, NULL, 10) : 0;
	enum vp_frame_kind kind = !strncmp(cfa, "rsp", 3)   ? VP_FRAME_SP
				  : !strncmp(cfa, "rbp", 3) ? VP_FRAME_FP
							    : VP_FRAME_STOP;

	*ret_is_expression = !strcmp(cfa, "exp");
	if (t->is_signal)
		return vp_frame_row(0, VP_FRAME_SIGNAL, 0, 0);
	if (strcmp(ra, "c-8") != 0 || kind == VP_FRAME_STOP || !strncmp(fp, "exp", 3) ||
	    !strncmp(fp, "vexp", 4) || *fp == 'r' || *fp == 'v')
		return vp_frame_row(0, VP_FRAME_STOP, 0, 0);
	return vp_frame_row(0, kind, (int16_t)(strtoll(cfa + 3, NULL, 10) / 8), (int16_t)saved);
}

static void compare(const struct vp_cfi *cfi, const struct table *t, char *const *words, int n,
		    struct seen *seen)
{
	uint64_t addr = strtoull(words[0], NULL, 16);
	struct vp_frame_row ours = row_at(cfi, addr);
	bool is_expression;
	struct vp_frame_row want = expected(t, words, n, &is_expression);

	if (addr >= t->end)
		return;
	seen->rows++;
	if (is_expression && vp_frame_kind(&ours) == VP_FRAME_PLT) {
		assert_true(ours.cfa == 10 || ours.cfa == 11);
		seen->plt++;
		return;
	}
	if (ours.cfa != want.cfa || ours.fp != want.fp)
		print_error("%s: %s, %s %s, ra %s: ours is %d %d\n", words[0], words[1], t->saved,
			    value(t, words, n, t->saved), value(t, words, n, "ra"), ours.cfa, ours.fp);
	assert_int_equal(ours.cfa, want.cfa);
	assert_int_equal(ours.fp, want.fp);
	seen->by_sp += vp_frame_kind(&ours) == VP_FRAME_SP;
	seen->by_fp += vp_frame_kind(&ours) == VP_FRAME_FP;
	seen->saved_fp += (ours.fp & ~VP_FRAME_KIND) != 0;
	seen->signal += vp_frame_kind(&ours) == VP_FRAME_SIGNAL;
	seen->stop += vp_frame_kind(&ours) == VP_FRAME_STOP;
}

static void take_line(const struct vp_cfi *cfi, struct table *t, char *line, struct seen *seen)
{
	const char *range = strstr(line, " FDE ") ? strstr(line, "pc=") : NULL;
	char *words[COLUMNS];

	if (range) {
		t->end = strtoull(strstr(range, "..") + 2, NULL, 16);
		t->is_signal = t->signals && strtoull(strstr(line, "cie=") + 4, NULL, 16) == t->signals;
		t->in_function = true;
		return;
	}
	if (strstr(line, " CIE ")) {
		if (strstr(line, "S\""))
			t->signals = strtoull(line, NULL, 16);
		t->in_function = false;
		return;
	}
	int n = split(line, words);

	if (n >= 2 && !strcmp(words[0], "LOC")) {
		t->ncolumns = n;
		for (int i = 0; i < n; i++)
			snprintf(t->columns[i], sizeof(t->columns[i]), "%s", words[i]);
	} else if (n >= 2 && t->in_function && strlen(words[0]) == 16) {
		compare(cfi, t, words, n, seen);
	}
}

/* readelf prints a function's rows only if it has operations of its own. */
static struct seen check_register(const char *path, const char *name, uint64_t reg)
{
	struct file *f = file_open(path);
	struct table t = { .saved = name };
	struct seen seen = { 0 };
	struct vp_cfi cfi;
	char command[512], line[LINE];

	assert_null(vp_cfi_read_saved(&f->elf, reg, &cfi));
	assert_int_equal(cfi.missing, 0);
	for (size_t i = 1; i < cfi.count; i++) {
		assert_true(cfi.rows[i].offset > cfi.rows[i - 1].offset);
		assert_memory_not_equal(&cfi.rows[i].cfa, &cfi.rows[i - 1].cfa, 4);
	}
	snprintf(command, sizeof(command), "LC_ALL=C readelf --debug-dump=frames-interp %s 2>/dev/null",
		 path);
	FILE *out = popen(command, "r");

	assert_non_null(out);
	while (fgets(line, sizeof(line), out))
		take_line(&cfi, &t, line, &seen);
	pclose(out); /* not 0 where it warns of something; how many rows there were is checked */
	print_message(
	    "%s: %u functions, %zu rows; compared %u: %u by rsp, %u by rbp, %u with %s saved, %u of PLT, "
	    "%u of signals, %u unsupported\n",
	    path, cfi.functions, cfi.count, seen.rows, seen.by_sp, seen.by_fp, seen.saved_fp, name, seen.plt,
	    seen.signal, seen.stop);
	vp_cfi_deinit(&cfi);
	file_close(f);
	return seen;
}

static struct seen check_file(const char *path)
{
	return check_register(path, "rbp", VP_DWARF_FP);
}

/* The path of the file that this process has mapped under that name. */
static void mapped(const char *name, char *path, size_t size)
{
	char line[LINE];
	FILE *maps = fopen("/proc/self/maps", "re");

	assert_non_null(maps);
	*path = '\0';
	while (!*path && fgets(line, sizeof(line), maps)) {
		char *at = strchr(line, '/');

		if (at && strstr(at, name))
			snprintf(path, size, "%.*s", (int)strcspn(at, "\n"), at);
	}
	fclose(maps);
	assert_true(*path);
}

static void as_readelf_says(void **state)
{
	char path[256];
	struct seen s;

	(void)state;
	mapped("guest_elf_cfi_test", path, sizeof(path));
	s = check_file(path);
	assert_true(s.by_sp > 100 && s.by_fp + s.saved_fp > 10);
	mapped("libc.so", path, sizeof(path));
	s = check_file(path);
	assert_true(s.by_sp > 10000 && s.by_fp > 100 && s.saved_fp > 1000);
	assert_true(s.plt >= 1 && s.signal >= 1);
	assert_true(s.stop < s.rows / 100);
}

/* Where other registers are saved that a function keeps for its caller. */
static void other_registers(void **state)
{
	char path[256];
	struct seen s;

	(void)state;
	mapped("libc.so", path, sizeof(path));
	s = check_register(path, "rbx", 3);
	assert_true(s.by_sp > 10000 && s.saved_fp > 1000);
	s = check_register(path, "r13", 13);
	assert_true(s.by_sp > 10000 && s.saved_fp > 1000);
}

static uint64_t address_of(const struct vp_elf_symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->count; i++)
		if (!strcmp(vp_elf_symbol_name(symbols, &symbols->items[i]), name))
			return symbols->items[i].addr;
	return 0;
}

/* The code that this host's kernel maps into each process, which has no file of its own. */
static void vdso(void **state)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: that's its address */
	char path[] = "/tmp/outsight-vdso-XXXXXX";
	const struct vp_elf_symbol *found;
	struct vp_elf_symbols symbols;

	(void)state;
	if (!h)
		skip();
	size_t size = (h->e_shoff + (size_t)h->e_shnum * h->e_shentsize + 4095) & ~(size_t)4095;
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_null(ot_write_all(fd, h, size));
	close(fd);
	struct seen s = check_file(path);
	struct file *f = file_open(path);

	unlink(path);
	assert_true(s.by_sp + s.by_fp > 4);
	assert_null(vp_elf_symbols_read(&f->elf, &symbols));
	found = vp_elf_symbols_find(&symbols, address_of(&symbols, "__vdso_clock_gettime"));
	assert_non_null(found);
	assert_string_equal(vp_elf_symbol_name(&symbols, found), "clock_gettime");
	vp_elf_symbols_deinit(&symbols);
	file_close(f);
}

/* Of functions whose descriptions are not there, the others' rules are right, and theirs are none. */
static void missing_pages(void **state)
{
	char path[256];
	struct vp_cfi whole, part;
	struct file *f;
	unsigned gaps = 0;

	(void)state;
	mapped("libc.so", path, sizeof(path));
	f = file_open(path);
	assert_null(vp_cfi_read(&f->elf, &whole));
	for (size_t i = 0; i < f->elf.nsegments; i++)
		if (f->elf.segments[i].p_type == PT_GNU_EH_FRAME)
			f->gone_from = (f->elf.segments[i].p_offset + f->elf.segments[i].p_filesz) /
					   VP_IMAGE_PAGE * VP_IMAGE_PAGE +
				       4 * VP_IMAGE_PAGE;
	f->gone_to = f->gone_from + 2 * VP_IMAGE_PAGE;
	assert_null(vp_cfi_read(&f->elf, &part));
	assert_true(part.missing > 0 && part.missing < part.functions / 2);
	assert_int_equal(part.functions, whole.functions);
	for (size_t i = 0; i < whole.count; i++) {
		struct vp_frame_row row = row_at(&part, whole.base + whole.rows[i].offset);

		if (vp_frame_kind(&row) == VP_FRAME_NONE)
			gaps++;
		else
			assert_memory_equal(&row.cfa, &whole.rows[i].cfa, 4);
	}
	assert_true(gaps > 10 && gaps < whole.count / 2);
	vp_cfi_deinit(&part);
	vp_cfi_deinit(&whole);
	file_close(f);
}

/* --- programs ---------------------------------------------------------------------------------------- */

#define ROWS 64

struct rows {
	uint64_t addr[ROWS];
	struct vp_frame_row row[ROWS];
	unsigned n;
};

static bool keep(void *arg, uint64_t addr, const struct vp_frame_row *row)
{
	struct rows *r = arg;

	assert_true(r->n < ROWS);
	assert_true(!r->n || addr > r->addr[r->n - 1]);
	r->addr[r->n] = addr;
	r->row[r->n++] = *row;
	return true;
}

/* As gcc's CIEs begin: def_cfa rsp+8, ra at c-8. A function of 0x100 bytes at 0x1000. */
static struct rows run_for(uint64_t saved, const uint8_t *program, size_t len)
{
	static const uint8_t begin[] = { 0x0c, 7, 8, 0x90, 1 };
	const struct vp_cfi_common common = { .code_align = 1,
					      .data_align = -8,
					      .saved = saved,
					      .program = { .at = begin, .end = begin + sizeof(begin) } };
	const struct vp_cfi_function f = { 0x1000, 0x1100, { .at = program, .end = program + len } };
	struct rows r = { 0 };

	assert_true(vp_cfi_run(&common, &f, keep, &r));
	assert_true(r.n >= 1 && r.addr[0] == 0x1000);
	return r;
}

static struct rows run(const uint8_t *program, size_t len)
{
	return run_for(VP_DWARF_FP, program, len);
}

#define RUN(...) run((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void is_row(const struct rows *r, unsigned i, uint64_t addr, enum vp_frame_kind kind, int cfa, int fp)
{
	assert_true(i < r->n);
	assert_int_equal(r->addr[i], addr);
	assert_int_equal(vp_frame_kind(&r->row[i]), kind);
	assert_int_equal(r->row[i].cfa, cfa);
	assert_int_equal(r->row[i].fp & ~VP_FRAME_KIND, fp);
}

/* push %rbp; mov; …; leave, and after that the other way out. */
static void a_usual_function(void **state)
{
	struct rows r =
	    RUN(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x40, 0x0a, 0x0c, 7, 8, 0xc6, 0x41, 0x0b);

	(void)state;
	assert_int_equal(r.n, 5);
	is_row(&r, 0, 0x1000, VP_FRAME_SP, 1, 0);
	is_row(&r, 1, 0x1001, VP_FRAME_SP, 2, -16);
	is_row(&r, 2, 0x1004, VP_FRAME_FP, 2, -16);
	is_row(&r, 3, 0x1044, VP_FRAME_SP, 1, 0);
	is_row(&r, 4, 0x1045, VP_FRAME_FP, 2, -16);
}

/* The same, after a push of %r13, whose place is asked for: the frame pointer's is not said. */
static void another_register(void **state)
{
	static const uint8_t program[] = { 0x41, 0x0e, 16,   0x8d, 2, 0x42, 0x0e, 24,
					   0x86, 3,    0x43, 0x0d, 6, 0x44, 0xcd };
	struct rows r = run_for(13, program, sizeof(program));

	(void)state;
	assert_int_equal(r.n, 5);
	is_row(&r, 0, 0x1000, VP_FRAME_SP, 1, 0);
	is_row(&r, 1, 0x1001, VP_FRAME_SP, 2, -16);
	is_row(&r, 2, 0x1003, VP_FRAME_SP, 3, -16);
	is_row(&r, 3, 0x1006, VP_FRAME_FP, 3, -16);
	is_row(&r, 4, 0x100a, VP_FRAME_FP, 3, 0);
}

/* What no row can say stops the walk there, and there only. */
static void unsupported_rules(void **state)
{
	struct rows r;

	(void)state;
	r = RUN(0x41, 0x07, 16); /* the return address is lost: the outermost function */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	r = RUN(0x41, 0x0a, 0x0d, 3, 0x44, 0x0b); /* CFA by rbx, for 4 bytes */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	is_row(&r, 2, 0x1005, VP_FRAME_SP, 1, 0);
	r = RUN(0x41, 0x0f, 3, 0x76, 0x78, 0x06); /* … by an expression */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	r = RUN(0x41, 0x10, 6, 2, 0x76, 0); /* rbp by one */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	r = RUN(0x41, 0x0e, 0x80, 0x80, 0x20, 0x41, 0x0e, 0xc0, 0xff,
		0x0f); /* a frame of 512 KiB; 262,080 bytes */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	is_row(&r, 2, 0x1002, VP_FRAME_SP, 32760, 0);
}

static void hostile_programs(void **state)
{
	uint8_t many[VP_CFI_OPERATIONS_MAX + 8] = { 0 }, deep[VP_CFI_REMEMBERED_MAX + 1];
	struct rows r;

	(void)state;
	r = RUN(0x0b); /* nothing to restore */
	is_row(&r, 0, 0x1000, VP_FRAME_STOP, 0, 0);
	r = RUN(0x41, 0x3f); /* no such operation: what was said before holds */
	assert_int_equal(r.n, 2);
	is_row(&r, 0, 0x1000, VP_FRAME_SP, 1, 0);
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	r = RUN(0x41, 0x0e, 0x80, 0x80); /* an operand without end */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	r = RUN(0x41, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f,
		0x77); /* an expression that is longer than the rest */
	is_row(&r, 1, 0x1001, VP_FRAME_STOP, 0, 0);
	r = RUN(0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 16); /* beyond the function's end */
	assert_int_equal(r.n, 1);
	r = run(many, VP_CFI_OPERATIONS_MAX - 2);
	is_row(&r, 0, 0x1000, VP_FRAME_SP, 1, 0);
	r = run(many, sizeof(many));
	is_row(&r, 0, 0x1000, VP_FRAME_STOP, 0, 0);
	memset(deep, 0x0a, sizeof(deep));
	r = run(deep, VP_CFI_REMEMBERED_MAX);
	is_row(&r, 0, 0x1000, VP_FRAME_SP, 1, 0);
	r = run(deep, sizeof(deep));
	is_row(&r, 0, 0x1000, VP_FRAME_STOP, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_readelf_says),   cmocka_unit_test(vdso),
		cmocka_unit_test(missing_pages),     cmocka_unit_test(a_usual_function),
		cmocka_unit_test(unsupported_rules), cmocka_unit_test(hostile_programs),
		cmocka_unit_test(other_registers),   cmocka_unit_test(another_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
