/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers: drops, the exchange of halves, fill and ring, speculations, inline counters. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RECORDS 1024

/* A clause that records arg0: 24 bytes a record. */
static uint32_t arg0_clause(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	return c;
}

static void hits(struct ef *f, uint32_t cpu, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		vp_fake_set_reg(f->fake, cpu, VP_RDI, i);
		assert_true(vp_fake_hit(f->fake, cpu, EF_FUNC_A));
	}
}

static void no_room_is_a_drop(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	f->open.bufsize = 64;
	uint32_t c = arg0_clause(f);
	ef_trace(f, c);
	hits(f, 0, 0, 5);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2);
	assert_int_equal(ef_status(f, 0)->principal[0].dropped, 3);
	hits(f, 0, 5, 1);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 5);
	assert_int_equal(ef_status(f, 0)->principal[1].dropped, 0);
	ef_destroy(f);
}

/* A record that never fits drops; nothing is written outside of the half. */
static void record_larger_than_the_buffer(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	f->open.bufsize = 16;
	uint32_t c = arg0_clause(f);
	ef_trace(f, c);
	hits(f, 0, 0, 3);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	assert_int_equal(ef_status(f, 0)->principal[0].dropped, 3);
	ef_destroy(f);
}

static void halves_alternate_and_cover_time(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	uint64_t before = 0;
	(void)state;

	uint32_t c = arg0_clause(f);
	ef_trace(f, c);
	for (unsigned i = 0; i < 6; i++) {
		hits(f, 0, i, 1);
		struct vp_msg_switch_reply reply = ef_switch(f);
		const struct vp_vcpu_status *s = ef_status(f, 0);
		assert_int_equal(s->active, (i + 1) & 1);
		assert_int_equal(s->principal[i & 1].until_ns, reply.now_ns);
		assert_true(s->principal[i & 1].since_ns >= before);
		/* an idle vCPU is covered, too */
		assert_int_equal(ef_status(f, 1)->principal[i & 1].until_ns, reply.now_ns);
		assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
		assert_int_equal(ef_u64(r[0].data + 16), i);
		assert_true(r[0].time_ns >= before && r[0].time_ns <= reply.now_ns);
		before = reply.now_ns;
	}
	ef_destroy(f);
}

static void fill_stops_when_full(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	f->open.bufpolicy = VP_BUF_FILL;
	f->open.bufsize = 96;
	uint32_t c = arg0_clause(f);
	ef_trace(f, c);
	hits(f, 0, 0, 2);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0); /* nothing before the end */
	hits(f, 0, 2, 10);
	hits(f, 1, 0, 1); /* the other vCPU has stopped, too */
	assert_int_equal(ef_switch(f).flags, VP_SWITCH_FILLED);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 4);
	assert_int_equal(ef_u64(r[3].data + 16), 3);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 0);
	assert_int_equal(ef_status(f, 0)->principal[0].dropped, 0);
	ef_destroy(f);
}

static void fill_keeps_room_for_end(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	uint64_t args[10] = { 99 };
	(void)state;

	f->open.bufpolicy = VP_BUF_FILL;
	f->open.bufsize = 96;
	uint32_t c = arg0_clause(f);
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_HOST, VP_ARGS_NONE, "", "END");
	ef_probe_id(f, p, DIF_PROBE_END);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_start(f);
	hits(f, 0, 0, 10);
	vp_engine_session_fire(f->es, DIF_PROBE_END, args);
	ef_switch(f);
	uint32_t n = ef_records(f, 0, r, MAX_RECORDS);
	assert_int_equal(n, 3);
	assert_int_equal(ef_u64(r[n - 1].data + 16), 99);
	ef_destroy(f);
}

static void end_larger_than_the_buffer_is_refused(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	f->open.bufpolicy = VP_BUF_FILL;
	f->open.bufsize = 16;
	uint32_t c = arg0_clause(f);
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_HOST, VP_ARGS_NONE, "", "END");
	ef_probe_id(f, p, DIF_PROBE_END);
	ef_ecb(f, p, c);
	EF_FAILS(OT_ERR_LIMIT, ef_try_enable(f));
	ef_destroy(f);
}

/* Whatever the sizes, the ring hands out the newest records, in order, without a gap. */
static void ring_keeps_the_newest(void **state)
{
	(void)state;
	for (uint64_t size = 24; size <= 256; size += 8) {
		for (uint64_t n = 1; n < 40; n += 3) {
			struct ef *f = ef_create();
			struct ef_record r[MAX_RECORDS];
			f->open.bufpolicy = VP_BUF_RING;
			f->open.bufsize = size;
			uint32_t c = arg0_clause(f);
			ef_open(f);
			ef_enable_entry(f, c, EF_FUNC_A);
			ef_start(f);
			hits(f, 0, 0, n);
			EF_OK(vp_engine_session_stop(f->es));
			ef_switch(f);
			uint32_t got = ef_records(f, 0, r, MAX_RECORDS);
			uint64_t fit = size / 24;
			assert_int_equal(got, n < fit ? n : fit);
			for (uint32_t i = 0; i < got; i++)
				assert_int_equal(ef_u64(r[i].data + 16), n - got + i);
			assert_int_equal(ef_status(f, 0)->principal[0].dropped, 0);
			ef_destroy(f);
		}
	}
}

/* Records of two sizes and alignments: header only, and with 8-byte data. */
static void ring_with_mixed_sizes(void **state)
{
	(void)state;
	for (uint64_t size = 48; size <= 200; size += 8) {
		struct ef *f = ef_create();
		struct ef_record r[MAX_RECORDS];
		f->open.bufpolicy = VP_BUF_RING;
		f->open.bufsize = size;
		uint32_t big = arg0_clause(f), small = ef_clause(f, ef_var_eq(f, DIF_VAR_arg1, 1));
		ef_open(f);
		uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
		ef_site(f, EF_FUNC_A, EF_FUNC_A);
		ef_ecb(f, p, small);
		uint32_t epid = ef_ecb(f, p, big);
		ef_enable(f);
		ef_start(f);
		for (uint64_t i = 0; i < 50; i++) {
			vp_fake_set_reg(f->fake, 0, VP_RSI, i % 3 == 0);
			hits(f, 0, i, 1);
		}
		EF_OK(vp_engine_session_stop(f->es));
		ef_switch(f);
		uint32_t got = ef_records(f, 0, r, MAX_RECORDS);
		assert_true(got >= 1);
		uint64_t want = 49;
		for (uint32_t i = got; i-- > 0;)
			if (r[i].epid == epid)
				assert_int_equal(ef_u64(r[i].data + 16), want--);
		for (uint32_t i = 1; i < got; i++)
			assert_true(r[i - 1].time_ns <= r[i].time_ns);
		ef_destroy(f);
	}
}

/* --- speculation -------------------------------------------------------------------------------- */

/* Functions A, B, C: speculation() into a global; speculate(global) and arg0; commit or discard. */
static void spec_session(struct ef *f, uint32_t last)
{
	struct dif_object *set = ef_global_add(f, 0x500, 0);

	/* global = speculation() */
	set->text[0] = dif_insn_index(DIF_OP_call, DIF_SUBR_speculation, 1);
	uint32_t open = ef_clause(f, NULL);
	ef_action(f, open, DIF_ACT_difexpr, set);
	uint32_t spec = ef_clause(f, NULL);
	ef_action(f, spec, DIF_ACT_speculate, ef_global(f, 0x500));
	ef_action(f, spec, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	uint32_t end = ef_clause(f, NULL);
	ef_action(f, end, last, ef_global(f, 0x500));
	ef_open(f);
	ef_enable_entry(f, open, EF_FUNC_A);
	ef_enable_entry(f, spec, EF_FUNC_B);
	ef_enable_entry(f, end, EF_FUNC_C);
	ef_start(f);
}

static void commit_own_at_once(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	spec_session(f, DIF_ACT_commit);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 11);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1); /* nothing speculated yet to be seen */
	vp_fake_hit(f->fake, 0, EF_FUNC_C);
	uint64_t now = ef_switch(f).now_ns;
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 11);
	assert_int_equal(r[0].time_ns, r[1].time_ns); /* of the commit */
	assert_true(r[0].time_ns <= now);
	/* both ids are free again: two more speculations can be created */
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(ef_status(f, 0)->spec_unavail, 0);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(ef_status(f, 0)->spec_unavail, 1);
	ef_destroy(f);
}

static void commit_of_another_vcpu_at_the_switch(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	spec_session(f, DIF_ACT_commit);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 11);
	vp_fake_set_reg(f->fake, 1, VP_RDI, 22);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	vp_fake_hit(f->fake, 1, EF_FUNC_B);
	ef_switch(f);
	vp_fake_hit(f->fake, 1, EF_FUNC_C);
	vp_fake_hit(f->fake, 0, EF_FUNC_B); /* too late: dropped without a word */
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 11);
	assert_true(r[0].time_ns != ~0ull);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 22);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	ef_destroy(f);
}

static void discard_leaves_nothing(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	spec_session(f, DIF_ACT_discard);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	vp_fake_hit(f->fake, 1, EF_FUNC_B);
	vp_fake_hit(f->fake, 0, EF_FUNC_C);
	ef_switch(f);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 0);
	ef_destroy(f);
}

/* What other engines of the session have for an id keeps it from being free. */
static void another_engine_holds_an_id(void **state)
{
	enum { ANOTHER = 5 };
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	spec_session(f, DIF_ACT_commit);
	uint64_t *words = (uint64_t *)(void *)(f->shared + f->open.specs_offset);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	words[0] |= 1ull << (32 + ANOTHER);
	vp_fake_hit(f->fake, 1, EF_FUNC_C);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2); /* the one of A, and what was committed */
	vp_fake_hit(f->fake, 0, EF_FUNC_A);                    /* the second id */
	vp_fake_hit(f->fake, 0, EF_FUNC_A);                    /* the first is busy */
	assert_int_equal(ef_status(f, 0)->spec_busy, 1);
	vp_specs_engine_gone(words, f->open.nspec, ANOTHER);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(ef_status(f, 0)->spec_busy, 1);
	assert_int_equal(ef_status(f, 0)->spec_unavail, 0);
	ef_destroy(f);
}

/* Whatever another process writes there, a probe ends and memory is its own. */
static void scribbled_speculations_do_no_harm(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	spec_session(f, DIF_ACT_commit);
	uint64_t *words = (uint64_t *)(void *)(f->shared + f->open.specs_offset);
	for (uint64_t i = 0; i < 5000; i++) {
		vp_fake_hit(f->fake, i % 2, EF_FUNC_A + (i % 3) * 0x100);
		words[i % 2] = i * 0x9e3779b97f4a7c15ull >> i % 40;
		if (i % 100 == 0)
			ef_switch(f);
	}
	assert_true(ef_status(f, 0)->hits > 0);
	ef_destroy(f);
}

static void a_cpu_of_its_own(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	f->open.only_cpu = 1 + 1;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_cpu));
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 1);
	ef_destroy(f);
}

static void speculation_without_room_is_a_drop(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	f->open.specsize = 32;
	spec_session(f, DIF_ACT_commit);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	for (unsigned i = 0; i < 4; i++)
		vp_fake_hit(f->fake, 0, EF_FUNC_B);
	assert_int_equal(ef_status(f, 0)->spec_drops, 3);
	ef_destroy(f);
}

/* Run one clause with action @kind on an id that speculation() did not return. Returns its fault. */
static uint64_t faults_with_false_id(int kind)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, kind, ef_int(f, 77));
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	uint64_t faults = ef_status(f, 0)->faults;
	ef_destroy(f);
	return faults;
}

static void false_ids_fault_where_a_speculation_ends(void **state)
{
	(void)state;
	assert_int_equal(faults_with_false_id(DIF_ACT_speculate), 0);
	assert_int_equal(faults_with_false_id(DIF_ACT_commit), 1);
	assert_int_equal(faults_with_false_id(DIF_ACT_discard), 1);
}

/* --- inline counters ------------------------------------------------------------------------------ */

static struct ef *counting_guest(uint32_t slots)
{
	const struct vp_fake_config config = {
		.nvcpus = 2,
		.ram_size = 8u << 20,
		.levels = 4,
		.counter_slots = slots,
	};

	return ef_create_with(&config);
}

static void enable_abc(struct ef *f, uint32_t clause)
{
	static const char *const name[] = { "a", "b", "c" };

	for (unsigned i = 0; i < 3; i++) {
		uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, name[i], "entry");
		ef_site(f, EF_FUNC_A + i * 0x100, EF_FUNC_A + i * 0x100);
		ef_ecb(f, p, clause);
	}
	ef_enable(f);
}

/* A guest that may lie is not asked to count. */
static void counts_by_hits_if_wanted(void **state)
{
	struct ef *f = counting_guest(16);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	f->open.flags = VP_OPEN_EACH_HIT;
	ef_open(f);
	enable_abc(f, c);
	ef_start(f);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->necbs, 1);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->ncounters, 0);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	ef_destroy(f);
}

static void counts_without_firing(void **state)
{
	struct ef *f = counting_guest(16);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	enable_abc(f, c);
	ef_start(f);
	const struct vp_site *site = vp_fake_site(f->fake, EF_FUNC_A);
	assert_int_equal(site->necbs, 0);
	assert_int_equal(site->ncounters, 1);
	assert_int_equal(site->counters[0],
			 vp_fake_site(f->fake, EF_FUNC_C)->counters[0]); /* one key, one slot */
	for (unsigned i = 0; i < 10; i++) {
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
		vp_fake_hit(f->fake, 1, EF_FUNC_B);
	}
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 20);
	assert_int_equal(ef_status(f, 0)->hits, 0);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 0);
	/* records between the last switch and the stop are not lost */
	vp_fake_hit(f->fake, 0, EF_FUNC_C);
	EF_OK(vp_engine_session_stop(f->es));
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_C));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	ef_destroy(f);
}

static void counters_by_probe(void **state)
{
	struct ef *f = counting_guest(16);
	const uint8_t *key;
	const uint64_t *words;
	uint64_t of[256] = { 0 };
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_probefunc));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_open(f);
	enable_abc(f, c);
	ef_start(f);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k <= i; k++)
			vp_fake_hit(f->fake, 0, EF_FUNC_A + i * 0x100);
	ef_switch(f);
	for (uint32_t n = 0; ef_agg_entry(f, 0, n, &key, &words); n++)
		of[key[4]] += *words;
	assert_int_equal(of['a'], 1);
	assert_int_equal(of['b'], 2);
	assert_int_equal(of['c'], 3);
	assert_int_equal(ef_status(f, 0)->hits, 0);
	ef_destroy(f);
}

/* With too few slots the rest fires; the result is the same. */
static void counters_run_out(void **state)
{
	struct ef *f = counting_guest(2);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_probefunc));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_open(f);
	enable_abc(f, c);
	ef_start(f);
	for (unsigned i = 0; i < 3; i++)
		vp_fake_hit(f->fake, 0, EF_FUNC_A + i * 0x100);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 3);
	assert_int_equal(ef_status(f, 0)->hits, 1);
	ef_destroy(f);
}

/* A predicate, a key that depends on the guest, a second action: none of these is a counter. */
static void not_counters(void **state)
{
	struct ef *f = counting_guest(16);
	(void)state;

	uint32_t c[4] = { ef_clause(f, ef_int(f, 1)), ef_clause(f, NULL), ef_clause(f, NULL),
			  ef_clause(f, NULL) };
	ef_agg(f, c[0], DIF_AGG_count, NULL, 0);
	ef_key(f, c[1], ef_var(f, DIF_VAR_pid));
	ef_agg(f, c[1], DIF_AGG_count, NULL, 1);
	ef_action(f, c[2], DIF_ACT_difexpr, ef_int(f, 1));
	ef_agg(f, c[2], DIF_AGG_count, NULL, 0);
	ef_agg(f, c[3], DIF_AGG_sum, ef_int(f, 2), 0);
	ef_open(f);
	for (unsigned i = 0; i < 4; i++)
		ef_enable_entry(f, c[i], EF_FUNC_A);
	ef_start(f);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->ncounters, 0);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->necbs, 4);
	ef_destroy(f);
}

/* A slot that is used again starts where it stands. */
static void slot_is_used_again(void **state)
{
	struct ef *f = counting_guest(1);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	for (unsigned round = 1; round <= 3; round++) {
		ef_open(f);
		enable_abc(f, c);
		ef_start(f);
		for (unsigned i = 0; i < round; i++)
			vp_fake_hit(f->fake, 0, EF_FUNC_A);
		ef_switch(f);
		assert_int_equal(ef_agg_total(f), round);
		assert_int_equal(ef_status(f, 0)->hits, 0);
		ef_close(f);
	}
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_room_is_a_drop),
		cmocka_unit_test(record_larger_than_the_buffer),
		cmocka_unit_test(halves_alternate_and_cover_time),
		cmocka_unit_test(fill_stops_when_full),
		cmocka_unit_test(fill_keeps_room_for_end),
		cmocka_unit_test(end_larger_than_the_buffer_is_refused),
		cmocka_unit_test(ring_keeps_the_newest),
		cmocka_unit_test(ring_with_mixed_sizes),
		cmocka_unit_test(commit_own_at_once),
		cmocka_unit_test(commit_of_another_vcpu_at_the_switch),
		cmocka_unit_test(discard_leaves_nothing),
		cmocka_unit_test(another_engine_holds_an_id),
		cmocka_unit_test(scribbled_speculations_do_no_harm),
		cmocka_unit_test(a_cpu_of_its_own),
		cmocka_unit_test(speculation_without_room_is_a_drop),
		cmocka_unit_test(false_ids_fault_where_a_speculation_ends),
		cmocka_unit_test(counts_by_hits_if_wanted),
		cmocka_unit_test(counts_without_firing),
		cmocka_unit_test(counters_by_probe),
		cmocka_unit_test(counters_run_out),
		cmocka_unit_test(not_counters),
		cmocka_unit_test(slot_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
