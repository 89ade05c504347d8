/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DOF: what is written is read back the same; broken files are refused or harmless. */
#include "dif/obj/dof_format.h"

#include "tests/unit/dif_fixture.h"

/* A program with everything that DOF carries. */
struct sample {
	struct dif_program prog;
	struct dif_clause clauses[3];
	struct dif_action actions[6];
	struct dif_aggvar aggs[1];
	struct dif_optset opts[2];
	struct fx_object value, key;
};

static void sample_init(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	fx_object_init(&s->value);
	fx_setx(&s->value, 0x1122334455667788ull, 1);
	fx_op(&s->value, dif_insn_index(DIF_OP_stgs, 0x500, 1));
	fx_ret(&s->value, 1);
	fx_var(&s->value, "glob", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	fx_object_init(&s->key);
	fx_sets(&s->key, "text of a key", 1);
	fx_ret(&s->key, 1);
	s->key.obj.ret = FX_STRING;

	s->actions[0] = (struct dif_action){
		.kind = DIF_ACT_printf, .uarg = 3, .object = &s->value.obj, .format = "%lld\n"
	};
	s->actions[1] = (struct dif_action){ .kind = DIF_ACT_stack, .arg = 5 };
	s->actions[2] = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = &s->key.obj, .is_key = true };
	s->actions[3] =
	    (struct dif_action){ .kind = DIF_ACT_difexpr, .object = &s->value.obj, .is_increment = true };
	s->actions[4] = (struct dif_action){
		.arg = 1ull << 48 | 10ull << 32, .ntuple = 3, .aggid = 1, .object = &s->value.obj
	};
	s->actions[4].kind = (enum dif_action_kind)DIF_AGG_lquantize;
	s->actions[5] = (struct dif_action){
		.kind = DIF_ACT_print, .arg = 77, .object = &s->value.obj, .format = "int64_t"
	};
	s->clauses[0].probe = (struct dif_probedesc){ "web*", "fbt", "mod", "f*", "entry", 0 };
	s->clauses[0].predicate = &s->value.obj;
	s->clauses[0].actions = s->actions;
	s->clauses[0].nactions = 6;
	s->clauses[0].line = 12;
	s->clauses[1].probe = (struct dif_probedesc){ "", "", "", "", "", 42 };
	s->clauses[2].probe = (struct dif_probedesc){ "", "dtrace", "", "", "END", 0 };
	s->clauses[2].actions = s->actions;
	s->clauses[2].nactions = 1;
	s->aggs[0] = (struct dif_aggvar){ "sizes", 1, DIF_AGG_lquantize, 1ull << 48 | 10ull << 32, 1 };
	s->opts[0] = (struct dif_optset){ "quiet", NULL };
	s->opts[1] = (struct dif_optset){ "bufsize", "4m" };
	s->prog.clauses = s->clauses;
	s->prog.nclauses = 3;
	s->prog.aggs = s->aggs;
	s->prog.naggs = 1;
	s->prog.opts = s->opts;
	s->prog.nopts = 2;
	fx_no_error(dif_program_verify(&s->prog));
}

static void same_object(const struct dif_object *a, const struct dif_object *b)
{
	assert_int_equal(!a, !b);
	if (!a || !b)
		return;
	assert_int_equal(a->text_len, b->text_len);
	assert_int_equal(a->int_len, b->int_len);
	assert_int_equal(a->str_len, b->str_len);
	assert_int_equal(a->var_len, b->var_len);
	assert_memory_equal(a->text, b->text, a->text_len * 4);
	assert_memory_equal(a->ints, b->ints, a->int_len * 8 + 0ul);
	assert_memory_equal(a->strs, b->strs, a->str_len);
	assert_memory_equal(a->vars, b->vars, a->var_len * sizeof(*a->vars) + 0ul);
	assert_memory_equal(&a->ret, &b->ret, sizeof(a->ret));
}

static void same_string(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_action(const struct dif_action *a, const struct dif_action *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->ntuple, b->ntuple);
	assert_int_equal(a->arg, b->arg);
	assert_int_equal(a->uarg, b->uarg);
	assert_int_equal(a->aggid, b->aggid);
	assert_int_equal(a->is_key, b->is_key);
	assert_int_equal(a->is_increment, b->is_increment);
	same_string(a->format, b->format);
	same_object(a->object, b->object);
}

static void same_program(const struct dif_program *a, const struct dif_program *b)
{
	assert_int_equal(a->nclauses, b->nclauses);
	for (uint32_t i = 0; i < a->nclauses; i++) {
		const struct dif_clause *x = &a->clauses[i], *y = &b->clauses[i];
		same_string(x->probe.guest, y->probe.guest);
		same_string(x->probe.provider, y->probe.provider);
		same_string(x->probe.module, y->probe.module);
		same_string(x->probe.function, y->probe.function);
		same_string(x->probe.name, y->probe.name);
		assert_int_equal(x->probe.id, y->probe.id);
		assert_int_equal(x->line, y->line);
		assert_int_equal(x->nactions, y->nactions);
		same_object(x->predicate, y->predicate);
		for (uint32_t k = 0; k < x->nactions; k++)
			same_action(&x->actions[k], &y->actions[k]);
	}
	assert_int_equal(a->naggs, b->naggs);
	for (uint32_t i = 0; i < a->naggs; i++) {
		same_string(a->aggs[i].name, b->aggs[i].name);
		assert_int_equal(a->aggs[i].id, b->aggs[i].id);
		assert_int_equal(a->aggs[i].kind, b->aggs[i].kind);
		assert_int_equal(a->aggs[i].arg, b->aggs[i].arg);
		assert_int_equal(a->aggs[i].nkeys, b->aggs[i].nkeys);
	}
	assert_int_equal(a->nopts, b->nopts);
	for (uint32_t i = 0; i < a->nopts; i++) {
		same_string(a->opts[i].name, b->opts[i].name);
		same_string(a->opts[i].value, b->opts[i].value);
	}
}

static void write_sample(struct sample *s, struct ot_buf *buf)
{
	sample_init(s);
	ot_buf_init(buf);
	fx_no_error(dif_dof_write(&s->prog, buf));
}

static void test_round_trip(void **state)
{
	struct dif_program back;
	struct sample s;
	struct ot_buf buf, again;
	(void)state;

	write_sample(&s, &buf);
	fx_no_error(dif_dof_read(buf.data, buf.len, &back));
	same_program(&s.prog, &back);
	fx_no_error(dif_program_verify(&back));
	assert_ptr_equal(back.clauses[0].predicate, back.clauses[0].actions[0].object); /* still shared */
	ot_buf_init(&again);
	fx_no_error(dif_dof_write(&back, &again));
	assert_int_equal(again.len, buf.len);
	assert_memory_equal(again.data, buf.data, buf.len);
	dif_program_deinit(&back);
	ot_buf_deinit(&again);
	ot_buf_deinit(&buf);
}

static void test_empty_program(void **state)
{
	struct dif_program prog, back;
	struct ot_buf buf;
	(void)state;

	dif_program_init(&prog);
	ot_buf_init(&buf);
	fx_no_error(dif_dof_write(&prog, &buf));
	fx_no_error(dif_dof_read(buf.data, buf.len, &back));
	assert_int_equal(back.nclauses, 0);
	dif_program_deinit(&back);
	dif_program_deinit(&prog);
	ot_buf_deinit(&buf);
}

/* What a reader of the published format would see. */
static void test_published_form(void **state)
{
	struct dof_header h;
	unsigned counts[64] = { 0 };
	struct sample s;
	struct ot_buf buf;
	(void)state;

	write_sample(&s, &buf);
	memcpy(&h, buf.data, sizeof(h));
	assert_memory_equal(h.ident,
			    "\x7f"
			    "DOF\2\1\2\2\10\10\0\0\0\0\0\0",
			    16);
	assert_int_equal(h.hdrsize, 64);
	assert_int_equal(h.secsize, 32);
	assert_int_equal(h.filesz, buf.len);
	assert_true(h.loadsz < h.filesz);
	for (uint32_t i = 0; i < h.secnum; i++) {
		struct dof_section sec;
		memcpy(&sec, buf.data + h.secoff + i * sizeof(sec), sizeof(sec));
		if (sec.type >= DOF_OT_AGGVARS) {
			assert_int_equal(sec.flags, 0);
			assert_true(sec.offset >= h.loadsz);
			continue;
		}
		assert_int_equal(sec.flags, DOF_SECF_LOAD);
		assert_true(sec.offset + sec.size <= h.loadsz);
		counts[sec.type]++;
		if (sec.type == DOF_ACTDESC && sec.size > sizeof(struct dof_actdesc)) {
			/* printf, stack, then the tuple: the aggregation's number, key, increment */
			struct dof_actdesc a[7];
			assert_int_equal(sec.size, sizeof(a));
			memcpy(a, buf.data + sec.offset, sizeof(a));
			assert_int_equal(a[0].kind, DIF_ACT_printf);
			assert_int_equal(a[2].kind, DIF_ACT_difexpr);
			assert_int_equal(a[5].kind, DIF_AGG_lquantize);
			assert_int_equal(a[5].ntuple, 3);
		}
	}
	assert_int_equal(counts[DOF_ECBDESC], 3);
	assert_int_equal(counts[DOF_PROBEDESC], 3);
	assert_int_equal(counts[DOF_ACTDESC], 2);
	assert_int_equal(counts[DOF_DIFOHDR], 3); /* two, and the constant */
	ot_buf_deinit(&buf);
}

/* Whatever is read from @data is verified and listed; neither may touch what is not its own. */
static bool digest(const void *data, size_t size)
{
	struct dif_program prog;
	struct ot_buf list;
	struct ot_err *err = dif_dof_read(data, size, &prog);

	if (err) {
		assert_int_not_equal(ot_err_code(err), OT_ERR_INTERNAL);
		ot_err_destroy(err);
		return false;
	}
	err = dif_program_verify(&prog);
	bool ok = !err;
	ot_err_destroy(err);
	ot_buf_init(&list);
	for (uint32_t i = 0; i < prog.nclauses; i++) {
		if (prog.clauses[i].predicate)
			dif_object_list(prog.clauses[i].predicate, &list);
	}
	ot_buf_deinit(&list);
	dif_program_deinit(&prog);
	return ok;
}

static void test_truncated(void **state)
{
	struct sample s;
	struct ot_buf buf;
	(void)state;

	write_sample(&s, &buf);
	for (size_t len = 0; len < buf.len; len++) {
		void *copy = malloc(len ? len : 1); /* exactly, for the sanitizer */
		assert_non_null(copy);
		memcpy(copy, buf.data, len);
		assert_false(digest(copy, len));
		free(copy);
	}
	assert_true(digest(buf.data, buf.len));
	ot_buf_deinit(&buf);
}

static void test_flipped(void **state)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	unsigned refused = 0;
	struct sample s;
	struct ot_buf buf;
	(void)state;

	write_sample(&s, &buf);
	for (size_t i = 0; i < buf.len; i++) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			buf.data[i] = (char)(buf.data[i] ^ masks[m]);
			refused += !digest(buf.data, buf.len);
			buf.data[i] = (char)(buf.data[i] ^ masks[m]);
		}
	}
	assert_true(refused > buf.len / 2);
	ot_buf_deinit(&buf);
}

static void refused(const struct ot_buf *buf, const char *part)
{
	struct dif_program prog;
	struct ot_err *err = dif_dof_read(buf->data, buf->len, &prog);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	if (!strstr(ot_err_message(err), part))
		fail_msg("%s", ot_err_message(err));
	ot_err_destroy(err);
}

/* Section @i of @buf. */
static struct dof_section *section_of(struct ot_buf *buf, uint32_t i)
{
	struct dof_header h;

	memcpy(&h, buf->data, sizeof(h));
	return i < h.secnum ? (struct dof_section *)(void *)(buf->data + h.secoff) + i : NULL;
}

/* Each lookup would scan the whole table. */
static void test_string_table_without_end(void **state)
{
	struct sample s;
	struct ot_buf buf;
	(void)state;

	write_sample(&s, &buf);
	struct dof_section *strings = section_of(&buf, 0);
	assert_int_equal(strings->type, DOF_STRTAB);
	while (!buf.data[strings->offset + strings->size - 1])
		strings->size++;
	refused(&buf, "no string at");
	ot_buf_deinit(&buf);
}

#define MANY 200u
#define LONG 50000u

/* Objects of a few bytes each, all of which consist of the same long section. */
static void test_objects_without_end(void **state)
{
	struct dif_action *actions = calloc(MANY, sizeof(*actions));
	struct dif_object *objects = calloc(MANY, sizeof(*objects));
	uint32_t *text = calloc(LONG, sizeof(*text)), longest = DOF_NONE;
	struct dif_clause clause = { .probe = { "", "", "", "", "", 1 },
				     .actions = actions,
				     .nactions = MANY };
	struct dif_program prog;
	struct dof_section *sec;
	struct ot_buf buf;
	(void)state;

	assert_true(actions && objects && text);
	for (unsigned i = 0; i < MANY; i++) {
		objects[i] = (struct dif_object){ .text = text, .text_len = i ? 1 : LONG, .ret = FX_INT };
		actions[i] = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = &objects[i] };
	}
	dif_program_init(&prog);
	prog.clauses = &clause;
	prog.nclauses = 1;
	ot_buf_init(&buf);
	fx_no_error(dif_dof_write(&prog, &buf));
	for (uint32_t i = 0; longest == DOF_NONE && (sec = section_of(&buf, i)); i++)
		if (sec->type == DOF_DIF && sec->size == LONG * sizeof(*text))
			longest = i;
	for (uint32_t i = 0; (sec = section_of(&buf, i)); i++)
		if (sec->type == DOF_DIFOHDR)
			((struct dof_difohdr *)(void *)(buf.data + sec->offset))->links[0] = longest;
	refused(&buf, "objects of more than 32 MiB");
	ot_buf_deinit(&buf);
	free(text);
	free(objects);
	free(actions);
}

static void test_random_words(void **state)
{
	static const uint32_t nasty[] = { 0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff };
	unsigned seed = 3;
	struct sample s;
	struct ot_buf buf;
	(void)state;

	write_sample(&s, &buf);
	char *orig = malloc(buf.len);
	assert_non_null(orig);
	memcpy(orig, buf.data, buf.len);
	for (int round = 0; round < 20000; round++) {
		int n = 1 + rand_r(&seed) % 3;
		for (int k = 0; k < n; k++) {
			size_t at = (size_t)rand_r(&seed) % (buf.len / 4) * 4;
			memcpy(buf.data + at, &nasty[rand_r(&seed) % 8], 4);
		}
		digest(buf.data, buf.len);
		memcpy(buf.data, orig, buf.len);
	}
	free(orig);
	ot_buf_deinit(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty_program),
		cmocka_unit_test(test_published_form),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_random_words),
		cmocka_unit_test(test_string_table_without_end),
		cmocka_unit_test(test_objects_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
