/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clauses as trampolines, executed by this machine's CPU, against the interpreter. The input is bent into a
 * predicate, the value of an aggregation or of trace(), and its keys. What the compiler takes must read as
 * harmless to a
 * disassembler, count what the interpreter says, and leave everything else alone; what it refuses has a
 * reason.
 */
#include <string.h>

#include "base/hash.h"
#include "dif/vm/agg.h"
#include "tests/fuzz/seed.h"
#include "tests/fuzz/trampoline_object.h"
#include "tests/unit/trampoline_fixture.h"
#include "vmm-probe/arch/x86/regs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last input's clause was compiled. */
static bool compiled;

bool fuzz_seed_reached(void)
{
	return compiled;
}

#define HITS     6u
#define KEYS     3u
#define DATA_END (TF_WORDS + VP_TRAMP_TABLE_MAX + VP_TRAMP_ENTRIES * 8u) /* of a table's words */

struct bent {
	struct object predicate, value, keys[KEYS];
	struct dif_action actions[KEYS + 1];
	struct dif_clause clause;
};

/* --- hits ------------------------------------------------------------------------------------ */

static uint64_t made_word(uint64_t *seed)
{
	uint64_t low = made(seed) & 0xff, kind = made(seed) % 8;

	switch (kind) {
	case 0:
		return -low;
	case 1:
		return (uint64_t)INT64_MIN + low;
	case 2:
		return (uint64_t)made(seed) << 32 | made(seed);
	case 3:
		return 0x7fffff80 + low;
	default:
		return kind == 4 ? low : low & 3;
	}
}

/* Registers, tasks and per-CPU areas, with what the kernel keeps in order there. */
static void make_world(uint64_t *seed, struct tf_machine *m, struct tf_regs *regs)
{
	uint64_t pointer = (uint64_t)(uintptr_t)tf_task(m, m->cpu);
	uint8_t *area = m->percpu + (size_t)m->cpu * TF_SPACING;

	for (unsigned i = 0; i < 16; i++)
		regs->r[i] = made_word(seed);
	for (unsigned i = 0; i < 64; i++)
		tf_task(m, m->cpu)[made(seed) % TF_TASK_SIZE] = (uint8_t)made(seed);
	for (unsigned i = 0; i < GA_COMM; i++)
		tf_task(m, m->cpu)[TF_TASK_COMM + i] = (uint8_t)(made(seed) % 8 ? 'a' + i % 8 : 0);
	for (unsigned i = 0; i < 16; i++)
		area[made(seed) % TF_PERCPU_SIZE] = (uint8_t)made(seed);
	memcpy(area + TF_CURRENT, &pointer, sizeof(pointer));
}

static uint64_t value_of(struct tf_machine *m, const struct tf_regs *regs, const struct dif_object *obj)
{
	uint64_t value;
	enum dif_fault fault = tf_eval(m, regs, obj, &value);

	must(fault == DIF_FAULT_NONE,
	     "the interpreter faults where a trampoline can't: ", dif_fault_text(fault));
	return value;
}

struct expected {
	uint64_t words[127];
	uint64_t records, exits;
	uint64_t image[DATA_END / 8]; /* with a table: all of data */
	uint64_t key[VP_TRAMP_KEY_WORDS];
	bool is_new; /* the last hit's key */
};

/* The table's words of the hit's key. */
static void key_of(struct tf_machine *m, const struct dif_clause *c, const struct tf_regs *regs,
		   uint64_t key[VP_TRAMP_KEY_WORDS])
{
	uint32_t n = 0;

	memset(key, 0, VP_TRAMP_KEY_WORDS * sizeof(*key));
	for (uint32_t i = 0; i + 1 < c->nactions; i++)
		if (c->actions[i].object->ret.flags) {
			memcpy(key, tf_task(m, m->cpu) + TF_TASK_COMM, GA_COMM);
			n = 2;
		}
	for (uint32_t i = 0; i + 1 < c->nactions; i++)
		if (!c->actions[i].object->ret.flags) {
			key[n] = value_of(m, regs, c->actions[i].object);
			n = n ? n + 1 : 2;
		}
}

static bool find(const struct tf_machine *m, const uint64_t *key, uint32_t *ret)
{
	const struct vp_tramp_table *t = &m->t.table;
	uint32_t first = vp_tramp_set_of(key, t->nwords, t->sets_log) * VP_TRAMP_WAYS;
	size_t bytes = t->nwords * sizeof(*key);

	for (*ret = first; *ret < first + VP_TRAMP_WAYS; ++*ret)
		if (!memcmp(tf_key(m, *ret), key, bytes))
			return true;
	return false;
}

/* The key of a hit that has exited gets a place, which may be another's. */
static void learn(const struct tf_machine *m, struct expected *e)
{
	const struct vp_tramp_table *t = &m->t.table;

	if (e->is_new)
		memcpy(tf_key(m, vp_tramp_set_of(e->key, t->nwords, t->sets_log) * VP_TRAMP_WAYS +
				     (uint32_t)e->key[0] % VP_TRAMP_WAYS),
		       e->key, t->nwords * sizeof(*e->key));
	e->is_new = false;
}

static uint64_t *image_word(struct expected *e, const struct tf_machine *m, uint32_t cell, uint32_t word,
			    uint32_t entry)
{
	return &e->image[m->t.cells[cell].at / 8 + word * vp_tramp_entries(&m->t.table) + entry];
}

static void expect_keyed(struct tf_machine *m, const struct dif_clause *c, const struct tf_regs *regs,
			 struct expected *e)
{
	const struct dif_action *a = &c->actions[c->nactions - 1];
	uint32_t entry;

	key_of(m, c, regs, e->key);
	e->is_new = !find(m, e->key, &entry);
	if (e->is_new) {
		e->exits++;
		return;
	}
	for (uint32_t i = 0; i < m->t.cells[0].nwords; i++)
		e->words[i] = *image_word(e, m, 0, i, entry);
	dif_agg_update((enum dif_agg_kind)a->kind, a->arg, e->words,
		       a->object ? value_of(m, regs, a->object) : 0, 1);
	for (uint32_t i = 0; i < m->t.cells[0].nwords; i++)
		*image_word(e, m, 0, i, entry) = e->words[i];
	if (m->t.ncells > 1)
		++*image_word(e, m, 1, 0, entry);
}

static void expect(struct tf_machine *m, const struct dif_clause *c, const struct tf_regs *regs,
		   struct expected *e)
{
	const struct dif_action *a = &c->actions[c->nactions - 1];

	if (c->predicate && !value_of(m, regs, c->predicate))
		return;
	if (m->t.exits)
		e->exits++;
	else if (m->t.table.nwords)
		expect_keyed(m, c, regs, e);
	else if (m->t.ncells)
		dif_agg_update((enum dif_agg_kind)a->kind, a->arg, e->words,
			       a->object ? value_of(m, regs, a->object) : 0, 1);
	else
		e->records++;
}

static void check(struct tf_machine *m, const struct expected *e, unsigned exits)
{
	must(exits == e->exits, "exits", "");
	if (m->t.table.nwords)
		must(
		    !memcmp(tf_word(m, m->cpu, TF_WORDS), e->image + TF_WORDS / 8, m->t.data_used - TF_WORDS),
		    "an entry's words", "");
	must(!m->t.ncells || m->t.table.nwords ||
		 !memcmp(tf_word(m, m->cpu, m->t.cells[0].at), e->words, 8ull * m->t.cells[0].nwords),
	     "words", "");
	must(!m->guest.world.ring.count ||
		 (tf_ring(m, m->cpu)->reserved[0] == e->records && !tf_ring(m, m->cpu)->lost),
	     "records", "");
}

/* Extremes begin where the engine lets them, and lquantize() has its parameters. */
static void begin(struct tf_machine *m, const struct dif_action *a, struct expected *e)
{
	enum dif_agg_kind kind = (enum dif_agg_kind)a->kind;

	if (!m->t.ncells)
		return;
	dif_agg_init(kind, a->arg, e->words);
	if (!m->t.table.nwords) {
		dif_agg_init(kind, a->arg, tf_word(m, m->cpu, m->t.cells[0].at));
		return;
	}
	for (uint32_t i = 0; i < vp_tramp_entries(&m->t.table); i++)
		*image_word(e, m, 0, 0, i) = *tf_word(m, m->cpu, m->t.cells[0].at + i * 8) = e->words[0];
}

static void run(uint64_t seed, struct tf_machine *m, const struct dif_clause *c)
{
	static struct expected e;
	struct tf_regs before, after;
	unsigned exits = 0;

	memset(&e, 0, sizeof(e));
	m->cpu = made(&seed) % TF_CPUS;
	begin(m, &c->actions[c->nactions - 1], &e);
	for (unsigned i = 0; i < HITS; i++) {
		/* A key is new once. */
		if (!(i & 1) || !m->t.table.nwords)
			make_world(&seed, m, &before);
		after = before;
		tf_fill_stack(m);
		expect(m, c, &before, &e);
		tf_hit(m, &after);
		exits += m->exits;
		learn(m, &e);
		const char *wrong = tf_intact(m, &before, &after);
		must(!wrong, "not intact: ", wrong ? wrong : "");
	}
	check(m, &e, exits);
}

/* Around 0, or far from it. */
static int32_t number_of(uint32_t byte)
{
	return byte & 1 ? (int32_t)byte - 128 : (int32_t)(byte << 23);
}

static void bend_name(struct object *o)
{
	*o = (struct object){ .obj = { .text = o->text, .ints = o->ints, .strs = o->strs, .text_len = 2 } };
	o->text[0] = dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 1);
	o->text[1] = dif_insn(DIF_OP_ret, 0, 0, 1);
	o->obj.ret = (struct dif_rtype){ DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, TF_STRSIZE };
}

/* An action; if the input wants keys, an aggregation by up to three. */
static void bend_clause(struct input *in, uint32_t how, struct bent *b)
{
	static const uint16_t kinds[] = { DIF_AGG_count, DIF_AGG_sum,      DIF_AGG_min,     DIF_AGG_max,
					  DIF_AGG_avg,   DIF_AGG_quantize, DIF_ACT_difexpr, DIF_ACT_stack };
	uint32_t n = 0, kind = kinds[how % OT_ARRAY_SIZE(kinds)], keys = how & 8 ? take(in) : 0;
	struct dif_action *a;

	if (how & 8 && !DIF_ACT_IS_AGG(kind))
		kind = DIF_AGG_lquantize;
	bend_object(in, &b->predicate);
	bend_object(in, &b->value);
	for (; n < keys % (KEYS + 1); n++) {
		if (keys >> (4 + n) & 1)
			bend_name(&b->keys[n]);
		else
			bend_object(in, &b->keys[n]);
		b->actions[n] =
		    (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true, .object = &b->keys[n].obj };
	}
	a = &b->actions[n];
	*a = (struct dif_action){ .kind = (enum dif_action_kind)kind, .ntuple = n + 1 };
	if (kind == DIF_AGG_lquantize)
		a->arg =
		    (1ull + take(in)) << 48 | (1ull + take(in) % 100) << 32 | (uint32_t)number_of(take(in));
	if (kind != DIF_AGG_count && kind != DIF_ACT_stack)
		a->object = &b->value.obj;
	b->clause = (struct dif_clause){ .actions = b->actions, .nactions = n + 1 };
	b->clause.predicate = how & 0x80 ? &b->predicate.obj : NULL;
}

/* A function's entry, or one of its returns, of which the next bit chooses the kind. */
static enum vp_args args_of(uint32_t how)
{
	if ((how & 0x60) == 0x40)
		return VP_ARGS_FBT_RETURN;
	return (how & 0x70) == 0x70 ? VP_ARGS_SYSCALL_ENTRY : VP_ARGS_FBT_ENTRY;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tf_machine *m;
	static struct vp_tramp_ring ring;
	static struct bent b;
	const uint64_t seed = ot_siphash13((const uint64_t[]){ 1, 2 }, data, size);
	struct input in = { data, size, seed };

	if (!m) {
		m = tf_create();
		ring = m->guest.world.ring;
	}
	uint32_t how = take(&in);
	bend_clause(&in, how, &b);
	/* A table of buckets needs the ring's room. */
	m->guest.world.ring = ring;
	if (b.clause.nactions > 1)
		m->guest.world.ring.count = 0;
	tf_give_keys(m);
	m->returns = how & 0x10;
	struct ot_err *err = tf_compile(m, &b.clause, 1, args_of(how));
	compiled = !err;
	if (!err)
		run(seed, m, &b.clause);
	must(!err || ot_err_code(err) == OT_ERR_UNSUPPORTED || ot_err_code(err) == OT_ERR_LIMIT,
	     "no reason: ", err ? ot_err_message(err) : "");
	ot_err_destroy(err);
	return 0;
}
