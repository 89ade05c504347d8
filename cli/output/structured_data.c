/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data and aggregations as members of structured output. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/output/quantize_rows.h"
#include "cli/output/structured.h"

/* --- text that the printer makes ----------------------------------------------------------------------- */

/* Output of @p print as one text, which is the caller's; NULL without memory. */
struct capture {
	struct cli_printer p;
	char *text;
	size_t len;
};

static bool capture_begin(struct capture *c, const struct cli_printer *p)
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

static void put_hex(struct cli_tree *t, const char *name, const uint8_t *bytes, size_t size, char *room)
{
	static const char digits[] = "0123456789abcdef";
	char *at = room;

	*at++ = '0';
	*at++ = 'x';
	for (size_t i = 0; i < size; i++) {
		*at++ = digits[bytes[i] >> 4];
		*at++ = digits[bytes[i] & 15];
	}
	cli_tree_text(t, name, room, (size_t)(at - room));
}

/* In the order in which they lie in memory. */
static struct ot_err *hex_member(struct cli_tree *t, const char *name, const uint8_t *bytes, size_t size)
{
	ot_auto_free char *room = malloc(2 + 2 * size);

	if (!room)
		return ot_err_nomem();
	put_hex(t, name, bytes, size, room);
	return NULL;
}

static struct ot_err *memory_member(struct cli_tree *t, const struct cli_datum *d)
{
	uint64_t n = d->size < 8 ? 0 : cli_load(d->data, 8);

	if (d->size < 8)
		return hex_member(t, "printm", d->data, 0);
	return hex_member(t, "printm", d->data + 8, n < d->size - 8 ? n : d->size - 8);
}

/* An array of characters is its text, if it is one. */
static struct ot_err *bytes_member(struct cli_tree *t, const char *name, const struct cli_datum *d)
{
	size_t len = cli_text_length(d->data, d->size);

	if (!len)
		return hex_member(t, name, d->data, d->size);
	cli_tree_text(t, name, d->data, len);
	return NULL;
}

/* --- symbols and stacks -------------------------------------------------------------------------------- */

/* "module`name+0x1f", or only an address. */
static void symbol_members(struct cli_tree *t, const char *whole, const char *module, const char *text)
{
	const char *tick = strchr(text, '`'), *plus = tick ? strrchr(tick, '+') : NULL;

	cli_tree_string(t, whole, text);
	if (!tick) {
		cli_tree_string(t, "offset", text);
		return;
	}
	cli_tree_text(t, module, text, (size_t)(tick - text));
	cli_tree_text(t, "name", tick + 1, plus ? (size_t)(plus - tick - 1) : strlen(tick + 1));
	if (plus)
		cli_tree_string(t, "offset", plus + 1);
}

static void symbol_item(struct cli_tree *t, struct cli_printer *p, const struct cli_datum *d)
{
	char text[CLI_SYMBOL_MAX];

	cli_symbol_text(p, d, text, sizeof(text));
	switch (d->action->kind) {
	case DIF_ACT_sym:
		symbol_members(t, "sym", "object", text);
		return;
	case DIF_ACT_mod:
		cli_tree_string(t, "mod", text);
		return;
	case DIF_ACT_usym:
		cli_tree_string(t, "usym", text);
		return;
	case DIF_ACT_umod:
		cli_tree_string(t, "umod", text);
		return;
	default:
		cli_tree_string(t, "uaddr", text);
	}
}

static void stack_item(struct cli_tree *t, struct cli_printer *p, const struct cli_datum *d)
{
	struct cli_frames frames;
	struct cli_frame frame;

	cli_tree_list(t, d->action->kind == DIF_ACT_stack ? "stack-frames" : "ustack-frames");
	if (cli_frames_init(&frames, p, d))
		while (cli_frames_next(&frames, &frame)) {
			cli_tree_object(t, NULL);
			if (!frame.again)
				symbol_members(t, "symbol", "module", frame.text);
			if (*frame.note)
				cli_tree_string(t, "note", frame.note);
			cli_tree_end(t);
		}
	cli_tree_end(t);
}

/* --- print() ------------------------------------------------------------------------------------------- */

/* @text is the type's name, if it is printed, and the value, on one or several lines. */
static void put_typed(struct cli_tree *t, const char *name, size_t name_len, const char *text, size_t len)
{
	if (len && text[len - 1] == '\n')
		len--;
	if (len > name_len && !strncmp(text, name, name_len) && text[name_len] == ' ') {
		text += name_len + 1;
		len -= name_len + 1;
	}
	cli_tree_list(t, "type");
	cli_tree_object(t, NULL);
	cli_tree_text(t, "name", name, name_len);
	cli_tree_text(t, "value", text, len);
	cli_tree_end(t);
	cli_tree_end(t);
}

static struct ot_err *typed_item(struct cli_tree *t, struct cli_printer *p, const struct cli_datum *d)
{
	const char *layout = d->action->format;
	struct capture c;

	if (!capture_begin(&c, p))
		return ot_err_nomem();
	bool typed = cli_print_type(&c.p, layout, d->data, d->size);
	if (!capture_end(&c))
		return ot_err_nomem();
	if (typed)
		put_typed(t, layout, strcspn(layout, "\n"), c.text, c.len);
	free(c.text);
	return typed ? NULL : bytes_member(t, "value", d);
}

/* --- any datum ----------------------------------------------------------------------------------------- */

/* A number or a text; @p name NULL: an item of a list. False: the datum is neither. */
static bool put_scalar(struct cli_tree *t, const char *name, const struct cli_datum *d)
{
	switch (cli_datum_shape(d)) {
	case CLI_SHAPE_STRING:
		cli_tree_text(t, name, d->data, strnlen((const char *)d->data, d->size));
		return true;
	case CLI_SHAPE_INTEGER:
		cli_tree_int(t, name, cli_load_integer(d->data, d->size));
		return true;
	default:
		return false;
	}
}

static struct ot_err *put_members(struct cli_tree *t, struct cli_printer *p, const struct cli_datum *d)
{
	switch (cli_datum_shape(d)) {
	case CLI_SHAPE_STACK:
		stack_item(t, p, d);
		return NULL;
	case CLI_SHAPE_SYMBOL:
		symbol_item(t, p, d);
		return NULL;
	case CLI_SHAPE_DUMP:
		return hex_member(t, "tracemem", d->data, d->size);
	case CLI_SHAPE_MEMORY:
		return memory_member(t, d);
	case CLI_SHAPE_TYPED:
		return typed_item(t, p, d);
	default:
		return put_scalar(t, "value", d) ? NULL : bytes_member(t, "value", d);
	}
}

struct ot_err *cli_structured_item(struct cli_tree *t, struct cli_printer *p, const struct cli_datum *d)
{
	cli_tree_object(t, NULL);
	struct ot_err *err = put_members(t, p, d);
	cli_tree_end(t);
	return err;
}

struct ot_err *cli_structured_message(struct cli_tree *t, struct cli_printer *p, const struct dif_format *fmt,
				      const struct cli_datum *args, unsigned nargs,
				      const struct cli_aggval *vals, unsigned nvals)
{
	struct capture c;

	if (!capture_begin(&c, p))
		return ot_err_nomem();
	cli_print_format(&c.p, fmt, args, nargs, vals, nvals);
	if (!capture_end(&c))
		return ot_err_nomem();
	cli_tree_object(t, NULL);
	cli_tree_text(t, "message", c.text, c.len);
	cli_tree_end(t);
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
static void put_bucket(struct cli_tree *t, const struct cli_rows *rows, unsigned row)
{
	char label[32], *end;

	cli_rows_label(rows, row, label, sizeof(label));
	int64_t edge = strtoll(label, &end, 10);
	cli_tree_object(t, NULL);
	if (*end)
		cli_tree_string(t, "value", label);
	else
		cli_tree_int(t, "value", edge);
	cli_tree_int(t, "count", cli_rows_divided(rows, row));
	cli_tree_end(t);
}

static void put_aggval(struct cli_tree *t, const struct cli_aggval *val)
{
	struct cli_rows rows;
	unsigned first, last;

	if (!cli_aggval_is_histogram(val->kind)) {
		cli_tree_int(t, function_name(val->kind), cli_aggval_number(val));
		return;
	}
	cli_tree_list(t, "buckets");
	if (cli_rows_init(&rows, val)) {
		cli_rows_visible(&rows, &rows, &first, &last);
		for (unsigned i = first; i <= last && i < rows.n; i++)
			put_bucket(t, &rows, i);
	}
	cli_tree_end(t);
}

static struct ot_err *put_keys(struct cli_tree *t, struct cli_printer *p, struct cli_agg_entry *e)
{
	struct ot_err *err = NULL;

	p->guest = e->source->guest;
	cli_tree_list(t, "keys");
	for (uint32_t i = 0; !err && i < e->source->layout->nkeys; i++) {
		struct cli_datum d = cli_agg_key(e, i);

		if (!put_scalar(t, NULL, &d))
			err = cli_structured_item(t, p, &d);
	}
	cli_tree_end(t);
	return err;
}

struct ot_err *cli_structured_aggregation(struct cli_tree *t, struct cli_printer *p,
					  const struct cli_agg_view *v, unsigned column, bool item)
{
	struct ot_err *err = NULL;

	if (item)
		cli_tree_object(t, NULL);
	cli_tree_list(t, "aggregation-data");
	for (size_t row = 0; !err && row < v->nrows && !ferror(p->fp); row++) {
		struct cli_aggval val = cli_agg_view_value(v, row, column);

		cli_tree_object(t, NULL);
		err = put_keys(t, p, cli_agg_view_key(v, row));
		put_aggval(t, &val);
		cli_tree_end(t);
	}
	cli_tree_end(t);
	cli_tree_string(t, "aggregation-name", v->columns[column]->name);
	if (item)
		cli_tree_end(t);
	return err;
}

struct ot_err *cli_structured_rows(struct cli_tree *t, struct cli_printer *p, const struct cli_agg_view *v,
				   const struct dif_format *fmt)
{
	struct cli_row row;

	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		cli_row_read(&row, p, v, i);
		OT_TRY(cli_structured_message(t, p, fmt, row.keys, row.nkeys, row.vals, v->ncolumns));
	}
	return NULL;
}
