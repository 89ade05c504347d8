/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator's process believes of the agent's header and catalogue: bytes of a hostile guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "census_fixture.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/agent_pass.h"
#include "vmm-probe/guest/guest_internal.h"

static struct ga_header good_header(void)
{
	struct ga_header h = {
		.magic = GA_MAGIC,
		.version = GA_VERSION,
		.size = sizeof(h),
		.state = GA_LIVE,
		.nrings = 4,
		.record_size = sizeof(struct ga_record),
		.nslots = GA_SLOTS,
		.token = 0xabcdef00,
		.control_gpa = 0x100000,
		.control_size = sizeof(struct ga_control),
	};

	return h;
}

static enum ot_err_code code_of(const struct ga_header *h)
{
	struct ot_err *err = vp_agent_check_header(h);
	enum ot_err_code code;

	assert_non_null(err);
	code = ot_err_code(err);
	ot_err_destroy(err);
	return code;
}

static void test_header(void **state)
{
	struct ga_header h = good_header();
	(void)state;

	assert_null(vp_agent_check_header(&h));
	h.size += 8; /* a later one of the same version may say more */
	assert_null(vp_agent_check_header(&h));
#define BROKEN(field, value, expected)                     \
	do {                                               \
		h = good_header();                         \
		h.field = (value);                         \
		assert_int_equal(code_of(&h), (expected)); \
	} while (0)
	BROKEN(magic, 0, OT_ERR_BUSY);
	BROKEN(magic, 7, OT_ERR_BAD_DATA);
	BROKEN(version, GA_VERSION + 1, OT_ERR_UNSUPPORTED);
	BROKEN(version, GA_VERSION - 1, OT_ERR_UNSUPPORTED);
	BROKEN(version, 0, OT_ERR_UNSUPPORTED);
	BROKEN(state, GA_CLOSING, OT_ERR_BUSY);
	BROKEN(state, GA_COMING, OT_ERR_BUSY);
	BROKEN(size, sizeof(h) - 1, OT_ERR_BAD_DATA);
	BROKEN(record_size, 64, OT_ERR_BAD_DATA);
	BROKEN(nslots, GA_SLOTS + 1, OT_ERR_BAD_DATA);
	BROKEN(control_size, sizeof(struct ga_control) - 1, OT_ERR_BAD_DATA);
	BROKEN(control_gpa, 0x100008, OT_ERR_BAD_DATA);
	BROKEN(token, 0, OT_ERR_BAD_DATA);
	BROKEN(token, 0xabcdef01, OT_ERR_BAD_DATA);
	BROKEN(nrings, 1u << 20, OT_ERR_BAD_DATA);
}

/* The message says which versions there are, and what to do. */
static void test_version_message(void **state)
{
	struct ga_header h = good_header();
	(void)state;

	h.version = 77;
	struct ot_err *err = vp_agent_check_header(&h);
	assert_non_null(err);
	assert_non_null(strstr(ot_err_message(err), "version 77"));
	assert_non_null(strstr(ot_err_message(err), "`make -C guest-agent "));
	assert_non_null(strstr(ot_err_message(err), "`rmmod outsight; insmod outsight.ko`"));
	ot_err_destroy(err);
}

static void test_entry(void **state)
{
	struct ga_entry e = { .address = 0xffffffff82001000ull, .name = "sched_switch" };
	struct vp_agent_event ret;
	(void)state;

	assert_true(vp_agent_check_entry(&e, 3, &ret));
	assert_int_equal(ret.slot, 3);
	assert_int_equal(ret.address, e.address);
	assert_string_equal(ret.name, "sched_switch");
	assert_false(vp_agent_check_entry(&e, GA_TRACEPOINTS, &ret));
	e.address = 0;
	assert_false(vp_agent_check_entry(&e, 3, &ret));
	e.address = 0x400000; /* a process's */
	assert_false(vp_agent_check_entry(&e, 3, &ret));
	e.address = 0xffffffff82001000ull;
	e.name[0] = 0;
	assert_false(vp_agent_check_entry(&e, 3, &ret));
	memcpy(e.name, "a\033[2J", 6);
	assert_false(vp_agent_check_entry(&e, 3, &ret));
	memset(e.name, 'a', sizeof(e.name)); /* no end */
	assert_false(vp_agent_check_entry(&e, 3, &ret));
	e.name[sizeof(e.name) - 1] = 0;
	assert_true(vp_agent_check_entry(&e, 3, &ret));
}

/* Invalid places are skipped; without any ring the agent could count nothing, which is an error. */
static void test_rings(void **state)
{
	struct ga_ring_place places[] = {
		{ .gpa = 0, .percpu = 1, .records = 64 },
		{ .gpa = 0x1008, .percpu = 2, .records = 64 },
		{ .gpa = 0x2000, .percpu = 3, .records = 65 },
		{ .gpa = 0x3000, .percpu = 4, .records = GA_RECORDS_MAX * 2 },
		{ .gpa = 0x4000, .percpu = 5, .records = 0 },
		{ .gpa = 0x5000, .percpu = 6, .records = 64 },
	};
	struct vp_agent_cpu cpus[OT_ARRAY_SIZE(places)];
	size_t n = 77;
	(void)state;

	assert_null(vp_agent_check_rings(places, OT_ARRAY_SIZE(places), cpus, &n));
	assert_int_equal(n, 1);
	assert_int_equal(cpus[0].percpu, 6);
	struct ot_err *err = vp_agent_check_rings(places, OT_ARRAY_SIZE(places) - 1, cpus, &n);
	assert_non_null(err);
	assert_int_equal(n, 0);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	assert_non_null(strstr(ot_err_message(err), "`rmmod outsight; insmod outsight.ko ring_kib=64`"));
	ot_err_destroy(err);
}

/* Both sides are compiled from one header; that it means the same to both is checked here and by the module.
 */
static void test_layout(void **state)
{
	(void)state;
	/* A change of these numbers needs a new GA_VERSION: an older module would ignore it. */
	assert_int_equal(GA_VERSION, 3);
	assert_int_equal(GA_RECORD_32BIT, 4);
	assert_int_equal(GA_WANT_FLAGS, 0x707);
	assert_int_equal(sizeof(struct ga_record), 128);
	assert_int_equal(sizeof(struct ga_want), 16);
	assert_int_equal(sizeof(struct ga_entry), 104);
	assert_int_equal(sizeof(struct ga_header), 136);
	assert_int_equal(offsetof(struct ga_ring, tail), 64);
	assert_int_equal(offsetof(struct ga_ring, records), 4096);
	assert_int_equal(offsetof(struct ga_control, beat), 64);
	assert_int_equal(offsetof(struct ga_control, slots), 128);
}

static void add(struct vp_agent_pass *pass, bool end, uint64_t number, uint64_t second, const char *text)
{
	uint64_t words[5] = { number, second };

	memcpy(&words[2], text, strlen(text));
	assert_null(vp_agent_pass_add(pass, end, words));
}

static void add_end(struct vp_agent_pass *pass, uint64_t number, uint64_t what, uint64_t events,
		    uint64_t error)
{
	const uint64_t words[5] = { number, what, events, error };

	assert_null(vp_agent_pass_add(pass, true, words));
}

/* The number of items of a complete pass, whose first is named @p first; minus the errno of a failed one; -1:
 * the pass is not complete. */
static int taken(struct vp_agent_pass *pass, const char *first)
{
	struct vp_census census = { 0 };
	uint64_t error = 0;
	bool whole;
	int n = -1;

	assert_null(vp_agent_pass_take(pass, 8, &census, &whole, &error));
	if (whole && error)
		n = -(int)error;
	else if (whole)
		n = (int)census.count;
	for (size_t i = 0; i < census.count; i++)
		assert_int_equal(census.items[i].ways, 8);
	if (n > 0)
		assert_string_equal(census.items[0].name, first);
	vp_census_deinit(&census);
	return n;
}

/* A pass is taken when all its events have been received, in any order. */
static void test_pass_of_tasks(void **state)
{
	struct vp_agent_pass pass;

	(void)state;
	vp_agent_pass_init(&pass, GA_PASS_TASKS);
	assert_int_equal(taken(&pass, ""), -1);
	add(&pass, false, 1, 7, "half"); /* a pass whose beginning was lost */
	add_end(&pass, 1, GA_PASS_TASKS, 2, 0);
	assert_int_equal(taken(&pass, ""), -1);
	add(&pass, false, 2, 1, "init");
	add_end(&pass, 2, GA_PASS_MODULES, 1, 0); /* another list's */
	assert_int_equal(taken(&pass, ""), -1);
	add_end(&pass, 2, GA_PASS_TASKS, 2, 0);
	add(&pass, false, 1, 9, "late"); /* of the pass before */
	assert_int_equal(taken(&pass, ""), -1);
	add(&pass, false, 2, 2, "sixteen-bytes-ab"); /* without an end */
	assert_int_equal(taken(&pass, "init"), 2);
	assert_int_equal(taken(&pass, ""), -1);
	add(&pass, false, 2, 3, "again");
	assert_int_equal(taken(&pass, ""), -1);
	add_end(&pass, 4, GA_PASS_TASKS, 0, 13);
	assert_int_equal(taken(&pass, ""), -13);
	add(&pass, false, 5, 0, "no number");
	add(&pass, false, 5, 1ull << 40, "no number");
	add_end(&pass, 5, GA_PASS_TASKS, 2, 0);
	assert_int_equal(taken(&pass, ""), 0);
	vp_agent_pass_deinit(&pass);
}

/* Names come in parts. */
static void test_pass_of_modules(void **state)
{
	struct vp_agent_pass pass;

	(void)state;
	vp_agent_pass_init(&pass, GA_PASS_MODULES);
	add(&pass, false, 1, 1 << 8 | 0, "loop");
	add(&pass, false, 1, 0 << 8 | 1, "e-part-of-a-name-second-");
	add(&pass, false, 1, 0 << 8 | 2, "third");
	add(&pass, false, 1, 0 << 8 | 0, "the-first-part-of-a-long");
	add(&pass, false, 1, 0 << 8 | 3, "none");
	add(&pass, false, 1, (uint64_t)VP_FOUND_MAX << 8, "too many");
	add(&pass, false, 1, UINT64_MAX, "too many");
	add_end(&pass, 1, GA_PASS_MODULES, 7, 0);
	assert_int_equal(taken(&pass, "the-first-part-of-a-longe-part-of-a-name-second-third"), 2);
	vp_agent_pass_deinit(&pass);
}

/* --- the guest's list of modules ----------------------------------------------------------------------- */

/* The first of the guest's modules is the agent's by its name; it has no symbols. */
static struct census_guest *guest_with_module(void)
{
	struct census_guest *cg = census_guest_create();
	struct vp_module_layout *l = &census_guest(cg)->layout;

	memset(l, 0xff, sizeof(*l)); /* VP_MODULE_NONE everywhere */
	l->state = 0;
	l->list = CENSUS_MODULE_LIST;
	l->name = CENSUS_MODULE_NAME;
	l->name_size = 56;
	l->core_base = 0x180;
	l->core_size = 0x188;
	census_guest(cg)->have_layout = true;
	for (unsigned i = 0; i < 3; i++) {
		*census_word(cg, CENSUS_MODULE(i) + l->core_base) = CENSUS_BASE;
		*census_word(cg, CENSUS_MODULE(i) + l->core_size) = 0x1000;
	}
	strcpy((char *)census_word(cg, CENSUS_MODULE(0) + CENSUS_MODULE_NAME), GA_MODULE);
	return cg;
}

static void agent_is(struct census_guest *cg, enum ot_err_code code, const char *part)
{
	struct vp_guest_agent agent;
	struct ot_err *err = vp_guest_agent_read(census_guest(cg), &agent);

	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), part))
		fail_msg("%s", ot_err_message(err));
	ot_err_destroy(err);
	assert_null(agent.events);
}

static void test_budget(void **state)
{
	static const struct vp_reading nothing = { "something else", 0, 0, 0, 0, "none" };
	struct census_guest *cg = guest_with_module();
	struct vp_budget outer;
	(void)state;

	vp_budget_begin(&outer, &nothing, false);
	agent_is(cg, OT_ERR_NOT_FOUND, "is not loaded");
	vp_budget_end(&outer);
	census_guest_destroy(cg);
}

/* The list ends before the walk reaches the agent: it may be loaded. */
static void test_torn(void **state)
{
	struct census_guest *cg = guest_with_module();
	(void)state;

	*census_word(cg, CENSUS_MODULES) = 0xdead000000000100;
	agent_is(cg, OT_ERR_BUSY, "keeps changing");
	census_guest_destroy(cg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_version_message),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_pass_of_tasks),
		cmocka_unit_test(test_pass_of_modules),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
