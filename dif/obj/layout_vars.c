/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computing the layout of variable space: one slot for each user variable of a program, whichever objects use
 * it. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "dif/obj/layout.h"

/* Limits the memory that a hostile program can make an engine allocate. */
#define SPACE_MAX (64u << 20)

typedef struct ot_err *object_fn(void *arg, const struct dif_object *obj);

struct visit {
	struct ot_map seen; /* addresses of objects */
	object_fn *fn;
	void *arg;
};

static struct ot_err *visit(struct visit *v, const struct dif_object *obj)
{
	if (!obj || ot_map_get(&v->seen, &obj, sizeof(obj)))
		return NULL;
	if (!ot_map_put(&v->seen, &obj, sizeof(obj), v))
		return ot_err_nomem();
	return v->fn(v->arg, obj);
}

static struct ot_err *visit_all(struct visit *v, const struct dif_program *prog)
{
	for (uint32_t c = 0; c < prog->nclauses; c++) {
		const struct dif_clause *clause = &prog->clauses[c];
		OT_TRY(visit(v, clause->predicate));
		for (uint32_t i = 0; i < clause->nactions; i++)
			OT_TRY(visit(v, clause->actions[i].object));
	}
	return NULL;
}

/* Call @fn for every object of the program, once for one that is shared: a client's program may use one large
 * object in each of its actions. */
static struct ot_err *each_object(const struct dif_program *prog, object_fn *fn, void *arg)
{
	struct visit v = { .fn = fn, .arg = arg };

	ot_map_init(&v.seen);
	struct ot_err *err = visit_all(&v, prog);
	ot_map_deinit(&v.seen);
	return err;
}

struct collect {
	struct ot_map seen; /* (scope, id) to index + 1 in slots */
	struct dif_var_slot *slots;
	size_t n, cap;
};

static struct ot_err *collect_object(void *arg, const struct dif_object *obj)
{
	struct collect *c = arg;

	for (uint32_t i = 0; i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		uint32_t key[2] = { v->scope, v->id };

		if (v->id < DIF_VAR_USER_MIN || v->scope > DIF_SCOPE_LOCAL)
			continue;
		size_t at = (size_t)(uintptr_t)ot_map_get(&c->seen, key, sizeof(key));
		if (at) { /* a size of 0 matches any: use the known one */
			struct dif_var_slot *s = &c->slots[at - 1];
			if (!s->type.size)
				s->type.size = v->type.size;
			continue;
		}
		if (!ot_grow(&c->slots, &c->cap, c->n + 1, sizeof(*c->slots)))
			return ot_err_nomem();
		c->slots[c->n++] = (struct dif_var_slot){ v->id, v->scope, v->kind, v->type, 0 };
		if (!ot_map_put(&c->seen, key, sizeof(key), (void *)(uintptr_t)c->n))
			return ot_err_nomem();
	}
	return NULL;
}

static int by_scope_id(const void *a, const void *b)
{
	const struct dif_var_slot *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static struct ot_err *place(struct dif_var_slot *s, uint64_t *at)
{
	uint64_t size = 8;

	if (s->type.flags & DIF_TF_BYREF)
		size += ((uint64_t)dif_var_bytes(&s->type) + 7) & ~7ull;
	s->offset = (uint32_t)*at;
	*at += size;
	if (*at > SPACE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the program's variables take more than %u MiB",
				  SPACE_MAX >> 20);
	return NULL;
}

static struct ot_err *build_index(struct dif_var_layout *l, struct ot_arena *arena)
{
	for (uint32_t i = 0; i < l->nslots; i++) {
		uint32_t need = l->slots[i].id - DIF_VAR_USER_MIN + 1;
		if (l->index_len[l->slots[i].scope] < need)
			l->index_len[l->slots[i].scope] = need;
	}
	for (unsigned scope = 0; scope < 3; scope++) {
		l->index[scope] = ot_arena_alloc(arena, (l->index_len[scope] + 1) * sizeof(uint32_t));
		if (!l->index[scope])
			return ot_err_nomem();
	}
	for (uint32_t i = 0; i < l->nslots; i++)
		l->index[l->slots[i].scope][l->slots[i].id - DIF_VAR_USER_MIN] = i + 1;
	return NULL;
}

static struct ot_err *build(struct collect *c, const struct dif_layout_opts *opts, struct ot_arena *arena,
			    struct dif_var_layout *l)
{
	uint64_t globals = 0, locals = 0;

	l->nslots = (uint32_t)c->n;
	l->slots = ot_arena_alloc(arena, (c->n + 1) * sizeof(*l->slots));
	if (!l->slots)
		return ot_err_nomem();
	if (c->n) {
		memcpy(l->slots, c->slots, c->n * sizeof(*l->slots));
		qsort(l->slots, c->n, sizeof(*l->slots), by_scope_id);
	}
	for (size_t i = 0; i < c->n; i++) {
		struct dif_var_slot *s = &l->slots[i];
		if (s->type.kind == DIF_TYPE_STRING && !s->type.size)
			s->type.size = opts->strsize;
		if (s->scope == DIF_SCOPE_THREAD || s->kind == DIF_VARKIND_ARRAY)
			l->has_dynamic = true;
		else
			OT_TRY(place(s, s->scope == DIF_SCOPE_GLOBAL ? &globals : &locals));
	}
	l->globals_size = (uint32_t)globals;
	l->locals_size = (uint32_t)locals;
	return build_index(l, arena);
}

struct ot_err *dif_var_layout(const struct dif_program *prog, const struct dif_layout_opts *opts,
			      struct ot_arena *arena, struct dif_var_layout *ret)
{
	struct collect c = { 0 };
	struct dif_var_layout l = { 0 };

	ot_map_init(&c.seen);
	struct ot_err *err = each_object(prog, collect_object, &c);
	if (!err)
		err = build(&c, opts, arena, &l);
	ot_map_deinit(&c.seen);
	free(c.slots);
	if (!err)
		*ret = l;
	return err;
}

/* --- dynamic cells ----------------------------------------------------------------- */

struct key_bound {
	const struct dif_layout_opts *opts;
	uint64_t max;
};

#define REGS    256u /* that an instruction can name */
#define UNKNOWN 256u /* a generous guess of a size in a register that no setx has set */

/* Each element of a key is a u64 size and its bytes, rounded up to 8 (dif/vm/vars.c). */
static struct ot_err *bound_object(void *arg, const struct dif_object *obj)
{
	struct key_bound *b = arg;
	uint64_t at = 0, regs[REGS]; /* by the last setx to each */

	for (unsigned i = 0; i < REGS; i++)
		regs[i] = UNKNOWN;
	for (uint32_t pc = 0; pc < obj->text_len; pc++) {
		uint32_t insn = obj->text[pc];
		uint64_t size = 8;
		switch (dif_insn_op(insn)) {
		case DIF_OP_setx:
			if (dif_insn_idx(insn) < obj->int_len)
				regs[dif_insn_rd(insn)] = obj->ints[dif_insn_idx(insn)];
			continue;
		case DIF_OP_flushts:
			at = 0;
			continue;
		case DIF_OP_pushtr:
			size = dif_insn_r1(insn) == DIF_TYPE_STRING ? b->opts->strsize + 1ull
								    : regs[dif_insn_r2(insn)];
			break;
		case DIF_OP_pushtv:
			break;
		default:
			continue;
		}
		if (size > 65536)
			size = 65536;
		at += 8 + ((size + 7) & ~7ull);
		if (at > b->max)
			b->max = at;
	}
	return NULL;
}

struct ot_err *dif_dynvar_sizes(const struct dif_program *prog, const struct dif_layout_opts *opts,
				const struct dif_var_layout *vars, uint32_t *ret_key, uint32_t *ret_value)
{
	struct key_bound b = { .opts = opts };
	uint64_t value = 0;

	*ret_key = *ret_value = 0;
	if (!vars->has_dynamic)
		return NULL;
	for (uint32_t i = 0; i < vars->nslots; i++) {
		const struct dif_var_slot *s = &vars->slots[i];
		uint64_t size = s->type.flags & DIF_TF_BYREF ? dif_var_bytes(&s->type) : 8;
		if ((s->scope == DIF_SCOPE_THREAD || s->kind == DIF_VARKIND_ARRAY) && size > value)
			value = size;
	}
	OT_TRY(each_object(prog, bound_object, &b));
	if (b.max > 65536)
		b.max = 65536;
	*ret_key = (uint32_t)b.max + DIF_DYNVAR_KEY_FIXED;
	*ret_value = (uint32_t)(value > 65536 ? 65536 : (value + 7) & ~7ull);
	if (*ret_value < 8)
		*ret_value = 8;
	return NULL;
}
