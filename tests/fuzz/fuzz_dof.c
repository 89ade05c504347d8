/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any DOF file: read, verified, laid out, written again and run, as an engine would. An input that begins
 * like a DOF file is one. Any other says how to make a program, which is written as DOF, and what to change
 * in it then: a file that is right but for a few words gets much further than noise.
 */
#include "tests/fuzz/fuzz_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lay_out(const struct dif_clause *c)
{
	struct dif_layout_opts opts = { WORLD_STRSIZE, 20, 20, 50, 512 };
	struct dif_clause_layout layout;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = dif_clause_layout(c, &opts, &arena, &layout);
	if (err && ot_err_code(err) != OT_ERR_LIMIT)
		abort();
	ot_err_destroy(err);
	ot_arena_deinit(&arena);
}

/* One object of the clause, which the input chooses: what objects do is fuzz_verify_run's. */
static void run_one(const struct dif_program *prog, const struct dif_clause *c, const uint8_t *data,
		    size_t size)
{
	uint32_t which = size ? data[size - 1] % (c->nactions + 2u) : 0;
	const struct dif_object *obj = which < c->nactions ? c->actions[which].object : c->predicate;

	if (obj)
		world_run(prog, obj, data, size);
}

/* What was read once is written, and must then read as well. */
static void write_again(const struct dif_program *prog)
{
	struct dif_program back;
	struct ot_buf buf;

	ot_buf_init(&buf);
	struct ot_err *err = dif_dof_write(prog, &buf);
	if (!err) {
		world_must(dif_dof_read(buf.data, buf.len, &back));
		if (back.nclauses != prog->nclauses || back.naggs != prog->naggs)
			abort();
		dif_program_deinit(&back);
	}
	ot_err_destroy(err);
	ot_buf_deinit(&buf);
}

static void read_and_run(const uint8_t *data, size_t size)
{
	struct dif_program prog;
	struct ot_err *err = dif_dof_read(data, size, &prog);

	if (err) {
		ot_err_destroy(err);
		return;
	}
	err = dif_program_verify(&prog);
	if (!err) {
		for (uint32_t i = 0; i < prog.nclauses && i < 16; i++)
			lay_out(&prog.clauses[i]);
		if (prog.nclauses)
			run_one(&prog, &prog.clauses[0], data, size);
		write_again(&prog);
	}
	ot_err_destroy(err);
	dif_program_deinit(&prog);
}

/* --- programs made from the input ---------------------------------------------------------------- */

#define OBJECTS 2u
#define CLAUSES 3u
#define ACTIONS 6u
#define AGGS    2u

#define VARIANTS 4u

struct made {
	struct dif_object objects[OBJECTS + 2]; /* the last two: a number and a string, for certain */
	struct dif_action actions[CLAUSES][ACTIONS];
	struct dif_clause clauses[CLAUSES];
	struct dif_aggvar aggs[AGGS];
	struct dif_optset opts[1];
	struct dif_program prog;
};

static uint32_t number_text[] = { 0x0e000001, 0x23000001 }; /* mov %r0, %r1; ret %r1 */
static uint32_t string_text[] = { 0x26000001, 0x23000001 }; /* sets 0, %r1; ret %r1 */
static char string_strs[] = "text";

static void make_objects(struct input *in, struct made *m)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		take_bent(in, &m->objects[i], 12);
	m->objects[OBJECTS] = (struct dif_object){ .text = number_text,
						   .text_len = 2,
						   .ret = { DIF_TYPE_CTF, DIF_CTF_INTEGER, 0, 0, 8 } };
	m->objects[OBJECTS + 1] = (struct dif_object){ .text = string_text,
						       .text_len = 2,
						       .strs = string_strs,
						       .str_len = sizeof(string_strs),
						       .ret = { DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 0 } };
}

static void make_aggs(struct input *in, struct made *m)
{
	static const char *const names[AGGS] = { "_", "second" };

	for (unsigned i = 0; i < AGGS; i++) {
		struct dif_aggvar *a = &m->aggs[i];
		*a = (struct dif_aggvar){ names[i], i + 1, (enum dif_agg_kind)(0x701 + take(in, 1) % 9), 0,
					  take(in, 1) % 3 };
		if (a->kind == DIF_AGG_lquantize)
			a->arg = (uint64_t)(1 + take(in, 1)) << 48 | (1ull + take(in, 1)) << 32 | take(in, 1);
		if (a->kind == DIF_AGG_llquantize)
			a->arg = 10ull << 48 | 2ull << 16 | 10;
	}
}

static struct dif_object *pick(struct input *in, struct made *m)
{
	return &m->objects[take(in, 1) % (OBJECTS + 2)];
}

/* An aggregation with its keys, if there is room. */
static void make_agg(struct input *in, struct made *m, struct dif_clause *c)
{
	const struct dif_aggvar *a = &m->aggs[take(in, 1) % AGGS];

	if (c->nactions + a->nkeys + 1 > ACTIONS)
		return;
	for (uint32_t i = 0; i < a->nkeys; i++)
		c->actions[c->nactions++] =
		    (struct dif_action){ .kind = DIF_ACT_difexpr, .object = pick(in, m), .is_key = true };
	c->actions[c->nactions++] = (struct dif_action){
		.kind = (enum dif_action_kind)a->kind,
		.ntuple = a->nkeys + 1,
		.arg = a->arg,
		.aggid = a->id,
		.object = a->kind == DIF_AGG_count ? NULL : &m->objects[OBJECTS],
	};
}

static void make_action(struct input *in, struct made *m, struct dif_clause *c)
{
	static const char *const formats[] = { "%d %s\n", "", "%", "text", "int\ni4s" };
	struct dif_action *a = &c->actions[c->nactions];
	uint32_t what = take(in, 1) % 9;

	if (what < 2) {
		make_agg(in, m, c);
		return;
	}
	*a = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = pick(in, m) };
	if (what == 2) {
		a->kind = DIF_ACT_printf;
		a->format = formats[take(in, 1) % 5];
		a->uarg = take(in, 1) % 3;
	} else if (what == 3) {
		a->kind = DIF_ACT_ustack;
		a->arg = (uint64_t)take(in, 1) << 32 | take(in, 1);
		a->object = NULL;
	} else if (what == 4) {
		a->kind = DIF_ACT_exit;
		a->object = &m->objects[OBJECTS];
	} else if (what > 5) { /* anything at all */
		static const uint16_t kinds[] = {
#define X(num, name) num,
			DIF_ACTIONS(X)
#undef X
		};
		a->kind = (enum dif_action_kind)kinds[take(in, 1) % OT_ARRAY_SIZE(kinds)];
		a->object = take(in, 1) % 3 ? &m->objects[OBJECTS] : NULL;
		a->arg = take(in, 1);
		a->aggid = take(in, 1) % 4;
		a->format = what == 6 ? formats[take(in, 1) % 5] : NULL;
	}
	c->nactions++;
}

static void make_program(struct input *in, struct made *m)
{
	memset(m, 0, sizeof(*m));
	make_objects(in, m);
	make_aggs(in, m);
	m->opts[0] = (struct dif_optset){ "quiet", take(in, 1) & 1 ? NULL : "yes" };
	m->prog.clauses = m->clauses;
	m->prog.nclauses = 1 + take(in, 1) % CLAUSES;
	m->prog.aggs = m->aggs;
	m->prog.naggs = AGGS;
	m->prog.opts = m->opts;
	m->prog.nopts = take(in, 1) & 1;
	for (uint32_t i = 0; i < m->prog.nclauses; i++) {
		struct dif_clause *c = &m->clauses[i];
		c->probe = (struct dif_probedesc){ "", "dtrace", "", "", "BEGIN", 0 };
		c->actions = m->actions[i];
		c->predicate = take(in, 1) & 1 ? &m->objects[OBJECTS] : NULL;
		for (uint32_t n = take(in, 1) % (ACTIONS + 1); n && c->nactions < ACTIONS; n--)
			make_action(in, m, c);
	}
}

/* What the input has to say about the file: up to 4 words, anywhere but most often in the headers. */
static void change(struct input *in, uint8_t *file, size_t size)
{
	for (uint32_t n = take(in, 1) % 5; n; n--) {
		size_t within = take(in, 1) & 1 && size > 512 ? 512 : size, at = take(in, 2) % (within - 8);
		uint32_t word = take(in, 1) & 1 ? take(in, 1) : take(in, 4);

		if (take(in, 1) & 1)
			memcpy(file + (at & ~(size_t)3), &word, sizeof(word));
		else
			file[at] = (uint8_t)word;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct ot_buf file;
	struct made m;

	if (size >= 4 && !memcmp(data, "\177DOF", 4)) {
		read_and_run(data, size);
		return 0;
	}
	make_program(&in, &m);
	ot_buf_init(&file);
	world_must(dif_dof_write(&m.prog, &file));
	for (unsigned i = 0; i < OBJECTS; i++)
		free_object(&m.objects[i]);
	uint8_t *copy = malloc(file.len); /* to the byte */
	if (!copy)
		abort();
	/* Making the file costs more than reading it, so several changes are tried on it. */
	for (unsigned i = 0; i < VARIANTS; i++) {
		memcpy(copy, file.data, file.len);
		change(&in, copy, file.len);
		read_and_run(copy, file.len);
	}
	free(copy);
	ot_buf_deinit(&file);
	return 0;
}
