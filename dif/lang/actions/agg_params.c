/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of aggregating functions: parameters of lquantize() and llquantize() packed, one set for each
 * aggregation. */
#include "dif/lang/actions/agg_params.h"

#include <string.h>

#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"

/* A parameter: an integer constant of [lo, hi]. As in dtrace's messages, the value that is aggregated is no
 * argument: the first parameter is #1. */
static bool constant(struct dif_compiler *c, const struct dif_node *n, int arg, const char *func, int64_t lo,
		     int64_t hi, enum dif_errtag type_tag, enum dif_errtag value_tag, const char *what,
		     int64_t *ret)
{
	if (!dif_act_const(n, ret))
		return dif_fail(c, type_tag, n->line, "%s( ) argument #%d must be an integer constant", func,
				arg);
	if (*ret < lo || *ret > hi)
		return dif_fail(c, value_tag, n->line, "%s( ) argument #%d (%s) must be a %s-bit quantity",
				func, arg, what, hi > 0xffff ? "32" : "16");
	return true;
}

/* lquantize(e, base, limit[, step]); checked in the order of the arguments */
static bool lquantize(struct dif_compiler *c, struct dif_node *arg, uint64_t *ret)
{
	int64_t base, limit, step = 1;
	uint32_t line = arg->line;

	if (!constant(c, arg, 1, "lquantize", INT32_MIN, INT32_MAX, DIF_D_LQUANT_BASETYPE,
		      DIF_D_LQUANT_BASEVAL, "base", &base))
		return false;
	arg = arg->next;
	if (!constant(c, arg, 2, "lquantize", INT32_MIN, INT32_MAX, DIF_D_LQUANT_LIMTYPE, DIF_D_LQUANT_LIMVAL,
		      "limit", &limit))
		return false;
	if (limit < base)
		return dif_fail(c, DIF_D_LQUANT_MISMATCH, line,
				"lquantize( ) base (argument #1) must be less than limit (argument #2)");
	arg = arg->next;
	if (arg) {
		if (!dif_act_const(arg, &step) || !dif_is_int(c, arg->type) || step <= 0)
			return dif_fail(
			    c, DIF_D_LQUANT_STEPTYPE, line,
			    "lquantize( ) argument #3 must be a non-zero positive integer constant");
		if (step > UINT16_MAX)
			return dif_fail(c, DIF_D_LQUANT_STEPVAL, line,
					"lquantize( ) argument #3 must be a 16-bit quantity");
	}
	int64_t levels = (limit - base) / step;
	if (levels == 0)
		return dif_fail(
		    c, DIF_D_LQUANT_STEPLARGE, line,
		    "lquantize( ) step (argument #3) too large: must have at least one quantization level");
	if (levels > UINT16_MAX)
		return dif_fail(c, DIF_D_LQUANT_STEPSMALL, line,
				"lquantize( ) step (argument #3) too small: number of quantization levels "
				"must be a 16-bit quantity");
	*ret = (uint64_t)step << 48 | (uint64_t)levels << 32 | (uint32_t)base;
	return true;
}

/* The last magnitude ends at factor^(high + 1), which must fit in 64 bits; dtrace also requires that one more
 * factor, modulo 2^64, increases it. */
static bool ll_fits(uint64_t factor, uint64_t high)
{
	uint64_t v = 1;

	for (uint64_t i = 0; i <= high; i++)
		if (__builtin_mul_overflow(v, factor, &v))
			return false;
	return v * factor > v;
}

static bool ll_shape(struct dif_compiler *c, uint32_t line, uint64_t factor, uint64_t low, uint64_t high,
		     uint64_t nsteps)
{
	uint64_t power = factor;

	if (factor < 2)
		return dif_fail(c, DIF_D_LLQUANT_FACTORSMALL, line,
				"llquantize( ) factor (argument #1) must be two or more");
	if (low >= high)
		return dif_fail(c, DIF_D_LLQUANT_MAGRANGE, line,
				"llquantize( ) high magnitude (argument #3) must be greater than low "
				"magnitude (argument #2)");
	if (factor > nsteps)
		return dif_fail(c, DIF_D_LLQUANT_FACTORNSTEPS, line,
				"llquantize( ) factor (argument #1) must be less than or equal to the number "
				"of linear steps per magnitude (argument #4)");
	while (power < nsteps)
		power *= factor;
	if (nsteps % factor || power % nsteps)
		return dif_fail(c, DIF_D_LLQUANT_FACTOREVEN, line,
				"llquantize( ) factor (argument #1) must evenly divide the number of steps "
				"per magnitude (argument #4), and the number of steps per magnitude must "
				"evenly divide a power of the factor");
	if (!ll_fits(factor, high))
		return dif_fail(c, DIF_D_LLQUANT_MAGTOOBIG, line,
				"llquantize( ) factor (%llu) raised to power of high magnitude (%llu) plus 1 "
				"overflows 64-bits",
				(unsigned long long)factor, (unsigned long long)high);
	return true;
}

/* llquantize(e, factor, low, high, nsteps) */
static bool llquantize(struct dif_compiler *c, struct dif_node *arg, uint64_t *ret)
{
	static const struct {
		enum dif_errtag type, value;
		const char *what;
	} tags[] = {
		{ DIF_D_LLQUANT_FACTORTYPE, DIF_D_LLQUANT_FACTORVAL, "factor" },
		{ DIF_D_LLQUANT_LOWTYPE, DIF_D_LLQUANT_LOWVAL, "low magnitude" },
		{ DIF_D_LLQUANT_HIGHTYPE, DIF_D_LLQUANT_HIGHVAL, "high magnitude" },
		{ DIF_D_LLQUANT_NSTEPTYPE, DIF_D_LLQUANT_NSTEPVAL, "linear steps per magnitude" },
	};
	uint32_t line = arg->line;
	int64_t v[4];

	for (int i = 0; i < 4; i++, arg = arg->next)
		if (!constant(c, arg, i + 1, "llquantize", 0, UINT16_MAX, tags[i].type, tags[i].value,
			      tags[i].what, &v[i]))
			return false;
	if (!ll_shape(c, line, (uint64_t)v[0], (uint64_t)v[1], (uint64_t)v[2], (uint64_t)v[3]))
		return false;
	*ret = (uint64_t)v[0] << 48 | (uint64_t)v[1] << 32 | (uint64_t)v[2] << 16 | (uint64_t)v[3];
	return true;
}

static struct dif_node *nth(struct dif_node *list, size_t n)
{
	while (list && n--)
		list = list->next;
	return list;
}

/* The parameters that an implementation's prototype has as integers come before all else. */
static bool check_prototype(struct dif_compiler *c, const struct dif_node *call)
{
	const struct dif_function *func = call->ident->func;
	size_t i = 0;

	for (const struct dif_node *arg = call->args; arg; arg = arg->next, i++)
		if (dif_function_letter(func, i) == 'i' && !dif_is_int(c, arg->type))
			return dif_fail(c, DIF_D_PROTO_ARG, call->line,
					"%s( ) argument #%zu is incompatible with prototype:\n\tprototype: "
					"int32_t\n\t argument: %s",
					call->name, i + 1, dif_type_text(c, arg->type));
	return true;
}

static bool is_scalar(struct dif_compiler *c, const struct dif_node *arg)
{
	return arg->kind != DIF_N_AGG && !dif_node_is_action(arg) && dif_is_scalar(c, arg->type);
}

/* The increment is the last optional argument. */
static struct dif_node *increment(const struct dif_function *func, struct dif_node *args)
{
	size_t n = strlen(func->optional);

	return n ? nth(args, strlen(func->required) + n - 1) : NULL;
}

/* The parameters from @first on as a program has them: 0 when the function takes none. */
static bool pack(struct dif_compiler *c, const struct dif_function *func, struct dif_node *first,
		 uint64_t *ret)
{
	switch (func->lowering) {
	case DIF_LOWER_lquantize:
		return lquantize(c, first, ret);
	case DIF_LOWER_llquantize:
		return llquantize(c, first, ret);
	default:
		return true;
	}
}

bool dif_agg_params(struct dif_compiler *c, struct dif_node *call, struct dif_agg_params *ret)
{
	const struct dif_function *func = call->ident->func;
	struct dif_agg_params p = { .value = call->args, .increment = increment(func, call->args) };

	if (!dif_call_count(c, call, func) || !check_prototype(c, call))
		return false;
	if (p.value && !is_scalar(c, p.value))
		return dif_fail(c, DIF_D_AGG_SCALAR, call->line, "%s( ) argument #1 must be of scalar type",
				call->name);
	if (p.value && !pack(c, func, p.value->next, &p.arg))
		return false;
	if (p.increment && !is_scalar(c, p.increment))
		return dif_fail(c, DIF_D_PROTO_ARG, call->line,
				"%s( ) increment value (argument #%u) must be of scalar type", call->name,
				dif_node_count(call->args));
	*ret = p;
	return true;
}

static unsigned field(uint64_t arg, unsigned shift)
{
	return arg >> shift & 0xffff;
}

static bool mismatch(struct dif_compiler *c, enum dif_errtag tag, const struct dif_node *asgn,
		     const char *what, unsigned arg, int64_t expected, int64_t found)
{
	return dif_fail(
	    c, tag, asgn->line,
	    "%s( ) %s (argument #%u) doesn't match previous declaration: expected %lld, found %lld",
	    asgn->right->name, what, arg, (long long)expected, (long long)found);
}

static bool lquantize_match(struct dif_compiler *c, const struct dif_node *asgn, uint64_t old, uint64_t new)
{
	int32_t old_base = (int32_t)(uint32_t)old, new_base = (int32_t)(uint32_t) new;
	int64_t old_step = field(old, 48), new_step = field(new, 48);
	/* of the limits, as far as the steps reach them */
	int64_t old_range = field(old, 32) * old_step, new_range = field(new, 32) * new_step;

	if (old_base != new_base)
		return mismatch(c, DIF_D_LQUANT_MATCHBASE, asgn, "base", 1, old_base, new_base);
	if (old_range != new_range)
		return mismatch(c, DIF_D_LQUANT_MATCHLIM, asgn, "limit", 2, old_base + old_range,
				new_base + new_range);
	return mismatch(c, DIF_D_LQUANT_MATCHSTEP, asgn, "step", 3, old_step, new_step);
}

static bool llquantize_match(struct dif_compiler *c, const struct dif_node *asgn, uint64_t old, uint64_t new)
{
	static const struct {
		unsigned shift;
		enum dif_errtag tag;
		const char *what;
	} parts[] = {
		{ 48, DIF_D_LLQUANT_FACTORMATCH, "factor" },
		{ 32, DIF_D_LLQUANT_LOWMATCH, "low magnitude" },
		{ 16, DIF_D_LLQUANT_HIGHMATCH, "high magnitude" },
		{ 0, DIF_D_LLQUANT_NSTEPMATCH, "linear steps per magnitude" },
	};
	unsigned i = 0;

	while (field(old, parts[i].shift) == field(new, parts[i].shift))
		i++;
	return mismatch(c, parts[i].tag, asgn, parts[i].what, i + 1, field(old, parts[i].shift),
			field(new, parts[i].shift));
}

bool dif_agg_params_match(struct dif_compiler *c, const struct dif_ident *id, const struct dif_node *asgn,
			  const struct dif_agg_params *p)
{
	if (p->arg == id->agg_arg)
		return true;
	return id->agg_kind == DIF_AGG_lquantize ? lquantize_match(c, asgn, id->agg_arg, p->arg)
						 : llquantize_match(c, asgn, id->agg_arg, p->arg);
}
