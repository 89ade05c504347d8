/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, one a line, as flame graph programs read them: the keys before the stack, its frames from
 * the outermost to the innermost, and the value.
 *
 *   swapper/0;vmlinux`cpu_startup_entry;vmlinux`do_idle;vmlinux`default_idle 97
 *
 * A process's frames come before the kernel's, whichever key is first. Offsets are left out, so that a
 * function is one frame. What has no stack is left out, and that is said once.
 */
#include <string.h>

#include "base/buf.h"
#include "cli/messages.h"
#include "cli/output/text.h"

struct folded {
	struct cli_output base;
	struct ot_buf line;
	bool told; /* that something was left out */
};

static struct ot_buf *line_of(struct cli_output *o)
{
	return &((struct folded *)o)->line;
}

static void left_out(struct cli_output *o)
{
	struct folded *f = (struct folded *)o;

	if (!f->told)
		cli_error(
		    "oformat=folded leaves out what has no stack: aggregate by one, as @[stack()] = count()");
	f->told = true;
}

/* --- one line ------------------------------------------------------------------------------------------ */

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
static size_t name_length(const char *text)
{
	const char *plus = strrchr(text, '+');

	return plus && !strncmp(plus, "+0x", 3) ? (size_t)(plus - text) : strlen(text);
}

/* The frames come innermost first: they are kept behind each other, each with its length, and written
 * backwards. */
static void put_frames(struct ot_buf *line, struct cli_printer *p, const struct cli_datum *d)
{
	struct cli_frames frames;
	struct cli_frame frame;
	struct ot_buf texts;
	uint32_t len;

	ot_buf_init(&texts);
	if (cli_frames_init(&frames, p, d))
		while (cli_frames_next(&frames, &frame)) {
			const char *text = *frame.note ? frame.note : frame.text;
			len = (uint32_t)name_length(text);
			ot_buf_append(&texts, text, len);
			ot_buf_append(&texts, &len, sizeof(len));
		}
	for (size_t at = texts.failed ? 0 : texts.len; at; at -= len) {
		at -= sizeof(len);
		memcpy(&len, texts.data + at, sizeof(len));
		put_part(line, (const char *)texts.data + at - len, len);
	}
	line->failed |= texts.failed;
	ot_buf_deinit(&texts);
}

static void put_key(struct ot_buf *line, struct cli_printer *p, const struct cli_datum *d)
{
	char text[CLI_SYMBOL_MAX];

	switch (cli_datum_shape(d)) {
	case CLI_SHAPE_INTEGER:
		snprintf(text, sizeof(text), "%lld", (long long)cli_load_integer(d->data, d->size));
		put_part(line, text, sizeof(text));
		return;
	case CLI_SHAPE_STRING:
		put_part(line, (const char *)d->data, d->size);
		return;
	case CLI_SHAPE_SYMBOL:
		cli_symbol_text(p, d, text, sizeof(text));
		put_part(line, text, sizeof(text));
		return;
	default:
		return; /* stacks come after the other keys, bytes are no name */
	}
}

static bool is_stack(const struct cli_datum *d, bool user)
{
	return cli_datum_shape(d) == CLI_SHAPE_STACK && (d->action->kind != DIF_ACT_stack) == user;
}

/* False: there is no stack among them. */
static bool fold(struct cli_output *o, const struct cli_datum *data, unsigned n)
{
	struct ot_buf *line = line_of(o);
	bool any = false;

	ot_buf_clear(line);
	for (unsigned i = 0; i < n; i++)
		put_key(line, &o->printer, &data[i]);
	for (int user = 1; user >= 0; user--)
		for (unsigned i = 0; i < n; i++) {
			if (!is_stack(&data[i], user))
				continue;
			put_frames(line, &o->printer, &data[i]);
			any = true;
		}
	return any;
}

static struct ot_err *write_line(struct cli_output *o, int64_t value)
{
	struct ot_buf *line = line_of(o);

	if (line->failed)
		return ot_err_nomem();
	if (line->len)
		fprintf(o->printer.fp, "%s %lld\n", ot_buf_str(line), (long long)value);
	return NULL;
}

/* --- the output ---------------------------------------------------------------------------------------- */

static void folded_record(struct cli_output *o, const struct vp_record *r, const struct vp_enabled *next)
{
	(void)next;
	o->printer.guest = r->ecb->guest;
}

/* A stack that is recorded by itself was there once. */
static void folded_value(struct cli_output *o, const struct cli_datum *d)
{
	if (fold(o, d, 1))
		ot_err_destroy(write_line(o, 1)); /* without memory: the next one */
	else
		left_out(o);
}

static void folded_text(struct cli_output *o, const struct dif_format *fmt, const struct cli_datum *args,
			unsigned nargs)
{
	(void)fmt, (void)args, (void)nargs;
	left_out(o);
}

static void folded_record_end(struct cli_output *o)
{
	(void)o;
}

/* A histogram has no number, and one that is not positive no width. */
static struct ot_err *folded_aggregation(struct cli_output *o, const struct cli_agg_view *view,
					 const struct dif_format *fmt)
{
	struct cli_row row;

	(void)fmt;
	for (size_t i = 0; i < view->nrows; i++) {
		cli_row_read(&row, &o->printer, view, i);
		if (!fold(o, row.keys, row.nkeys)) {
			left_out(o);
			continue;
		}
		for (unsigned c = 0; c < view->ncolumns; c++) {
			int64_t value = cli_aggval_number(&row.vals[c]);
			if (cli_aggval_is_histogram(row.vals[c].kind))
				left_out(o);
			else if (value > 0)
				OT_TRY(write_line(o, value));
		}
	}
	return NULL;
}

static void folded_moment(struct cli_output *o)
{
	(void)o;
}

static struct ot_err *folded_end(struct cli_output *o)
{
	ot_buf_deinit(line_of(o));
	return NULL;
}

const struct cli_output_ops cli_output_folded = {
	.format = "folded",
	.size = sizeof(struct folded),
	.record = folded_record,
	.value = folded_value,
	.text = folded_text,
	.aggregation = folded_aggregation,
	.record_end = folded_record_end,
	.fault = cli_text_fault,
	.drop = cli_text_drop,
	.overload = cli_text_overload,
	.interrupted = folded_moment,
	.stopped = folded_moment,
	.end = folded_end,
	.comparison = cli_text_comparison,
	.hidden = cli_text_hidden,
};
