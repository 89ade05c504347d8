/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -l, --dump-symbols, --dump-maps, and the probes of -e -v. */
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/list.h"
#include "cli/stability.h"
#include "consumer/messages.h"
#include "consumer/output/print.h"
#include "vmm-probe/session/listing.h"

/* Maximum number of args[] of a probe; missing ones are skipped. */
#define ARGS_MAX 16u

struct listing {
	FILE *fp;
	struct vp_session *session;
	const struct cli_invocation *inv;
	const struct dif_world *world;
	bool verbose;
};

static void print_arguments(const struct listing *l, const struct vp_listed *listed)
{
	struct dif_probe_arg arg;
	bool any = false;
	struct ot_buf text;

	fputs("\n\tArgument Types\n", l->fp);
	for (unsigned n = 0; n < ARGS_MAX; n++) {
		if (!vp_session_probe_arg(l->session, listed, n, &arg))
			continue;
		any = true;
		ot_buf_init(&text);
		if (arg.translated)
			ot_buf_puts(&text, arg.translated);
		else
			dif_type_print(arg.native, &text);
		if (arg.name)
			ot_buf_printf(&text, " %s", arg.name);
		ot_utf8_tame_string(text.data ? text.data : (char[]){ "" });
		fprintf(l->fp, "\t\targs[%u]: %s\n", n, ot_buf_str(&text));
		ot_buf_deinit(&text);
	}
	if (!any)
		fputs("\t\tNone\n", l->fp);
	putc('\n', l->fp);
}

static void print_details(const struct listing *l, const struct vp_listed *listed)
{
	const struct vp_probe *probe = listed->probe;
	struct dif_attribute attrs[DIF_ATTR_PARTS];

	cli_attributes(l->world, probe->provider, attrs);
	cli_print_attribute("Probe Description Attributes",
			    cli_probe_attribute(attrs, probe->module, probe->function, probe->name), l->fp);
	cli_print_attribute("Argument Attributes", attrs[DIF_ATTR_ARGS], l->fp);
	print_arguments(l, listed);
}

/* The provider's own lines. */
static void print_description(const struct listing *l, const struct vp_listed *listed)
{
	struct ot_buf text;

	ot_buf_init(&text);
	vp_session_describe(l->session, listed, &text);
	if (text.len)
		putc('\n', l->fp);
	for (char *line = text.data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		for (; *line == '\t'; line++)
			putc('\t', l->fp);
		ot_utf8_tame_string(line);
		fprintf(l->fp, "\t%s\n", line);
	}
	ot_buf_deinit(&text);
}

static void print_guest(const struct listing *l, uint32_t guest)
{
	char name[VP_GUEST_NAME];

	snprintf(name, sizeof(name), "%s", vp_session_guest_name(l->session, guest));
	ot_utf8_tame_string(name);
	fputs(name, l->fp);
}

/* After the columns, which programs parse: the shorter list of the two. */
static void print_where(const struct listing *l, const struct vp_listed *listed)
{
	uint32_t n = vp_session_nguests(l->session), have = 0, lack = 0;

	for (uint32_t i = 0; i < n; i++) {
		have += listed->of[i] != NULL;
		lack += listed->missing >> i & 1;
	}
	if (!lack)
		return;
	bool only = have <= lack;
	const char *before = only ? " (only " : " (not ";
	for (uint32_t i = 0; i < n; i++) {
		if (only ? !listed->of[i] : !(listed->missing >> i & 1))
			continue;
		fputs(before, l->fp);
		print_guest(l, i);
		before = ", ";
	}
	putc(')', l->fp);
}

/* Guests with the same kernel may have VMMs of which only some support this probe. */
static void print_refusals(const struct listing *l, const struct vp_listed *listed)
{
	uint32_t n = vp_session_nguests(l->session);

	if (n <= 1 && listed->probe->refused)
		fprintf(l->fp, "\n\tCannot be enabled: %s\n", listed->probe->refused);
	for (uint32_t i = 0; n > 1 && i < n; i++) {
		if (!listed->of[i] || !listed->of[i]->refused)
			continue;
		fputs("\n\tCannot be enabled in ", l->fp);
		print_guest(l, i);
		fprintf(l->fp, ": %s\n", listed->of[i]->refused);
	}
}

static bool print_probe(void *arg, const struct vp_listed *listed)
{
	const struct vp_probe *probe = listed->probe;
	const struct listing *l = arg;

	char module[256], function[1024];

	snprintf(module, sizeof(module), "%s", probe->module);
	snprintf(function, sizeof(function), "%s", probe->function);
	ot_utf8_tame_string(module);
	ot_utf8_tame_string(function);
	fprintf(l->fp, "%5u %10s %17s %33s %s", probe->id, probe->provider, module, function, probe->name);
	print_where(l, listed);
	putc('\n', l->fp);
	if (!l->verbose)
		return !ferror(l->fp);
	print_refusals(l, listed);
	print_description(l, listed);
	print_details(l, listed);
	return !ferror(l->fp);
}

static bool print_first_details(void *arg, const struct vp_listed *listed)
{
	print_details(arg, listed);
	return false;
}

static bool same_description(const struct dif_probedesc *a, const struct dif_probedesc *b)
{
	return a->id == b->id && !strcmp(a->provider, b->provider) && !strcmp(a->module, b->module) &&
	       !strcmp(a->function, b->function) && !strcmp(a->name, b->name);
}

void cli_list_descriptions(struct vp_session *s, const struct con_compilation *c,
			   const struct con_compiled *unit, FILE *fp)
{
	struct listing l = { fp, s, NULL, vp_session_world(s, 0), true };

	for (uint32_t i = unit->first; i < unit->end; i++) {
		const struct dif_probedesc *desc = &c->prog.clauses[i].probe;
		uint64_t count = 0;
		if (i > unit->first && same_description(desc, &c->prog.clauses[i - 1].probe))
			continue;
		fprintf(fp, "\n%s:%s:%s:%s\n", desc->provider, desc->module, desc->function, desc->name);
		ot_err_destroy(vp_session_match(s, desc, false, print_first_details, &l, &count));
	}
}

static void report_none(const struct cli_invocation *inv, const struct dif_world *world,
			const struct dif_probedesc *desc)
{
	struct ot_buf why = { 0 };
	bool refused = world->why_none && world->why_none(world->env, desc, &why);

	con_error("failed to match %s:%s:%s:%s: No probe matches description%s%s", desc->provider,
		  desc->module, desc->function, desc->name, refused ? ": " : "",
		  refused ? ot_buf_str(&why) : "");
	ot_buf_clear(&why);
	if (!refused && world->hint_probe && world->hint_probe(world->env, desc, &why))
		con_hint(&inv->opts, "%s", ot_buf_str(&why));
	ot_buf_deinit(&why);
}

/* Does a clause for the first kernel have the description of this one, which is for another? It does unless
 * it was in error there. */
static bool is_listed(const struct dif_program *prog, uint32_t clause)
{
	for (uint32_t i = 0; prog->clauses[clause].kernel && i < clause; i++)
		if (same_description(&prog->clauses[i].probe, &prog->clauses[clause].probe))
			return true;
	return false;
}

/* `a,a { … }` and an if of several clauses list a description once. */
static struct ot_err *list_clauses(struct vp_session *s, struct listing *l, const struct con_compilation *c)
{
	for (uint32_t i = 0; i < c->prog.nclauses; i++) {
		const struct dif_probedesc *desc = &c->prog.clauses[i].probe;
		uint64_t count = 0;
		if ((i && same_description(desc, &c->prog.clauses[i - 1].probe)) || is_listed(&c->prog, i))
			continue;
		OT_TRY(vp_session_match(s, desc, l->verbose, print_probe, l, &count));
		if (!count)
			report_none(l->inv, l->world, desc);
	}
	return NULL;
}

int cli_list(struct vp_session *s, const struct cli_invocation *inv, const struct con_compilation *c,
	     FILE *fp)
{
	struct listing l = { fp, s, inv, vp_session_world(s, 0), inv->verbose };
	struct dif_probedesc all = { .guest = "", .provider = "", .module = "", .function = "", .name = "" };
	struct ot_err *err;
	uint64_t count;

	fprintf(fp, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	if (c->nunits)
		err = list_clauses(s, &l, c);
	else
		err = vp_session_match(s, &all, inv->verbose, print_probe, &l, &count);
	if (err)
		return con_fail(err, NULL);
	return con_finish_output(fp, inv->out ? inv->out : "<stdout>");
}

static bool print_symbol(void *arg, uint64_t addr, char type, const char *name, const char *module)
{
	FILE *fp = arg;
	char text[1024];

	snprintf(text, sizeof(text), "%s", name);
	ot_utf8_tame_string(text);
	fprintf(fp, "%016llx %c %s", (unsigned long long)addr, type, text);
	if (module && *module) {
		snprintf(text, sizeof(text), "%s", module);
		ot_utf8_tame_string(text);
		fprintf(fp, "\t[%s]", text);
	}
	putc('\n', fp);
	return !ferror(fp);
}

int cli_dump_symbols(struct vp_session *s, FILE *fp)
{
	struct ot_err *err = vp_session_each_symbol(s, print_symbol, fp);

	if (err)
		return con_fail(err, NULL);
	return con_finish_output(fp, "<stdout>");
}

int cli_dump_maps(struct vp_session *s, uint64_t pid, FILE *fp)
{
	struct ot_buf text;
	struct ot_err *err;

	ot_buf_init(&text);
	err = vp_session_maps(s, 0, pid, &text);
	if (!err) {
		for (char *line = text.data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			ot_utf8_tame_string(line);
			fprintf(fp, "%s\n", line);
		}
	}
	ot_buf_deinit(&text);
	return err ? con_fail(err, NULL) : con_finish_output(fp, "<stdout>");
}
