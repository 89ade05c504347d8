/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rules for stacks an engine is sent: of a made-up guest whose one process has mapped ELF_PROGRAM, and
 * the code that this host's kernel maps into each process as its vdso.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "process_fixture.h"
#include "vmm-probe/guest/elf/cfi.h"
#include "vmm-probe/guest/elf/pages.h"
#include "vmm-probe/guest/process/vdso.h"
#include "vmm-probe/guest/process/vmas.h"
#include "vmm-probe/session/user_frames.h"

#define FILE_MAX  (PF_FILE_PAGES * 4096u)
#define CODE_MAP  1u                   /* the mapping of the program's code */
#define VDSO_MAP  2u                   /* behind it, the vdso */
#define TOP_TABLE (PF_BASE + 0x16000u) /* of the process */
#define VDSO_DATA (PF_BASE + 0x40000u) /* in the kernel */
#define SAID_MAX  1024u
#define PROCESSES struct vp_frames_process
#define ROOMY     (&vp_readings[VP_READ_FRAMES])

struct world {
	struct process_guest *pg;
	char *program;
	size_t size;
	struct vp_elf_pages *pages; /* what the rules must be made of */
	struct vp_elf elf;
	struct vp_cfi cfi;
	uint64_t code; /* offset of its code in the file */
	struct vp_user_symbols us;
	struct vp_frames_known known;
	struct vp_frames_making making;
	char said[SAID_MAX];
};

static void ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static void note(void *arg, const char *text)
{
	struct world *w = arg;
	size_t len = strlen(w->said);

	snprintf(w->said + len, sizeof(w->said) - len, "%s\n", text);
}

/* --- the program --------------------------------------------------------------------------------------- */

struct bytes {
	const void *data;
	size_t size;
};

static bool copy_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct bytes *b = arg;
	size_t at = index * 4096, n = b->size - at < 4096 ? b->size - at : 4096;

	memset(dst, 0, 4096);
	memcpy(dst, (const char *)b->data + at, n);
	return true;
}

static void read_truth(struct bytes *b, struct vp_elf_pages **pages, struct vp_elf *elf, struct vp_cfi *cfi)
{
	ok(vp_elf_pages_create(b->size, copy_page, b, pages));
	ok(vp_elf_read(vp_elf_pages_image(*pages), elf));
	ok(vp_cfi_read(elf, cfi));
	assert_true(cfi->count > 2 && !cfi->missing);
}

static const Elf64_Phdr *segment(const struct vp_elf *elf, uint32_t type, uint32_t flags)
{
	for (size_t i = 0; i < elf->nsegments; i++)
		if (elf->segments[i].p_type == type && (elf->segments[i].p_flags & flags) == flags)
			return &elf->segments[i];
	fail_msg("no such segment");
	return NULL;
}

/* The guest has all of the file's pages, and the process has mapped the one with its code. */
static void put_program(struct world *w)
{
	for (size_t at = 0; at < w->size; at += 4096)
		memcpy(process_page(w->pg, (unsigned)(at / 4096)), w->program + at,
		       w->size - at < 4096 ? w->size - at : 4096);
	*process_word(w->pg, PF_INODE + 16) = w->size;
	*process_word(w->pg, PF_MM) = TOP_TABLE;
	*process_word(w->pg, PF_VMA(CODE_MAP) + 32) = w->code / 4096;
}

/* A page of the file that the kernel has dropped. */
static void drop_page(struct world *w, uint64_t offset)
{
	*process_word(w->pg, PF_NODE(2) + PF_XA_SLOTS + 8 * (offset / 4096)) = 0;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct bytes b;

	assert_non_null(w);
	*state = w;
	w->pg = process_guest_create(false);
	ok(ot_read_file(ELF_PROGRAM, FILE_MAX, &w->program, &w->size));
	b = (struct bytes){ w->program, w->size };
	read_truth(&b, &w->pages, &w->elf, &w->cfi);
	w->code = segment(&w->elf, PT_LOAD, PF_X)->p_offset & ~4095ull;
	put_program(w);
	vp_user_symbols_init(&w->us, process_guest_kernel(w->pg), NULL, note, w);
	w->known.asked = true;
	w->making = (struct vp_frames_making){ .known = &w->known, .us = &w->us };
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_frames_making_deinit(&w->making);
	vp_frames_deinit(&w->known);
	vp_user_symbols_deinit(&w->us);
	vp_cfi_deinit(&w->cfi);
	vp_elf_deinit(&w->elf);
	vp_elf_pages_destroy(w->pages);
	process_guest_destroy(w->pg);
	free(w->program);
	free(w);
	return 0;
}

/* --- making ---------------------------------------------------------------------------------------------- */

static struct ot_err *make_within(struct world *w, const struct vp_reading *reading)
{
	struct vp_budget budget;

	vp_frames_making_deinit(&w->making);
	w->making = (struct vp_frames_making){ .known = &w->known, .us = &w->us };
	vp_budget_begin(&budget, reading, reading == ROOMY);
	struct ot_err *err = vp_frames_make(&w->making);
	vp_budget_end(&budget);
	return err;
}

/* One message, as it is sent; the next round begins. */
static void make(struct world *w)
{
	ok(make_within(w, ROOMY));
	w->known.nsent++;
	w->known.bytes += w->making.rows.len;
	vp_user_symbols_round(&w->us);
}

static void want(struct world *w)
{
	vp_frames_want(&w->known, &w->us, PF_PID);
}

#define COUNT(w, part, type) ((w)->making.part.len / sizeof(type))

static const struct vp_frames_map *map_of(const struct world *w, size_t i)
{
	assert_true(i < COUNT(w, maps, struct vp_frames_map));
	return (const struct vp_frames_map *)(const void *)w->making.maps.data + i;
}

static void has_rows(const struct world *w, const struct vp_frames_map *map, const struct vp_cfi *want)
{
	assert_int_equal(map->nrows, want->count);
	assert_true(map->first_row + map->nrows <= COUNT(w, rows, struct vp_frame_row));
	assert_memory_equal((const struct vp_frame_row *)(const void *)w->making.rows.data + map->first_row,
			    want->rows, want->count * sizeof(*want->rows));
}

/* The process has one map, of the program's code, with its rules in message @sent. */
static void has_program(const struct world *w, uint32_t sent)
{
	const struct vp_frames_process *p = (const void *)w->making.processes.data;
	uint64_t start = process_vma_start(CODE_MAP);

	assert_int_equal(COUNT(w, processes, PROCESSES), 1);
	assert_int_equal(p->id.pid, PF_PID);
	assert_int_equal(p->id.mm, PF_MM);
	assert_int_equal(p->id.since_ns, 1234);
	assert_int_equal(p->id.root, TOP_TABLE - PF_BASE + (2u << 20));
	assert_int_equal(p->runtime, VP_NO_RUNTIME);
	assert_true(p->first_map == 0 && p->nmaps >= 1);
	const struct vp_frames_map *map = map_of(w, 0);

	assert_int_equal(map->start, start);
	assert_int_equal(map->end, start + 4096);
	assert_int_equal(map->base,
			 start - (segment(&w->elf, PT_LOAD, PF_X)->p_vaddr & ~4095ull) + w->cfi.base);
	assert_int_equal(map->sent, sent);
	assert_int_equal(map->nrows, w->cfi.count);
}

/* --- tests ------------------------------------------------------------------------------------------------- */

static void rules_of_a_process(void **state)
{
	struct world *w = *state;

	want(w);
	want(w); /* once is enough */
	assert_int_equal(w->known.nwanted, 1);
	make(w);
	has_program(w, 0);
	has_rows(w, map_of(w, 0), &w->cfi);
	assert_string_equal(w->said, "");
	assert_int_equal(w->known.nwanted, 0);
	want(w); /* nothing has changed */
	assert_int_equal(w->known.nwanted, 0);
}

/* It maps something that is no code: nothing is sent. It maps code: its maps are, and no file's rules again.
 */
static void what_changed(void **state)
{
	struct world *w = *state;

	want(w);
	make(w);
	*process_word(w->pg, PF_VMA(PF_VMAS - 2) + PF_VMA_NEXT) =
	    0; /* its last one goes, which has no rules */
	*(uint32_t *)(void *)process_word(w->pg, PF_MM + PF_MAP_COUNT) = PF_VMAS - 1;
	want(w);
	assert_int_equal(w->known.nwanted, 1);
	make(w);
	has_program(w, 0);
	assert_int_equal(w->making.rows.len, 0);
	*process_word(w->pg, PF_VMA(PF_VMAS - 3) + PF_VMA_NEXT) = 0; /* data */
	*(uint32_t *)(void *)process_word(w->pg, PF_MM + PF_MAP_COUNT) = PF_VMAS - 2;
	want(w);
	assert_int_equal(w->known.nwanted, 1);
	make(w);
	assert_int_equal(w->making.processes.len + w->making.maps.len + w->making.rows.len, 0);
	/* another program in the same process: exec() */
	*process_word(w->pg, PF_TASK + PF_START) = 4321;
	want(w);
	make(w);
	assert_int_equal(((const PROCESSES *)(const void *)w->making.processes.data)->id.since_ns, 4321);
	assert_int_equal(w->making.rows.len, 0);
}

static void not_asked(void **state)
{
	struct world *w = *state;

	w->known.asked = false;
	want(w);
	assert_int_equal(w->known.nwanted, 0);
	w->known.asked = true;
	vp_frames_want(&w->known, &w->us, PF_PID + 1); /* there is none */
	assert_int_equal(w->known.nwanted, 0);
}

/* The kernel's own code has rules as a file has. */
static void vdso(void **state)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: that's its address */
	struct world *w = *state;
	struct vp_elf_pages *pages;
	struct vp_elf elf;
	struct vp_cfi cfi;

	if (!h)
		skip();
	struct bytes b = { h, (h->e_shoff + (size_t)h->e_shnum * h->e_shentsize + 4095) & ~(size_t)4095 };

	assert_true(b.size <= VP_VDSO_MAX);
	read_truth(&b, &pages, &elf, &cfi);
	memcpy(process_word(w->pg, VDSO_DATA), b.data, b.size);
	*process_word(w->pg, PF_VDSO_IMAGE) = VDSO_DATA;
	*process_word(w->pg, PF_VDSO_IMAGE + 8) = b.size;
	*process_word(w->pg, PF_MM + PF_VDSO_OF) = PF_VDSO_IMAGE;
	*process_word(w->pg, PF_MM + PF_VDSO) = process_vma_start(VDSO_MAP);
	*process_word(w->pg, PF_VMA(VDSO_MAP) + 24) = VP_VMA_READ | VP_VMA_EXEC;
	want(w);
	make(w);
	has_program(w, 0);
	assert_int_equal(COUNT(w, maps, struct vp_frames_map), 2);
	const struct vp_frames_map *map = map_of(w, 1);

	assert_int_equal(map->start, process_vma_start(VDSO_MAP));
	assert_int_equal(map->base, map->start + cfi.base); /* it is linked at 0 */
	has_rows(w, map, &cfi);
	vp_cfi_deinit(&cfi);
	vp_elf_deinit(&elf);
	vp_elf_pages_destroy(pages);
}

/* What a file lacks is said once a frame is in it, and once. */
static void missing_pages(void **state)
{
	struct world *w = *state;
	uint64_t start = process_vma_start(CODE_MAP);

	drop_page(w, segment(&w->elf, PT_GNU_EH_FRAME, PF_R)->p_offset);
	want(w);
	make(w);
	assert_int_equal(COUNT(w, processes, PROCESSES), 0);
	assert_int_equal(w->making.rows.len, 0);
	vp_frames_met(&w->known, &w->us, PF_PID, process_vma_start(0)); /* another mapping */
	vp_frames_met(&w->known, &w->us, PF_PID, start - 1);            /* none */
	vp_frames_met(&w->known, &w->us, PF_PID + 1, start);            /* no process */
	assert_string_equal(w->said, "");
	vp_frames_met(&w->known, &w->us, PF_PID, start);
	vp_frames_met(&w->known, &w->us, PF_PID, start);
	assert_string_equal(
	    w->said, "prog: its .eh_frame is not in the guest's memory: ustack() follows frame pointers "
		     "there; --sysroot DIR, with the file below DIR, helps\n");
}

static void put_copy(const struct world *w, const char *root)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/srv", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/srv/data", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/srv/data/prog", root);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(w->program, w->size, 1, out), 1);
	assert_int_equal(fclose(out), 0);
}

static void remove_copy(const char *root)
{
	static const char *const parts[] = { "/srv/data/prog", "/srv/data", "/srv", "" };
	char path[256];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		assert_int_equal(remove(path), 0);
	}
}

/* The operator's copy of the file has what the guest lacks. */
static void sysroot(void **state)
{
	char root[] = "/tmp/outsight-frames-XXXXXX";
	struct world *w = *state;

	assert_non_null(mkdtemp(root));
	put_copy(w, root);
	w->us.sysroot = root;
	drop_page(w, segment(&w->elf, PT_GNU_EH_FRAME, PF_R)->p_offset);
	want(w);
	make(w);
	has_program(w, 0);
	has_rows(w, map_of(w, 0), &w->cfi);
	vp_frames_met(&w->known, &w->us, PF_PID, process_vma_start(CODE_MAP));
	assert_string_equal(w->said, "");
	remove_copy(root);
}

/* All rules that one session sends have a limit, and behind it nothing is read any more. */
static void too_many(void **state)
{
	struct world *w = *state;
	struct ot_err *err;

	w->known.bytes = VP_FRAMES_SIZE_MAX - w->cfi.count * sizeof(*w->cfi.rows) + 1;
	want(w);
	err = make_within(w, ROOMY);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
	assert_string_equal(ot_err_message(err), "the programs' stack tables exceed 64 MiB: ustack() follows "
						 "frame pointers in further ones");
	ot_err_destroy(err);
	assert_true(w->known.over);
	assert_int_equal(w->making.rows.len, 0);
	*process_word(w->pg, PF_TASK + PF_START) = 4321;
	vp_user_symbols_round(&w->us);
	assert_int_equal(w->known.nwanted, 0);
	want(w);
	assert_int_equal(w->known.nwanted, 0);
}

static void just_enough(void **state)
{
	struct world *w = *state;

	w->known.bytes = VP_FRAMES_SIZE_MAX - w->cfi.count * sizeof(*w->cfi.rows);
	want(w);
	make(w);
	has_program(w, 0);
	assert_false(w->known.over);
}

/* Without a budget a process remains wanted for some rounds, and then has what was read of it. */
static void no_budget(void **state)
{
	struct vp_reading poor = vp_readings[VP_READ_FRAMES];
	struct world *w = *state;
	unsigned rounds = 0;

	poor.cpu_ms = 0;
	want(w);
	while (w->known.nwanted) {
		struct ot_err *err = make_within(w, &poor);

		ot_err_destroy(err);
		vp_user_symbols_round(&w->us);
		assert_true(++rounds < 100);
	}
	assert_in_range(rounds, 2, 20);
	want(w); /* it is not tried for ever */
	assert_int_equal(w->known.nwanted, 0);
}

/* A process that maps something all the time is sent so often, and no more. */
static void sent_often(void **state)
{
	struct world *w = *state;
	unsigned sent = 0;

	for (uint64_t i = 0; i < 100; i++) {
		*process_word(w->pg, PF_TASK + PF_START) = 5000 + i;
		want(w);
		make(w);
		sent += COUNT(w, processes, PROCESSES) == 1;
	}
	assert_int_equal(sent, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rules_of_a_process, setup, teardown),
		cmocka_unit_test_setup_teardown(what_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(not_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(sysroot, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many, setup, teardown),
		cmocka_unit_test_setup_teardown(just_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(no_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(sent_often, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
