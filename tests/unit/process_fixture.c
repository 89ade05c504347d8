/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up kernel with a process and a file, for tests of vmm-probe/guest/process/. */
#include "process_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest_internal.h"

#define RAM        (4u << 20)
#define MEMORY_GPA (2u << 20)
#define ROOT       0x1000u
#define TABLE      0x3u /* present, writable */
#define LARGE      0x83u
#define NODE       2u /* tag of a node in an xarray, and in a maple tree's root */
#define LEAF       1u /* types of a maple tree's nodes, as the enumeration below has them */
#define ARANGE     3u

struct process_guest {
	uint8_t *ram;
	struct vp_phys *phys;
	struct vp_guest *guest;
	struct vp_processes *ps;
	bool maple;
	unsigned reads;
};

static void ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

/* --- types ------------------------------------------------------------------------------------------- */

static void add_process_types(struct btf_builder *b, bool maple, uint32_t c, uint32_t u, uint32_t l)
{
	uint32_t comm = btf_add_array(b, c, 16), slots = btf_add_array(b, l, 64), t, node, ctx;

	BTF_STRUCT(b, "task_struct", 160, { "tgid", u, PF_TGID }, { "start_time", l, PF_START },
		   { "comm", comm, PF_COMM }, { "mm", l, PF_TASK_MM }, { "pid_links", l, PF_LINKS },
		   { "signal", l, PF_TASK_SIGNAL }, { "self_exec_id", u, PF_EXEC_IDS },
		   { "parent_exec_id", u, PF_EXEC_IDS + 4 }, { "files", l, PF_TASK_FILES },
		   { "nsproxy", l, PF_TASK_NSPROXY }, { "fs", l, PF_TASK_FS });
	t = BTF_STRUCT(b, "atomic_t", 4, { "counter", u, 0 });
	BTF_STRUCT(b, "signal_struct", 8, { "live", t, 4 });
	t = BTF_STRUCT(b, "upid", 8, { "nr", u, 0 });
	BTF_STRUCT(b, "pid", 32, { "tasks", l, 8 }, { "numbers", t, PF_NUMBERS });
	BTF_STRUCT(b, "xa_node", 16 + 8 * 64, { "shift", c, 0 }, { "slots", slots, PF_XA_SLOTS });
	t = BTF_STRUCT(b, "xarray", 16, { "xa_head", l, 8 });
	BTF_STRUCT(b, "address_space", 32, { "i_pages", t, 0 }, { "host", l, 16 });
	t = BTF_STRUCT(b, "idr", 16, { "idr_rt", t, 0 });
	BTF_STRUCT(b, "pid_namespace", 16, { "idr", t, 0 });
	ctx = BTF_STRUCT(b, "mm_context", 16, { "vdso", l, 0 }, { "vdso_image", l, PF_VDSO_OF - PF_VDSO });
	if (maple) {
		t = BTF_STRUCT(b, "maple_tree", 16, { "ma_root", l, 8 });
		BTF_STRUCT(b, "mm_struct", 80, { "pgd", l, 0 }, { "map_count", u, PF_MAP_COUNT },
			   { "mm_mt", t, PF_MA_ROOT - 8 }, { "exe_file", l, PF_EXE_FILE },
			   { "context", ctx, PF_VDSO });
	} else {
		t = BTF_STRUCT(b, "rb_root", 8, { "rb_node", l, 0 });
		BTF_STRUCT(b, "mm_struct", 80, { "pgd", l, 0 }, { "map_count", u, PF_MAP_COUNT },
			   { "mmap", l, PF_MMAP }, { "mm_rb", t, PF_MM_RB }, { "exe_file", l, PF_EXE_FILE },
			   { "context", ctx, PF_VDSO });
	}
	BTF_STRUCT(b, "vdso_image", 16, { "data", l, 0 }, { "size", l, 8 });
	node = BTF_STRUCT(b, "rb_node", 24, { "__rb_parent_color", l, 0 }, { "rb_right", l, 8 },
			  { "rb_left", l, 16 });
	ctx = BTF_STRUCT(b, "vm_userfaultfd_ctx", 8, { "ctx", l, 0 });
	BTF_STRUCT(b, "vm_area_struct", 96, { "vm_start", l, 0 }, { "vm_end", l, 8 },
		   { "vm_next", l, PF_VMA_NEXT }, { "vm_flags", l, 24 }, { "vm_pgoff", l, 32 },
		   { "vm_file", l, 40 }, { "vm_ops", l, 48 }, { "vm_userfaultfd_ctx", ctx, PF_VMA_UFFD },
		   { "vm_rb", node, PF_VMA_RB }, { "anon_vma", l, PF_VMA_ANON });
}

static void add_maple_types(struct btf_builder *b, uint32_t l)
{
	BTF_STRUCT(b, "maple_range_64", 256, { "pivot", btf_add_array(b, l, 15), 8 },
		   { "slot", btf_add_array(b, l, 16), 128 });
	BTF_STRUCT(b, "maple_arange_64", 256, { "pivot", btf_add_array(b, l, 9), 8 },
		   { "slot", btf_add_array(b, l, 10), 80 });
	btf_add(b, "maple_type", BTF_KIND_ENUM, 4, 0, 4);
	btf_add_words(b, 8, btf_add_string(b, "maple_dense"), 0, btf_add_string(b, "maple_leaf_64"), 1,
		      btf_add_string(b, "maple_range_64"), 2, btf_add_string(b, "maple_arange_64"), 3);
}

static void add_file_types(struct btf_builder *b, uint32_t u, uint32_t l)
{
	uint32_t path = BTF_STRUCT(b, "path", 16, { "mnt", l, 0 }, { "dentry", l, 8 }), t;

	BTF_STRUCT(b, "file", 64, { "f_mapping", l, 8 }, { "f_path", path, 16 }, { "f_mode", u, 32 },
		   { "f_op", l, PF_FILE_OP }, { "private_data", l, PF_FILE_PRIVATE });
	BTF_STRUCT(b, "fs_struct", 16, { "root", path, 0 });
	BTF_STRUCT(b, "backing_file", 96, { "user_path", path, 64 });
	t = BTF_STRUCT(b, "qstr", 16, { "hash", u, 0 }, { "len", u, 4 }, { "name", l, 8 });
	uint32_t hash = BTF_STRUCT(b, "hlist_bl_node", 16, { "next", l, 0 }, { "pprev", l, 8 });

	BTF_STRUCT(b, "dentry", 64, { "d_parent", l, PF_D_PARENT }, { "d_name", t, PF_D_LEN - 4 },
		   { "d_hash", hash, PF_D_PPREV - 8 });
	t = BTF_STRUCT(b, "vfsmount", 16, { "mnt_root", l, 0 }, { "mnt_sb", l, 8 });
	BTF_STRUCT(b, "mount", 88, { "mnt_parent", l, 0 }, { "mnt_mountpoint", l, 8 }, { "mnt", t, 16 },
		   { "mnt_mounts", l, PF_MNT_MOUNTS }, { "mnt_child", l, PF_MNT_CHILD },
		   { "mnt_list", l, PF_MNT_LINK }, { "mnt_node", l, PF_MNT_LINK });
	BTF_STRUCT(b, "inode", 64, { "i_ino", l, 0 }, { "i_sb", l, 8 }, { "i_size", l, 16 },
		   { "i_generation", u, 24 });
	BTF_STRUCT(b, "super_block", 32, { "s_dev", u, 0 }, { "s_type", l, PF_SB_TYPE },
		   { "s_subtype", l, PF_SB_SUBTYPE });
	BTF_STRUCT(b, "page", 64, { "flags", l, 0 });
	BTF_STRUCT(b, "folio", 128, { "flags", l, 0 }, { "mapping", l, PF_FOLIO_MAPPING },
		   { "index", l, PF_FOLIO_INDEX });
	btf_add(b, "pageflags", BTF_KIND_ENUM, 2, 0, 4);
	btf_add_words(b, 4, btf_add_string(b, "PG_locked"), 0, btf_add_string(b, "PG_uptodate"), 2);
	btf_add(b, "pid_type", BTF_KIND_ENUM, 2, 0, 4);
	btf_add_words(b, 4, btf_add_string(b, "PIDTYPE_PID"), 0, btf_add_string(b, "PIDTYPE_TGID"), 1);
}

void process_guest_types(struct btf_builder *b, bool maple)
{
	uint32_t c = btf_add_int(b, "char", 1, 0), u = btf_add_int(b, "unsigned int", 4, 0);
	uint32_t l = btf_add_int(b, "unsigned long", 8, 0);

	add_process_types(b, maple, c, u, l);
	if (maple)
		add_maple_types(b, l);
	add_file_types(b, u, l);
}

static struct vp_btf *make_types(bool maple, const struct process_more *more)
{
	struct btf_builder b;
	struct vp_btf *btf;
	struct ot_buf out;

	btf_builder_init(&b, NULL);
	ot_buf_init(&out);
	process_guest_types(&b, maple);
	if (more)
		more->add_types(&b, maple);
	btf_finish(&b, &out);
	ok(vp_btf_create(out.data, out.len, NULL, &btf));
	ot_buf_deinit(&out);
	btf_builder_deinit(&b);
	return btf;
}

/* --- memory --------------------------------------------------------------------------------------------- */

uint64_t *process_word(struct process_guest *pg, uint64_t gva)
{
	return (uint64_t *)(void *)(pg->ram + MEMORY_GPA + (gva - PF_BASE));
}

uint8_t *process_page(struct process_guest *pg, unsigned n)
{
	return pg->ram + PF_DATA + 4096u * n;
}

uint64_t process_vma_start(unsigned n)
{
	return 0x400000 + 0x2000ull * n;
}

static void put(struct process_guest *pg, uint64_t gva, uint64_t value)
{
	*process_word(pg, gva) = value;
}

static void put32(struct process_guest *pg, uint64_t gva, uint32_t value)
{
	memcpy((uint8_t *)process_word(pg, gva & ~7ull) + (gva & 7), &value, sizeof(value));
}

static void put_task(struct process_guest *pg)
{
	put32(pg, PF_TASK + PF_TGID, PF_PID);
	put(pg, PF_TASK + PF_START, 1234);
	memcpy(process_word(pg, PF_TASK + PF_COMM), "prog", 5);
	put(pg, PF_TASK + PF_TASK_MM, PF_MM);
	put(pg, PF_TASK + PF_TASK_SIGNAL, PF_SIGNAL);
	put32(pg, PF_SIGNAL + 4, 2);
	put(pg, PF_PIDNR + 16, PF_TASK + PF_LINKS + 16);
	put32(pg, PF_PIDNR + PF_NUMBERS, PF_PID);
	put(pg, PF_NODE(0) + PF_XA_SLOTS + 8 * PF_PID, PF_PIDNR);
	put(pg, PF_PID_NS + 8, PF_NODE(0) + NODE);
}

static void put_vmas(struct process_guest *pg)
{
	for (unsigned i = 0; i < PF_VMAS; i++) {
		put(pg, PF_VMA(i), process_vma_start(i));
		put(pg, PF_VMA(i) + 8, process_vma_start(i) + 0x1000);
		put(pg, PF_VMA(i) + PF_VMA_NEXT, i + 1 < PF_VMAS ? PF_VMA(i + 1) : 0);
		put(pg, PF_VMA(i) + 24, i % 2 ? 5 : 3);
		put(pg, PF_VMA(i) + 32, i);
		put(pg, PF_VMA(i) + 40, i % 2 ? PF_FILE : 0);
	}
	put32(pg, PF_MM + PF_MAP_COUNT, PF_VMAS);
	put(pg, PF_MM + PF_MMAP, PF_VMA(0));
}

/* A leaf with mappings from @first on: gap, mapping, gap, …; the last gap's pivot is left zero unless the
 * node is full. */
static void put_leaf(struct process_guest *pg, unsigned n, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t start = process_vma_start(first + i);

		put(pg, PF_MAPLE(n) + 8 + 8 * (2 * i), start - 1);
		put(pg, PF_MAPLE(n) + 8 + 8 * (2 * i + 1), start + 0xfff);
		put(pg, PF_MAPLE(n) + 128 + 8 * (2 * i + 1), PF_VMA(first + i));
	}
}

/* 7, 7 and 6 mappings in three leaves. */
static void put_maple(struct process_guest *pg)
{
	static const unsigned first[] = { 0, 7, 14 }, count[] = { 7, 7, 6 };

	for (unsigned i = 0; i < 3; i++) {
		put_leaf(pg, 1 + i, first[i], count[i]);
		put(pg, PF_MAPLE(0) + 80 + 8 * i, PF_MAPLE(1 + i) | LEAF << 3 | 4);
		if (i < 2)
			put(pg, PF_MAPLE(0) + 8 + 8 * i, process_vma_start(first[i + 1]) - 0x800);
	}
	put(pg, PF_MM + PF_MA_ROOT, PF_MAPLE(0) | ARANGE << 3 | NODE);
}

static void put_dentry(struct process_guest *pg, unsigned n, unsigned parent, const char *name)
{
	put(pg, PF_DENTRY(n) + PF_D_PARENT, PF_DENTRY(parent));
	put32(pg, PF_DENTRY(n) + PF_D_LEN, (uint32_t)strlen(name));
	put(pg, PF_DENTRY(n) + PF_D_NAME, PF_NAME(n));
	put(pg, PF_DENTRY(n) + PF_D_PPREV, 1);
	strcpy((char *)process_word(pg, PF_NAME(n)), name);
}

static void put_file(struct process_guest *pg)
{
	put(pg, PF_MAPPING + 16, PF_INODE);
	put(pg, PF_FILE + 8, PF_MAPPING);
	put(pg, PF_FILE + 16, PF_MOUNT(1) + 16);
	put(pg, PF_FILE + 24, PF_DENTRY(4));
	put(pg, PF_INODE, 4711);
	put(pg, PF_INODE + 8, PF_SB);
	put(pg, PF_INODE + 16, PF_FILE_PAGES * 4096ull - 100);
	put32(pg, PF_INODE + 24, 5);
	put32(pg, PF_SB, 8 << 20 | 1);
	put_dentry(pg, 0, 0, "/");
	put_dentry(pg, 1, 0, "srv");
	put_dentry(pg, 2, 2, "/");
	put_dentry(pg, 3, 2, "data");
	put_dentry(pg, 4, 3, "prog");
	put(pg, PF_MOUNT(0), PF_MOUNT(0));
	put(pg, PF_MOUNT(0) + 8, PF_DENTRY(0));
	put(pg, PF_MOUNT(0) + 16, PF_DENTRY(0));
	put(pg, PF_MOUNT(1), PF_MOUNT(0));
	put(pg, PF_MOUNT(1) + 8, PF_DENTRY(1));
	put(pg, PF_MOUNT(1) + 16, PF_DENTRY(2));
}

static void put_folio(struct process_guest *pg, unsigned n, uint64_t index)
{
	put(pg, PF_PAGE(n), 1u << 2);
	put(pg, PF_PAGE(n) + PF_FOLIO_MAPPING, PF_MAPPING);
	put(pg, PF_PAGE(n) + PF_FOLIO_INDEX, index);
}

static void put_pages(struct process_guest *pg)
{
	put(pg, PF_VMEMMAP, PF_PAGES);
	put(pg, PF_MAPPING + 8, PF_NODE(1) + NODE);
	*(uint8_t *)process_word(pg, PF_NODE(1)) = 6;
	put(pg, PF_NODE(1) + PF_XA_SLOTS, PF_NODE(2) + NODE);
	put(pg, PF_NODE(1) + PF_XA_SLOTS + 8, PF_NODE(3) + NODE);
	for (unsigned i = 0; i < PF_FILE_PAGES; i++) {
		uint64_t slot = PF_NODE(i < 64 ? 2 : 3) + PF_XA_SLOTS + 8 * (i % 64);
		bool tail = i > PF_FOLIO_AT && i < PF_FOLIO_AT + PF_FOLIO_PAGES;

		put(pg, slot, tail ? (PF_FOLIO_AT % 64) << 2 | 2 : PF_PAGE(i));
		if (!tail)
			put_folio(pg, i, i);
		memset(process_page(pg, i), (int)(i + 1), 4096);
	}
}

void process_guest_reset(struct process_guest *pg)
{
	memset(pg->ram + MEMORY_GPA, 0, PF_SIZE);
	put_task(pg);
	put_vmas(pg);
	if (pg->maple)
		put_maple(pg);
	put_file(pg);
	put_pages(pg);
}

/* --- the guest ------------------------------------------------------------------------------------------ */

static void add_symbols(struct vp_symtab *tab, const struct process_more *more)
{
	ok(vp_symtab_add_range(tab, VP_SYMTAB_VMLINUX, PF_BASE, PF_BASE + (2u << 20)));
	ok(vp_symtab_add(tab, PF_PID_NS, 'D', VP_SYMTAB_VMLINUX, 0, "init_pid_ns", 11));
	ok(vp_symtab_add(tab, PF_VMEMMAP, 'D', VP_SYMTAB_VMLINUX, 0, "vmemmap_base", 12));
	ok(vp_symtab_add(tab, PF_NR_CPUS, 'D', VP_SYMTAB_VMLINUX, 0, "nr_cpu_ids", 10));
	ok(vp_symtab_add(tab, PF_PERCPU, 'D', VP_SYMTAB_VMLINUX, 0, "__per_cpu_offset", 16));
	ok(vp_symtab_add(tab, PF_THIS_CPU_OFF, 'D', VP_SYMTAB_VMLINUX, 0, "this_cpu_off", 12));
	for (size_t i = 0; more && more->symbols[i].name; i++)
		ok(vp_symtab_add(tab, more->symbols[i].at, 'D', VP_SYMTAB_VMLINUX, 0, more->symbols[i].name,
				 (uint32_t)strlen(more->symbols[i].name)));
	ok(vp_symtab_finish(tab));
}

struct process_guest *process_guest_create(bool maple)
{
	return process_guest_create_more(maple, NULL);
}

static struct ot_err *read_ram(void *arg, uint64_t gpa, void *dst, size_t len)
{
	struct process_guest *pg = arg;

	pg->reads++;
	memcpy(dst, pg->ram + gpa, len);
	return NULL;
}

void process_guest_map(struct process_guest *pg, bool mapped)
{
	uint64_t *table = (uint64_t *)(void *)(pg->ram + ROOT);

	table[1024 + (PF_BASE >> 21 & 511)] = mapped ? MEMORY_GPA | LARGE : 0;
}

/* In the tables that lead to PF_BASE: the address has other indices in each. */
void process_guest_map_at(struct process_guest *pg, uint64_t gva)
{
	uint64_t *table = (uint64_t *)(void *)(pg->ram + ROOT);

	table[gva >> 39 & 511] = (ROOT + 0x1000) | TABLE;
	table[512 + (gva >> 30 & 511)] = (ROOT + 0x2000) | TABLE;
	table[1024 + (gva >> 21 & 511)] = MEMORY_GPA | LARGE;
}

unsigned process_guest_reads(struct process_guest *pg)
{
	unsigned reads = pg->reads;

	pg->reads = 0;
	return reads;
}

struct process_guest *process_guest_create_more(bool maple, const struct process_more *more)
{
	struct process_guest *pg = calloc(1, sizeof(*pg));
	uint64_t *table;

	assert_non_null(pg);
	pg->maple = maple;
	pg->ram = aligned_alloc(4096, RAM);
	pg->guest = calloc(1, sizeof(*pg->guest));
	assert_non_null(pg->ram);
	assert_non_null(pg->guest);
	memset(pg->ram, 0, RAM);
	/* top, 1 GiB, 2 MiB */
	table = (uint64_t *)(void *)(pg->ram + ROOT);
	table[PF_BASE >> 39 & 511] = (ROOT + 0x1000) | TABLE;
	table[512 + (PF_BASE >> 30 & 511)] = (ROOT + 0x2000) | TABLE;
	table[1024 + (PF_BASE >> 21 & 511)] = MEMORY_GPA | LARGE;
	ok(vp_phys_create(&pg->phys));
	ok(vp_phys_add_reader(pg->phys, vp_gpa(0), RAM, read_ram, pg));
	pg->guest->phys = pg->phys;
	vp_mmu_init(&pg->guest->kernel.mmu, vp_arch_x86.paging, vp_gpa(ROOT), 4);
	ok(vp_symtab_create(&pg->guest->symtab));
	add_symbols(pg->guest->symtab, more);
	pg->guest->btf = make_types(maple, more);
	ot_buf_init(&pg->guest->note);
	ot_buf_init(&pg->guest->warning);
	process_guest_reset(pg);
	ok(vp_processes_open(pg->guest, &pg->ps));
	return pg;
}

void process_guest_destroy(struct process_guest *pg)
{
	vp_processes_close(pg->ps);
	vp_guest_destroy(pg->guest);
	vp_phys_destroy(pg->phys);
	free(pg->ram);
	free(pg);
}

struct vp_processes *process_guest(struct process_guest *pg)
{
	return pg->ps;
}

struct vp_guest *process_guest_kernel(struct process_guest *pg)
{
	return pg->guest;
}
