/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the arguments of static probes, and making the program that loads them. The text is a guest's. */
#include "vmm-probe/provider/usdt_args.h"

#include <string.h>

#include "vmm-probe/provider/operand.h"

/* Stands for an argument that can't be read: no process maps this address. */
#define NOWHERE (1ull << 63)

static const char no_size[] = "it does not begin with a size (8@…)";
static const char bad_size[] = "its size is not 1, 2, 4 or 8 bytes";
static const char is_float[] = "it is a floating-point number";
static const char no_symbol[] = "the file has no symbol of that name, or several";
static const char no_room[] = "its address is the sum of a symbol's and of two registers'";

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* --- SIZE@ --------------------------------------------------------------------------------------------- */

struct size {
	uint32_t bytes; /* 0: none that is known */
	bool is_signed, is_float;
};

/* The text after the SIZE@ at the beginning of @p at; NULL: there is none. */
static const char *read_size(const char *at, struct size *ret)
{
	*ret = (struct size){ .is_signed = *at == '-' };
	at += ret->is_signed;
	const char *digits = at;
	for (; *at >= '0' && *at <= '9'; at++)
		ret->bytes = ret->bytes > 8 ? 9 : ret->bytes * 10 + (uint32_t)(*at - '0');
	if (at == digits)
		return NULL;
	ret->is_float = *at == 'f';
	at += ret->is_float;
	return *at == '@' ? at + 1 : NULL;
}

/* The end of the argument at @p at: an operand may have spaces, but a space and a size begin the next one. */
static const char *end_of(const char *at)
{
	struct size size;
	const char *end = at;

	for (; *at; at++) {
		if (!is_space(*at))
			end = at + 1;
		else if (read_size(at + 1, &size))
			break;
	}
	return end;
}

/* --- its value ------------------------------------------------------------------------------------------ */

struct making {
	const struct vp_code_ops *code;
	const struct vp_usdt_symbols *symbols;
	struct vp_exprs *exprs;
};

/* The instruction pointer becomes a part of the address. */
static bool add_pc(struct vp_asm_operand *op)
{
	if (op->has_base && op->has_index)
		return false;
	if (op->has_base) {
		op->index = op->base;
		op->has_index = true;
		op->scale = 0;
	}
	op->has_base = true;
	op->base = VP_REG_PC;
	return true;
}

/* NULL, with *ret 0 if the operand has no symbol; or the reason why its address is unknown. */
static const char *find_symbol(const struct making *m, struct vp_asm_operand *op, uint64_t *ret)
{
	const struct vp_usdt_symbols *all = m->symbols;

	*ret = 0;
	if (!op->symbol)
		return NULL;
	if (!all->find || !all->find(all->arg, op->symbol, op->symbol_len, ret))
		return no_symbol;
	if (all->site && !add_pc(op))
		return no_room;
	*ret -= all->site;
	return NULL;
}

/* NULL, with arg->value, or the reason why there is none. */
static const char *find_value(const struct making *m, struct vp_asm_operand *op, struct vp_usdt_arg *arg)
{
	unsigned size = arg->size;
	uint64_t symbol;
	const char *why = find_symbol(m, op, &symbol);

	if (why)
		return why;
	if (op->kind == VP_ASM_REG)
		size = op->size < size ? op->size : size;
	const struct vp_expr *e = vp_operand_value(m->exprs, op, symbol, arg->size);
	arg->value = vp_expr_extend(m->exprs, arg->is_signed ? VP_EXPR_SX : VP_EXPR_ZX, e, size);
	return NULL;
}

static const char *read_arg(const struct making *m, struct vp_usdt_arg *arg)
{
	struct vp_asm_operand operand;
	struct size size;
	const char *behind = read_size(arg->text, &size), *why;

	if (!behind)
		return no_size;
	if (size.is_float)
		return is_float;
	if (size.bytes != 1 && size.bytes != 2 && size.bytes != 4 && size.bytes != 8)
		return bad_size;
	why = m->code->operand(behind, (size_t)(arg->text + arg->len - behind), &operand);
	if (why)
		return why;
	arg->size = (uint8_t)size.bytes;
	arg->is_signed = size.is_signed;
	why = find_value(m, &operand, arg);
	if (why)
		arg->size = 0;
	return why;
}

struct ot_err *vp_usdt_args_read(const char *text, const struct vp_code_ops *code,
				 const struct vp_usdt_symbols *symbols, struct vp_exprs *exprs,
				 struct vp_usdt_args *ret)
{
	struct making m = { code, symbols, exprs };

	*ret = (struct vp_usdt_args){ 0 };
	while (ret->count < VP_SITE_ARGS) {
		struct vp_usdt_arg *arg = &ret->items[ret->count];

		while (is_space(*text))
			text++;
		if (!*text)
			break;
		arg->text = text;
		text = end_of(text);
		arg->len = (size_t)(text - arg->text);
		arg->refused = read_arg(&m, arg);
		ret->count++;
		if (exprs->failed)
			return ot_err_nomem();
	}
	return NULL;
}

/* --- the program ----------------------------------------------------------------------------------------- */

static struct ot_err *add_action(const struct vp_usdt_arg *arg, struct vp_exprs *exprs,
				 struct dif_action *ret)
{
	const struct vp_expr *e = arg->value;

	if (!e)
		e = vp_expr_load_user(exprs, vp_expr_const(exprs, NOWHERE), 8);
	ret->kind = DIF_ACT_difexpr;
	ret->object = ot_arena_new(&exprs->arena, struct dif_object);
	return e && ret->object ? vp_expr_dif(e, &exprs->arena, ret->object) : ot_err_nomem();
}

struct ot_err *vp_usdt_program(const struct vp_usdt_args *args, struct vp_exprs *exprs,
			       struct dif_clause *ret)
{
	size_t size = (args->count + 1) * sizeof(struct dif_action);

	*ret = (struct dif_clause){
		.probe = { .guest = "", .provider = "", .module = "", .function = "", .name = "" },
		.nactions = args->count,
		.actions = ot_arena_alloc(&exprs->arena, size),
	};
	if (!ret->actions)
		return ot_err_nomem();
	memset(ret->actions, 0, size);
	for (uint32_t i = 0; i < args->count; i++)
		OT_TRY(add_action(&args->items[i], exprs, &ret->actions[i]));
	return NULL;
}
