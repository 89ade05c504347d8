/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of dtrace(1): records as lines under a heading or indented by flow, messages on stderr. */
#include "consumer/output/text.h"

#include <string.h>

#include "base/utf8.h"
#include "consumer/messages.h"

/* --- lines --------------------------------------------------------------------------------------------- */

enum flow { FLOW_NONE, FLOW_ENTRY, FLOW_RETURN };

static bool ends_in(const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);

	return n >= w && !strcmp(name + n - w, word) && (n == w || name[n - w - 1] == '-');
}

static enum flow flow_of(const struct vp_enabled *ecb)
{
	return ends_in(ecb->probe->name, "entry")    ? FLOW_ENTRY
	       : ends_in(ecb->probe->name, "return") ? FLOW_RETURN
						     : FLOW_NONE;
}

/* Another clause of the same firing: the same probe by another EPID. */
static bool same_firing(const struct vp_enabled *a, const struct vp_enabled *b)
{
	return a && b && a->epid != b->epid && a->guest == b->guest && a->probe->id == b->probe->id;
}

static void print_flow_line(struct con_text *t, const struct vp_record *r, const struct vp_enabled *next)
{
	const struct vp_probe *probe = r->ecb->probe;
	bool syscall = !strcmp(probe->provider, "syscall");
	enum flow flow = flow_of(r->ecb);
	char name[1024];

	if ((flow == FLOW_ENTRY && same_firing(r->ecb, t->last)) ||
	    (flow == FLOW_RETURN && same_firing(r->ecb, next)))
		flow = FLOW_NONE;
	if (flow == FLOW_RETURN && t->indent > 0)
		t->indent -= 2;
	if (flow == FLOW_NONE)
		snprintf(name, sizeof(name), "%*s| %s:%s", t->indent, "", probe->function, probe->name);
	else
		snprintf(name, sizeof(name), "%*s %s %s", t->indent, "",
			 flow == FLOW_ENTRY ? syscall ? "=>" : "->"
			 : syscall          ? "<="
					    : "<-",
			 probe->function);
	ot_utf8_tame_string(name);
	fprintf(t->base.printer.fp, "%3u %-41s ", r->cpu, name);
	if (flow == FLOW_ENTRY && t->indent < 512) /* a lost return must not indent for ever */
		t->indent += 2;
}

static void print_heading(struct con_text *t)
{
	const struct dif_options *opts = t->base.printer.opts;

	if (t->heading_printed)
		return;
	t->heading_printed = true;
	if (opts->flowindent)
		fprintf(t->base.printer.fp, "%3s %-41s\n", "CPU", "FUNCTION");
	else if (!opts->quiet)
		fprintf(t->base.printer.fp, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
}

static void print_line(FILE *fp, const struct vp_record *r)
{
	const struct vp_probe *probe = r->ecb->probe;
	char name[512];

	snprintf(name, sizeof(name), "%s:%s", probe->function, probe->name);
	ot_utf8_tame_string(name);
	fprintf(fp, "%3u %6u %32s ", r->cpu, probe->id, name);
}

bool con_text_awaits_next(const struct con_output *o, const struct vp_record *r)
{
	return o->printer.opts->flowindent && flow_of(r->ecb) == FLOW_RETURN;
}

void con_text_record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next)
{
	struct con_text *t = (struct con_text *)o;
	const struct dif_options *opts = o->printer.opts;

	o->printer.guest = r->ecb->guest;
	print_heading(t);
	if (opts->flowindent)
		print_flow_line(t, r, next);
	else if (!opts->quiet)
		print_line(o->printer.fp, r);
	t->last = r->ecb;
}

void con_text_value(struct con_output *o, const struct con_datum *d)
{
	con_print_datum(&o->printer, d, CON_WIDTH_TRACE);
}

void con_text_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		   unsigned nargs)
{
	con_print_format(&o->printer, fmt, args, nargs, NULL, 0);
}

void con_text_record_end(struct con_output *o)
{
	if (!o->printer.opts->quiet)
		putc('\n', o->printer.fp);
}

/* --- messages, and the end ----------------------------------------------------------------------------- */

/* AT_FDCWD in 32 bits: the directory that precedes the path in calls that end in "at", read as the path. */
#define CURRENT_DIRECTORY 0xffffff9c
#define DESCRIPTORS       1024 /* of other directories, as the usual limit of a process has them */

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

/* A call such as openat() has a directory's descriptor in front of the path. A small address is one. */
static bool is_directory(const struct vp_fault_info *fault)
{
	const char *call = fault->ecb->probe->function;

	if (strcmp(fault->ecb->probe->provider, "syscall") != 0)
		return false;
	return (uint32_t)fault->address == CURRENT_DIRECTORY ||
	       (fault->address && fault->address < DESCRIPTORS && ends_with(call, "at") &&
		!ends_with(call, "stat"));
}

void con_text_fault(struct con_output *o, const struct vp_fault_info *fault, uint64_t count,
		    bool same_address)
{
	if (count == 1)
		con_report_fault(fault);
	else
		con_report_faults(fault, count, same_address);
	if (o->directory_explained || !is_directory(fault))
		return;
	o->directory_explained = true;
	con_hint(o->printer.opts,
		 "arg0 of %s is a directory's descriptor, -100 for the current one; the path is arg1",
		 fault->ecb->probe->function);
}

void con_text_drop(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	con_report_drop(o->printer.opts, kind, cpu, count);
}

void con_text_overload(struct con_output *o, const struct vp_overload_info *overload)
{
	(void)o;
	con_report_overload(overload);
}

void con_text_empty_line(struct con_output *o)
{
	putc('\n', o->printer.fp);
}

const struct con_output_ops con_output_text = {
	.format = "text",
	CON_TEXT_OPS,
	.comparison = con_text_comparison,
	.hidden = con_text_hidden,
};
