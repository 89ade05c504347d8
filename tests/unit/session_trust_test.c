/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/drain: two guests, and the VMM of the second writes into its buffers what an engine of ours never
 * would: rows in the first one's name, or in the host engine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "dif/vm/agg.h"
#include "session_fixture.h"
#include "vmm-probe/session/drain.h"

static const char program[] = "BEGIN { trace(1); }\n"
			      "profile-100 { trace(2); @c[arg0] = count(); @s = sum(arg1); }\n"
			      "ERROR { trace(3); }\n";

static void set_up(struct session_fixture *t)
{
	session_fixture_init(t, program, 2);
}

static const struct vp_enabled *find(const struct session_fixture *t, enum vp_probe_kind kind, uint32_t guest)
{
	for (size_t i = 0; i < t->s->program.nenabled; i++) {
		const struct vp_enabled *e = t->s->program.enabled[i];
		if (e->probe->kind == kind && e->guest == guest)
			return e;
	}
	fail_msg("no enabling of kind %d in guest %u", (int)kind, guest);
	return NULL;
}

/* --- what the second guest's VMM writes ------------------------------------------------------------------ */

static struct vp_vcpu_status *status_of(const struct session_fixture *t)
{
	return vp_feed_status(&t->s->feeds[2]);
}

/* Append to its active half, 0. */
static void write_bytes(const struct session_fixture *t, const void *data, size_t size)
{
	struct vp_half *half = &status_of(t)->principal[0];

	memcpy(t->s->feeds[2].shared.mem + vp_principal_offset(&t->s->feeds[2].open, 0, 0) + half->used, data,
	       size);
	half->used += size;
}

static void write_record(const struct session_fixture *t, const struct vp_enabled *e)
{
	uint8_t record[256] = { 0 };

	assert_true(e->layout->size <= sizeof(record));
	memcpy(record, &e->epid, sizeof(e->epid));
	write_bytes(t, record, e->layout->size);
}

static void write_fault(const struct session_fixture *t, const struct vp_enabled *e)
{
	const struct vp_fault_record fault = { .epid = VP_EPID_FAULT, .ecb = e->epid, .fault = 1 };

	write_bytes(t, &fault, sizeof(fault));
}

/* A value of @e's aggregation @nth, under the number @epid. */
static void write_aggregate(const struct session_fixture *t, const struct vp_enabled *e, uint32_t nth,
			    uint32_t epid)
{
	const struct vp_feed *feed = &t->s->feeds[2];
	const struct dif_agg_layout *l = &e->layout->aggs[nth];
	const struct dif_action *action = &e->clause->actions[l->action];
	uint8_t tuple[64] = { 0 };
	struct dif_aggtab tab;

	memcpy(tuple, &action->aggid, sizeof(uint32_t));
	uint8_t *half = feed->shared.mem + vp_aggregation_offset(&feed->open, 0, 0);
	assert_ok(dif_aggtab_init(&tab, half, feed->open.aggsize));
	assert_non_null(
	    dif_aggtab_lookup(&tab, l, (enum dif_agg_kind)action->kind, action->arg, tuple, epid));
	status_of(t)->aggregation[0].used = tab.used;
	dif_aggtab_deinit(&tab);
}

/* As of a VMM that has ended: all that is in its buffers is taken. */
static void drain(struct session_fixture *t)
{
	struct vp_feed *feed = &t->s->feeds[2];

	t->s->feeds[1].gone = t->s->feeds[1].read_out = true;
	feed->gone = true;
	feed->read_out = false;
	t->records = t->aggregates = t->faults = t->overloads = 0;
	t->last = 0;
	assert_ok(vp_drain(t->s, VP_DRAIN_TAKE | VP_DRAIN_GIVE | VP_DRAIN_ALL));
	status_of(t)->principal[0].used = status_of(t)->aggregation[0].used = 0;
}

static void check_said(const struct session_fixture *t, bool said)
{
	char text[sizeof(t->text)];

	assert_int_equal(t->said, said);
	snprintf(text, sizeof(text),
		 "guest web02: its VMM (PID %d) sends data of probes that this session does not have there: "
		 "the rest of such a buffer is ignored, and the VMM can't be trusted",
		 (int)getpid());
	assert_string_equal(t->text, said ? text : "");
}

/* --- tests ---------------------------------------------------------------------------------------------- */

/* Its own, and that of ERROR in it. */
static void what_it_has_is_taken(void **state)
{
	struct session_fixture t;

	(void)state;
	set_up(&t);
	const struct vp_enabled *own = find(&t, VP_PROBE_PROFILE, 1), *error = find(&t, VP_PROBE_ERROR, 1);
	drain(&t); /* BEGIN's */
	assert_int_equal(t.records, 1);
	write_record(&t, own);
	write_record(&t, error);
	write_fault(&t, own);
	write_aggregate(&t, own, 1, own->epid);
	drain(&t);
	assert_int_equal(t.records, 2);
	assert_int_equal(t.aggregates, 1);
	assert_int_equal(t.faults, 1);
	check_said(&t, false);
	session_fixture_deinit(&t);
}

/* Of the first guest's probe, of ERROR there, and of BEGIN, whose number of a guest is the first one's too:
 * each is left out, and what came before it is not. */
static void nothing_in_anothers_name(void **state)
{
	const enum vp_probe_kind kinds[] = { VP_PROBE_PROFILE, VP_PROBE_ERROR, VP_PROBE_HOST };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(kinds); i++) {
		struct session_fixture t;
		set_up(&t);
		const struct vp_enabled *own = find(&t, VP_PROBE_PROFILE, 1), *other = find(&t, kinds[i], 0);
		drain(&t);
		write_record(&t, own);
		write_record(&t, other);
		write_record(&t, own);
		drain(&t);
		assert_int_equal(t.records, 1);
		assert_int_equal(t.last, own->epid);
		check_said(&t, true);
		write_record(&t, other);
		drain(&t);
		assert_int_equal(t.records, 0);
		check_said(&t, true); /* once is enough */
		session_fixture_deinit(&t);
	}
}

static void no_fault_and_no_row_either(void **state)
{
	struct session_fixture t;

	(void)state;
	set_up(&t);
	const struct vp_enabled *own = find(&t, VP_PROBE_PROFILE, 1), *other = find(&t, VP_PROBE_PROFILE, 0);
	drain(&t);
	write_fault(&t, other);
	drain(&t);
	assert_int_equal(t.faults, 0);
	check_said(&t, true);
	t.said = 0;
	t.s->feeds[2].damaged = false;
	write_aggregate(&t, own, 0, other->epid);
	drain(&t);
	assert_int_equal(t.aggregates, 0);
	check_said(&t, true);
	session_fixture_deinit(&t);
}

/* Numbers that no enabling has, and records that are cut off. */
static void nonsense_is_said(void **state)
{
	struct session_fixture t;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct vp_fault_record fault = { .epid = VP_EPID_FAULT };
		set_up(&t);
		drain(&t);
		const uint32_t epid = i ? find(&t, VP_PROBE_PROFILE, 1)->epid : 1000;
		if (i < 2)
			write_bytes(&t, &epid, sizeof(epid));
		else
			write_bytes(&t, &fault, 24);
		drain(&t);
		assert_int_equal(t.records + t.faults, 0);
		check_said(&t, true);
		session_fixture_deinit(&t);
	}
}

/* What was taken out for its cost: the number is in a message. */
static void no_overload_of_anothers_probe(void **state)
{
	struct vp_msg_switch_reply reply = { .head = { VP_MSG_SWITCH_REPLY, sizeof(reply) }, .now_ns = 1 };

	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		struct session_fixture t;
		set_up(&t);
		reply.overload =
		    (struct vp_overload){ .taken = 1, .epid = find(&t, VP_PROBE_PROFILE, !others)->epid };
		session_fixture_put(t.vmms[1], &reply, sizeof(reply));
		t.s->feeds[1].gone = t.s->feeds[1].read_out = true;
		assert_ok(vp_drain(t.s, VP_DRAIN_TAKE));
		assert_int_equal(t.overloads, !others);
		check_said(&t, others);
		session_fixture_deinit(&t);
	}
}

/* Bytes of a file that are not zeros. */
static size_t written(int fd)
{
	uint8_t page[4096];
	size_t n = 0, at = 0;

	for (ssize_t len; (len = pread(fd, page, sizeof(page), (off_t)at)) > 0; at += (size_t)len)
		for (ssize_t i = 0; i < len; i++)
			n += page[i] != 0;
	return n;
}

/* Each engine has its variables and its buffers in files that no other VMM gets, and the host engine in
 * others. */
static void no_engine_has_anothers_memory(void **state)
{
	int fds[2][8], n[2];
	struct session_fixture t;

	(void)state;
	set_up(&t);
	for (unsigned i = 0; i < 2; i++) {
		struct vp_msg_open open;
		size_t len;
		assert_ok(ot_recv_fds(t.vmms[i], &open, sizeof(open), fds[i], 8, &len, &n[i]));
		assert_int_equal(open.head.type, VP_MSG_OPEN);
		assert_int_equal(n[i], 4);
		assert_int_equal(open.status_offset, t.s->feeds[1 + i].shared.common);
	}
	for (unsigned own = 0; own < 3; own++) {
		const struct vp_feed_shared *sh = &t.s->feeds[own].shared;
		for (unsigned i = 0; i < 3; i++)
			memset(t.s->feeds[i].shared.mem, 0, t.s->feeds[i].shared.size);
		memset(sh->mem, 0xa5, sh->size);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(written(fds[i][2]), own == i + 1 ? sh->common : 0);
			assert_int_equal(written(fds[i][3]), own == i + 1 ? sh->size - sh->common : 0);
		}
	}
	for (unsigned i = 0; i < 3; i++)
		memset(t.s->feeds[i].shared.mem, 0, t.s->feeds[i].shared.size);
	for (unsigned i = 0; i < 2; i++)
		for (int k = 0; k < n[i]; k++)
			close(fds[i][k]);
	session_fixture_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_has_is_taken),
		cmocka_unit_test(nothing_in_anothers_name),
		cmocka_unit_test(no_fault_and_no_row_either),
		cmocka_unit_test(nonsense_is_said),
		cmocka_unit_test(no_overload_of_anothers_probe),
		cmocka_unit_test(no_engine_has_anothers_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
