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
#include "consumer/output/fold.h"
#include "consumer/output/gzip.h"
#include "consumer/output/keys.h"
#include "consumer/output/pprof_tables.h"

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
	struct con_fold fold;
	struct con_pprof_tables tables;
	struct con_pb one;     /* the present sample */
	struct ot_buf samples; /* struct sample, its bytes, and so on */
	struct ot_map columns; /* struct con_agg *, or NULL for records → number from 1 on */
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
	con_pprof_tables_init(&p->tables);
	ot_map_init(&p->columns);
}

/* --- columns ------------------------------------------------------------------------------------------- */

static void name_column(struct pprof *p, const struct con_agg *agg)
{
	bool is_named = agg && agg->name[0] && strcmp(agg->name, "_") != 0;
	const char *name = !agg || (!is_named && agg->kind == DIF_AGG_count) ? "samples"
			   : is_named                                        ? agg->name
									     : dif_action_name(agg->kind);
	uint64_t id = con_pprof_string(&p->tables, name, strlen(name));

	ot_buf_append(&p->types, &id, sizeof(id));
}

/* @agg NULL: stacks that were recorded by themselves. */
static uint32_t column_of(struct pprof *p, const struct con_agg *agg)
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

static bool is_stack(const struct con_datum *d, bool user)
{
	return con_datum_shape(d) == CON_SHAPE_STACK && (d->action->kind != DIF_ACT_stack) == user;
}

static void put_frames(struct pprof *p, const struct con_datum *d, bool user)
{
	struct con_printer *printer = &p->fold.base.printer;
	bool has_pc = user || printer->guest != CON_GUEST_NAMED;
	struct con_frames frames;
	struct con_frame frame;

	if (!con_frames_init(&frames, printer, d))
		return;
	while (con_frames_next(&frames, &frame))
		con_pb_varint(&p->one, con_pprof_location(&p->tables, &frame, user, has_pc));
}

/* False: there is no stack among them. */
static bool put_locations(struct pprof *p, const struct con_datum *data, unsigned n)
{
	size_t list = con_pb_begin(&p->one, SAMPLE_LOCATION);
	bool any = false;

	for (int user = 0; user <= 1; user++)
		for (unsigned i = n; i-- > 0;)
			if (is_stack(&data[i], user)) {
				put_frames(p, &data[i], user);
				any = true;
			}
	con_pb_end(&p->one, list);
	return any;
}

static void put_label(struct pprof *p, const struct con_datum *data, unsigned i)
{
	bool is_number = con_datum_shape(&data[i]) == CON_SHAPE_INTEGER;
	char name[CON_KEY_NAME_MAX];
	struct ot_buf text;

	ot_buf_init(&text);
	con_key_name(data, i, name);
	con_key_text(&text, &p->fold.base.printer, &data[i]);
	size_t label = con_pb_begin(&p->one, SAMPLE_LABEL);
	con_pb_int(&p->one, LABEL_KEY, con_pprof_string(&p->tables, name, strlen(name)));
	if (is_number)
		con_pb_int(&p->one, LABEL_NUM, (uint64_t)con_load_integer(data[i].data, data[i].size));
	else
		con_pb_int(&p->one, LABEL_STR, con_pprof_string(&p->tables, ot_buf_str(&text), text.len));
	con_pb_end(&p->one, label);
	p->tables.failed |= text.failed;
	ot_buf_deinit(&text);
}

/* All of a sample but its values; false: it has no stack. */
static bool make_sample(struct pprof *p, const struct con_datum *data, unsigned n)
{
	begin(p);
	ot_buf_clear(&p->one.buf);
	if (!put_locations(p, data, n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (con_datum_shape(&data[i]) != CON_SHAPE_STACK)
			put_label(p, data, i);
	return true;
}

static struct ot_err *keep_sample(struct pprof *p, const struct con_agg *agg, int64_t value)
{
	struct sample s = { (uint32_t)p->one.buf.len, column_of(p, agg), value };

	OT_TRY(con_pb_error(&p->one));
	OT_TRY(con_pb_error(&p->tables.pb));
	if (p->samples.len > CON_PB_MAX - p->one.buf.len)
		return ot_err_new(OT_ERR_LIMIT, "too many stacks for a profile: aggregate by less");
	ot_buf_append(&p->samples, &s, sizeof(s));
	ot_buf_append(&p->samples, p->one.buf.data, p->one.buf.len);
	return p->samples.failed || p->tables.failed ? ot_err_nomem() : NULL;
}

static void pprof_value(struct con_output *o, const struct con_datum *d)
{
	struct pprof *p = (struct pprof *)o;

	if (make_sample(p, d, 1))
		ot_err_destroy(keep_sample(p, NULL, 1)); /* without memory: the next one */
	else
		con_fold_left_out(&p->fold);
}

/* --- aggregations -------------------------------------------------------------------------------------- */

static struct ot_err *put_row(struct pprof *p, const struct con_agg_view *view, size_t i)
{
	struct con_row row;

	con_row_read(&row, &p->fold.base.printer, view, i);
	if (!make_sample(p, row.keys, row.nkeys)) {
		con_fold_left_out(&p->fold);
		return NULL;
	}
	for (unsigned c = 0; c < view->ncolumns; c++) {
		int64_t value = con_aggval_number(&row.vals[c]);
		if (con_aggval_is_histogram(row.vals[c].kind))
			con_fold_left_out(&p->fold);
		else if (value > 0)
			OT_TRY(keep_sample(p, view->columns[c], value));
	}
	return NULL;
}

static struct ot_err *pprof_aggregation(struct con_output *o, const struct con_agg_view *view,
					const struct dif_format *fmt)
{
	(void)fmt;
	for (size_t i = 0; i < view->nrows; i++)
		OT_TRY(put_row((struct pprof *)o, view, i));
	return NULL;
}

/* --- the file ------------------------------------------------------------------------------------------ */

/* Take the bytes written to @pb, and empty it. */
static struct ot_err *flush_to(struct con_gzip *g, struct con_pb *pb, bool last)
{
	OT_TRY(con_pb_error(pb));
	OT_TRY(con_gzip_write(g, ot_buf_str(&pb->buf), pb->buf.len, last));
	ot_buf_clear(&pb->buf);
	return NULL;
}

static struct ot_err *write_samples(struct pprof *p, struct con_gzip *g)
{
	struct sample s;

	for (size_t at = 0; at < p->samples.len; at += sizeof(s) + s.size) {
		memcpy(&s, p->samples.data + at, sizeof(s));
		size_t sample = con_pb_begin(&p->one, PROFILE_SAMPLE);
		ot_buf_append(&p->one.buf, p->samples.data + at + sizeof(s), s.size);
		size_t values = con_pb_begin(&p->one, SAMPLE_VALUE);
		for (uint32_t i = 0; i < p->columns.count; i++)
			con_pb_varint(&p->one, i == s.column ? (uint64_t)s.value : 0);
		con_pb_end(&p->one, values);
		con_pb_end(&p->one, sample);
		OT_TRY(flush_to(g, &p->one, false));
	}
	return NULL;
}

static void put_type(struct con_pb *pb, unsigned field, uint64_t type, uint64_t unit)
{
	size_t message = con_pb_begin(pb, field);

	con_pb_int(pb, TYPE_TYPE, type);
	con_pb_int(pb, TYPE_UNIT, unit);
	con_pb_end(pb, message);
}

/* A profile without samples also has a column, because its readers require one. */
static void put_header(struct pprof *p)
{
	uint64_t count = con_pprof_string(&p->tables, "count", 5), type;

	if (!p->columns.count)
		column_of(p, NULL);
	for (size_t at = 0; at < p->types.len; at += sizeof(type)) {
		memcpy(&type, p->types.data + at, sizeof(type));
		put_type(&p->one, PROFILE_SAMPLE_TYPE, type, count);
	}
	con_pb_int(&p->one, PROFILE_TIME, p->time_ns);
	con_pb_int(&p->one, PROFILE_DURATION, p->duration_ns);
	if (!p->period_ns)
		return;
	put_type(&p->one, PROFILE_PERIOD_TYPE, con_pprof_string(&p->tables, "time", 4),
		 con_pprof_string(&p->tables, "nanoseconds", 11));
	con_pb_int(&p->one, PROFILE_PERIOD, p->period_ns);
}

static void put_strings(struct pprof *p)
{
	const struct ot_map *strings = &p->tables.strings;

	for (size_t i = 0; i < strings->count; i++)
		con_pb_bytes(&p->one, PROFILE_STRING, strings->entries[i]->key, strings->entries[i]->key_len);
}

static struct ot_err *write_parts(struct pprof *p, struct con_gzip *g)
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
	struct con_gzip g;

	begin(p);
	OT_TRY(con_gzip_begin(&g, p->fold.base.printer.fp));
	struct ot_err *err = write_parts(p, &g);

	con_gzip_end(&g);
	return err;
}

/* --- the session --------------------------------------------------------------------------------------- */

static void pprof_started(struct con_output *o, const struct dif_program *prog)
{
	struct pprof *p = (struct pprof *)o;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	p->time_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
	p->began_ns = ot_now_ns();
	p->period_ns = con_pprof_period(prog);
}

static void pprof_stopped(struct con_output *o)
{
	struct pprof *p = (struct pprof *)o;

	p->duration_ns = p->began_ns ? ot_now_ns() - p->began_ns : 0;
}

static struct ot_err *pprof_end(struct con_output *o)
{
	struct pprof *p = (struct pprof *)o;

	if (p->ended)
		return NULL;
	p->ended = true;
	struct ot_err *err = write_profile(p);

	con_pprof_tables_deinit(&p->tables);
	con_pb_deinit(&p->one);
	ot_buf_deinit(&p->samples);
	ot_buf_deinit(&p->types);
	ot_map_deinit(&p->columns);
	con_fold_deinit(&p->fold);
	return err;
}

const struct con_output_ops con_output_pprof = {
	.format = "pprof",
	.suffix = ".pprof",
	.file = CON_FILE_REPLACED,
	.binary = true,
	.size = sizeof(struct pprof),
	.started = pprof_started,
	.record = con_fold_record,
	.value = pprof_value,
	.text = con_fold_text,
	.aggregation = pprof_aggregation,
	.record_end = con_fold_moment,
	.fault = con_text_fault,
	.drop = con_text_drop,
	.overload = con_text_overload,
	.interrupted = con_fold_moment,
	.stopped = pprof_stopped,
	.end = pprof_end,
	.comparison = con_text_comparison,
	.hidden = con_text_hidden,
};
