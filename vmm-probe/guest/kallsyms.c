/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding kallsyms: the names by their tokens, then the values, whose place and encoding are found by
 * trying. */
#include "vmm-probe/guest/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/kallsyms_internal.h"

#define NAMES_BYTES_MAX (256u << 20)
#define CHECK_NAMES     4096u
#define ABSOLUTE_MAX    (1ull << 32) /* per-CPU offsets and plain numbers are below */
#define STEXT_MAX       (2ull << 20) /* from _text to _stext at most */
#define VALUES_PAD      64           /* padding between the values and adjacent tables at most */

void vp_kallsyms_deinit(struct vp_kallsyms *kallsyms)
{
	vp_budget_give(kallsyms->charged);
	free(kallsyms->syms);
	free(kallsyms->names);
	memset(kallsyms, 0, sizeof(*kallsyms));
}

/* Expand one name: type character, name, NUL. False: too long or empty. */
static bool expand(const struct vp_kallsyms_tokens *tokens, const uint8_t *codes, size_t n, char *out,
		   size_t *ret_len)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		size_t add = tokens->len[codes[i]];

		if (len + add > VP_KALLSYMS_NAME_MAX)
			return false;
		memcpy(out + len, tokens->text[codes[i]], add);
		len += add;
	}
	out[len] = '\0';
	*ret_len = len;
	return len >= 2;
}

static struct ot_err *charge(struct vp_kallsyms *ks, uint64_t bytes)
{
	OT_TRY(vp_budget_take(bytes));
	ks->charged += bytes;
	return NULL;
}

static struct ot_err *decode_names(const uint8_t *image, const struct vp_kallsyms_tokens *tokens,
				   const struct vp_kallsyms_tables *t, struct vp_kallsyms *ks)
{
	size_t at = t->names_off, cap = (size_t)t->count * 32;

	OT_TRY(charge(ks, t->count * sizeof(*ks->syms) + cap));
	ks->syms = calloc(t->count, sizeof(*ks->syms));
	ks->names = malloc(cap);
	if (!ks->syms || !ks->names)
		return ot_err_nomem();
	for (uint32_t i = 0; i < t->count; i++) {
		char name[VP_KALLSYMS_NAME_MAX + 1];
		size_t n, head, len;

		if (i % CHECK_NAMES == 0)
			OT_TRY(vp_budget_check());
		if (!vp_kallsyms_name(image, at, t->names_end, t->uleb, &n, &head) ||
		    !expand(tokens, image + at + head, n, name, &len))
			return ot_err_new(OT_ERR_BAD_DATA, "kallsyms: name %u is broken", i);
		at += head + n;
		ks->uleb |= head == 2;
		if (ks->names_size + len > NAMES_BYTES_MAX)
			return ot_err_new(OT_ERR_LIMIT, "kallsyms: names of more than %u MiB",
					  NAMES_BYTES_MAX >> 20);
		while (ks->names_size + len > cap) {
			char *more;

			OT_TRY(charge(ks, cap));
			more = realloc(ks->names, cap *= 2);
			if (!more)
				return ot_err_nomem();
			ks->names = more;
		}
		ks->syms[i].type = name[0];
		ks->syms[i].name = (uint32_t)ks->names_size;
		memcpy(ks->names + ks->names_size, name + 1, len); /* len - 1 characters and the NUL */
		ks->names_size += len;
	}
	ks->count = t->count;
	return NULL;
}

/* A hypothesis about the place and encoding of the values. */
struct values {
	enum vp_kallsyms_values kind;
	bool first; /* before the names */
	size_t off;
	size_t base_off; /* of relative_base */
};

static uint64_t value_at(const struct vp_image *image, const struct values *v, uint64_t base, size_t i)
{
	uint64_t absolute;
	int32_t rel;

	if (v->kind == VP_KALLSYMS_ABSOLUTE) {
		memcpy(&absolute, image->data + v->off + 8 * i, sizeof(absolute));
		return absolute;
	}
	memcpy(&rel, image->data + v->off + 4 * i, sizeof(rel));
	if (v->kind == VP_KALLSYMS_PLACE)
		return image->base.v + v->off + 4 * i + (uint64_t)(int64_t)rel;
	if (v->kind == VP_KALLSYMS_RELATIVE)
		return base + (uint32_t)rel;
	return rel >= 0 ? (uint64_t)rel : base - 1 - (uint64_t)(int64_t)rel;
}

/* _text must be at the start of the image, which is known from the page tables; or _stext close to it. */
static bool names_the_base(const struct vp_kallsyms *ks, const struct vp_image *image)
{
	uint64_t text = 0, stext = 0;

	for (size_t i = 0; i < ks->count; i++) {
		const char *name = ks->names + ks->syms[i].name;

		if (name[0] != '_')
			continue;
		if (strcmp(name, "_text") == 0)
			text = ks->syms[i].addr;
		else if (strcmp(name, "_stext") == 0)
			stext = ks->syms[i].addr;
	}
	if (text)
		return text == image->base.v;
	return stext >= image->base.v && stext - image->base.v < STEXT_MAX;
}

/* Read all values by this hypothesis: they must ascend and match the image's base. */
static bool values_fit(const struct vp_image *image, const struct values *v, uint64_t *work,
		       struct vp_kallsyms *ks)
{
	size_t width = v->kind == VP_KALLSYMS_ABSOLUTE ? 8 : 4;
	uint64_t base = 0, last = 0;

	if (v->off > image->size || ks->count * width > image->size - v->off)
		return false;
	if (v->kind == VP_KALLSYMS_RELATIVE || v->kind == VP_KALLSYMS_PERCPU) {
		if (v->base_off > image->size || image->size - v->base_off < 8)
			return false;
		memcpy(&base, image->data + v->base_off, sizeof(base));
		if (base < VP_KERNEL_MAP_START)
			return false;
	}
	for (size_t i = 0; i < ks->count; i++) {
		uint64_t addr = value_at(image, v, base, i);

		if (!vp_kallsyms_spend(work, 1) || addr < last ||
		    (addr >= ABSOLUTE_MAX && addr < VP_KERNEL_MAP_START))
			return false;
		ks->syms[i].addr = last = addr;
	}
	if (!names_the_base(ks, image))
		return false;
	ks->values = v->kind;
	ks->values_first = v->first;
	ks->values_off = v->off;
	ks->values_size = ks->count * width;
	return true;
}

static size_t align_up(size_t v, size_t to)
{
	return (v + to - 1) & ~(to - 1);
}

/* Try all encodings at one place. The base of relative values follows them, in either order of the tables,
 * aligned to 8 bytes or to 4. */
static bool values_at(const struct vp_image *image, size_t off, bool first, uint64_t *work,
		      struct vp_kallsyms *ks)
{
	static const enum vp_kallsyms_values based[] = { VP_KALLSYMS_PERCPU, VP_KALLSYMS_RELATIVE };
	struct values v = { .off = off, .first = first };
	size_t end = off + ks->count * 4;

	for (size_t align = 8; align >= 4; align -= 4) {
		v.base_off = align_up(end, align);
		for (size_t i = 0; i < OT_ARRAY_SIZE(based); i++) {
			v.kind = based[i];
			if (values_fit(image, &v, work, ks))
				return true;
		}
	}
	v.kind = VP_KALLSYMS_PLACE;
	if (values_fit(image, &v, work, ks))
		return true;
	v.kind = VP_KALLSYMS_ABSOLUTE;
	return values_fit(image, &v, work, ks);
}

/*
 * The values follow the tokens or, in the older order, precede the number of names. The padding between
 * tables depends on the alignment of the following table: compilers and kernels differ.
 */
static bool find_values(const struct vp_image *image, const struct vp_kallsyms_tokens *tokens,
			const struct vp_kallsyms_tables *t, uint64_t *work, struct vp_kallsyms *ks)
{
	size_t next = align_up(tokens->end, 4), n4 = (size_t)t->count * 4, n8 = (size_t)t->count * 8;

	for (size_t pad = 0; pad <= VALUES_PAD; pad += 4) {
		if (values_at(image, next + pad, false, work, ks))
			return true;
	}
	/* The older order, with a base of 8 bytes in between, or without. */
	for (size_t pad = 0; pad <= VALUES_PAD; pad += 4) {
		if (t->count_off >= n4 + pad && values_at(image, t->count_off - n4 - pad, true, work, ks))
			return true;
		if (t->count_off >= n8 + pad && values_at(image, t->count_off - n8 - pad, true, work, ks))
			return true;
	}
	return false;
}

/* Decode everything that belongs to one token table. *ret_found is false if there are no names and
 * markers. */
static struct ot_err *decode_from(const struct vp_image *image, const struct vp_kallsyms_tokens *tokens,
				  uint64_t *work, struct vp_kallsyms *ret, bool *ret_found)
{
	ot_auto(vp_kallsyms_deinit) struct vp_kallsyms ks = { 0 };
	struct vp_kallsyms_tables t;

	*ret_found = false;
	if (!vp_kallsyms_find_tables(image->data, image->size, tokens, work, &t))
		return NULL;
	OT_TRY(decode_names(image->data, tokens, &t, &ks));
	if (!find_values(image, tokens, &t, work, &ks))
		return ot_err_new(OT_ERR_BAD_DATA, "kallsyms: %u names, but no addresses that fit them",
				  t.count);
	ks.marker_size = (uint8_t)t.marker_size;
	ks.tables_off = t.count_off;
	ks.tables_size = tokens->end - t.count_off;
	*ret = ks;
	memset(&ks, 0, sizeof(ks));
	*ret_found = true;
	return NULL;
}

struct ot_err *vp_kallsyms_decode(const struct vp_image *image, uint64_t token_table, struct vp_kallsyms *ret)
{
	ot_auto_free struct vp_kallsyms_tokens *tokens = malloc(sizeof(*tokens));
	ot_auto_err struct ot_err *first = NULL;
	uint64_t work = VP_KALLSYMS_WORK;
	size_t at = 0;
	bool found;

	if (!tokens)
		return ot_err_nomem();
	if (token_table > image->base.v && token_table - image->base.v < image->size &&
	    vp_kallsyms_check_tokens(image->data, image->size, token_table - image->base.v, tokens)) {
		OT_TRY(decode_from(image, tokens, &work, ret, &found));
		if (found)
			return NULL;
	}
	while (vp_kallsyms_find_tokens(image->data, image->size, &at, &work, tokens)) {
		struct ot_err *err = decode_from(image, tokens, &work, ret, &found);

		if (!err && found)
			return NULL;
		/* A false match: continue with the next one. */
		if (err && ot_err_code(err) != OT_ERR_BAD_DATA)
			return err;
		if (!first)
			first = err;
		else
			ot_err_destroy(err);
	}
	OT_TRY(vp_budget_check());
	if (first)
		return ot_move(first);
	return ot_err_new(OT_ERR_NOT_FOUND, "no kallsyms tables in the kernel image%s",
			  work ? "" : " (the search was given up)");
}
