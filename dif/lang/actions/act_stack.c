/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack(), ustack(), jstack() and the symbol actions: as statements and as keys. */
#include <string.h>

#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"

struct dif_type *dif_act_stack_type(struct dif_compiler *c, const struct dif_node *call)
{
	const struct dif_function *func = call->ident->func;

	if (!strcmp(func->result, "void"))
		return NULL;
	return ot_map_gets(&c->types->typedefs, func->result);
}

static bool positive(const struct dif_node *n, int64_t max, int64_t *ret)
{
	return dif_act_const(n, ret) && *ret > 0 && *ret <= max;
}

/* The frames of an action with @frames, 0 for those of its option, limited by maxframes. */
static uint64_t frames_of(struct dif_compiler *c, int64_t frames, uint64_t option)
{
	uint64_t most = c->opts->maxframes;

	if (most && (frames ? (uint64_t)frames : option) > most)
		return most;
	return (uint64_t)frames;
}

/* stack([frames]) */
static bool kernel_stack(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	int64_t frames = 0;

	if (dif_node_count(call->args) > 1)
		return dif_fail(c, DIF_D_STACK_PROTO, call->line,
				"stack( ) prototype mismatch: too many arguments");
	if (call->args && !dif_cook_list(c, &call->args))
		return false;
	if (call->args && !positive(call->args, DIF_FRAMES_MAX, &frames))
		return dif_fail(c, DIF_D_STACK_SIZE, call->line,
				"stack( ) size must be a non-zero positive integral constant expression");
	struct dif_action *a = dif_action_add(c, out, DIF_ACT_stack, NULL);
	if (a)
		a->arg = frames_of(c, frames, c->opts->stackframes);
	return a != NULL;
}

/* ustack([frames[, strsize]]) */
bool dif_act_stack(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	uint32_t kind = call->ident->func->id;
	int64_t frames = 0, strsize = 0;

	if (kind == DIF_ACT_stack)
		return kernel_stack(c, call, out);
	if (call->args && !dif_cook_list(c, &call->args))
		return false;
	if (call->args && !positive(call->args, DIF_FRAMES_MAX, &frames))
		return dif_fail(c, DIF_D_USTACK_FRAMES, call->line,
				"%s( ) argument #1 must be a non-zero positive integer constant", call->name);
	if (call->args && call->args->next &&
	    (!dif_act_const(call->args->next, &strsize) || strsize < 0 || strsize > DIF_USTACK_STRSIZE_MAX))
		return dif_fail(c, DIF_D_USTACK_STRSIZE, call->line,
				"%s( ) argument #2 must be a positive integer constant", call->name);
	if (dif_node_count(call->args) > 2)
		return dif_fail(c, DIF_D_USTACK_PROTO, call->line,
				"%s( ) prototype mismatch: too many arguments", call->name);
	struct dif_action *a = dif_action_add(c, out, kind, NULL);
	if (a)
		a->arg = (uint64_t)strsize << 32 |
			 frames_of(c, frames,
				   kind == DIF_ACT_jstack ? c->opts->jstackframes : c->opts->ustackframes);
	return a != NULL;
}

/* sym(address) and the like */
bool dif_act_sym(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	struct dif_node *arg;

	if (!dif_act_nargs(c, call, 1, 1, DIF_D_PROTO_LEN))
		return false;
	arg = dif_cook(c, call->args);
	if (!arg)
		return false;
	if (arg->kind == DIF_N_AGG || dif_node_is_action(arg) ||
	    (!dif_is_scalar(c, arg->type) && !dif_is_function(c, arg->type)))
		return dif_fail(c, DIF_D_PROTO_ARG, call->line,
				"%s( ) argument #1 is incompatible with prototype:\n\tprototype: "
				"uintptr_t\n\t argument: %s",
				call->name, dif_type_text(c, arg->type));
	if (!dif_type_same(c, arg->type, c->types->uint64))
		arg = dif_cast_to(c, arg, c->types->uintptr);
	struct dif_object *obj = arg ? dif_act_object(c, arg) : NULL;
	return obj && dif_action_add(c, out, call->ident->func->id, obj);
}
