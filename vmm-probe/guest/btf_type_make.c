/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constructing a D type from a BTF record. The record's own data is taken at once, references to other types
 * only in vp_type_complete(). So no cycle of references is ever followed here.
 */
#include <string.h>

#include "vmm-probe/guest/btf_types_internal.h"

#define CHAIN_MAX 64

static const struct btf_type *record(const struct vp_type_module *m, uint32_t id)
{
	return vp_btf_type(m->btf, id);
}

/* The definition of a forward-declared struct or union, else the declaration itself. */
static uint32_t definition(const struct vp_type_module *m, const struct btf_type *t, uint32_t id)
{
	uint32_t found = vp_btf_find(m->btf, BTF_INFO_KFLAG(t->info) ? VP_BTF_UNION : VP_BTF_STRUCT,
				     vp_btf_str(m->btf, t->name_off));

	return found ? found : id;
}

/* Skip records that are not types in D: tags, functions and variables (*id becomes their type). False: *id
 * does not lead to a type. */
static bool skip(const struct vp_type_module *m, uint32_t *id)
{
	for (unsigned i = 0; i < CHAIN_MAX && *id; i++) {
		const struct btf_type *t = record(m, *id);

		if (!t)
			return false;
		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_TYPE_TAG:
		case BTF_KIND_DECL_TAG:
		case BTF_KIND_FUNC:
		case BTF_KIND_VAR:
			*id = t->type;
			break;
		case BTF_KIND_FWD:
			*id = definition(m, t, *id);
			return true;
		case BTF_KIND_DATASEC:
			return false;
		default:
			return true;
		}
	}
	return *id == 0;
}

static void make_int(const struct btf_type *t, struct dif_type *type)
{
	uint32_t enc = *(const uint32_t *)(t + 1);

	type->kind = DIF_C_INT;
	type->name = vp_types_d_name(type->name);
	type->is_signed = BTF_INT_ENCODING(enc) & BTF_INT_SIGNED;
	type->is_bool = BTF_INT_ENCODING(enc) & BTF_INT_BOOL;
	/* Producers rarely set BTF_INT_CHAR. */
	type->is_char = (BTF_INT_ENCODING(enc) & BTF_INT_CHAR) ||
			(t->size == 1 && !type->is_bool && strstr(type->name, "char"));
	if (BTF_INT_BITS(enc) != t->size * 8)
		type->bits = BTF_INT_BITS(enc);
	type->complete = true;
}

static void make_enum(const struct vp_type_module *m, const struct btf_type *t, struct dif_type *type)
{
	type->kind = DIF_C_ENUM;
	type->is_forward = BTF_INFO_VLEN(t->info) == 0;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info) && !type->is_signed; i++)
		type->is_signed = vp_btf_enum_value(m->btf, t, i) < 0;
}

static bool points_to_user(const struct vp_type_module *m, const struct btf_type *t)
{
	const struct btf_type *to = record(m, t->type);

	return to && BTF_INFO_KIND(to->info) == BTF_KIND_TYPE_TAG &&
	       !strcmp(vp_btf_str(m->btf, to->name_off), "user");
}

static void fill(const struct vp_type_module *m, const struct btf_type *t, struct dif_type *type)
{
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		make_int(t, type);
		return;
	case BTF_KIND_FLOAT:
		type->kind = DIF_C_FLOAT;
		type->complete = true;
		return;
	case BTF_KIND_PTR:
		type->kind = DIF_C_POINTER;
		type->is_userland = points_to_user(m, t);
		return;
	case BTF_KIND_ARRAY:
		type->kind = DIF_C_ARRAY;
		type->nelems = ((const struct btf_array *)(t + 1))->nelems;
		return;
	case BTF_KIND_STRUCT:
		type->kind = DIF_C_STRUCT;
		return;
	case BTF_KIND_UNION:
		type->kind = DIF_C_UNION;
		return;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		make_enum(m, t, type);
		return;
	case BTF_KIND_FWD:
		type->kind = DIF_C_FORWARD;
		type->complete = true;
		return;
	case BTF_KIND_TYPEDEF:
		type->kind = DIF_C_TYPEDEF;
		return;
	case BTF_KIND_CONST:
		type->kind = DIF_C_CONST;
		return;
	case BTF_KIND_VOLATILE:
		type->kind = DIF_C_VOLATILE;
		return;
	case BTF_KIND_RESTRICT:
		type->kind = DIF_C_RESTRICT;
		return;
	default: /* skip() left only this one */
		type->kind = DIF_C_FUNCTION;
		return;
	}
}

struct dif_type *vp_type_make(struct vp_type_module *m, uint32_t id)
{
	struct dif_type *type;
	uint64_t size;

	if (!m->btf || !skip(m, &id))
		return NULL;
	if (!id)
		return &m->types->void_type;
	if (id < vp_btf_first(m->btf))
		m = m->types->modules[0];

	struct dif_type **slot = &m->made[id - vp_btf_first(m->btf)];

	if (*slot)
		return *slot;

	const struct btf_type *t = record(m, id);

	type = ot_arena_new(&m->types->arena, struct dif_type);
	if (!type)
		return NULL;
	type->name = vp_btf_str(m->btf, t->name_off);
	type->module = m->name;
	type->source = &m->source;
	type->source_id = id;
	type->size = vp_btf_size(m->btf, id, &size) ? size : 0;
	fill(m, t, type);
	*slot = type;
	return type;
}

static struct ot_err *make_ref(struct vp_type_module *m, uint32_t id, struct dif_type **ret)
{
	*ret = vp_type_make(m, id);
	return *ret ? NULL : ot_err_new(OT_ERR_BAD_DATA, "%s: BTF type %u is not a C type", m->name, id);
}

static struct ot_err *complete_members(struct vp_type_module *m, const struct btf_type *t,
				       struct dif_type *type)
{
	const struct btf_member *bm = (const struct btf_member *)(t + 1);
	uint32_t n = BTF_INFO_VLEN(t->info);
	struct dif_member *members = ot_arena_alloc(&m->types->arena, (n + 1) * sizeof(*members));

	if (!members)
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++, bm++) {
		struct dif_member *dm = &members[i];

		dm->name = vp_btf_str(m->btf, bm->name_off);
		OT_TRY(make_ref(m, bm->type, &dm->type));
		if (BTF_INFO_KFLAG(t->info)) {
			dm->bit_offset = BTF_MEMBER_BIT_OFFSET(bm->offset);
			dm->bit_size = BTF_MEMBER_BITFIELD_SIZE(bm->offset);
			continue;
		}
		dm->bit_offset = bm->offset;
		/* Without kind_flag, a bit-field's width is that of its integer type. */
		const struct btf_type *r = record(m, vp_btf_resolve(m->btf, bm->type));

		if (r && BTF_INFO_KIND(r->info) == BTF_KIND_INT) {
			uint32_t enc = *(const uint32_t *)(r + 1);

			if (BTF_INT_BITS(enc) != r->size * 8) {
				dm->bit_offset += BTF_INT_OFFSET(enc);
				dm->bit_size = BTF_INT_BITS(enc);
			}
		}
	}
	type->members = members;
	type->nmembers = n;
	return NULL;
}

static struct ot_err *complete_function(struct vp_type_module *m, const struct btf_type *t,
					struct dif_type *type)
{
	const struct btf_param *p = (const struct btf_param *)(t + 1);
	uint32_t n = BTF_INFO_VLEN(t->info);
	bool variadic = n && !p[n - 1].type && !p[n - 1].name_off; /* "...": no type and no name */
	struct dif_member *params = ot_arena_alloc(&m->types->arena, (n + 1) * sizeof(*params));

	if (!params)
		return ot_err_nomem();
	n -= variadic;
	for (uint32_t i = 0; i < n; i++) {
		params[i].name = vp_btf_str(m->btf, p[i].name_off);
		OT_TRY(make_ref(m, p[i].type, &params[i].type));
	}
	OT_TRY(make_ref(m, t->type, &type->ref));
	type->params = params;
	type->nparams = n;
	type->is_variadic = variadic;
	return NULL;
}

static struct ot_err *complete_enum(struct vp_type_module *m, const struct btf_type *t, struct dif_type *type)
{
	uint32_t n = BTF_INFO_VLEN(t->info);
	bool wide = BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64;
	size_t step = wide ? sizeof(struct btf_enum64) : sizeof(struct btf_enum);
	struct dif_enumerator *list = ot_arena_alloc(&m->types->arena, (n + 1) * sizeof(*list));

	if (!list)
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++) {
		list[i].name = vp_btf_str(m->btf, *(const uint32_t *)((const uint8_t *)(t + 1) + i * step));
		list[i].value = vp_btf_enum_value(m->btf, t, i);
	}
	type->enumerators = list;
	type->nenumerators = n;
	return NULL;
}

struct ot_err *vp_type_complete(struct dif_type_source *src, struct dif_type *type)
{
	struct vp_type_module *m = (struct vp_type_module *)src;
	const struct btf_type *t = record(m, (uint32_t)type->source_id);
	struct ot_err *err;

	if (type->complete)
		return NULL;
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		err = complete_members(m, t, type);
		break;
	case BTF_KIND_FUNC_PROTO:
		err = complete_function(m, t, type);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		err = complete_enum(m, t, type);
		break;
	case BTF_KIND_ARRAY:
		err = make_ref(m, ((const struct btf_array *)(t + 1))->type, &type->ref);
		break;
	default:
		err = make_ref(m, t->type, &type->ref);
		break;
	}
	if (err)
		return err;
	type->complete = true;
	return NULL;
}
