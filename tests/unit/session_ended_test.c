/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/ended: another kernel in the guest's memory ends a session; a change that only resembles one has no
 * effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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

static bool look(struct traced *t, uint64_t second)
{
	return vp_kernels_look(&t->s, second * OT_NS_PER_SEC);
}

static void another_kernel_ends_the_session(void **state)
{
	struct traced t;

	(void)state;
	set_up(&t);
	assert_true(look(&t, 1));
	guest_at(&t.g, GUEST_BASE + GUEST_BANNER_OFF)[14] ^= 1;
	assert_false(look(&t, 2));
	assert_null(t.s.end.gone_reason);
	assert_false(vp_kernel_replaced(&t.feeds[1]));
	assert_false(look(&t, 3));
	assert_non_null(t.s.end.gone_reason);
	assert_string_equal(t.s.end.gone_reason, "guest web rebooted: the kernel that was traced has ended");
	assert_int_equal(vp_session_guest_end(&t.s), VP_GUEST_RESET);
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
		assert_int_equal(look(&t, i), i % 2 == 1);
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
	t.s.shared.mem = (uint8_t *)&status;
	if (by_connection)
		assert_ok(vp_note_gone(&t.s, &t.feeds[1], ot_err_new(OT_ERR_GUEST_GONE, "it broke")));
	else
		vp_ends_look(&t.s);
	assert_non_null(t.s.end.gone_reason);
	assert_string_equal(t.s.end.gone_reason, text);
	assert_int_equal(vp_session_guest_end(&t.s), how);
	tear_down(&t);
}

static void each_end_has_its_sentence(void **state)
{
	const uint32_t us = (uint32_t)getpid(), nobody = INT32_MAX; /* no PID is as large */
	char ended[128];

	(void)state;
	for (int by_connection = 0; by_connection < 2; by_connection++) {
		says(VP_GUEST_DETACHED, us, by_connection, VP_GUEST_DETACHED,
		     "guest web was detached from: `outsight detach` removed its engine");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_has_its_sentence),
		cmocka_unit_test(another_kernel_ends_the_session),
		cmocka_unit_test(one_look_is_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
