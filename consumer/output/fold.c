/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as lines of frames: see fold.h. */
#include "consumer/output/fold.h"

#include <string.h>

#include "consumer/messages.h"

void con_fold_left_out(struct con_fold *fold)
{
	if (!fold->reported)
		con_error(
		    "oformat=%s leaves out data without a stack: aggregate by one, as @[stack()] = count()",
		    fold->base.ops->format);
	fold->reported = true;
}

/* A ';' would be another frame, and a control character may be another line. */
static void put_part(struct ot_buf *line, const char *text, size_t len)
{
	if (line->len)
		ot_buf_putc(line, ';');
	for (size_t i = 0; i < len && text[i]; i++)
		ot_buf_putc(line, text[i] == ';'                                    ? ':'
				  : (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?'
										    : text[i]);
}

/* "module`function+0x1f" without the offset. */
size_t con_fold_name(const char *text)
{
	const char *plus = strrchr(text, '+');
	bool is_offset = plus && !strncmp(plus, "+0x", 3) && !plus[3 + strspn(plus + 3, "0123456789abcdef")];

	return is_offset ? (size_t)(plus - text) : strlen(text);
}

/* The frames arrive innermost first: they are stored one after the other, each with its length, and written
 * backwards. Returns their number. */
uint32_t con_fold_frames(struct ot_buf *line, struct con_printer *p, const struct con_datum *d)
{
	struct con_frames frames;
	struct con_frame frame;
	struct ot_buf texts;
	uint32_t len, n = 0;

	ot_buf_init(&texts);
	if (con_frames_init(&frames, p, d))
		while (con_frames_next(&frames, &frame)) {
			const char *text = *frame.note ? frame.note : frame.text;
			len = (uint32_t)con_fold_name(text);
			ot_buf_append(&texts, text, len);
			ot_buf_append(&texts, &len, sizeof(len));
		}
	for (size_t at = texts.failed ? 0 : texts.len; at; at -= len) {
		at -= sizeof(len);
		memcpy(&len, texts.data + at, sizeof(len));
		put_part(line, (const char *)texts.data + at - len, len);
		n++;
	}
	line->failed |= texts.failed;
	ot_buf_deinit(&texts);
	return n;
}

/* The number of frames of the key. */
static uint32_t put_key(struct ot_buf *line, struct con_printer *p, const struct con_datum *d)
{
	char text[CON_SYMBOL_MAX];

	switch (con_datum_shape(d)) {
	case CON_SHAPE_INTEGER:
		snprintf(text, sizeof(text), "%lld", (long long)con_load_integer(d->data, d->size));
		put_part(line, text, sizeof(text));
		return 1;
	case CON_SHAPE_STRING:
		put_part(line, (const char *)d->data, d->size);
		return 1;
	case CON_SHAPE_SYMBOL:
		con_symbol_text(p, d, text, sizeof(text));
		put_part(line, text, sizeof(text));
		return 1;
	default:
		return 0; /* stacks come after the other keys, bytes are no name */
	}
}

static bool is_stack(const struct con_datum *d, bool user)
{
	return con_datum_shape(d) == CON_SHAPE_STACK && (d->action->kind != DIF_ACT_stack) == user;
}

/* False: there is no stack among them. */
static bool put_line(struct con_fold *fold, const struct con_datum *data, unsigned n)
{
	struct con_printer *p = &fold->base.printer;
	bool any = false;

	ot_buf_clear(&fold->line);
	fold->nkeys = fold->nuser = 0;
	for (unsigned i = 0; i < n; i++)
		fold->nkeys += put_key(&fold->line, p, &data[i]);
	for (int user = 1; user >= 0; user--)
		for (unsigned i = 0; i < n; i++) {
			if (!is_stack(&data[i], user))
				continue;
			uint32_t frames = con_fold_frames(&fold->line, p, &data[i]);
			fold->nuser += user ? frames : 0;
			any = true;
		}
	return any;
}

static struct ot_err *emit_line(struct con_fold *fold, int64_t value, con_fold_emit *emit)
{
	if (fold->line.failed)
		return ot_err_nomem();
	return fold->line.len ? emit(fold, value) : NULL;
}

struct ot_err *con_fold_value(struct con_fold *fold, const struct con_datum *d, con_fold_emit *emit)
{
	if (put_line(fold, d, 1))
		return emit_line(fold, 1, emit);
	con_fold_left_out(fold);
	return NULL;
}

struct ot_err *con_fold_aggregation(struct con_fold *fold, const struct con_agg_view *view,
				    con_fold_emit *emit)
{
	struct con_row row;

	for (size_t i = 0; i < view->nrows; i++) {
		con_row_read(&row, &fold->base.printer, view, i);
		if (!put_line(fold, row.keys, row.nkeys)) {
			con_fold_left_out(fold);
			continue;
		}
		for (unsigned c = 0; c < view->ncolumns; c++) {
			int64_t value = con_aggval_number(&row.vals[c]);
			if (con_aggval_is_histogram(row.vals[c].kind))
				con_fold_left_out(fold);
			else if (value > 0)
				OT_TRY(emit_line(fold, value, emit));
		}
	}
	return NULL;
}

void con_fold_deinit(struct con_fold *fold)
{
	ot_buf_deinit(&fold->line);
}

void con_fold_record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next)
{
	(void)next;
	o->printer.guest = r->ecb->guest;
}

void con_fold_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		   unsigned nargs)
{
	(void)fmt, (void)args, (void)nargs;
	con_fold_left_out((struct con_fold *)o);
}

void con_fold_moment(struct con_output *o)
{
	(void)o;
}
