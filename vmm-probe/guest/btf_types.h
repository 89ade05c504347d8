/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's C types as D types: struct dif_type for the BTF of the kernel and of its modules, constructed
 * one by one as a program refers to them. They live as long as the struct vp_types.
 */
#ifndef VP_GUEST_BTF_TYPES_H
#define VP_GUEST_BTF_TYPES_H

#include "dif/lang/types/types.h"
#include "vmm-probe/guest/btf.h"

struct vp_guest;
struct vp_types;

OT_MUST_CHECK struct ot_err *vp_types_create(struct vp_types **ret);
void vp_types_destroy(struct vp_types *types);

/** The kernel's own types, as "vmlinux"; before any module. @p btf is borrowed. */
OT_MUST_CHECK struct ot_err *vp_types_add_kernel(struct vp_types *types, const struct vp_btf *btf);

/** A module's types. @p load is called when they are first needed: *ret is the raw BTF, which the callee
 * allocates and we free(), or NULL if the module has none. */
OT_MUST_CHECK struct ot_err *vp_types_add_module(struct vp_types *types, const char *module,
						 struct ot_err *(*load)(void *arg, const char *module,
									uint8_t **ret, size_t *ret_size),
						 void *arg);

/** Types of a guest: the kernel's, and those of its live modules, which are loaded on demand. @p guest is
 * borrowed. Without BTF in the guest, *ret is empty. */
OT_MUST_CHECK struct ot_err *vp_types_of_guest(struct vp_guest *guest, struct vp_types **ret);

struct vp_module;
/** Add the types of a module of that guest, unless one of its name has been added. */
OT_MUST_CHECK struct ot_err *vp_types_add_of_guest(struct vp_types *types, struct vp_guest *guest,
						   const struct vp_module *module);

/** The BTF of a module; NULL: it has none, or an invalid one. */
const struct vp_btf *vp_types_btf(struct vp_types *types, const char *module);

/** Type @p id of @p btf (one that was added); id 0 is void. NULL: out of memory, or no such id. */
struct dif_type *vp_types_get(struct vp_types *types, const struct vp_btf *btf, uint32_t id);

/** For struct dif_world's find_type: @p kind is STRUCT, UNION, ENUM, or TYPEDEF for typedefs and base types
 * (by their D names: "unsigned long"). @p module NULL: any, the kernel first. */
struct dif_type *vp_types_find(struct vp_types *types, const char *module, enum dif_ckind kind,
			       const char *name);

/** A pointer to @p to (one of these types), which is in user space. NULL: out of memory. */
struct dif_type *vp_types_user_pointer(struct vp_types *types, struct dif_type *to);

/** For struct dif_world's find_enumerator. */
bool vp_types_enumerator(struct vp_types *types, const char *name, struct dif_type **ret_type,
			 int64_t *ret_value);

/** Type of a function (its prototype) or of a variable (BTF has per-CPU variables only); NULL: none. */
struct dif_type *vp_types_symbol(struct vp_types *types, const char *module, const char *name,
				 bool is_function);

#endif
