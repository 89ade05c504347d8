/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Casts that the compiler makes itself, and queries of several passes about a checked node. */
#include "dif/lang/syntax/unit.h"

bool dif_node_is_action(const struct dif_node *n)
{
	return n->kind == DIF_N_FUNC && n->ident && n->ident->kind != DIF_ID_SUBR;
}

bool dif_node_is_null(struct dif_compiler *c, const struct dif_node *n)
{
	return n->kind == DIF_N_INT && n->value == 0 && dif_is_scalar(c, n->type);
}

uint64_t dif_fold_cast(struct dif_compiler *c, uint64_t value, struct dif_type *type)
{
	struct dif_type *t = dif_base(c, type);
	uint64_t size = dif_sizeof(c, t);

	if (t->is_bool)
		return value != 0;
	if (size == 0 || size >= 8)
		return value;
	unsigned shift = 64 - (unsigned)size * 8;
	return dif_is_signed(c, t) ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

struct dif_node *dif_cast_to(struct dif_compiler *c, struct dif_node *n, struct dif_type *type)
{
	if (n->kind == DIF_N_INT && dif_is_scalar(c, type)) {
		n->value = dif_fold_cast(c, n->value, type);
		n->type = type;
		return n;
	}
	struct dif_node *cast = dif_node_new(c, DIF_N_CAST);
	if (!cast)
		return NULL;
	cast->type = type;
	cast->left = n;
	cast->line = n->line;
	cast->is_cooked = true;
	cast->is_userland = dif_is_pointer(c, type) && dif_base(c, type)->is_userland;
	return dif_node_adopt(c, cast, n) ? cast : NULL;
}
