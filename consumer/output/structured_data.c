/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data and aggregations as members of structured output. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "consumer/output/quantize_rows.h"
#include "consumer/output/structured.h"

/* --- text that the printer makes ----------------------------------------------------------------------- */

/* Output of @p print as one text, which is the caller's; NULL without memory. */
struct capture {
	struct con_printer p;
	char *text;
	size_t len;
};

static bool capture_begin(struct capture *c, const struct con_printer *p)
{
	*c = (struct capture){ .p = *p };
	c->p.fp = open_memstream(&c->text, &c->len);
	return c->p.fp != NULL;
}

static bool capture_end(struct capture *c)
{
	fclose(c->p.fp);
	return c->text != NULL;
}

/* --- bytes --------------------------------------------------------------------------------------------- */

static void put_hex(struct con_tree *t, const char *name, const uint8_t *bytes, size_t size, char *room)
{
	static const char digits[] = "0123456789abcdef";
	char *at = room;

	*at++ = '0';
	*at++ = 'x';
	for (size_t i = 0; i < size; i++) {
		*at++ = digits[bytes[i] >> 4];
		*at++ = digits[bytes[i] & 15];
	}
	con_tree_text(t, name, room, (size_t)(at - room));
}

/* In memory order. */
static struct ot_err *hex_member(struct con_tree *t, const char *name, const uint8_t *bytes, size_t size)
{
	ot_auto_free char *room = malloc(2 + 2 * size);

	if (!room)
		return ot_err_nomem();
	put_hex(t, name, bytes, size, room);
	return NULL;
}

static struct ot_err *memory_member(struct con_tree *t, const struct con_datum *d)
{
	uint64_t n = d->size < 8 ? 0 : con_load(d->data, 8);

	if (d->size < 8)
		return hex_member(t, "printm", d->data, 0);
	return hex_member(t, "printm", d->data + 8, n < d->size - 8 ? n : d->size - 8);
}

/* An array of characters is printed as text, if it is one. */
static struct ot_err *bytes_member(struct con_tree *t, const char *name, const struct con_datum *d)
{
	size_t len = con_text_length(d->data, d->size);

	if (!len)
		return hex_member(t, name, d->data, d->size);
	con_tree_text(t, name, d->data, len);
	return NULL;
}

/* --- symbols and stacks -------------------------------------------------------------------------------- */

/* "module`name+0x1f", or only an address. */
static void symbol_members(struct con_tree *t, const char *whole, const char *module, const char *text)
{
	const char *tick = strchr(text, '`'), *plus = tick ? strrchr(tick, '+') : NULL;

	con_tree_string(t, whole, text);
	if (!tick) {
		con_tree_string(t, "offset", text);
		return;
	}
	con_tree_text(t, module, text, (size_t)(tick - text));
	con_tree_text(t, "name", tick + 1, plus ? (size_t)(plus - tick - 1) : strlen(tick + 1));
	if (plus)
		con_tree_string(t, "offset", plus + 1);
}

static void symbol_item(struct con_tree *t, struct con_printer *p, const struct con_datum *d)
{
	char text[CON_SYMBOL_MAX];

	con_symbol_text(p, d, text, sizeof(text));
	switch (d->action->kind) {
	case DIF_ACT_sym:
		symbol_members(t, "sym", "object", text);
		return;
	case DIF_ACT_mod:
		con_tree_string(t, "mod", text);
		return;
	case DIF_ACT_usym:
		con_tree_string(t, "usym", text);
		return;
	case DIF_ACT_umod:
		con_tree_string(t, "umod", text);
		return;
	default:
		con_tree_string(t, "uaddr", text);
	}
}

static void stack_item(struct con_tree *t, struct con_printer *p, const struct con_datum *d)
{
	struct con_frames frames;
	struct con_frame frame;

	con_tree_list(t, d->action->kind == DIF_ACT_stack ? "stack-frames" : "ustack-frames");
	if (con_frames_init(&frames, p, d))
		while (con_frames_next(&frames, &frame)) {
			con_tree_object(t, NULL);
			if (!frame.again)
				symbol_members(t, "symbol", "module", frame.text);
			if (*frame.note)
				con_tree_string(t, "note", frame.note);
			con_tree_end(t);
		}
	con_tree_end(t);
}

/* --- print() ------------------------------------------------------------------------------------------- */

/* @text is the type's name, if it is printed, and the value, on one or several lines. */
static void put_typed(struct con_tree *t, const char *name, size_t name_len, const char *text, size_t len)
{
	if (len && text[len - 1] == '\n')
		len--;
	if (len > name_len && !strncmp(text, name, name_len) && text[name_len] == ' ') {
		text += name_len + 1;
		len -= name_len + 1;
	}
	con_tree_list(t, "type");
	con_tree_object(t, NULL);
	con_tree_text(t, "name", name, name_len);
	con_tree_text(t, "value", text, len);
	con_tree_end(t);
	con_tree_end(t);
}

static struct ot_err *typed_item(struct con_tree *t, struct con_printer *p, const struct con_datum *d)
{
	const char *layout = d->action->format;
	struct capture c;

	if (!capture_begin(&c, p))
		return ot_err_nomem();
	bool typed = con_print_type(&c.p, layout, d->data, d->size);
	if (!capture_end(&c))
		return ot_err_nomem();
	if (typed)
		put_typed(t, layout, strcspn(layout, "\n"), c.text, c.len);
	free(c.text);
	return typed ? NULL : bytes_member(t, "value", d);
}

/* --- any datum ----------------------------------------------------------------------------------------- */

/* A number or a text; @p name NULL: an item of a list. False: the datum is neither. */
static bool put_scalar(struct con_tree *t, const char *name, const struct con_datum *d)
{
	switch (con_datum_shape(d)) {
	case CON_SHAPE_STRING:
		con_tree_text(t, name, d->data, strnlen((const char *)d->data, d->size));
		return true;
	case CON_SHAPE_INTEGER:
		con_tree_int(t, name, con_load_integer(d->data, d->size));
		return true;
	default:
		return false;
	}
}

static struct ot_err *put_members(struct con_tree *t, struct con_printer *p, const struct con_datum *d)
{
	switch (con_datum_shape(d)) {
	case CON_SHAPE_STACK:
		stack_item(t, p, d);
		return NULL;
	case CON_SHAPE_SYMBOL:
		symbol_item(t, p, d);
		return NULL;
	case CON_SHAPE_DUMP:
		return hex_member(t, "tracemem", d->data, d->size);
	case CON_SHAPE_MEMORY:
		return memory_member(t, d);
	case CON_SHAPE_TYPED:
		return typed_item(t, p, d);
	default:
		return put_scalar(t, "value", d) ? NULL : bytes_member(t, "value", d);
	}
}

struct ot_err *con_structured_item(struct con_tree *t, struct con_printer *p, const struct con_datum *d)
{
	con_tree_object(t, NULL);
	struct ot_err *err = put_members(t, p, d);
	con_tree_end(t);
	return err;
}

struct ot_err *con_structured_message(struct con_tree *t, struct con_printer *p, const struct dif_format *fmt,
				      const struct con_datum *args, unsigned nargs,
				      const struct con_aggval *vals, unsigned nvals)
{
	struct capture c;

	if (!capture_begin(&c, p))
		return ot_err_nomem();
	con_print_format(&c.p, fmt, args, nargs, vals, nvals);
	if (!capture_end(&c))
		return ot_err_nomem();
	con_tree_object(t, NULL);
	con_tree_text(t, "message", c.text, c.len);
	con_tree_end(t);
	free(c.text);
	return NULL;
}

/* --- aggregations -------------------------------------------------------------------------------------- */

static const char *function_name(enum dif_agg_kind kind)
{
	switch (kind) {
	case DIF_AGG_count:
		return "count";
	case DIF_AGG_sum:
		return "sum";
	case DIF_AGG_min:
		return "min";
	case DIF_AGG_max:
		return "max";
	case DIF_AGG_avg:
		return "avg";
	case DIF_AGG_stddev:
		return "stddev";
	default:
		return "buckets";
	}
}

/* A row's label is a number, but at the open ends of lquantize and llquantize. */
static void put_bucket(struct con_tree *t, const struct con_rows *rows, unsigned row)
{
	char label[32], *end;

	con_rows_label(rows, row, label, sizeof(label));
	int64_t edge = strtoll(label, &end, 10);
	con_tree_object(t, NULL);
	if (*end)
		con_tree_string(t, "value", label);
	else
		con_tree_int(t, "value", edge);
	con_tree_int(t, "count", con_rows_divided(rows, row));
	con_tree_end(t);
}

static void put_aggval(struct con_tree *t, const struct con_aggval *val)
{
	struct con_rows rows;
	unsigned first, last;

	if (!con_aggval_is_histogram(val->kind)) {
		con_tree_int(t, function_name(val->kind), con_aggval_number(val));
		return;
	}
	con_tree_list(t, "buckets");
	if (con_rows_init(&rows, val)) {
		con_rows_visible(&rows, &rows, &first, &last);
		for (unsigned i = first; i <= last && i < rows.n; i++)
			put_bucket(t, &rows, i);
	}
	con_tree_end(t);
}

static struct ot_err *put_keys(struct con_tree *t, struct con_printer *p, struct con_agg_entry *e)
{
	struct ot_err *err = NULL;

	p->guest = e->source->guest;
	con_tree_list(t, "keys");
	for (uint32_t i = 0; !err && i < e->source->layout->nkeys; i++) {
		struct con_datum d = con_agg_key(e, i);

		if (!put_scalar(t, NULL, &d))
			err = con_structured_item(t, p, &d);
	}
	con_tree_end(t);
	return err;
}

struct ot_err *con_structured_aggregation(struct con_tree *t, struct con_printer *p,
					  const struct con_agg_view *v, unsigned column, bool item)
{
	struct ot_err *err = NULL;

	if (item)
		con_tree_object(t, NULL);
	con_tree_list(t, "aggregation-data");
	for (size_t row = 0; !err && row < v->nrows && !ferror(p->fp); row++) {
		struct con_aggval val = con_agg_view_value(v, row, column);

		con_tree_object(t, NULL);
		err = put_keys(t, p, con_agg_view_key(v, row));
		put_aggval(t, &val);
		con_tree_end(t);
	}
	con_tree_end(t);
	con_tree_string(t, "aggregation-name", v->columns[column]->name);
	if (item)
		con_tree_end(t);
	return err;
}

struct ot_err *con_structured_rows(struct con_tree *t, struct con_printer *p, const struct con_agg_view *v,
				   const struct dif_format *fmt)
{
	struct con_row row;

	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		con_row_read(&row, p, v, i);
		OT_TRY(con_structured_message(t, p, fmt, row.keys, row.nkeys, row.vals, v->ncolumns));
	}
	return NULL;
}
