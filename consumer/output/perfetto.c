/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for Perfetto: each guest is a process, each of its vCPUs a thread with the TID that it has on this
 * host, so that a trace of the host falls onto the same tracks. A record is an event on its vCPU's track; if
 * it has the datum `tid`, on that of the guest's thread, which `execname` names. An entry probe opens a
 * slice, the return probe of the same function closes it, all else is an instant. Stacks are the event's,
 * other data and printf()'s text its annotations. Aggregations are counters (perfetto_counters.c).
 */
#include "consumer/output/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "consumer/output/keys.h"

#define TRACK_NAME 128 /* names of guests and threads are shorter */

/* --- tracks -------------------------------------------------------------------------------------------- */

/* A track's key, which is compared as bytes. */
struct key {
	enum { HOST, GUEST, VCPU, THREAD } kind;
	uint32_t guest;
	uint64_t number;
};

/* Fills @name and @d for the track of @key. */
typedef void describe_fn(struct con_perfetto *p, const struct key *key, char name[TRACK_NAME],
			 struct con_perfetto_descriptor *d);

/* NULL: too many tracks, or no memory. Only a track's first event includes its description. */
static struct con_perfetto_track *track_of(struct con_perfetto *p, struct key key, describe_fn *describe)
{
	struct con_perfetto_track *track = con_perfetto_find(&p->trace, &key, sizeof(key));
	char name[TRACK_NAME] = "";
	struct con_perfetto_descriptor d = { .name = name };

	if (track)
		return track;
	describe(p, &key, name, &d);
	return con_perfetto_add(&p->trace, &key, sizeof(key), &d);
}

static void describe_host(struct con_perfetto *p, const struct key *key, char name[TRACK_NAME],
			  struct con_perfetto_descriptor *d)
{
	(void)p, (void)key, (void)d;
	snprintf(name, TRACK_NAME, "outsight");
}

static struct con_perfetto_track *host_track(struct con_perfetto *p)
{
	return track_of(p, (struct key){ .kind = HOST }, describe_host);
}

/* This host's process and thread that run a vCPU. */
static void find_thread(struct con_perfetto *p, uint32_t guest, uint32_t cpu, uint32_t *ret_pid,
			uint32_t *ret_tid)
{
	const struct con_symbols *symbols = &p->base.printer.symbols;

	*ret_pid = *ret_tid = 0;
	if (symbols->vcpu)
		symbols->vcpu(symbols->arg, guest, cpu, ret_pid, ret_tid);
}

static void describe_guest(struct con_perfetto *p, const struct key *key, char name[TRACK_NAME],
			   struct con_perfetto_descriptor *d)
{
	const struct con_symbols *symbols = &p->base.printer.symbols;
	const char *known = symbols->guest ? symbols->guest(symbols->arg, key->guest) : NULL;
	uint32_t tid;

	snprintf(name, TRACK_NAME, "%s", known ? known : "guest");
	find_thread(p, key->guest, 0, &d->pid, &tid);
}

struct con_perfetto_track *con_perfetto_guest(struct con_perfetto *p, uint32_t guest)
{
	return track_of(p, (struct key){ .kind = GUEST, .guest = guest }, describe_guest);
}

static uint64_t guest_uuid(struct con_perfetto *p, uint32_t guest)
{
	const struct con_perfetto_track *track = con_perfetto_guest(p, guest);

	return track ? track->uuid : 0;
}

/* Without a thread of this host it is a track like any other. */
static void describe_vcpu(struct con_perfetto *p, const struct key *key, char name[TRACK_NAME],
			  struct con_perfetto_descriptor *d)
{
	snprintf(name, TRACK_NAME, "CPU %u", p->cpu);
	d->parent = guest_uuid(p, key->guest);
	find_thread(p, key->guest, p->cpu, &d->pid, &d->tid);
	if (!d->tid)
		d->pid = 0;
}

static struct con_perfetto_track *vcpu_track(struct con_perfetto *p)
{
	return track_of(p, (struct key){ .kind = VCPU, .guest = p->ecb->guest, .number = p->cpu },
			describe_vcpu);
}

static void describe_thread(struct con_perfetto *p, const struct key *key, char name[TRACK_NAME],
			    struct con_perfetto_descriptor *d)
{
	snprintf(name, TRACK_NAME, "%s %lld", *p->execname ? p->execname : "thread", (long long)p->tid);
	d->parent = guest_uuid(p, key->guest);
}

static struct con_perfetto_track *thread_track(struct con_perfetto *p)
{
	const struct key key = { .kind = THREAD, .guest = p->ecb->guest, .number = (uint64_t)p->tid };

	return track_of(p, key, describe_thread);
}

/* NULL: there is none left. */
static struct con_perfetto_track *record_track(struct con_perfetto *p)
{
	if (p->ecb->probe->kind == VP_PROBE_HOST)
		return host_track(p);
	struct con_perfetto_track *track = p->has_tid ? thread_track(p) : NULL;
	return track ? track : vcpu_track(p);
}

/* --- a record's data ----------------------------------------------------------------------------------- */

static void keep_error(struct con_perfetto *p, struct ot_err *err)
{
	if (p->err)
		ot_err_destroy(err);
	else
		p->err = err;
}

static void perfetto_record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next)
{
	struct con_perfetto *p = (struct con_perfetto *)o;

	(void)next;
	con_perfetto_begin(&p->trace);
	o->printer.guest = r->ecb->guest;
	p->ecb = r->ecb;
	p->cpu = r->cpu;
	p->time_ns = r->time_ns;
	p->has_tid = false;
	p->nvalues = 0;
	p->execname[0] = '\0';
	ot_buf_clear(&p->fields.buf);
	for (int user = 0; user <= 1; user++)
		ot_buf_clear(&p->frames[user]);
}

/* Does the datum identify the event's track? */
static bool is_owner(struct con_perfetto *p, const struct con_datum *d, const char *variable)
{
	if (!strcmp(variable, "tid") && con_datum_shape(d) == CON_SHAPE_INTEGER) {
		p->has_tid = true;
		p->tid = con_load_integer(d->data, d->size);
		return true;
	}
	if (strcmp(variable, "execname") != 0 || con_datum_shape(d) != CON_SHAPE_STRING)
		return false;
	snprintf(p->execname, sizeof(p->execname), "%.*s", (int)strnlen((const char *)d->data, d->size),
		 (const char *)d->data);
	return true;
}

/* @name NULL: "value", "value2" … */
static void annotate(struct con_perfetto *p, const struct con_datum *d, const char *name)
{
	char numbered[24] = "value";
	struct ot_buf text;

	if (!name && ++p->nvalues > 1)
		snprintf(numbered, sizeof(numbered), "value%u", p->nvalues);
	name = name ? name : numbered;
	if (con_datum_shape(d) == CON_SHAPE_INTEGER) {
		con_perfetto_put_number(&p->fields, name, con_load_integer(d->data, d->size));
		return;
	}
	ot_buf_init(&text);
	con_key_text(&text, &p->base.printer, d);
	con_perfetto_put_text(&p->fields, name, ot_buf_str(&text), text.len);
	p->fields.buf.failed |= text.failed;
	ot_buf_deinit(&text);
}

static void perfetto_value(struct con_output *o, const struct con_datum *d)
{
	struct con_perfetto *p = (struct con_perfetto *)o;
	const char *variable = con_datum_variable(d);

	if (con_datum_shape(d) == CON_SHAPE_STACK)
		con_fold_frames(&p->frames[d->action->kind != DIF_ACT_stack], &o->printer, d);
	else if (!variable || !is_owner(p, d, variable))
		annotate(p, d, variable);
}

static void perfetto_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
			  unsigned nargs)
{
	struct con_perfetto *p = (struct con_perfetto *)o;
	struct con_printer printer = o->printer;
	char *text = NULL;
	size_t len = 0;

	for (unsigned i = 0; i < nargs; i++) {
		const char *variable = con_datum_variable(&args[i]);
		if (variable)
			is_owner(p, &args[i], variable);
	}
	printer.fp = open_memstream(&text, &len);
	if (!printer.fp) {
		keep_error(p, ot_err_nomem());
		return;
	}
	con_print_format(&printer, fmt, args, nargs, NULL, 0);
	fclose(printer.fp);
	while (len && text[len - 1] == '\n')
		len--;
	if (len)
		con_perfetto_put_text(&p->fields, "printf", text, len);
	free(text);
}

/* --- its event ----------------------------------------------------------------------------------------- */

/* A process's frames are outer frames of the kernel's. */
static void put_stacks(struct con_perfetto *p)
{
	struct ot_buf *kernel = &p->frames[0], *user = &p->frames[1];

	if (user->len && kernel->len)
		ot_buf_putc(user, ';');
	ot_buf_append(user, ot_buf_str(kernel), kernel->len);
	if (user->len)
		con_perfetto_put_stack(&p->fields, ot_buf_str(user), user->len);
	p->fields.buf.failed |= user->failed | kernel->failed;
}

/* The common key of a function's entry and return; NULL: no memory. */
static const void *function_of(struct con_perfetto *p, const struct vp_probe *probe)
{
	struct ot_buf key;
	const void *found;

	ot_buf_init(&key);
	ot_buf_printf(&key, "%s:%s:%s", probe->provider, probe->module, probe->function);
	found = ot_map_get(&p->functions, ot_buf_str(&key), key.len);
	if (!found && ot_map_put(&p->functions, ot_buf_str(&key), key.len, (void *)(p->functions.count + 1)))
		found = ot_map_get(&p->functions, ot_buf_str(&key), key.len);
	ot_buf_deinit(&key);
	return found;
}

/* Additional clauses of one firing have the same time: their records are instants in, or after, its slice. */
static bool is_first_clause(struct con_perfetto *p, const struct con_perfetto_track *track)
{
	bool again = p->last.track == track && p->last.probe == p->ecb->probe &&
		     p->last.time_ns == p->time_ns && p->last.cpu == p->cpu;

	p->last.track = track;
	p->last.probe = p->ecb->probe;
	p->last.time_ns = p->time_ns;
	p->last.cpu = p->cpu;
	return !again;
}

static bool put_slice(struct con_perfetto *p, struct con_perfetto_track *track)
{
	const struct vp_probe *probe = p->ecb->probe;
	bool opens = !strcmp(probe->name, "entry"), closes = !strcmp(probe->name, "return");

	if ((!opens && !closes) || !*probe->function || !is_first_clause(p, track))
		return false;
	const void *function = function_of(p, probe);
	if (!function) {
		p->trace.failed = true;
		return true;
	}
	return opens ? con_perfetto_open(&p->trace, track, p->time_ns, function, probe->function, &p->fields)
		     : con_perfetto_close(&p->trace, track, p->time_ns, function, &p->fields);
}

static void put_instant(struct con_perfetto *p, struct con_perfetto_track *track)
{
	const struct vp_probe *probe = p->ecb->probe;
	bool has_both = *probe->function && *probe->name;
	char name[512];

	snprintf(name, sizeof(name), "%s%s%s", probe->function, has_both ? ":" : "", probe->name);
	con_perfetto_event(&p->trace, track, p->time_ns, CON_PERFETTO_INSTANT, name, &p->fields);
}

static void perfetto_record_end(struct con_output *o)
{
	struct con_perfetto *p = (struct con_perfetto *)o;
	struct con_perfetto_track *track = record_track(p);

	put_stacks(p);
	if (track && !put_slice(p, track))
		put_instant(p, track);
	keep_error(p, con_perfetto_write(&p->trace, o->printer.fp, false));
}

/* --- the session --------------------------------------------------------------------------------------- */

static void perfetto_drop(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	struct con_perfetto *p = (struct con_perfetto *)o;
	char message[256];

	con_text_drop(o, kind, cpu, count);
	con_perfetto_begin(&p->trace);
	con_drop_text(kind, cpu, count, message, sizeof(message));
	struct con_perfetto_track *track = host_track(p);
	if (track)
		con_perfetto_event(&p->trace, track, ot_now_ns(), CON_PERFETTO_INSTANT, message, NULL);
}

static void perfetto_moment(struct con_output *o)
{
	(void)o;
}

static void report_full(const struct con_perfetto *p)
{
	if (p->trace.full)
		con_error(
		    "oformat=perfetto leaves out what would need more than %u tracks: aggregate by fewer "
		    "keys, or trace fewer threads",
		    CON_PERFETTO_TRACKS);
}

static struct ot_err *perfetto_end(struct con_output *o)
{
	struct con_perfetto *p = (struct con_perfetto *)o;
	struct ot_err *err;

	if (p->ended)
		return NULL;
	p->ended = true;
	con_perfetto_begin(&p->trace);
	con_perfetto_close_all(&p->trace, ot_now_ns());
	keep_error(p, con_perfetto_write(&p->trace, o->printer.fp, true));
	report_full(p);
	con_perfetto_deinit(&p->trace);
	con_pb_deinit(&p->fields);
	for (int user = 0; user <= 1; user++)
		ot_buf_deinit(&p->frames[user]);
	ot_map_deinit(&p->functions);
	err = p->err;
	p->err = NULL;
	return err;
}

const struct con_output_ops con_output_perfetto = {
	.format = "perfetto",
	.suffix = ".pftrace",
	.file = CON_FILE_REPLACED,
	.binary = true,
	.size = sizeof(struct con_perfetto),
	.record = perfetto_record,
	.value = perfetto_value,
	.text = perfetto_text,
	.aggregation = con_perfetto_aggregation,
	.record_end = perfetto_record_end,
	.interval = con_perfetto_interval,
	.fault = con_text_fault,
	.drop = perfetto_drop,
	.overload = con_text_overload,
	.interrupted = perfetto_moment,
	.stopped = perfetto_moment,
	.end = perfetto_end,
	.comparison = con_text_comparison,
	.hidden = con_text_hidden,
};
