/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF, the kernel's own description of its C types, as a guest has it in memory.
 *
 * A blob is hostile until vp_btf_create() has checked every record: section bounds, record sizes,
 * string offsets, type ids. After that the getters need no checks, except that references may form
 * cycles: code that follows them has a limit. Records are those of <linux/btf.h>; we parse them
 * ourselves because the check is most of a parser already.
 *
 * A module's BTF is split: its type ids and string offsets continue those of the kernel's BTF
 * ("base"). Immutable once created.
 */
#ifndef VP_GUEST_BTF_H
#define VP_GUEST_BTF_H

#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * The members that all headers have in common. struct btf_header in <linux/btf.h> has grown, and so has the
 * meaning of btf_type.info: newer kernels use bits that are 0 in older ones, hence our own BTF_INFO_*.
 */
struct vp_btf_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t hdr_len; /* what follows is relative to the header's end */
	uint32_t type_off, type_len;
	uint32_t str_off, str_len;
};

#undef BTF_INFO_KIND
#undef BTF_INFO_VLEN
#define BTF_INFO_KIND(info) ((info) >> 24 & 0x7f)
#define BTF_INFO_VLEN(info) ((info)&0xffffff)

struct vp_btf;

/* Name spaces of types. */
enum vp_btf_space {
	VP_BTF_STRUCT,
	VP_BTF_UNION,
	VP_BTF_ENUM, /* ENUM and ENUM64 */
	VP_BTF_TYPE, /* TYPEDEF, INT, FLOAT */
	VP_BTF_FUNC,
	VP_BTF_VAR,
	VP_BTF_NSPACES,
};

/**
 * Check a blob and index it. @p data is copied. @p base is NULL for a kernel's own types, else the
 * kernel's, borrowed until the result is destroyed. Bytes after the sections are ignored.
 * BAD_DATA: the message names the invalid record; UNSUPPORTED: a kind of type that is not known here.
 */
OT_MUST_CHECK struct ot_err *vp_btf_create(const void *data, size_t size, const struct vp_btf *base,
					   struct vp_btf **ret);
void vp_btf_destroy(struct vp_btf *btf);

/** Type ids of this blob are [first, end); ids below first are the base's, 0 is void. */
uint32_t vp_btf_first(const struct vp_btf *btf);
uint32_t vp_btf_end(const struct vp_btf *btf);

/** A type by id, of this blob or its base; NULL for 0 (void) and for ids that don't exist. The data after the
 * record (btf_member and so on) has been bounds-checked. */
const struct btf_type *vp_btf_type(const struct vp_btf *btf, uint32_t id);

/** A string by offset, never NULL; "" for none. */
const char *vp_btf_str(const struct vp_btf *btf, uint32_t offset);

/** The first type of that name, in this blob or else in its base; 0: none. Only definitions:
 * forward declarations aren't found. */
uint32_t vp_btf_find(const struct vp_btf *btf, enum vp_btf_space space, const char *name);

/** Resolve typedefs, qualifiers and tags; 0 for void and for a chain longer than any real one. */
uint32_t vp_btf_resolve(const struct vp_btf *btf, uint32_t id);

/** Size in bytes; false for void, functions, other types without a size, and cyclic ones. */
bool vp_btf_size(const struct vp_btf *btf, uint32_t id, uint64_t *ret);

/** sizeof(struct @p name), or of a union or typedef of that name; 0: there is none. */
uint64_t vp_btf_sizeof(const struct vp_btf *btf, const char *name);

/* A member, relative to the outermost struct of its path. */
struct vp_btf_field {
	uint32_t type;       /* as declared */
	uint64_t bit_offset; /* from the start of the outermost struct */
	uint32_t bit_size;   /* of a bit-field, else 0 */
};

/** Find a member of struct or union @p id by path: "comm", "se.sum_exec_runtime". Members of
 * anonymous structs and unions inside count as its own. */
bool vp_btf_field(const struct vp_btf *btf, uint32_t id, const char *path, struct vp_btf_field *ret);

/** The same by name of a struct (or union). @p ret_bytes is the byte it starts in, @p ret_bits a
 * bit-field's size or 0 (may be NULL). False: no such struct or member. */
bool vp_btf_member_offset(const struct vp_btf *btf, const char *type, const char *path, uint32_t *ret_bytes,
			  uint32_t *ret_bits);

/** Elements of the array that member @p path of struct @p type is; 0: there is no such member, or it is no
 * array. */
uint32_t vp_btf_array_length(const struct vp_btf *btf, const char *type, const char *path);

/** Value of enumerator @p name of enum @p type. False: there is none. */
bool vp_btf_enum_named(const struct vp_btf *btf, const char *type, const char *name, int64_t *ret);

/** Value of the @p index-th enumerator of ENUM or ENUM64 @p t. */
int64_t vp_btf_enum_value(const struct vp_btf *btf, const struct btf_type *t, uint32_t index);

/** An enumerator of this blob (not of its base), by name. The index is made at the first call. */
bool vp_btf_enumerator(struct vp_btf *btf, const char *name, uint32_t *ret_type, int64_t *ret_value);

#endif
