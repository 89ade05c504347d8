/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pid provider without a process, and user without a file: what a description may say, which object it
 * means, and why there are no probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "provider_fixture.h"
#include "vmm-probe/provider/pid_process.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static int setup(void **state)
{
	struct world *w = world_create(&layout);

	ks_write(&layout, guest_at(&w->g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, w->g.syms,
		 &w->g.ks);
	world_open(w);
	assert_ok(vp_probes_create(w->guest, &w->probes));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	return world_destroy(state);
}

/* The description's error begins so; NULL: it has none, and matches nothing. */
static void expect_in(struct world *w, const char *provider, const char *module, const char *function,
		      const char *name, const char *says)
{
	const struct dif_probedesc desc = {
		.guest = "", .provider = provider, .module = module, .function = function, .name = name
	};
	const struct vp_probe *p;
	uint64_t n = 0;
	struct ot_err *err = vp_probes_match(w->probes, &desc, true, remember, &p, &n);

	assert_int_equal(n, 0);
	assert_int_equal(err != NULL, says != NULL);
	if (err && strncmp(ot_err_message(err), says, strlen(says)) != 0)
		fail_msg("%s", ot_err_message(err));
	ot_err_destroy(err);
}

static void expect(struct world *w, const char *provider, const char *function, const char *name,
		   const char *says)
{
	expect_in(w, provider, "", function, name, says);
}

static void refused(void **state)
{
	struct world *w = *state;

	expect(w, "pid1", "main", "entry", "D_PROC_NODEV: no CPU runs this guest");
	assert_ok(vp_probes_set_processes(w->probes, "it is a stone"));
	expect(w, "pid1", "main", "entry", "D_PROC_NODEV: it is a stone");
	assert_ok(vp_probes_set_processes(w->probes, NULL));
	expect(w, "pid1", "main", "beginning", "D_PROC_NAME: invalid probe name: beginning");
	expect(w, "pid1", "-", "4f0", "D_PROC_OFF: ");
	expect(w, "pid1", "main", "entry", "D_PROC_CREATEFAIL: no process can be probed: "); /* no types */
}

/* Only a number behind the name makes probes. */
static void of_no_process(void **state)
{
	struct world *w = *state;

	expect(w, "pid", "main", "entry", NULL);
	expect(w, "pid*", "main", "entry", NULL);
	expect(w, "pid1x", "main", "entry", NULL);
	/* another program's */
	expect(w, "xpid1", "main", "entry", "D_PROC_NODEV: no CPU runs this guest");
}

/* user's probes are in a file, which its description names. */
static void of_a_file(void **state)
{
	struct world *w = *state;

	expect_in(w, "user", "libc.so.6", "malloc", "entry", "D_PROC_NODEV: no CPU runs this guest");
	assert_ok(vp_probes_set_processes(w->probes, "it is a stone"));
	expect_in(w, "user", "libc.so.6", "malloc", "entry", "D_PROC_NODEV: it is a stone");
	assert_ok(vp_probes_set_processes(w->probes, NULL));
	expect_in(w, "user", "", "malloc", "entry", "D_PROC_LIB: user's probes are in a file");
	expect_in(w, "user", "**", "malloc", "entry", "D_PROC_LIB: user's probes are in a file");
	expect_in(w, "user", "a.out", "main", "entry", "D_PROC_LIB: a.out is the program of a process");
	expect_in(w, "user", "libc.so.6", "malloc", "entry",
		  "D_PROC_NODEV: the guest's kernel shows no table of pages (vmemmap_base)");
	/* by its name only */
	expect_in(w, "", "libc.so.6", "malloc", "entry", NULL);
	expect_in(w, "users", "libc.so.6", "malloc", "entry", NULL);
}

static void objects(void **state)
{
	static const char *const yes[] = { NULL, "", "*", "libc", "libc.so", "libc.so.6", "lib?.so*" };
	static const char *const no[] = { "lib", "libc.so.7", "a.out", "libc.", "c.so.6" };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(yes); i++)
		assert_true(vp_pid_object_is("libc.so.6", false, yes[i]));
	for (size_t i = 0; i < OT_ARRAY_SIZE(no); i++)
		assert_false(vp_pid_object_is("libc.so.6", false, no[i]));
	assert_true(vp_pid_object_is("date", true, "a.out"));
	assert_true(vp_pid_object_is("date", true, "date"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(of_no_process, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_file, setup, teardown),
		cmocka_unit_test(objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
