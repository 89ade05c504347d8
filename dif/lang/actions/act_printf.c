/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * printf(), printa(), system(), freopen(): formats checked against arguments. The program contains the format
 * with explicit signs (%d of an unsigned is %u), so that a consumer needs the records alone.
 */
#include <stdio.h>
#include <string.h>

#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"
#include "dif/obj/format.h"

/* --- conversions and types ------------------------------------------------------------------- */

/* The size in bytes that a size prefix requires; 0: any. */
static uint64_t prefix_size(const struct dif_conv *cv)
{
	if (!strcmp(cv->size, "h"))
		return 2;
	return *cv->size == 'l' ? 8 : 0;
}

static bool is_char_array(struct dif_compiler *c, struct dif_type *t)
{
	return dif_is_array(c, t) && dif_is_stringlike(c, t);
}

static bool is_wide_array(struct dif_compiler *c, struct dif_type *t)
{
	return dif_is_array(c, t) && dif_is_int(c, dif_pointee(c, t)) &&
	       dif_sizeof(c, dif_pointee(c, t)) == 4;
}

/* A process that plain user addresses can be taken to be of: -p's or -c's. */
static bool has_target(struct dif_compiler *c)
{
	int64_t pid = 0;

	return c->world->macro && c->world->macro(c->world->env, "target", &pid) && pid;
}

/* Can conversion @cv print a value of type @t? */
static bool type_fits(struct dif_compiler *c, const struct dif_conv *cv, struct dif_type *t)
{
	bool integer = dif_is_int(c, t);
	uint64_t size = dif_sizeof(c, t), want = prefix_size(cv);

	switch (cv->conv) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		return integer && (!want || want == size);
	case 'c':
	case 'C':
		return integer && size <= 4;
	case 's':
	case 'S':
		return *cv->size ? is_wide_array(c, t) : dif_is_string(c, t) || is_char_array(c, t);
	case 'p':
		return dif_is_scalar(c, t) || dif_is_function(c, t);
	case 'a':
		return dif_is_scalar(c, t) || dif_is_function(c, t) || dif_is_kind(c, t, DIF_C_SYMADDR);
	case 'A':
		return dif_is_kind(c, t, DIF_C_USYMADDR) || (has_target(c) && dif_is_scalar(c, t));
	case 'k':
		return dif_is_kind(c, t, DIF_C_STACK);
	case 'Y':
	case 'T':
		return integer && size == 8;
	case 'P':
		return integer && size <= 2;
	case 'I':
		return dif_is_string(c, t) || is_char_array(c, t);
	default:
		return dif_is_float(c, t);
	}
}

/* Copy @text up to and with its next conversion letter, which becomes @letter. */
static const char *copy_conv(const char *text, const struct dif_conv *cv, char letter, struct ot_buf *out)
{
	ot_buf_append(out, text, cv->literal_len);
	text += cv->literal_len;
	if (!cv->conv)
		return text;
	ot_buf_putc(out, *text++); /* % */
	while (*text && strchr("-+ #0'?@*.123456789hlLw", *text))
		ot_buf_putc(out, *text++);
	ot_buf_putc(out, letter);
	return *text ? text + 1 : text;
}

static char explicit_letter(struct dif_compiler *c, const struct dif_conv *cv, struct dif_type *type)
{
	bool negative = type && (dif_is_signed(c, type) || !dif_is_int(c, type));

	return cv->conv == 'd' && !negative ? 'u' : cv->conv;
}

static bool parse_format(struct dif_compiler *c, const struct dif_node *call, const char *text,
			 struct dif_format *ret)
{
	struct ot_err *err = dif_format_parse(text, &c->scratch, ret);

	if (!err)
		return true;
	dif_fail(c, DIF_D_SYNTAX, call->line, "%s", ot_err_message(err));
	ot_err_destroy(err);
	return false;
}

/* --- printf, system, freopen ------------------------------------------------------------------ */

struct arguments {
	struct dif_node *next;
	unsigned n; /* arguments consumed so far, with the format */
};

/* The argument types of a conversion, for messages. */
static const char *prototype(const struct dif_conv *cv)
{
	static const char xint[] = "char, short, int, long, or long long", *const fp[] = {
		"float, double, or long double", "long double"
	};

	switch (cv->conv) {
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		return !*cv->size               ? xint
		       : !strcmp(cv->size, "h") ? "short"
		       : !strcmp(cv->size, "l") ? "long"
						: "long long";
	case 'c':
	case 'C':
		return *cv->size ? "int" : "char, short, or int";
	case 's':
	case 'S':
	case 'I':
		return *cv->size ? "wchar_t []" : "char [] or string (or use stringof)";
	case 'a':
	case 'p':
		return "pointer or integer";
	case 'A':
		return "pointer or integer (with -p/-c) or _usymaddr (without -p/-c)";
	case 'k':
		return "stack";
	case 'Y':
	case 'T':
		return "int64_t";
	case 'P':
		return "uint16_t";
	default:
		return fp[*cv->size == 'L'];
	}
}

static bool take_star(struct dif_compiler *c, const struct dif_node *call, const struct dif_conv *cv,
		      unsigned number, const char *star, struct arguments *args)
{
	struct dif_node *a = args->next;

	args->n++;
	if (!a)
		return dif_fail(
		    c, DIF_D_PRINTF_DYN_PROTO, call->line,
		    "%s( ) prototype mismatch: conversion #%u (%%%s%c) is missing a corresponding "
		    "\"%s\" argument",
		    call->name, number, cv->size, cv->conv, star);
	if (!dif_is_int(c, a->type))
		return dif_fail(c, DIF_D_PRINTF_DYN_TYPE, call->line,
				"%s( ) argument #%u is incompatible with conversion #%u prototype:\n"
				"\tconversion: %% %s %s%c\n\t prototype: int\n\t  argument: %s",
				call->name, args->n, number, star, cv->size, cv->conv,
				dif_type_text(c, a->type));
	args->next = a->next;
	return true;
}

static bool type_error(struct dif_compiler *c, const struct dif_node *call, const struct dif_conv *cv,
		       unsigned number, unsigned arg, const struct dif_node *value, struct dif_type *type)
{
	dif_fail(c, DIF_D_PRINTF_ARG_TYPE, call->line,
		 "%s( ) argument #%u is incompatible with conversion #%u prototype:\n"
		 "\tconversion: %%%s%c\n\t prototype: %s\n\t  argument: %s",
		 call->name, arg, number, cv->size, cv->conv, prototype(cv), dif_type_text(c, type));
	if (value->kind == DIF_N_SYM && dif_is_void(c, type) && strchr("sS", cv->conv))
		dif_hint(c, "%s has no type: stringof(&%s) reads a string there", value->name, value->name);
	else if (value->kind == DIF_N_SYM && dif_is_void(c, type))
		dif_hint(c, "%s has no type: *(int *)&%s reads an int there", value->name, value->name);
	else if ((cv->conv == 's' || cv->conv == 'S') && dif_is_pointer(c, type))
		dif_hint(c, "stringof() reads a string of the kernel, copyinstr() one of a process");
	return false;
}

/* printf() alone takes stacks and symbols as well, as newer implementations do. */
static struct dif_type *stack_type(struct dif_compiler *c, const struct dif_node *call,
				   const struct dif_node *arg)
{
	return call->ident->func->id == DIF_ACT_printf ? dif_act_stack_type(c, arg) : NULL;
}

static bool take_value(struct dif_compiler *c, const struct dif_node *call, const struct dif_conv *cv,
		       unsigned number, struct arguments *args, struct dif_type **ret)
{
	struct dif_node *a = args->next;

	args->n++;
	if (!a)
		return dif_fail(
		    c, DIF_D_PRINTF_ARG_PROTO, call->line,
		    "%s( ) prototype mismatch: conversion #%u (%%%s%c) is missing a corresponding "
		    "value argument",
		    call->name, number, cv->size, cv->conv);
	struct dif_type *type = dif_node_is_action(a) ? stack_type(c, call, a) : a->type;
	if (a->kind == DIF_N_AGG || !type || dif_is_kind(c, type, DIF_C_DYNAMIC) || !type_fits(c, cv, type))
		return type_error(c, call, cv, number, args->n, a, type ? type : a->type);
	*ret = type;
	args->next = a->next;
	return true;
}

/* Check all conversions; the explicit format is in the program's arena. */
static const char *check_format(struct dif_compiler *c, const struct dif_node *call, const char *text)
{
	struct arguments args = { .next = call->args->next, .n = 1 };
	struct ot_buf out = { 0 };
	struct dif_format fmt;

	if (!parse_format(c, call, text, &fmt))
		return NULL;
	for (uint32_t i = 0; i < fmt.nconvs && !c->diag.failed; i++) {
		const struct dif_conv *cv = &fmt.convs[i];
		struct dif_type *type = NULL;
		if (cv->flags & DIF_CONV_AGG) {
			dif_fail(c, DIF_D_PRINTF_AGG_CONV, call->line,
				 "%%@ conversion requires an aggregation and is not for use with %s( )",
				 call->name);
			break;
		}
		if (cv->conv && cv->conv != '%') {
			if (cv->flags & DIF_CONV_STAR_WIDTH && !take_star(c, call, cv, i + 1, "*", &args))
				break;
			if (cv->flags & DIF_CONV_STAR_PREC && !take_star(c, call, cv, i + 1, ".*", &args))
				break;
			if (!take_value(c, call, cv, i + 1, &args, &type))
				break;
		}
		text = copy_conv(text, cv, explicit_letter(c, cv, type), &out);
	}
	if (!c->diag.failed && args.next)
		dif_fail(c, DIF_D_PRINTF_ARG_EXTRA, call->line,
			 "%s( ) prototype mismatch: only %u arguments required by this format string",
			 call->name, args.n - 1);
	if (out.failed)
		dif_fail_memory(c);
	const char *s = c->diag.failed ? NULL : dif_strdup(c, &c->out.prog->arena, ot_buf_str(&out));
	ot_buf_deinit(&out);
	return s;
}

static bool check_call(struct dif_compiler *c, struct dif_node *call, uint32_t kind)
{
	if (!call->args)
		return dif_fail(c, DIF_D_PROTO_LEN, call->line,
				"%s( ) prototype mismatch: 0 args passed, at least 1 expected", call->name);
	if (!dif_cook_list(c, &call->args))
		return false;
	if (call->args->kind != DIF_N_STRING)
		return dif_fail(c, DIF_D_PRINTF_ARG_FMT, call->line,
				"%s( ) argument #1 is incompatible with prototype:\n\tprototype: string "
				"constant\n\t argument: %s",
				call->name, dif_type_text(c, call->args->type));
	if (!*call->args->name && kind != DIF_ACT_freopen)
		return dif_fail(c, DIF_D_PRINTF_FMT_EMPTY, call->line, "%s( ) format string is empty",
				call->name);
	/* the form of freopen("") for libraries of other implementations */
	if (kind == DIF_ACT_freopen && !strcmp(call->args->name, "."))
		return dif_fail(c, DIF_D_FREOPEN_INVALID, call->line, "%s( ) argument #1 cannot be \".\"",
				call->name);
	if (c->clause->has_speculate && kind != DIF_ACT_printf)
		return dif_fail(c, DIF_D_ACT_SPEC, call->line, "%s( ) may not follow speculate( )",
				call->name);
	return true;
}

static bool has_actions(const struct dif_node *list)
{
	while (list && !dif_node_is_action(list))
		list = list->next;
	return list;
}

static bool record_argument(struct dif_compiler *c, struct dif_node *a, uint32_t kind,
			    struct dif_actions *out)
{
	if (dif_node_is_action(a)) {
		return dif_act_stack_type(c, a) == c->types->stack ? dif_act_stack(c, a, out)
								   : dif_act_sym(c, a, out);
	}
	struct dif_object *obj = dif_act_object(c, a);
	return obj && dif_action_add(c, out, kind, obj);
}

bool dif_act_printf(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	uint32_t kind = call->ident->func->id;
	size_t first = out->n;

	if (!check_call(c, call, kind) || !dif_act_record(c, call->line))
		return false;
	const char *format = check_format(c, call, call->args->name);
	if (!format)
		return false;
	/* the format is the first action's, which must be a printf's */
	if (!call->args->next || has_actions(call->args->next))
		if (!dif_action_add(c, out, kind, NULL))
			return false;
	for (struct dif_node *a = call->args->next; a; a = a->next)
		if (!record_argument(c, a, kind, out))
			return false;
	out->list[first].format = format;
	return true;
}

/* --- printa -------------------------------------------------------------------------------------- */

static bool same_keys(struct dif_compiler *c, const struct dif_node *call, const struct dif_ident *a,
		      const struct dif_ident *b)
{
	if (a->nkeys != b->nkeys)
		return dif_fail(
		    c, DIF_D_PRINTA_AGGKEY, call->line,
		    "printa( ): @%s and @%s do not have matching key signatures: @%s has %u key%s, "
		    "@%s has %u key%s",
		    a->name, b->name, a->name, a->nkeys, a->nkeys == 1 ? "" : "s", b->name, b->nkeys,
		    b->nkeys == 1 ? "" : "s");
	for (uint32_t i = 0; i < a->nkeys && a->has_keys && b->has_keys; i++)
		if (!dif_type_same(c, a->keys[i], b->keys[i]))
			return dif_fail(
			    c, DIF_D_PRINTA_AGGPROTO, call->line,
			    "printa( ): @%s[ ] key #%u is incompatible with @%s:\n%9s key #%u: %s\n"
			    "%9s key #%u: %s",
			    b->name, i + 1, a->name, a->name, i + 1, dif_type_text(c, a->keys[i]), b->name,
			    i + 1, dif_type_text(c, b->keys[i]));
	return true;
}

/* The arguments of conversions: the keys from left to right, with @ a value instead. */
struct printa {
	struct dif_compiler *c;
	const struct dif_node *call;
	const struct dif_ident *agg;
	uint32_t key;    /* keys consumed so far */
	uint32_t number; /* of the conversion, from 1 on */
};

/* A width or precision of `*` is a key, of integer type. */
static bool take_star_key(struct printa *p, const struct dif_conv *cv, const char *star)
{
	if (p->key >= p->agg->nkeys)
		return dif_fail(p->c, DIF_D_PRINTF_DYN_PROTO, p->call->line,
				"printa( ) prototype mismatch: conversion #%u (%%%s%c) is missing a "
				"corresponding \"%s\" argument",
				p->number, cv->size, cv->conv, star);
	struct dif_type *type = p->agg->keys[p->key++];
	if (!dif_is_int(p->c, type))
		return dif_fail(p->c, DIF_D_PRINTF_DYN_TYPE, p->call->line,
				"printa( ) argument #%u is incompatible with conversion #%u prototype:\n"
				"\tconversion: %% %s %s%c\n\t prototype: int\n\t  argument: %s",
				p->key + 1, p->number, star, cv->size, cv->conv, dif_type_text(p->c, type));
	return true;
}

/* A key, or with @ the type of the aggregation's values: an integer of 64 bits. */
static bool take_key(struct printa *p, const struct dif_conv *cv, struct dif_type **ret)
{
	bool value = cv->flags & DIF_CONV_AGG;
	struct dif_type *type;

	if (!value && p->key >= p->agg->nkeys)
		return dif_fail(p->c, DIF_D_PRINTF_ARG_PROTO, p->call->line,
				"printa( ) prototype mismatch: conversion #%u (%%%s%c) is missing a "
				"corresponding value argument",
				p->number, cv->size, cv->conv);
	if (value)
		type = p->agg->agg_kind == DIF_AGG_count ? p->c->types->uint64 : p->c->types->int64;
	else
		type = p->agg->keys[p->key++];
	if (!type_fits(p->c, cv, type)) {
		char what[32];
		snprintf(what, sizeof(what), "argument #%u", p->key + 1);
		return dif_fail(p->c, DIF_D_PRINTF_ARG_TYPE, p->call->line,
				"printa( ) %s is incompatible with conversion #%u prototype:\n\tconversion: "
				"%%%s%c\n\t prototype: %s\n\t  argument: %s",
				value ? "aggregating action" : what, p->number, cv->size, cv->conv,
				prototype(cv), dif_type_text(p->c, type));
	}
	*ret = type;
	return true;
}

static bool take_conversion(struct printa *p, const struct dif_conv *cv, struct dif_type **ret)
{
	if (!cv->conv || cv->conv == '%')
		return true;
	if (cv->flags & DIF_CONV_STAR_WIDTH && !take_star_key(p, cv, "*"))
		return false;
	if (cv->flags & DIF_CONV_STAR_PREC && !take_star_key(p, cv, ".*"))
		return false;
	return take_key(p, cv, ret);
}

static const char *check_printa(struct dif_compiler *c, const struct dif_node *call, const char *text,
				const struct dif_ident *agg)
{
	struct printa p = { .c = c, .call = call, .agg = agg };
	struct ot_buf out = { 0 };
	struct dif_format fmt;

	if (!parse_format(c, call, text, &fmt))
		return NULL;
	for (uint32_t i = 0; i < fmt.nconvs; i++) {
		const struct dif_conv *cv = &fmt.convs[i];
		struct dif_type *type = NULL;
		p.number = i + 1;
		if (!take_conversion(&p, cv, &type))
			break;
		/* the sign of a value is that of each aggregation */
		bool value = cv->flags & DIF_CONV_AGG;
		text = copy_conv(text, cv, value ? cv->conv : explicit_letter(c, cv, type), &out);
	}
	if (out.failed)
		dif_fail_memory(c);
	const char *s = c->diag.failed ? NULL : dif_strdup(c, &c->out.prog->arena, ot_buf_str(&out));
	ot_buf_deinit(&out);
	return s;
}

bool dif_act_printa(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	struct dif_node *arg, *fmt = NULL;
	struct dif_ident *lead = NULL;
	size_t first = out->n;

	if (!dif_cook_list(c, &call->args) || !(arg = call->args))
		return c->diag.failed
			   ? false
			   : dif_fail(c, DIF_D_PROTO_LEN, call->line,
				      "printa( ) prototype mismatch: 0 args passed, at least 1 expected") !=
				 NULL;
	if (arg->kind == DIF_N_STRING) {
		fmt = arg;
		arg = arg->next;
		if (!arg)
			return dif_fail(c, DIF_D_PRINTA_PROTO, call->line,
					"printa( ) prototype mismatch: 1 args passed, 2 expected");
	}
	if (!dif_act_record(c, call->line))
		return false;
	for (; arg; arg = arg->next) {
		struct dif_ident *id =
		    dif_act_agg_arg(c, call, arg, DIF_D_PRINTA_AGGARG, DIF_D_PRINTA_AGGBAD);
		if (!id || (lead && !same_keys(c, call, lead, id)))
			return false;
		lead = lead ? lead : id;
		struct dif_action *a = dif_action_add(c, out, DIF_ACT_printa, NULL);
		if (!a)
			return false;
		a->aggid = id->id;
	}
	if (!fmt)
		return true;
	if (!*fmt->name)
		return dif_fail(c, DIF_D_PRINTF_FMT_EMPTY, call->line, "printa( ) format string is empty");
	out->list[first].format = check_printa(c, call, fmt->name, lead);
	return out->list[first].format != NULL;
}
