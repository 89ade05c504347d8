/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpc's names, and which of its probes exist in a guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "provider_fixture.h"
#include "vmm-probe/provider/cpc_name.h"

static void names(void **state)
{
	static const struct {
		const char *name;
		struct vp_cpc_event is;
	} good[] = {
		{ "PAPI_tot_cyc-kernel-10000000",
		  { PERF_COUNT_HW_CPU_CYCLES, 10000000, PERF_TYPE_HARDWARE, VP_CPC_KERNEL } },
		{ "cpu_cycles-all-5000", { PERF_COUNT_HW_CPU_CYCLES, 5000, PERF_TYPE_HARDWARE, VP_CPC_ALL } },
		{ "branch_misses-user-0005000",
		  { PERF_COUNT_HW_BRANCH_MISSES, 5000, PERF_TYPE_HARDWARE, VP_CPC_USER } },
		/* the kernel's encoding: cache, operation << 8, result << 16 */
		{ "dtlb_load_misses-all-10000", { 0x10003, 10000, PERF_TYPE_HW_CACHE, VP_CPC_ALL } },
		{ "l1_dcache_stores-all-10000", { 0x100, 10000, PERF_TYPE_HW_CACHE, VP_CPC_ALL } },
		{ "cpu_clock-all-200000",
		  { PERF_COUNT_SW_CPU_CLOCK, 200000, PERF_TYPE_SOFTWARE, VP_CPC_ALL } },
		{ "page_faults-all-5000",
		  { PERF_COUNT_SW_PAGE_FAULTS, 5000, PERF_TYPE_SOFTWARE, VP_CPC_ALL } },
		{ "r01c2-all-100000", { 0x1c2, 100000, PERF_TYPE_RAW, VP_CPC_ALL } },
		{ "rffffffffffffffff-user-9223372036854775807",
		  { UINT64_MAX, INT64_MAX, PERF_TYPE_RAW, VP_CPC_USER } },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(good); i++) {
		struct vp_cpc_event e;
		if (!vp_cpc_parse(good[i].name, &e))
			fail_msg("%s is refused", good[i].name);
		assert_true(vp_cpc_is_same(&e, &good[i].is));
	}
}

/* Each is refused, with a reason that has this in it. */
static void bad_names(void **state)
{
	static const struct {
		const char *name, *reason;
	} bad[] = {
		{ "", "lists them" },
		{ "-", "lists them" },
		{ "---", "lists them" },
		{ "%s%n-all-5000", "lists them" },
		{ "cpu_cycle-all-5000", "did you mean the event cpu_cycles?" },
		{ "CPU_CYCLES-all-5000", "lists them" },
		{ " cpu_cycles-all-5000", "lists them" },
		{ "r-all-5000", "lists them" },
		{ "r0x1c2-all-5000", "lists them" },
		{ "r1C2-all-5000", "lists them" },
		{ "r12345678901234567-all-5000", "lists them" },
		{ "cpu_cycles", "a mode is user, kernel or all" },
		{ "cpu_cycles-", "a mode is user, kernel or all" },
		{ "cpu_cycles--5000", "a mode is user, kernel or all" },
		{ "cpu_cycles-5000", "a mode is user, kernel or all" },
		{ "cpu_cycles-ALL-5000", "a mode is user, kernel or all" },
		{ "cpu_cycles-all", "a count is a decimal number" },
		{ "cpu_cycles-all-", "a count is a decimal number" },
		{ "cpu_cycles-all--5000", "a count is a decimal number" },
		{ "cpu_cycles-all-+5000", "a count is a decimal number" },
		{ "cpu_cycles-all-0x5000", "a count is a decimal number" },
		{ "cpu_cycles-all-5000hz", "a count is a decimal number" },
		{ "cpu_cycles-all-5000-1", "a count is a decimal number" },
		{ "cpu_cycles-all-umask-5000", "a count is a decimal number" },
		{ "cpu_cycles-all-18446744073709551616", "a count is a decimal number" },
		{ "cpu_cycles-all-9223372036854775808", "9223372036854775807 is the largest" },
		{ "cpu_cycles-all-4999", "5000 is the smallest: cpc:::cpu_cycles-all-5000" },
		{ "cpu_cycles-all-0", "5000 is the smallest" },
		{ "cpu_clock-kernel-199999", "200000 is the smallest: cpc:::cpu_clock-kernel-200000" },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		struct vp_cpc_event e;
		struct ot_buf text;
		if (vp_cpc_parse(bad[i].name, &e))
			fail_msg("%s is taken", bad[i].name);
		ot_buf_init(&text);
		assert_true(vp_cpc_hint(bad[i].name, &text));
		ot_buf_putc(&text, '\0');
		if (!strstr((const char *)text.data, bad[i].reason))
			fail_msg("%s: %s", bad[i].name, (const char *)text.data);
		ot_buf_deinit(&text);
	}
}

static void a_long_name(void **state)
{
	static char name[100000];
	struct vp_cpc_event e;
	struct ot_buf text;
	(void)state;

	for (const char *c = "r0-\xff"; *c; c++) {
		memset(name, *c, sizeof(name) - 1);
		assert_false(vp_cpc_parse(name, &e));
		ot_buf_init(&text);
		assert_true(vp_cpc_hint(name, &text));
		ot_buf_deinit(&text);
	}
}

static void all_events_have_a_name(void **state)
{
	const char *name;
	size_t n = 0;
	(void)state;

	for (; (name = vp_cpc_event_name(n)); n++) {
		char probe[64];
		struct vp_cpc_event e;
		snprintf(probe, sizeof(probe), "%s-all-1000000000", name);
		assert_true(vp_cpc_parse(probe, &e));
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(vp_cpc_event_name(i), name);
	}
	assert_true(n > 40);
}

/* --- in a guest --------------------------------------------------------------------------------------- */

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

static uint64_t match(struct world *w, const char *name, bool with_refused, const struct vp_probe **ret)
{
	struct dif_probedesc desc = {
		.guest = "", .provider = "cpc", .module = "", .function = "", .name = name
	};
	uint64_t n;

	assert_ok(vp_probes_match(w->probes, &desc, with_refused, remember, ret, &n));
	return n;
}

static struct ot_err *only_raw(void *arg, const struct vp_cpc_event *event)
{
	unsigned *asked = arg;

	++*asked;
	return event->type == PERF_TYPE_RAW ? NULL : ot_err_new(OT_ERR_UNSUPPORTED, "no PMU");
}

static void probes_exist_where_events_are_counted(void **state)
{
	struct world *w = *state;
	const struct vp_probe *p = NULL;
	struct vp_batch_probe bp;
	unsigned asked = 0;

	vp_probes_set_cpc(w->probes, &(struct vp_cpc_support){ only_raw, &asked });
	assert_int_equal(match(w, "r1c2-user-7000", false, &p), 1);
	assert_int_equal(asked, 1);
	assert_int_equal(match(w, "r1c2-user-7000", false, &p), 1); /* neither asked nor created again */
	assert_int_equal(asked, 1);
	vp_probes_fill(w->probes, p, &bp);
	assert_int_equal(bp.kind, VP_PROBE_CPC);
	assert_int_equal(bp.args, VP_ARGS_PROFILE);
	assert_true(
	    vp_cpc_is_same(&bp.cpc, &(struct vp_cpc_event){ 0x1c2, 7000, PERF_TYPE_RAW, VP_CPC_USER }));
	assert_int_equal(match(w, "instructions-all-1000000000", false, &p), 0);
	assert_int_equal(match(w, "instructions-all-1000000000", true, &p), 1);
	assert_string_equal(p->refused, "no PMU");
	assert_int_equal(match(w, "instructions-all-1000001", true, &p), 1);
	assert_string_equal(p->refused, "no PMU");
}

static void without_an_engine_there_are_none(void **state)
{
	struct world *w = *state;
	const struct vp_probe *p = NULL;

	assert_int_equal(match(w, "*", false, &p), 0);
	assert_true(match(w, "*", true, &p) > 40);
	assert_non_null(p->refused);
}

static int teardown(void **state)
{
	return world_destroy(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(bad_names),
		cmocka_unit_test(a_long_name),
		cmocka_unit_test(all_events_have_a_name),
		cmocka_unit_test_setup_teardown(probes_exist_where_events_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(without_an_engine_there_are_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
