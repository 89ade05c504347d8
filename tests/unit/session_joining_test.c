/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that join a session, leave it, have variables of their own, or don't answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/units.h"
#include "session_fixture.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/variables.h"

static const char program[] = "BEGIN { n = 7; word = \"begun\"; of[3] = 4; trace(1); }\n"
			      "profile-100 { @[n, word, of[3]] = count(); m = n; }\n";

static void answer(int vmm, uint64_t now_ns)
{
	const struct vp_msg_switch_reply reply = { .head = { VP_MSG_SWITCH_REPLY, sizeof(reply) },
						   .now_ns = now_ns };

	session_fixture_put(vmm, &reply, sizeof(reply));
}

/* The global @name, as @feed's engine has it. */
static uint64_t global_of(const struct session_fixture *t, unsigned feed, const char *name,
			  const void **ret_bytes)
{
	const struct vp_feed *f = &t->s->feeds[feed];

	for (uint32_t i = 0; i < t->prog.nclauses; i++)
		for (uint32_t k = 0; k < t->prog.clauses[i].nactions; k++) {
			const struct dif_object *obj = t->prog.clauses[i].actions[k].object;
			for (uint32_t v = 0; obj && v < obj->var_len; v++) {
				const struct dif_var *var = &obj->vars[v];
				if (strcmp(obj->strs + var->name, name) || var->scope != DIF_SCOPE_GLOBAL)
					continue;
				const struct dif_var_slot *slot =
				    dif_var_slot_find(&t->s->program.vars, var->scope, var->id);
				const uint8_t *at = f->shared.mem + f->open.globals_offset + slot->offset;
				uint64_t value;
				memcpy(&value, at, sizeof(value));
				*ret_bytes = at + 8;
				return value;
			}
		}
	fail_msg("no variable %s", name);
	return 0;
}

static void count_cell(void *arg, const void *key, uint32_t key_len, const void *value)
{
	uint64_t *sum = arg, is;

	(void)key;
	(void)key_len;
	memcpy(&is, value, sizeof(is));
	*sum += is;
}

/* The sum of associative arrays' values there. */
static uint64_t cells_of(const struct session_fixture *t, unsigned feed)
{
	uint64_t sum = 0;

	assert_non_null(t->s->feeds[feed].shared.dynvars);
	dif_dynvars_each(t->s->feeds[feed].shared.dynvars, count_cell, &sum);
	return sum;
}

/* What BEGIN left is in each guest's own. */
static void variables_begin_as_begin_left_them(void **state)
{
	struct session_fixture t;
	const void *bytes;

	(void)state;
	session_fixture_init(&t, program, 2);
	for (unsigned feed = 0; feed < 3; feed++) {
		assert_int_equal(global_of(&t, feed, "n", &bytes), 7);
		global_of(&t, feed, "word", &bytes);
		assert_string_equal(bytes, "begun");
		assert_int_equal(cells_of(&t, feed), 4);
	}
	t.s->feeds[1].shared.mem[t.s->feeds[1].open.globals_offset] ^= 1;
	assert_memory_not_equal(t.s->feeds[1].shared.mem, t.s->feeds[2].shared.mem,
				t.s->program.vars.globals_size);
	assert_int_equal(t.said, 0); /* nothing is mixed */
	session_fixture_deinit(&t);
}

/* The only guest and the operator have the same. */
static void one_guest_has_the_operators(void **state)
{
	struct session_fixture t;

	(void)state;
	session_fixture_init(&t, "BEGIN { n = 7; }\nprofile-100 { n++; }\nEND { trace(n); }\n", 1);
	assert_false(t.s->apart);
	memset(t.s->feeds[1].shared.mem, 0x5a, t.s->feeds[1].shared.common);
	assert_memory_equal(t.s->feeds[0].shared.mem, t.s->feeds[1].shared.mem, t.s->feeds[1].shared.common);
	memset(t.s->feeds[1].shared.mem, 0, t.s->feeds[1].shared.common);
	assert_int_equal(t.said, 0);
	session_fixture_deinit(&t);
}

static void says_of(const char *text, unsigned said, const char *begins)
{
	struct session_fixture t;

	session_fixture_init(&t, text, 2);
	assert_int_equal(t.said, said);
	assert_int_equal(strncmp(t.text, begins, strlen(begins)), 0);
	session_fixture_deinit(&t);
}

static void who_mixes_them_is_told(void **state)
{
	(void)state;
	says_of(
	    "profile-100 { n++; }\nEND { trace(n); }\n", 1,
	    "n: in profile:::profile-100 each guest has its own, the operator another in END: neither sees");
	says_of("tick-1s { phase++; }\nprofile-100 /phase/ { @ = count(); }\n", 1, "phase: in profile:::");
	says_of("profile-100 { n++; m++; }\nEND { trace(n + m); }\n", 1, "n and others: in profile:::");
	says_of("profile-100 { seen[arg0] = 1; }\nEND { trace(seen[0]); }\n", 1, "seen: in profile:::");
	says_of("BEGIN { n = 1; }\nprofile-100 { trace(n); }\nEND { trace(1); }\n", 0, "");
	says_of("profile-100 { n++; }\ntick-1s { s++; trace(s); }\n", 0, "");
	says_of("profile-100 { this->n = 1; @[this->n] = count(); }\nEND { this->n = 2; trace(this->n); }\n",
		0, "");
}

/* A third one: its engine is sent the program, and BEGIN is not fired again. */
static void one_joins(void **state)
{
	struct session_fixture t;
	const void *bytes;
	uint32_t guest;
	bool is_new;

	(void)state;
	session_fixture_init(&t, program, 2);
	answer(t.vmms[0], 1);
	answer(t.vmms[1], 1);
	assert_ok(vp_drain(t.s, VP_DRAIN_TAKE | VP_DRAIN_GIVE | VP_DRAIN_ALL));
	assert_int_equal(t.records, 1);
	size_t enabled = t.s->program.nenabled;
	assert_ok(vp_session_adopt(t.s, session_fixture_link(&t, 2, 3), &guest, &is_new));
	assert_int_equal(guest, 2);
	assert_false(is_new); /* none of them has a kernel */
	assert_ok(vp_session_join(t.s));
	assert_int_equal(t.joined, 1);
	assert_int_equal(t.news.guest, 2);
	assert_string_equal(t.news.name, "web03");
	assert_int_equal(session_fixture_asked(t.vmms[2]), VP_MSG_START);
	assert_int_equal(t.s->nfeeds, 4);
	assert_true(t.s->feeds[3].started);
	assert_int_equal(t.s->program.nenabled, enabled + 1);
	assert_int_equal(t.s->program.enabled[enabled]->guest, 2);
	assert_int_equal(global_of(&t, 3, "n", &bytes), 7);
	assert_int_equal(cells_of(&t, 3), 4);
	for (unsigned i = 0; i < 3; i++)
		answer(t.vmms[i], 2);
	assert_ok(vp_drain(t.s, VP_DRAIN_TAKE | VP_DRAIN_GIVE | VP_DRAIN_ALL));
	assert_int_equal(t.records, 1);
	session_fixture_deinit(&t);
}

/* Its engine refuses the program: the session is as before, and the next one joins. */
static void one_is_refused(void **state)
{
	const struct vp_msg_reply no = { .head = { VP_MSG_REPLY, sizeof(no) },
					 .code = OT_ERR_LIMIT,
					 .text = "no room" };
	struct session_fixture t;
	uint32_t guest;
	bool is_new;

	(void)state;
	session_fixture_init(&t, program, 2);
	size_t enabled = t.s->program.nenabled;
	uint32_t clauses = t.prog.nclauses;
	assert_ok(vp_session_adopt(t.s, session_fixture_link(&t, 2, 0), &guest, &is_new));
	session_fixture_put(t.vmms[2], &no, sizeof(no));
	struct ot_err *err = vp_session_join(t.s);
	assert_non_null(err);
	assert_string_equal(ot_err_message(err), "no room");
	ot_err_destroy(err);
	assert_int_equal(t.joined, 0);
	vp_session_reject(t.s);
	close(t.vmms[2]);
	assert_int_equal(t.s->links.n, 2);
	assert_int_equal(t.s->nfeeds, 3);
	assert_int_equal(t.s->program.nenabled, enabled);
	assert_int_equal(t.prog.nclauses, clauses);
	assert_ok(vp_session_adopt(t.s, session_fixture_link(&t, 2, 3), &guest, &is_new));
	assert_ok(vp_session_join(t.s));
	assert_int_equal(t.s->program.nenabled, enabled + 1);
	session_fixture_deinit(&t);
}

/* An engine that does not answer: the other's records are taken, it is not asked again, and its answer counts
 * whenever it comes. */
static void nobody_waits_for_one(void **state)
{
	struct session_fixture t;

	(void)state;
	session_fixture_init(&t, program, 2);
	t.options.temporal = true;
	answer(t.vmms[0], 50);
	assert_ok(vp_drain(t.s, VP_DRAIN_TAKE | VP_DRAIN_GIVE));
	assert_false(t.s->feeds[1].asked.waiting);
	assert_true(t.s->feeds[2].asked.waiting);
	assert_int_equal(t.records, 0); /* its time is not covered yet */
	assert_int_equal(session_fixture_asked(t.vmms[1]), VP_MSG_SWITCH);
	t.s->feeds[2].asked.since_ns -= 10 * OT_NS_PER_SEC;
	assert_ok(vp_exchange_late(t.s));
	assert_int_equal(t.said, 1);
	char text[256];
	snprintf(text, sizeof(text),
		 "guest web02 does not answer (PID %d: is its VMM stopped?): its data waits for it, the "
		 "others' does not",
		 (int)getpid());
	assert_string_equal(t.text, text);
	answer(t.vmms[0], UINT64_MAX);
	assert_ok(vp_drain(t.s, VP_DRAIN_TAKE | VP_DRAIN_GIVE));
	assert_int_equal(t.records, 1); /* BEGIN's */
	assert_int_equal(session_fixture_asked(t.vmms[1]), 0);
	assert_ok(vp_exchange_late(t.s));
	assert_int_equal(t.said, 1);
	answer(t.vmms[1], 60);
	assert_ok(vp_exchange_late(t.s));
	assert_string_equal(t.text, "guest web02 answers again");
	assert_int_equal(t.s->feeds[2].asked.covered_ns, 60);
	session_fixture_deinit(&t);
}

/* Not for half a minute, once that was said. */
static void nor_at_the_end(void **state)
{
	struct session_fixture t;
	enum vp_guest_end how;

	(void)state;
	session_fixture_init(&t, program, 2);
	answer(t.vmms[0], 50);
	assert_ok(vp_drain(t.s, VP_DRAIN_TAKE));
	t.s->feeds[2].asked.since_ns -= 10 * OT_NS_PER_SEC;
	assert_ok(vp_exchange_late(t.s));
	answer(t.vmms[0], 60);
	assert_ok(vp_drain(t.s, VP_DRAIN_TAKE | VP_DRAIN_WAIT));
	assert_true(t.s->feeds[2].gone);
	assert_false(t.s->feeds[1].gone);
	vp_ends_poll(t.s, ot_now_ns());
	assert_string_equal(t.text,
			    "guest web02 is no longer traced: its engine does not answer; the others go on");
	assert_true(vp_session_guest_end(t.s, &how));
	assert_int_equal(how, VP_GUEST_HUNG_UP);
	session_fixture_deinit(&t);
}

static void count(void *arg)
{
	++*(unsigned *)arg;
}

/* While an engine is waited for, whoever has the session can tell others that it lives. */
static void waiting_is_told(void **state)
{
	struct session_fixture t;
	unsigned told = 0;

	(void)state;
	session_fixture_init(&t, program, 2);
	struct vp_client *client = &t.links[1]->client;
	assert_non_null(client->meanwhile);
	assert_ok(client->meanwhile(client->meanwhile_arg)); /* nobody has asked for it */
	t.s->config.waiting = count;
	t.s->config.attach.arg = &told;
	assert_ok(client->meanwhile(client->meanwhile_arg));
	assert_int_equal(told, 1);
	session_fixture_deinit(&t);
}

/* An answer that is none ends that guest's part, and the session's only where there is no other. */
static void nonsense_ends_its_own_part(void **state)
{
	const struct vp_msg nonsense = { VP_MSG_SWITCH_REPLY, 1 };

	(void)state;
	for (unsigned n = 1; n <= 2; n++) {
		struct session_fixture t;
		session_fixture_init(&t, program, n);
		session_fixture_put(t.vmms[n - 1], &nonsense, sizeof(nonsense));
		if (n > 1)
			answer(t.vmms[0], 50);
		struct ot_err *err = vp_drain(t.s, VP_DRAIN_TAKE);
		assert_int_equal(err != NULL, n == 1);
		ot_err_destroy(err);
		vp_ends_poll(t.s, ot_now_ns());
		if (n > 1)
			assert_string_equal(
			    t.text, "guest web02 is no longer traced: the engine sent a broken reply; the "
				    "others go on");
		assert_int_equal(t.said, n - 1);
		session_fixture_deinit(&t);
	}
}

/* Where guests may join, the end of the last one is not the session's, and is no loss. */
static void a_session_waits(void **state)
{
	struct session_fixture t;
	enum vp_guest_end how;

	(void)state;
	session_fixture_init(&t, program, 2);
	t.s->awaits = true;
	for (unsigned i = 0; i < 2; i++) {
		vp_session_may_end(t.s, i);
		vp_feed_status(&t.s->feeds[1 + i])->guest_end = VP_GUEST_TRIPLE_FAULT;
		const struct vp_msg_reply done = { .head = { VP_MSG_REPLY, sizeof(done) } };
		session_fixture_put(t.vmms[i], &done, sizeof(done)); /* STOP */
		answer(t.vmms[i], 1);
		vp_ends_poll(t.s, ot_now_ns());
		assert_ok(vp_ended_leave(t.s));
		assert_true(vp_session_has_left(t.s, i));
		assert_true(vp_session_may_return(t.s, i));
		assert_null(t.s->feeds[1 + i].shared.mem);
		assert_string_equal(t.text,
				    i ? "guest web02 had a triple fault; the session waits for the next one"
				      : "guest web01 had a triple fault; the others go on");
	}
	assert_null(vp_session_gone_reason(t.s));
	assert_false(vp_session_guest_end(t.s, &how));
	assert_ok(vp_drain(t.s, VP_DRAIN_STATUS | VP_DRAIN_TAKE | VP_DRAIN_GIVE));
	session_fixture_deinit(&t);
}

/* Who detaches a guest, or saves it, does not find it attached again. */
static void who_was_detached_stays_out(void **state)
{
	const enum vp_guest_end ends[] = { VP_GUEST_DETACHED, VP_GUEST_SAVED, VP_GUEST_RESET };
	struct session_fixture t;

	(void)state;
	session_fixture_init(&t, program, 2);
	assert_false(vp_session_may_return(t.s, 0));
	t.s->feeds[1].left = true;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(ends); i++) {
		t.s->feeds[1].end = ends[i];
		assert_int_equal(vp_session_may_return(t.s, 0), ends[i] == VP_GUEST_RESET);
	}
	session_fixture_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_begin_as_begin_left_them),
		cmocka_unit_test(one_guest_has_the_operators),
		cmocka_unit_test(who_mixes_them_is_told),
		cmocka_unit_test(one_joins),
		cmocka_unit_test(one_is_refused),
		cmocka_unit_test(nobody_waits_for_one),
		cmocka_unit_test(nor_at_the_end),
		cmocka_unit_test(waiting_is_told),
		cmocka_unit_test(nonsense_ends_its_own_part),
		cmocka_unit_test(a_session_waits),
		cmocka_unit_test(who_was_detached_stays_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
