/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the check of a BTF blob (btf_check.c) and its getters (btf.c, btf_field.c). */
#ifndef VP_GUEST_BTF_INTERNAL_H
#define VP_GUEST_BTF_INTERNAL_H

#include "vmm-probe/guest/btf.h"

/* Limit for chains of typedefs, qualifiers and tags, and for nested arrays. Real kernels stay below 10. */
#define VP_BTF_CHAIN_MAX 64

/* Names end within so many bytes, as the kernel's own do (KSYM_NAME_LEN); a longer name counts as none. */
#define VP_BTF_NAME_MAX 512u

/* How many enumerators can be found by name. Kernels have 50,000. */
#define VP_BTF_ENUMERATORS_MAX (1u << 20)

struct vp_btf_enumerator {
	uint32_t type, index; /* type 0: empty */
};

struct vp_btf {
	const struct vp_btf *base;
	uint8_t *data; /* a private copy: what was checked can't change */
	const uint8_t *types;
	uint32_t types_len;
	const char *strings;
	uint32_t strings_len;
	uint32_t first_string; /* the base's length */
	uint32_t first, end;
	/* Older producers do not set kind_flag on signed enums. If no enum has it, all values are read as
	 * signed; otherwise the flag decides. */
	bool has_enum_signs;
	uint32_t *offsets; /* in types, of each type from `first` */
	/* By name, per space: open addressing, type ids, 0 empty. A power of two of slots. */
	uint32_t *slots[VP_BTF_NSPACES];
	uint32_t nslots[VP_BTF_NSPACES];
	struct vp_btf_enumerator *enumerators; /* by name, likewise; NULL before the first search */
	uint32_t nenumerators;                 /* slots */
};

/** Check everything and fill all but the name index. */
OT_MUST_CHECK struct ot_err *vp_btf_check(struct vp_btf *btf, size_t size);

#endif
