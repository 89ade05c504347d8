/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What checking a BTF blob (btf_check.c) and asking it (btf.c, btf_field.c) share. */
#ifndef VP_GUEST_BTF_INTERNAL_H
#define VP_GUEST_BTF_INTERNAL_H

#include "vmm-probe/guest/btf.h"

/* Longest chain of typedefs, qualifiers and tags, and of arrays of arrays, that is followed. Real
 * kernels stay below 10. */
#define VP_BTF_CHAIN_MAX 64

/* Names end within so many bytes, as the kernel's own do: what goes on further has none. */
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
	/* Producers of old never marked signed enums, so without a single mark every value is read as a
	 * signed one, with one as marked. */
	bool has_enum_signs;
	uint32_t *offsets; /* in types, of each type from `first` */
	/* By name, per space: open addressing, type ids, 0 empty. A power of two of slots. */
	uint32_t *slots[VP_BTF_NSPACES];
	uint32_t nslots[VP_BTF_NSPACES];
	struct vp_btf_enumerator *enumerators; /* by name, the same way; NULL until asked for */
	uint32_t nenumerators;                 /* slots */
};

/** Bytes behind a type's record, by kind; -1 for an unknown kind. */
int64_t vp_btf_tail(const struct btf_type *t);

/** The space that definitions of this type go to, or -1. */
int vp_btf_space_of(const struct btf_type *t);

/** Check everything and fill all but the name index. */
OT_MUST_CHECK struct ot_err *vp_btf_check(struct vp_btf *btf, size_t size);

#endif
