/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bombs in lists and tables: modules, stack tables, static keys, the agent, tracepoints, processes. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "bombs.h"
#include "tests/unit/btf_builder.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/census.h"
#include "vmm-probe/guest/orc.h"
#include "vmm-probe/guest/static_keys.h"
#include "vmm-probe/guest/tracepoints.h"
#include "vmm-probe/planner/places.h"

#define HEAD    BOMB_BASE
#define MODULES (BOMB_BASE + 0x100000)
#define STRIDE  0x100u
#define MOST    4000u

static const struct bomb_symbol modules_symbols[] = { { "modules", HEAD }, { NULL, 0 } };

/* --- modules -------------------------------------------------------------------------------------------- */

static struct ot_err *update(void *made)
{
	return vp_guest_modules_update(((struct bomb_guest *)made)->guest);
}

/* The last one's successor is the second one. */
static void *make_circular(void)
{
	struct bomb_guest *b = bomb_guest_make(4, modules_symbols);

	bomb_modules(b, HEAD, MODULES, MOST, STRIDE, MODULES + STRIDE + 8);
	return b;
}

/* All have one table of 80,000 symbols with names of 500 bytes. */
static void *make_large(void)
{
	const uint64_t kallsyms = BOMB_BASE + 0x1000, symtab = BOMB_BASE + (2u << 20),
		       strtab = BOMB_BASE + (6u << 20);
	struct bomb_guest *b = bomb_guest_make(8, modules_symbols);

	bomb_modules(b, HEAD, MODULES, 120, STRIDE, HEAD);
	bomb_put64(b, kallsyms, symtab);
	bomb_put64(b, kallsyms + 8, 80000);
	bomb_put64(b, kallsyms + 16, strtab);
	memset(bomb_at(b, strtab), 'n', 1u << 20);
	for (unsigned i = 0; i < 1u << 20; i += 500)
		*(char *)bomb_at(b, strtab + i) = '\0';
	for (unsigned i = 0; i < 80000; i++) {
		const Elf64_Sym sym = { .st_name = 1 + i % 2000 * 500,
					.st_value = BOMB_BASE + i,
					.st_info = 't' };

		memcpy(bomb_at(b, symtab + i * sizeof(sym)), &sym, sizeof(sym));
	}
	for (unsigned i = 0; i < 120; i++) {
		bomb_put32(b, MODULES + i * STRIDE + 0x68, 8u << 20);
		bomb_put64(b, MODULES + i * STRIDE + 0x80, kallsyms);
	}
	return b;
}

/* --- stack tables --------------------------------------------------------------------------------------- */

struct stacks {
	struct vp_orc_raw raw;
	unsigned ranges;
};

static void *make_stacks(size_t n, unsigned ranges)
{
	struct stacks *s = calloc(1, sizeof(*s));
	int32_t *ip = malloc(n * 4);
	uint8_t *orc = calloc(n, 6);

	if (!s || !ip || !orc)
		bomb_ok(ot_err_nomem());
	for (uint32_t i = 0; i < n; i++) { /* in no order */
		ip[i] = (int32_t)(i * 2654435761u >> 1) - (1 << 30);
		orc[6 * i] = (uint8_t)i;
	}
	*s = (struct stacks){ { (uint8_t *)ip, n * 4, vp_gva(BOMB_BASE), orc, n * 6 }, ranges };
	return s;
}

static void *make_many_stacks(void)
{
	return make_stacks(8000000, 1);
}

static void *make_unsorted_stacks(void)
{
	return make_stacks(600000, 1);
}

static void *make_stack_ranges(void)
{
	return make_stacks(1000, 60000);
}

static struct ot_err *read_stacks(void *made)
{
	const struct stacks *s = made;
	struct vp_orc_layout layout = { .type_bits = 3, .end_shift = 0xff, .type_end = 0xff };
	struct vp_orc_builder *b;
	struct vp_budget budget;
	struct ot_buf out;

	memset(layout.sp_bases, VP_ORC_SP, sizeof(layout.sp_bases));
	OT_TRY(vp_orc_builder_create(&layout, &b));
	ot_buf_init(&out);
	vp_budget_begin(&budget, &vp_readings[VP_READ_STACKS], false);
	struct ot_err *err = NULL;
	for (unsigned i = 0; !err && i < s->ranges; i++) {
		uint64_t start = BOMB_BASE - (1u << 30) + i * 16384ull;

		err = vp_orc_builder_add(b, &s->raw, start, s->ranges == 1 ? UINT64_MAX : start + 16384);
	}
	if (!err)
		err = vp_orc_builder_finish(b, &out);
	vp_budget_end(&budget);
	vp_orc_builder_destroy(b);
	ot_buf_deinit(&out);
	return err;
}

/* --- static keys ---------------------------------------------------------------------------------------- */

#define JUMPS (BOMB_BASE + (2u << 20))

static struct ot_err *read_places(void *made)
{
	struct vp_places places;
	struct ot_err *err = vp_places_read(((struct bomb_guest *)made)->guest, &places);

	if (!err)
		vp_places_deinit(&places);
	return err;
}

/* Entries without order whose places overlap each other. */
static void *make_jumps(size_t entries)
{
	const struct bomb_symbol symbols[] = { { "__start___jump_table", JUMPS },
					       { "__stop___jump_table", JUMPS + entries * 16 },
					       { NULL, 0 } };
	struct bomb_guest *b = bomb_guest_make(32, symbols);

	for (uint32_t i = 0; i < entries; i++) {
		bomb_put32(b, JUMPS + i * 16ull, (i * 2654435761u) >> 9);
		bomb_put64(b, JUMPS + i * 16ull + 8, i * 2654435761u);
	}
	return b;
}

static void *make_too_many_jumps(void)
{
	return make_jumps(1000000);
}

static void *make_unsorted_jumps(void)
{
	return make_jumps((1u << 19) - 1);
}

/* Each of 4,000 modules has all of a table of a million. */
static void *make_module_jumps(void)
{
	struct bomb_guest *b = bomb_guest_make(32, NULL);
	struct btf_builder types;
	struct ot_buf blob;

	btf_builder_init(&types, NULL);
	uint32_t u64 = btf_add_int(&types, "u64", 8, 0), u32 = btf_add_int(&types, "u32", 4, 0);
	BTF_STRUCT(&types, "module", 256, { "static_call_sites", u64, 0x90 },
		   { "num_static_call_sites", u32, 0x98 }, { "jump_entries", u64, 0xa0 },
		   { "num_jump_entries", u32, 0xa8 });
	ot_buf_init(&blob);
	btf_finish(&types, &blob);
	bomb_guest_types(b, blob.data, blob.len);
	bomb_modules(b, HEAD, MODULES, MOST, STRIDE, HEAD);
	for (unsigned i = 0; i < MOST; i++) {
		bomb_put64(b, MODULES + i * STRIDE + 0xa0, JUMPS);
		bomb_put32(b, MODULES + i * STRIDE + 0xa8, 1000000);
		bomb_put64(b, MODULES + i * STRIDE + 0x90, JUMPS);
		bomb_put32(b, MODULES + i * STRIDE + 0x98, 2000000);
	}
	bomb_ok(vp_guest_walk_modules(b->guest, vp_gva(HEAD), &b->guest->modules));
	return b;
}

/* --- the agent ------------------------------------------------------------------------------------------ */

#define AGENT (BOMB_BASE + (1u << 20) + (1u << 20))

/* 4,000 modules and then the agent, whose catalogue never settles and which has as many rings as it may. */
static void *make_agent(void)
{
	const struct ga_header h = {
		.magic = GA_MAGIC,
		.version = GA_VERSION,
		.size = sizeof(h),
		.state = GA_LIVE,
		.nrings = 8192,
		.record_size = sizeof(struct ga_record),
		.nslots = GA_SLOTS,
		.token = 0xabcdef00,
		.control_gpa = 0x100000,
		.control_size = sizeof(struct ga_control),
		.catalogue_gva = AGENT + 4096,
		.rings_gva = AGENT + 4096,
		.catalogue_seq = 1,
	};
	const uint64_t kallsyms = BOMB_BASE + 0x1000, last = MODULES + (MOST - 1) * STRIDE;
	struct bomb_guest *b = bomb_guest_make(16, modules_symbols);
	const Elf64_Sym sym = { .st_name = 1, .st_value = AGENT, .st_info = 'd' };

	bomb_modules(b, HEAD, MODULES, MOST, STRIDE, HEAD);
	strcpy(bomb_at(b, last + b->guest->layout.name), GA_MODULE);
	bomb_put64(b, last + 0x80, kallsyms);
	bomb_put64(b, kallsyms, BOMB_BASE + 0x2000);
	bomb_put64(b, kallsyms + 8, 1);
	bomb_put64(b, kallsyms + 16, BOMB_BASE + 0x3000);
	memcpy(bomb_at(b, BOMB_BASE + 0x2000), &sym, sizeof(sym));
	strcpy(bomb_at(b, BOMB_BASE + 0x3001), GA_SYMBOL);
	memcpy(bomb_at(b, AGENT), &h, sizeof(h));
	return b;
}

static struct ot_err *read_agent(void *made)
{
	struct vp_guest_agent agent;

	OT_TRY(vp_guest_agent_read(((struct bomb_guest *)made)->guest, &agent));
	vp_guest_agent_deinit(&agent);
	return NULL;
}

/* --- tracepoints ---------------------------------------------------------------------------------------- */

#define EVENTS     (BOMB_BASE + 0x1000)
#define TRACEPOINT (BOMB_BASE + 0x2000)

/* Trace events without end, and modules that have one tracepoint 4,096 times each. */
static void *make_tracepoints(void)
{
	static const struct bomb_symbol symbols[] = { { "ftrace_events", EVENTS }, { NULL, 0 } };
	struct bomb_guest *b = bomb_guest_make(4, symbols);
	struct btf_builder t;
	struct ot_buf blob;

	btf_builder_init(&t, NULL);
	uint32_t u64 = btf_add_int(&t, "u64", 8, 0), u32 = btf_add_int(&t, "u32", 4, 0);
	BTF_STRUCT(&t, "tracepoint", 64, { "name", u64, 0 }, { "key", u64, 8 }, { "regfunc", u64, 16 });
	BTF_STRUCT(&t, "trace_event_call", 64, { "list", u64, 0 }, { "class", u64, 16 }, { "tp", u64, 24 });
	BTF_STRUCT(&t, "trace_event_class", 16, { "system", u64, 0 });
	BTF_STRUCT(&t, "module", 256, { "tracepoints_ptrs", u64, 0x90 }, { "num_tracepoints", u32, 0x98 });
	ot_buf_init(&blob);
	btf_finish(&t, &blob);
	bomb_guest_types(b, blob.data, blob.len);
	bomb_put64(b, EVENTS, EVENTS + 0x100); /* the next one, and its successor is itself */
	bomb_put64(b, EVENTS + 0x100, EVENTS + 0x100);
	bomb_put64(b, EVENTS + 0x110, EVENTS + 0x200);
	bomb_put64(b, EVENTS + 0x200, EVENTS + 0x300);
	strcpy(bomb_at(b, EVENTS + 0x300), "sched");
	bomb_put64(b, TRACEPOINT, TRACEPOINT + 0x80);
	memset(bomb_at(b, TRACEPOINT + 0x80), 'n', 90);
	for (uint64_t i = 0; i < 4096; i++)
		bomb_put32(b, BOMB_BASE + 0x10000 + 4 * i,
			   (uint32_t)(TRACEPOINT - (BOMB_BASE + 0x10000 + 4 * i)));
	bomb_modules(b, HEAD, MODULES, MOST, STRIDE, HEAD);
	for (unsigned i = 0; i < MOST; i++) {
		bomb_put64(b, MODULES + i * STRIDE + 0x90, BOMB_BASE + 0x10000);
		bomb_put32(b, MODULES + i * STRIDE + 0x98, 4096);
	}
	bomb_ok(vp_guest_walk_modules(b->guest, vp_gva(HEAD), &b->guest->modules));
	return b;
}

static struct ot_err *read_tracepoints(void *made)
{
	struct vp_guest_tracepoints all;
	struct vp_budget budget;

	vp_budget_begin(&budget, &vp_readings[VP_READ_TRACEPOINTS], false);
	struct ot_err *err = vp_guest_tracepoints_read(((struct bomb_guest *)made)->guest, &all);
	vp_budget_end(&budget);
	if (!err)
		vp_guest_tracepoints_deinit(&all);
	return err;
}

/* --- processes ------------------------------------------------------------------------------------------ */

#define TASKS  (BOMB_BASE + (2u << 20))
#define TASK   256u
#define NTASKS 200000u

/* A list of 200,000 processes, each with another number, which is sound; no other way to find one. */
static void *make_tasks(void)
{
	static const struct bomb_symbol symbols[] = { { "init_task", TASKS },
						      { "init_pid_ns", BOMB_BASE },
						      { NULL, 0 } };
	struct bomb_guest *b = bomb_guest_make(64, symbols);
	struct btf_builder t;
	struct ot_buf blob;

	btf_builder_init(&t, NULL);
	uint32_t u64 = btf_add_int(&t, "u64", 8, 0), u32 = btf_add_int(&t, "u32", 4, 0);
	uint32_t comm = btf_add_array(&t, btf_add_int(&t, "char", 1, 0), 16);
	BTF_STRUCT(&t, "task_struct", TASK, { "tasks", u64, 0 }, { "pid", u32, 16 },
		   { "start_time", u64, 24 }, { "comm", comm, 32 });
	ot_buf_init(&blob);
	btf_finish(&t, &blob);
	bomb_guest_types(b, blob.data, blob.len);
	for (uint32_t i = 0; i < NTASKS; i++) {
		bomb_put64(b, TASKS + i * TASK, TASKS + (i + 1) % NTASKS * TASK);
		bomb_put64(b, TASKS + i * TASK + 8, TASKS + (i + NTASKS - 1) % NTASKS * TASK);
		bomb_put32(b, TASKS + i * TASK + 16, i);
	}
	return b;
}

static struct ot_err *read_tasks(void *made)
{
	struct vp_census census = { 0 };
	struct ot_err *err = vp_census_tasks(((struct bomb_guest *)made)->guest, &census);

	vp_census_deinit(&census);
	return err;
}

const struct bomb bombs_lists[] = {
	{ "modules-circular", "a list of 4,000 modules that leads back to its second one",
	  "the guest's list of modules does not end", make_circular, update },
	{ "modules-large", "120 modules, each with 80,000 symbols with names of 500 bytes",
	  "reading the modules that came takes more than its", make_large, update },
	{ "stacks-many", "stack tables of eight million entries",
	  "reading the stack tables takes more than its 64 MiB of memory", make_many_stacks, read_stacks },
	{ "stacks-unsorted", "stack tables of 600,000 entries in no order", NULL, make_unsorted_stacks,
	  read_stacks },
	{ "stacks-ranges", "60,000 ranges of modules, each with a stack table of 1,000 entries",
	  "reading the stack tables takes more than its 64 MiB of memory", make_stack_ranges, read_stacks },
	{ "jumps-many", "a jump table of a million entries", "more than 524288 static keys or calls",
	  make_too_many_jumps, read_places },
	{ "jumps-unsorted", "a jump table of half a million entries in no order, each at another's place",
	  NULL, make_unsorted_jumps, read_places },
	{ "jumps-modules", "4,000 modules, each with a jump table of a million entries", "",
	  make_module_jumps, read_places },
	{ "agent", "4,000 modules, then an agent whose catalogue never settles",
	  "the catalogue of the guest's agent keeps changing", make_agent, read_agent },
	{ "tracepoints", "trace events without end; 4,000 modules with 4,096 tracepoints each", "",
	  make_tracepoints, read_tracepoints },
	{ "tasks", "200,000 processes", NULL, make_tasks, read_tasks },
	{ NULL, NULL, NULL, NULL, NULL },
};
