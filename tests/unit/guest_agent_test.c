/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator's process believes of the agent's header and catalogue: bytes of a hostile guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/guest/agent.h"

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

/* The message says which versions there are. */
static void test_version_message(void **state)
{
	struct ga_header h = good_header();
	(void)state;

	h.version = 77;
	struct ot_err *err = vp_agent_check_header(&h);
	assert_non_null(err);
	assert_non_null(strstr(ot_err_message(err), "version 77"));
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

/* Both sides are compiled from one header; that it means the same to both is checked here and by the module.
 */
static void test_layout(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct ga_record), 128);
	assert_int_equal(sizeof(struct ga_want), 16);
	assert_int_equal(sizeof(struct ga_entry), 104);
	assert_int_equal(sizeof(struct ga_header), 136);
	assert_int_equal(offsetof(struct ga_ring, tail), 64);
	assert_int_equal(offsetof(struct ga_ring, records), 4096);
	assert_int_equal(offsetof(struct ga_control, beat), 64);
	assert_int_equal(offsetof(struct ga_control, slots), 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_version_message),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
