/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making BTF blobs for tests, good ones and, by patching bytes, bad ones. */
#ifndef TESTS_UNIT_BTF_BUILDER_H
#define TESTS_UNIT_BTF_BUILDER_H

#include <stdint.h>

#include "base/buf.h"
#include "vmm-probe/guest/btf.h"

struct btf_builder {
	struct ot_buf types, strings;
	uint32_t next_id;      /* id of the record that is added next */
	uint32_t first_string; /* of a split blob: where the base's strings end */
};

/* Base blob: id 1 and string 0 ("") come first. Split: behind @p base. */
void btf_builder_init(struct btf_builder *b, const struct btf_builder *base);
void btf_builder_deinit(struct btf_builder *b);

uint32_t btf_add_string(struct btf_builder *b, const char *s);

/* A record; returns its id. What follows it is added with btf_add_words(). */
uint32_t btf_add(struct btf_builder *b, const char *name, unsigned kind, unsigned vlen, unsigned kflag,
		 uint32_t size_or_type);
void btf_add_words(struct btf_builder *b, unsigned n, ...);

uint32_t btf_add_int(struct btf_builder *b, const char *name, uint32_t size, unsigned encoding);
uint32_t btf_add_array(struct btf_builder *b, uint32_t type, uint32_t nelems);

/* A member, enumerator or parameter of the record just added. */
void btf_add_member(struct btf_builder *b, const char *name, uint32_t type, uint32_t offset);

/* A struct with its members, at byte offsets; returns its id. */
struct btf_new_field {
	const char *name;
	uint32_t type, at;
};
uint32_t btf_add_struct(struct btf_builder *b, const char *name, uint32_t size, unsigned n,
			const struct btf_new_field *fields);
#define BTF_STRUCT(b, name, size, ...)                                                                 \
	btf_add_struct(b, name, size,                                                                  \
		       sizeof((struct btf_new_field[]){ __VA_ARGS__ }) / sizeof(struct btf_new_field), \
		       (struct btf_new_field[]){ __VA_ARGS__ })

/* The whole blob, appended to @p out. */
void btf_finish(const struct btf_builder *b, struct ot_buf *out);

#endif
