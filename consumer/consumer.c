/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splitting records into statements, in order: actions on the session are carried out here, all others are
 * passed to the output. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "consumer/consumer.h"
#include "consumer/messages.h"

/* One statement records at most this many data: printf()'s arguments. */
#define RUN_MAX   256
/* Records between two polls for a second Ctrl-C. */
#define ASK_EVERY 64

/* --- statements ------------------------------------------------------------------------ */

static struct ot_err *do_printa(struct con_consumer *c, const struct dif_format *fmt,
				const struct con_datum *run, unsigned n)
{
	uint32_t ids[RUN_MAX];

	for (unsigned i = 0; i < n; i++)
		ids[i] = run[i].action->aggid;
	return con_printa(c->out, &c->aggs, ids, n, fmt);
}

static struct ot_err *do_printflike(struct con_consumer *c, const struct vp_enabled *ecb,
				    const struct con_datum *run, unsigned n)
{
	const struct dif_format *fmt = NULL;
	/* a format without arguments, or with stacks and symbols among them, is an action without an object
	 */
	bool alone = run->action->kind != DIF_ACT_printa && !run->action->object;
	const struct con_datum *args = run + alone;
	unsigned nargs = n - alone;

	OT_TRY(con_formats_get(&c->formats, run->action, &fmt));
	switch (run->action->kind) {
	case DIF_ACT_printa:
		return do_printa(c, fmt, run, n);
	case DIF_ACT_system:
		return fmt ? con_system(c, fmt, args, nargs) : NULL;
	case DIF_ACT_freopen:
		return fmt ? con_freopen(c, ecb, fmt, args, nargs) : NULL;
	default:
		if (fmt)
			c->out->ops->text(c->out, fmt, args, nargs);
		return NULL;
	}
}

/* A stack or symbol among printf()'s arguments. */
static bool is_argument(const struct dif_action *first, unsigned kind)
{
	return con_is_named(kind) && first->kind == DIF_ACT_printf && !first->object;
}

/* Data of one statement: all that follow the first with its kind and uarg. */
static unsigned run_length(const struct con_datum *data, unsigned n)
{
	unsigned i = 1;

	if (!data->action->uarg)
		return 1;
	while (
	    i < n && data[i].action->uarg == data->action->uarg &&
	    (data[i].action->kind == data->action->kind || is_argument(data->action, data[i].action->kind)))
		i++;
	return i;
}

/* tracemem(addr, size, shown): the third argument is a datum of its own, behind the bytes; a negative one
 * shows them all. Returns the number of data consumed. */
static unsigned show_tracemem(struct con_consumer *c, const struct con_datum *data, unsigned n)
{
	struct con_datum bytes = data[0];
	bool limited = n > 1 && data[1].action->kind == DIF_ACT_tracemem_dynsize &&
		       data[1].action->uarg == data[0].action->uarg;
	int64_t shown = limited ? (int64_t)con_load(data[1].data, data[1].size) : -1;

	if (shown >= 0 && shown < bytes.size)
		bytes.size = (uint32_t)shown;
	c->out->ops->value(c->out, &bytes);
	return limited ? 2 : 1;
}

/* The statement that begins at @data; *ret_len of the @n data are its. */
static struct ot_err *show_statement(struct con_consumer *c, const struct vp_enabled *ecb,
				     const struct con_datum *data, unsigned n, unsigned *ret_len)
{
	unsigned kind = data->action->kind;

	*ret_len = 1;
	if (DIF_ACT_IS_PRINTFLIKE(kind)) {
		*ret_len = run_length(data, n);
		return do_printflike(c, ecb, data, *ret_len);
	}
	if (kind == DIF_ACT_libact) {
		*ret_len = run_length(data, n);
		return con_libact(c, ecb, data, *ret_len);
	}
	if (kind == DIF_ACT_tracemem)
		*ret_len = show_tracemem(c, data, n);
	else if (kind != DIF_ACT_exit)
		c->out->ops->value(c->out, data);
	return NULL;
}

/* With a watcher: it sees the data that would be written, not actions on the session. */
static struct ot_err *show_watched(struct con_consumer *c, const struct vp_record *r,
				   const struct con_datum *data, unsigned n)
{
	for (unsigned i = 0, len; i < n; i += len) {
		bool acts = data[i].action->kind == DIF_ACT_libact, shown = true;

		if (!acts)
			OT_TRY(c->watcher->datum(c->watcher_arg, r, &data[i], &shown));
		len = 1;
		if (shown)
			OT_TRY(show_statement(c, r->ecb, &data[i], n - i, &len));
		if (shown && !acts)
			OT_TRY(c->watcher->written(c->watcher_arg, r, &data[i]));
	}
	return c->watcher->record_end(c->watcher_arg, r);
}

static struct ot_err *show_data(struct con_consumer *c, const struct vp_record *r,
				const struct con_datum *data, unsigned n)
{
	if (c->watcher)
		return show_watched(c, r, data, n);
	for (unsigned i = 0, len; i < n; i += len)
		OT_TRY(show_statement(c, r->ecb, &data[i], n - i, &len));
	return NULL;
}

/* Split the record into data by its layout, and show them. */
static struct ot_err *show_record_data(struct con_consumer *c, const struct vp_record *r)
{
	const struct dif_clause_layout *l = r->ecb->layout;
	struct con_datum *data = calloc(l->nrecs + 1, sizeof(*data));
	unsigned n = 0;

	if (!data)
		return ot_err_nomem();
	for (uint32_t i = 0; i < l->nrecs; i++) {
		const struct dif_rec *rec = &l->recs[i];
		if (rec->offset > r->size || rec->size > r->size - rec->offset)
			break;
		data[n++] = (struct con_datum){ &r->ecb->clause->actions[rec->action], r->data + rec->offset,
						rec->size };
	}
	struct ot_err *err = NULL;
	for (unsigned i = 0, len; i < n && !err; i += len) {
		len = run_length(&data[i], n - i);
		if (len > RUN_MAX)
			err = ot_err_new(OT_ERR_LIMIT, "a statement records more than %d data", RUN_MAX);
	}
	if (!err)
		err = show_data(c, r, data, n);
	free(data);
	return err;
}

/* --- records in order ----------------------------------------------------------------------------------- */

/* @next is the next record, if it is known. */
static struct ot_err *show_record(struct con_consumer *c, const struct vp_record *r,
				  const struct vp_enabled *next)
{
	bool shown = true;

	if (c->watcher)
		OT_TRY(c->watcher->record(c->watcher_arg, r, &shown));
	if (!shown)
		return NULL;
	c->out->ops->record(c->out, r, next);
	OT_TRY(show_record_data(c, r));
	c->out->ops->record_end(c->out);
	return NULL;
}

static struct ot_err *show_held(struct con_consumer *c, const struct vp_enabled *next)
{
	struct vp_record held = c->held;

	c->held.ecb = NULL;
	return held.ecb ? show_record(c, &held, next) : NULL;
}

static struct ot_err *hold(struct con_consumer *c, const struct vp_record *r)
{
	if (!ot_grow(&c->held_data, &c->held_cap, r->size + 1, 1))
		return ot_err_nomem();
	memcpy(c->held_data, r->data, r->size);
	c->held = *r;
	c->held.data = c->held_data;
	return NULL;
}

/* --- the sink ----------------------------------------------------------------------------- */

static struct ot_err *check_patience(struct con_consumer *c)
{
	if (++c->since_asked < ASK_EVERY)
		return NULL;
	c->since_asked = 0;
	if (c->impatient && c->impatient(c->impatient_arg))
		return ot_err_new(OT_ERR_BUSY, "interrupted");
	return ferror(c->out->printer.fp) ? con_consumer_flush(c) : NULL;
}

static struct ot_err *on_record(void *arg, const struct vp_record *r)
{
	struct con_consumer *c = arg;

	OT_TRY(check_patience(c));
	OT_TRY(show_held(c, c->held.cpu == r->cpu ? r->ecb : NULL));
	if (c->out->ops->awaits_next && c->out->ops->awaits_next(c->out, r))
		return hold(c, r);
	return show_record(c, r, NULL);
}

static struct ot_err *on_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct con_consumer *c = arg;

	OT_TRY(check_patience(c));
	return con_aggs_add(c->compare && agg->inside ? &c->inside : &c->aggs, &c->out->printer, agg);
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	struct con_consumer *c = arg;

	OT_TRY(show_held(c, NULL));
	if (!c->opts->noerror || !c->has_error_clause)
		con_faults_add(&c->faults, fault, ot_now_ns());
	return NULL;
}

static struct ot_err *on_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	struct con_consumer *c = arg;

	c->out->ops->drop(c->out, kind, cpu, count);
	return NULL;
}

static struct ot_err *on_overload(void *arg, const struct vp_overload_info *overload)
{
	struct con_consumer *c = arg;

	c->out->ops->overload(c->out, overload);
	return NULL;
}

static void on_say(void *arg, const char *text)
{
	struct con_consumer *c = arg;

	c->say(c->say_arg, text, NULL);
}

static void on_guest(void *arg, const struct vp_guest_news *news)
{
	struct con_consumer *c = arg;

	if (c->out->ops->guest)
		c->out->ops->guest(c->out, news);
}

struct vp_sink con_consumer_sink(struct con_consumer *c)
{
	return (
	    struct vp_sink){ c, on_record, on_aggregate, on_fault, on_drop, on_overload, on_say, on_guest };
}

/* --- life ----------------------------------------------------------------------------------- */

/* Messages, as the command has them. */
static void say_as_message(void *arg, const char *text, const char *hint)
{
	const struct con_consumer *c = arg;

	con_error("%s", text);
	if (hint)
		con_hint(c->opts, "%s", hint);
}

static void report_fault(void *arg, const struct vp_fault_info *fault, uint64_t count, bool same_address)
{
	struct con_consumer *c = arg;

	c->out->ops->fault(c->out, fault, count, same_address);
}

struct ot_err *con_consumer_init(struct con_consumer *c, struct dif_options *opts,
				 const struct dif_program *prog, const struct con_output_ops *ops, FILE *fp)
{
	*c = (struct con_consumer){
		.opts = opts, .out_name = "<stdout>", .saved_fd = -1, .say = say_as_message, .say_arg = c
	};
	con_formats_init(&c->formats);
	con_faults_init(&c->faults, opts->errtags, report_fault, c);
	for (uint32_t i = 0; i < prog->nclauses; i++)
		c->has_error_clause |= !strcmp(prog->clauses[i].probe.name, "ERROR") ||
				       prog->clauses[i].probe.id == DIF_PROBE_ERROR;
	OT_TRY(con_output_create(ops, opts, fp, &c->out));
	OT_TRY(con_aggs_init(&c->inside, prog));
	OT_TRY(con_aggs_init(&c->aggs, prog));
	con_aggs_share_names(&c->inside, &c->aggs); /* a comparison joins both by key */
	return NULL;
}

void con_consumer_deinit(struct con_consumer *c)
{
	con_aggs_deinit(&c->aggs);
	con_aggs_deinit(&c->inside);
	con_faults_deinit(&c->faults);
	con_formats_deinit(&c->formats);
	free(c->held_data);
	con_output_destroy(c->out);
	if (c->saved_fd >= 0)
		close(c->saved_fd);
}

/* All aggregations, for an output that shows them as they grow. */
static struct ot_err *show_interval(struct con_consumer *c, bool last)
{
	const struct con_output_ops *ops = c->out->ops;
	bool renews = ops->file == CON_FILE_RENEWED;
	uint64_t now = ot_now_ns();

	if (!ops->interval || c->shown_ns == UINT64_MAX || (renews && !c->file && !last))
		return NULL;
	if (!last && c->shown_ns && now - c->shown_ns < c->opts->aggrate_ns)
		return NULL;
	c->shown_ns = last ? UINT64_MAX : now;
	OT_TRY(ops->interval(c->out, &c->aggs, last));
	return renews && c->file ? con_replaced_put(c->file, c->out->printer.fp, !last) : NULL;
}

struct ot_err *con_consumer_flush(struct con_consumer *c)
{
	OT_TRY(show_held(c, NULL));
	con_faults_flush(&c->faults, ot_now_ns(), false);
	OT_TRY(show_interval(c, false));
	errno = 0;
	if (fflush(c->out->printer.fp) == EOF || ferror(c->out->printer.fp))
		return ot_err_os(errno ? errno : EIO, "failed to write to %s", c->out_name);
	return NULL;
}

/* Print what records and faults have held back. */
static struct ot_err *finish_records(struct con_consumer *c)
{
	OT_TRY(show_held(c, NULL));
	con_faults_flush(&c->faults, ot_now_ns(), true);
	return NULL;
}

struct ot_err *con_consumer_finish(struct con_consumer *c)
{
	OT_TRY(finish_records(c));
	OT_TRY(show_interval(c, true));
	return con_print_rest(c->out, &c->aggs);
}

struct ot_err *con_consumer_compare(struct con_consumer *c, const struct con_window *window, bool tables)
{
	const struct con_comparison comparison = { &c->aggs, &c->inside, window, tables };

	if (tables)
		OT_TRY(finish_records(c));
	return c->out->ops->comparison(c->out, &comparison);
}
