/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites with programs of their own: conditions, and arguments that are evaluated at a hit. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

/* A guest, the session's program, and the list of site programs that its batch will bring. */
struct sites {
	struct ef *f;
	struct dif_clause clauses[8];
	struct dif_action actions[8][VP_SITE_ARGS + 1];
	uint32_t n;
	struct ot_buf dof;
};

static void begin(struct sites *s, uint32_t counter_slots)
{
	const struct vp_fake_config config = {
		.nvcpus = 2, .ram_size = 8u << 20, .levels = 4, .counter_slots = counter_slots
	};

	memset(s, 0, sizeof(*s));
	s->f = ef_create_with(&config);
	ot_buf_init(&s->dof);
}

static void end(struct sites *s)
{
	ef_destroy(s->f);
	ot_buf_deinit(&s->dof);
}

/* A program with a condition (NULL: none) and arguments; its number. */
static uint32_t program(struct sites *s, struct dif_object *condition, struct dif_object *const *args,
			uint32_t nargs)
{
	struct dif_clause *c = &s->clauses[s->n];

	for (uint32_t i = 0; i < nargs; i++)
		s->actions[s->n][i] = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = args[i] };
	*c = (struct dif_clause){
		.probe = { .guest = "", .provider = "", .module = "", .function = "", .name = "" },
		.predicate = condition,
		.actions = s->actions[s->n],
		.nactions = nargs,
	};
	return ++s->n;
}

static void write_programs(struct sites *s)
{
	struct dif_program prog;

	dif_program_init(&prog);
	prog.clauses = s->clauses;
	prog.nclauses = s->n;
	s->dof.len = 0;
	EF_OK(dif_dof_write(&prog, &s->dof));
	s->f->dof = &s->dof;
}

/* A probe with one site, at @p gva in @p function. */
static uint32_t add_probe(struct sites *s, uint64_t gva, uint64_t function, enum vp_args args, uint32_t raw,
			  uint32_t prog)
{
	uint32_t p = ef_probe(s->f, VP_PROBE_SITE, VP_ARGS_SITE, "", "exit");
	struct vp_batch_site *site;

	ef_site(s->f, gva, function);
	site = &((struct vp_batch_site *)(void *)s->f->sites.data)[s->f->nsites - 1];
	site->args = (uint8_t)args;
	site->raw = raw;
	site->program = prog;
	return p;
}

/* regs[reg] + add */
static struct dif_object *reg_plus(struct ef *f, uint64_t reg, uint64_t add)
{
	const uint32_t text[] = {
		dif_insn_index(DIF_OP_setx, 0, 1), dif_insn(DIF_OP_ldga, DIF_VAR_regs, 1, 2),
		dif_insn_index(DIF_OP_setx, 1, 1), dif_insn(DIF_OP_add, 1, 2, 1),
		dif_insn(DIF_OP_ret, 0, 0, 1),
	};
	struct dif_object *o =
	    ef_obj(f, text, OT_ARRAY_SIZE(text), (struct dif_rtype){ .ckind = DIF_CTF_INTEGER, .size = 8 });

	o->ints[0] = reg;
	o->ints[1] = add;
	o->int_len = 2;
	return o;
}

static uint32_t records(struct ef *f, struct ef_record *r)
{
	ef_switch(f);
	return ef_records(f, 0, r, 8);
}

static uint64_t drops(struct ef *f)
{
	const struct vp_vcpu_status *status = ef_status(f, 0);

	return status->principal[0].dropped + status->principal[1].dropped;
}

static void a_condition_decides(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	struct dif_object *arg[] = { ef_var(f, DIF_VAR_arg2) };
	uint32_t prog = program(&s, ef_var_eq(f, DIF_VAR_arg1, 7), arg, 1);
	write_programs(&s);
	ef_open(f);
	ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog), c);
	ef_enable(f);
	ef_start(f);
	/* the place's registers that condition and argument read, and no more */
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->regs, VP_REG_BIT(VP_RSI) | VP_REG_BIT(VP_RDX));
	vp_fake_set_reg(f->fake, 0, VP_RDX, 42);
	vp_fake_set_reg(f->fake, 0, VP_RSI, 6);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	vp_fake_set_reg(f->fake, 0, VP_RSI, 7);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(records(f, r), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 42);
	assert_int_equal(ef_status(f, 0)->hits, 1);
	end(&s);
}

/* A full buffer is no drop where the probe did not fire. */
static void nothing_is_dropped_where_the_condition_is_false(void **state)
{
	struct sites s;
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	uint32_t prog = program(&s, ef_var_eq(f, DIF_VAR_arg0, 1), NULL, 0);
	write_programs(&s);
	f->open.bufsize = 64;
	ef_open(f);
	ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog), c);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 1);
	for (int i = 0; i < 10; i++)
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	uint64_t dropped = drops(f);
	assert_true(dropped > 0);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 2);
	for (int i = 0; i < 10; i++)
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(drops(f), dropped);
	end(&s);
}

/* The probe's arguments stand on the place's, and those on registers, each with its condition. */
static void programs_stand_on_one_another(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	uint32_t on = ef_clause(f, NULL);
	ef_action(f, on, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	/* the place: arg0 = r12 + 8, arg1 = rbx, if rbx is 5 through arg0 of nothing */
	struct dif_object *place[] = { reg_plus(f, VP_R12, 8), reg_plus(f, VP_RBX, 0) };
	uint32_t raw = program(&s, reg_plus(f, VP_RBX, (uint64_t)-5), place, 2);
	/* the probe: its arg0 is the place's arg1, its arg1 a constant, if the place's arg0 is 108 */
	struct dif_object *probe[] = { ef_var(f, DIF_VAR_arg1), ef_int(f, 99) };
	uint32_t prog = program(&s, ef_var_eq(f, DIF_VAR_arg0, 108), probe, 2);
	write_programs(&s);
	ef_open(f);
	ef_ecb(f, add_probe(&s, EF_FUNC_A + 0, EF_FUNC_A, VP_ARGS_NONE, raw, prog), c);
	ef_ecb(f, add_probe(&s, EF_FUNC_B, EF_FUNC_B, VP_ARGS_NONE, raw, 0), on);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_R12, 100);
	vp_fake_set_reg(f->fake, 0, VP_RBX, 5);
	vp_fake_hit(f->fake, 0, EF_FUNC_A); /* raw's condition: rbx - 5 */
	vp_fake_set_reg(f->fake, 0, VP_RBX, 6);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	vp_fake_set_reg(f->fake, 0, VP_R12, 101);
	vp_fake_hit(f->fake, 0, EF_FUNC_A); /* the probe's condition */
	assert_int_equal(records(f, r), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 6);
	assert_int_equal(ef_u64(r[0].data + 24), 99);
	assert_int_equal(ef_u64(r[1].data + 16), 6);
	end(&s);
}

/* An argument behind the program's is 0, whatever lies in registers. */
static void arguments_end(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	struct dif_object *arg[] = { ef_var(f, DIF_VAR_arg2) };
	uint32_t prog = program(&s, NULL, arg, 1);
	write_programs(&s);
	ef_open(f);
	ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog), c);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_RSI, 42);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(records(f, r), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 0);
	end(&s);
}

/* A return's offset and value, and the tuple that is being pushed while an argument is evaluated. */
static void an_evaluation_goes_on_after_its_arguments(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	/* strlen() of a constant of its own, with the argument evaluated between sets and call */
	const uint32_t text[] = {
		dif_insn_index(DIF_OP_sets, 1, 3),
		dif_insn_index(DIF_OP_ldgs, DIF_VAR_arg0, 4),
		dif_insn_index(DIF_OP_setx, 0, 5),
		dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 5, 3),
		dif_insn_index(DIF_OP_ldgs, DIF_VAR_arg1, 6),
		dif_insn_index(DIF_OP_call, DIF_SUBR_strlen, 1),
		dif_insn(DIF_OP_add, 1, 4, 1),
		dif_insn(DIF_OP_add, 1, 6, 1),
		dif_insn(DIF_OP_ret, 0, 0, 1),
	};
	struct dif_object *o =
	    ef_obj(f, text, OT_ARRAY_SIZE(text), (struct dif_rtype){ .ckind = DIF_CTF_INTEGER, .size = 8 });
	o->strs = ef_string(f, "seven77")->strs;
	o->str_len = 9;
	o->int_len = 1;
	ef_action(f, c, DIF_ACT_difexpr, o);
	uint32_t whole = ef_clause(f, NULL);
	ef_action(f, whole, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_arg2));
	/* arg1: strlen() of another object's constant; arg2: a constant of the program's */
	const uint32_t length[] = { dif_insn_index(DIF_OP_sets, 1, 3), dif_insn_index(DIF_OP_setx, 0, 5),
				    dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 5, 3),
				    dif_insn_index(DIF_OP_call, DIF_SUBR_strlen, 1),
				    dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *other = ef_obj(f, length, OT_ARRAY_SIZE(length), o->ret);
	other->strs = ef_string(f, "three")->strs;
	other->str_len = 7;
	other->int_len = 1;
	struct dif_object *args[] = { ef_var(f, DIF_VAR_arg0), other, ef_string(f, "constant") };
	uint32_t prog = program(&s, NULL, args, 3);
	write_programs(&s);
	ef_open(f);
	uint32_t p = add_probe(&s, EF_RET(EF_FUNC_A), EF_FUNC_A, VP_ARGS_FBT_RETURN, 0, prog);
	ef_ecb(f, p, c);
	ef_ecb(f, p, whole);
	ef_enable(f);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_RET(EF_FUNC_A));
	assert_int_equal(records(f, r), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 7 + 0x40 + 5);
	assert_string_equal((const char *)r[1].data + 16, "constant");
	end(&s);
}

/* A fault in an argument is the clause's, and one in a condition is reported as one in a predicate. */
static void faults_are_reported(void **state)
{
	struct sites s;
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	uint32_t other = ef_clause(f, NULL);
	ef_action(f, other, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	struct dif_object *args[] = { ef_deref(f, 0x1234500, false), ef_int(f, 3) };
	uint32_t in_arg = program(&s, NULL, args, 2);
	uint32_t in_condition = program(&s, ef_deref(f, 0x1234500, false), NULL, 0);
	write_programs(&s);
	ef_open(f);
	uint32_t p = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, in_arg);
	ef_ecb(f, p, c);
	ef_ecb(f, p, other); /* asks for the argument that is well */
	ef_ecb(f, add_probe(&s, EF_FUNC_B, EF_FUNC_B, VP_ARGS_FBT_ENTRY, 0, in_condition), other);
	ef_enable(f);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_status(f, 0)->faults, 1);
	struct ef_record r[8];
	assert_int_equal(ef_records(f, 0, r, 8), 2); /* the fault's, and the other clause's */
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	ef_switch(f);
	assert_int_equal(ef_status(f, 0)->faults, 2);
	assert_int_equal(ef_records(f, 0, r, 8), 1);
	end(&s);
}

/* A condition or an argument that counts its evaluations in global 0x500 + n; its value is their number. */
static struct dif_object *counted(struct ef *f, uint32_t n)
{
	return ef_global_add(f, 0x500 + n, 1);
}

/* The session's program has the globals that counted() names, and a clause that records them. */
static uint32_t clause_of_counts(struct ef *f, uint32_t n)
{
	uint32_t c = ef_clause(f, NULL);

	for (uint32_t i = 0; i < n; i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_global(f, 0x500 + i));
	return c;
}

/* Of ten clauses on one probe: condition and arguments are evaluated once a firing, and each clause sees
 * them. */
static void a_firing_evaluates_once(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t counts = clause_of_counts(f, 3);
	uint32_t asks = ef_clause(f, NULL);
	ef_agg(f, asks, DIF_AGG_sum, ef_var(f, DIF_VAR_arg0), 0);
	ef_action(f, asks, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	struct dif_object *args[] = { counted(f, 1), counted(f, 2) };
	uint32_t prog = program(&s, counted(f, 0), args, 2);
	write_programs(&s);
	ef_open(f);
	uint32_t p = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog);
	for (unsigned i = 0; i < 5; i++)
		ef_ecb(f, p, asks);
	ef_ecb(f, p, counts);
	ef_enable(f);
	ef_start(f);
	for (unsigned firing = 1; firing <= 3; firing++) {
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
		assert_int_equal(records(f, r), 6);
		for (unsigned i = 0; i < 5; i++) /* the argument's value is how often it was evaluated */
			assert_int_equal(ef_u64(r[i].data + 16), firing);
		assert_int_equal(ef_u64(r[5].data + 16), firing); /* the condition */
		assert_int_equal(ef_u64(r[5].data + 24), firing); /* arg0 */
		assert_int_equal(ef_u64(r[5].data + 32), 0);      /* arg1, which nobody asks for */
	}
	end(&s);
}

/* Clauses of several probes of one place take turns: each probe has its own condition, once. */
static void probes_of_one_place_are_kept_apart(void **state)
{
	enum { PROBES = 10, ROUNDS = 3 }; /* more than VP_KNOWN_SITES */
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t counts = clause_of_counts(f, 3);
	uint32_t says = ef_clause(f, NULL);
	ef_agg(f, says, DIF_AGG_sum, ef_var(f, DIF_VAR_arg0), 0);
	struct dif_object *one[] = { ef_int(f, 1) }, *two[] = { ef_int(f, 100) };
	uint32_t first = program(&s, counted(f, 0), one, 1);
	uint32_t never = program(&s, ef_int(f, 0), one, 1);
	uint32_t other = program(&s, counted(f, 1), two, 1);
	uint32_t late = program(&s, counted(f, 2), one, 1);
	write_programs(&s);
	ef_open(f);
	uint32_t p[PROBES];
	p[0] = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, first);
	p[1] = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, never);
	p[2] = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, other);
	for (unsigned i = 3; i < PROBES; i++)
		p[i] = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, late);
	uint32_t reports = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < 3; i++)
			ef_ecb(f, p[i], says);
	for (unsigned i = 3; i < PROBES; i++)
		ef_ecb(f, p[i], says);
	ef_ecb(f, reports, counts);
	ef_enable(f);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(records(f, r), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 1);
	assert_int_equal(ef_u64(r[0].data + 24), 1);
	assert_int_equal(ef_u64(r[0].data + 32), PROBES - 3);
	assert_int_equal(ef_agg_total(f), ROUNDS * (1 + 100) + PROBES - 3);
	end(&s);
}

/* What clauses do to the values that a condition reads does not undo the event, and the next one is asked
 * again. */
static void an_event_stays_one(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t spoils = ef_clause(f, NULL);
	ef_action(f, spoils, DIF_ACT_difexpr, ef_global_add(f, 0x500, (uint64_t)-1));
	uint32_t prog = program(&s, ef_global(f, 0x500), NULL, 0);
	uint32_t sets = ef_clause(f, NULL);
	ef_action(f, sets, DIF_ACT_difexpr, ef_global_add(f, 0x500, 1));
	write_programs(&s);
	ef_open(f);
	ef_ecb(f, add_probe(&s, EF_FUNC_B, EF_FUNC_B, VP_ARGS_FBT_ENTRY, 0, 0), sets);
	uint32_t p = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog);
	ef_ecb(f, p, spoils);
	ef_ecb(f, p, sets);
	ef_ecb(f, p, spoils);
	ef_enable(f);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(records(f, r), 0);
	vp_fake_hit(f->fake, 0, EF_FUNC_B);
	vp_fake_hit(f->fake, 0, EF_FUNC_A); /* 1 → 0 → 1 → 0: three records, though it is 0 after the first */
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(records(f, r), 4);
	end(&s);
}

/* Strings lie in scratch memory, where the clause between makes others. */
static void strings_are_made_for_each_clause(void **state)
{
	struct sites s;
	struct ef_record r[8];
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t asks = ef_clause(f, NULL);
	ef_action(f, asks, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_arg0));
	uint32_t between = ef_clause(f, NULL);
	ef_action(f, between, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	struct dif_object *args[] = { ef_string(f, "constant") };
	uint32_t prog = program(&s, NULL, args, 1);
	write_programs(&s);
	ef_open(f);
	uint32_t p = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog);
	ef_ecb(f, p, asks);
	ef_ecb(f, p, between);
	ef_ecb(f, p, asks);
	ef_enable(f);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	assert_int_equal(records(f, r), 3);
	assert_string_equal((const char *)r[0].data + 16, "constant");
	assert_string_equal((const char *)r[1].data + 16, "swapper/0");
	assert_string_equal((const char *)r[2].data + 16, "constant");
	end(&s);
}

/* A condition that faults is no answer: each clause reports it. */
static void faults_are_not_kept(void **state)
{
	struct sites s;
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	uint32_t prog = program(&s, ef_deref(f, 0x1234500, false), NULL, 0);
	write_programs(&s);
	ef_open(f);
	uint32_t p = add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, prog);
	ef_ecb(f, p, c);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_status(f, 0)->faults, 2);
	end(&s);
}

/* A counter in translated code can't ask a condition; without one it need not be asked. */
static void only_conditions_keep_from_counting_inline(void **state)
{
	struct sites s;
	(void)state;

	begin(&s, 4);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	struct dif_object *arg[] = { ef_var(f, DIF_VAR_arg1) };
	uint32_t without = program(&s, NULL, arg, 1);
	uint32_t with = program(&s, ef_var_eq(f, DIF_VAR_arg0, 1), arg, 1);
	write_programs(&s);
	ef_open(f);
	ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, without), c);
	ef_ecb(f, add_probe(&s, EF_FUNC_B, EF_FUNC_B, VP_ARGS_FBT_ENTRY, 0, with), c);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->ncounters, 1);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->necbs, 0);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_B)->ncounters, 0);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_B)->necbs, 1);
	for (unsigned i = 0; i < 6; i++) {
		vp_fake_set_reg(f->fake, 0, VP_RDI, i & 1);
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
		vp_fake_hit(f->fake, 0, EF_FUNC_B);
	}
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 6 + 3);
	end(&s);
}

/* What a client may not send, one thing at a time. */
static void hostile_batches_are_refused(void **state)
{
	struct sites s;
	(void)state;

	begin(&s, 0);
	struct ef *f = s.f;
	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_global(f, 0x500));
	struct dif_object *args[VP_SITE_ARGS + 1];
	for (unsigned i = 0; i <= VP_SITE_ARGS; i++)
		args[i] = ef_int(f, i);
	ef_open(f);

	const struct {
		uint32_t raw, program, args;
	} sites[] = { { 2, 0, 0 },
		      { 0, 2, 0 },
		      { 0, UINT32_MAX, 0 },
		      { 0, 0, VP_ARGS_PROFILE },
		      { 0, 0, VP_ARGS_SITE } };
	program(&s, NULL, args, VP_SITE_ARGS);
	write_programs(&s);
	for (size_t i = 0; i < OT_ARRAY_SIZE(sites); i++) {
		ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, sites[i].args, sites[i].raw, sites[i].program),
		       c);
		EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
		ef_batch_clear(f);
	}
	/* programs at a site whose probe says what its arguments are */
	ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, 0, 0, 1), c);
	((struct vp_batch_probe *)(void *)f->probes.data)[0].args = VP_ARGS_FBT_ENTRY;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);

	struct dif_object *unknown[] = { ef_global(f, 0x501) }, *typed[] = { ef_self(f, 0x500) };
	struct dif_object *wild[] = { ef_int(f, 1) };
	wild[0]->text[0] = dif_insn_index(DIF_OP_setx, 9, 1); /* beside its table */
	const struct {
		struct dif_object *condition, **args;
		uint32_t nargs;
	} programs[] = {
		{ NULL, args, VP_SITE_ARGS + 1 },
		{ NULL, unknown, 1 },
		{ ef_global(f, 0x777), NULL, 0 },
		{ NULL, typed, 1 },
		{ NULL, wild, 1 },
	};
	for (size_t i = 0; i < OT_ARRAY_SIZE(programs); i++) {
		s.n = 0;
		uint32_t p = program(&s, programs[i].condition, programs[i].args, programs[i].nargs);
		write_programs(&s);
		ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, p), c);
		EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
		ef_batch_clear(f);
	}
	/* an action that is none of a site's */
	s.n = 0;
	uint32_t p = program(&s, NULL, args, 1);
	s.actions[0][0].kind = DIF_ACT_exit;
	write_programs(&s);
	ef_ecb(f, add_probe(&s, EF_FUNC_A, EF_FUNC_A, VP_ARGS_FBT_ENTRY, 0, p), c);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	/* DOF that is cut short, and that lies outside */
	s.actions[0][0].kind = DIF_ACT_difexpr;
	write_programs(&s);
	for (size_t cut = 1; cut < s.dof.len; cut += 7) {
		struct ot_buf less = s.dof;
		less.len = cut;
		f->dof = &less;
		EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	}
	f->dof = &s.dof;
	size_t size;
	struct vp_batch *batch = ef_batch(f, &size);
	batch->dof_offset = batch->size;
	EF_FAILS(OT_ERR_BAD_DATA, vp_engine_session_enable(f->es, batch, size));
	batch->dof_offset = UINT32_MAX;
	EF_FAILS(OT_ERR_BAD_DATA, vp_engine_session_enable(f->es, batch, size));
	free(batch);
	/* and what is left is a batch like any other */
	ef_enable(f);
	ef_start(f);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_decides),
		cmocka_unit_test(nothing_is_dropped_where_the_condition_is_false),
		cmocka_unit_test(programs_stand_on_one_another),
		cmocka_unit_test(arguments_end),
		cmocka_unit_test(an_evaluation_goes_on_after_its_arguments),
		cmocka_unit_test(faults_are_reported),
		cmocka_unit_test(a_firing_evaluates_once),
		cmocka_unit_test(probes_of_one_place_are_kept_apart),
		cmocka_unit_test(an_event_stays_one),
		cmocka_unit_test(strings_are_made_for_each_clause),
		cmocka_unit_test(faults_are_not_kept),
		cmocka_unit_test(only_conditions_keep_from_counting_inline),
		cmocka_unit_test(hostile_batches_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
