/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that expect one variable where each guest has its own: the value that is read is not the one that
 * was written. */
#include <stdio.h>
#include <string.h>

#include "dif/obj/names.h"
#include "vmm-probe/session/variables.h"

/* Where a variable is used. */
enum {
	IN_GUEST_READ = 1,
	IN_GUEST_WRITTEN = 2,
	BY_OPERATOR_READ = 4, /* in END or a tick: BEGIN's values go to all */
	BY_OPERATOR_WRITTEN = 8,
};

struct use {
	unsigned how;
	const char *name;
	const struct vp_probe *in_guest, *by_operator; /* the first of each that matters */
};

struct uses {
	struct vp_session *s;
	struct ot_map by_id;
	struct ot_arena arena;
	const struct use *first; /* that is mixed */
	bool more;
};

static bool is_mixed(const struct use *u)
{
	return (u->how & IN_GUEST_WRITTEN && u->how & BY_OPERATOR_READ) ||
	       (u->how & BY_OPERATOR_WRITTEN && u->how & IN_GUEST_READ);
}

static struct ot_err *use_of(struct uses *uses, const struct dif_object *obj, const struct dif_var *v,
			     struct use **ret)
{
	*ret = ot_map_get(&uses->by_id, &v->id, sizeof(v->id));
	if (*ret)
		return NULL;
	*ret = ot_arena_new(&uses->arena, struct use);
	if (!*ret || !ot_map_put(&uses->by_id, &v->id, sizeof(v->id), *ret))
		return ot_err_nomem();
	(*ret)->name = obj->strs + v->name;
	return NULL;
}

static struct ot_err *see_object(struct uses *uses, const struct vp_enabled *e, const struct dif_object *obj)
{
	for (uint32_t i = 0; obj && i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		struct use *u;

		if (v->scope != DIF_SCOPE_GLOBAL || v->id < DIF_VAR_USER_MIN || v->id >= DIF_VAR_PROVIDER_MIN)
			continue;
		OT_TRY(use_of(uses, obj, v, &u));
		unsigned read = v->flags & DIF_VARF_REF, written = v->flags & DIF_VARF_MOD;
		if (e->feed)
			u->how |= (read ? IN_GUEST_READ : 0) | (written ? IN_GUEST_WRITTEN : 0);
		else
			u->how |= (read ? BY_OPERATOR_READ : 0) | (written ? BY_OPERATOR_WRITTEN : 0);
		const struct vp_probe **probe = e->feed ? &u->in_guest : &u->by_operator;
		if (!*probe)
			*probe = e->probe;
	}
	return NULL;
}

static struct ot_err *see_clause(struct uses *uses, const struct vp_enabled *e)
{
	const struct dif_clause *clause = e->clause;

	if (clause->guest || e->probe->id == DIF_PROBE_BEGIN)
		return NULL;
	OT_TRY(see_object(uses, e, clause->predicate));
	for (uint32_t i = 0; i < clause->nactions; i++)
		OT_TRY(see_object(uses, e, clause->actions[i].object));
	return NULL;
}

/* A clause on many probes is examined once. */
static struct ot_err *see_all(struct uses *uses)
{
	const struct vp_session_program *p = &uses->s->program;
	const struct vp_enabled *last = NULL;

	for (size_t i = 0; i < p->nenabled; i++) {
		const struct vp_enabled *e = p->enabled[i];

		if (!last || last->clause_index != e->clause_index || !last->feed != !e->feed)
			OT_TRY(see_clause(uses, e));
		last = e;
	}
	for (size_t i = 0; i < uses->by_id.count; i++) {
		const struct use *u = uses->by_id.entries[i]->value;
		uses->more |= is_mixed(u) && uses->first;
		if (is_mixed(u) && !uses->first)
			uses->first = u;
	}
	return NULL;
}

static void say(const struct uses *uses)
{
	const struct use *u = uses->first;
	char text[640];

	snprintf(text, sizeof(text),
		 "%s%s: in %s:%s:%s:%s each guest has its own, the operator another in %s: neither sees what "
		 "the other writes (aggregations are common to all)",
		 u->name, uses->more ? " and others" : "", u->in_guest->provider, u->in_guest->module,
		 u->in_guest->function, u->in_guest->name, u->by_operator->name);
	vp_session_say(uses->s, text);
}

struct ot_err *vp_variables_say_mixed(struct vp_session *s)
{
	struct uses uses = { .s = s };

	if (!s->apart)
		return NULL;
	ot_map_init(&uses.by_id);
	ot_arena_init(&uses.arena);
	struct ot_err *err = see_all(&uses);
	if (!err && uses.first)
		say(&uses);
	ot_map_deinit(&uses.by_id);
	ot_arena_deinit(&uses.arena);
	return err;
}
