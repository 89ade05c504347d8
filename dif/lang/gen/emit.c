/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DIF assembler: instructions, labels, and an object's tables. */
#include "dif/lang/gen/emit.h"

#include <stdlib.h>
#include <string.h>

/* Bounds of the verifier (dif/obj/verify.c). */
#define TEXT_MAX   65536
#define OBJECT_MAX (256u << 10) /* bytes of all tables */
#define STRS_MAX   65536u
#define STATIC_MAX (16u << 10) /* a by-reference variable that isn't dynamic */
#define RETURN_MAX (16u << 20)

void dif_asm_init(struct dif_asm *as, struct dif_compiler *c)
{
	*as = (struct dif_asm){ .c = c };
	ot_map_init(&as->str_index);
	ot_buf_putc(&as->strs, '\0'); /* the first string is the empty one */
}

void dif_asm_deinit(struct dif_asm *as)
{
	free(as->text);
	free(as->ints);
	free(as->vars);
	free(as->var_names);
	free(as->labels);
	ot_buf_deinit(&as->strs);
	ot_map_deinit(&as->str_index);
}

void dif_emit(struct dif_asm *as, uint32_t insn)
{
	if (as->c->diag.failed)
		return;
	if (as->n >= TEXT_MAX) {
		dif_fail(as->c, DIF_D_NONE, 0, "expression needs more than %d instructions", TEXT_MAX);
		return;
	}
	if (!ot_grow(&as->text, &as->cap, as->n + 1, sizeof(*as->text))) {
		dif_fail_memory(as->c);
		return;
	}
	as->text[as->n++] = insn;
}

void dif_emit_r3(struct dif_asm *as, enum dif_op op, int r1, int r2, int rd)
{
	if (!as->c->diag.failed)
		dif_emit(as, dif_insn(op, (uint32_t)r1, (uint32_t)r2, (uint32_t)rd));
}

void dif_emit_r2(struct dif_asm *as, enum dif_op op, int r1, int rd)
{
	dif_emit_r3(as, op, r1, 0, rd);
}

static uint32_t int_index(struct dif_asm *as, uint64_t value)
{
	for (size_t i = 0; i < as->nints; i++)
		if (as->ints[i] == value)
			return (uint32_t)i;
	if (as->nints > 0xffff) {
		dif_fail(as->c, DIF_D_NONE, 0, "expression has too many integer constants");
		return 0;
	}
	if (!ot_grow(&as->ints, &as->ints_cap, as->nints + 1, sizeof(*as->ints))) {
		dif_fail_memory(as->c);
		return 0;
	}
	as->ints[as->nints] = value;
	return (uint32_t)as->nints++;
}

void dif_emit_setx(struct dif_asm *as, uint64_t value, int rd)
{
	uint32_t index = int_index(as, value);

	if (!as->c->diag.failed)
		dif_emit(as, dif_insn_index(DIF_OP_setx, index, (uint32_t)rd));
}

/* A literal ends at its first NUL byte, as C strings do. */
static uint32_t str_offset(struct dif_asm *as, const char *s, size_t len)
{
	len = strnlen(s, len);
	if (!len)
		return 0;
	uintptr_t at = (uintptr_t)ot_map_get(&as->str_index, s, len);
	if (at)
		return (uint32_t)(at - 1);
	uint32_t offset = (uint32_t)as->strs.len;
	ot_buf_append(&as->strs, s, len);
	ot_buf_putc(&as->strs, '\0');
	if (as->strs.failed || !ot_map_put(&as->str_index, s, len, (void *)(uintptr_t)(offset + 1)))
		dif_fail_memory(as->c);
	return offset;
}

void dif_emit_sets(struct dif_asm *as, const char *s, size_t len, int rd)
{
	uint32_t offset = str_offset(as, s, len);

	if (offset > 0xffff)
		dif_fail(as->c, DIF_D_NONE, 0, "expression has too many bytes of string constants");
	if (!as->c->diag.failed)
		dif_emit(as, dif_insn_index(DIF_OP_sets, offset, (uint32_t)rd));
}

static void note_var(struct dif_asm *as, const struct dif_ident *id, struct dif_type *type, uint16_t flag)
{
	uint8_t scope = id->kind == DIF_ID_BUILTIN ? DIF_SCOPE_GLOBAL : id->var_scope;
	uint8_t kind = id->is_array ? DIF_VARKIND_ARRAY : DIF_VARKIND_SCALAR;

	for (size_t i = 0; i < as->nvars; i++) {
		if (as->vars[i].id == id->id && as->vars[i].scope == scope && as->vars[i].kind == kind) {
			as->vars[i].flags |= flag;
			return;
		}
	}
	struct dif_rtype rt = dif_type_rtype(as->c, type);
	bool is_static = kind == DIF_VARKIND_SCALAR && scope != DIF_SCOPE_THREAD;
	if (rt.flags & DIF_TF_BYREF && rt.size > (is_static ? STATIC_MAX : RETURN_MAX)) {
		dif_fail(as->c, DIF_D_NONE, 0, "variable %s has more than %u bytes", id->name,
			 is_static ? STATIC_MAX : RETURN_MAX);
		return;
	}
	if (!ot_grow(&as->vars, &as->vars_cap, as->nvars + 1, sizeof(*as->vars)) ||
	    !ot_grow(&as->var_names, &as->names_cap, as->nvars + 1, sizeof(*as->var_names))) {
		dif_fail_memory(as->c);
		return;
	}
	as->var_names[as->nvars] = id->name;
	as->vars[as->nvars++] = (struct dif_var){
		.id = id->id,
		.kind = kind,
		.scope = scope,
		.flags = flag,
		.type = rt,
	};
}

static bool is_store(enum dif_op op)
{
	return op == DIF_OP_stgs || op == DIF_OP_stts || op == DIF_OP_stls || op == DIF_OP_stgaa ||
	       op == DIF_OP_sttaa;
}

void dif_emit_var(struct dif_asm *as, enum dif_op op, const struct dif_ident *id, struct dif_type *type,
		  int reg)
{
	note_var(as, id, type, is_store(op) ? DIF_VARF_MOD : DIF_VARF_REF);
	if (!as->c->diag.failed)
		dif_emit(as, dif_insn_index(op, id->id, (uint32_t)reg));
}

void dif_emit_array(struct dif_asm *as, const struct dif_ident *id, struct dif_type *type, int index, int rd)
{
	note_var(as, id, id->id == DIF_VAR_args ? as->c->types->int64 : type, DIF_VARF_REF);
	if (!as->c->diag.failed)
		dif_emit(as, dif_insn(DIF_OP_ldga, id->id, (uint32_t)index, (uint32_t)rd));
}

uint32_t dif_label(struct dif_asm *as)
{
	if (!ot_grow(&as->labels, &as->labels_cap, as->nlabels + 1, sizeof(*as->labels))) {
		dif_fail_memory(as->c);
		return 0;
	}
	as->labels[as->nlabels] = UINT32_MAX;
	return (uint32_t)as->nlabels++;
}

void dif_label_place(struct dif_asm *as, uint32_t label)
{
	if (!as->c->diag.failed)
		as->labels[label] = (uint32_t)as->n;
}

void dif_emit_branch(struct dif_asm *as, enum dif_op op, uint32_t label)
{
	if (!as->c->diag.failed)
		dif_emit(as, dif_insn_branch(op, label));
}

static void resolve_branches(struct dif_asm *as)
{
	for (size_t i = 0; i < as->n; i++) {
		uint32_t op = dif_insn_op(as->text[i]);
		if (dif_op_class(op) == DIF_CLASS_BR)
			as->text[i] = dif_insn_branch(op, as->labels[dif_insn_label(as->text[i])]);
	}
}

static void *copy(struct dif_asm *as, const void *data, size_t len)
{
	void *p = dif_alloc(as->c, &as->c->out.prog->arena, len ? len : 1);

	if (p && len)
		memcpy(p, data, len);
	return p;
}

static bool fits(struct dif_asm *as, const struct dif_rtype *ret)
{
	size_t total = as->n * 4 + as->nints * 8 + as->strs.len + as->nvars * sizeof(*as->vars);

	if (as->strs.len > STRS_MAX || total > OBJECT_MAX)
		return dif_fail(as->c, DIF_D_NONE, 0,
				"expression needs more than %u bytes of constants and code", OBJECT_MAX);
	if (ret->flags & DIF_TF_BYREF && ret->size > RETURN_MAX)
		return dif_fail(as->c, DIF_D_NONE, 0, "expression's value has more than %u bytes",
				RETURN_MAX);
	return true;
}

struct dif_object *dif_asm_finish(struct dif_asm *as, const struct dif_rtype *ret)
{
	struct dif_object *obj =
	    as->c->diag.failed ? NULL : dif_new(as->c, &as->c->out.prog->arena, struct dif_object);

	if (!obj)
		return NULL;
	resolve_branches(as);
	for (size_t i = 0; i < as->nvars; i++)
		as->vars[i].name = str_offset(as, as->var_names[i], strlen(as->var_names[i]));
	if (as->c->diag.failed || !fits(as, ret))
		return NULL;
	obj->text = copy(as, as->text, as->n * sizeof(*as->text));
	obj->text_len = (uint32_t)as->n;
	obj->ints = copy(as, as->ints, as->nints * sizeof(*as->ints));
	obj->int_len = (uint32_t)as->nints;
	obj->strs = copy(as, as->strs.data, as->strs.len);
	obj->str_len = (uint32_t)as->strs.len;
	obj->vars = copy(as, as->vars, as->nvars * sizeof(*as->vars));
	obj->var_len = (uint32_t)as->nvars;
	obj->ret = *ret;
	return as->c->diag.failed ? NULL : obj;
}
