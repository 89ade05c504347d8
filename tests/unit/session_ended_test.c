/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/ended: another kernel in the guest's memory ends a session, what only seems one does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "guest_fixture.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/session/internal.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false };

/* A session on a synthetic guest: source 0 is the host engine's. */
struct traced {
	struct guest_fixture g;
	struct vp_guest_link link;
	struct vp_source sources[2];
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
	t->sources[1] = (struct vp_source){ .link = &t->link, .started = true };
	t->s.sources = t->sources;
	t->s.nsources = 2;
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
	assert_null(t.s.gone_reason);
	assert_false(look(&t, 3));
	assert_non_null(t.s.gone_reason);
	assert_string_equal(t.s.gone_reason, "guest web rebooted: the kernel that was traced has ended");
	assert_int_equal(vp_session_guest_end(&t.s), VP_GUEST_RESET);
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
	assert_null(t.s.gone_reason);
	tear_down(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_kernel_ends_the_session),
		cmocka_unit_test(one_look_is_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
