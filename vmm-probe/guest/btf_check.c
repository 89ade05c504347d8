/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a guest's BTF blob. Two passes: the first over record sizes, which yields the number of
 * types; the second over the references of each record, which needs that number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/btf_internal.h"
#include "vmm-probe/guest/budget.h"

#define CHECK_TYPES    4096u
#define BTF_TYPES_MAX  (4u << 20)
#define BTF_OBJECT_MAX (1u << 30) /* bytes of one struct; keeps every bit offset in 34 bits */

/* Bytes that follow a type's record, by kind; -1 for an unknown kind. */
static int64_t tail_size(const struct btf_type *t)
{
	uint32_t vlen = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (int64_t)vlen * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return (int64_t)vlen * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)vlen * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return (int64_t)vlen * (int64_t)sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ENUM64:
		return (int64_t)vlen * (int64_t)sizeof(struct btf_enum64);
	default:
		return -1;
	}
}

static struct ot_err *check_header(struct vp_btf *btf, size_t size)
{
	struct vp_btf_header h;

	if (size < sizeof(h))
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: %zu bytes, shorter than its header", size);
	memcpy(&h, btf->data, sizeof(h));
	if (h.magic != BTF_MAGIC)
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: wrong magic %#x", h.magic);
	if (h.version != BTF_VERSION || h.flags)
		return ot_err_new(OT_ERR_UNSUPPORTED, "BTF: version %u, flags %#x", h.version, h.flags);
	if (h.hdr_len < sizeof(h) || h.hdr_len > size)
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: header of %u bytes in %zu", h.hdr_len, size);

	uint64_t room = size - h.hdr_len;

	if ((h.hdr_len | h.type_off) % 4 || (uint64_t)h.type_off + h.type_len > room)
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: types at %u, %u bytes, leave the blob", h.type_off,
				  h.type_len);
	if ((uint64_t)h.str_off + h.str_len > room)
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: strings at %u, %u bytes, leave the blob", h.str_off,
				  h.str_len);
	btf->types = btf->data + h.hdr_len + h.type_off;
	btf->types_len = h.type_len;
	btf->strings = (const char *)btf->data + h.hdr_len + h.str_off;
	btf->strings_len = h.str_len;
	if (h.str_len ? btf->strings[h.str_len - 1] != '\0' : !btf->base)
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: the strings have no end");
	if (!btf->base && btf->strings[0] != '\0')
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: the first string is not empty");
	if (btf->first_string + (uint64_t)h.str_len > UINT32_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "BTF: too many strings");
	return NULL;
}

/* Check record sizes, count the types, and store each one's offset in @p offsets unless that is NULL. */
static struct ot_err *walk_records(const struct vp_btf *btf, uint32_t *offsets, uint32_t *ret_count)
{
	uint32_t at = 0, n = 0;

	while (at < btf->types_len) {
		struct btf_type t;
		uint32_t left = btf->types_len - at;

		if (left < sizeof(t))
			return ot_err_new(OT_ERR_BAD_DATA, "BTF: record %u is cut off", btf->first + n);
		memcpy(&t, btf->types + at, sizeof(t));

		int64_t tail = tail_size(&t);

		if (tail < 0)
			return ot_err_new(OT_ERR_UNSUPPORTED, "BTF: record %u is of unknown kind %u",
					  btf->first + n, BTF_INFO_KIND(t.info));
		if (tail > left - (int64_t)sizeof(t))
			return ot_err_new(OT_ERR_BAD_DATA, "BTF: record %u is cut off", btf->first + n);
		if (n >= BTF_TYPES_MAX || btf->first + n >= BTF_TYPES_MAX)
			return ot_err_new(OT_ERR_LIMIT, "BTF: more than %u types", BTF_TYPES_MAX);
		if (offsets)
			offsets[n] = at;
		n++;
		at += (uint32_t)sizeof(t) + (uint32_t)tail;
	}
	*ret_count = n;
	return NULL;
}

static bool string_ok(const struct vp_btf *btf, uint32_t off)
{
	return off < btf->first_string + btf->strings_len || off == 0;
}

static struct ot_err *bad(uint32_t id, const char *what, uint64_t value)
{
	return ot_err_new(OT_ERR_BAD_DATA, "BTF: record %u: %s (%" PRIu64 ")", id, what, value);
}

static struct ot_err *check_int(const struct btf_type *t, uint32_t id)
{
	uint32_t enc = *(const uint32_t *)(t + 1);

	if (!t->size || t->size > 16)
		return bad(id, "size of an integer", t->size);
	if (!BTF_INT_BITS(enc) || BTF_INT_BITS(enc) + BTF_INT_OFFSET(enc) > t->size * 8)
		return bad(id, "bits of an integer", BTF_INT_BITS(enc));
	return NULL;
}

static struct ot_err *check_members(const struct vp_btf *btf, const struct btf_type *t, uint32_t id)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);

	if (t->size > BTF_OBJECT_MAX)
		return bad(id, "size", t->size);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, m++) {
		bool packed = BTF_INFO_KFLAG(t->info);
		uint32_t off = packed ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset;
		uint32_t bits = packed ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0;

		if (!string_ok(btf, m->name_off))
			return bad(id, "name of a member", m->name_off);
		if (!m->type || m->type >= btf->end)
			return bad(id, "type of a member", m->type);
		if ((uint64_t)off + bits > (uint64_t)t->size * 8 || bits > 128)
			return bad(id, "place of a member", off);
	}
	return NULL;
}

static struct ot_err *check_enum(const struct vp_btf *btf, const struct btf_type *t, uint32_t id)
{
	bool wide = BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64;
	size_t step = wide ? sizeof(struct btf_enum64) : sizeof(struct btf_enum);
	const uint8_t *p = (const uint8_t *)(t + 1);

	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return bad(id, "size of an enum", t->size);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, p += step)
		if (!string_ok(btf, *(const uint32_t *)p))
			return bad(id, "name of an enumerator", *(const uint32_t *)p);
	return NULL;
}

static struct ot_err *check_ref(const struct vp_btf *btf, uint32_t id, uint32_t ref)
{
	return ref < btf->end ? NULL : bad(id, "refers to a type that doesn't exist", ref);
}

static struct ot_err *check_proto(const struct vp_btf *btf, const struct btf_type *t, uint32_t id)
{
	const struct btf_param *p = (const struct btf_param *)(t + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, p++) {
		if (!string_ok(btf, p->name_off))
			return bad(id, "name of a parameter", p->name_off);
		OT_TRY(check_ref(btf, id, p->type));
	}
	return check_ref(btf, id, t->type);
}

static struct ot_err *check_datasec(const struct vp_btf *btf, const struct btf_type *t, uint32_t id)
{
	const struct btf_var_secinfo *v = (const struct btf_var_secinfo *)(t + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, v++)
		OT_TRY(check_ref(btf, id, v->type));
	return NULL;
}

static struct ot_err *check_func(const struct vp_btf *btf, const struct btf_type *t, uint32_t id)
{
	OT_TRY(check_ref(btf, id, t->type));

	const struct btf_type *proto = vp_btf_type(btf, t->type);

	if (!proto || BTF_INFO_KIND(proto->info) != BTF_KIND_FUNC_PROTO)
		return bad(id, "a function's type is not a prototype", t->type);
	return NULL;
}

static struct ot_err *check_record(const struct vp_btf *btf, const struct btf_type *t, uint32_t id)
{
	if (!string_ok(btf, t->name_off))
		return bad(id, "name", t->name_off);
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		return check_int(t, id);
	case BTF_KIND_FLOAT:
		return t->size && t->size <= 16 ? NULL : bad(id, "size of a float", t->size);
	case BTF_KIND_ARRAY: {
		const struct btf_array *a = (const struct btf_array *)(t + 1);

		OT_TRY(check_ref(btf, id, a->type));
		return check_ref(btf, id, a->index_type);
	}
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return check_members(btf, t, id);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return check_enum(btf, t, id);
	case BTF_KIND_FWD:
		return NULL;
	case BTF_KIND_FUNC_PROTO:
		return check_proto(btf, t, id);
	case BTF_KIND_FUNC:
		return check_func(btf, t, id);
	case BTF_KIND_DATASEC:
		return check_datasec(btf, t, id);
	default: /* the other kinds have one reference */
		return check_ref(btf, id, t->type);
	}
}

struct ot_err *vp_btf_check(struct vp_btf *btf, size_t size)
{
	uint32_t count = 0;

	OT_TRY(check_header(btf, size));
	OT_TRY(walk_records(btf, NULL, &count));
	OT_TRY(vp_budget_take(count * sizeof(*btf->offsets)));
	btf->offsets = calloc(count ? count : 1, sizeof(*btf->offsets));
	if (!btf->offsets)
		return ot_err_nomem();
	OT_TRY(walk_records(btf, btf->offsets, &count));
	btf->end = btf->first + count;
	for (uint32_t id = btf->first; id < btf->end; id++) {
		if (id % CHECK_TYPES == 0)
			OT_TRY(vp_budget_check());
		OT_TRY(check_record(btf, vp_btf_type(btf, id), id));
	}
	return NULL;
}
