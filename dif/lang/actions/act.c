/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: the arguments of each, and the records that it makes. */
#include "dif/lang/actions/clause.h"

#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/gen/cg.h"

bool dif_act_nargs(struct dif_compiler *c, const struct dif_node *call, unsigned min, unsigned max,
		   enum dif_errtag tag)
{
	unsigned n = dif_node_count(call->args);

	if (n >= min && n <= max)
		return true;
	/* with tags of their own, actions say "1 args" */
	return dif_fail(c, tag, call->line, "%s( ) prototype mismatch: %u arg%s passed, %s%u expected",
			call->name, n, n == 1 && tag == DIF_D_PROTO_LEN ? "" : "s",
			tag == DIF_D_TRUNC_PROTO && n > max ? "no more than " : dif_count_word(n, min, max),
			n < min ? min : max);
}

bool dif_act_const(const struct dif_node *node, int64_t *ret)
{
	if (node->kind != DIF_N_INT)
		return false;
	*ret = (int64_t)node->value;
	return true;
}

bool dif_act_record(struct dif_compiler *c, uint32_t line)
{
	if (c->clause->has_commit)
		return dif_fail(c, DIF_D_DREC_COMM, line, "data-recording actions may not follow commit( )");
	c->clause->has_data = true;
	return true;
}

struct dif_object *dif_act_object(struct dif_compiler *c, struct dif_node *node)
{
	struct dif_rtype ret = dif_type_rtype(c, node->type);

	/* the array at a struct's end, and a struct that consists of nothing else */
	if (ret.kind == DIF_TYPE_CTF && ret.flags & DIF_TF_BYREF && !ret.size)
		return dif_fail(c, DIF_D_UNKNOWN, node->line,
				"expression of unknown size may not be recorded: %s",
				dif_type_text(c, node->type));
	return dif_cg_object(c, node, &ret);
}

/* --- trace, print, tracemem, printm ------------------------------------------------------- */

/* trace(e), print(e): tags in the order void, dynamic, aggregation */
static bool act_value(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	uint32_t kind = call->ident->func->id;
	bool print = kind == DIF_ACT_print;
	struct dif_node *arg;

	if (!dif_act_nargs(c, call, 1, 1, DIF_D_PROTO_LEN))
		return false;
	arg = dif_cook(c, call->args);
	if (!arg)
		return false;
	if (arg->kind == DIF_N_AGG)
		return dif_fail(c, print ? DIF_D_PRINT_AGG : DIF_D_TRACE_AGG, call->line,
				"%s( ) may not be applied to an aggregation%s", call->name,
				print ? " -- did you mean printa()?" : "");
	if (arg->kind == DIF_N_XLATE && arg->op == DIF_O_ARROW)
		return dif_fail(c, print ? DIF_D_PRINT_DYN : DIF_D_TRACE_DYN, call->line,
				"%s( ) may not be applied to a translated pointer", call->name);
	if (arg->kind == DIF_N_XLATE && !dif_xlate_whole(c, arg))
		return false;
	if (dif_is_kind(c, arg->type, DIF_C_DYNAMIC))
		return dif_fail(c, print ? DIF_D_PRINT_DYN : DIF_D_TRACE_DYN, call->line,
				"%s( ) may not be applied to a dynamic expression", call->name);
	if (dif_is_void(c, arg->type) && arg->kind != DIF_N_SYM)
		return dif_fail(c, print ? DIF_D_PRINT_VOID : DIF_D_TRACE_VOID, call->line,
				"%s( ) may not be applied to a void expression", call->name);
	struct dif_object *obj = dif_act_record(c, call->line) ? dif_act_object(c, arg) : NULL;
	struct dif_action *a = obj ? dif_action_add(c, out, kind, obj) : NULL;
	if (a && print)
		a->format = dif_print_layout(c, arg->type);
	return a && !c->diag.failed;
}

/* tracemem(addr, constant size[, shown size]) */
static bool act_tracemem(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	struct dif_node *addr, *size, *dyn;
	int64_t n;

	if (!dif_act_nargs(c, call, 2, 3,
			   dif_node_count(call->args) < 2 ? DIF_D_PROTO_LEN : DIF_D_TRACEMEM_ARGS) ||
	    !dif_cook_list(c, &call->args))
		return false;
	addr = call->args;
	size = addr->next;
	dyn = size->next;
	if (!dif_is_int(c, size->type))
		return dif_fail(c, DIF_D_PROTO_ARG, call->line,
				"tracemem( ) argument #2 is incompatible with prototype:\n\tprototype: "
				"size_t\n\t argument: %s",
				dif_type_text(c, size->type));
	if (!dif_is_pointer(c, addr->type) && !dif_is_int(c, addr->type) && !dif_is_array(c, addr->type))
		return dif_fail(
		    c, DIF_D_TRACEMEM_ADDR, call->line,
		    "tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer "
		    "or integer\n\t argument: %s",
		    dif_type_text(c, addr->type));
	if (!dif_act_const(size, &n) || n <= 0 || n > INT32_MAX)
		return dif_fail(
		    c, DIF_D_TRACEMEM_SIZE, call->line,
		    "tracemem( ) argument #2 must be a non-zero positive integral constant expression");
	if (dyn && (!dif_is_scalar(c, dyn->type)))
		return dif_fail(c, DIF_D_TRACEMEM_DYNSIZE, call->line,
				"tracemem( ) dynamic size (argument #3) must be of scalar type");
	struct dif_rtype ret = {
		.kind = DIF_TYPE_CTF, .ckind = DIF_CTF_ARRAY, .flags = DIF_TF_BYREF, .size = (uint32_t)n
	};
	addr->next = NULL;
	struct dif_object *obj = dif_act_record(c, call->line) ? dif_cg_object(c, addr, &ret) : NULL;
	if (!obj)
		return false;
	if (dyn) {
		struct dif_action *a = dif_action_add(c, out, DIF_ACT_tracemem, obj);
		if (!a)
			return false;
		a->arg = (uint64_t)n;
		/* in 64 bits, so that its sign is not lost */
		if (dif_is_int(c, dyn->type))
			dyn = dif_cast_to(c, dyn, c->types->int64);
		obj = dyn ? dif_act_object(c, dyn) : NULL;
		a = obj ? dif_action_add(c, out, DIF_ACT_tracemem_dynsize, obj) : NULL;
		return a != NULL;
	}
	struct dif_action *a = dif_action_add(c, out, DIF_ACT_tracemem, obj);
	if (a)
		a->arg = (uint64_t)n;
	return a != NULL;
}

/* printm(size, memref(p, n)) */
static bool act_printm(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	int64_t n;

	if (!dif_act_nargs(c, call, 2, 2, DIF_D_PROTO_LEN) || !dif_cook_list(c, &call->args))
		return false;
	struct dif_node *size = call->args, *ref = size->next;
	if (!dif_is_int(c, size->type))
		return dif_fail(c, DIF_D_PROTO_ARG, call->line,
				"printm( ) argument #1 is incompatible with prototype:\n\tprototype: "
				"size_t\n\t argument: %s",
				dif_type_text(c, size->type));
	if (!dif_act_const(size, &n) || n <= 0 || n > INT32_MAX)
		return dif_fail(
		    c, DIF_D_PRINTM_SIZE, call->line,
		    "printm( ) argument #1 must be a non-zero positive integral constant expression");
	if (!dif_is_pointer(c, ref->type))
		return dif_fail(c, DIF_D_PRINTM_ADDR, call->line,
				"printm( ) argument #2 is incompatible with prototype:\n\tprototype: "
				"pointer\n\t argument: %s",
				dif_type_text(c, ref->type));
	struct dif_object *obj =
	    dif_act_record(c, call->line) ? dif_cg_memory_object(c, ref, (uint32_t)n) : NULL;
	struct dif_action *a = obj ? dif_action_add(c, out, DIF_ACT_printm, obj) : NULL;
	if (a)
		a->arg = (uint64_t)n;
	return a != NULL;
}

/* --- exit, raise, stop, chill, panic, breakpoint -------------------------------------------- */

static struct dif_object *int_arg(struct dif_compiler *c, struct dif_node *call, struct dif_type *type)
{
	struct dif_node *arg = dif_cook(c, call->args);

	if (!arg)
		return NULL;
	if (arg->kind == DIF_N_AGG || dif_node_is_action(arg) || !dif_is_int(c, arg->type))
		return dif_fail(
		    c, DIF_D_PROTO_ARG, call->line,
		    "%s( ) argument #1 is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
		    call->name, dif_type_text(c, type), dif_type_text(c, arg->type));
	if (!dif_type_same(c, arg->type, type))
		arg = dif_cast_to(c, arg, type);
	return arg ? dif_act_object(c, arg) : NULL;
}

static bool act_exit(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	if (!dif_act_nargs(c, call, 1, 1, DIF_D_PROTO_LEN))
		return false;
	if (c->clause->has_speculate)
		return dif_fail(c, DIF_D_EXIT_SPEC, call->line, "exit( ) may not follow speculate( )");
	if (!dif_act_record(c, call->line))
		return false;
	struct dif_object *obj = int_arg(c, call, c->types->int_);
	return obj && dif_action_add(c, out, DIF_ACT_exit, obj);
}

static bool act_destructive(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	uint32_t kind = call->ident->func->id;
	bool has_arg = kind == DIF_ACT_raise || kind == DIF_ACT_chill;
	struct dif_object *obj = NULL;

	if (!dif_act_nargs(c, call, has_arg, has_arg, DIF_D_PROTO_LEN))
		return false;
	if (c->clause->has_speculate)
		return dif_fail(c, DIF_D_ACT_SPEC, call->line, "%s( ) may not follow speculate( )",
				call->name);
	if (has_arg) {
		obj = int_arg(c, call, kind == DIF_ACT_raise ? c->types->int_ : c->types->uint64);
		if (!obj)
			return false;
	}
	return dif_action_add(c, out, kind, obj) != NULL;
}

/* --- speculation ------------------------------------------------------------------------------ */

static bool act_speculation(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	uint32_t kind = call->ident->func->id;
	struct dif_clause_state *cl = c->clause;

	if (!dif_act_nargs(c, call, 1, 1, DIF_D_PROTO_LEN))
		return false;
	if (kind == DIF_ACT_speculate) {
		if (cl->has_speculate)
			return dif_fail(c, DIF_D_SPEC_SPEC, call->line,
					"speculate( ) may not follow speculate( )");
		if (cl->has_commit)
			return dif_fail(c, DIF_D_SPEC_COMM, call->line,
					"speculate( ) may not follow commit( )");
		if (cl->has_data)
			return dif_fail(c, DIF_D_SPEC_DREC, call->line,
					"speculate( ) may not follow data-recording actions");
		cl->has_speculate = true;
	} else if (kind == DIF_ACT_commit) {
		if (cl->has_commit)
			return dif_fail(c, DIF_D_COMM_COMM, call->line, "commit( ) may not follow commit( )");
		if (cl->has_data)
			return dif_fail(c, DIF_D_COMM_DREC, call->line,
					"commit( ) may not follow data-recording actions");
		cl->has_commit = true;
	}
	struct dif_object *obj = int_arg(c, call, c->types->int_);
	return obj && dif_action_add(c, out, kind, obj);
}

/* --- stacks and symbols as statements ------------------------------------------------------------ */

static bool act_stack(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	return dif_act_record(c, call->line) && dif_act_stack(c, call, out);
}

static bool act_sym(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	return dif_act_record(c, call->line) && dif_act_sym(c, call, out);
}

/* --- dispatch ---------------------------------------------------------------------------------- */

bool dif_act_call(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	static bool (*const makers[])(struct dif_compiler *, struct dif_node *, struct dif_actions *) = {
		[DIF_LOWER_value] = act_value,
		[DIF_LOWER_tracemem] = act_tracemem,
		[DIF_LOWER_printm] = act_printm,
		[DIF_LOWER_exit] = act_exit,
		[DIF_LOWER_printf] = dif_act_printf,
		[DIF_LOWER_printa] = dif_act_printa,
		[DIF_LOWER_stack] = act_stack,
		[DIF_LOWER_sym] = act_sym,
		[DIF_LOWER_speculation] = act_speculation,
		[DIF_LOWER_destructive] = act_destructive,
		[DIF_LOWER_library] = dif_act_library,
	};
	struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, call->name);

	call->ident = id;
	c->diag.check_depth++;
	bool ok = dif_use_ident(c, id, call->line) && dif_call_count(c, call, id->func);
	c->diag.check_depth--;
	return ok && makers[id->func->lowering](c, call, out);
}
