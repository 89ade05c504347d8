/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declaration specifiers: storage classes, type words, qualifiers. */
#include <string.h>

#include "dif/lang/syntax/parse.h"
#include "dif/lang/types/suggest.h"

/* The words of a type, counted; their combined meaning is decided at the end. */
struct words {
	int is_signed, is_unsigned, is_short, longs;
	int is_char, is_int, is_void, is_float, is_double;
	bool is_const, is_volatile, is_userland;
	struct dif_type *other; /* struct, enum, typedef name, string */
	bool any;
};

bool dif_starts_type(struct dif_compiler *c)
{
	switch ((int)c->unit->tok.kind) {
	case DIF_T_CHAR:
	case DIF_T_CONST:
	case DIF_T_DOUBLE:
	case DIF_T_ENUM:
	case DIF_T_FLOAT:
	case DIF_T_INT:
	case DIF_T_LONG:
	case DIF_T_RESTRICT:
	case DIF_T_SHORT:
	case DIF_T_SIGNED:
	case DIF_T_STRING:
	case DIF_T_STRUCT:
	case DIF_T_UNION:
	case DIF_T_UNSIGNED:
	case DIF_T_USERLAND:
	case DIF_T_VOID:
	case DIF_T_VOLATILE:
		return true;
	case DIF_T_IDENT:
		/* a variable hides a type of its name */
		return !dif_ident_find(c, DIF_NAME_GLOBAL, c->unit->tok.text) &&
		       dif_type_find(c, c->unit->tok.text);
	}
	return false;
}

static bool storage_word(struct dif_compiler *c, struct dif_declspec *spec)
{
	static const struct {
		enum dif_tok tok;
		enum dif_decl_class storage;
	} classes[] = {
		{ DIF_T_AUTO, DIF_STORE_AUTO },       { DIF_T_REGISTER, DIF_STORE_REGISTER },
		{ DIF_T_STATIC, DIF_STORE_STATIC },   { DIF_T_EXTERN, DIF_STORE_EXTERN },
		{ DIF_T_TYPEDEF, DIF_STORE_TYPEDEF }, { DIF_T_SELF, DIF_STORE_SELF },
		{ DIF_T_THIS, DIF_STORE_THIS },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(classes); i++) {
		if (classes[i].tok != c->unit->tok.kind)
			continue;
		if (spec->storage != DIF_STORE_DEFAULT)
			dif_fail(c, DIF_D_DECL_CLASS, 0, "only one storage class allowed in a declaration");
		spec->storage = classes[i].storage;
		dif_next(c);
		return true;
	}
	return false;
}

static bool set_other(struct dif_compiler *c, struct words *w, struct dif_type *type)
{
	if (!type)
		return false;
	if (w->other || w->is_char || w->is_int || w->is_void || w->is_float || w->is_double)
		return dif_fail(c, DIF_D_DECL_COMBO, 0, "invalid type combination");
	w->other = type;
	return true;
}

static bool tagged_type(struct dif_compiler *c, struct words *w, struct dif_declspec *spec)
{
	enum dif_tok kind = c->unit->tok.kind;
	struct dif_type *t;
	bool defined = false;

	if (!dif_nest(c))
		return false;
	if (kind == DIF_T_ENUM)
		t = dif_parse_enum(c, &defined);
	else
		t = dif_parse_sou(c, kind == DIF_T_STRUCT ? DIF_C_STRUCT : DIF_C_UNION, &defined);
	dif_unnest(c);
	spec->defines_tag = true;
	return set_other(c, w, t);
}

/* After another word a name is the declarator's. */
static bool named_type(struct dif_compiler *c, struct words *w)
{
	struct dif_type *t = w->any ? NULL : dif_type_find(c, c->unit->tok.text);

	return t && set_other(c, w, t);
}

/* One word of a type; false: the current token is not one (or an error). */
static bool type_word(struct dif_compiler *c, struct words *w, struct dif_declspec *spec)
{
	switch ((int)c->unit->tok.kind) {
	case DIF_T_SIGNED:
		w->is_signed++;
		break;
	case DIF_T_UNSIGNED:
		w->is_unsigned++;
		break;
	case DIF_T_SHORT:
		w->is_short++;
		break;
	case DIF_T_LONG:
		w->longs++;
		break;
	case DIF_T_CHAR:
		w->is_char++;
		break;
	case DIF_T_INT:
		w->is_int++;
		break;
	case DIF_T_VOID:
		w->is_void++;
		break;
	case DIF_T_FLOAT:
		w->is_float++;
		break;
	case DIF_T_DOUBLE:
		w->is_double++;
		break;
	case DIF_T_CONST:
		w->is_const = true;
		break;
	case DIF_T_VOLATILE:
		w->is_volatile = true;
		break;
	case DIF_T_RESTRICT:
		break;
	case DIF_T_USERLAND:
		w->is_userland = true;
		break;
	case DIF_T_STRING:
		if (!set_other(c, w, c->types->string))
			return false;
		break;
	case DIF_T_STRUCT:
	case DIF_T_UNION:
	case DIF_T_ENUM:
		return tagged_type(c, w, spec);
	case DIF_T_IDENT:
		if (!named_type(c, w))
			return false;
		break;
	default:
		return false;
	}
	dif_next(c);
	return true;
}

static bool is_bare_qualifier(const struct words *w, enum dif_tok kind)
{
	(void)w;
	return kind == DIF_T_CONST || kind == DIF_T_VOLATILE || kind == DIF_T_RESTRICT ||
	       kind == DIF_T_USERLAND;
}

static bool check_combination(struct dif_compiler *c, const struct words *w, uint32_t line)
{
	int bases = w->is_char + w->is_int + w->is_void + w->is_float + w->is_double + !!w->other;
	int attrs = w->is_signed + w->is_unsigned + w->is_short + w->longs;

	if (w->is_char && (w->is_short || w->longs))
		return dif_fail(c, DIF_D_DECL_CHARATTR, line,
				"invalid type declaration: short and long may not be used with char type");
	if (w->is_void && attrs)
		return dif_fail(c, DIF_D_DECL_VOIDATTR, line,
				"invalid type declaration: attributes may not be used with void type");
	if ((w->is_signed || w->is_unsigned) && (w->is_float || w->is_double || w->other))
		return dif_fail(
		    c, DIF_D_DECL_SIGNINT, line,
		    "invalid type declaration: signed and unsigned may only be used with integer type");
	if ((w->is_short || w->longs) && (w->is_float || w->other || (w->is_double && w->is_short)))
		return dif_fail(
		    c, DIF_D_DECL_LONGINT, line,
		    "invalid type declaration: long and long long may only be used with integer or "
		    "floating-point type");
	if (bases > 1 || w->is_signed + w->is_unsigned > 1 || w->is_short > 1 || w->longs > 2 ||
	    (w->is_double && w->longs > 1))
		return dif_fail(c, DIF_D_DECL_COMBO, line, "invalid type combination");
	if (w->is_short && w->longs)
		return dif_fail(c, DIF_D_UNKNOWN, line,
				"failed to resolve type long short int: Unknown type name");
	return true;
}

static struct dif_type *combine(struct dif_typetab *t, const struct words *w)
{
	if (w->other)
		return w->other;
	if (w->is_void)
		return t->void_;
	if (w->is_float)
		return t->float_;
	if (w->is_double)
		return w->longs ? t->ldouble : t->double_;
	if (w->is_char)
		return w->is_unsigned ? t->uchar : w->is_signed ? t->schar : t->char_;
	if (w->is_short)
		return w->is_unsigned ? t->ushort : t->short_;
	if (w->longs == 2)
		return w->is_unsigned ? t->ullong : t->llong;
	if (w->longs)
		return w->is_unsigned ? t->ulong : t->long_;
	return w->is_unsigned ? t->uint : t->int_;
}

/* declspec = (storage | qualifier | type-word)+ */
bool dif_parse_declspec(struct dif_compiler *c, struct dif_declspec *ret)
{
	struct dif_declspec spec = { .line = c->unit->tok.line };
	struct words w = { 0 };
	bool any = false;

	for (;;) {
		bool bare = is_bare_qualifier(&w, c->unit->tok.kind);
		if (storage_word(c, &spec)) {
			any = true;
			continue;
		}
		if (!type_word(c, &w, &spec))
			break;
		any = true;
		w.any |= !bare;
	}
	if (c->diag.failed)
		return false;
	if (!any) {
		dif_raise_syntax(c);
		if (c->unit->tok.kind == DIF_T_IDENT)
			dif_suggest_type(c, c->unit->tok.text);
		return false;
	}
	if (!check_combination(c, &w, spec.line))
		return false;
	spec.type = combine(c->types, &w);
	if (w.is_volatile)
		spec.type = dif_type_qualified(c, DIF_C_VOLATILE, spec.type);
	if (w.is_const)
		spec.type = dif_type_qualified(c, DIF_C_CONST, spec.type);
	if (w.is_userland && spec.type) {
		/* a marked copy: pointers to it become userland ones (parse_declarator.c) */
		struct dif_type *t = dif_type_qualified(c, DIF_C_CONST, spec.type);
		if (t) {
			t->kind = DIF_C_TYPEDEF;
			t->name = spec.type->name;
			t->is_userland = true;
		}
		spec.type = t;
	}
	*ret = spec;
	return spec.type != NULL;
}
