/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output for programs. json and xml are one document in the form that FreeBSD's dtrace(1) has, member by
 * member (its manual, "Structured output"), with the guest's name and the aggregations of the end added;
 * jsonl is one JSON object a line, for pipes. What each datum becomes is in structured_data.c.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "consumer/messages.h"
#include "consumer/output/structured.h"

/* The open part of the document. */
enum stage { NOT_BEGUN, IN_PROBES, IN_AGGREGATIONS, ENDED };

struct structured {
	struct con_output base;
	struct con_tree tree;
	enum stage stage;
	bool in_record;
	struct ot_err *err; /* the first; reported by end() */
	uint64_t records, drops, faults;
	uint64_t wall_ns; /* added to the monotonic clock: the time of day */
	char host[256];
};

static struct structured *of(struct con_output *o)
{
	return (struct structured *)o;
}

static bool is_lines(const struct structured *s)
{
	return s->base.ops == &con_output_jsonl;
}

static void keep_error(struct structured *s, struct ot_err *err)
{
	if (s->err)
		ot_err_destroy(err);
	else
		s->err = err;
}

/* --- the document, or a line --------------------------------------------------------------------------- */

static bool wants_pretty(const struct dif_options *opts)
{
	const char *format = ot_map_gets(&opts->set, "oformat");

	return format && strstr(format, ",pretty");
}

static void begin(struct structured *s)
{
	struct timespec wall;

	if (s->stage != NOT_BEGUN)
		return;
	s->stage = IN_PROBES;
	clock_gettime(CLOCK_REALTIME, &wall);
	s->wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec - ot_now_ns();
	if (gethostname(s->host, sizeof(s->host) - 1))
		s->host[0] = '\0';
	con_tree_init(&s->tree, s->base.printer.fp, s->base.ops == &con_output_xml,
		      !is_lines(s) && wants_pretty(s->base.printer.opts));
	if (is_lines(s))
		return;
	con_tree_object(&s->tree, NULL);
	con_tree_object(&s->tree, "dtrace");
	con_tree_list(&s->tree, "probes");
}

/* A line other than a record. */
static void begin_line(struct structured *s, const char *type)
{
	begin(s);
	con_tree_object(&s->tree, NULL);
	con_tree_string(&s->tree, "type", type);
	con_tree_int(&s->tree, "time", ot_now_ns() + s->wall_ns);
	con_tree_string(&s->tree, "host", s->host);
}

static void end_line(struct structured *s)
{
	con_tree_end(&s->tree);
	keep_error(s, con_tree_finish(&s->tree));
}

/* BEGIN, END and tick belong to no guest. */
static void put_guest(struct structured *s, const struct vp_enabled *ecb)
{
	const struct con_symbols *names = &s->base.printer.symbols;
	bool has_guest = names->guest && ecb->probe->kind != VP_PROBE_HOST;
	const char *name = has_guest ? names->guest(names->arg, ecb->guest) : NULL;

	if (name)
		con_tree_string(&s->tree, "guest", name);
}

/* --- records ------------------------------------------------------------------------------------------- */

static void put_description(struct con_tree *t, const struct vp_probe *probe)
{
	con_tree_string(t, "provider", probe->provider);
	con_tree_string(t, "module", probe->module);
	con_tree_string(t, "function", probe->function);
	con_tree_string(t, "name", probe->name);
}

static void put_probe_name(struct con_tree *t, const struct vp_probe *probe)
{
	char name[1024];

	snprintf(name, sizeof(name), "%s:%s:%s:%s", probe->provider, probe->module, probe->function,
		 probe->name);
	con_tree_string(t, "probe", name);
}

static void record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next)
{
	struct structured *s = of(o);
	struct con_tree *t = &s->tree;

	(void)next;
	begin(s);
	o->printer.guest = r->ecb->guest;
	con_tree_object(t, NULL);
	if (is_lines(s)) {
		con_tree_string(t, "type", "record");
		con_tree_int(t, "time", r->time_ns + s->wall_ns);
		con_tree_string(t, "host", s->host);
		put_guest(s, r->ecb);
	} else {
		con_tree_int(t, "timestamp", r->time_ns);
	}
	con_tree_int(t, "cpu", r->cpu);
	con_tree_int(t, "id", r->ecb->probe->id);
	if (is_lines(s)) {
		put_probe_name(t, r->ecb->probe);
	} else {
		put_description(t, r->ecb->probe);
		put_guest(s, r->ecb);
	}
	con_tree_list(t, "output");
	s->in_record = true;
	s->records++;
}

static void value(struct con_output *o, const struct con_datum *d)
{
	keep_error(of(o), con_structured_item(&of(o)->tree, &o->printer, d));
}

/* FreeBSD's form: the text, then each argument; a 0 where there is none. */
static void text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		 unsigned nargs)
{
	struct structured *s = of(o);

	keep_error(s, con_structured_message(&s->tree, &o->printer, fmt, args, nargs, NULL, 0));
	for (unsigned i = 0; i < nargs; i++)
		value(o, &args[i]);
	if (nargs)
		return;
	con_tree_object(&s->tree, NULL);
	con_tree_int(&s->tree, "value", 0);
	con_tree_end(&s->tree);
}

static void record_end(struct con_output *o)
{
	struct structured *s = of(o);

	s->in_record = false;
	con_tree_end(&s->tree);
	if (is_lines(s))
		end_line(s);
	else
		con_tree_end(&s->tree);
}

/* --- aggregations -------------------------------------------------------------------------------------- */

/* At the end of the session they are of no probe. */
static void begin_aggregations(struct structured *s)
{
	begin(s);
	if (s->stage == IN_AGGREGATIONS)
		return;
	s->stage = IN_AGGREGATIONS;
	con_tree_end(&s->tree);
	con_tree_list(&s->tree, "aggregations");
}

static struct ot_err *rest(struct structured *s, const struct con_agg_view *v)
{
	if (!v->nrows)
		return NULL;
	if (!is_lines(s)) {
		begin_aggregations(s);
		return con_structured_aggregation(&s->tree, &s->base.printer, v, 0, true);
	}
	begin_line(s, "aggregation");
	con_tree_bool(&s->tree, "final", true);
	struct ot_err *err = con_structured_aggregation(&s->tree, &s->base.printer, v, 0, false);
	end_line(s);
	return err;
}

static struct ot_err *aggregation(struct con_output *o, const struct con_agg_view *v,
				  const struct dif_format *fmt)
{
	struct structured *s = of(o);

	if (!s->in_record)
		return rest(s, v);
	if (fmt)
		OT_TRY(con_structured_rows(&s->tree, &o->printer, v, fmt));
	for (unsigned i = 0; i < v->ncolumns; i++)
		OT_TRY(con_structured_aggregation(&s->tree, &o->printer, v, i, true));
	return NULL;
}

/* --- messages: on stderr too, as in text --------------------------------------------------------------- */

static void fault(struct con_output *o, const struct vp_fault_info *f, uint64_t count, bool same_address)
{
	struct structured *s = of(o);
	char message[1536];

	con_text_fault(o, f, count, same_address);
	s->faults += count;
	if (!is_lines(s))
		return;
	con_fault_text(f, count, same_address, message, sizeof(message));
	begin_line(s, "error");
	put_guest(s, f->ecb);
	con_tree_int(&s->tree, "cpu", f->cpu);
	put_probe_name(&s->tree, f->ecb->probe);
	con_tree_int(&s->tree, "count", count);
	con_tree_string(&s->tree, "msg", message);
	end_line(s);
}

/* FreeBSD's documents show drops as a probe of this name. */
static void put_drop_probe(struct con_tree *t)
{
	static const struct vp_probe probe = {
		.provider = "dtrace", .module = "INTERNAL", .function = "INTERNAL", .name = "DROP"
	};

	con_tree_object(t, NULL);
	con_tree_int(t, "cpu", -1);
	con_tree_int(t, "id", -1);
	put_description(t, &probe);
	con_tree_int(t, "timestamp", ot_now_ns());
}

static void drop(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	struct structured *s = of(o);
	char message[256];

	con_text_drop(o, kind, cpu, count);
	con_drop_text(kind, cpu, count, message, sizeof(message));
	s->drops += count;
	begin(s);
	if (!is_lines(s) && s->stage != IN_PROBES)
		return;
	if (is_lines(s))
		begin_line(s, "drop");
	else
		put_drop_probe(&s->tree);
	con_tree_int(&s->tree, "count", count);
	con_tree_int(&s->tree, "total", s->drops);
	con_tree_int(&s->tree, "kind", kind);
	con_tree_string(&s->tree, "msg", message);
	if (is_lines(s))
		end_line(s);
	else
		con_tree_end(&s->tree);
}

static void overload(struct con_output *o, const struct vp_overload_info *info)
{
	struct structured *s = of(o);

	con_text_overload(o, info);
	if (!is_lines(s))
		return;
	begin_line(s, "overload");
	put_guest(s, info->ecb);
	put_probe_name(&s->tree, info->ecb->probe);
	con_tree_int(&s->tree, "probes", info->taken);
	con_tree_int(&s->tree, "percent", info->percent);
	con_tree_int(&s->tree, "limit", info->limit);
	end_line(s);
}

/* The reason as a word, for programs. */
static const char *end_word(enum vp_guest_end how)
{
	static const char *const words[VP_GUEST_ENDS] = {
		[VP_GUEST_POWERED_OFF] = "powered-off",
		[VP_GUEST_RESET] = "rebooted",
		[VP_GUEST_TRIPLE_FAULT] = "triple-fault",
		[VP_GUEST_FAILED] = "failed",
		[VP_GUEST_UNREACHABLE] = "unreachable",
		[VP_GUEST_DETACHED] = "detached",
		[VP_GUEST_SAVED] = "saved",
		[VP_GUEST_CHANGED] = "changed",
		[VP_GUEST_LOADED] = "loaded",
		[VP_GUEST_HUNG_UP] = "unreachable",
	};
	const char *word = how < VP_GUEST_ENDS ? words[how] : NULL;

	return word ? word : "ended"; /* its VMM ended */
}

static void guest(struct con_output *o, const struct vp_guest_news *news)
{
	struct structured *s = of(o);

	if (!is_lines(s))
		return;
	begin_line(s, "guest");
	con_tree_string(&s->tree, "guest", news->name);
	con_tree_string(&s->tree, "what", news->joined ? "joined" : "left");
	if (!news->joined) {
		con_tree_string(&s->tree, "why", end_word(news->how));
		con_tree_string(&s->tree, "msg", news->text);
	}
	end_line(s);
}

/* --- the end ------------------------------------------------------------------------------------------- */

static void end_document(struct structured *s)
{
	begin(s);
	for (int i = 0; i < 3; i++) /* the list, "dtrace", the root */
		con_tree_end(&s->tree);
	keep_error(s, con_tree_finish(&s->tree));
}

static void end_lines(struct structured *s)
{
	begin_line(s, "end");
	con_tree_int(&s->tree, "records", s->records);
	con_tree_int(&s->tree, "drops", s->drops);
	con_tree_int(&s->tree, "errors", s->faults);
	end_line(s);
}

static struct ot_err *end(struct con_output *o)
{
	struct structured *s = of(o);
	struct ot_err *err;

	if (s->stage == ENDED)
		return NULL;
	if (s->in_record) /* an error interrupted it */
		record_end(o);
	if (is_lines(s))
		end_lines(s);
	else
		end_document(s);
	s->stage = ENDED;
	err = s->err;
	s->err = NULL;
	return err;
}

#define OPS(form, pretty)                                                                                  \
	{                                                                                                  \
		.format = form, .has_pretty = pretty, .size = sizeof(struct structured), .record = record, \
		.value = value, .text = text, .aggregation = aggregation, .record_end = record_end,        \
		.fault = fault, .drop = drop, .overload = overload, .guest = guest, .end = end,            \
		.comparison = con_text_comparison, .hidden = con_text_hidden,                              \
	}

const struct con_output_ops con_output_document = OPS("json", true);
const struct con_output_ops con_output_xml = OPS("xml", true);
const struct con_output_ops con_output_jsonl = OPS("jsonl", false);
