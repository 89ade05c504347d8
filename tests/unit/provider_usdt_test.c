/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The static probes of programs without a process: which descriptions mean them, and what is said of those
 * that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "provider_fixture.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/usdt_make.h"

#define STONE "D_PROC_NODEV: it is a stone"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static int setup(void **state)
{
	struct world *w = world_create(&layout);

	ks_write(&layout, guest_at(&w->g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, w->g.syms,
		 &w->g.ks);
	world_open(w);
	assert_ok(vp_probes_create(w->guest, &w->probes));
	assert_ok(vp_probes_set_processes(w->probes, "it is a stone"));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	return world_destroy(state);
}

static struct dif_probedesc description(const char *provider)
{
	return (struct dif_probedesc){
		.guest = "", .provider = provider, .module = "", .function = "", .name = "no-such-name"
	};
}

/* The error of a description with @p provider begins so; NULL: it has none. */
static void expect(struct world *w, const char *provider, const char *says)
{
	const struct dif_probedesc desc = description(provider);
	const struct vp_probe *p;
	uint64_t n = 0;
	struct ot_err *err = vp_probes_match(w->probes, &desc, true, remember, &p, &n);

	assert_int_equal(n, 0);
	if ((err != NULL) != (says != NULL) || (err && strncmp(ot_err_message(err), says, strlen(says)) != 0))
		fail_msg("%s: %s", provider, err ? ot_err_message(err) : "no error");
	ot_err_destroy(err);
}

/* Those with a number behind a name. */
static void numbers(void **state)
{
	static const char *const processes[] = { "python1", "sdt1",   "vm12", "pid_1",
						 "pids2",   "py*123", "*1",   "my.prov7" };
	static const char *const others[] = { "python", "python*", "sdt", "syscall",  "s*",  "*",    "",
					      "?*",     "1",       "123", "python1x", "vm*", "[ps]*" };
	struct world *w = *state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(processes); i++)
		expect(w, processes[i], STONE);
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++)
		expect(w, others[i], NULL);
}

/* With -p a pattern needs none, but never means what a provider of the kernel is called. */
static void target(void **state)
{
	static const char *const processes[] = { "python*", "python[0-9]*", "?ython*", "python1" };
	static const char *const others[] = { "python", "s*",    "*",        "?*",       "**",
					      "",       "proc*", "profile*", "sysca[l]l" };
	struct world *w = *state;

	vp_probes_set_target(w->probes, 123);
	for (size_t i = 0; i < OT_ARRAY_SIZE(processes); i++)
		expect(w, processes[i], STONE);
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++)
		expect(w, others[i], NULL);
}

static void bad_numbers(void **state)
{
	struct world *w = *state;

	assert_ok(vp_probes_set_processes(w->probes, NULL));
	expect(w, "python0", "D_PROC_BADPID: python0 contains an invalid pid");
	expect(w, "python99999999999", "D_PROC_BADPID: ");
	expect(w, "python4294967297", "D_PROC_BADPID: ");
	expect(w, "python1", "D_PROC_CREATEFAIL: no process can be probed: "); /* no types */
}

/* A program's name without its number: how to give it. A pattern that no program has matched. */
static void hints(void **state)
{
	static const char *const programs[] = { "python", "python*", "python[0-9]" };
	static const char *const says[] = { "python123, or python* for every process",
					    "with -Z the session waits", "with -Z the session waits" };
	static const char *const others[] = { "sdt", "s*", "", "*", "python1" };
	struct world *w = *state;
	struct ot_buf out;

	assert_ok(vp_probes_set_processes(w->probes, NULL));
	ot_buf_init(&out);
	for (size_t i = 0; i < OT_ARRAY_SIZE(programs); i++) {
		const struct dif_probedesc desc = description(programs[i]);

		ot_buf_clear(&out);
		assert_true(vp_probes_hint(w->probes, &desc, &out));
		assert_non_null(strstr(ot_buf_str(&out), says[i]));
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++) {
		const struct dif_probedesc desc = description(others[i]);

		ot_buf_clear(&out);
		vp_probes_hint(w->probes, &desc, &out);
		assert_null(strstr(ot_buf_str(&out), "is no provider of the kernel"));
	}
	ot_buf_deinit(&out);
}

static uint64_t enabled(struct world *w, const char *provider, const char *module, uint32_t after)
{
	struct dif_probedesc desc = description(provider);
	const struct vp_probe *p;
	uint64_t n = 0;

	desc.name = "turn";
	desc.module = module;
	assert_ok(vp_probes_match_to_enable(w->probes, &desc, after, remember, &p, &n));
	return n;
}

/* A probe that stands in for those of new processes: enabled where every number is meant, listed nowhere. */
static void stand_ins(void **state)
{
	static const char *const every[] = { "prog*", "pr*", "?rog*", "p[q-s]og*", "prog?*" };
	static const char *const some[] = { "prog", "prog1", "prog1*", "prog?", "prog[0-9]", "p*g", "q*" };
	static struct vp_usdt_probe own = { .file = 1 };
	struct world *w = *state;
	struct dif_probedesc desc = description("prog*");
	const struct vp_probe probe = { .kind = VP_PROBE_SITE,
					.args = VP_ARGS_SITE,
					.provider = "prog*",
					.module = "prog-3",
					.function = "main",
					.name = "turn",
					.own = &own,
					.stands_in = true };
	const struct vp_probe *p;
	uint32_t before = vp_probes_count(w->probes);
	uint64_t n = 0;

	assert_ok(vp_probes_add(w->probes, &vp_provider_usdt, &probe));
	for (size_t i = 0; i < OT_ARRAY_SIZE(every); i++)
		assert_int_equal(enabled(w, every[i], "", 0), 1);
	assert_int_equal(enabled(w, "prog*", "prog-3", before), 1);
	assert_int_equal(enabled(w, "prog*", "prog-3", before + 1), 0);
	assert_int_equal(enabled(w, "prog*", "other", 0), 0);
	assert_ok(vp_probes_set_processes(w->probes, NULL));
	for (size_t i = 0; i < OT_ARRAY_SIZE(some); i++) {
		struct dif_probedesc other = { .provider = some[i], .name = "turn" };
		struct ot_err *err = vp_probes_match_to_enable(w->probes, &other, 0, remember, &p, &n);

		assert_true(err || !n);
		ot_err_destroy(err);
	}
	desc.name = "turn";
	assert_ok(vp_probes_set_processes(w->probes, "it is a stone"));
	assert_ok(vp_probes_match(w->probes, &desc, true, remember, &p, &n));
	assert_int_equal(n, 0);
	desc = (struct dif_probedesc){ .id = before + 1 };
	assert_ok(vp_probes_match(w->probes, &desc, true, remember, &p, &n));
	assert_int_equal(n, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = { TEST(numbers), TEST(target), TEST(bad_numbers), TEST(hints),
					    TEST(stand_ins) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
