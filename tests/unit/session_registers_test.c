/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/batch_registers: the places of all batches of a guest together take at most as many debug registers
 * as there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/session/batch.h"

#define KERNEL  0xffffffff81000000ull
#define PROGRAM 0x401000ull

static void add(struct vp_feed *feed, uint64_t gva, enum vp_site_trap trap)
{
	const struct vp_batch_site site = { .gva = gva, .trap = (uint8_t)trap };

	ot_buf_append(&feed->batch_sites, &site, sizeof(site));
}

/* NULL: no error. */
static void expect(struct vp_feed *feed, const char *says)
{
	struct ot_err *err = vp_batch_check_registers(feed);

	assert_int_equal(err != NULL, says != NULL);
	if (err && (ot_err_code(err) != OT_ERR_LIMIT || !strstr(ot_err_message(err), says)))
		fail_msg("%s", ot_err_message(err));
	ot_err_destroy(err);
}

/* Traps in the text take none; several probes at one place take one. */
static void places(void **state)
{
	struct vp_feed feed = { 0 };
	(void)state;

	expect(&feed, NULL);
	for (uint64_t i = 0; i < 9; i++)
		add(&feed, KERNEL + i, VP_SITE_TEXT);
	for (uint64_t i = 0; i < 8; i++)
		add(&feed, PROGRAM + i % 4, VP_SITE_HW);
	expect(&feed, NULL);
	for (uint64_t i = 0; i < VP_HW_SITES; i++)
		assert_int_equal(feed.registers[i], PROGRAM + i);
	add(&feed, PROGRAM + 4, VP_SITE_HW);
	expect(
	    &feed,
	    "there are 4, and the program has probes in 5 places. Name fewer functions; a guest under TCG");
	vp_batch_clear(&feed);
}

static void of_the_kernel(void **state)
{
	struct vp_feed feed = { 0 };
	(void)state;

	for (uint64_t i = 0; i < 5; i++)
		add(&feed, KERNEL + i, VP_SITE_HW);
	expect(&feed, "-x trap=hw: there are 4 debug registers, and the program has probes in 5 places");
	vp_batch_clear(&feed);
	add(&feed, PROGRAM, VP_SITE_HW);
	for (uint64_t i = 0; i < 3; i++)
		add(&feed, KERNEL + i, VP_SITE_HW);
	expect(&feed, NULL);
	vp_batch_clear(&feed);
}

/* What an earlier batch has taken is not free for a later one, and shared where it is the same place. */
static void later_batches(void **state)
{
	struct vp_feed first = { 0 }, late = { 0 };
	(void)state;

	for (uint64_t i = 0; i < 3; i++)
		add(&first, PROGRAM + i, VP_SITE_HW);
	expect(&first, NULL);
	memcpy(late.registers_before, first.registers, sizeof(first.registers));
	add(&late, PROGRAM + 1, VP_SITE_HW);
	add(&late, PROGRAM + 9, VP_SITE_HW);
	expect(&late, NULL);
	assert_int_equal(late.registers[3], PROGRAM + 9);
	expect(&late, NULL); /* again, as its text is read again */
	add(&late, PROGRAM + 10, VP_SITE_HW);
	expect(&late, "in 5 places");
	vp_batch_clear(&first);
	vp_batch_clear(&late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(of_the_kernel),
		cmocka_unit_test(later_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
