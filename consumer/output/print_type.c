/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print(): data shown by a type's layout, as the compiler wrote it into the action:
 *
 *   text   = name "\n" layout
 *   layout = "i" size ( "s" | "u" ) [ "b" | "c" ]     integer; _Bool; character data
 *          | "f" size                                 floating point
 *          | "p" | "q"                                pointer; to a function, shown by its name
 *          | "t" size                                 D's string: an array of characters
 *          | "e" size ( "s" | "u" ) "{" { name "=" value "," } "}"
 *          | "a" count ":" name ":" layout            array and its element
 *          | ( "S" | "U" ) size "{" { member ";" } "}"
 *          | "v"                                      void, never defined, or nested too deep
 *   member = bit_offset [ "." bits ] ":" name ":" type_name ":" layout
 *
 * One walk over the text prints; parts that are not printed are skipped by the same walk with printing off.
 * Text and data may both be hostile: every number is bounded by the bytes there are.
 */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "consumer/output/print.h"

/* Layouts nest no deeper than the compiler writes them, and a little. */
#define NESTED_MAX 40

struct walk {
	struct con_printer *p;
	const char *s; /* rest of the text */
	unsigned nested;
	bool bad;
};

/* The place of a value: bytes, and for a bit-field its bits. */
struct place {
	const uint8_t *data;
	size_t size; /* available bytes from data on */
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

static uint64_t number(struct walk *w)
{
	uint64_t n = 0;

	if (!isdigit((unsigned char)*w->s))
		w->bad = true;
	for (; isdigit((unsigned char)*w->s); w->s++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*w->s - '0'), &n))
			w->bad = true;
	return w->bad ? 0 : n;
}

static struct name take(struct walk *w, char end)
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

/* A kernel's names are untrusted: they are printed on one line. */
static void print_name(struct walk *w, struct name name)
{
	for (int i = 0; i < name.len; i++)
		putc((unsigned char)name.s[i] < ' ' || name.s[i] == 0x7f ? '?' : name.s[i], w->p->fp);
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

/* A function, by its address's name in the kernel. */
static void print_function(struct walk *w, struct place at)
{
	uint64_t addr = at.size < 8 ? 0 : con_load(at.data, 8);
	char text[CON_SYMBOL_MAX] = "";

	if (addr)
		con_kernel_text(w->p, addr, VP_SYM_NAME, text, sizeof(text));
	if (strchr(text, '`'))
		fputs(text, w->p->fp);
	else
		print_hex(w, addr);
}

/* Printable up to a NUL; D's strings need none where they are full. */
static bool is_string(const uint8_t *data, uint64_t n, bool full)
{
	uint64_t i = 0;

	while (i < n && isprint(data[i]))
		i++;
	return i < n ? !data[i] : full && n;
}

/* Characters: as a string, or in brackets if they are a member. */
static void print_chars(struct walk *w, const uint8_t *data, uint64_t n, bool member, bool full)
{
	if (is_string(data, n, full)) {
		fprintf(w->p->fp, member ? "[ \"%.*s\" ]" : "\"%.*s\"", (int)(n > INT_MAX ? INT_MAX : n),
			(const char *)data);
		return;
	}
	fputs("[ ", w->p->fp);
	for (uint64_t i = 0; i < n; i++) {
		print_char(w, data[i]);
		fputs(i + 1 < n ? ", " : " ", w->p->fp);
	}
	putc(']', w->p->fp);
}

static void print_string(struct walk *w, struct place at, uint64_t size, bool member)
{
	if (size > at.size)
		size = at.size;
	print_chars(w, at.data, size, member, true);
}

/* "s" or "u" */
static bool is_signed(struct walk *w)
{
	if (*w->s == 's') {
		w->s++;
		return true;
	}
	eat(w, 'u');
	return false;
}

static int64_t enum_value(struct place at, uint64_t size, bool negatives)
{
	unsigned shift = at.bits && at.bits < 64 ? 64 - at.bits : 0;

	if (!at.bits)
		return negatives || size == 4 ? con_load_signed(at.data, (uint32_t)size)
					      : (int64_t)con_load(at.data, (uint32_t)size);
	return negatives ? (int64_t)(bits_at(at) << shift) >> shift : (int64_t)bits_at(at);
}

/* The tag of an enum's value, else the value; with @show false only skips the tags. */
static void walk_enum(struct walk *w, struct place at, uint64_t size, bool show)
{
	bool found = false, negatives = is_signed(w);
	int64_t value = show ? enum_value(at, size, negatives) : 0;

	eat(w, '{');
	while (!w->bad && *w->s && *w->s != '}') {
		struct name tag = take(w, '=');
		bool negative = *w->s == '-';
		if (negative)
			w->s++;
		uint64_t n = number(w);
		eat(w, ',');
		if (!show || found || w->bad || (int64_t)(negative ? -n : n) != value)
			continue;
		print_name(w, tag);
		found = true;
	}
	eat(w, '}');
	if (show && !found)
		fprintf(w->p->fp, "%lld", (long long)value);
}

static void walk_integer(struct walk *w, struct place at, uint64_t size, bool show)
{
	bool text = false;

	is_signed(w);
	if (*w->s == 'b' || *w->s == 'c')
		text = *w->s++ == 'c';
	if (!show)
		return;
	if (text && size == 1 && (!at.bits || at.bits == 8))
		print_char(w, at.bits ? (uint8_t)bits_at(at) : *at.data);
	else if (at.bits)
		print_hex(w, bits_at(at));
	else
		print_hex(w, con_load(at.data, (uint32_t)size));
}

/* --- the walk ------------------------------------------------------------------------------- */

/* Returns the type's size. */
static uint64_t walk_layout(struct walk *w, struct place at, int depth, bool show, bool member);

/* @bits is written after the name, unless 0. */
static void print_label(struct walk *w, struct name type, struct name label, unsigned bits)
{
	char last = type.len ? type.s[type.len - 1] : ' ';
	FILE *fp = w->p->fp;

	print_name(w, type);
	if (label.len) {
		fputs(last == '*' || last == ' ' ? "" : " ", fp);
		print_name(w, label);
		if (bits)
			fprintf(fp, " :%u", bits);
	}
	fputs(label.len ? " = " : " ", fp);
}

/* A bit-field whose bits are just those of an integer shows as one. */
static unsigned shown_bits(struct place at)
{
	bool whole = !at.bit && (at.bits == 8 || at.bits == 16 || at.bits == 32 || at.bits == 64);

	return whole ? 0 : at.bits;
}

/* member ";" of a struct that begins at @at; on a line of its own */
static void walk_member(struct walk *w, struct place at, int depth, bool show)
{
	uint64_t offset = number(w), bits = 0;

	if (*w->s == '.') {
		w->s++;
		bits = number(w);
	}
	eat(w, ':');
	struct name label = take(w, ':'), type = take(w, ':');
	bool here = show && !w->bad && offset / 8 < at.size && bits <= 64;
	struct place inner = { at.data, at.size, bits ? offset % 8 : 0, (unsigned)bits };
	if (here) {
		inner.data += offset / 8;
		inner.size -= offset / 8;
		indent(w, depth);
		print_label(w, type, label, shown_bits(inner));
	}
	walk_layout(w, inner, depth, here, true);
	eat(w, ';');
	if (here)
		putc('\n', w->p->fp);
}

static void walk_members(struct walk *w, struct place at, uint64_t size, int depth, bool show)
{
	if (size < at.size)
		at.size = size;
	eat(w, '{');
	if (show)
		fputs("{\n", w->p->fp);
	while (!w->bad && *w->s && *w->s != '}')
		walk_member(w, at, depth + 1, show);
	eat(w, '}');
	if (show) {
		indent(w, depth);
		putc('}', w->p->fp);
	}
}

/* Elements of @size bytes, whose layout begins at @layout. Structs have a line and their name each. */
static void print_elements(struct walk *w, struct place at, const char *layout, struct name type,
			   uint64_t count, uint64_t size, int depth)
{
	bool lines = *layout == 'S' || *layout == 'U';
	FILE *fp = w->p->fp;

	fputs("[ ", fp);
	for (uint64_t i = 0; i < count && !w->bad; i++) {
		struct place inner = { at.data + i * size, size, 0, 0 };
		w->s = layout;
		if (lines) {
			putc('\n', fp);
			indent(w, depth + 1);
			print_name(w, type);
			putc(' ', fp);
		}
		walk_layout(w, inner, depth + lines, true, false);
		if (i + 1 < count)
			fputs(", ", fp);
	}
	if (lines) {
		putc('\n', fp);
		indent(w, depth);
	} else {
		putc(' ', fp);
	}
	putc(']', fp);
}

static uint64_t walk_array(struct walk *w, struct place at, int depth, bool show, bool member)
{
	uint64_t count = number(w), size, bytes = 0;

	eat(w, ':');
	struct name type = take(w, ':');
	const char *layout = w->s;
	size = walk_layout(w, at, depth, false, true);
	const char *after = w->s;
	if (w->bad || __builtin_mul_overflow(count, size, &bytes)) {
		w->bad = true;
		return 0;
	}
	if (!show)
		return bytes;
	if (bytes > at.size || !size)
		fputs("<incomplete>", w->p->fp);
	else if (!strncmp(layout, "i1", 2) && layout[2] && layout[3] == 'c')
		print_chars(w, at.data, count, member, false);
	else
		print_elements(w, at, layout, type, count, size, depth);
	w->s = after;
	return bytes;
}

/* Those that begin with their size. */
static uint64_t walk_sized(struct walk *w, char kind, struct place at, int depth, bool show)
{
	uint64_t size = number(w);

	/* a bit-field's type may reach behind its struct: its bits do not */
	if (show && (at.bits ? (at.bit + at.bits + 7) / 8 : size) > at.size) {
		fputs("<incomplete>", w->p->fp);
		show = false;
	}
	switch (kind) {
	case 'i':
		walk_integer(w, at, size, show);
		break;
	case 'f':
		if (show)
			print_float(w, at, size);
		break;
	case 'e':
		walk_enum(w, at, size, show);
		break;
	default:
		walk_members(w, at, size, depth, show);
	}
	return size;
}

static uint64_t walk_kind(struct walk *w, char kind, struct place at, int depth, bool show, bool member)
{
	uint64_t size;

	switch (kind) {
	case 'i':
	case 'f':
	case 'e':
	case 'S':
	case 'U':
		return walk_sized(w, kind, at, depth, show);
	case 'a':
		return walk_array(w, at, depth, show, member);
	case 'p':
		if (show)
			print_hex(w, at.size < 8 ? 0 : con_load(at.data, 8));
		return 8;
	case 'q':
		if (show)
			print_function(w, at);
		return 8;
	case 't':
		size = number(w);
		if (show)
			print_string(w, at, size, member);
		return size;
	case 'v':
		if (show)
			fputs("<forward decl>", w->p->fp);
		return 0;
	default:
		w->bad = true;
		return 0;
	}
}

static uint64_t walk_layout(struct walk *w, struct place at, int depth, bool show, bool member)
{
	char kind = *w->s;
	uint64_t size;

	if (w->bad || !kind || w->nested == NESTED_MAX) {
		w->bad = true;
		return 0;
	}
	w->s++;
	w->nested++;
	size = walk_kind(w, kind, at, depth, show, member);
	w->nested--;
	return size;
}

bool con_print_type(struct con_printer *p, const char *layout, const void *data, size_t size)
{
	struct walk w = { .p = p, .s = layout };
	struct place at = { data, size, 0, 0 };
	struct name type = take(&w, '\n');
	const char *start = w.s;

	/* once without printing, so that an invalid text is detected before a part of it is printed */
	walk_layout(&w, at, 0, false, false);
	if (w.bad || *w.s)
		return false;
	w.s = start;
	print_label(&w, type, (struct name){ "", 0 }, 0);
	walk_layout(&w, at, 0, true, false);
	/* a line each, but for the closing brace, as in dtrace */
	if (*start != 'S' && *start != 'U')
		putc('\n', p->fp);
	return true;
}
