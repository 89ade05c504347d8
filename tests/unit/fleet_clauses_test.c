/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a program's clauses a host enables, and what it does not allow: fleet/host/clauses.c and rights.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "fleet/host/clauses.h"
#include "fleet/host/rights.h"

static struct dif_object number = { .ret = { .size = 8 } };

static struct dif_clause on(const char *provider, const char *name, struct dif_action *actions, uint32_t n)
{
	return (struct dif_clause){
		.probe = { "", provider, "", "", name, 0 }, .actions = actions, .nactions = n, .line = 7
	};
}

/* --- BEGIN ---------------------------------------------------------------------------------------------- */

static void test_begin(void **state)
{
	struct dif_action actions[] = {
		{ .kind = DIF_ACT_difexpr, .object = &number, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number, .uarg = 2, .format = "%d" },
		{ .kind = DIF_ACT_printf, .uarg = 3, .format = "x" },
		{ .kind = DIF_ACT_system, .object = &number, .uarg = 4, .format = "rm %d" },
		{ .kind = DIF_ACT_difexpr, .object = &number, .is_key = true },
		{ .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 2, .aggid = 1 },
		{ .kind = DIF_ACT_libact, .object = &number, .arg = DIF_LIBACT_SETOPT, .uarg = 5 },
		{ .kind = DIF_ACT_printa, .aggid = 1, .uarg = 6 },
		{ .kind = DIF_ACT_stop },
		{ .kind = DIF_ACT_chill, .object = &number },
		{ .kind = DIF_ACT_exit, .object = &number, .uarg = 7 },
	};
	const struct dif_clause clause = on("dtrace", "BEGIN", actions, OT_ARRAY_SIZE(actions));
	static const struct {
		unsigned kind;
		bool has_object;
	} want[] = { { DIF_ACT_difexpr, true }, { DIF_ACT_difexpr, true }, { DIF_ACT_difexpr, true },
		     { DIF_ACT_difexpr, true }, { DIF_AGG_count, false },  { DIF_ACT_difexpr, true },
		     { DIF_ACT_difexpr, true } };
	struct dif_clause quiet;
	struct fl_deeds deeds;
	struct ot_arena arena;

	(void)state;
	ot_arena_init(&arena);
	assert_null(fl_clauses_quiet(&clause, &arena, &quiet));
	assert_int_equal(quiet.nactions, OT_ARRAY_SIZE(want));
	for (size_t i = 0; i < OT_ARRAY_SIZE(want); i++) {
		assert_int_equal(quiet.actions[i].kind, want[i].kind);
		assert_int_equal(quiet.actions[i].object != NULL, want[i].has_object);
		assert_null(quiet.actions[i].format);
	}
	assert_true(quiet.actions[3].is_key);
	fl_deeds_of(&quiet, &deeds);
	assert_null(deeds.destructive);
	assert_null(deeds.of_operator);
	fl_deeds_of(&clause, &deeds); /* the clause itself is as it was */
	assert_string_equal(deeds.destructive, "chill");
	assert_non_null(deeds.of_operator);
	ot_arena_deinit(&arena);
}

/* --- parts ---------------------------------------------------------------------------------------------- */

/* The parts of a clause, as "provider:name@guest" each. */
static void parts(const char *guest, struct fl_matched m, const char *want)
{
	struct dif_action act = { .kind = DIF_ACT_printf, .format = "x" };
	struct dif_clause clause = on("", "", &act, 1), got[3];
	struct ot_arena arena;
	struct ot_buf text;
	uint32_t n;

	clause.probe.guest = guest;
	ot_arena_init(&arena);
	ot_buf_init(&text);
	assert_null(fl_clauses_parts(&clause, &m, &arena, got, &n));
	for (uint32_t i = 0; i < n; i++)
		ot_buf_printf(&text, "%s:%s@%s/%u ", got[i].probe.provider, got[i].probe.name,
			      got[i].probe.guest ? got[i].probe.guest : "", got[i].nactions);
	assert_string_equal(ot_buf_str(&text), want);
	ot_buf_deinit(&text);
	ot_arena_deinit(&arena);
}

static void test_parts(void **state)
{
	(void)state;
	parts("", (struct fl_matched){ .guests = 5 }, ":@/1 ");
	parts("", (struct fl_matched){ .errors = 1 }, ":@/1 ");
	parts("", (struct fl_matched){ 0 }, ":@/1 ");
	parts("", (struct fl_matched){ .others = 2 }, "");
	parts("", (struct fl_matched){ .begin = 1 }, "dtrace:BEGIN@/0 ");
	/* dtrace::: */
	parts("", (struct fl_matched){ .begin = 1, .others = 1, .errors = 1 },
	      "dtrace:BEGIN@/0 dtrace:ERROR@/1 ");
	/* ::: means guests' probes too, and those of no host */
	parts("", (struct fl_matched){ .begin = 1, .others = 1, .errors = 1, .guests = 9 },
	      "dtrace:BEGIN@/0 dtrace:ERROR@/1 :@*/1 ");
	parts(NULL, (struct fl_matched){ .others = 1, .guests = 9 }, ":@*/1 ");
	parts("web*", (struct fl_matched){ .guests = 9 }, ":@web*/1 ");
}

/* --- variables ------------------------------------------------------------------------------------------ */

/* A clause that uses a global; 'r' or 'w'. */
static void use(struct fl_apart *a, const char *name, char how, bool of_operator)
{
	char strs[32] = "";
	struct dif_var var = { .name = 1, .id = DIF_VAR_USER_MIN, .scope = DIF_SCOPE_GLOBAL };
	struct dif_object object = { .strs = strs, .str_len = sizeof(strs), .vars = &var, .var_len = 1 };
	struct dif_action action = { .kind = DIF_ACT_difexpr, .object = &object };
	const struct dif_clause clause = { .actions = &action, .nactions = 1 };

	snprintf(strs + 1, sizeof(strs) - 1, "%s", name);
	var.flags = how == 'r' ? DIF_VARF_REF : DIF_VARF_MOD;
	assert_null(fl_apart_see(a, &clause, of_operator));
}

static void said(const struct fl_apart *a, const char *want)
{
	struct ot_buf out;

	ot_buf_init(&out);
	fl_apart_print(a, &out);
	assert_string_equal(ot_buf_str(&out), want);
	ot_buf_deinit(&out);
}

/* What both only read, or only one side uses, is no mistake. */
static void test_apart(void **state)
{
	static const char sentence[] =
	    "n%s: each guest has its own in clauses of its probes, the operator another in END and ticks: "
	    "neither sees what the other writes (aggregations are common to all)";
	char want[256];
	struct fl_apart a;

	(void)state;
	fl_apart_init(&a);
	use(&a, "same", 'r', true);
	use(&a, "same", 'r', false);
	use(&a, "guests", 'r', false);
	use(&a, "guests", 'w', false);
	use(&a, "operators", 'w', true);
	use(&a, "operators", 'r', true);
	said(&a, "");
	use(&a, "n", 'w', false);
	use(&a, "n", 'r', true);
	snprintf(want, sizeof(want), sentence, "");
	said(&a, want);
	use(&a, "more", 'r', false);
	use(&a, "more", 'w', true);
	snprintf(want, sizeof(want), sentence, " and others");
	said(&a, want);
	fl_apart_deinit(&a);
}

/* --- rights --------------------------------------------------------------------------------------------- */

/* What an object does that consists of one instruction. */
static void deeds_of_insn(uint32_t insn, struct fl_deeds *ret)
{
	struct dif_object object = { .text = &insn, .text_len = 1, .ret = { .size = 8 } };
	struct dif_action action = { .kind = DIF_ACT_difexpr, .object = &object };
	const struct dif_clause clause = on("fbt", "entry", &action, 1);

	fl_deeds_of(&clause, ret);
}

static void test_deeds(void **state)
{
	struct fl_deeds d;

	(void)state;
	deeds_of_insn(dif_insn_index(DIF_OP_call, DIF_SUBR_copyinstr, 1), &d);
	assert_string_equal(d.user_memory, "copyinstr");
	assert_null(d.destructive);
	deeds_of_insn(dif_insn_index(DIF_OP_call, DIF_SUBR_copyout, 1), &d);
	assert_string_equal(d.destructive, "copyout");
	deeds_of_insn(dif_insn(DIF_OP_ulduw, 1, 0, 2), &d);
	assert_non_null(d.user_memory);
	deeds_of_insn(dif_insn_index(DIF_OP_ldgs, DIF_VAR_execargs, 1), &d);
	assert_string_equal(d.user_memory, "execargs");
	deeds_of_insn(dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 1), &d);
	assert_null(d.user_memory);
	deeds_of_insn(dif_insn_index(DIF_OP_call, DIF_SUBR_strlen, 1), &d);
	assert_null(d.user_memory);
	assert_null(d.destructive);
	assert_null(d.of_operator);
	/* the stack of a process is not its memory */
	struct dif_action stack = { .kind = DIF_ACT_ustack };
	const struct dif_clause clause = on("fbt", "entry", &stack, 1);
	fl_deeds_of(&clause, &d);
	assert_null(d.user_memory);
}

/* What is said of a clause with one action, on a host with these rights; NULL: it is allowed. */
static void check(const struct fl_rights *rights, struct dif_action action, bool is_script,
		  enum ot_err_code code, const char *want)
{
	struct con_program program = { .is_script = is_script, .arg = is_script ? "x.d" : "f { }" };
	const struct con_texts texts = { .items = &program, .count = 1 };
	struct dif_clause clause = on("fbt", "entry", &action, 1);
	struct con_compilation c = { .prog = { .clauses = &clause, .nclauses = 1 } };
	struct ot_err *err = fl_rights_check(rights, &texts, &c, 0, NULL);

	if (!want) {
		assert_null(err);
		return;
	}
	assert_non_null(err);
	assert_string_equal(ot_err_message(err), want);
	assert_int_equal(ot_err_code(err), code);
	ot_err_destroy(err);
}

static void test_rights(void **state)
{
	const struct fl_rights none = { 0 }, all = { .destructive = true, .user_memory = true };
	uint32_t copyin = dif_insn_index(DIF_OP_call, DIF_SUBR_copyin, 1);
	struct dif_object reads = { .text = &copyin, .text_len = 1, .ret = { .size = 8 } };
	const struct dif_action stop = { .kind = DIF_ACT_stop },
				system = { .kind = DIF_ACT_system, .format = "x" },
				trace = { .kind = DIF_ACT_difexpr, .object = &reads },
				clear = { .kind = DIF_ACT_libact, .arg = DIF_LIBACT_CLEAR, .aggid = 1 };

	(void)state;
	check(NULL, stop, true, 0, NULL);
	check(&all, stop, true, 0, NULL);
	check(&all, trace, true, 0, NULL);
	check(&none, clear, true, 0, NULL);
	check(&none, stop, true, OT_ERR_PERMISSION,
	      "failed to compile script x.d: line 7: stop( ): this host does not allow destructive actions");
	check(&none, trace, false, OT_ERR_PERMISSION,
	      "invalid probe specifier f { }: copyin: this host does not allow reading the memory of "
	      "processes");
	/* nobody's rights are enough */
	check(&all, system, false, OT_ERR_UNSUPPORTED,
	      "invalid probe specifier f { }: system( ) in a clause of a guest's probes: no host decides "
	      "what is done on "
	      "the operator's machine; use it in BEGIN, in END or in a tick");
	check(NULL, system, true, OT_ERR_UNSUPPORTED,
	      "failed to compile script x.d: line 7: system( ) in a clause of a guest's probes: no host "
	      "decides what is "
	      "done on the operator's machine; use it in BEGIN, in END or in a tick");
}

static void test_limits(void **state)
{
	const struct fl_rights rights = { .maxcost = 5, .ttl_s = 60 };
	struct dif_options opts;

	(void)state;
	dif_options_init(&opts);
	opts.destructive = true;
	fl_rights_limit(NULL, &opts);
	assert_true(opts.destructive);
	assert_int_equal(opts.maxcost, 20);
	fl_rights_limit(&rights, &opts);
	assert_false(opts.destructive);
	assert_int_equal(opts.maxcost, 5);
	assert_int_equal(opts.ttl_ns, 60 * OT_NS_PER_SEC);
	opts.maxcost = 2;
	opts.ttl_ns = OT_NS_PER_SEC;
	fl_rights_limit(&rights, &opts); /* less is allowed */
	assert_int_equal(opts.maxcost, 2);
	assert_int_equal(opts.ttl_ns, OT_NS_PER_SEC);
	opts.maxcost = 0; /* any */
	fl_rights_limit(&rights, &opts);
	assert_int_equal(opts.maxcost, 5);
	dif_options_deinit(&opts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin), cmocka_unit_test(test_parts),  cmocka_unit_test(test_apart),
		cmocka_unit_test(test_deeds), cmocka_unit_test(test_rights), cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
