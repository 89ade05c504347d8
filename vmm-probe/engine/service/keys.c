/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the entries of an aggregation are cached between hits: by a number if it has no key, by a few words if
 * these identify the key. Such words are the value of a number, the bytes of execname, which are few for any
 * strsize, and the addresses of a probe's own names. All other keys are built, hashed and compared at each
 * hit.
 */
#include "vmm-probe/engine/service/parts.h"

/* The variable that is the whole object; 0: it is something else. */
static uint32_t variable_of(const struct dif_object *o)
{
	if (o->text_len != 2 || dif_insn_op(o->text[0]) != DIF_OP_ldgs ||
	    dif_insn_op(o->text[1]) != DIF_OP_ret || dif_insn_rd(o->text[0]) != dif_insn_rd(o->text[1]))
		return 0;
	return dif_insn_idx(o->text[0]);
}

/* The host engine's names are of programs on the host, of any length. */
static bool has_short_names(const struct vp_engine_session *es)
{
	return !es->engine->host && es->facts.task_comm_size <= VP_NAME_BYTES &&
	       es->open.strsize > VP_NAME_BYTES;
}

/* The number of words that identify this element, and their kind in *ret; 0: none do. */
static uint32_t words_of(const struct vp_engine_session *es, const struct vp_step *step,
			 enum vp_key_part *ret)
{
	const struct dif_object *o = step->action->object;

	if (step->action->kind != DIF_ACT_difexpr || !o)
		return 0;
	*ret = VP_KEY_VALUE;
	if (!(o->ret.flags & (DIF_TF_BYREF | DIF_TF_BYUREF)))
		return step->size <= sizeof(uint64_t);
	if (o->ret.kind != DIF_TYPE_STRING || step->size != es->open.strsize)
		return 0;
	uint32_t var = variable_of(o);
	*ret = VP_KEY_TEXT;
	if (var >= DIF_VAR_probeprov && var <= DIF_VAR_probename)
		return 1;
	*ret = VP_KEY_EXECNAME;
	return var == DIF_VAR_execname && has_short_names(es) ? VP_NAME_WORDS : 0;
}

static void choose_words(const struct vp_engine_session *es, struct vp_step *steps,
			 const struct dif_agg_layout *agg)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < agg->nkeys; i++) {
		struct vp_step *step = &steps[agg->keys[i].action];
		uint32_t n = words_of(es, step, &step->part);
		if (!n || n > VP_KEY_WORDS - at)
			return;
		step->word = at;
		at += n;
	}
	for (uint32_t i = 0; i < agg->nkeys; i++)
		steps[agg->keys[i].action].dest = VP_TO_KEY;
	steps[agg->action].nwords = at;
}

void vp_keys_choose(struct vp_engine_session *es, struct vp_step *steps, const struct dif_agg_layout *agg)
{
	if (agg->nkeys)
		choose_words(es, steps, agg);
	else if (es->service->nsingles < DIF_AGG_SINGLES)
		steps[agg->action].single = ++es->service->nsingles;
}
