/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile for pprof: profile.proto of github.com/google/pprof, compressed. A row of an aggregation by a
 * stack is a sample: its frames from the innermost on, a process's behind the kernel's, its other keys as
 * labels, and its value in the column of the aggregation. How many columns there are is known at the end, so
 * samples are kept until then.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/output/fold.h"
#include "cli/output/gzip.h"
#include "cli/output/keys.h"
#include "cli/output/pprof_tables.h"

/* Profile's fields; those of its tables are in pprof_tables.c. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };

/* A sample without its values, at `size` bytes behind this. */
struct sample {
	uint32_t size;
	uint32_t column;
	int64_t value;
};

struct pprof {
	struct cli_fold fold;
	struct cli_pprof_tables tables;
	struct cli_pb one;     /* the sample that is being made */
	struct ot_buf samples; /* struct sample, its bytes, and so on */
	struct ot_map columns; /* struct cli_agg *, or NULL for records → number from 1 on */
	struct ot_buf types;   /* the columns' names, uint64_t each */
	uint64_t time_ns, began_ns, duration_ns;
	uint64_t period_ns; /* of the profile probe that all samples are of; 0: there is none */
	bool begun, ended;
};

static void begin(struct pprof *p)
{
	if (p->begun)
		return;
	p->begun = true;
	cli_pprof_tables_init(&p->tables);
	ot_map_init(&p->columns);
}

/* --- columns ------------------------------------------------------------------------------------------- */

static void name_column(struct pprof *p, const struct cli_agg *agg)
{
	bool is_named = agg && agg->name[0] && strcmp(agg->name, "_") != 0;
	const char *name = !agg || (!is_named && agg->kind == DIF_AGG_count) ? "samples"
			   : is_named                                        ? agg->name
									     : dif_action_name(agg->kind);
	uint64_t id = cli_pprof_string(&p->tables, name, strlen(name));

	ot_buf_append(&p->types, &id, sizeof(id));
}

/* @agg NULL: stacks that were recorded by themselves. */
static uint32_t column_of(struct pprof *p, const struct cli_agg *agg)
{
	uintptr_t number = (uintptr_t)ot_map_get(&p->columns, &agg, sizeof(agg));

	if (number)
		return (uint32_t)number - 1;
	if (!ot_map_put(&p->columns, &agg, sizeof(agg), (void *)(p->columns.count + 1)))
		p->tables.failed = true;
	name_column(p, agg);
	return (uint32_t)p->columns.count - 1;
}

/* --- samples ------------------------------------------------------------------------------------------- */

static bool is_stack(const struct cli_datum *d, bool user)
{
	return cli_datum_shape(d) == CLI_SHAPE_STACK && (d->action->kind != DIF_ACT_stack) == user;
}

static void put_frames(struct pprof *p, const struct cli_datum *d, bool user)
{
	struct cli_printer *printer = &p->fold.base.printer;
	bool has_pc = user || printer->guest != CLI_GUEST_NAMED;
	struct cli_frames frames;
	struct cli_frame frame;

	if (!cli_frames_init(&frames, printer, d))
		return;
	while (cli_frames_next(&frames, &frame))
		cli_pb_varint(&p->one, cli_pprof_location(&p->tables, &frame, user, has_pc));
}

/* False: there is no stack among them. */
static bool put_locations(struct pprof *p, const struct cli_datum *data, unsigned n)
{
	size_t list = cli_pb_begin(&p->one, SAMPLE_LOCATION);
	bool any = false;

	for (int user = 0; user <= 1; user++)
		for (unsigned i = n; i-- > 0;)
			if (is_stack(&data[i], user)) {
				put_frames(p, &data[i], user);
				any = true;
			}
	cli_pb_end(&p->one, list);
	return any;
}

static void put_label(struct pprof *p, const struct cli_datum *data, unsigned i)
{
	bool is_number = cli_datum_shape(&data[i]) == CLI_SHAPE_INTEGER;
	char name[CLI_KEY_NAME_MAX];
	struct ot_buf text;

	ot_buf_init(&text);
	cli_key_name(data, i, name);
	cli_key_text(&text, &p->fold.base.printer, &data[i]);
	size_t label = cli_pb_begin(&p->one, SAMPLE_LABEL);
	cli_pb_int(&p->one, LABEL_KEY, cli_pprof_string(&p->tables, name, strlen(name)));
	if (is_number)
		cli_pb_int(&p->one, LABEL_NUM, (uint64_t)cli_load_integer(data[i].data, data[i].size));
	else
		cli_pb_int(&p->one, LABEL_STR, cli_pprof_string(&p->tables, ot_buf_str(&text), text.len));
	cli_pb_end(&p->one, label);
	p->tables.failed |= text.failed;
	ot_buf_deinit(&text);
}

/* All of a sample but its values; false: it has no stack. */
static bool make_sample(struct pprof *p, const struct cli_datum *data, unsigned n)
{
	begin(p);
	ot_buf_clear(&p->one.buf);
	if (!put_locations(p, data, n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (cli_datum_shape(&data[i]) != CLI_SHAPE_STACK)
			put_label(p, data, i);
	return true;
}

static struct ot_err *keep_sample(struct pprof *p, const struct cli_agg *agg, int64_t value)
{
	struct sample s = { (uint32_t)p->one.buf.len, column_of(p, agg), value };

	OT_TRY(cli_pb_error(&p->one));
	OT_TRY(cli_pb_error(&p->tables.pb));
	if (p->samples.len > CLI_PB_MAX - p->one.buf.len)
		return ot_err_new(OT_ERR_LIMIT, "too many stacks for a profile: aggregate by less");
	ot_buf_append(&p->samples, &s, sizeof(s));
	ot_buf_append(&p->samples, p->one.buf.data, p->one.buf.len);
	return p->samples.failed || p->tables.failed ? ot_err_nomem() : NULL;
}

static void pprof_value(struct cli_output *o, const struct cli_datum *d)
{
	struct pprof *p = (struct pprof *)o;

	if (make_sample(p, d, 1))
		ot_err_destroy(keep_sample(p, NULL, 1)); /* without memory: the next one */
	else
		cli_fold_left_out(&p->fold);
}

/* --- aggregations -------------------------------------------------------------------------------------- */

static struct ot_err *put_row(struct pprof *p, const struct cli_agg_view *view, size_t i)
{
	struct cli_row row;

	cli_row_read(&row, &p->fold.base.printer, view, i);
	if (!make_sample(p, row.keys, row.nkeys)) {
		cli_fold_left_out(&p->fold);
		return NULL;
	}
	for (unsigned c = 0; c < view->ncolumns; c++) {
		int64_t value = cli_aggval_number(&row.vals[c]);
		if (cli_aggval_is_histogram(row.vals[c].kind))
			cli_fold_left_out(&p->fold);
		else if (value > 0)
			OT_TRY(keep_sample(p, view->columns[c], value));
	}
	return NULL;
}

static struct ot_err *pprof_aggregation(struct cli_output *o, const struct cli_agg_view *view,
					const struct dif_format *fmt)
{
	(void)fmt;
	for (size_t i = 0; i < view->nrows; i++)
		OT_TRY(put_row((struct pprof *)o, view, i));
	return NULL;
}

/* --- the file ------------------------------------------------------------------------------------------ */

/* What was written to @pb, which is empty then. */
static struct ot_err *flush_to(struct cli_gzip *g, struct cli_pb *pb, bool last)
{
	OT_TRY(cli_pb_error(pb));
	OT_TRY(cli_gzip_write(g, ot_buf_str(&pb->buf), pb->buf.len, last));
	ot_buf_clear(&pb->buf);
	return NULL;
}

static struct ot_err *write_samples(struct pprof *p, struct cli_gzip *g)
{
	struct sample s;

	for (size_t at = 0; at < p->samples.len; at += sizeof(s) + s.size) {
		memcpy(&s, p->samples.data + at, sizeof(s));
		size_t sample = cli_pb_begin(&p->one, PROFILE_SAMPLE);
		ot_buf_append(&p->one.buf, p->samples.data + at + sizeof(s), s.size);
		size_t values = cli_pb_begin(&p->one, SAMPLE_VALUE);
		for (uint32_t i = 0; i < p->columns.count; i++)
			cli_pb_varint(&p->one, i == s.column ? (uint64_t)s.value : 0);
		cli_pb_end(&p->one, values);
		cli_pb_end(&p->one, sample);
		OT_TRY(flush_to(g, &p->one, false));
	}
	return NULL;
}

static void put_type(struct cli_pb *pb, unsigned field, uint64_t type, uint64_t unit)
{
	size_t message = cli_pb_begin(pb, field);

	cli_pb_int(pb, TYPE_TYPE, type);
	cli_pb_int(pb, TYPE_UNIT, unit);
	cli_pb_end(pb, message);
}

/* A profile without samples has a column too: its readers want one. */
static void put_header(struct pprof *p)
{
	uint64_t count = cli_pprof_string(&p->tables, "count", 5), type;

	if (!p->columns.count)
		column_of(p, NULL);
	for (size_t at = 0; at < p->types.len; at += sizeof(type)) {
		memcpy(&type, p->types.data + at, sizeof(type));
		put_type(&p->one, PROFILE_SAMPLE_TYPE, type, count);
	}
	cli_pb_int(&p->one, PROFILE_TIME, p->time_ns);
	cli_pb_int(&p->one, PROFILE_DURATION, p->duration_ns);
	if (!p->period_ns)
		return;
	put_type(&p->one, PROFILE_PERIOD_TYPE, cli_pprof_string(&p->tables, "time", 4),
		 cli_pprof_string(&p->tables, "nanoseconds", 11));
	cli_pb_int(&p->one, PROFILE_PERIOD, p->period_ns);
}

static void put_strings(struct pprof *p)
{
	const struct ot_map *strings = &p->tables.strings;

	for (size_t i = 0; i < strings->count; i++)
		cli_pb_bytes(&p->one, PROFILE_STRING, strings->entries[i]->key, strings->entries[i]->key_len);
}

static struct ot_err *write_parts(struct pprof *p, struct cli_gzip *g)
{
	ot_buf_clear(&p->one.buf);
	put_header(p);
	OT_TRY(flush_to(g, &p->one, false));
	OT_TRY(write_samples(p, g));
	OT_TRY(flush_to(g, &p->tables.pb, false));
	put_strings(p);
	if (p->tables.failed)
		return ot_err_nomem();
	return flush_to(g, &p->one, true);
}

static struct ot_err *write_profile(struct pprof *p)
{
	struct cli_gzip g;

	begin(p);
	OT_TRY(cli_gzip_begin(&g, p->fold.base.printer.fp));
	struct ot_err *err = write_parts(p, &g);

	cli_gzip_end(&g);
	return err;
}

/* --- the session --------------------------------------------------------------------------------------- */

static void pprof_started(struct cli_output *o, const struct dif_program *prog)
{
	struct pprof *p = (struct pprof *)o;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	p->time_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
	p->began_ns = ot_now_ns();
	p->period_ns = cli_pprof_period(prog);
}

static void pprof_stopped(struct cli_output *o)
{
	struct pprof *p = (struct pprof *)o;

	p->duration_ns = p->began_ns ? ot_now_ns() - p->began_ns : 0;
}

static struct ot_err *pprof_end(struct cli_output *o)
{
	struct pprof *p = (struct pprof *)o;

	if (p->ended)
		return NULL;
	p->ended = true;
	struct ot_err *err = write_profile(p);

	cli_pprof_tables_deinit(&p->tables);
	cli_pb_deinit(&p->one);
	ot_buf_deinit(&p->samples);
	ot_buf_deinit(&p->types);
	ot_map_deinit(&p->columns);
	cli_fold_deinit(&p->fold);
	return err;
}

const struct cli_output_ops cli_output_pprof = {
	.format = "pprof",
	.suffix = ".pprof",
	.file = CLI_FILE_REPLACED,
	.binary = true,
	.size = sizeof(struct pprof),
	.started = pprof_started,
	.record = cli_fold_record,
	.value = pprof_value,
	.text = cli_fold_text,
	.aggregation = pprof_aggregation,
	.record_end = cli_fold_moment,
	.fault = cli_text_fault,
	.drop = cli_text_drop,
	.overload = cli_text_overload,
	.interrupted = cli_fold_moment,
	.stopped = pprof_stopped,
	.end = pprof_end,
	.comparison = cli_text_comparison,
	.hidden = cli_text_hidden,
};
