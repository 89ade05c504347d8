/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What finding types (btf_types.c) and making them (btf_type_make.c) share. */
#ifndef VP_GUEST_BTF_TYPES_INTERNAL_H
#define VP_GUEST_BTF_TYPES_INTERNAL_H

#include "base/arena.h"
#include "vmm-probe/guest/btf_types.h"

struct vp_type_module {
	struct dif_type_source source; /* of its types: first, so that it leads back here */
	struct vp_types *types;
	const char *name;
	const struct vp_btf *btf; /* NULL: none, or not loaded */
	struct vp_btf *owned;
	bool tried; /* to load it */
	struct ot_err *(*load)(void *arg, const char *module, uint8_t **ret, size_t *ret_size);
	void *arg;
	struct dif_type **made; /* by id - first */
};

struct vp_types {
	struct ot_arena arena;
	struct dif_type void_type;
	struct vp_type_module **modules; /* [0] is the kernel */
	size_t count, cap;
};

const char *vp_types_d_name(const char *btf_name);

/** Type @p id as @p m sees it (its own or the kernel's); NULL without memory, or for what is no type of
 * C's (sections, unknown ids, chains of tags without end). */
struct dif_type *vp_type_make(struct vp_type_module *m, uint32_t id);

/** struct dif_type_source's complete(). */
struct ot_err *vp_type_complete(struct dif_type_source *src, struct dif_type *type);

#endif
