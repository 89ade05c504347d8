/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree of named values as JSON, by base/json.h, or as XML. */
#include "consumer/output/tree.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

void con_tree_init(struct con_tree *t, FILE *fp, bool xml, bool pretty)
{
	*t = (struct con_tree){ .fp = fp, .xml = xml, .pretty = pretty };
	ot_json_init(&t->json, fp);
}

/* --- XML ----------------------------------------------------------------------------------------------- */

/* Char of XML 1.0, section 2.2. */
static bool is_xml_char(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= ' ' && c < 0xd800) ||
	       (c >= 0xe000 && c < 0xfffe) || c >= 0x10000;
}

static void put_xml_char(FILE *fp, const uint8_t *s, int len)
{
	switch (*s) {
	case '<':
		fputs("&lt;", fp);
		return;
	case '>':
		fputs("&gt;", fp);
		return;
	case '&':
		fputs("&amp;", fp);
		return;
	case '\r': /* a reader would take it for a newline */
		fputs("&#13;", fp);
		return;
	default:
		fwrite(s, 1, (size_t)len, fp);
	}
}

static void put_xml_text(FILE *fp, const void *text, size_t len)
{
	const uint8_t *s = text;

	while (len) {
		int n = ot_utf8_length(s, len);
		bool valid = n > 0 && is_xml_char(n == 1 ? *s : ot_utf8_char(s, n));

		if (valid)
			put_xml_char(fp, s, n);
		else
			fputs("\xef\xbf\xbd", fp);
		n = n > 0 ? n : 1;
		s += n;
		len -= (size_t)n;
	}
}

/* The name of an element: its own, or that of the list that it is an item of. */
static const char *element(const struct con_tree *t, const char *name)
{
	const char *list = t->depth ? t->open[t->depth - 1].name : NULL;

	return name ? name : list ? list : "item";
}

static void xml_line(const struct con_tree *t, int depth)
{
	if (t->pretty)
		fprintf(t->fp, "\n%*s", depth * 2, "");
}

/* Elements around this one, without lists and the root. */
static int xml_depth(const struct con_tree *t)
{
	int n = 0;

	for (unsigned i = 0; i < t->depth; i++)
		n += t->open[i].name && !t->open[i].is_list;
	return n;
}

static void xml_open(struct con_tree *t, const char *name, bool is_list)
{
	if (t->depth == OT_JSON_DEPTH)
		return; /* the JSON writer, which counts along, reports it */
	if (!t->depth) {
		fputs("<?xml version=\"1.0\"?>", t->fp);
	} else if (!is_list) {
		xml_line(t, xml_depth(t));
		fprintf(t->fp, "<%s>", element(t, name));
	}
	t->open[t->depth].name = t->depth ? element(t, name) : NULL;
	t->open[t->depth++].is_list = is_list;
}

static void xml_end(struct con_tree *t)
{
	if (!t->depth)
		return;
	t->depth--;
	if (t->open[t->depth].is_list || !t->open[t->depth].name)
		return;
	xml_line(t, xml_depth(t));
	fprintf(t->fp, "</%s>", t->open[t->depth].name);
}

static void xml_value(struct con_tree *t, const char *name, const void *text, size_t len)
{
	name = element(t, name);
	xml_line(t, xml_depth(t));
	if (!len) {
		fprintf(t->fp, "<%s/>", name);
		return;
	}
	fprintf(t->fp, "<%s>", name);
	put_xml_text(t->fp, text, len);
	fprintf(t->fp, "</%s>", name);
}

/* --- both ---------------------------------------------------------------------------------------------- */

static void key(struct con_tree *t, const char *name)
{
	if (name)
		ot_json_key(&t->json, name);
}

void con_tree_object(struct con_tree *t, const char *name)
{
	if (t->xml) {
		xml_open(t, name, false);
		return;
	}
	key(t, name);
	ot_json_object(&t->json, t->pretty ? OT_JSON_NESTED : OT_JSON_INLINE);
}

void con_tree_list(struct con_tree *t, const char *name)
{
	if (t->xml) {
		xml_open(t, name, true);
		return;
	}
	key(t, name);
	ot_json_array(&t->json, t->pretty ? OT_JSON_NESTED : OT_JSON_INLINE);
}

void con_tree_end(struct con_tree *t)
{
	if (t->xml)
		xml_end(t);
	else
		ot_json_end(&t->json);
}

void con_tree_text(struct con_tree *t, const char *name, const void *text, size_t len)
{
	if (t->xml) {
		xml_value(t, name, text, len);
		return;
	}
	key(t, name);
	ot_json_text(&t->json, text, len);
}

void con_tree_string(struct con_tree *t, const char *name, const char *text)
{
	con_tree_text(t, name, text, strlen(text));
}

void con_tree_int(struct con_tree *t, const char *name, int64_t n)
{
	char text[24];

	if (t->xml) {
		snprintf(text, sizeof(text), "%" PRId64, n);
		con_tree_string(t, name, text);
		return;
	}
	key(t, name);
	ot_json_int(&t->json, n);
}

void con_tree_bool(struct con_tree *t, const char *name, bool value)
{
	if (t->xml) {
		con_tree_string(t, name, value ? "true" : "false");
		return;
	}
	key(t, name);
	ot_json_bool(&t->json, value);
}

struct ot_err *con_tree_finish(struct con_tree *t)
{
	if (!t->xml)
		return ot_json_finish(&t->json);
	putc('\n', t->fp);
	return t->depth ? ot_err_new(OT_ERR_INTERNAL, "XML writer: %u elements are open", t->depth) : NULL;
}
