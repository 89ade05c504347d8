/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of a session, a busy or failing backend, and hostile opens and batches. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/wire/orc_table.h"

static void sites_come_and_go(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	assert_int_equal(vp_fake_sites(f->fake), 0); /* not before it starts */
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	ef_enable_entry(f, c, EF_FUNC_B); /* at once while it is active */
	assert_int_equal(vp_fake_sites(f->fake), 2);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(vp_fake_sites(f->fake), 0);
	EF_OK(vp_engine_session_stop(f->es));
	EF_FAILS(OT_ERR_BUSY, vp_engine_session_start(f->es));
	EF_FAILS(OT_ERR_BUSY, ef_try_enable(f));
	ef_destroy(f);
}

static void closing_takes_sites_out(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_trace(f, c);
	ef_close(f);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	vp_engine_session_close(NULL);
	ef_destroy(f);
}

/* A paused guest: START says so and changes nothing; later it works. */
static void busy_at_start(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	vp_fake_set_busy(f->fake, true);
	EF_FAILS(OT_ERR_BUSY, vp_engine_session_start(f->es));
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(ef_switch(f).flags, 0); /* what is in force is what is wanted: nothing */
	vp_fake_set_busy(f->fake, false);
	ef_start(f);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(ef_switch(f).flags, 0);
	ef_destroy(f);
}

/* Paused while probes are to be added: each switch reports it to the client until the probes are added. */
static void busy_at_enable(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_trace(f, c);
	vp_fake_set_busy(f->fake, true);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "b", "entry");
	ef_site(f, EF_FUNC_B, EF_FUNC_B);
	ef_ecb(f, p, c);
	EF_FAILS(OT_ERR_BUSY, ef_try_enable(f));
	assert_int_equal(ef_switch(f).flags, VP_SWITCH_PAUSED);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	vp_fake_set_busy(f->fake, false);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	ef_destroy(f);
}

/* Stopping a paused guest's session is no error, and its data can be read. */
static void busy_at_stop(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[4];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_set_busy(f->fake, true);
	EF_OK(vp_engine_session_stop(f->es));
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(ef_switch(f).flags, VP_SWITCH_PAUSED);
	assert_int_equal(ef_records(f, 0, r, 4), 1);
	vp_fake_set_busy(f->fake, false);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	ef_destroy(f);
}

/* The plan in force still names the session's ECBs when it closes: its memory stays until the backend lets
 * go, its shared memory may go at once, and nothing fires. */
static void busy_at_close(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_trace(f, c);
	vp_fake_set_busy(f->fake, true);
	ef_close(f);
	free(f->shared);
	f->shared = NULL;
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A)); /* without effect */
	vp_fake_set_busy(f->fake, false);
	/* the next session's start cleans up on the way */
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_B);
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	ef_destroy(f);
}

static void failing_install(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	vp_fake_fail_install(f->fake, 1);
	EF_FAILS(OT_ERR_OS, vp_engine_session_start(f->es));
	assert_int_equal(vp_fake_sites(f->fake), 0);
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	ef_destroy(f);
}

/* What a backend can't take beside what it has would fail with every later plan, that of another session too.
 */
static void failing_install_of_a_late_batch(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_start(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");
	ef_site(f, EF_FUNC_B, EF_FUNC_B);
	ef_ecb(f, probe, c);
	vp_fake_fail_install(f->fake, 1);
	EF_FAILS(OT_ERR_OS, ef_try_enable(f));
	ef_batch_clear(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	ef_enable_entry(f, c, EF_FUNC_C);
	assert_int_equal(vp_fake_sites(f->fake), 2);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_C));
	ef_destroy(f);
}

/* --- hostile OPEN ------------------------------------------------------------------------------ */

static void open_is_checked(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	ef_clause(f, NULL);
	f->open.nvcpus = 3;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	f->open.nvcpus = 2;
	f->open.strsize = 0;
	EF_FAILS(OT_ERR_LIMIT, ef_try_open(f));
	f->open.strsize = 1u << 30;
	EF_FAILS(OT_ERR_LIMIT, ef_try_open(f));
	f->open.strsize = 32;
	f->open.bufsize = 12;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	f->open.bufsize = 4096;
	f->open.bufpolicy = 3;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	f->open.bufpolicy = VP_BUF_SWITCH;
	f->open.stackframes = 100000;
	EF_FAILS(OT_ERR_LIMIT, ef_try_open(f));
	f->open.stackframes = 8;
	f->facts.size--;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	f->facts.size++;
	f->facts.levels = 3;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	f->facts.levels = 4;
	ef_open(f);
	ef_destroy(f);
}

static struct ot_err *open_at(struct ef *f, const struct vp_msg_open *open, const struct ot_buf *dof)
{
	return vp_engine_session_open(vp_fake_engine(f->fake), open, dof->data, dof->len, &f->facts,
				      f->shared, f->shared_size, NULL, 0, &f->es);
}

/* Each part of the shared memory, moved out of bounds, over another, or off its alignment. */
static void shared_parts_are_checked(void **state)
{
	struct ef *f = ef_create();
	struct ot_buf dof;
	(void)state;

	ef_clause(f, NULL);
	ef_open(f);
	ef_close(f);
	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	const struct vp_msg_open good = f->open;
	static const size_t part[] = { offsetof(struct vp_msg_open, globals_offset),
				       offsetof(struct vp_msg_open, status_offset),
				       offsetof(struct vp_msg_open, buffers_offset) };
	for (unsigned i = 0; i < OT_ARRAY_SIZE(part); i++) {
		const uint64_t bad[] = { f->shared_size,
					 f->shared_size - 64,
					 ~0ull,
					 ~63ull,
					 1ull << 63,
					 1,
					 part[i] == part[0] ? good.status_offset : good.globals_offset };
		for (unsigned k = 0; k < OT_ARRAY_SIZE(bad); k++) {
			struct vp_msg_open open = good;
			memcpy((char *)&open + part[i], &bad[k], sizeof(bad[k]));
			EF_FAILS(OT_ERR_BAD_DATA, open_at(f, &open, &dof));
		}
	}
	struct vp_msg_open huge = good;
	huge.bufsize = ~7ull;
	EF_FAILS(OT_ERR_LIMIT, open_at(f, &huge, &dof));
	huge = good;
	huge.globals_size = ~0ull;
	EF_FAILS(OT_ERR_LIMIT, open_at(f, &huge, &dof));
	ot_buf_deinit(&dof);
	ef_destroy(f);
}

static void program_is_verified_again(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	struct dif_object *o = ef_int(f, 1);
	ef_action(f, c, DIF_ACT_difexpr, o);
	o->text[1] = dif_insn_branch(DIF_OP_ba, 0); /* backwards, and no ret */
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	o->text[1] = dif_insn(DIF_OP_ret, 0, 0, 1);
	ef_open(f);
	ef_destroy(f);
}

static void destructive_needs_leave(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	struct dif_action *a = ef_action(f, c, DIF_ACT_system, NULL);
	a->format = "date";
	a->uarg = 1;
	EF_FAILS(OT_ERR_PERMISSION, ef_try_open(f));
	f->open.flags = VP_OPEN_DESTRUCTIVE;
	ef_open(f);
	ef_close(f);
	c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_panic, NULL);
	EF_FAILS(OT_ERR_UNSUPPORTED, ef_try_open(f));
	ef_destroy(f);
}

static void false_unwind_table(void **state)
{
	struct ef *f = ef_create();
	struct vp_orc_header table[2] = { { VP_ORC_MAGIC, 1000000 } };
	(void)state;

	ef_clause(f, NULL);
	f->orc = table;
	f->orc_size = 4;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	f->orc_size = sizeof(table);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	table[0].nentries = 0;
	table[0].magic = 1;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	table[0].magic = VP_ORC_MAGIC;
	ef_open(f);
	ef_destroy(f);
}

static void too_many_sessions(void **state)
{
	struct ef *f = ef_create();
	struct vp_engine_session *open[64];
	uint8_t *shared[64];
	unsigned n = 0;
	(void)state;

	ef_clause(f, NULL);
	for (;; n++) {
		assert_true(n < 64);
		f->shared = NULL;
		struct ot_err *err = ef_try_open(f);
		if (err) {
			assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
			ot_err_destroy(err);
			break;
		}
		open[n] = f->es;
		shared[n] = f->shared;
	}
	assert_true(n >= 8);
	while (n-- > 0) {
		vp_engine_session_close(open[n]);
		free(shared[n]);
	}
	f->es = NULL;
	ef_destroy(f);
}

/* --- hostile batches ------------------------------------------------------------------------------ */

static struct ef *with_batch(void)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, c);
	p = ef_probe(f, VP_PROBE_ERROR, VP_ARGS_ERROR, "", "ERROR");
	ef_ecb(f, p, c);
	return f;
}

static void changed_code_is_refused(void **state)
{
	struct ef *f = with_batch();
	uint8_t other = 0xcc;
	(void)state;

	vp_fake_write(f->fake, f->kernel_root, EF_FUNC_A, &other, 1);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_destroy(f);
}

static void site_outside_memory_is_refused(void **state)
{
	struct ef *f = with_batch();
	struct vp_batch_site *site = (void *)f->sites.data;
	static const uint64_t nowhere[] = { 0, 0xffffffffc0000000, 0xffffffffffffffff, 0x1000,
					    0x8000000000000000 };
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(nowhere); i++) {
		site->gva = nowhere[i];
		EF_FAILS(OT_ERR_FAULT, ef_try_enable(f));
	}
	ef_destroy(f);
}

static void epid_twice_is_refused(void **state)
{
	struct ef *f = with_batch();
	struct vp_batch_ecb *ecbs = (void *)f->ecbs.data;
	(void)state;

	ecbs[1].epid = ecbs[0].epid;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ecbs[1].epid++;
	EF_OK(ef_try_enable(f));
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f)); /* and over two batches */
	ef_destroy(f);
}

/* Every 32-bit word of a good batch, set to several false values, and every length: an answer, no crash,
 * and what is refused leaves nothing behind. Sanitizers are the judge. */
static void mutated_batches(void **state)
{
	static const uint32_t evil[] = { 0, 1, 7, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff };
	struct ef *f = with_batch();
	size_t size;
	uint8_t *good = ef_batch(f, &size);
	unsigned accepted = 0, refused = 0;
	(void)state;

	for (size_t at = 0; at + 4 <= size; at += 4) {
		for (unsigned i = 0; i < OT_ARRAY_SIZE(evil); i++) {
			uint8_t *bad = malloc(size);
			memcpy(bad, good, size);
			memcpy(bad + at, &evil[i], 4);
			struct ot_err *err = vp_engine_session_enable(f->es, bad, size);
			free(bad);
			accepted += !err;
			refused += err != NULL;
			ot_err_destroy(err);
			ef_close(f);
			ef_open(f);
		}
	}
	for (size_t len = 0; len < size; len++) {
		uint8_t *bad = malloc(len + 1);
		memcpy(bad, good, len);
		EF_FAILS(OT_ERR_BAD_DATA, vp_engine_session_enable(f->es, bad, len));
		free(bad);
	}
	assert_true(refused > 0 && accepted > 0);
	free(good);
	ef_destroy(f);
}

/* The same with random damage, several words at a time, and a hit afterwards. */
static void damaged_batches_and_hits(void **state)
{
	struct ef *f = with_batch();
	size_t size;
	uint8_t *good = ef_batch(f, &size);
	unsigned seed = 1;
	(void)state;

	for (unsigned round = 0; round < 2000; round++) {
		uint8_t *bad = malloc(size);
		memcpy(bad, good, size);
		for (unsigned n = 1 + rand_r(&seed) % 3; n; n--)
			bad[rand_r(&seed) % size] ^= (uint8_t)(1u << rand_r(&seed) % 8);
		struct ot_err *err = vp_engine_session_enable(f->es, bad, size);
		free(bad);
		ot_err_destroy(err);
		ot_err_destroy(vp_engine_session_start(f->es));
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
		ef_close(f);
		ef_open(f);
	}
	free(good);
	ef_destroy(f);
}

/* The same to the OPEN message itself. */
static void damaged_opens(void **state)
{
	struct ef *f = ef_create();
	struct ot_buf dof;
	unsigned seed = 2, opened = 0;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_stack, NULL);
	ef_action(f, c, DIF_ACT_speculate, ef_int(f, 1));
	f->prog.clauses[c].actions[0] = f->prog.clauses[c].actions[1];
	f->prog.clauses[c].actions[1] = (struct dif_action){ .kind = DIF_ACT_stack };
	ef_open(f);
	ef_close(f);
	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	for (unsigned round = 0; round < 3000; round++) {
		struct vp_msg_open open = f->open;
		for (unsigned n = 1 + rand_r(&seed) % 2; n; n--)
			((uint8_t *)&open)[rand_r(&seed) % sizeof(open)] ^=
			    (uint8_t)(1u << rand_r(&seed) % 8);
		struct ot_err *err = open_at(f, &open, &dof);
		opened += !err;
		ot_err_destroy(err);
		ef_close(f);
	}
	assert_true(opened > 0 && opened < 3000);
	ot_buf_deinit(&dof);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_come_and_go),
		cmocka_unit_test(closing_takes_sites_out),
		cmocka_unit_test(busy_at_start),
		cmocka_unit_test(busy_at_enable),
		cmocka_unit_test(busy_at_stop),
		cmocka_unit_test(busy_at_close),
		cmocka_unit_test(failing_install),
		cmocka_unit_test(failing_install_of_a_late_batch),
		cmocka_unit_test(open_is_checked),
		cmocka_unit_test(shared_parts_are_checked),
		cmocka_unit_test(program_is_verified_again),
		cmocka_unit_test(destructive_needs_leave),
		cmocka_unit_test(false_unwind_table),
		cmocka_unit_test(too_many_sessions),
		cmocka_unit_test(changed_code_is_refused),
		cmocka_unit_test(site_outside_memory_is_refused),
		cmocka_unit_test(epid_twice_is_refused),
		cmocka_unit_test(mutated_batches),
		cmocka_unit_test(damaged_batches_and_hits),
		cmocka_unit_test(damaged_opens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
