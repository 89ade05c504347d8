/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's C types as D's: BTF of the kernel and of its modules behind struct dif_type, made one
 * by one as a program asks for them. Types live as long as the source.
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

/** A module's types. @p load is called when somebody first needs them: it hands out the raw bytes (the
 * source frees them), or NULL when there are none. */
OT_MUST_CHECK struct ot_err *vp_types_add_module(struct vp_types *types, const char *module,
						 struct ot_err *(*load)(void *arg, const char *module,
									uint8_t **ret, size_t *ret_size),
						 void *arg);

/** Types of a guest: the kernel's, and those of its live modules when they are asked for. @p guest is
 * borrowed. A guest without BTF has no types: the source is empty. */
OT_MUST_CHECK struct ot_err *vp_types_of_guest(struct vp_guest *guest, struct vp_types **ret);

/** The BTF of a module, NULL when it has none (or a broken one). */
const struct vp_btf *vp_types_btf(struct vp_types *types, const char *module);

/** Type @p id of @p btf (one that was added). NULL without memory or for an id that doesn't exist; void
 * is a type too (id 0). */
struct dif_type *vp_types_get(struct vp_types *types, const struct vp_btf *btf, uint32_t id);

/** As struct dif_world's find_type: @p kind is STRUCT, UNION, ENUM, or TYPEDEF for typedefs and base types
 * (under their D names: "unsigned long"). @p module NULL: any, the kernel first. */
struct dif_type *vp_types_find(struct vp_types *types, const char *module, enum dif_ckind kind,
			       const char *name);

/** As struct dif_world's find_enumerator. */
bool vp_types_enumerator(struct vp_types *types, const char *name, struct dif_type **ret_type,
			 int64_t *ret_value);

/** Type of a function (its prototype) or of a variable (per-CPU ones are all that BTF has); NULL: none. */
struct dif_type *vp_types_symbol(struct vp_types *types, const char *module, const char *name,
				 bool is_function);

#endif
