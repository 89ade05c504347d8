/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firing: predicates, each kind of action, faults, exit(), built-in variables. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RECORDS 256

static uint32_t hit_and_read(struct ef *f, uint64_t gva, struct ef_record *r)
{
	assert_true(vp_fake_hit(f->fake, 0, gva));
	ef_switch(f);
	return ef_records(f, 0, r, MAX_RECORDS);
}

static void records_data(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_int(f, 0x1122334455667788));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, c, DIF_ACT_difexpr, ef_string(f, "text"));
	uint32_t epid = ef_trace(f, c);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 1);
	assert_int_equal(r[0].epid, epid);
	assert_true(r[0].time_ns != 0);
	assert_int_equal(ef_u64(r[0].data + 16), 0x1122334455667788);
	assert_string_equal((const char *)r[0].data + 24, "swapper/0");
	assert_string_equal((const char *)r[0].data + 24 + 32, "text");
	ef_destroy(f);
}

static void default_action_records_the_header(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_trace(f, c);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 2);
	assert_true(r[0].time_ns <= r[1].time_ns);
	assert_int_equal(ef_status(f, 1)->principal[0].used, 24);
	assert_int_equal(ef_status(f, 1)->hits, 2);
	ef_destroy(f);
}

static void predicate_chooses(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 91));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_tid));
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 101);
	ef_destroy(f);
}

/* Two clauses on one site, in order; another function is no site. */
static void clauses_in_order(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c0 = ef_clause(f, NULL), c1 = ef_clause(f, NULL);
	ef_action(f, c0, DIF_ACT_difexpr, ef_int(f, 1));
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	uint32_t e1 = ef_ecb(f, p, c1), e0 = ef_ecb(f, p, c0);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 2);
	assert_int_equal(r[0].epid, e1);
	assert_int_equal(r[1].epid, e0);
	ef_destroy(f);
}

static void fault_is_recorded_and_fires_error(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	struct vp_fault_record fault;
	(void)state;

	uint32_t c = ef_clause(f, NULL), ec = ef_clause(f, NULL), after = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_int(f, 1));
	ef_action(f, c, DIF_ACT_difexpr, ef_deref(f, 0xffff888000900000, false));
	for (uint32_t i = 1; i <= 5; i++)
		ef_action(f, ec, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0 + i));
	ef_open(f);
	uint32_t err_probe = ef_probe(f, VP_PROBE_ERROR, VP_ARGS_ERROR, "", "ERROR");
	uint32_t err_epid = ef_ecb(f, err_probe, ec);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	uint32_t epid = ef_ecb(f, p, c), after_epid = ef_ecb(f, p, after);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 3);
	assert_int_equal(r[0].epid, VP_EPID_FAULT);
	memcpy(&fault, r[0].data, sizeof(fault));
	assert_int_equal(fault.ecb, epid);
	assert_int_equal(fault.action, 2);
	assert_int_equal(fault.offset, 4);
	assert_int_equal(fault.fault, DIF_FAULT_BADADDR);
	assert_int_equal(fault.address, 0xffff888000900000);
	assert_int_equal(r[1].epid, err_epid);
	assert_int_equal(ef_u64(r[1].data + 16), epid);
	assert_int_equal(ef_u64(r[1].data + 24), 2);
	assert_int_equal(ef_u64(r[1].data + 32), 4);
	assert_int_equal(ef_u64(r[1].data + 40), DIF_FAULT_BADADDR);
	assert_int_equal(ef_u64(r[1].data + 48), 0xffff888000900000);
	assert_int_equal(r[2].epid, after_epid);
	assert_int_equal(ef_status(f, 0)->faults, 1);
	assert_int_equal(ef_status(f, 0)->error_drops, 0);
	ef_destroy(f);
}

static void fault_in_predicate_is_action_zero(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	struct vp_fault_record fault;
	(void)state;

	uint32_t c = ef_clause(f, ef_deref(f, 0, false));
	ef_trace(f, c);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 1);
	memcpy(&fault, r[0].data, sizeof(fault));
	assert_int_equal(fault.action, 0);
	assert_int_equal(fault.address, 0);
	ef_destroy(f);
}

static void fault_in_error_only_counts(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, ef_deref(f, 0, false));
	ef_open(f);
	uint32_t err_probe = ef_probe(f, VP_PROBE_ERROR, VP_ARGS_ERROR, "", "ERROR");
	ef_ecb(f, err_probe, c);
	ef_enable(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_start(f);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 1);
	assert_int_equal(r[0].epid, VP_EPID_FAULT);
	assert_int_equal(ef_status(f, 0)->error_drops, 1);
	assert_int_equal(ef_status(f, 0)->faults, 2);
	ef_destroy(f);
}

static void second_exit_in_a_clause(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_exit, ef_int(f, 1));
	ef_action(f, c, DIF_ACT_exit, ef_int(f, 2));
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(ef_switch(f).exit_status, 1);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(ef_status(f, 0)->principal[0].dropped, 0);
	ef_destroy(f);
}

static void exit_stops_other_clauses(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL), later = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_exit, ef_int(f, 42));
	ef_action(f, c, DIF_ACT_difexpr, ef_int(f, 7));
	ef_open(f);
	uint32_t epid = ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable_entry(f, later, EF_FUNC_A);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	assert_int_equal(ef_status(f, 0)->exit_pending, 43);
	struct vp_msg_switch_reply reply = ef_switch(f);
	assert_int_equal(reply.exit_called, 1);
	assert_int_equal(reply.exit_status, 42);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(r[0].epid, epid);
	assert_int_equal((uint32_t)ef_u64(r[0].data + 12), 42);
	assert_int_equal(ef_u64(r[0].data + 16), 7); /* the clause went on to its end */
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 0);
	ef_destroy(f);
}

static void aggregates_by_key(void **state)
{
	struct ef *f = ef_create();
	const uint8_t *key;
	const uint64_t *words;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_var(f, DIF_VAR_pid));
	ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg0), 2);
	ef_trace(f, c);
	for (unsigned i = 1; i <= 4; i++) {
		vp_fake_set_reg(f->fake, 0, VP_RDI, i);
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
	}
	ef_switch(f);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	assert_int_equal(ef_u64(key + 4), 90);
	assert_string_equal((const char *)key + 12, "swapper/0");
	assert_int_equal(*words, 1 + 2 + 3 + 4);
	assert_false(ef_agg_entry(f, 0, 1, &key, &words));
	/* a half is a delta */
	ef_switch(f);
	assert_false(ef_agg_entry(f, 0, 0, &key, &words));
	ef_destroy(f);
}

static void aggregation_increment(void **state)
{
	struct ef *f = ef_create();
	const uint8_t *key;
	const uint64_t *words;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	struct dif_action *incr = ef_action(f, c, DIF_ACT_difexpr, ef_int(f, 5));
	incr->is_increment = true;
	struct dif_action *a = ef_agg(f, c, DIF_AGG_quantize, ef_int(f, 1), 0);
	a->ntuple = 2;
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	assert_int_equal(words[dif_quantize_bucket(1)], 5);
	ef_destroy(f);
}

static void aggregation_without_room_is_a_drop(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_var(f, DIF_VAR_arg0));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	f->open.aggsize = 256;
	ef_trace(f, c);
	for (unsigned i = 0; i < 100; i++) {
		vp_fake_set_reg(f->fake, 0, VP_RDI, i);
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
	}
	ef_switch(f);
	uint64_t total = ef_agg_total(f);
	assert_true(total > 0 && total < 100);
	assert_int_equal(ef_status(f, 0)->aggregation[0].dropped, 100 - total);
	ef_destroy(f);
}

struct builtin {
	uint32_t var;
	uint64_t value;
};

static void builtins(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	const struct builtin want[] = {
		{ DIF_VAR_pid, 91 },
		{ DIF_VAR_tid, 101 },
		{ DIF_VAR_ppid, 90 },
		{ DIF_VAR_uid, 1001 },
		{ DIF_VAR_gid, 2001 },
		{ DIF_VAR_curthread, EF_TASKS + VP_FAKE_PAGE },
		{ DIF_VAR_cpu, 1 },
		{ DIF_VAR_vcpu, 1 },
		{ DIF_VAR_guestid, 7 },
		{ DIF_VAR_id, 10 },
		{ DIF_VAR_epid, 1 },
		{ DIF_VAR_errno, 0 },
		{ DIF_VAR_ipl, 0 },
		{ DIF_VAR_vtimestamp, 10000 + 5000 - 4000 },
		{ DIF_VAR_percpubase, EF_PERCPU + VP_FAKE_PAGE },
		{ DIF_VAR_arg5, 0x1005 },
	};
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(want); i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_var(f, want[i].var));
	ef_trace(f, c);
	static const uint8_t regs[] = { VP_RDI, VP_RSI, VP_RDX, VP_RCX, VP_R8, VP_R9 };
	for (unsigned i = 0; i < 6; i++)
		vp_fake_set_reg(f->fake, 1, (enum vp_reg)regs[i], 0x1000 + i);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 1);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(want); i++)
		assert_int_equal(ef_u64(r[0].data + 16 + 8 * i), want[i].value);
	ef_destroy(f);
}

static void builtin_strings(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	static const uint32_t vars[] = { DIF_VAR_probeprov, DIF_VAR_probemod, DIF_VAR_probefunc,
					 DIF_VAR_probename, DIF_VAR_guest,    DIF_VAR_execname };
	static const char *const want[] = { "fbt", "vmlinux", "func", "entry", "fake", "swapper/0" };
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(vars); i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, vars[i]));
	ef_trace(f, c);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 1);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(vars); i++)
		assert_string_equal((const char *)r[0].data + 16 + 32 * i, want[i]);
	ef_destroy(f);
}

/* The timestamp is one value in a clause, and the record's. */
static void time_stands_still_in_a_clause(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_timestamp));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_timestamp));
	ef_trace(f, c);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 1);
	assert_int_equal(ef_u64(r[0].data + 16), r[0].time_ns);
	assert_int_equal(ef_u64(r[0].data + 24), r[0].time_ns);
	ef_destroy(f);
}

/* Between two updates of the run queue's clock vtimestamp advances with the host's, and never decreases. */
static void vtimestamp_goes_on(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	const struct timespec ms = { .tv_nsec = 1000000 };
	uint64_t rq = EF_PERCPU + EF_PERCPU_RQ + EF_RQ_CLOCK, clock = 6000;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_vtimestamp));
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	nanosleep(&ms, NULL);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	for (unsigned i = 0; i < 20; i++) {
		nanosleep(&ms, NULL);
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
	}
	vp_fake_write(f->fake, f->kernel_root, rq, &clock, sizeof(clock));
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	uint32_t n = ef_records(f, 0, r, MAX_RECORDS);
	assert_int_equal(n, 23);
	uint64_t first = ef_u64(r[0].data + 16), second = ef_u64(r[1].data + 16);
	assert_int_equal(first, 11000);
	assert_true(second - first >= 1000000);
	assert_int_equal(second - first,
			 r[1].time_ns - r[0].time_ns < 10000000 ? r[1].time_ns - r[0].time_ns : 10000000);
	for (uint32_t i = 1; i < n; i++)
		assert_true(ef_u64(r[i].data + 16) >= ef_u64(r[i - 1].data + 16));
	assert_true(ef_u64(r[n - 1].data + 16) <= first + 1000 + 10000000);
	ef_destroy(f);
}

/* chill() delays, up to half a second in each second; more is a fault, at once. */
static void chill_is_bounded(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL), after = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_chill, ef_var(f, DIF_VAR_arg0));
	EF_FAILS(OT_ERR_PERMISSION, ef_try_open(f));
	f->open.flags = VP_OPEN_DESTRUCTIVE;
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, after);
	ef_ecb(f, p, c);
	ef_ecb(f, p, after);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 3000000);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 2);
	assert_true(r[1].time_ns - r[0].time_ns >= 3000000);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 499000000); /* with what was before, too much */
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 3);
	assert_int_equal(r[1].epid, VP_EPID_FAULT);
	vp_fake_set_reg(f->fake, 0, VP_RDI, ~0ull);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 3);
	assert_int_equal(ef_status(f, 0)->faults, 2);
	ef_destroy(f);
}

static void return_arguments(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_errno));
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_RETURN, "a", "return");
	ef_site(f, EF_RET(EF_FUNC_A), EF_FUNC_A);
	ef_ecb(f, p, c);
	p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_RETURN, "b", "return");
	ef_site(f, EF_RET(EF_FUNC_B), EF_FUNC_B);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_RAX, (uint64_t)-13);
	vp_fake_hit(f->fake, 0, EF_RET(EF_FUNC_A));
	assert_int_equal(hit_and_read(f, EF_RET(EF_FUNC_B), r), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 0x40);
	assert_int_equal(ef_u64(r[0].data + 24), (uint64_t)-13);
	assert_int_equal(ef_u64(r[0].data + 32), 0);
	assert_int_equal(ef_u64(r[1].data + 16), (uint64_t)-13);
	assert_int_equal(ef_u64(r[1].data + 24), (uint64_t)-13);
	assert_int_equal(ef_u64(r[1].data + 32), 13);
	ef_destroy(f);
}

static void syscall_arguments_come_from_pt_regs(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	uint64_t regs[EF_PTREGS_WORDS], at = EF_STACKS + 0x100;
	(void)state;

	for (unsigned i = 0; i < EF_PTREGS_WORDS; i++)
		regs[i] = 0x100 + i;
	uint32_t c = ef_clause(f, NULL);
	for (unsigned i = 0; i < 5; i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0 + i));
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_ENTRY, "read", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	vp_fake_write(f->fake, f->kernel_root, at, regs, sizeof(regs));
	vp_fake_set_reg(f->fake, 0, VP_RDI, at);
	assert_int_equal(hit_and_read(f, EF_FUNC_A, r), 1);
	static const unsigned word[] = { EF_PTREGS_DI, EF_PTREGS_SI, EF_PTREGS_DX, EF_PTREGS_R10,
					 EF_PTREGS_R8 };
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(ef_u64(r[0].data + 16 + 8 * i), 0x100 + word[i]);
	ef_destroy(f);
}

/* A site in code that several system calls end in: fires in the right one only, and only where the function
 * returns to the dispatcher of system calls. */
static void site_of_one_syscall(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	uint64_t sp = EF_STACKS + 0x800, number = 39, orig_ax;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	f->facts.ptregs_syscall = 120;
	f->facts.syscall_caller.start = EF_FUNC_B;
	f->facts.syscall_caller.end = EF_FUNC_C;
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_RETURN, "getpid", "return");
	ef_site(f, EF_RET(EF_FUNC_A), EF_FUNC_A);
	((struct vp_batch_site *)(void *)f->sites.data)->syscall = 39 + 1;
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	orig_ax = EF_STACKS + EF_STACK_SIZE - EF_PTREGS_WORDS * 8 + 120;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t ret = i & 1 ? EF_FUNC_B + 8 : EF_FUNC_C, nr = i & 2 ? number : 40;
		vp_fake_write(f->fake, f->kernel_root, sp, &ret, sizeof(ret));
		vp_fake_write(f->fake, f->kernel_root, orig_ax, &nr, sizeof(nr));
		assert_int_equal(hit_and_read(f, EF_RET(EF_FUNC_A), r), i == 3);
	}
	ef_destroy(f);
}

/* Variables live in the session: globals in shared memory, self-> by thread. */
static void variables(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	f->open.dynvars_size = 65536;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_global_add(f, 0x500, 3));
	ef_action(f, c, DIF_ACT_difexpr, ef_self_set(f, 0x501, ef_var(f, DIF_VAR_tid)));
	ef_trace(f, c);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 1, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 3);
	assert_int_equal(ef_u64(r[0].data + 24), 100);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 6);
	assert_int_equal(ef_u64(r[0].data + 24), 101);
	ef_destroy(f);
}

/* vp_engine_session_fire(): the host engine's probes, with the caller's arguments, whatever the activity. */
static void fire_by_hand(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	uint64_t args[10] = { 5, 6 };
	(void)state;

	uint32_t c = ef_clause(f, NULL), quit = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_action(f, quit, DIF_ACT_exit, ef_int(f, 3));
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_HOST, VP_ARGS_NONE, "", "BEGIN");
	ef_probe_id(f, p, DIF_PROBE_BEGIN);
	ef_ecb(f, p, c);
	ef_ecb(f, p, quit);
	ef_ecb(f, p, c);
	p = ef_probe(f, VP_PROBE_HOST, VP_ARGS_NONE, "", "END");
	ef_probe_id(f, p, DIF_PROBE_END);
	ef_ecb(f, p, quit);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	assert_false(vp_engine_session_fire(f->es, DIF_PROBE_BEGIN, args));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2); /* the third was suppressed */
	assert_int_equal(ef_u64(r[0].data + 16), 6);
	assert_int_equal(ef_status(f, 0)->exit_pending, 4);
	vp_engine_session_fire(f->es, DIF_PROBE_END, args);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2); /* all of END's */
	assert_true(vp_engine_session_fire(f->es, 4711, args));
	ef_destroy(f);
}

static void two_sessions_share_a_site(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_trace(f, c);
	/* a second session of the same program, in memory of its own */
	struct vp_engine_session *first = f->es;
	uint8_t *first_shared = f->shared;
	f->shared = NULL;
	ef_trace(f, c);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	/* the first continues without the second */
	ef_close(f);
	free(f->shared);
	f->es = first;
	f->shared = first_shared;
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_data),
		cmocka_unit_test(default_action_records_the_header),
		cmocka_unit_test(predicate_chooses),
		cmocka_unit_test(clauses_in_order),
		cmocka_unit_test(fault_is_recorded_and_fires_error),
		cmocka_unit_test(fault_in_predicate_is_action_zero),
		cmocka_unit_test(fault_in_error_only_counts),
		cmocka_unit_test(second_exit_in_a_clause),
		cmocka_unit_test(exit_stops_other_clauses),
		cmocka_unit_test(aggregates_by_key),
		cmocka_unit_test(aggregation_increment),
		cmocka_unit_test(aggregation_without_room_is_a_drop),
		cmocka_unit_test(builtins),
		cmocka_unit_test(builtin_strings),
		cmocka_unit_test(time_stands_still_in_a_clause),
		cmocka_unit_test(vtimestamp_goes_on),
		cmocka_unit_test(chill_is_bounded),
		cmocka_unit_test(return_arguments),
		cmocka_unit_test(syscall_arguments_come_from_pt_regs),
		cmocka_unit_test(site_of_one_syscall),
		cmocka_unit_test(variables),
		cmocka_unit_test(fire_by_hand),
		cmocka_unit_test(two_sessions_share_a_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
