/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader, planner, providers and engine built for the null architecture, whose instructions are unknown: the
 * kernel is found, probes are listed, and each that needs the guest's code is refused with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/orc.h"
#include "vmm-probe/provider/flow.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/sites.h"
#include "vmm-probe/symbolic/block.h"

#define MIB    (1ull << 20)
#define BANNER "Linux version 9.8.7-null (null)"
#define REASON "does not know the instructions of the architecture null"

static uint8_t ram[4 * MIB];

struct world {
	struct vp_phys *phys;
	struct vp_guest *guest;
	struct vp_probes *probes;
};

static void ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static void refused(struct ot_err *err, const char *why)
{
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	if (!strstr(ot_err_message(err), why))
		fail_msg("'%s', not '%s'", ot_err_message(err), why);
	ot_err_destroy(err);
}

/* As System.map has them. */
static const char symbols[] = "0000000200000000 T _text\n"
			      "0000000200004000 T null_function\n"
			      "0000000200004040 T null_end\n"
			      "0000000200005000 D sys_call_table\n"
			      "0000000200005800 D null_data\n";

static int setup(void **state)
{
	char list[] = "/tmp/arch_null.XXXXXX";
	int fd = mkstemp(list);
	struct world *w = calloc(1, sizeof(*w));
	struct vp_regs regs = { .valid = 0 };

	assert_non_null(w);
	memcpy(ram + 0x3000, BANNER, sizeof(BANNER));
	ok(vp_phys_create(&w->phys));
	ok(vp_phys_add_memory(w->phys, vp_gpa(VP_KERNEL_MAP_START), sizeof(ram), ram));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, symbols, sizeof(symbols) - 1), sizeof(symbols) - 1);
	close(fd);
	struct vp_guest_opts opts = { .phys = w->phys, .regs = &regs, .nregs = 1, .symbols = list };
	struct ot_err *err = vp_guest_open(&opts, &w->guest);
	unlink(list);
	ok(err);
	ok(vp_probes_create(w->guest, &w->probes));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_probes_destroy(w->probes);
	vp_guest_destroy(w->guest);
	vp_phys_destroy(w->phys);
	free(w);
	return 0;
}

static void the_kernel_is_found(void **state)
{
	struct world *w = *state;

	assert_string_equal(vp_guest_kernel(w->guest)->release, "9.8.7-null");
	assert_int_equal(vp_guest_kernel(w->guest)->base.v, VP_KERNEL_MAP_START);
}

static void no_stack_tables(void **state)
{
	struct world *w = *state;
	struct ot_buf out = { 0 };
	struct ot_err *err = vp_orc_table(w->guest, &out);

	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
	ot_buf_deinit(&out);
}

/* What needs no code works: a timer has an id, and no place in the guest. */
static void timers_remain(void **state)
{
	struct world *w = *state;
	struct dif_probedesc desc = {
		.guest = "", .provider = "profile", .module = "", .function = "", .name = "tick-1s"
	};
	uint64_t n;

	ok(vp_probes_match(w->probes, &desc, false, NULL, NULL, &n));
	assert_int_equal(n, 1);
}

static bool remember(void *arg, const struct vp_probe *probe)
{
	*(const struct vp_probe **)arg = probe;
	return true;
}

/* They are listed by the symbols; where they are is refused. */
static void functions_are_refused(void **state)
{
	static const char *const names[] = { "entry", "return" };
	struct world *w = *state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++) {
		struct dif_probedesc desc = { .guest = "",
					      .provider = "fbt",
					      .module = "",
					      .function = "null_function",
					      .name = names[i] };
		struct vp_batch_site *sites = NULL;
		const struct vp_probe *probe;
		uint32_t count = 0;
		uint64_t n;

		ok(vp_probes_match(w->probes, &desc, false, remember, &probe, &n));
		assert_int_equal(n, 1);
		refused(vp_probes_sites(w->probes, probe, &sites, &count), REASON);
		assert_null(sites);
	}
}

/* It has no system calls that could be told from other functions by their names. */
static void no_system_calls(void **state)
{
	struct world *w = *state;
	struct dif_probedesc desc = {
		.guest = "", .provider = "syscall", .module = "", .function = "", .name = ""
	};
	uint64_t n;

	ok(vp_probes_match(w->probes, &desc, true, NULL, NULL, &n));
	assert_int_equal(n, 0);
}

static void text_is_not_searched(void **state)
{
	struct world *w = *state;
	const struct vp_flow_env env = { .symtab = vp_guest_symtab(w->guest) };
	struct vp_exits exits = { 0 };
	enum vp_reach reach;
	struct vp_text *text;
	const uint8_t bytes[8] = { 0 };

	refused(vp_probes_text(w->probes, &text), REASON);
	refused(vp_exits_find(VP_KERNEL_MAP_START, bytes, sizeof(bytes), &exits), REASON);
	refused(vp_flow_reaches(&env, 0, 0, VP_KERNEL_MAP_START, &reach), REASON);
	assert_int_equal(reach, VP_REACH_UNKNOWN);
	assert_int_equal(vp_entry_offset(bytes, sizeof(bytes)), 0);
	vp_exits_deinit(&exits);
}

static void nothing_is_trapped(void **state)
{
	struct world *w = *state;
	const struct vp_batch_site site = { .length = 3, .room = 4 };

	refused(vp_probes_plan(w->probes, VP_TRAPS_TEXT, VP_WISH_AUTO, NULL), REASON);
	assert_null(vp_probes_planner(w->probes));
	assert_int_equal(vp_planner_covers(&site), 3);
}

/* The state that expressions are made over has this architecture's registers. */
static void expressions(void **state)
{
	struct vp_exprs exprs;
	struct vp_state s;
	const struct vp_expr *e;

	(void)state;
	vp_exprs_init(&exprs);
	vp_state_init(&s, &exprs);
	e = vp_expr_add(&exprs, s.regs[VP_REG_SP], 16);
	vp_state_store(&s, e, 8, vp_expr_const(&exprs, 7));
	assert_true(vp_expr_equal(vp_state_load(&s, &exprs, e, 8), vp_expr_const(&exprs, 7)));
	vp_state_call(&s);
	assert_null(s.regs[VP_REG_RESULT]);
	assert_non_null(s.regs[VP_REG_FP]);
	vp_exprs_deinit(&exprs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_kernel_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(no_stack_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(timers_remain, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(no_system_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(text_is_not_searched, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_trapped, setup, teardown),
		cmocka_unit_test(expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
