/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault loops over the opening of a guest: the n-th allocation fails, or the n-th read of guest memory,
 * n = 1, 2, … until no further one fails. The result is an error or (reads) a guest that reports what it
 * lacks; never a crash, and nothing leaks (checked by the sanitizer).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "tests/unit/nomem.h"
#include "vmm-probe/guest/guest.h"

/* Linked with --wrap. */
struct ot_err *__real_vp_phys_read(const struct vp_phys *phys, struct vp_gpa gpa, void *dst, size_t len);
struct ot_err *__wrap_vp_phys_read(const struct vp_phys *phys, struct vp_gpa gpa, void *dst, size_t len);

/* The read that fails; 0: none. */
static unsigned int reads;

struct ot_err *__wrap_vp_phys_read(const struct vp_phys *phys, struct vp_gpa gpa, void *dst, size_t len)
{
	if (reads && !--reads)
		return ot_err_new(OT_ERR_FAULT, "a read that was made to fail");
	return __real_vp_phys_read(phys, gpa, dst, len);
}

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static struct ot_err *open_guest(struct guest_fixture *g, struct vp_guest **ret)
{
	struct vp_regs regs = guest_regs(g, GUEST_CR3);
	struct vp_guest_opts opts = { .phys = g->phys, .regs = &regs, .nregs = 1 };

	return vp_guest_open(&opts, ret);
}

static void every_allocation_may_fail(void **state)
{
	struct guest_fixture g;
	bool done = false;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	guest_write_vmcoreinfo(&g, GUEST_VMCOREINFO, GUEST_BASE + GUEST_PGT_OFF, "");
	for (unsigned int n = 1; !done; n++) {
		struct vp_guest *guest;
		struct ot_err *err;

		assert_true(n < 10000);
		nomem_at(n);
		err = open_guest(&g, &guest);
		done = !nomem_end();
		if (done) {
			assert_ok(err);
			assert_true(n > 1); /* it did allocate */
			assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
			vp_guest_destroy(guest);
		} else {
			assert_err(err, OT_ERR_NO_MEMORY, NULL);
		}
	}
	guest_fixture_deinit(&g);
}

static void every_read_may_fail(void **state)
{
	unsigned int errors = 0, opened = 0;
	struct guest_fixture g;
	bool done = false;

	(void)state;
	guest_fixture_init(&g, &layout, 5);
	for (unsigned int n = 1; !done; n++) {
		struct vp_guest *guest;
		struct ot_err *err;

		assert_true(n < 10000);
		reads = n;
		err = open_guest(&g, &guest);
		done = reads != 0;
		reads = 0;
		if (err) {
			assert_false(done);
			assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
			ot_err_destroy(err);
			errors++;
		} else {
			assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
			vp_guest_destroy(guest);
			opened++;
		}
	}
	assert_true(errors > 0 && opened > 0);
	guest_fixture_deinit(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_read_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
