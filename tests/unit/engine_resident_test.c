/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resident probes, the engine's part: which sites lead to trampolines, and what their words say, which the
 * test writes in place of a guest. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/service/engine_session.h"

#define CPUS      2u
#define CODE_SIZE 16384u
#define DATA_SIZE 256u
#define KEYS_AT   (CODE_SIZE - VP_TRAMP_ENTRIES * 16) /* of the first table with keys of two words, in code */
#define CODE_GVA  (EF_TEXT + 0x1000000)

static _Alignas(64) uint8_t code[CODE_SIZE];
static _Alignas(64) uint64_t data[(CPUS * VP_FAKE_PAGE) / 8];

static struct vp_resident_room room;

static struct ef *guest_with(uint32_t cpus, uint32_t data_size)
{
	const struct vp_fake_config config = {
		.nvcpus = cpus, .ram_size = 8u << 20, .levels = 4, .counter_slots = 16, .room = &room
	};

	memset(code, 0xcc, sizeof(code));
	memset(data, 0, sizeof(data));
	room = (struct vp_resident_room){ .code = code,
					  .code_gva = CODE_GVA,
					  .code_size = CODE_SIZE,
					  .data = (uint8_t *)data,
					  .data_gva = CODE_GVA + CODE_SIZE,
					  .lowest = EF_PERCPU,
					  .data_size = data_size,
					  .port = 0x98 };
	struct ef *f = ef_create_with(&config);
	f->open.flags = VP_OPEN_RESIDENT;
	return f;
}

static struct ef *guest(uint32_t data_size)
{
	return guest_with(CPUS, data_size);
}

/* The first is not an aggregation's. */
static uint64_t *word(unsigned cpu, unsigned n)
{
	return &data[cpu * (VP_FAKE_PAGE / 8) + 1 + n];
}

static const struct vp_site *site(struct ef *f, uint64_t gva)
{
	return vp_fake_site(f->fake, gva);
}

static void describes(struct ef *f, const char *text)
{
	char said[512];

	vp_resident_describe(f->es, said, sizeof(said));
	if (!strstr(said, text))
		fail_msg("\"%s\" is not in \"%s\"", text, said);
}

static void counts_in_place(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_trace(f, c);
	const struct vp_site *s = site(f, EF_FUNC_A);
	assert_int_equal(s->jump, CODE_GVA);
	assert_int_equal(s->exit, 0);
	assert_int_equal(s->necbs, 1); /* for a trap, while its text is another */
	assert_int_equal(s->ncounters, 0);
	assert_int_not_equal(code[0], 0xcc);
	describes(f, "resident probes: 1 places");

	*word(0, 0) += 5;
	*word(1, 0) += 2;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 7);
	*word(1, 0) += 1;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 0);
	ef_destroy(f);
}

/* What was counted before START is not the session's; what was counted before STOP is. */
static void counts_while_active(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_trace(f, c);
	*word(0, 0) += 3;
	EF_OK(vp_engine_session_stop(f->es));
	assert_null(site(f, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 3);
	ef_destroy(f);
}

/* An extreme begins again with each half; a sum of nothing is told by how often its clause fired. */
static void extremes_and_sums(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	const uint64_t *words;
	const uint8_t *key;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_max, ef_var(f, DIF_VAR_arg0), 0);
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg1), 0);
	ef_trace(f, c);
	assert_int_equal(*word(0, 0), (uint64_t)INT64_MIN);
	*word(0, 0) = 9;
	*word(0, 2) += 1; /* fired: max() 9, sum() + 0 */
	ef_switch(f);
	uint64_t seen[2] = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		assert_true(ef_agg_entry(f, 0, i, &key, &words));
		seen[words[0] == 9 ? 0 : 1] = words[0] + 1;
	}
	assert_int_equal(seen[0], 10);
	assert_int_equal(seen[1], 1);
	assert_false(ef_agg_entry(f, 1, 0, &key, &words));
	assert_int_equal(*word(0, 0), (uint64_t)INT64_MIN);
	*word(0, 0) = 4;
	*word(0, 1) += 4;
	*word(0, 2) += 1;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 8);
	ef_destroy(f);
}

static void filters(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	(void)state;

	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 90));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_trace(f, c);
	const struct vp_site *s = site(f, EF_FUNC_A);
	assert_true(s->exit > s->jump && s->exit < s->jump + 256);
	assert_int_equal(code[s->exit - CODE_GVA], 0xe6); /* out */
	assert_int_equal(code[s->exit - CODE_GVA + 1], 0x98);
	describes(f, "1 of which exit");
	ef_destroy(f);
}

static void trapped(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_trace(f, c);
	assert_int_equal(site(f, EF_FUNC_A)->jump, 0);
	describes(f, "1 places are trapped: clause 1: a record");
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_destroy(f);
}

/* Each ECB whose key depends on the probe has its words; the room for them ends. */
static void room_ends(void **state)
{
	struct ef *f = guest(3 * 8);
	uint64_t jumps[3];
	unsigned n = 0;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_probefunc));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_open(f);
	for (unsigned i = 0; i < 3; i++)
		ef_enable_entry(f, c, EF_FUNC_A + i * 0x100);
	ef_enable(f);
	ef_start(f);
	for (unsigned i = 0; i < 3; i++) {
		jumps[i] = site(f, EF_FUNC_A + i * 0x100)->jump;
		n += jumps[i] != 0;
	}
	assert_int_equal(n, 2);
	describes(f, "1 places are trapped: clause 1: @count(): no room");
	/* A new plan has the same ones, whose bytes and words are not used again. */
	uint8_t before[CODE_SIZE];
	memcpy(before, code, sizeof(code));
	EF_OK(vp_replan(vp_fake_engine(f->fake)));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(site(f, EF_FUNC_A + i * 0x100)->jump, jumps[i]);
	assert_memory_equal(before, code, sizeof(code));
	*word(0, 0) += 2;
	*word(0, 1) += 3;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 5);
	ef_destroy(f);
}

/* ECBs of one clause whose key is the same everywhere share its words. */
static void shared_words(void **state)
{
	struct ef *f = guest(2 * 8);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	for (unsigned i = 0; i < 3; i++)
		ef_enable_entry(f, c, EF_FUNC_A + i * 0x100);
	ef_enable(f);
	ef_start(f);
	for (unsigned i = 0; i < 3; i++)
		assert_int_not_equal(site(f, EF_FUNC_A + i * 0x100)->jump, 0);
	*word(0, 0) += 2;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 2);
	ef_destroy(f);
}

/* The entry of a table with that number as its key. */
static unsigned entry_of(uint64_t number)
{
	const uint64_t(*keys)[2] = (const void *)(code + KEYS_AT);

	for (unsigned i = 0; i < VP_TRAMP_ENTRIES; i++)
		if (keys[i][0] == number && !keys[i][1])
			return i;
	fail_msg("no entry for %llu", (unsigned long long)number);
	return 0;
}

/* A hit that exits is aggregated as any other, and its key is in the table from then on. */
static void learns_keys(void **state)
{
	struct ef *f = guest(VP_FAKE_PAGE);
	const uint64_t *words;
	const uint8_t *key;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_var(f, DIF_VAR_pid));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_open(f);
	for (unsigned i = 0; i < 2; i++)
		ef_enable_entry(f, c, EF_FUNC_A + i * 0x100);
	ef_enable(f);
	ef_start(f);
	const struct vp_site *s = site(f, EF_FUNC_A);
	assert_int_not_equal(s->jump, 0);
	assert_int_not_equal(s->exit, 0);
	assert_int_not_equal(site(f, EF_FUNC_A + 0x100)->jump, 0);
	describes(f, "2 places, 2 of which exit");
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	uint64_t number = ef_u64(key + 4); /* aligned to 8 behind the aggregation's number */

	unsigned entry = entry_of(number);
	*word(0, entry) += 4;
	*word(1, entry) += 1;
	*word(1, (entry + 1) % VP_TRAMP_ENTRIES) += 9; /* which no key has */
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 5);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	assert_int_equal(ef_u64(key + 4), number);
	assert_int_equal(words[0], 4);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 0);
	ef_destroy(f);
}

/* Sites with the same clauses share a table, also if those between have others. */
static void shared_tables(void **state)
{
	struct ef *f = guest_with(1, 2 * VP_FAKE_PAGE);
	uint32_t clauses[2];
	(void)state;

	for (unsigned i = 0; i < 2; i++) {
		clauses[i] = ef_clause(f, NULL);
		ef_key(f, clauses[i], ef_var(f, DIF_VAR_pid));
		ef_agg(f, clauses[i], DIF_AGG_count, NULL, 1);
	}
	ef_open(f);
	for (unsigned i = 0; i < 3; i++)
		ef_enable_entry(f, clauses[0], EF_FUNC_A + i * 0x100);
	ef_enable_entry(f, clauses[1], EF_FUNC_A + 0x100);
	ef_enable(f);
	ef_start(f);
	for (unsigned i = 0; i < 3; i++)
		assert_int_not_equal(site(f, EF_FUNC_A + i * 0x100)->exit, 0);
	assert_int_equal(vp_fake_engine(f->fake)->service->resident.keys_used, 2 * (CODE_SIZE - KEYS_AT));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A + 0x200));
	unsigned entry = entry_of(90); /* in the first site's table */
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	*word(0, entry) += 6;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 6);
	ef_destroy(f);
}

/* The engine's key is the name as the task has it; the row's is what is before the NUL. */
static void learns_names(void **state)
{
	struct ef *f = guest_with(1, 2 * VP_FAKE_PAGE); /* sums have two words a key */
	const uint64_t(*keys)[2] = (const void *)(code + KEYS_AT);
	const uint64_t *words;
	const uint8_t *key;
	char name[VP_NAME_BYTES + 1] = "";
	unsigned entry = 0;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg0), 1);
	ef_trace(f, c);
	assert_int_not_equal(site(f, EF_FUNC_A)->jump, 0);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	memcpy(name, key, VP_NAME_BYTES);
	while (entry < VP_TRAMP_ENTRIES && keys[entry][1] == VP_TRAMP_FREE)
		entry++;
	assert_in_range(entry, 0, VP_TRAMP_ENTRIES - 1);
	assert_memory_equal(keys[entry], name, strlen(name));

	*word(0, VP_TRAMP_ENTRIES + entry) += 1; /* a hit with 0 */
	ef_switch(f);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	assert_string_equal((const char *)key, name);
	assert_int_equal(words[0], 0);
	*word(0, VP_TRAMP_ENTRIES + entry) += 2;
	*word(0, entry) += 70;
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 70);
	ef_destroy(f);
}

/* --- keys of several elements --------------------------------------------------------------------- */

#define PER_PROBE 64u /* entries of a table that each probe has of its own */

static void enable_at(struct ef *f, const uint32_t *clauses, unsigned n, unsigned sites)
{
	ef_open(f);
	for (unsigned i = 0; i < sites; i++)
		for (unsigned c = 0; c < n; c++)
			ef_enable_entry(f, clauses[c], EF_FUNC_A + i * 0x100);
	ef_enable(f);
	ef_start(f);
}

/* `@[arg0, execname, probefunc] = kind(value)` */
static void several(struct ef *f, uint32_t c, uint32_t kind, struct dif_object *value)
{
	ef_key(f, c, ef_var(f, DIF_VAR_arg0));
	ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
	ef_key(f, c, ef_string_var(f, DIF_VAR_probefunc));
	ef_agg(f, c, kind, value, 3);
}

static unsigned used_entry(const uint64_t (*keys)[4])
{
	unsigned entry = 0;

	while (entry < PER_PROBE && keys[entry][1] == VP_TRAMP_FREE)
		entry++;
	assert_in_range(entry, 0, PER_PROBE - 1);
	return entry;
}

/* The rows of three aggregations by one key have these values. */
static void check_rows(struct ef *f, const char *row, size_t len, const uint64_t *values)
{
	const uint64_t *words;
	const uint8_t *key;
	unsigned seen = 0;

	for (uint32_t n = 0; ef_agg_entry(f, 0, n, &key, &words); n++) {
		assert_memory_equal(key, row, len);
		for (unsigned i = 0; i < 3; i++)
			seen |= (words[0] == values[i]) << i;
	}
	assert_int_equal(seen, 7);
}

/* A hit that exits adds its key once; its counts are those of each clause's own hits. */
static void learns_several(void **state)
{
	struct ef *f = guest_with(1, 2 * VP_FAKE_PAGE);
	const uint64_t(*keys)[4] = (const void *)(code + CODE_SIZE - PER_PROBE * 32);
	uint32_t clauses[2] = { ef_clause(f, NULL), ef_clause(f, NULL) };
	const uint64_t *words;
	const uint8_t *key;
	char row[8 + 2 * 256];
	(void)state;

	several(f, clauses[0], DIF_AGG_count, NULL);
	several(f, clauses[0], DIF_AGG_max, ef_var(f, DIF_VAR_arg1));
	several(f, clauses[1], DIF_AGG_sum, ef_var(f, DIF_VAR_arg1));
	enable_at(f, clauses, 2, 2);
	assert_int_not_equal(site(f, EF_FUNC_A)->exit, 0);
	assert_int_not_equal(site(f, EF_FUNC_A + 0x100)->exit, 0);
	assert_int_equal(*word(0, PER_PROBE), (uint64_t)INT64_MIN);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 77);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	size_t len = 4 + 8 + 2 * f->open.strsize;
	assert_in_range(len, 1, sizeof(row));
	memcpy(row, key, len);
	unsigned entry = used_entry(keys);
	assert_int_equal(keys[entry][2], 77);
	assert_memory_equal(keys[entry], row + 4 + 8, strnlen(row + 4 + 8, VP_NAME_BYTES));
	assert_int_equal(vp_tramp_set_of(keys[entry], 3, 4), entry / VP_TRAMP_WAYS);

	*word(0, entry) += 3;
	*word(0, PER_PROBE + entry) = 9;
	*word(0, 2 * PER_PROBE + entry) += 3; /* the first clause's hits */
	*word(0, 4 * PER_PROBE + entry) += 1; /* the second's, with 0 */
	ef_switch(f);
	check_rows(f, row, len, (const uint64_t[]){ 3, 9, 0 });
	assert_int_equal(*word(0, PER_PROBE + entry), (uint64_t)INT64_MIN);
	ef_switch(f);
	assert_false(ef_agg_entry(f, 0, 0, &key, &words));
	ef_destroy(f);
}

/* Each probe has its table, the second a smaller one; for the third there is no room, and the session says
 * how much it would take. */
static void tables_end(void **state)
{
	struct ef *f = guest_with(1, 8 + (64 + 32 + 15) * 8);
	uint32_t c = ef_clause(f, NULL);
	unsigned n = 0;
	(void)state;

	ef_key(f, c, ef_string_var(f, DIF_VAR_probefunc));
	ef_key(f, c, ef_var(f, DIF_VAR_pid));
	ef_agg(f, c, DIF_AGG_count, NULL, 2);
	enable_at(f, &c, 1, 3);
	for (unsigned i = 0; i < 3; i++)
		n += site(f, EF_FUNC_A + i * 0x100)->jump != 0;
	assert_int_equal(n, 2);
	describes(f, "1 places are trapped: no room for another table of 16 keys, 256 bytes for them and 128 "
		     "for each CPU");
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A + 0x200));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	ef_destroy(f);
}

/* --- giving the room back ------------------------------------------------------------------------- */

#define TASK_SIGNAL 0x700u /* in a task of the fixture's: offsets of what finds all of them */
#define TASK_NODE   0x710u
#define TASK_THREAD 0x720u

/* One process with one thread, the first vCPU's task, and init_task, the second one's: in a ring each. */
static void link_tasks(struct ef *f)
{
	const uint64_t init = EF_TASKS + VP_FAKE_PAGE, process = EF_TASKS;
	const uint64_t all[] = { init, process };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t task = all[i], next = all[!i] + TASK_NODE, thread = task + TASK_THREAD;
		uint64_t signal = task + TASK_THREAD - 0x10; /* whose list of threads begins at 8 */
		uint64_t head = signal + 8;
		vp_fake_write(f->fake, f->kernel_root, task + TASK_NODE, &next, 8);
		vp_fake_write(f->fake, f->kernel_root, task + TASK_SIGNAL, &signal, 8);
		vp_fake_write(f->fake, f->kernel_root, head, &thread, 8);
		vp_fake_write(f->fake, f->kernel_root, thread, &head, 8);
	}
	f->facts.resident.init_task = init;
	f->facts.resident.tasks = TASK_NODE;
	f->facts.resident.signal = TASK_SIGNAL;
	f->facts.resident.thread_node = TASK_THREAD;
	f->facts.resident.thread_head = 8;
}

static uint64_t stack_of(unsigned cpu)
{
	return EF_STACKS + cpu * 0x4000ull;
}

/* A session with a table of keys, which is half of the room, has come and gone; where the next one's
 * trampoline is. */
static uint64_t next_jump(void (*disturb)(struct ef *f))
{
	struct ef *f = guest(VP_FAKE_PAGE);
	uint64_t jump = 0;

	link_tasks(f);
	for (unsigned i = 0; i < CPUS; i++)
		vp_fake_set_reg(f->fake, i, VP_RSP, stack_of(i) + 0x800);
	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_var(f, DIF_VAR_pid));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_trace(f, c);
	assert_int_equal(site(f, EF_FUNC_A)->jump, CODE_GVA);
	struct vp_resident *r = &vp_fake_engine(f->fake)->service->resident;
	r->code_used += CODE_SIZE / 4; /* more of them */
	if (disturb)
		disturb(f);
	struct vp_engine_session *old = f->es;
	EF_OK(vp_engine_session_stop(old));
	vp_engine_session_close(old);
	f->es = NULL;
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable(f);
	ef_start(f);
	jump = site(f, EF_FUNC_A)->jump;
	ef_destroy(f);
	return jump;
}

static void interrupted_there(struct ef *f)
{
	const uint64_t rip = CODE_GVA + 9;

	vp_fake_write(f->fake, f->kernel_root, stack_of(1) + 0xa38, &rip, 8);
}

static void is_there(struct ef *f)
{
	vp_fake_set_reg(f->fake, 1, VP_RIP, CODE_GVA + CODE_SIZE - 1);
}

/* On a stack of interrupts, in the kernel. */
static void on_another_stack(struct ef *f)
{
	vp_fake_set_reg(f->fake, 0, VP_RSP, stack_of(CPUS));
}

static void endless_tasks(struct ef *f)
{
	const uint64_t next = EF_TASKS + TASK_NODE;

	vp_fake_write(f->fake, f->kernel_root, next, &next, 8);
}

static void lost_stack(struct ef *f)
{
	*vp_fake_entry(f->fake, f->kernel_root, stack_of(0)) = 0;
}

static void room_is_given_back(void **state)
{
	static void (*const all[])(struct ef * f) = { interrupted_there, is_there, on_another_stack,
						      endless_tasks, lost_stack };
	(void)state;

	assert_int_equal(next_jump(NULL), CODE_GVA);
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++)
		assert_int_not_equal(next_jump(all[i]), CODE_GVA);
}

/* --- a guest that may be saved ------------------------------------------------------------------------- */

static void sentinel_at(struct ef *f, uint64_t gva, enum vp_sentinel kind)
{
	ef_probe(f, VP_PROBE_SENTINEL, VP_ARGS_NONE, "", "");
	ef_site(f, gva, gva);
	((struct vp_batch_site *)(void *)f->sites.data)[f->nsites - 1].sentinel = (uint8_t)kind;
}

/* A kernel with @writers, whose places at EF_FUNC_B and C are watched by sentinels of @kind. */
static bool is_resident(bool outlived, const uint64_t writers[VP_WRITERS], enum vp_sentinel kind)
{
	struct ef *f = guest(DATA_SIZE);

	room.outlived = outlived;
	memcpy(f->facts.resident.writers, writers, sizeof(f->facts.resident.writers));
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	sentinel_at(f, EF_FUNC_B, kind);
	sentinel_at(f, EF_FUNC_C, kind);
	ef_enable(f);
	ef_start(f);
	bool jumps = site(f, EF_FUNC_A)->jump != 0;
	if (!jumps)
		describes(f, "1 places are trapped: its hibernation or kexec can't be watched");
	ef_destroy(f);
	return jumps;
}

/* What the guest itself writes of its memory must not have a jump, where it may be run without the room. */
static void saved_by_itself(void **state)
{
	const uint64_t none[VP_WRITERS] = { 0 }, both[VP_WRITERS] = { EF_FUNC_B - 20, EF_FUNC_C },
		       other[VP_WRITERS] = { EF_FUNC_B, EF_FUNC_C + 4 }, far[VP_WRITERS] = { EF_FUNC_B - 96 },
		       unnamed[VP_WRITERS] = { EF_FUNC_B, VP_UNNAMED };
	(void)state;

	assert_true(is_resident(true, none, VP_SENTINEL_LEAVE));
	assert_true(is_resident(true, both, VP_SENTINEL_ENTER));
	assert_false(is_resident(true, both, VP_SENTINEL_LEAVE));
	assert_false(is_resident(true, other, VP_SENTINEL_ENTER));
	assert_false(is_resident(true, far, VP_SENTINEL_ENTER));
	assert_false(is_resident(true, unnamed, VP_SENTINEL_ENTER));
	assert_true(is_resident(false, unnamed, VP_SENTINEL_ENTER));
}

/* A client\'s facts are not believed. */
static void damaged_facts(void **state)
{
	const struct {
		struct vp_resident_facts facts;
		const char *why;
	} all[] = {
		{ { 0 }, "too little is known" },
		{ { EF_TEXT, 2048, 0, 32u << 20, 0 }, "strange sizes" },
		{ { EF_TEXT, 1u << 20, 0, 64, 0 }, "strange sizes" },
		{ { EF_TEXT, 2048, 0x40000000, 64, 0 }, "vCPU 0 has no per-CPU area" },
		{ { EF_TEXT, 60u << 10, 0, 64, 0 }, "vCPU 0 has no running task" },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct ef *f = guest(DATA_SIZE);
		f->facts.resident = all[i].facts;
		uint32_t c = ef_clause(f, NULL);
		ef_agg(f, c, DIF_AGG_count, NULL, 0);
		ef_trace(f, c);
		assert_int_equal(site(f, EF_FUNC_A)->jump, 0);
		describes(f, all[i].why);
		ef_destroy(f);
	}
}

static void not_asked(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	char said[64];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	f->open.flags = 0;
	ef_trace(f, c);
	assert_int_equal(site(f, EF_FUNC_A)->jump, 0);
	vp_resident_describe(f->es, said, sizeof(said));
	assert_string_equal(said, "");
	ef_destroy(f);
}

static void one_cpu(void **state)
{
	struct ef *f = guest(DATA_SIZE);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	f->open.only_cpu = 2;
	ef_trace(f, c);
	assert_int_equal(site(f, EF_FUNC_A)->jump, 0);
	describes(f, "none, as they would count on all CPUs");
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_in_place),   cmocka_unit_test(counts_while_active),
		cmocka_unit_test(extremes_and_sums), cmocka_unit_test(filters),
		cmocka_unit_test(trapped),           cmocka_unit_test(room_ends),
		cmocka_unit_test(shared_words),      cmocka_unit_test(damaged_facts),
		cmocka_unit_test(not_asked),         cmocka_unit_test(one_cpu),
		cmocka_unit_test(learns_keys),       cmocka_unit_test(learns_names),
		cmocka_unit_test(learns_several),    cmocka_unit_test(shared_tables),
		cmocka_unit_test(tables_end),        cmocka_unit_test(room_is_given_back),
		cmocka_unit_test(saved_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
