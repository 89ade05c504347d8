/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/ended: another kernel in the guest's memory ends a session; a change that only resembles one has no
 * effect. Of several guests the last one's end is the session's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/units.h"
#include "guest_fixture.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false };

/* A session on a synthetic guest: feed 0 is the host engine's. */
struct traced {
	struct guest_fixture g;
	struct vp_guest_link link;
	struct vp_feed feeds[2];
	struct vp_session s;
};

static void set_up(struct traced *t)
{
	*t = (struct traced){ 0 };
	guest_fixture_init(&t->g, &layout, 4);
	struct vp_regs regs = guest_regs(&t->g, GUEST_CR3);
	const struct vp_guest_opts opts = { .phys = t->g.phys, .regs = &regs, .nregs = 1 };
	assert_ok(vp_guest_open(&opts, &t->link.guest));
	strcpy(t->link.client.guest_name, "web");
	t->feeds[1] = (struct vp_feed){ .link = &t->link, .started = true };
	t->s.feeds = t->feeds;
	t->s.nfeeds = 2;
}

static void tear_down(struct traced *t)
{
	vp_guest_destroy(t->link.guest);
	guest_fixture_deinit(&t->g);
}

static void check_end(const struct traced *t, enum vp_guest_end expected)
{
	enum vp_guest_end how;

	assert_true(vp_session_guest_end(&t->s, &how));
	assert_int_equal(how, expected);
}

static bool check(struct traced *t, uint64_t second)
{
	return vp_kernels_check(&t->s, second * OT_NS_PER_SEC);
}

static void another_kernel_ends_the_session(void **state)
{
	struct traced t;

	(void)state;
	set_up(&t);
	assert_true(check(&t, 1));
	guest_at(&t.g, GUEST_BASE + GUEST_BANNER_OFF)[14] ^= 1;
	assert_false(check(&t, 2));
	assert_null(t.s.end.gone_reason);
	assert_false(vp_kernel_replaced(&t.feeds[1]));
	assert_false(check(&t, 3));
	assert_non_null(t.s.end.gone_reason);
	assert_string_equal(t.s.end.gone_reason, "guest web rebooted: the kernel that was traced has ended");
	check_end(&t, VP_GUEST_RESET);
	assert_true(vp_kernel_replaced(&t.feeds[1]));
	tear_down(&t);
}

/* Its memory is read while the guest runs. */
static void one_look_is_no_proof(void **state)
{
	struct traced t;

	(void)state;
	set_up(&t);
	for (uint64_t i = 0; i < 6; i++) {
		guest_at(&t.g, GUEST_BASE + GUEST_BANNER_OFF)[14] ^= 1;
		assert_int_equal(check(&t, i), i % 2 == 1);
	}
	assert_null(t.s.end.gone_reason);
	tear_down(&t);
}

/* A session that its engine, or the end of the connection, ended: its message. */
static void says(enum vp_guest_end told, uint32_t pid, bool by_connection, enum vp_guest_end how,
		 const char *text)
{
	struct vp_vcpu_status status = { .guest_end = told };
	struct traced t;

	set_up(&t);
	t.link.client.pid = pid;
	t.feeds[1].opened = true;
	t.feeds[1].ncpus = 1;
	t.feeds[1].shared.mem = (uint8_t *)&status;
	if (by_connection) {
		assert_ok(vp_note_gone(&t.s, &t.feeds[1], ot_err_new(OT_ERR_GUEST_GONE, "it broke")));
		vp_ends_settle(&t.s);
	} else {
		vp_ends_poll(&t.s, ot_now_ns());
	}
	assert_non_null(t.s.end.gone_reason);
	assert_string_equal(t.s.end.gone_reason, text);
	check_end(&t, how);
	tear_down(&t);
}

static void each_end_has_its_sentence(void **state)
{
	const uint32_t us = (uint32_t)getpid(), nobody = INT32_MAX; /* no PID is as large */
	char ended[128];

	(void)state;
	for (int by_connection = 0; by_connection < 2; by_connection++) {
		says(VP_GUEST_DETACHED, us, by_connection, VP_GUEST_DETACHED,
		     "guest web was detached: `outsight detach` removed its engine");
		says(VP_GUEST_SAVED, us, by_connection, VP_GUEST_SAVED,
		     "guest web is being migrated or saved: its probes are out, -g traces it again "
		     "afterwards");
		says(VP_GUEST_CHANGED, us, by_connection, VP_GUEST_CHANGED,
		     "guest web was given other memory or vCPUs: its probes are removed, -g traces it again");
		says(VP_GUEST_LOADED, us, by_connection, VP_GUEST_LOADED,
		     "guest web continued from a saved state: the traced kernel has ended");
		says(VP_GUEST_RESET, us, by_connection, VP_GUEST_RESET,
		     "guest web rebooted: the kernel that was traced has ended");
	}
	snprintf(ended, sizeof(ended), "guest web: its VMM (PID %u) has ended", nobody);
	says(VP_GUEST_RUNS, nobody, true, VP_GUEST_RUNS, ended);
	says(VP_GUEST_CHANGED, nobody, true, VP_GUEST_RUNS, ended);
	snprintf(ended, sizeof(ended),
		 "guest web: the engine in its VMM (PID %u) has closed the connection; the VMM still runs",
		 us);
	says(VP_GUEST_RUNS, us, true, VP_GUEST_HUNG_UP, ended);
}

/* --- several guests --------------------------------------------------------------------------------- */

#define GUESTS 3u

/* Guests of which nothing can be read but their engines' word. */
struct several {
	struct vp_guest_link links[GUESTS];
	struct vp_feed feeds[1 + GUESTS];
	struct vp_vcpu_status status[GUESTS];
	struct vp_session s;
	struct dif_options options;
	unsigned said;
	char text[256];
	/* who has left, in order, as programs learn it */
	unsigned nleft;
	struct {
		uint32_t guest;
		enum vp_guest_end how;
		char name[VP_GUEST_NAME], text[256];
	} left[GUESTS];
};

static void take_text(void *arg, const char *text)
{
	struct several *v = arg;

	v->said++;
	snprintf(v->text, sizeof(v->text), "%s", text);
}

static void take_guest(void *arg, const struct vp_guest_news *news)
{
	struct several *v = arg;

	assert_false(news->joined);
	assert_true(v->nleft < GUESTS);
	v->left[v->nleft].guest = news->guest;
	v->left[v->nleft].how = news->how;
	snprintf(v->left[v->nleft].name, VP_GUEST_NAME, "%s", news->name);
	snprintf(v->left[v->nleft++].text, sizeof(v->left->text), "%s", news->text);
}

static void set_up_several(struct several *v)
{
	*v = (struct several){ 0 };
	dif_options_init(&v->options);
	for (unsigned i = 0; i < GUESTS; i++) {
		v->links[i].client = (struct vp_client){ .sock = -1, .pid = (uint32_t)getpid() };
		snprintf(v->links[i].client.guest_name, VP_GUEST_NAME, "web%u", i + 1);
		v->feeds[1 + i] = (struct vp_feed){ .link = &v->links[i],
						    .opened = true,
						    .has_work = true,
						    .ncpus = 1,
						    .shared.mem = (uint8_t *)&v->status[i] };
	}
	v->s = (struct vp_session){ .feeds = v->feeds,
				    .nfeeds = 1 + GUESTS,
				    .options = &v->options,
				    .sink = { .arg = v, .say = take_text, .guest = take_guest } };
}

/* @guest's engine reports its end, at time @now. */
static void ends(struct several *v, unsigned guest, enum vp_guest_end how, uint64_t now)
{
	v->status[guest].guest_end = how;
	vp_ends_poll(&v->s, now);
}

static void check_ends(struct several *v, unsigned said, const char *text, const char *reason,
		       enum vp_guest_end expected)
{
	enum vp_guest_end how;

	assert_int_equal(v->said, said);
	assert_string_equal(v->text, text);
	if (reason) {
		assert_non_null(vp_session_gone_reason(&v->s));
		assert_string_equal(vp_session_gone_reason(&v->s), reason);
	} else {
		assert_null(vp_session_gone_reason(&v->s));
	}
	assert_true(vp_session_guest_end(&v->s, &how));
	assert_int_equal(how, expected);
	dif_options_deinit(&v->options);
}

/* Each is said once; the last one's end is the session's. */
static void the_others_go_on(void **state)
{
	enum vp_guest_end how;
	struct several v;

	(void)state;
	set_up_several(&v);
	vp_ends_poll(&v.s, 1);
	assert_false(vp_session_guest_end(&v.s, &how));
	ends(&v, 1, VP_GUEST_POWERED_OFF, 2);
	vp_ends_poll(&v.s, 3);
	assert_string_equal(v.text, "guest web2 powered off; the others go on");
	assert_int_equal(v.said, 1);
	ends(&v, 0, VP_GUEST_RESET, 4);
	assert_null(vp_session_gone_reason(&v.s));
	ends(&v, 2, VP_GUEST_POWERED_OFF, 5);
	check_ends(&v, 2, "guest web1 rebooted: the kernel that was traced has ended; the others go on",
		   "guest web3 powered off", VP_GUEST_POWERED_OFF);
}

static void check_left(const struct several *v, unsigned nth, uint32_t guest, enum vp_guest_end how,
		       const char *text)
{
	char name[16];

	snprintf(name, sizeof(name), "web%u", guest + 1);
	assert_int_equal(v->left[nth].guest, guest);
	assert_int_equal(v->left[nth].how, how);
	assert_string_equal(v->left[nth].name, name);
	assert_string_equal(v->left[nth].text, text);
}

/* Programs learn of each end, the last one's too, and once. */
static void each_end_is_news(void **state)
{
	struct several v;

	(void)state;
	set_up_several(&v);
	ends(&v, 1, VP_GUEST_POWERED_OFF, 2);
	vp_ends_poll(&v.s, 3);
	ends(&v, 0, VP_GUEST_TRIPLE_FAULT, 4);
	ends(&v, 2, VP_GUEST_POWERED_OFF, 5);
	vp_ends_poll(&v.s, 6);
	assert_int_equal(v.nleft, 3);
	check_left(&v, 0, 1, VP_GUEST_POWERED_OFF, "guest web2 powered off");
	check_left(&v, 1, 0, VP_GUEST_TRIPLE_FAULT, "guest web1 had a triple fault");
	check_left(&v, 2, 2, VP_GUEST_POWERED_OFF, "guest web3 powered off");
	dif_options_deinit(&v.options);
}

/* One that was lost decides, whenever the others end, and however. */
static void one_that_was_lost_is_enough(void **state)
{
	static const char last[] = "guest web3 powered off";
	struct several v;

	(void)state;
	for (unsigned lost = 0; lost < GUESTS; lost++) {
		set_up_several(&v);
		for (unsigned i = 0; i < GUESTS; i++)
			ends(&v, i, i == lost ? VP_GUEST_TRIPLE_FAULT : VP_GUEST_POWERED_OFF, 1 + i);
		check_ends(&v, 2,
			   lost == 1 ? "guest web2 had a triple fault; the others go on"
				     : "guest web2 powered off; the others go on",
			   lost == 2 ? "guest web3 had a triple fault" : last, VP_GUEST_TRIPLE_FAULT);
	}
}

/* A guest that no probe is in goes on in vain, unless none is in any. */
static void who_has_nothing_to_tell_does_not_count(void **state)
{
	struct several v;

	(void)state;
	for (unsigned any = 0; any < 2; any++) {
		set_up_several(&v);
		for (unsigned i = 0; i < GUESTS; i++)
			v.feeds[1 + i].has_work = any && i == 1;
		ends(&v, 1, VP_GUEST_POWERED_OFF, 1);
		if (any)
			check_ends(&v, 0, "", "guest web2 powered off", VP_GUEST_POWERED_OFF);
		else
			check_ends(&v, 1, "guest web2 powered off; the others go on", NULL,
				   VP_GUEST_POWERED_OFF);
	}
}

/* An engine that has hung up may be that of a VMM that is about to end: the others are not kept waiting, and
 * its end is said once it is known. */
static void nobody_waits_for_a_reason(void **state)
{
	const uint64_t broke = 5 * OT_NS_PER_SEC;
	char text[128];
	struct several v;

	(void)state;
	set_up_several(&v);
	assert_ok(vp_note_gone(&v.s, &v.feeds[1], ot_err_new(OT_ERR_GUEST_GONE, "it broke")));
	vp_ends_poll(&v.s, broke);
	vp_ends_poll(&v.s, broke + OT_NS_PER_SEC);
	assert_int_equal(v.said, 0);
	vp_ends_poll(&v.s, broke + 2 * OT_NS_PER_SEC);
	snprintf(
	    text, sizeof(text),
	    "guest web1: the engine in its VMM (PID %d) has closed the connection; the VMM still runs; the "
	    "others go on",
	    (int)getpid());
	check_ends(&v, 1, text, NULL, VP_GUEST_HUNG_UP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_has_its_sentence),
		cmocka_unit_test(another_kernel_ends_the_session),
		cmocka_unit_test(one_look_is_no_proof),
		cmocka_unit_test(the_others_go_on),
		cmocka_unit_test(each_end_is_news),
		cmocka_unit_test(one_that_was_lost_is_enough),
		cmocka_unit_test(who_has_nothing_to_tell_does_not_count),
		cmocka_unit_test(nobody_waits_for_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
