/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/process/: mappings and paths as the kernel has them, and memory that lies has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/facts_mappings.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/process/image.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/guest/process/vdso.h"

static int setup_maple(void **state)
{
	*state = process_guest_create(true);
	return 0;
}

static int setup_list(void **state)
{
	*state = process_guest_create(false);
	return 0;
}

static int teardown(void **state)
{
	process_guest_destroy(*state);
	return 0;
}

static void refused(struct process_guest *pg, enum ot_err_code code, const char *part)
{
	struct vp_maps maps;
	struct ot_err *err = vp_maps_read(process_guest(pg), PF_PID, &maps);

	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), part))
		fail_msg("code %d, want %d with \"%s\": %s", ot_err_code(err), code, part,
			 ot_err_message(err));
	ot_err_destroy(err);
	process_guest_reset(pg);
}

static void test_maps(void **state)
{
	struct process_guest *pg = *state;
	struct vp_maps maps;

	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_int_equal(maps.process.since_ns, 1234);
	assert_string_equal(maps.process.name, "prog");
	assert_int_equal(maps.count, PF_VMAS);
	assert_int_equal(maps.nfiles, 1);
	assert_string_equal(maps.files[0].path, "/srv/data/prog");
	assert_int_equal(maps.files[0].size, PF_FILE_PAGES * 4096 - 100);
	assert_int_equal(maps.files[0].id.inode, 4711);
	assert_int_equal(maps.files[0].id.generation, 5);
	assert_int_equal(maps.files[0].id.dev, 8 << 20 | 1);
	assert_false(maps.files[0].deleted);
	for (unsigned i = 0; i < PF_VMAS; i++) {
		assert_int_equal(maps.items[i].start, process_vma_start(i));
		assert_int_equal(maps.items[i].end, process_vma_start(i) + 0x1000);
		assert_int_equal(maps.items[i].flags,
				 i % 2 ? VP_VMA_READ | VP_VMA_EXEC : VP_VMA_READ | VP_VMA_WRITE);
		assert_int_equal(maps.items[i].file, i % 2 ? 0 : VP_NO_FILE);
		assert_int_equal(maps.items[i].offset, i % 2 ? i * 4096 : 0);
		assert_ptr_equal(vp_maps_find(&maps, process_vma_start(i)), &maps.items[i]);
		assert_ptr_equal(vp_maps_find(&maps, process_vma_start(i) + 0xfff), &maps.items[i]);
		assert_null(vp_maps_find(&maps, process_vma_start(i) + 0x1000));
		assert_null(vp_maps_find(&maps, process_vma_start(i) - 1));
	}
	vp_maps_deinit(&maps);
}

static const char *path_now(struct process_guest *pg)
{
	static char path[64];
	struct vp_maps maps;

	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	snprintf(path, sizeof(path), "%s%s", maps.files[0].path, maps.files[0].deleted ? " (deleted)" : "");
	vp_maps_deinit(&maps);
	return path;
}

/* In a walk over processes a path is read once, but not another file's at the same place. */
static void test_kept_paths(void **state)
{
	struct process_guest *pg = *state;
	struct vp_processes *ps = process_guest(pg);

	vp_processes_keep(ps, true);
	assert_string_equal(path_now(pg), "/srv/data/prog");
	memcpy(process_word(pg, PF_NAME(4)), "pork", 4);
	assert_string_equal(path_now(pg), "/srv/data/prog");
	++*process_word(pg, PF_INODE);
	*process_word(pg, PF_DENTRY(4) + PF_D_PPREV) = 0;
	assert_string_equal(path_now(pg), "/srv/data/pork (deleted)");
	memcpy(process_word(pg, PF_NAME(4)), "perk", 4);
	vp_processes_keep(ps, true);
	assert_string_equal(path_now(pg), "/srv/data/perk (deleted)");
	vp_processes_keep(ps, false);
	memcpy(process_word(pg, PF_NAME(4)), "park", 4);
	assert_string_equal(path_now(pg), "/srv/data/park (deleted)");
	process_guest_reset(pg);
}

static unsigned reads_of_maps(struct process_guest *pg)
{
	process_guest_reads(pg);
	path_now(pg);
	return process_guest_reads(pg);
}

/* In a walk over processes, one that is like the one before takes a few reads: the kernel's page table, names
 * of paths and the file system are not read again, and mappings that are near each other are read together.
 */
static void test_kept_reads(void **state)
{
	struct process_guest *pg = *state;
	unsigned alone = reads_of_maps(pg), kept;

	vp_processes_keep(process_guest(pg), true);
	reads_of_maps(pg);
	kept = reads_of_maps(pg);
	if (kept > 40 || kept * 2 > alone)
		fail_msg("%u reads, of %u without others before", kept, alone);
	vp_processes_keep(process_guest(pg), false);
	assert_int_equal(reads_of_maps(pg), alone);
}

/* What a walk has kept of the page table is read again where it is wrong. */
static void test_kept_translations(void **state)
{
	struct process_guest *pg = *state;
	struct vp_processes *ps = process_guest(pg);
	struct vp_guest_process p;
	bool more;

	process_guest_map(pg, false);
	vp_processes_keep(ps, true);
	struct ot_err *err = vp_guest_process_next(ps, 0, &p, &more);
	assert_int_equal(ot_err_code(err), OT_ERR_FAULT);
	ot_err_destroy(err);
	process_guest_map(pg, true);
	assert_null(vp_guest_process_next(ps, 0, &p, &more));
	process_guest_map(pg, false);
	assert_null(vp_guest_process_next(ps, 0, &p, &more)); /* what it had mapped is what is read */
	vp_processes_keep(ps, true);
	err = vp_guest_process_next(ps, 0, &p, &more);
	assert_int_equal(ot_err_code(err), OT_ERR_FAULT);
	ot_err_destroy(err);
	process_guest_map(pg, true);
	vp_processes_keep(ps, false);
}

/* The numbers that a walk has copied may be outdated: what a number leads to says so, and they are read
 * again. */
static void test_kept_numbers(void **state)
{
	struct process_guest *pg = *state;
	struct vp_processes *ps = process_guest(pg);
	uint64_t slots = PF_NODE(0) + PF_XA_SLOTS;
	struct vp_guest_process p;
	bool more;

	vp_processes_keep(ps, true);
	assert_null(vp_guest_process_next(ps, 0, &p, &more));
	assert_int_equal(p.pid, PF_PID);
	*process_word(pg, slots + 8 * PF_PID) = 0;
	*process_word(pg, slots + 8 * 9) = PF_PIDNR;
	*process_word(pg, PF_PIDNR + PF_NUMBERS) = 9;
	*process_word(pg, PF_TASK + PF_TGID) = 9;
	assert_null(vp_guest_process_next(ps, 0, &p, &more));
	assert_true(more);
	assert_int_equal(p.pid, 9);
	*process_word(pg, PF_PIDNR + 8 + 8) = 0; /* it has ended */
	*process_word(pg, slots + 8 * 9) = 0;
	assert_null(vp_guest_process_next(ps, 0, &p, &more));
	assert_false(more);
	vp_processes_keep(ps, false);
	process_guest_reset(pg);
}

/* The text is that of /proc/PID/maps. */
static void test_print(void **state)
{
	static const char first[] =
	    "00400000-00401000 rw-p 00000000 00:00 0 \n"
	    "00402000-00403000 r-xp 00001000 08:01 4711                               "
	    "/srv/data/prog (deleted)\n";
	struct process_guest *pg = *state;
	struct vp_maps maps;
	struct ot_buf text;

	*process_word(pg, PF_DENTRY(4) + PF_D_PPREV) = 0;
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_true(maps.files[0].deleted);
	ot_buf_init(&text);
	vp_maps_print(&maps, &text);
	assert_memory_equal(ot_buf_str(&text), first, sizeof(first) - 1);
	ot_buf_deinit(&text);
	vp_maps_deinit(&maps);
	process_guest_reset(pg);
}

/* A file of an overlay is shown as its user sees it, and is the layer's. */
static void test_backing_file(void **state)
{
	struct process_guest *pg = *state;
	struct vp_maps maps;

	*process_word(pg, PF_FILE + 32) = 1u << 25;
	*process_word(pg, PF_FILE + 64) = PF_MOUNT(0) + 16;
	*process_word(pg, PF_FILE + 72) = PF_DENTRY(1);
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_string_equal(maps.files[0].path, "/srv");
	assert_int_equal(maps.files[0].id.mapping, PF_MAPPING);
	vp_maps_deinit(&maps);
	process_guest_reset(pg);
}

#define OTHER_FILE    (PF_BASE + 0x0c00u)
#define OTHER_MAPPING (PF_BASE + 0x0c80u)
#define OTHER_INODE   (PF_BASE + 0x0d00u)

/* A file of another inode, at the path of that dentry. */
static void put_other_file(struct process_guest *pg, unsigned dentry)
{
	memcpy(process_word(pg, OTHER_FILE), process_word(pg, PF_FILE), 64);
	memcpy(process_word(pg, OTHER_INODE), process_word(pg, PF_INODE), 64);
	*process_word(pg, OTHER_FILE + 8) = OTHER_MAPPING;
	*process_word(pg, OTHER_FILE + 24) = PF_DENTRY(dentry);
	*process_word(pg, OTHER_MAPPING + 16) = OTHER_INODE;
	*process_word(pg, OTHER_INODE) += 1;
}

static uint32_t program(struct process_guest *pg, uint64_t file)
{
	struct vp_maps maps;

	*process_word(pg, PF_MM + PF_EXE_FILE) = file;
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	uint32_t is = maps.program;

	vp_maps_deinit(&maps);
	return is;
}

/* What the process runs is the file that exec() kept, or, of an overlay, the layer's at the same path. */
static void test_program(void **state)
{
	struct process_guest *pg = *state;

	assert_int_equal(program(pg, 0), VP_NO_FILE);
	assert_int_equal(program(pg, PF_FILE), 0);
	put_other_file(pg, 4);
	assert_int_equal(program(pg, OTHER_FILE), 0);
	put_other_file(pg, 3);
	assert_int_equal(program(pg, OTHER_FILE), VP_NO_FILE);
	process_guest_reset(pg);
}

/* --- the kernel's own code ---------------------------------------------------------------------------- */

#define VDSO      2u /* the mapping that it is */
#define VDSO_DATA (PF_BASE + 0x18000u)
#define VDSO_SIZE 0x2000u

/* Two pages of it, of which one is mapped. */
static void put_vdso(struct process_guest *pg)
{
	*process_word(pg, PF_VMA(VDSO) + 24) = VP_VMA_READ | VP_VMA_EXEC;
	*process_word(pg, PF_MM + PF_VDSO) = process_vma_start(VDSO);
	*process_word(pg, PF_MM + PF_VDSO_OF) = PF_VDSO_IMAGE;
	*process_word(pg, PF_VDSO_IMAGE) = VDSO_DATA;
	*process_word(pg, PF_VDSO_IMAGE + 8) = VDSO_SIZE;
	memset(process_word(pg, VDSO_DATA), 0x5a, 0x1000);
	memset(process_word(pg, VDSO_DATA + 0x1000), 0xa5, 0x1000);
}

/* It has a name, and its pages are the kernel's, whatever the process has touched. */
static void test_vdso(void **state)
{
	struct process_guest *pg = *state;
	struct vp_file_reader reader;
	struct vp_elf_pages *pages;
	struct vp_maps maps;
	uint8_t bytes[2];
	struct ot_buf text;

	put_vdso(pg);
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_int_equal(maps.nfiles, 2);
	assert_int_equal(maps.items[VDSO].file, 1);
	assert_int_equal(maps.program, VP_NO_FILE);
	const struct vp_file *file = &maps.files[1];

	assert_string_equal(file->path, "[vdso]");
	assert_int_equal(file->size, VDSO_SIZE);
	assert_int_equal(file->vdso, VDSO_DATA);
	*process_word(pg, PF_VMEMMAP) = 0; /* no file's page could be read */
	assert_null(vp_file_pages(process_guest(pg), file, &reader, &pages));
	assert_true(vp_elf_image_read(vp_elf_pages_image(pages), VP_PART_TEXT, 0xfff, bytes, 2));
	assert_memory_equal(bytes, "\x5a\xa5", 2);
	assert_false(vp_elf_image_read(vp_elf_pages_image(pages), VP_PART_TEXT, VDSO_SIZE, bytes, 1));
	vp_elf_pages_destroy(pages);
	ot_buf_init(&text);
	vp_maps_print(&maps, &text);
	assert_non_null(strstr(ot_buf_str(&text), "\n00404000-00405000 r-xp 00000000 00:00 0 "));
	assert_non_null(strstr(ot_buf_str(&text), " [vdso]\n"));
	ot_buf_deinit(&text);
	vp_maps_deinit(&maps);
	process_guest_reset(pg);
}

/* Nothing is made of a mapping that is something else, nor of an image that makes no sense. */
static void is_no_vdso(struct process_guest *pg, uint64_t at, uint64_t value)
{
	struct vp_maps maps;

	put_vdso(pg);
	*process_word(pg, at) = value;
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_int_equal(maps.nfiles, 1);
	for (size_t i = 0; i < maps.count; i++)
		assert_int_equal(maps.items[i].file, i % 2 ? 0 : VP_NO_FILE);
	vp_maps_deinit(&maps);
	process_guest_reset(pg);
}

static void test_no_vdso(void **state)
{
	struct process_guest *pg = *state;

	is_no_vdso(pg, PF_MM + PF_VDSO, 0);
	is_no_vdso(pg, PF_MM + PF_VDSO, process_vma_start(VDSO) + 0x1000); /* not mapped there */
	is_no_vdso(pg, PF_MM + PF_VDSO, process_vma_start(VDSO + 1));      /* a file is there */
	is_no_vdso(pg, PF_MM + PF_VDSO, process_vma_start(VDSO + 2));      /* data is there */
	is_no_vdso(pg, PF_MM + PF_VDSO_OF, 0);
	is_no_vdso(pg, PF_MM + PF_VDSO_OF, PF_BASE - 0x1000); /* no memory */
	is_no_vdso(pg, PF_VDSO_IMAGE, 0);
	is_no_vdso(pg, PF_VDSO_IMAGE, VDSO_DATA + 8);
	is_no_vdso(pg, PF_VDSO_IMAGE + 8, 0);
	is_no_vdso(pg, PF_VDSO_IMAGE + 8, 0x1800);
	is_no_vdso(pg, PF_VDSO_IMAGE + 8, VP_VDSO_MAX + 0x1000);
	is_no_vdso(pg, PF_VDSO_IMAGE + 8, ~0xfffull);
}

static void test_no_process(void **state)
{
	struct process_guest *pg = *state;
	struct vp_guest_process p;
	struct ot_err *err = vp_guest_process_find(process_guest(pg), 8, &p);

	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
	assert_null(vp_guest_process_find(process_guest(pg), PF_PID, &p));
	assert_true(vp_guest_process_is(process_guest(pg), &p));
	*process_word(pg, PF_TASK + PF_START) = 99;
	assert_false(vp_guest_process_is(process_guest(pg), &p));
	process_guest_reset(pg);
	*process_word(pg, PF_TASK + PF_TASK_MM) = 0;
	refused(pg, OT_ERR_NOT_FOUND, "has no memory of its own");
}

/* By their numbers; those of threads are none. */
static void test_next(void **state)
{
	struct process_guest *pg = *state;
	struct vp_guest_process p;
	bool more;

	*process_word(pg, PF_NODE(0) + PF_XA_SLOTS + 8 * 5) = PF_PIDNR + 0x40; /* of a thread */
	*process_word(pg, PF_PIDNR + 0x40 + PF_NUMBERS) = 5;
	*process_word(pg, PF_NODE(0) + PF_XA_SLOTS + 8 * 6) = 0x405; /* a value */
	assert_null(vp_guest_process_next(process_guest(pg), 0, &p, &more));
	assert_true(more);
	assert_int_equal(p.pid, PF_PID);
	assert_int_equal(p.since_ns, 1234);
	assert_null(vp_guest_process_next(process_guest(pg), PF_PID, &p, &more));
	assert_false(more);
	process_guest_reset(pg);
	*process_word(pg, PF_TASK + PF_TGID) = 8;
	struct ot_err *err = vp_guest_process_next(process_guest(pg), 0, &p, &more);
	assert_int_equal(ot_err_code(err), OT_ERR_BUSY);
	ot_err_destroy(err);
	process_guest_reset(pg);
}

/* A table that is torn at each number ends soon, however many numbers it can have. */
static void test_next_torn(void **state)
{
	struct process_guest *pg = *state;
	struct vp_guest_process p = { 0 };
	struct ot_err *err = NULL;
	bool more;
	unsigned n;

	*process_word(pg, PF_PID_NS + 8) = 0x102; /* internal, and no node */
	for (n = 0; n < 100 && (!err || ot_err_code(err) == OT_ERR_BUSY); n++) {
		ot_err_destroy(err);
		err = vp_guest_process_next(process_guest(pg), p.pid, &p, &more);
		assert_non_null(err);
		assert_true(p.pid > n);
	}
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	assert_int_equal(n, 65);
	ot_err_destroy(err);
	process_guest_reset(pg);
	assert_null(vp_guest_process_next(process_guest(pg), 0, &p, &more)); /* each walk starts from none */
	assert_int_equal(p.pid, PF_PID);
}

/* Over is a process none of whose threads lives, although its number is still taken. */
static void test_over(void **state)
{
	struct process_guest *pg = *state;
	struct vp_guest_process p;

	assert_null(vp_guest_process_find(process_guest(pg), PF_PID, &p));
	assert_false(p.is_over);
	*process_word(pg, PF_TASK + PF_TASK_MM) = 0; /* its first thread has ended, another one lives */
	*process_word(pg, PF_SIGNAL) = 1ull << 32;
	assert_null(vp_guest_process_find(process_guest(pg), PF_PID, &p));
	assert_false(p.is_over);
	*process_word(pg, PF_SIGNAL) = 1; /* another member */
	assert_null(vp_guest_process_find(process_guest(pg), PF_PID, &p));
	assert_true(p.is_over);
	*process_word(pg, PF_TASK + PF_TASK_SIGNAL) = 0;
	struct ot_err *err = vp_guest_process_find(process_guest(pg), PF_PID, &p);
	assert_int_equal(ot_err_code(err), OT_ERR_BUSY);
	ot_err_destroy(err);
	process_guest_reset(pg);
}

/* What can't be is a change, and one that does not pass an error. */
static void test_torn(void **state)
{
	struct process_guest *pg = *state;

	*process_word(pg, PF_MM + PF_MAP_COUNT) = PF_VMAS + 1;
	refused(pg, OT_ERR_BUSY, "it changed while it was read");
	*process_word(pg, PF_VMA(3) + 8) = process_vma_start(4) + 0x1000;
	refused(pg, OT_ERR_BUSY, "it changed while it was read");
	*process_word(pg, PF_TASK + PF_TGID) = 8;
	refused(pg, OT_ERR_BUSY, "it changed while it was read");
}

static void test_torn_maple(void **state)
{
	struct process_guest *pg = *state;

	/* a leaf that is its own parent's */
	*process_word(pg, PF_MAPLE(0) + 80) = PF_MAPLE(0) | 3 << 3 | 4;
	refused(pg, OT_ERR_BUSY, "it changed");
	/* pivots that go back */
	*process_word(pg, PF_MAPLE(1) + 8 + 8 * 3) = process_vma_start(0);
	refused(pg, OT_ERR_BUSY, "it changed");
	/* a mapping in another's place */
	*process_word(pg, PF_MAPLE(1) + 128 + 8 * 3) = PF_VMA(2);
	refused(pg, OT_ERR_BUSY, "it changed");
}

static void test_torn_list(void **state)
{
	struct process_guest *pg = *state;

	*process_word(pg, PF_VMA(5) + PF_VMA_NEXT) = PF_VMA(2);
	refused(pg, OT_ERR_BUSY, "it changed");
}

/* A path that can't be followed leaves its mappings without a file. */
static void test_endless_path(void **state)
{
	struct process_guest *pg = *state;
	struct vp_maps maps;

	*process_word(pg, PF_DENTRY(3) + PF_D_PARENT) = PF_DENTRY(4);
	assert_null(vp_maps_read(process_guest(pg), PF_PID, &maps));
	assert_int_equal(maps.nfiles, 0);
	assert_int_equal(maps.items[1].file, VP_NO_FILE);
	vp_maps_deinit(&maps);
	process_guest_reset(pg);
}

/* The facts for an engine are complete, or absent. */
static void test_facts(void **state)
{
	struct process_guest *pg = *state;
	struct vp_guest *guest = process_guest_kernel(pg);
	struct vp_btf *btf = guest->btf;
	struct vp_mapping_facts f;

	vp_facts_mappings(guest, &f);
	assert_int_equal(f.vmemmap, PF_PAGES);
	assert_int_equal(f.vma_uffd, PF_VMA_UFFD);
	assert_int_equal(f.vma_anon, PF_VMA_ANON);
	assert_int_equal(f.folio_uptodate, 2);
	assert_int_equal(f.xa_nslots, 64);
	if (f.mm_tree == VP_NO_OFFSET) {
		assert_int_equal(f.mm_rb, PF_MM_RB);
		assert_int_equal(f.vma_rb, PF_VMA_RB);
		assert_int_equal(f.rb_left, 16);
		assert_int_equal(f.rb_right, 8);
	} else {
		assert_int_equal(f.mm_tree, PF_MA_ROOT);
		assert_int_equal(f.leaf.slots, 16);
		assert_int_equal(f.range.slots, 10);
	}
	*process_word(pg, PF_VMEMMAP) = 0;
	vp_facts_mappings(guest, &f);
	assert_int_equal(f.vmemmap, 0);
	process_guest_reset(pg);
	guest->btf = NULL;
	vp_facts_mappings(guest, &f);
	assert_int_equal(f.vmemmap, 0);
	guest->btf = btf;
}

/* Without the variable, the table is at the architecture's constant, if that is mapped. */
static void test_table_at_constant(void **state)
{
	struct process_guest *pg = *state;
	struct vp_guest *guest = process_guest_kernel(pg);
	struct vp_symtab *symtab = guest->symtab;

	assert_null(vp_symtab_create(&guest->symtab));
	assert_null(vp_symtab_finish(guest->symtab));
	assert_int_equal(vp_guest_vmemmap(guest), 0);
	process_guest_map_at(pg, vp_arch_x86.vmemmap);
	assert_int_equal(vp_guest_vmemmap(guest), vp_arch_x86.vmemmap);
	vp_symtab_destroy(guest->symtab);
	guest->symtab = symtab;
	assert_int_equal(vp_guest_vmemmap(guest), PF_PAGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_maps, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_maps, setup_list, teardown),
		cmocka_unit_test_setup_teardown(test_kept_paths, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_kept_reads, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_kept_translations, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_kept_numbers, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_print, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_backing_file, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_program, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup_list, teardown),
		cmocka_unit_test_setup_teardown(test_no_vdso, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_no_process, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_next, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_next_torn, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_over, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_torn, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_torn, setup_list, teardown),
		cmocka_unit_test_setup_teardown(test_torn_maple, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_torn_list, setup_list, teardown),
		cmocka_unit_test_setup_teardown(test_endless_path, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_facts, setup_maple, teardown),
		cmocka_unit_test_setup_teardown(test_facts, setup_list, teardown),
		cmocka_unit_test_setup_teardown(test_table_at_constant, setup_maple, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
