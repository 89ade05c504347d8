/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding members of structs by path, and enumerators by name. */
#include <string.h>

#include "vmm-probe/guest/btf_internal.h"

/* Limits for anonymous members inside anonymous members, and for the members that one search visits: a forged
 * struct can contain itself many times. */
#define NESTING_MAX 16
#define VISITS_MAX  (1u << 20)

struct search {
	const struct vp_btf *btf;
	const char *name;
	size_t len;
	uint32_t visits;
	struct vp_btf_field *ret;
};

static const struct btf_type *aggregate(const struct vp_btf *btf, uint32_t id)
{
	const struct btf_type *t = vp_btf_type(btf, vp_btf_resolve(btf, id));

	if (!t)
		return NULL;
	return BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT || BTF_INFO_KIND(t->info) == BTF_KIND_UNION ? t
												     : NULL;
}

static bool find_member(struct search *s, const struct btf_type *t, uint64_t start, unsigned depth)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);
	bool packed = BTF_INFO_KFLAG(t->info);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, m++) {
		const char *name = vp_btf_str(s->btf, m->name_off);
		uint64_t at = start + (packed ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset);

		if (s->visits++ > VISITS_MAX)
			return false;
		if (*name) {
			if (strncmp(name, s->name, s->len) != 0 || name[s->len])
				continue;
			s->ret->type = m->type;
			s->ret->bit_offset = at;
			s->ret->bit_size = packed ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0;
			return true;
		}

		const struct btf_type *inner = aggregate(s->btf, m->type);

		if (inner && depth < NESTING_MAX && find_member(s, inner, at, depth + 1))
			return true;
	}
	return false;
}

bool vp_btf_field(const struct vp_btf *btf, uint32_t id, const char *path, struct vp_btf_field *ret)
{
	struct vp_btf_field field = { .type = id };

	for (;;) {
		size_t len = strcspn(path, ".");
		const struct btf_type *t = aggregate(btf, field.type);
		struct search s = { .btf = btf, .name = path, .len = len, .ret = &field };

		if (!t || !len || field.bit_size || !find_member(&s, t, field.bit_offset, 0))
			return false;
		if (!path[len])
			break;
		path += len + 1;
	}
	*ret = field;
	return true;
}

bool vp_btf_member_offset(const struct vp_btf *btf, const char *type, const char *path, uint32_t *ret_bytes,
			  uint32_t *ret_bits)
{
	uint32_t id = vp_btf_find(btf, VP_BTF_STRUCT, type);
	struct vp_btf_field field;

	if (!id)
		id = vp_btf_find(btf, VP_BTF_UNION, type);
	if (!id)
		id = vp_btf_find(btf, VP_BTF_TYPE, type);
	/* Offsets add up along a path: a forged sum must not wrap into a plausible offset. */
	if (!id || !vp_btf_field(btf, id, path, &field) || field.bit_offset / 8 > UINT32_MAX)
		return false;
	*ret_bytes = (uint32_t)(field.bit_offset / 8);
	if (ret_bits)
		*ret_bits = field.bit_size;
	return true;
}

uint32_t vp_btf_array_length(const struct vp_btf *btf, const char *type, const char *path)
{
	uint32_t id = vp_btf_find(btf, VP_BTF_STRUCT, type);
	const struct btf_type *t;
	struct vp_btf_field field;

	if (!id || !vp_btf_field(btf, id, path, &field))
		return 0;
	t = vp_btf_type(btf, vp_btf_resolve(btf, field.type));
	return t && BTF_INFO_KIND(t->info) == BTF_KIND_ARRAY ? ((const struct btf_array *)(t + 1))->nelems
							     : 0;
}

bool vp_btf_enum_named(const struct vp_btf *btf, const char *type, const char *name, int64_t *ret)
{
	const struct btf_type *t = vp_btf_type(btf, vp_btf_find(btf, VP_BTF_ENUM, type));

	if (!t || BTF_INFO_KIND(t->info) != BTF_KIND_ENUM)
		return false;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		if (strcmp(vp_btf_str(btf, ((const struct btf_enum *)(t + 1))[i].name_off), name) != 0)
			continue;
		*ret = vp_btf_enum_value(btf, t, i);
		return true;
	}
	return false;
}
