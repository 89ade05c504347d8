/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json(document, "a.b[3].c"): one pass over the document, no recursion. Elements of the
 * selector are separated by '.' and brackets; what an element names depends on what it meets: a
 * key in an object, a number in an array. Malformed documents and missing elements give 0.
 */
#include "dif/vm/vm_priv.h"

#define DEPTH_MAX 64

struct reader {
	const char *p, *end;
};

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

/* Whether @p c comes next, past blanks; if so it is taken. */
static bool take(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

/* A string whose opening quote was taken; what stands between the quotes, escapes as they are. */
static bool take_string(struct reader *r, struct dif_str *ret)
{
	const char *from = r->p;

	for (; r->p < r->end; r->p++) {
		if (*r->p == '"') {
			*ret = (struct dif_str){ from, (uint32_t)(r->p - from) };
			r->p++;
			return true;
		}
		if (*r->p == '\\' && ++r->p == r->end)
			return false;
	}
	return false;
}

static bool is_scalar(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' ||
	       c == '.';
}

/* A number, true, false or null. */
static bool take_scalar(struct reader *r, struct dif_str *ret)
{
	const char *from = r->p;

	while (r->p < r->end && is_scalar(*r->p))
		r->p++;
	*ret = (struct dif_str){ from, (uint32_t)(r->p - from) };
	return ret->len > 0;
}

/* An object or array as a whole: brackets balanced in kind, strings skipped. */
static bool take_nested(struct reader *r, struct dif_str *ret)
{
	const char *from = r->p;
	char closing[DEPTH_MAX];
	unsigned depth = 0;
	struct dif_str ignored;

	while (r->p < r->end) {
		char c = *r->p++;
		if (c == '"') {
			if (!take_string(r, &ignored))
				return false;
		} else if (c == '{' || c == '[') {
			if (depth == DEPTH_MAX)
				return false;
			closing[depth++] = c == '{' ? '}' : ']';
		} else if (c == '}' || c == ']') {
			if (!depth || c != closing[--depth])
				return false;
			if (!depth) {
				*ret = (struct dif_str){ from, (uint32_t)(r->p - from) };
				return true;
			}
		}
	}
	return false;
}

/* Any value, as json() gives it back. */
static bool take_value(struct reader *r, struct dif_str *ret)
{
	skip_space(r);
	if (r->p == r->end)
		return false;
	if (*r->p == '{' || *r->p == '[')
		return take_nested(r, ret);
	if (*r->p == '"') {
		r->p++;
		return take_string(r, ret);
	}
	return take_scalar(r, ret);
}

/* The next element of the selector; false at its end. */
static bool next_element(struct reader *sel, struct dif_str *ret)
{
	while (sel->p < sel->end && (*sel->p == '.' || *sel->p == '[' || *sel->p == ']'))
		sel->p++;
	const char *from = sel->p;
	while (sel->p < sel->end && *sel->p != '.' && *sel->p != '[' && *sel->p != ']')
		sel->p++;
	*ret = (struct dif_str){ from, (uint32_t)(sel->p - from) };
	return ret->len > 0;
}

static bool parse_index(const struct dif_str *text, uint64_t *ret)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < text->len; i++) {
		if (text->s[i] < '0' || text->s[i] > '9' || v > UINT32_MAX)
			return false;
		v = v * 10 + (uint64_t)(text->s[i] - '0');
	}
	*ret = v;
	return true;
}

/* Stand before the value of key @p name of the object that was just opened. */
static bool enter_object(struct reader *r, const struct dif_str *name)
{
	struct dif_str key, skipped;

	do {
		if (!take(r, '"') || !take_string(r, &key) || !take(r, ':'))
			return false;
		if (key.len == name->len && memcmp(key.s, name->s, key.len) == 0)
			return true;
		if (!take_value(r, &skipped))
			return false;
	} while (take(r, ','));
	return false;
}

/* Stand before element @p name of the array that was just opened. */
static bool enter_array(struct reader *r, const struct dif_str *name)
{
	struct dif_str skipped;
	uint64_t index;

	if (!parse_index(name, &index))
		return false;
	while (index--) {
		if (!take_value(r, &skipped) || !take(r, ','))
			return false;
	}
	skip_space(r);
	return r->p < r->end && *r->p != ']';
}

uint64_t dif_subr_json(struct dif_vm *vm)
{
	struct dif_str doc, selector, element, value;

	if (!dif_arg_string(vm, 0, &doc) || !dif_arg_string(vm, 1, &selector) || !dif_vm_burn(vm, doc.len))
		return 0;
	struct reader r = { doc.s, doc.s + doc.len }, sel = { selector.s, selector.s + selector.len };
	if (!next_element(&sel, &element))
		return 0;
	do {
		bool found = take(&r, '{')   ? enter_object(&r, &element)
			     : take(&r, '[') ? enter_array(&r, &element)
					     : false;
		if (!found)
			return 0;
	} while (next_element(&sel, &element));
	return take_value(&r, &value) ? dif_scratch_string(vm, value.s, value.len) : 0;
}
