/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Getters of a checked BTF blob: types by id and by name, sizes, enumerators. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "vmm-probe/guest/btf_internal.h"
#include "vmm-probe/guest/budget.h"

#define CHECK_TYPES 4096u

/* The name space of definitions of this type, or -1. */
static int space_of(const struct btf_type *t)
{
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
		return VP_BTF_STRUCT;
	case BTF_KIND_UNION:
		return VP_BTF_UNION;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		/* An enum without enumerators is a forward declaration. */
		return BTF_INFO_VLEN(t->info) ? VP_BTF_ENUM : -1;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
		return VP_BTF_TYPE;
	case BTF_KIND_FUNC:
		return VP_BTF_FUNC;
	case BTF_KIND_VAR:
		return VP_BTF_VAR;
	default:
		return -1;
	}
}

/* The slot of @p name in a space, or the empty slot in which it would be inserted. */
static uint32_t *find_slot(const struct vp_btf *btf, enum vp_btf_space space, const char *name)
{
	uint32_t mask = btf->nslots[space] - 1;
	uint32_t i = ot_hash(name, strlen(name)) & mask;

	while (btf->slots[space][i]) {
		const struct btf_type *t = vp_btf_type(btf, btf->slots[space][i]);

		if (!strcmp(vp_btf_str(btf, t->name_off), name))
			break;
		i = (i + 1) & mask;
	}
	return &btf->slots[space][i];
}

static struct ot_err *make_index(struct vp_btf *btf)
{
	uint32_t count[VP_BTF_NSPACES] = { 0 };

	for (uint32_t id = btf->first; id < btf->end; id++) {
		const struct btf_type *t = vp_btf_type(btf, id);
		int space = space_of(t);

		if (space >= 0 && t->name_off)
			count[space]++;
		if (space == VP_BTF_ENUM && BTF_INFO_KFLAG(t->info))
			btf->has_enum_signs = true;
	}
	for (unsigned s = 0; s < VP_BTF_NSPACES; s++) {
		btf->nslots[s] = 4;
		while (btf->nslots[s] < count[s] * 2)
			btf->nslots[s] *= 2;
		OT_TRY(vp_budget_take(btf->nslots[s] * sizeof(uint32_t)));
		btf->slots[s] = calloc(btf->nslots[s], sizeof(uint32_t));
		if (!btf->slots[s])
			return ot_err_nomem();
	}
	for (uint32_t id = btf->first; id < btf->end; id++) {
		const struct btf_type *t = vp_btf_type(btf, id);
		int space = space_of(t);

		if (id % CHECK_TYPES == 0)
			OT_TRY(vp_budget_check());
		if (space < 0 || !t->name_off)
			continue;

		uint32_t *slot = find_slot(btf, (enum vp_btf_space)space, vp_btf_str(btf, t->name_off));

		if (!*slot)
			*slot = id;
	}
	return NULL;
}

struct ot_err *vp_btf_create(const void *data, size_t size, const struct vp_btf *base, struct vp_btf **ret)
{
	struct vp_btf *btf;

	OT_TRY(vp_budget_take(size));
	btf = calloc(1, sizeof(*btf));
	if (!btf)
		return ot_err_nomem();
	btf->base = base;
	btf->first = base ? base->end : 1;
	btf->first_string = base ? base->first_string + base->strings_len : 0;
	btf->data = malloc(size ? size : 1);
	if (!btf->data) {
		free(btf);
		return ot_err_nomem();
	}
	memcpy(btf->data, data, size);

	struct ot_err *err = vp_btf_check(btf, size);

	if (!err)
		err = make_index(btf);
	if (err) {
		vp_btf_destroy(btf);
		return err;
	}
	*ret = btf;
	return NULL;
}

void vp_btf_destroy(struct vp_btf *btf)
{
	if (!btf)
		return;
	for (unsigned s = 0; s < VP_BTF_NSPACES; s++)
		free(btf->slots[s]);
	free(btf->enumerators);
	free(btf->offsets);
	free(btf->data);
	free(btf);
}

uint32_t vp_btf_first(const struct vp_btf *btf)
{
	return btf->first;
}

uint32_t vp_btf_end(const struct vp_btf *btf)
{
	return btf->end;
}

const struct btf_type *vp_btf_type(const struct vp_btf *btf, uint32_t id)
{
	while (btf && id < btf->first)
		btf = btf->base;
	if (!btf || id >= btf->end)
		return NULL;
	return (const struct btf_type *)(btf->types + btf->offsets[id - btf->first]);
}

const char *vp_btf_str(const struct vp_btf *btf, uint32_t offset)
{
	uint32_t left;

	if (!offset)
		return "";
	while (btf && offset < btf->first_string)
		btf = btf->base;
	if (!btf || offset - btf->first_string >= btf->strings_len)
		return "";
	offset -= btf->first_string;
	left = btf->strings_len - offset;
	return memchr(btf->strings + offset, 0, left < VP_BTF_NAME_MAX ? left : VP_BTF_NAME_MAX)
		   ? btf->strings + offset
		   : "";
}

uint32_t vp_btf_find(const struct vp_btf *btf, enum vp_btf_space space, const char *name)
{
	for (; btf; btf = btf->base) {
		uint32_t id = *find_slot(btf, space, name);

		if (id)
			return id;
	}
	return 0;
}

uint32_t vp_btf_resolve(const struct vp_btf *btf, uint32_t id)
{
	for (unsigned i = 0; i < VP_BTF_CHAIN_MAX; i++) {
		const struct btf_type *t = vp_btf_type(btf, id);

		if (!t)
			return 0;
		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
		case BTF_KIND_DECL_TAG:
		case BTF_KIND_VAR:
			id = t->type;
			break;
		default:
			return id;
		}
	}
	return 0;
}

bool vp_btf_size(const struct vp_btf *btf, uint32_t id, uint64_t *ret)
{
	uint64_t count = 1;

	for (unsigned i = 0; i < VP_BTF_CHAIN_MAX; i++) {
		const struct btf_type *t = vp_btf_type(btf, vp_btf_resolve(btf, id));

		if (!t)
			return false;
		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_ARRAY: {
			const struct btf_array *a = (const struct btf_array *)(t + 1);

			if (__builtin_mul_overflow(count, (uint64_t)a->nelems, &count))
				return false;
			id = a->type;
			continue;
		}
		case BTF_KIND_PTR:
			return !__builtin_mul_overflow(count, (uint64_t)8, ret);
		case BTF_KIND_INT:
		case BTF_KIND_FLOAT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
			return !__builtin_mul_overflow(count, (uint64_t)t->size, ret);
		default:
			return false;
		}
	}
	return false;
}

uint64_t vp_btf_sizeof(const struct vp_btf *btf, const char *name)
{
	static const enum vp_btf_space spaces[] = { VP_BTF_STRUCT, VP_BTF_UNION, VP_BTF_TYPE };
	uint64_t size;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(spaces); i++) {
		uint32_t id = vp_btf_find(btf, spaces[i], name);

		if (id)
			return vp_btf_size(btf, id, &size) ? size : 0;
	}
	return 0;
}

static const char *enumerator_name(const struct vp_btf *btf, uint32_t id, uint32_t index)
{
	const struct btf_type *t = vp_btf_type(btf, id);
	size_t step =
	    BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64 ? sizeof(struct btf_enum64) : sizeof(struct btf_enum);

	return vp_btf_str(btf, *(const uint32_t *)((const uint8_t *)(t + 1) + index * step));
}

/* The number of enumerators of an enum; 0 for other types. */
static uint32_t enumerators_of(const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64 ? BTF_INFO_VLEN(t->info) : 0;
}

/* The slot of that name, or the empty slot in which it would be inserted. Names are not copied: a hostile
 * blob has up to as many names as bytes, and they may overlap. */
static struct vp_btf_enumerator *enumerator_slot(const struct vp_btf *btf, const char *name)
{
	uint32_t mask = btf->nenumerators - 1, i = ot_hash(name, strlen(name)) & mask;

	while (btf->enumerators[i].type &&
	       strcmp(enumerator_name(btf, btf->enumerators[i].type, btf->enumerators[i].index), name) != 0)
		i = (i + 1) & mask;
	return &btf->enumerators[i];
}

static bool index_enumerators(struct vp_btf *btf)
{
	uint32_t left = 0, slots = 4;

	for (uint32_t id = btf->first; id < btf->end && left < VP_BTF_ENUMERATORS_MAX; id++)
		left += enumerators_of(vp_btf_type(btf, id));
	if (left > VP_BTF_ENUMERATORS_MAX)
		left = VP_BTF_ENUMERATORS_MAX;
	while (slots < left * 2)
		slots *= 2;
	btf->enumerators = calloc(slots, sizeof(*btf->enumerators));
	if (!btf->enumerators)
		return false;
	btf->nenumerators = slots;
	for (uint32_t id = btf->first; id < btf->end && left; id++) {
		uint32_t n = enumerators_of(vp_btf_type(btf, id));

		for (uint32_t i = 0; i < n && left; i++, left--) {
			struct vp_btf_enumerator *slot = enumerator_slot(btf, enumerator_name(btf, id, i));

			if (!slot->type)
				*slot = (struct vp_btf_enumerator){ id, i };
		}
	}
	return true;
}

int64_t vp_btf_enum_value(const struct vp_btf *btf, const struct btf_type *t, uint32_t index)
{
	if (BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64) {
		const struct btf_enum64 *e = (const struct btf_enum64 *)(t + 1) + index;

		return (int64_t)((uint64_t)e->val_hi32 << 32 | e->val_lo32);
	}

	const struct btf_enum *e = (const struct btf_enum *)(t + 1) + index;

	while (btf->base)
		btf = btf->base;
	if (btf->has_enum_signs && !BTF_INFO_KFLAG(t->info))
		return (uint32_t)e->val;
	return e->val;
}

bool vp_btf_enumerator(struct vp_btf *btf, const char *name, uint32_t *ret_type, int64_t *ret_value)
{
	if (!btf->enumerators && !index_enumerators(btf))
		return false;

	const struct vp_btf_enumerator *found = enumerator_slot(btf, name);

	if (!found->type)
		return false;
	*ret_type = found->type;
	*ret_value = vp_btf_enum_value(btf, vp_btf_type(btf, found->type), found->index);
	return true;
}
