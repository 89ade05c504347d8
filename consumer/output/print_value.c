/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in the form of trace() and aggregation keys: integers, strings, hex dumps. */
#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "consumer/output/print.h"

uint64_t con_load(const void *data, uint32_t size)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case 1:
		return *(const uint8_t *)data;
	case 2:
		memcpy(&u16, data, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, data, sizeof(u32));
		return u32;
	case 8:
		memcpy(&u64, data, sizeof(u64));
		return u64;
	}
	return 0;
}

int64_t con_load_signed(const void *data, uint32_t size)
{
	unsigned shift = size && size < 8 ? 64 - size * 8 : 0;

	return (int64_t)(con_load(data, size) << shift) >> shift;
}

int64_t con_load_integer(const void *data, uint32_t size)
{
	return size >= 4 ? con_load_signed(data, size) : (int64_t)con_load(data, size);
}

/* A hex dump with its header; it begins and ends with a newline. Nothing for no bytes. */
static void print_hexdump(struct con_printer *p, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	FILE *fp = p->fp;

	if (!size)
		return;
	fprintf(fp, "\n%11s", "");
	for (unsigned i = 0; i < 16; i++)
		fprintf(fp, "  %x", i);
	fputs("  0123456789abcdef\n", fp);
	for (size_t row = 0; row < size; row += 16) {
		size_t n = size - row < 16 ? size - row : 16;
		fprintf(fp, "     %5zx:", row);
		for (size_t i = 0; i < n; i++)
			fprintf(fp, " %02x", bytes[row + i]);
		fprintf(fp, "%*s", (int)(16 - n) * 3 + 2, "");
		for (size_t i = 0; i < n; i++) {
			uint8_t c = bytes[row + i];
			putc(c < ' ' || c > '~' ? '.' : c, fp);
		}
		putc('\n', fp);
	}
}

/* Bytes of the character of text at @s: of ASCII, or of UTF-8 but its controls; 0: it is none. */
static size_t text_at(const uint8_t *s, size_t n)
{
	if (*s < 0x80)
		return isprint(*s) || isspace(*s) || *s == '\b' || *s == '\a';
	int length = ot_utf8_length(s, n);
	return length > 0 && ot_utf8_char(s, length) >= 0xa0 ? (size_t)length : 0;
}

struct text {
	size_t len; /* bytes, without the NULs that fill it up */
	int more;   /* bytes more than characters */
};

/* Text of at least one character, filled up with NULs if it is shorter. */
static bool looks_like_text(const uint8_t *bytes, size_t size, struct text *ret)
{
	size_t len = 0, n;

	*ret = (struct text){ 0 };
	for (; len < size && (n = text_at(bytes + len, size - len)); len += n)
		ret->more += (int)n - 1;
	ret->len = len;
	if (!len)
		return false;
	for (size_t i = len; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

size_t con_text_length(const void *data, size_t size)
{
	struct text text;

	return size && looks_like_text(data, size, &text) ? text.len : 0;
}

static void print_bytes(struct con_printer *p, const uint8_t *bytes, size_t size, enum con_width width)
{
	static const int columns[] = {
		[CON_WIDTH_TRACE] = 33, [CON_WIDTH_KEY] = 50, [CON_WIDTH_PACKED] = 16
	};
	struct text text;

	if (!size)
		return;
	if (p->opts->rawbytes || size > INT32_MAX || !looks_like_text(bytes, size, &text)) {
		print_hexdump(p, bytes, size);
		return;
	}
	int len = (int)text.len, room = columns[width] + text.more;
	if (text.len < size && width == CON_WIDTH_TRACE && p->opts->quiet)
		fwrite(bytes, 1, text.len, p->fp);
	else if (text.len < size && width == CON_WIDTH_PACKED)
		fprintf(p->fp, " %*.*s", room, len, (const char *)bytes);
	else /* where no NUL ends it: in full width, quiet or not */
		fprintf(p->fp, "  %-*.*s", room, len, (const char *)bytes);
}

/* Columns of an integer of @size bytes; 0: it is not one. */
static int integer_columns(uint32_t size)
{
	switch (size) {
	case 1:
		return 3;
	case 2:
		return 5;
	case 4:
		return 8;
	case 8:
		return 16;
	}
	return 0;
}

void con_print_value(struct con_printer *p, const void *data, uint32_t size, enum con_width width)
{
	int columns = integer_columns(size);

	if (!columns)
		print_bytes(p, data, size, width);
	else if (width == CON_WIDTH_TRACE && p->opts->quiet)
		fprintf(p->fp, "%lld", (long long)con_load_integer(data, size));
	else
		fprintf(p->fp, " %*lld", columns, (long long)con_load_integer(data, size));
}

/* printm(): a count, then that many bytes. */
static void print_memory(struct con_printer *p, const struct con_datum *d)
{
	uint64_t n;

	if (d->size < 8)
		return;
	n = con_load(d->data, 8);
	print_hexdump(p, d->data + 8, n < d->size - 8 ? n : d->size - 8);
}

enum con_shape con_datum_shape(const struct con_datum *d)
{
	switch (d->action->kind) {
	case DIF_ACT_stack:
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
		return CON_SHAPE_STACK;
	case DIF_ACT_sym:
	case DIF_ACT_mod:
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		return CON_SHAPE_SYMBOL;
	case DIF_ACT_tracemem:
		return CON_SHAPE_DUMP;
	case DIF_ACT_printm:
		return CON_SHAPE_MEMORY;
	case DIF_ACT_print:
		if (d->action->format)
			return CON_SHAPE_TYPED;
		break;
	default:
		break;
	}
	if (d->action->object && d->action->object->ret.kind == DIF_TYPE_STRING)
		return CON_SHAPE_STRING;
	return integer_columns(d->size) ? CON_SHAPE_INTEGER : CON_SHAPE_BYTES;
}

bool con_is_named(unsigned kind)
{
	const struct dif_action a = { .kind = (enum dif_action_kind)kind };
	enum con_shape shape = con_datum_shape(&(struct con_datum){ .action = &a });

	return shape == CON_SHAPE_STACK || shape == CON_SHAPE_SYMBOL;
}

/* As bytes it would be that many zeros. */
static void print_empty_string(struct con_printer *p, enum con_width width)
{
	if (width == CON_WIDTH_PACKED)
		fprintf(p->fp, " %16s", "");
	else if (width == CON_WIDTH_KEY)
		fprintf(p->fp, "  %-50s", "");
	else if (!p->opts->quiet)
		fprintf(p->fp, "  %-33s", "");
}

/* Values other than strings are printed by their size, as in dtrace: a struct of 8 bytes is a number. */
static void print_plain(struct con_printer *p, const struct con_datum *d, enum con_width width)
{
	if (con_datum_shape(d) != CON_SHAPE_STRING)
		con_print_value(p, d->data, d->size, width);
	else if (d->size && !d->data[0] && !p->opts->rawbytes)
		print_empty_string(p, width);
	else
		print_bytes(p, d->data, d->size, width);
}

void con_print_datum(struct con_printer *p, const struct con_datum *d, enum con_width width)
{
	char text[CON_SYMBOL_MAX];

	switch (con_datum_shape(d)) {
	case CON_SHAPE_STACK:
		con_print_stack(p, d, con_stack_style(p));
		return;
	case CON_SHAPE_SYMBOL:
		con_symbol_text(p, d, text, sizeof(text));
		fprintf(p->fp, "  %-50s", text);
		return;
	case CON_SHAPE_DUMP:
		print_hexdump(p, d->data, d->size);
		return;
	case CON_SHAPE_MEMORY:
		print_memory(p, d);
		return;
	case CON_SHAPE_TYPED:
		if (!con_print_type(p, d->action->format, d->data, d->size))
			print_plain(p, d, width);
		return;
	default:
		print_plain(p, d, width);
	}
}
