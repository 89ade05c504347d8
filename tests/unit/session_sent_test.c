/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an engine is sent: no address of another kernel, and all that the layout of variables is computed
 * from. */
#include "tests/unit/dif_lang_fixture.h"

#include "dif/obj/layout.h"
#include "vmm-probe/session/sent.h"

struct sent {
	struct lx lx;
	struct vp_session s;
	struct vp_guest_link links[2];
};

/* Clause 0 is of the first kernel, 1 of the second, 2 supports probes of the second guest. */
static void init(struct sent *t)
{
	memset(t, 0, sizeof(*t));
	lx_init(&t->lx);
	assert_true(lx_compile(&t->lx, "fbt::do_exit:entry { x = `jiffies; }"));
	assert_true(lx_compile(
	    &t->lx, "fbt::do_exit:entry { self->y = (int)`jiffies; this->z = \"a\"; @ = count(); }"));
	assert_true(lx_compile(&t->lx, "fbt::do_exit:entry { w[`jiffies] = 1; }"));
	assert_int_equal(t->lx.prog.nclauses, 3);
	t->lx.prog.clauses[1].kernel = 1;
	t->lx.prog.clauses[2].kernel = 1;
	t->lx.prog.clauses[2].guest = 2;
	t->s.program.prog = &t->lx.prog;
	t->s.kernels.n = t->s.links.n = 2;
	t->s.kernels.of[1] = 1;
	for (unsigned i = 0; i < 2; i++)
		t->s.links.items[i] = &t->links[i];
}

static bool has_address(const struct dif_clause *c)
{
	for (uint32_t i = 0; i < c->nactions; i++)
		for (uint32_t k = 0; c->actions[i].object && k < c->actions[i].object->int_len; k++)
			if (c->actions[i].object->ints[k] >> 63)
				return true;
	return false;
}

static void check_layout(const struct dif_program *whole, const struct dif_program *part)
{
	const struct dif_layout_opts opts = { .strsize = 256 };
	struct dif_var_layout a, b;
	struct ot_arena arena;

	ot_arena_init(&arena);
	assert_null(dif_var_layout(whole, &opts, &arena, &a));
	assert_null(dif_var_layout(part, &opts, &arena, &b));
	assert_int_equal(a.nslots, 4);
	assert_int_equal(a.nslots, b.nslots);
	assert_memory_equal(a.slots, b.slots, a.nslots * sizeof(*a.slots));
	ot_arena_deinit(&arena);
}

/* By feed: the host engine, the first guest's, the second's. */
static void each_has_its_own(void **state)
{
	static const bool has[3][3] = { { true, false, false },
					{ true, false, false },
					{ false, true, true } };
	struct sent t;

	(void)state;
	init(&t);
	for (uint32_t feed = 0; feed < 3; feed++) {
		struct dif_program part;
		struct ot_buf dof = { 0 };

		assert_null(vp_sent_write(&t.s, feed, &dof));
		assert_null(dif_dof_read(dof.data, dof.len, &part));
		assert_null(dif_program_verify(&part));
		assert_int_equal(part.nclauses, 3);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(has_address(&part.clauses[i]), has[feed][i]);
			assert_int_equal(*part.clauses[i].probe.function != '\0', has[feed][i]);
		}
		assert_int_equal(part.naggs, 1);
		check_layout(&t.lx.prog, &part);
		dif_program_deinit(&part);
		ot_buf_deinit(&dof);
	}
	lx_deinit(&t.lx);
}

static void one_guest_has_all(void **state)
{
	struct ot_buf sent = { 0 }, whole = { 0 };
	struct sent t;

	(void)state;
	init(&t);
	t.s.links.n = 1;
	assert_null(vp_sent_write(&t.s, 1, &sent));
	assert_null(dif_dof_write(&t.lx.prog, &whole));
	assert_int_equal(sent.len, whole.len);
	assert_memory_equal(sent.data, whole.data, whole.len);
	ot_buf_deinit(&sent);
	ot_buf_deinit(&whole);
	lx_deinit(&t.lx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_own),
		cmocka_unit_test(one_guest_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
