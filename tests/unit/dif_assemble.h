/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An assembler for small objects, for the tests of dif/. */
#ifndef TESTS_UNIT_DIF_ASSEMBLE_H
#define TESTS_UNIT_DIF_ASSEMBLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dif/obj/layout.h"

struct fx_object {
	struct dif_object obj;
	uint32_t text[512];
	uint64_t ints[64];
	char strs[2048];
	struct dif_var vars[32];
};

static const struct dif_rtype OT_UNUSED FX_INT = { DIF_TYPE_CTF, DIF_CTF_INTEGER, 0, 0, 8 };
static const struct dif_rtype OT_UNUSED FX_STRING = { DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 0 };

static inline void fx_object_init(struct fx_object *o)
{
	memset(o, 0, sizeof(*o));
	o->obj.text = o->text;
	o->obj.ints = o->ints;
	o->obj.strs = o->strs;
	o->obj.vars = o->vars;
	o->obj.str_len = 1; /* offset 0 is the empty string */
	o->obj.ret = FX_INT;
}

static inline void fx_op(struct fx_object *o, uint32_t insn)
{
	assert_true(o->obj.text_len < OT_ARRAY_SIZE(o->text));
	o->text[o->obj.text_len++] = insn;
}

static inline void fx_op3(struct fx_object *o, uint32_t op, uint32_t a, uint32_t b, uint32_t c)
{
	fx_op(o, dif_insn(op, a, b, c));
}

static inline void fx_setx(struct fx_object *o, uint64_t value, uint32_t reg)
{
	assert_true(o->obj.int_len < OT_ARRAY_SIZE(o->ints));
	o->ints[o->obj.int_len] = value;
	fx_op(o, dif_insn_index(DIF_OP_setx, o->obj.int_len++, reg));
}

static inline uint32_t fx_string_n(struct fx_object *o, const char *s, size_t n)
{
	uint32_t at = o->obj.str_len;

	assert_true(at + n + 1 <= sizeof(o->strs));
	memcpy(o->strs + at, s, n);
	o->strs[at + n] = 0;
	o->obj.str_len += (uint32_t)n + 1;
	return at;
}

static inline void fx_sets(struct fx_object *o, const char *s, uint32_t reg)
{
	fx_op(o, dif_insn_index(DIF_OP_sets, fx_string_n(o, s, strlen(s)), reg));
}

static inline void fx_ret(struct fx_object *o, uint32_t reg)
{
	fx_op3(o, DIF_OP_ret, 0, 0, reg);
}

static inline void fx_var(struct fx_object *o, const char *name, uint32_t id, uint8_t kind, uint8_t scope,
			  struct dif_rtype type)
{
	struct dif_var *v = &o->vars[o->obj.var_len++];

	*v = (struct dif_var){ 0, id, kind, scope, DIF_VARF_REF | DIF_VARF_MOD, type };
	v->name = fx_string_n(o, name, strlen(name));
}

#endif
