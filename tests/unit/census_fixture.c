/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up kernel with task and module lists, for tests of the census. */
#include "census_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "vmm-probe/guest/guest_internal.h"

#define RAM        (4u << 20)
#define MEMORY_GPA (2u << 20)
#define ROOT       0x1000u
#define TABLE      0x3u /* present, writable */
#define LARGE      0x83u

struct census_guest {
	uint8_t *ram;
	struct vp_phys *phys;
	struct vp_guest *guest;
};

static void ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

/* --- types ------------------------------------------------------------------------------------------- */

static void add_types(struct btf_builder *b)
{
	uint32_t c = btf_add_int(b, "char", 1, 0), u = btf_add_int(b, "unsigned int", 4, 0);
	uint32_t l = btf_add_int(b, "unsigned long", 8, 0);
	uint32_t comm = btf_add_array(b, c, 16), name = btf_add_array(b, c, 56),
		 slots = btf_add_array(b, l, 4);
	uint32_t t;

	BTF_STRUCT(b, "task_struct", 256, { "tasks", l, CENSUS_TASKS }, { "pid", u, CENSUS_PID_OF },
		   { "start_time", l, CENSUS_START }, { "comm", comm, CENSUS_COMM },
		   { "children", l, CENSUS_CHILDREN }, { "sibling", l, CENSUS_SIBLING },
		   { "signal", l, CENSUS_SIGNAL_OF }, { "thread_node", l, CENSUS_THREAD },
		   { "pid_links", l, CENSUS_LINKS });
	BTF_STRUCT(b, "signal_struct", 16, { "thread_head", l, 0 });
	BTF_STRUCT(b, "pid", 32, { "tasks", l, 8 });
	BTF_STRUCT(b, "xa_node", 48, { "shift", c, 0 }, { "slots", slots, 16 });
	t = BTF_STRUCT(b, "xarray", 16, { "xa_head", l, 8 });
	t = BTF_STRUCT(b, "idr", 16, { "idr_rt", t, 0 });
	BTF_STRUCT(b, "pid_namespace", 16, { "idr", t, 0 });
	btf_add(b, "pid_type", BTF_KIND_ENUM, 2, 0, 4);
	btf_add_words(b, 4, btf_add_string(b, "PIDTYPE_PID"), 0, btf_add_string(b, "PIDTYPE_TGID"), 1);
	BTF_STRUCT(b, "module", 128, { "state", u, 0 }, { "list", l, CENSUS_MODULE_LIST },
		   { "name", name, CENSUS_MODULE_NAME });
	BTF_STRUCT(b, "kset", 16, { "list", l, 0 });
	BTF_STRUCT(b, "kobject", 32, { "entry", l, CENSUS_KOBJ_ENTRY });
	BTF_STRUCT(b, "module_kobject", 80, { "kobj", l, 0 }, { "mod", l, CENSUS_KOBJ_MOD });
	t = BTF_STRUCT(b, "latch_tree_root", 24, { "seq", u, 0 }, { "tree", l, 8 });
	BTF_STRUCT(b, "mod_tree_root", 24, { "root", t, 0 });
	BTF_STRUCT(b, "mod_tree_node", 56, { "mod", l, 0 }, { "node", l, 8 });
	BTF_STRUCT(b, "rb_node", 24, { "__rb_parent_color", l, 0 }, { "rb_right", l, 8 },
		   { "rb_left", l, 16 });
}

static struct vp_btf *make_types(void)
{
	struct btf_builder b;
	struct vp_btf *btf;
	struct ot_buf out;

	btf_builder_init(&b, NULL);
	ot_buf_init(&out);
	add_types(&b);
	btf_finish(&b, &out);
	ok(vp_btf_create(out.data, out.len, NULL, &btf));
	ot_buf_deinit(&out);
	btf_builder_deinit(&b);
	return btf;
}

/* --- memory --------------------------------------------------------------------------------------------- */

uint64_t *census_word(struct census_guest *cg, uint64_t gva)
{
	return (uint64_t *)(void *)(cg->ram + MEMORY_GPA + (gva - CENSUS_BASE));
}

static void append(struct census_guest *cg, uint64_t head, uint64_t node)
{
	uint64_t last = census_word(cg, head)[1];

	census_word(cg, node)[0] = head;
	census_word(cg, node)[1] = last;
	census_word(cg, last)[0] = node;
	census_word(cg, head)[1] = node;
}

static void make_head(struct census_guest *cg, uint64_t head)
{
	census_word(cg, head)[0] = census_word(cg, head)[1] = head;
}

void census_unlink(struct census_guest *cg, uint64_t node)
{
	uint64_t next = census_word(cg, node)[0], prev = census_word(cg, node)[1];

	census_word(cg, prev)[0] = next;
	census_word(cg, next)[1] = prev;
}

/* @p leader: the process whose thread it is. */
static void put_thread(struct census_guest *cg, unsigned n, unsigned leader)
{
	uint64_t t = CENSUS_TASK(n);

	*census_word(cg, t + CENSUS_PID_OF) = n;
	*census_word(cg, t + CENSUS_START) = 1000 + n;
	memcpy(census_word(cg, t + CENSUS_COMM), "task", 4);
	((char *)census_word(cg, t + CENSUS_COMM))[4] = (char)('0' + n);
	make_head(cg, t + CENSUS_CHILDREN);
	*census_word(cg, t + CENSUS_SIGNAL_OF) = CENSUS_SIGNAL(leader);
	if (n == leader)
		make_head(cg, CENSUS_SIGNAL(n));
	append(cg, CENSUS_SIGNAL(leader), t + CENSUS_THREAD);
}

/* A number that is taken; @p leader: as a process's. */
static void put_number(struct census_guest *cg, unsigned n, bool leader)
{
	*census_word(cg, CENSUS_PID(n) + 8) = CENSUS_TASK(n) + CENSUS_LINKS;
	*census_word(cg, CENSUS_PID(n) + 16) = leader ? CENSUS_TASK(n) + CENSUS_LINKS + 16 : 0;
	*census_word(cg, CENSUS_NODE(1 + n / 4) + 16 + 8 * (n % 4)) = CENSUS_PID(n);
}

static void put_process(struct census_guest *cg, unsigned n, unsigned parent)
{
	put_thread(cg, n, n);
	put_number(cg, n, true);
	append(cg, CENSUS_TASK(0) + CENSUS_TASKS, CENSUS_TASK(n) + CENSUS_TASKS);
	append(cg, CENSUS_TASK(parent) + CENSUS_CHILDREN, CENSUS_TASK(n) + CENSUS_SIBLING);
}

static void put_tasks(struct census_guest *cg)
{
	make_head(cg, CENSUS_TASK(0) + CENSUS_TASKS);
	put_thread(cg, 0, 0);
	put_process(cg, 1, 0);
	put_process(cg, 2, 0);
	put_process(cg, 3, 1);
	put_process(cg, 4, 2);
	put_thread(cg, 5, 1);
	put_number(cg, 5, false);
	put_process(cg, 6, 5);
	put_number(cg, 9, false);
	*(uint8_t *)census_word(cg, CENSUS_NODE(0)) = 2;
	for (unsigned i = 0; i < 3; i++)
		*census_word(cg, CENSUS_NODE(0) + 16 + 8 * i) = CENSUS_NODE(1 + i) + 2;
	*census_word(cg, CENSUS_PID_NS + 8) = CENSUS_NODE(0) + 2;
}

/* Its nodes of the tree of addresses lie behind it, in two copies. */
static uint64_t tree_node(unsigned n, unsigned copy)
{
	return CENSUS_MODULE(n) + 0x100 + 8 + 24 * copy;
}

static void put_modules(struct census_guest *cg)
{
	static const char *const names[] = { "loop", "bridge", "veth" };

	make_head(cg, CENSUS_MODULES);
	make_head(cg, CENSUS_KSET);
	*census_word(cg, CENSUS_KSET_AT) = CENSUS_KSET;
	for (unsigned i = 0; i < 3; i++) {
		strcpy((char *)census_word(cg, CENSUS_MODULE(i) + CENSUS_MODULE_NAME), names[i]);
		append(cg, CENSUS_MODULES, CENSUS_MODULE(i) + CENSUS_MODULE_LIST);
		append(cg, CENSUS_KSET, CENSUS_KOBJ(i) + CENSUS_KOBJ_ENTRY);
		*census_word(cg, CENSUS_KOBJ(i) + CENSUS_KOBJ_MOD) = CENSUS_MODULE(i);
		*census_word(cg, CENSUS_MODULE(i) + 0x100) = CENSUS_MODULE(i);
	}
	append(cg, CENSUS_KSET, CENSUS_KOBJ(3) + CENSUS_KOBJ_ENTRY);
	for (unsigned copy = 0; copy < 2; copy++) {
		*census_word(cg, CENSUS_MOD_TREE + 8 + 8 * copy) = tree_node(1, copy);
		*census_word(cg, tree_node(1, copy) + 8) = tree_node(2, copy);
		*census_word(cg, tree_node(1, copy) + 16) = tree_node(0, copy);
		*census_word(cg, tree_node(2, copy)) = tree_node(1, copy) | 1; /* black */
		*census_word(cg, tree_node(0, copy)) = tree_node(1, copy);
	}
}

void census_guest_reset(struct census_guest *cg)
{
	memset(cg->ram + MEMORY_GPA, 0, CENSUS_SIZE);
	put_tasks(cg);
	put_modules(cg);
}

/* --- the guest ------------------------------------------------------------------------------------------ */

static void add_symbols(struct vp_symtab *tab)
{
	const struct {
		const char *name;
		uint64_t at;
	} symbols[] = {
		{ "init_task", CENSUS_TASK(0) }, { "init_pid_ns", CENSUS_PID_NS },
		{ "modules", CENSUS_MODULES },   { "module_kset", CENSUS_KSET_AT },
		{ "mod_tree", CENSUS_MOD_TREE },
	};

	ok(vp_symtab_add_range(tab, VP_SYMTAB_VMLINUX, CENSUS_BASE, CENSUS_BASE + (2u << 20)));
	for (size_t i = 0; i < OT_ARRAY_SIZE(symbols); i++)
		ok(vp_symtab_add(tab, symbols[i].at, 'D', VP_SYMTAB_VMLINUX, 0, symbols[i].name,
				 strlen(symbols[i].name)));
	ok(vp_symtab_finish(tab));
}

struct census_guest *census_guest_create(void)
{
	struct census_guest *cg = calloc(1, sizeof(*cg));
	uint64_t *table;

	assert_non_null(cg);
	cg->ram = aligned_alloc(4096, RAM);
	cg->guest = calloc(1, sizeof(*cg->guest));
	assert_non_null(cg->ram);
	assert_non_null(cg->guest);
	memset(cg->ram, 0, RAM);
	/* top, 1 GiB, 2 MiB */
	table = (uint64_t *)(void *)(cg->ram + ROOT);
	table[CENSUS_BASE >> 39 & 511] = (ROOT + 0x1000) | TABLE;
	table[512 + (CENSUS_BASE >> 30 & 511)] = (ROOT + 0x2000) | TABLE;
	table[1024 + (CENSUS_BASE >> 21 & 511)] = MEMORY_GPA | LARGE;
	ok(vp_phys_create(&cg->phys));
	ok(vp_phys_add_memory(cg->phys, vp_gpa(0), RAM, cg->ram));
	cg->guest->phys = cg->phys;
	vp_mmu_init(&cg->guest->kernel.mmu, vp_arch_x86.paging, vp_gpa(ROOT), 4);
	ok(vp_symtab_create(&cg->guest->symtab));
	add_symbols(cg->guest->symtab);
	cg->guest->btf = make_types();
	ot_buf_init(&cg->guest->note);
	census_guest_reset(cg);
	return cg;
}

void census_guest_destroy(struct census_guest *cg)
{
	vp_guest_destroy(cg->guest);
	vp_phys_destroy(cg->phys);
	free(cg->ram);
	free(cg);
}

struct vp_guest *census_guest(struct census_guest *cg)
{
	return cg->guest;
}
