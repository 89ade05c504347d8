/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault loops: the n-th allocation of a whole session fails, then the n-th install(), for n = 1, 2, … until
 * all succeeds. After each failure the session closes, nothing leaks (checked by the sanitizer) and no site
 * stays.
 */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/nomem.h"
#include "vmm-probe/engine/wire/private_memory.h"

static const struct vp_fake_config config = {
	.nvcpus = 2,
	.ram_size = 8u << 20,
	.levels = 4,
	.counter_slots = 4,
	.can_profile = true,
};

/* What a session is made of, prepared without failures. */
struct material {
	struct ef *f;
	struct ot_buf dof;
	void *batch;
	size_t batch_size;
};

static void prepare(struct material *m)
{
	struct ef *f = m->f = ef_create_with(&config);
	struct dif_object *set = ef_global_add(f, 0x500, 0);

	set->text[0] = dif_insn_index(DIF_OP_call, DIF_SUBR_speculation, 1);
	uint32_t open = ef_clause(f, NULL), add = ef_clause(f, NULL), cnt = ef_clause(f, NULL);
	ef_action(f, open, DIF_ACT_difexpr, set);
	ef_action(f, add, DIF_ACT_speculate, ef_global(f, 0x500));
	ef_action(f, add, DIF_ACT_stack, NULL);
	ef_key(f, cnt, ef_string_var(f, DIF_VAR_probefunc));
	ef_agg(f, cnt, DIF_AGG_count, NULL, 1);
	f->open.dynvars_size = 65536;
	ef_open(f);
	ef_close(f);
	ot_buf_init(&m->dof);
	EF_OK(dif_dof_write(&f->prog, &m->dof));
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, open);
	ef_ecb(f, p, add);
	ef_ecb(f, p, cnt);
	p = ef_probe(f, VP_PROBE_PROFILE, VP_ARGS_PROFILE, "", "profile-1");
	ef_interval(f, p, 1000000000);
	ef_ecb(f, p, cnt);
	m->batch = ef_batch(f, &m->batch_size);
}

static void release(struct material *m)
{
	ot_buf_deinit(&m->dof);
	free(m->batch);
	ef_destroy(m->f);
}

static struct ot_err *session(struct material *m)
{
	struct ef *f = m->f;
	struct vp_msg_switch_reply reply;

	OT_TRY(vp_engine_session_open(vp_fake_engine(f->fake), &f->open, m->dof.data, m->dof.len, &f->facts,
				      f->shared, f->shared_size, NULL, 0, &f->es));
	OT_TRY(vp_engine_session_enable(f->es, m->batch, m->batch_size));
	OT_TRY(vp_engine_session_start(f->es));
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	OT_TRY(vp_engine_session_switch(f->es, &reply));
	return vp_engine_session_stop(f->es);
}

/* Closing must work without memory: if the plan could not be rebuilt, it is rebuilt on a retry. */
static void close_and_check(struct material *m)
{
	vp_engine_session_close(m->f->es);
	m->f->es = NULL;
	if (vp_fake_sites(m->f->fake)) {
		/* any later change brings it about */
		EF_OK(session(m));
		vp_engine_session_close(m->f->es);
		m->f->es = NULL;
	}
	assert_int_equal(vp_fake_sites(m->f->fake), 0);
}

static void nth_allocation_fails(void **state)
{
	struct material m;
	unsigned n = 1;
	(void)state;

	prepare(&m);
	for (;; n++) {
		nomem_at(n);
		struct ot_err *err = session(&m);
		bool done = !nomem_end();
		if (done)
			EF_OK(err);
		else if (err)
			assert_int_equal(ot_err_code(err), OT_ERR_NO_MEMORY);
		ot_err_destroy(err);
		close_and_check(&m);
		if (done)
			break;
	}
	assert_true(n > 30); /* it did count something */
	release(&m);
}

/* What a session is made of, as its sender knows it. */
static struct vp_private_parts parts_of(const struct material *m)
{
	const struct vp_batch *batch = m->batch;

	return (struct vp_private_parts){
		.program = m->dof.len,
		.tuple_max = 4 + 2 * m->f->open.strsize,
		.key_max = DIF_DYNVAR_KEY_FIXED,
		.batch = m->batch_size,
		.probes = batch->nprobes,
		.sites = batch->nsites,
		.ecbs = batch->necbs,
		.hits = batch->nsites + (uint64_t)batch->nsites * batch->necbs,
		.epids = batch->necbs,
		.mapped = m->f->shared_size,
		.speculates = true,
	};
}

/* A session takes at most the announced amount of the VMM's memory, and not much less. */
static void less_than_told(void **state)
{
	const struct {
		uint64_t bufsize, aggsize, specsize;
		uint32_t nspec, scratch_max, maxcost;
	} of[] = {
		{ 65536, 65536, 4096, 2, 0, 0 },        { 8 << 20, 65536, 4096, 2, 0, 50 }, /* scratch */
		{ 8 << 20, 65536, 4096, 2, 100000, 0 }, /* … less of it */
		{ 65536, 16 << 20, 4096, 2, 0, 0 },     /* indexes */
		{ 65536, 65536, 1 << 20, 20, 0, 0 },    /* speculations */
		{ 65536, 65536, 64, 5000, 0, 0 },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(of); i++) {
		struct material m;
		prepare(&m);
		struct vp_msg_open *o = &m.f->open;
		o->bufsize = of[i].bufsize;
		o->aggsize = of[i].aggsize;
		o->specsize = of[i].specsize;
		o->nspec = of[i].nspec;
		o->scratch_max = of[i].scratch_max;
		o->maxcost = of[i].maxcost;
		ef_open(m.f); /* makes room */
		ef_close(m.f);
		const struct vp_private_parts parts = parts_of(&m);
		uint64_t told = vp_private_memory(o, &parts);
		nomem_count();
		EF_OK(session(&m));
		assert_true(nomem_most() <= told);
		assert_true(told - nomem_most() < (2 << 20) + told / 8);
		close_and_check(&m);
		release(&m);
	}
}

/* A probe of no site has two words for each vCPU, which are made again while the previous ones are in force.
 */
static void tables_of_timed_probes_are_told(void **state)
{
	const struct vp_msg_open open = { .nvcpus = 256, .strsize = 256, .bufsize = 65536 };
	const struct vp_private_parts none = { .probes = 1000 }, timed = { .probes = 1000, .timed = 1000 };
	(void)state;

	assert_true(vp_private_memory(&open, &timed) - vp_private_memory(&open, &none) >=
		    1000ull * 2 * 2 * 256 * 8);
}

/* More than a session may ever take is refused before anything is allocated. */
static void more_than_any_takes(void **state)
{
	struct material m;
	(void)state;

	prepare(&m);
	m.f->open.aggsize = 4ull << 30;
	EF_OK(vp_shared_layout(&m.f->open, &m.f->shared_size)); /* only its length is used, not its content */
	nomem_count();
	EF_FAILS(OT_ERR_LIMIT, session(&m));
	assert_true(nomem_most() < 1 << 20);
	release(&m);
}

/* The same, with the failure going on until the session is closed. */
static void nth_install_fails(void **state)
{
	struct material m;
	(void)state;

	prepare(&m);
	for (unsigned n = 1;; n++) {
		vp_fake_fail_install(m.f->fake, n);
		struct ot_err *err = session(&m);
		vp_fake_fail_install(m.f->fake, 0);
		bool done = !err;
		if (err)
			assert_int_equal(ot_err_code(err), OT_ERR_OS);
		ot_err_destroy(err);
		close_and_check(&m);
		if (done)
			break;
		assert_true(n < 10);
	}
	release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nth_allocation_fails), cmocka_unit_test(nth_install_fails),
		cmocka_unit_test(less_than_told),       cmocka_unit_test(tables_of_timed_probes_are_told),
		cmocka_unit_test(more_than_any_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
