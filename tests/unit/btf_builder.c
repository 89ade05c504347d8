/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making BTF blobs for tests. */
#include "btf_builder.h"

#include <stdarg.h>
#include <string.h>

void btf_builder_init(struct btf_builder *b, const struct btf_builder *base)
{
	ot_buf_init(&b->types);
	ot_buf_init(&b->strings);
	b->next_id = base ? base->next_id : 1;
	b->first_string = base ? base->first_string + (uint32_t)base->strings.len : 0;
	if (!base)
		ot_buf_putc(&b->strings, '\0');
}

void btf_builder_deinit(struct btf_builder *b)
{
	ot_buf_deinit(&b->types);
	ot_buf_deinit(&b->strings);
}

uint32_t btf_add_string(struct btf_builder *b, const char *s)
{
	uint32_t off = b->first_string + (uint32_t)b->strings.len;

	if (!*s)
		return 0;
	ot_buf_append(&b->strings, s, strlen(s) + 1);
	return off;
}

uint32_t btf_add(struct btf_builder *b, const char *name, unsigned kind, unsigned vlen, unsigned kflag,
		 uint32_t size_or_type)
{
	struct btf_type t = {
		.name_off = btf_add_string(b, name),
		.info = kflag << 31 | kind << 24 | vlen,
		.size = size_or_type,
	};

	ot_buf_append(&b->types, &t, sizeof(t));
	return b->next_id++;
}

void btf_add_words(struct btf_builder *b, unsigned n, ...)
{
	va_list ap;

	va_start(ap, n);
	while (n--) {
		uint32_t w = va_arg(ap, uint32_t);

		ot_buf_append(&b->types, &w, sizeof(w));
	}
	va_end(ap);
}

uint32_t btf_add_int(struct btf_builder *b, const char *name, uint32_t size, unsigned encoding)
{
	uint32_t id = btf_add(b, name, BTF_KIND_INT, 0, 0, size);

	btf_add_words(b, 1, encoding << 24 | size * 8);
	return id;
}

uint32_t btf_add_array(struct btf_builder *b, uint32_t type, uint32_t nelems)
{
	uint32_t id = btf_add(b, "", BTF_KIND_ARRAY, 0, 0, 0);

	btf_add_words(b, 3, type, 1u, nelems);
	return id;
}

void btf_add_member(struct btf_builder *b, const char *name, uint32_t type, uint32_t offset)
{
	btf_add_words(b, 3, btf_add_string(b, name), type, offset);
}

uint32_t btf_add_struct(struct btf_builder *b, const char *name, uint32_t size, unsigned n,
			const struct btf_new_field *fields)
{
	uint32_t id = btf_add(b, name, BTF_KIND_STRUCT, n, 0, size);

	for (unsigned i = 0; i < n; i++)
		btf_add_member(b, fields[i].name, fields[i].type, fields[i].at * 8);
	return id;
}

void btf_finish(const struct btf_builder *b, struct ot_buf *out)
{
	const struct vp_btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
		.type_len = (uint32_t)b->types.len,
		.str_off = (uint32_t)b->types.len,
		.str_len = (uint32_t)b->strings.len,
	};

	ot_buf_append(out, &h, sizeof(h));
	ot_buf_append(out, b->types.data, b->types.len);
	ot_buf_append(out, b->strings.data, b->strings.len);
}
