/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/merge: the sums of two hosts, and what the operator reads them by. */
#include "tests/unit/fleet_merge_fixture.h"

/* --- what the operator adds up ------------------------------------------------------------------------------ */

/* The sums that came as the merger's own, by their key. */
struct sums {
	struct {
		uint8_t key[64];
		uint32_t epid;
		uint64_t word;
	} items[16];
	unsigned n;
};

static void read_sums(const struct merging *t, uint32_t key_offset, struct sums *ret)
{
	struct fl_aggregate a;
	struct ot_arena arena;

	ot_arena_init(&arena);
	*ret = (struct sums){ 0 };
	for (unsigned i = find(t, 0, -1, FL_AGGREGATES); i < t->n; i = find(t, i + 1, -1, FL_AGGREGATES)) {
		struct fl_reader r = reader_of(t, i);

		for (; fl_next_aggregate(&r, &arena, &a); ret->n++) {
			assert_true(ret->n < 16 && a.tuple.len > key_offset);
			memcpy(ret->items[ret->n].key, a.tuple.data + key_offset, a.tuple.len - key_offset);
			ret->items[ret->n].epid = a.epid;
			memcpy(&ret->items[ret->n].word, a.words.data, sizeof(uint64_t));
		}
		assert_null(fl_reader_end(&r, FL_AGGREGATES));
	}
	ot_arena_deinit(&arena);
}

static void is_sum(const struct sums *s, const char *key, uint64_t word)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp((const char *)s->items[i].key, key)) {
			assert_int_equal(s->items[i].word, word);
			return;
		}
	fail_msg("no sum of %s", key);
}

static const char by_name[] = "fbt::do_exit:entry { @a[probefunc] = count(); }";

static void count(struct merging *t, unsigned host, const char *key, uint64_t word)
{
	put_aggregate(&t->f.hosts[host], 1, 1, key, 8 + STRSIZE, word, 8);
	say(&t->f.hosts[host], FL_AGGREGATES);
}

/* One key of two hosts is one sum; PROGRAM and ENABLED are in front of it, and come once. */
static void hosts_are_added_up(void **state)
{
	struct fl_enabled e;
	struct ot_arena arena;
	struct merging t;
	struct sums s;

	(void)state;
	ot_arena_init(&arena);
	merging_begin(&t, by_name);
	t.m->opts.aggrate_ns = UINT32_MAX;
	t.m->fold.sent_ns = ot_now_ns();
	count(&t, 0, "do_exit", 7);
	count(&t, 1, "do_exit", 5);
	count(&t, 1, "other", 1);
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM ENABLED");
	t.m->opts.aggrate_ns = 0;
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM ENABLED AGGREGATES");
	read_sums(&t, 8, &s);
	assert_int_equal(s.n, 2);
	is_sum(&s, "do_exit", 12);
	is_sum(&s, "other", 1);
	struct fl_reader r = reader_of(&t, 1);
	assert_true(fl_next_enabled(&r, &arena, &e));
	assert_int_equal(e.epid, s.items[0].epid);
	assert_int_equal(e.guest, 0);
	assert_int_equal(e.clause, 0);
	forget(&t);
	count(&t, 0, "do_exit", 1);
	work(&t);
	assert_string_equal(kinds(&t), "AGGREGATES");
	read_sums(&t, 8, &s);
	is_sum(&s, "do_exit", 1);
	merging_teardown(&t);
	ot_arena_deinit(&arena);
}

/* Nothing of what the hosts enable goes on, but the program that the operator compiles its own with: once. */
static void aggregating_costs_nothing_else(void **state)
{
	struct merging t;

	(void)state;
	merging_setup(&t, by_name, 2);
	forget(&t);
	for (unsigned i = 0; i < 2; i++) {
		say_all(&t.f, i);
		work(&t);
	}
	assert_string_equal(kinds(&t), "HELLO(0) GUEST(0) PROGRAM(0) READY(0) HELLO(1) GUEST(1) READY(1)");
	forget(&t);
	merging_start(&t, 2);
	assert_string_equal(kinds(&t), "STARTED(0) STARTED(1)");
	merging_teardown(&t);
}

/* --- names ---------------------------------------------------------------------------------------------------- */

static void name(struct merging *t, unsigned host, uint64_t number, const char *text)
{
	fl_put_name(&t->f.hosts[host].body, &(struct fl_name){ 0, number, text, "" });
	say(&t->f.hosts[host], FL_NAMES);
}

static void count_number(struct merging *t, unsigned host, uint64_t number, uint64_t word)
{
	uint8_t tuple[16] = { 0 };

	memcpy(tuple + 8, &number, sizeof(number));
	fl_put_aggregate(
	    &t->f.hosts[host].body,
	    &(struct fl_aggregate){ 1, 1, { tuple, sizeof(tuple) }, { (const uint8_t *)&word, 8 } });
	say(&t->f.hosts[host], FL_AGGREGATES);
}

/* The sum whose key is a number that the merger has called @text; 0: none. */
static uint64_t sum_of_name(const struct merging *t, const struct sums *s, const char *text, unsigned nth)
{
	struct ot_arena arena;
	struct fl_name n;
	uint64_t word = 0;

	ot_arena_init(&arena);
	for (unsigned i = find(t, 0, -1, FL_NAMES); i < t->n; i = find(t, i + 1, -1, FL_NAMES)) {
		assert_true(i < find(t, 0, -1, FL_AGGREGATES));
		for (struct fl_reader r = reader_of(t, i); fl_next_name(&r, &arena, &n);) {
			if (strcmp(n.text, text) != 0 || nth--)
				continue;
			for (unsigned k = 0; k < s->n; k++)
				if (con_load(s->items[k].key, 8) == n.number)
					word = s->items[k].word;
		}
	}
	ot_arena_deinit(&arena);
	return word;
}

/* A function is one key whatever number each host has given it, and one number of two hosts is two. An
 * address without a name is its guest's own. */
static void names_are_joined_by_text(void **state)
{
	struct merging t;
	struct sums s;

	(void)state;
	merging_begin(&t, "fbt::do_exit:entry { @a[sym(arg0)] = count(); }");
	t.m->opts.aggrate_ns = UINT32_MAX;
	t.m->fold.sent_ns = ot_now_ns();
	name(&t, 0, 70000, "vmlinux`vfs_read");
	name(&t, 0, 70001, "0xffff1234");
	name(&t, 1, 70000, "vmlinux`vfs_write");
	name(&t, 1, 70002, "vmlinux`vfs_read");
	name(&t, 1, 70003, "0xffff1234");
	count_number(&t, 0, 70000, 1);
	count_number(&t, 1, 70000, 2);
	count_number(&t, 1, 70002, 4);
	count_number(&t, 0, 70001, 8);
	count_number(&t, 1, 70003, 16);
	work(&t);
	t.m->opts.aggrate_ns = 0;
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM ENABLED NAMES AGGREGATES");
	read_sums(&t, 8, &s);
	assert_int_equal(s.n, 4);
	assert_int_equal(sum_of_name(&t, &s, "vmlinux`vfs_read", 0), 5);
	assert_int_equal(sum_of_name(&t, &s, "vmlinux`vfs_write", 0), 2);
	assert_int_equal(sum_of_name(&t, &s, "0xffff1234", 0), 8);
	assert_int_equal(sum_of_name(&t, &s, "0xffff1234", 1), 16);
	forget(&t);
	count_number(&t, 1, 70002, 1); /* which is known */
	work(&t);
	assert_string_equal(kinds(&t), "AGGREGATES");
	merging_teardown(&t);
}

/* `guest` is each host's own. */
static void guests_are_their_hosts(void **state)
{
	struct merging t;
	struct sums s;

	(void)state;
	merging_begin(&t, "fbt::do_exit:entry { @a[guest] = count(); }");
	count(&t, 0, "web01", 7);
	count(&t, 1, "web01", 5);
	work(&t);
	read_sums(&t, 8, &s);
	assert_int_equal(s.n, 2);
	is_sum(&s, "h1/web01", 7);
	is_sum(&s, "h2/web01", 5);
	merging_teardown(&t);
}

/* Keys with a process's addresses are passed on as their host's, with what they refer to. */
static void processes_are_their_guests(void **state)
{
	struct fl_aggregate a;
	struct ot_arena arena;
	struct merging t;
	uint8_t tuple[96] = { 0 };
	const uint64_t word = 3, number = 70000;

	(void)state;
	ot_arena_init(&arena);
	merging_begin(&t, "fbt::do_exit:entry { @a[usym(arg0)] = count(); @b = count(); }");
	name(&t, 1, number, "libc`malloc");
	memcpy(tuple + 16, &number, sizeof(number));
	fl_put_aggregate(&t.f.hosts[1].body,
			 &(struct fl_aggregate){ 1, 1, { tuple, 24 }, { (const uint8_t *)&word, 8 } });
	fl_put_aggregate(&t.f.hosts[1].body,
			 &(struct fl_aggregate){ 1, 2, { tuple, 4 }, { (const uint8_t *)&word, 8 } });
	say(&t.f.hosts[1], FL_AGGREGATES);
	work(&t);
	assert_string_equal(kinds(&t),
			    "PROGRAM ENABLED PROGRAM(1) ENABLED(1) NAMES(1) AGGREGATES(1) AGGREGATES");
	struct fl_reader r = reader_of(&t, 5);
	assert_true(fl_next_aggregate(&r, &arena, &a));
	assert_int_equal(a.epid, 1);
	assert_int_equal(a.action, 1);
	assert_int_equal(con_load(a.tuple.data + 16, 8), number);
	assert_false(fl_next_aggregate(&r, &arena, &a));
	merging_teardown(&t);
	ot_arena_deinit(&arena);
}

/* --- kernels ---------------------------------------------------------------------------------------------------- */

/* The other host's program, whose only clause is its number @clause. */
static void say_all_of(struct merging *t, unsigned host, struct lx *lx, uint32_t clause)
{
	struct canned *h = &t->f.hosts[host];

	say_hello(h, FL_PROTOCOL);
	say_guest(h, 0, "web01", true);
	say_program(h, &lx->prog);
	say_enabled(h, 1, clause, 0);
	say_ready(h, 1);
}

static void begin_with(struct merging *t, struct lx *other, const char *text)
{
	merging_setup(t, by_name, 2);
	lx_init(other);
	other->opts.strsize = STRSIZE;
	assert_true(lx_compile(other, text));
	say_all(&t->f, 0);
	say_all_of(t, 1, other, 1);
	work(t);
	merging_start(t, 2);
	forget(t);
}

/* Another kernel's clause with keys that are alike is read by the first one's, and needs no program. */
static void kernels_are_added_up(void **state)
{
	struct merging t;
	struct lx other;
	struct sums s;

	(void)state;
	begin_with(&t, &other, "BEGIN { trace(1); } fbt::do_exit:entry { @a[probefunc] = count(); }");
	count(&t, 0, "x", 1);
	count(&t, 1, "x", 2);
	work(&t);
	count(&t, 1, "y", 4);
	work(&t);
	assert_int_equal(find(&t, find(&t, 0, -1, FL_PROGRAM) + 1, -1, FL_PROGRAM), t.n);
	read_sums(&t, 8, &s);
	is_sum(&s, "y", 4);
	assert_int_equal(s.items[s.n - 1].epid, s.items[0].epid);
	merging_teardown(&t);
	lx_deinit(&other);
}

/* Keys of another size have a clause of their own, of their host's program. */
static void other_keys_are_others(void **state)
{
	struct merging t;
	struct lx other;
	struct sums s;

	(void)state;
	begin_with(&t, &other, "BEGIN { trace(1); } fbt::do_exit:entry { @a[(char)arg0] = count(); }");
	count(&t, 0, "x", 1);
	work(&t);
	put_aggregate(&t.f.hosts[1], 1, 1, "", 5, 2, 8);
	say(&t.f.hosts[1], FL_AGGREGATES);
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM ENABLED AGGREGATES PROGRAM ENABLED AGGREGATES");
	read_sums(&t, 4, &s);
	assert_int_equal(s.n, 2);
	assert_int_not_equal(s.items[0].epid, s.items[1].epid);
	merging_teardown(&t);
	lx_deinit(&other);
}

/* --- limits ------------------------------------------------------------------------------------------------------ */

static void what_finds_no_room_is_counted(void **state)
{
	struct fl_drop drop;
	struct ot_arena arena;
	struct merging t;
	struct sums s;

	(void)state;
	ot_arena_init(&arena);
	merging_begin(&t, by_name);
	t.m->fold.gather.max = 1;
	t.m->opts.aggrate_ns = UINT32_MAX;
	t.m->fold.sent_ns = ot_now_ns();
	count(&t, 0, "a", 1);
	count(&t, 0, "b", 1);
	count(&t, 1, "c", 1);
	work(&t);
	t.m->opts.aggrate_ns = 0;
	work(&t);
	read_sums(&t, 8, &s);
	assert_int_equal(s.n, 1);
	struct fl_reader r = reader_of(&t, find(&t, 0, -1, FL_DROPS));
	assert_true(fl_next_drop(&r, &arena, &drop));
	assert_int_equal(drop.kind, VP_DROP_AGGREGATION);
	assert_int_equal(drop.count, 2);
	count(&t, 1, "c", 1); /* there is room again */
	work(&t);
	read_sums(&t, 8, &s);
	is_sum(&s, "c", 1);
	merging_teardown(&t);
	ot_arena_deinit(&arena);
}

/* Where the operator would take no more programs, hosts' data goes on as theirs. */
static void programs_have_a_bound(void **state)
{
	struct merging t;

	(void)state;
	merging_begin(&t, by_name);
	t.m->fold.nown = FL_MERGE_OWN;
	count(&t, 1, "a", 1);
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM(1) ENABLED(1) AGGREGATES(1)");
	merging_teardown(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_added_up),
		cmocka_unit_test(aggregating_costs_nothing_else),
		cmocka_unit_test(names_are_joined_by_text),
		cmocka_unit_test(guests_are_their_hosts),
		cmocka_unit_test(processes_are_their_guests),
		cmocka_unit_test(kernels_are_added_up),
		cmocka_unit_test(other_keys_are_others),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(programs_have_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
