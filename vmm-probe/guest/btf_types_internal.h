/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the search for types (btf_types.c) and their construction (btf_type_make.c). */
#ifndef VP_GUEST_BTF_TYPES_INTERNAL_H
#define VP_GUEST_BTF_TYPES_INTERNAL_H

#include "base/arena.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/budget.h"

struct vp_type_module {
	struct dif_type_source source; /* of its types; the first member, so that it can be cast back */
	struct vp_types *types;
	const char *name;
	const struct vp_btf *btf; /* NULL: none, or not loaded */
	struct vp_btf *owned;
	bool tried; /* loading has been attempted */
	struct ot_err *(*load)(void *arg, const char *module, uint8_t **ret, size_t *ret_size);
	void *arg;
	struct dif_type **made; /* by id - first */
};

struct vp_types {
	struct ot_arena arena;
	struct dif_type void_type;
	struct vp_type_module **modules; /* [0] is the kernel */
	size_t count, cap;
	struct vp_guest *guest;  /* whose types they are; NULL: this host's */
	struct vp_budget budget; /* of all modules, which are read when a type is first searched there */
};

const char *vp_types_d_name(const char *btf_name);

/** Type @p id of @p m (the module's own or the kernel's). NULL: out of memory, or not a C type (a section, an
 * unknown id, an endless chain of tags). */
struct dif_type *vp_type_make(struct vp_type_module *m, uint32_t id);

/** struct dif_type_source's complete(). */
struct ot_err *vp_type_complete(struct dif_type_source *src, struct dif_type *type);

#endif
