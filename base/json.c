/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON writer: punctuation, escapes, and the check that values are where JSON allows them. A stream is
 * written by one thread, so stdio's lock, which costs more than the writing, is not taken for each piece. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

void ot_json_init(struct ot_json *j, FILE *fp)
{
	*j = (struct ot_json){ .fp = fp };
}

static bool misuse(struct ot_json *j, const char *what)
{
	if (!j->misuse)
		j->misuse = what;
	return false;
}

struct ot_err *ot_json_finish(struct ot_json *j)
{
	const char *wrong = j->misuse;

	if (!wrong && !j->complete)
		wrong = "the document is not complete";
	if (!wrong)
		putc_unlocked('\n', j->fp);
	ot_json_init(j, j->fp);
	return wrong ? ot_err_new(OT_ERR_INTERNAL, "JSON writer: %s", wrong) : NULL;
}

/* --- structure ----------------------------------------------------------------------------------------- */

/* The comma and the line break before an array's element or an object's member. */
static void separate(struct ot_json *j)
{
	enum ot_json_style style = j->open[j->depth - 1].style;
	bool first = !j->open[j->depth - 1].has_items;

	if (style == OT_JSON_INLINE)
		fputs_unlocked(first ? "" : ", ", j->fp);
	else
		fprintf(j->fp, "%s\n%*s", first ? "" : ",", style == OT_JSON_LINES ? 2 : (int)j->depth * 2,
			"");
	j->open[j->depth - 1].has_items = true;
}

/* May a value stand here? Writes the separator from the last one. */
static bool begin_value(struct ot_json *j)
{
	if (j->misuse)
		return false;
	if (!j->depth)
		return j->complete ? misuse(j, "a second value in one document") : true;
	if (!j->open[j->depth - 1].is_object)
		separate(j);
	else if (!j->after_key)
		return misuse(j, "a member without a key");
	j->after_key = false;
	return true;
}

static void end_value(struct ot_json *j)
{
	j->complete = !j->depth;
}

static void begin_container(struct ot_json *j, bool is_object, enum ot_json_style style)
{
	if (!begin_value(j))
		return;
	if (j->depth == OT_JSON_DEPTH) {
		misuse(j, "nested too deeply");
		return;
	}
	putc_unlocked(is_object ? '{' : '[', j->fp);
	j->open[j->depth].is_object = is_object;
	j->open[j->depth].style = style;
	j->open[j->depth].has_items = false;
	j->depth++;
}

void ot_json_object(struct ot_json *j, enum ot_json_style style)
{
	begin_container(j, true, style);
}

void ot_json_array(struct ot_json *j, enum ot_json_style style)
{
	begin_container(j, false, style);
}

void ot_json_end(struct ot_json *j)
{
	if (j->misuse)
		return;
	if (!j->depth || j->after_key) {
		misuse(j, j->depth ? "a key without a value" : "an end without a beginning");
		return;
	}
	j->depth--;
	if (j->open[j->depth].style != OT_JSON_INLINE && j->open[j->depth].has_items)
		fprintf(j->fp, "\n%*s", j->open[j->depth].style == OT_JSON_NESTED ? (int)j->depth * 2 : 0,
			"");
	putc_unlocked(j->open[j->depth].is_object ? '}' : ']', j->fp);
	end_value(j);
}

/* --- scalars ------------------------------------------------------------------------------------------- */

/* Size of the character at @s if JSON contains it unescaped; 0: it is escaped, or invalid UTF-8. */
static size_t plain(const uint8_t *s, size_t len)
{
	int n = ot_utf8_length(s, len);

	return n <= 0 || *s == '"' || *s == '\\' || *s < ' ' || *s == 0x7f ? 0 : (size_t)n;
}

/* Returns the number of bytes of @s that it represents. */
static size_t put_escaped(FILE *fp, const uint8_t *s, size_t len)
{
	int n = ot_utf8_length(s, len);

	if (n <= 0)
		fputs_unlocked("\\ufffd", fp);
	else if (*s == '"' || *s == '\\')
		fprintf(fp, "\\%c", *s);
	else
		fprintf(fp, "\\u%04x", *s);
	return n <= 0 ? 1 : (size_t)n;
}

/* Unescaped text is written in one piece: a call for each character took half of a record's time. */
static void put_text(FILE *fp, const uint8_t *s, size_t len)
{
	putc_unlocked('"', fp);
	while (len) {
		size_t run = 0, n;

		while (run < len && (n = plain(s + run, len - run)))
			run += n;
		if (run)
			fwrite_unlocked(s, 1, run, fp);
		else
			run = put_escaped(fp, s, len);
		s += run;
		len -= run;
	}
	putc_unlocked('"', fp);
}

void ot_json_key(struct ot_json *j, const char *name)
{
	if (j->misuse)
		return;
	if (!j->depth || !j->open[j->depth - 1].is_object || j->after_key) {
		misuse(j, "a key where none may stand");
		return;
	}
	separate(j);
	put_text(j->fp, (const uint8_t *)name, strlen(name));
	fputs_unlocked(": ", j->fp);
	j->after_key = true;
}

void ot_json_text(struct ot_json *j, const void *text, size_t len)
{
	if (!begin_value(j))
		return;
	put_text(j->fp, text, len);
	end_value(j);
}

void ot_json_string(struct ot_json *j, const char *s)
{
	ot_json_text(j, s, strlen(s));
}

OT_PRINTF(2, 3) static void put_scalar(struct ot_json *j, const char *fmt, ...)
{
	va_list ap;

	if (!begin_value(j))
		return;
	va_start(ap, fmt);
	vfprintf(j->fp, fmt, ap);
	va_end(ap);
	end_value(j);
}

void ot_json_int(struct ot_json *j, int64_t n)
{
	put_scalar(j, "%" PRId64, n);
}

void ot_json_uint(struct ot_json *j, uint64_t n)
{
	put_scalar(j, "%" PRIu64, n);
}

void ot_json_fixed(struct ot_json *j, double n, int decimals)
{
	if (isfinite(n))
		put_scalar(j, "%.*f", decimals, n);
	else
		ot_json_null(j);
}

void ot_json_bool(struct ot_json *j, bool value)
{
	put_scalar(j, "%s", value ? "true" : "false");
}

void ot_json_null(struct ot_json *j)
{
	put_scalar(j, "null");
}

void ot_json_member_string(struct ot_json *j, const char *name, const char *value)
{
	ot_json_key(j, name);
	ot_json_string(j, value);
}

void ot_json_member_uint(struct ot_json *j, const char *name, uint64_t value)
{
	ot_json_key(j, name);
	ot_json_uint(j, value);
}
