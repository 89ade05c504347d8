/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name of a Java method in DTrace's form (java/lang/String.length()I), and the line of one of its
 * bytecodes, from HotSpot's structures. A method's table of lines is compressed; an entry is
 *
 *   a byte          five bits by which the bytecode's index grows, three by which the line does; 0: the end
 *   0xff, two       numbers with a sign: the same
 */
#include "vmm-probe/session/user_hotspot.h"

#define SYMBOL_MAX    300u /* bytes of a name that are shown */
#define FILE_NAME_MAX 64u
#define LINES_MAX     (128u << 10) /* bytes of a table of lines that are read */
#define NUMBER_BYTES  5u           /* of a number, at most: */
#define NUMBER_LAST   192u         /* one below this is the last */
#define NUMBER_BITS   6u
#define LINE_ESCAPE   0xffu

/* The contents of a method's ConstMethod. */
struct method {
	uint64_t at, pool;
	uint16_t code_size, name, signature, flags;
};

static bool read_method(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t method,
			struct method *ret)
{
	return vp_user_read_u64(m, method + l->method_const, &ret->at) && ret->at &&
	       vp_user_read_u64(m, ret->at + l->const_pool, &ret->pool) && ret->pool &&
	       vp_user_read_u16(m, ret->at + l->const_code_size, &ret->code_size) &&
	       vp_user_read_u16(m, ret->at + l->const_name, &ret->name) &&
	       vp_user_read_u16(m, ret->at + l->const_signature, &ret->signature) &&
	       vp_user_read_u16(m, ret->at + l->const_flags, &ret->flags);
}

/* --- names --------------------------------------------------------------------------------------------- */

/* Names come from the program, and must not end a line. */
static void put_bytes(struct ot_buf *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ot_buf_putc(out, bytes[i] < 0x20 || bytes[i] == 0x7f ? '?' : (char)bytes[i]);
}

static bool put_symbol(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t symbol,
		       size_t max, struct ot_buf *out)
{
	uint8_t bytes[SYMBOL_MAX];
	uint16_t length;
	size_t n;

	if (!symbol || !vp_user_read_u16(m, symbol + l->symbol_length, &length))
		return false;
	n = length < max ? length : max;
	if (n && !vp_user_read(m, symbol + l->symbol_body, bytes, n))
		return false;
	put_bytes(out, bytes, n);
	if (n < length)
		ot_buf_putc(out, '?');
	return true;
}

/* An entry of the pool; its lowest bit is a mark. */
static bool put_entry(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t pool,
		      uint16_t index, size_t max, struct ot_buf *out)
{
	uint64_t symbol;

	return vp_user_read_u64(m, pool + l->pool_size + 8ull * index, &symbol) &&
	       put_symbol(m, l, symbol & ~1ull, max, out);
}

static bool put_class(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t pool,
		      struct ot_buf *out)
{
	uint64_t class, name;

	return vp_user_read_u64(m, pool + l->pool_holder, &class) && class &&
	       vp_user_read_u64(m, class + l->class_name, &name) && put_symbol(m, l, name, SYMBOL_MAX, out);
}

/* --- lines --------------------------------------------------------------------------------------------- */

bool vp_hotspot_number(const struct vp_user_reader *m, uint64_t *at, uint32_t *ret)
{
	uint32_t value = 0;
	uint8_t byte = NUMBER_LAST;

	for (unsigned i = 0; i < NUMBER_BYTES && byte >= NUMBER_LAST; i++) {
		if (!vp_user_read(m, *at, &byte, 1))
			return false;
		++*at;
		value += (uint32_t)byte << NUMBER_BITS * i;
	}
	*ret = value;
	return true;
}

static bool take_signed(const struct vp_user_reader *m, uint64_t *at, int64_t *sum)
{
	uint32_t value;

	if (!vp_hotspot_number(m, at, &value))
		return false;
	*sum += value & 1 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
	return true;
}

/* The entry for that very bytecode, or the last one of those with the largest index before it. */
static bool find_line(const struct vp_user_reader *m, uint64_t at, int64_t index, int64_t *ret)
{
	const uint64_t end = at + LINES_MAX;
	int64_t i = 0, line = 0, best = 0;
	bool found = false;
	uint8_t byte;

	*ret = 0;
	while (at < end && vp_user_read(m, at, &byte, 1) && byte) {
		at++;
		if (byte != LINE_ESCAPE) {
			i += byte >> 3;
			line += byte & 7;
		} else if (!take_signed(m, &at, &i) || !take_signed(m, &at, &line)) {
			break;
		}
		if (i <= index && i >= best) {
			best = i;
			*ret = line;
			found = true;
		}
		if (i == index)
			break;
	}
	return found && *ret > 0 && *ret <= UINT16_MAX;
}

/* Empty if the class does not record it. */
static bool put_place(const struct vp_user_reader *m, const struct vp_hotspot_layout *l,
		      const struct method *method, int64_t index, struct ot_buf *out)
{
	uint16_t file;
	int64_t line;

	if (!vp_user_read_u16(m, method->pool + l->pool_file, &file))
		return false;
	if (!file)
		return true;
	ot_buf_puts(out, " (");
	if (!put_entry(m, l, method->pool, file, FILE_NAME_MAX, out))
		return false;
	if (index >= 0 && method->flags & l->has_lines &&
	    find_line(m, method->at + l->const_size + method->code_size, index, &line))
		ot_buf_printf(out, ":%u", (unsigned)line);
	ot_buf_putc(out, ')');
	return true;
}

/* --- a method ------------------------------------------------------------------------------------------ */

bool vp_hotspot_bytecode(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t method,
			 uint64_t bytecode, int64_t *ret)
{
	struct method r;

	if (!read_method(m, l, method, &r) ||
	    (r.code_size && bytecode - (r.at + l->const_size) >= r.code_size))
		return false;
	*ret = r.code_size ? (int64_t)(bytecode - (r.at + l->const_size)) : -1;
	return true;
}

bool vp_hotspot_method(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t method,
		       int64_t index, const char *mark, struct ot_buf *out)
{
	struct method r;

	if (!read_method(m, l, method, &r) || !put_class(m, l, r.pool, out))
		return false;
	ot_buf_putc(out, '.');
	if (!put_entry(m, l, r.pool, r.name, SYMBOL_MAX, out) ||
	    !put_entry(m, l, r.pool, r.signature, SYMBOL_MAX, out))
		return false;
	ot_buf_puts(out, mark);
	return put_place(m, l, &r, index, out);
}
