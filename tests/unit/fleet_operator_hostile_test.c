/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/operator: what a hostile host sends ends that host and nothing else. */
#include "tests/unit/fleet_operator_fixture.h"

#include "consumer/aggregate.h"

/* --- hostile -------------------------------------------------------------------------------------------- */

static void put_nothing(struct canned *h)
{
	(void)h;
}

static void unknown_epid(struct canned *h)
{
	put_clock(h);
	put_record(h, 99, 0, 1, 1, 24);
}

static void short_record(struct canned *h)
{
	put_clock(h);
	put_record(h, 1, 0, 1, 1, 23);
}

static void no_such_cpu(struct canned *h)
{
	put_clock(h);
	put_record(h, 1, VP_VCPUS_MAX, 1, 1, 24);
}

static void no_record_clause(struct canned *h)
{
	put_clock(h);
	put_record(h, 2, 0, 1, 1, 24);
}

static void short_tuple(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE - 1, 7, 8);
}

static void short_words(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE, 7, 7);
}

static void no_aggregation(struct canned *h)
{
	put_aggregate(h, 2, 0, "x", 8 + STRSIZE, 7, 8);
}

static void no_such_fault(struct canned *h)
{
	fl_put_fault(&h->body, &(struct fl_fault){ 1, 0, 99, 4, 1, 0 });
}

static void no_such_drop(struct canned *h)
{
	fl_put_drop(&h->body, &(struct fl_drop){ VP_DROP_MODULES + 1, 0, 1 });
}

static void no_such_clause(struct canned *h)
{
	fl_put_enabled(&h->body, &(struct fl_enabled){ 9, 2, 0, 1, "a", "b", "c", "d" });
}

static void no_such_guest(struct canned *h)
{
	fl_put_enabled(&h->body, &(struct fl_enabled){ 9, 0, 1, 1, "a", "b", "c", "d" });
}

static void epid_again(struct canned *h)
{
	fl_put_enabled(&h->body, &(struct fl_enabled){ 1, 0, 0, 1, "a", "b", "c", "d" });
}

static void name_again(struct canned *h)
{
	fl_put_name(&h->body, &(struct fl_name){ 0, 70000, "a", "" });
	fl_put_name(&h->body, &(struct fl_name){ 0, 70000, "b", "" });
}

static void name_of_none(struct canned *h)
{
	fl_put_name(&h->body, &(struct fl_name){ 0, 0, "a", "" });
}

static void guest_beyond(struct canned *h)
{
	fl_put_guest(&h->body, &(struct fl_guest){ VP_GUESTS_MAX, "a", true, 0, "", 0, "" });
}

static void guest_unknown(struct canned *h)
{
	fl_put_guest(&h->body, &(struct fl_guest){ 5, "a", false, 0, "", 0, "" });
}

static void no_dof(struct canned *h)
{
	static const uint8_t garbage[64] = { 0x7f, 'D', 'O', 'F', 1, 2, 1 };

	fl_put_program(&h->body, &(struct fl_program){ .dof = { garbage, sizeof(garbage) }, .strsize = 16 });
}

static void huge_strings(struct canned *h)
{
	fl_put_program(&h->body, &(struct fl_program){ .strsize = UINT32_MAX });
}

static const struct {
	enum fl_kind kind;
	void (*put)(struct canned *h);
} hostile[] = {
	{ FL_RECORDS, unknown_epid },     { FL_RECORDS, short_record },       { FL_RECORDS, no_such_cpu },
	{ FL_RECORDS, no_record_clause }, { FL_RECORDS, put_nothing },        { FL_AGGREGATES, short_tuple },
	{ FL_AGGREGATES, short_words },   { FL_AGGREGATES, no_aggregation },  { FL_FAULTS, no_such_fault },
	{ FL_DROPS, no_such_drop },       { FL_ENABLED, no_such_clause },     { FL_ENABLED, no_such_guest },
	{ FL_ENABLED, epid_again },       { FL_NAMES, name_again },           { FL_NAMES, name_of_none },
	{ FL_GUEST, guest_beyond },       { FL_GUEST, guest_unknown },        { FL_PROGRAM, no_dof },
	{ FL_PROGRAM, huge_strings },     { FL_OVERLOAD, put_nothing },       { FL_SAY, put_nothing },
	{ FL_ENDED, put_nothing },        { FL_HELLO, put_nothing },          { FL_RUN, put_nothing },
	{ FL_STOP, put_nothing },         { (enum fl_kind)200, put_nothing },
};

/* The host is lost, which is said; the other goes on. */
static void hostile_hosts_are_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(hostile); i++) {
		struct ot_buf report = { 0 };
		struct fixture f;

		begin(&f, counting, 2);
		hostile[i].put(&f.hosts[0]);
		say(&f.hosts[0], hostile[i].kind);
		take(&f);
		if (!strstr(f.seen.said, "h1: the host is lost: "))
			fail_msg("case %zu: %s", i, f.seen.said);
		assert_int_equal(f.seen.records + f.seen.aggregates + f.seen.faults + f.seen.drops, 0);
		assert_false(fl_fleet_has_ended(f.fleet));
		put_aggregate(&f.hosts[1], 2, 2, "x", 8 + STRSIZE, 7, 8);
		say(&f.hosts[1], FL_AGGREGATES);
		take(&f);
		assert_int_equal(f.seen.aggregates, 1);
		fl_put_ended(&f.hosts[1].body, &(struct fl_ended){ .text = "" });
		say(&f.hosts[1], FL_ENDED);
		take(&f);
		assert_true(fl_fleet_has_ended(f.fleet));
		assert_false(fl_fleet_report(f.fleet, &report));
		assert_non_null(
		    strstr(ot_buf_str(&report), "hosts: 1 whole, 1 lost: h1, last heard 0 s ago"));
		ot_buf_deinit(&report);
		teardown(&f);
	}
}

/* Each beginning of each message, and each of its bytes changed, is taken or refused. */
static void damaged(enum fl_kind kind, void (*put)(struct canned *h))
{
	struct canned whole = { 0 };

	put(&whole);
	for (size_t i = 0; i < 2 * whole.body.len; i++) {
		struct fixture f;
		size_t at = i % whole.body.len;

		begin(&f, counting, 1);
		ot_buf_append(&f.hosts[0].body, whole.body.data, i < whole.body.len ? at : whole.body.len);
		if (i >= whole.body.len)
			f.hosts[0].body.data[at] ^= (char)(0x55 + at);
		say(&f.hosts[0], kind);
		take(&f);
		teardown(&f);
	}
	ot_buf_deinit(&whole.body);
}

static void good_aggregate(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE, 7, 8);
}

static void good_record(struct canned *h)
{
	put_clock(h);
	put_record(h, 1, 0, 1, 1, 24);
}

static void damaged_messages(void **state)
{
	(void)state;
	damaged(FL_AGGREGATES, good_aggregate);
	damaged(FL_RECORDS, good_record);
	damaged(FL_ENABLED, no_such_clause);
	damaged(FL_NAMES, name_again);
	damaged(FL_FAULTS, no_such_fault);
}

/* --- more than there is room for ------------------------------------------------------------------------ */

/* The consumer's part: what is handed on is kept by key. */
struct keeping {
	struct con_aggs aggs;
	struct con_printer printer;
	uint64_t drops;
};

static struct ot_err *keep_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct keeping *k = arg;

	return con_aggs_add(&k->aggs, &k->printer, agg);
}

static struct ot_err *count_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	assert_int_equal(kind, VP_DROP_AGGREGATION);
	assert_int_equal(cpu, 0);
	((struct keeping *)arg)->drops += count;
	return NULL;
}

static void say_keys(struct fixture *f, unsigned host, unsigned first, unsigned count)
{
	char key[16];

	for (unsigned i = first; i < first + count; i++) {
		snprintf(key, sizeof(key), "h%u-%u", host, i);
		put_aggregate(&f->hosts[host], 2, 2, key, 8 + STRSIZE, 1, 8);
	}
	say(&f->hosts[host], FL_AGGREGATES);
	take(f);
}

/* One host sends keys without end: it is not lost, nothing is dropped untold, and the other one has its
 * room. */
static void endless_keys(void **state)
{
	struct keeping k = { 0 };
	struct fixture f;
	uint64_t n = 0;

	(void)state;
	setup(&f, counting, 2);
	f.sink = (struct vp_sink){ .arg = &k, .aggregate = keep_aggregate, .drop = count_drop };
	assert_true(lx_compile(&f.lx, counting));
	assert_null(con_aggs_init(&k.aggs, &f.lx.prog));
	k.printer.opts = &f.lx.opts;
	start(&f, 2);
	f.fleet->keys.most = 100000;
	for (; n < 5000; n += 500)
		say_keys(&f, 0, (unsigned)n, 500);
	say_keys(&f, 1, 0, 100);
	assert_int_equal(f.fleet->hosts[1]->keys.refused, 0);
	assert_true(f.fleet->keys.bytes <= 2 * f.fleet->keys.most);
	assert_null(strstr(f.seen.said, "lost"));
	assert_null(strstr(f.seen.said, "h2: "));
	fl_put_ended(&f.hosts[0].body, &(struct fl_ended){ .text = "" });
	say(&f.hosts[0], FL_ENDED);
	take(&f);
	assert_int_equal(k.drops + k.aggs.vars[1].count, 5000 + 100);
	assert_in_range(k.aggs.vars[1].count, 100 + 200, 100 + 2000);
	if (!strstr(f.seen.said, "h1: ") || !strstr(f.seen.said, "aggregation drops: the keys here may take"))
		fail_msg("%s", f.seen.said);
	con_aggs_deinit(&k.aggs);
	teardown(&f);
}

/* What a host's data means can't be left out: it is lost. */
static void endless_meanings(void **state)
{
	char name[1000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned way = 0; way < 3; way++) {
		struct fixture f;

		begin(&f, counting, 2);
		f.fleet->meanings.most = f.fleet->meanings.bytes + 1000000;
		for (unsigned i = 0; i < 2000 && f.fleet->hosts[0]->channel; i++) {
			if (way == 0)
				fl_put_name(&f.hosts[0].body, &(struct fl_name){ 0, 70000 + i, name, "" });
			else if (way == 1)
				fl_put_enabled(&f.hosts[0].body,
					       &(struct fl_enabled){ 9 + i, 0, 0, 1, "a", name, "c", "d" });
			else
				fl_put_guest(&f.hosts[0].body, &(struct fl_guest){ 0, name, true, 0, "" });
			say(&f.hosts[0], way == 0 ? FL_NAMES : way == 1 ? FL_ENABLED : FL_GUEST);
			take(&f);
		}
		assert_int_equal(f.fleet->hosts[0]->channel == NULL, way < 2);
		if (way < 2 &&
		    !strstr(f.seen.said, "h1: the host is lost: it has sent programs, probes and names"))
			fail_msg("way %u: %s", way, f.seen.said);
		assert_true(f.fleet->meanings.bytes < 2100000);
		assert_non_null(f.fleet->hosts[1]->channel);
		teardown(&f);
	}
}

/* --- the end -------------------------------------------------------------------------------------------- */

static void the_end(void **state)
{
	struct ot_buf report = { 0 };
	struct fixture f;
	bool exited;
	int status;

	(void)state;
	begin(&f, counting, 1);
	fl_put_ended(&f.hosts[0].body, &(struct fl_ended){ .exited = true, .status = 7, .text = "" });
	say(&f.hosts[0], FL_ENDED);
	assert_null(fl_fleet_take(f.fleet, &exited, &status));
	assert_true(exited);
	assert_int_equal(status, 7);
	assert_null(fl_fleet_stop(f.fleet, NULL, NULL));
	assert_true(fl_fleet_report(f.fleet, &report));
	assert_int_equal(report.len, 0);
	teardown(&f);
	/* its connection ends, and so does what is waited for */
	begin(&f, counting, 1);
	say_record(&f.hosts[0], 1, 5);
	fl_link_destroy(f.hosts[0].link);
	f.hosts[0].link = NULL;
	assert_null(fl_fleet_stop(f.fleet, NULL, NULL));
	assert_int_equal(f.seen.records, 1);
	assert_false(fl_fleet_report(f.fleet, &report));
	ot_buf_deinit(&report);
	teardown(&f);
	/* a session there that fails */
	begin(&f, counting, 1);
	fl_put_ended(&f.hosts[0].body, &(struct fl_ended){ .failed = true, .text = "no memory" });
	say(&f.hosts[0], FL_ENDED);
	take(&f);
	assert_non_null(strstr(f.seen.said, "h1: no memory"));
	assert_false(fl_fleet_report(f.fleet, &report));
	assert_string_equal(ot_buf_str(&report), "hosts: 0 whole, 1 failed");
	ot_buf_deinit(&report);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_hosts_are_lost),
		cmocka_unit_test(damaged_messages),
		cmocka_unit_test(endless_keys),
		cmocka_unit_test(endless_meanings),
		cmocka_unit_test(the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
