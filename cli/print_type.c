/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print(): data shown by a type's layout (dif/obj/typetext.h). One walk over the text prints;
 * what is not printed (the rest of a union's text, elements of a string) is skipped by the
 * same walk with printing off. Text and data may both be hostile: every number is bounded by
 * the bytes there are.
 */
#include <ctype.h>
#include <string.h>

#include "cli/print.h"
#include "dif/obj/typetext.h"

struct walk {
	struct cli_printer *p;
	const char *s; /* rest of the text */
	unsigned nested;
	bool bad;
};

/* Where a value is: bytes, and for a bit-field which bits. */
struct place {
	const uint8_t *data;
	size_t size; /* bytes there are from data on */
	unsigned bit, bits;
};

struct name {
	const char *s;
	int len;
};

static bool eat(struct walk *w, char c)
{
	if (*w->s != c) {
		w->bad = true;
		return false;
	}
	w->s++;
	return true;
}

static uint64_t number(struct walk *w, char end)
{
	uint64_t n = 0;

	if (!isdigit((unsigned char)*w->s))
		w->bad = true;
	for (; isdigit((unsigned char)*w->s); w->s++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*w->s - '0'), &n))
			w->bad = true;
	eat(w, end);
	return w->bad ? 0 : n;
}

static struct name word(struct walk *w, char end)
{
	const char *stop = strchr(w->s, end);
	struct name name = { w->s, 0 };

	if (!stop || stop - w->s > 4096) {
		w->bad = true;
		return name;
	}
	name.len = (int)(stop - w->s);
	w->s = stop + 1;
	return name;
}

static struct name type_name(struct walk *w)
{
	if (!eat(w, '"'))
		return (struct name){ "", 0 };
	return word(w, '"');
}

static void indent(struct walk *w, int depth)
{
	fprintf(w->p->fp, "%*s", depth * 4, "");
}

/* --- scalars ---------------------------------------------------------------------------- */

static void print_hex(struct walk *w, uint64_t n)
{
	fprintf(w->p->fp, "%#llx", (unsigned long long)n);
}

static uint64_t bits_at(struct place at)
{
	unsigned __int128 value = 0;
	unsigned bytes = (at.bit + at.bits + 7) / 8;

	if (at.bits > 64 || bytes > at.size || bytes > sizeof(value))
		return 0;
	memcpy(&value, at.data, bytes);
	value >>= at.bit;
	return at.bits == 64 ? (uint64_t)value : (uint64_t)value & ((1ull << at.bits) - 1);
}

static void print_char(struct walk *w, uint8_t c)
{
	if (isprint(c))
		fprintf(w->p->fp, "'%c'", c);
	else if (!c)
		fputs("'\\0'", w->p->fp);
	else
		fprintf(w->p->fp, "'\\%03o'", c);
}

static void print_float(struct walk *w, struct place at, size_t size)
{
	long double ld;
	double d;
	float f;

	if (size == sizeof(ld)) {
		memcpy(&ld, at.data, sizeof(ld));
		fprintf(w->p->fp, "%+.16LE", ld);
	} else if (size == sizeof(d)) {
		memcpy(&d, at.data, sizeof(d));
		fprintf(w->p->fp, "%+.7e", d);
	} else if (size == sizeof(f)) {
		memcpy(&f, at.data, sizeof(f));
		fprintf(w->p->fp, "%+.7e", (double)f);
	}
}

static void print_function(struct walk *w, uint64_t addr)
{
	char text[CLI_SYMBOL_MAX];

	cli_kernel_text(w->p, addr, VP_SYM_NAME, text, sizeof(text));
	fputs(strchr(text, '`') ? text : "", w->p->fp);
	if (!strchr(text, '`'))
		print_hex(w, addr);
}

static void print_string(struct walk *w, struct place at, uint64_t size)
{
	size_t max = size && size < at.size ? size : at.size;

	fprintf(w->p->fp, "\"%.*s\"", (int)strnlen((const char *)at.data, max), (const char *)at.data);
}

/* The tag of an enum's value, else the value; with @show false only moves behind the tags. */
static void walk_enum(struct walk *w, struct place at, uint64_t size, bool show)
{
	int64_t value = show && size <= at.size ? cli_load_signed(at.data, (uint32_t)size) : 0;
	bool found = false;

	while (!w->bad && *w->s && *w->s != '}') {
		struct name tag = word(w, '=');
		bool negative = *w->s == '-';
		if (negative)
			w->s++;
		uint64_t n = number(w, ';');
		if (!show || found || w->bad || (int64_t)(negative ? -n : n) != value)
			continue;
		fprintf(w->p->fp, "%.*s", tag.len, tag.s);
		found = true;
	}
	eat(w, '}');
	if (show && !found)
		fprintf(w->p->fp, "%lld", (long long)value);
}

/* --- the walk ------------------------------------------------------------------------------- */

static void walk_type(struct walk *w, struct place at, int depth, bool show, bool member);

static void walk_scalar(struct walk *w, char kind, struct place at, bool show)
{
	uint64_t size = number(w, ';');

	if (!show || w->bad)
		return;
	if (size > at.size) {
		w->bad = true;
		return;
	}
	if (kind == 's')
		print_string(w, at, size);
	else if (kind == 'f')
		print_float(w, at, size);
	else if (at.bits)
		print_hex(w, bits_at(at));
	else if (kind == 'c')
		print_char(w, *at.data);
	else if (kind == 'P')
		print_function(w, cli_load(at.data, (uint32_t)size));
	else
		print_hex(w, cli_load(at.data, (uint32_t)size));
}

/* A value with its type and name in front, on lines of its own: top level, members, structs in arrays. */
static void walk_typed(struct walk *w, const char *label, int label_len, struct place at, int depth,
		       bool show, bool member)
{
	struct name type = type_name(w);

	if (show && !w->bad) {
		FILE *fp = w->p->fp;
		indent(w, depth);
		fprintf(fp, "%.*s", type.len, type.s);
		if (label_len) {
			char last = type.len ? type.s[type.len - 1] : ' ';
			fprintf(fp, "%s%.*s", last == '*' || last == ' ' ? "" : " ", label_len, label);
			if (at.bits)
				fprintf(fp, " :%u", at.bits);
		}
		/* an anonymous struct's members are its parent's: no name, no equals sign */
		fputs(label_len ? " = " : " ", fp);
	}
	walk_type(w, at, depth, show, member);
	if (show)
		putc('\n', w->p->fp);
}

static void walk_members(struct walk *w, struct place at, int depth, bool show)
{
	uint64_t size = number(w, ';');

	if (size < at.size)
		at.size = size;
	if (show)
		fputs("{\n", w->p->fp);
	while (!w->bad && *w->s && *w->s != '}') {
		uint64_t bit = number(w, ':'), bits = number(w, ':');
		struct name name = word(w, ';');
		bool here = show && !w->bad && bit / 8 < at.size && bits <= 64;
		struct place inner = { at.data, at.size, bits ? bit % 8 : 0, (unsigned)bits };
		if (here) {
			inner.data += bit / 8;
			inner.size -= bit / 8;
		}
		walk_typed(w, name.s, name.len, inner, depth + 1, here, true);
	}
	eat(w, '}');
	if (show) {
		indent(w, depth);
		putc('}', w->p->fp);
	}
}

/* Printable up to a NUL. */
static bool is_string(const uint8_t *data, uint64_t n)
{
	uint64_t i = 0;

	while (i < n && isprint(data[i]))
		i++;
	return i < n && !data[i];
}

/* Its elements: the text of their type is walked once for each. */
static void walk_elements(struct walk *w, struct place at, uint64_t count, uint64_t size, int depth,
			  bool show)
{
	const char *element = w->s, *after;
	struct name type = type_name(w);
	bool lines = *w->s == 'S' || *w->s == 'U';

	walk_type(w, at, depth, false, true);
	after = w->s;
	if (!show || w->bad)
		return;
	fputs("[ ", w->p->fp);
	for (uint64_t i = 0; i < count && !w->bad; i++) {
		struct place inner = { at.data + i * size, size, 0, 0 };
		w->s = element;
		type_name(w);
		if (lines) {
			putc('\n', w->p->fp);
			indent(w, depth + 1);
			fprintf(w->p->fp, "%.*s ", type.len, type.s);
			walk_type(w, inner, depth + 1, true, true);
		} else {
			walk_type(w, inner, depth, true, true);
		}
		if (i + 1 < count)
			fputs(", ", w->p->fp);
	}
	if (lines) {
		putc('\n', w->p->fp);
		indent(w, depth);
	} else {
		putc(' ', w->p->fp);
	}
	putc(']', w->p->fp);
	w->s = after;
}

static void walk_array(struct walk *w, struct place at, int depth, bool show, bool member)
{
	uint64_t count = number(w, ';'), size = number(w, ';'), bytes;
	const char *element = w->s;

	if (show && (__builtin_mul_overflow(count, size, &bytes) || bytes > at.size || !size))
		w->bad = true;
	if (w->bad)
		return;
	type_name(w);
	bool text = *w->s == 'c' && size == 1;
	w->s = element;
	if (!show || !text || !is_string(at.data, count)) {
		walk_elements(w, at, count, size, depth, show);
		return;
	}
	fprintf(w->p->fp, member ? "[ \"%s\" ]" : "\"%s\"", (const char *)at.data);
	walk_elements(w, at, count, size, depth, false);
}

static void walk_kind(struct walk *w, char kind, struct place at, int depth, bool show, bool member)
{
	switch (kind) {
	case 'i':
	case 'c':
	case 'f':
	case 'p':
	case 'P':
	case 's':
		walk_scalar(w, kind, at, show);
		return;
	case 'e':
		walk_enum(w, at, number(w, ';'), show);
		return;
	case 'a':
		walk_array(w, at, depth, show, member);
		return;
	case 'S':
	case 'U':
		walk_members(w, at, depth, show);
		return;
	case 'v':
		eat(w, ';');
		if (show)
			fputs("<forward decl>", w->p->fp);
		return;
	default:
		w->bad = true;
	}
}

static void walk_type(struct walk *w, struct place at, int depth, bool show, bool member)
{
	char kind = *w->s;

	if (w->bad || !kind || w->nested == DIF_TYPETEXT_DEPTH) {
		w->bad = true;
		return;
	}
	w->s++;
	w->nested++;
	walk_kind(w, kind, at, depth, show, member);
	w->nested--;
}

bool cli_print_type(struct cli_printer *p, const char *layout, const void *data, size_t size)
{
	struct walk w = { .p = p, .s = layout };
	struct place at = { data, size, 0, 0 };

	/* once without printing: a text that is none is found before half of it was shown */
	walk_typed(&w, "", 0, at, 0, false, false);
	if (w.bad || *w.s)
		return false;
	w.s = layout;
	walk_typed(&w, "", 0, at, 0, true, false);
	return true;
}
