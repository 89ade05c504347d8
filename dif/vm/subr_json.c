/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json(document, "a.b[3].c"): one pass over the document, without recursion. Elements of the selector are
 * separated by '.' and brackets; an element is a key if the value is an object, an index if it is an array.
 * The result is 0 for malformed documents and missing elements.
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

/* Consume @c if it is next, after white space. */
static bool take(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Consume an escape sequence after its backslash. */
static bool take_escape(struct reader *r)
{
	if (r->p == r->end || !*r->p || !strchr("\"\\/bfnrtu", *r->p))
		return false;
	if (*r->p++ != 'u')
		return true;
	for (unsigned i = 0; i < 4; i++, r->p++)
		if (r->p == r->end || !is_hex(*r->p))
			return false;
	return true;
}

/* Consume a string after its opening quote. *ret: the text between the quotes, with escapes unchanged. */
static bool take_string(struct reader *r, struct dif_str *ret)
{
	const char *from = r->p;

	while (r->p < r->end) {
		char c = *r->p++;
		if (c == '"') {
			*ret = (struct dif_str){ from, (uint32_t)(r->p - 1 - from) };
			return true;
		}
		if (c == '\\' && !take_escape(r))
			return false;
	}
	return false;
}

static bool take_digits(struct reader *r)
{
	const char *from = r->p;

	while (r->p < r->end && is_digit(*r->p))
		r->p++;
	return r->p > from;
}

/* -digits[.digits][e[+-]digits]; hexadecimal numbers are not JSON. */
static bool take_number(struct reader *r)
{
	r->p += *r->p == '-';
	if (!take_digits(r))
		return false;
	if (r->p < r->end && *r->p == '.' && (r->p++, !take_digits(r)))
		return false;
	if (r->p < r->end && (*r->p | 0x20) == 'e') {
		r->p++;
		r->p += r->p < r->end && (*r->p == '+' || *r->p == '-');
		if (!take_digits(r))
			return false;
	}
	return r->p < r->end && (*r->p | 0x20) != 'x';
}

static bool take_word(struct reader *r)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t left = (size_t)(r->end - r->p);

	for (unsigned i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);
		if (left >= n && memcmp(r->p, words[i], n) == 0) {
			r->p += n;
			return r->p < r->end && !((*r->p | 0x20) >= 'a' && (*r->p | 0x20) <= 'z');
		}
	}
	return false;
}

/* Consume a number, true, false or null; the reader is not at its end. A scalar at the end of the text is
 * truncated, since only objects and arrays are documents. */
static bool take_scalar(struct reader *r, struct dif_str *ret)
{
	const char *from = r->p;

	if (!(is_digit(*from) || *from == '-' ? take_number(r) : take_word(r)))
		return false;
	*ret = (struct dif_str){ from, (uint32_t)(r->p - from) };
	return true;
}

/* Consume an object or array: brackets must match, strings are skipped. */
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

/* Consume any value; *ret is its text as json() returns it. */
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

/* The next element of the selector; false: there is none. */
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

/* Advance to the value of key @name, after the object's opening bracket. */
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

/* Advance to element @name, after the array's opening bracket. */
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
