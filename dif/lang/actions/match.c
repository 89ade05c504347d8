/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes that a clause's descriptions match, and the common part of their args[]. */
#include "dif/lang/actions/match.h"

#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/check/sugar.h"

struct match_state {
	struct dif_compiler *c;
	bool failed;
};

enum agreement {
	ALIKE,
	TRANSLATED, /* from different types, to the same one */
	DIFFERENT,
};

/* Have two probes the same args[n], or neither of them one? */
static enum agreement compare_arg(struct dif_compiler *c, uint32_t a_id, uint32_t b_id, unsigned n)
{
	struct dif_probe_arg a, b;
	bool has_a = c->world->probe_arg(c->world->env, a_id, n, &a);
	bool has_b = c->world->probe_arg(c->world->env, b_id, n, &b);

	if (!has_a || !has_b)
		return has_a == has_b ? ALIKE : DIFFERENT;
	if (strcmp(a.translated ? a.translated : "", b.translated ? b.translated : "") != 0)
		return DIFFERENT;
	if (a.mapping == b.mapping && dif_type_same(c, a.native, b.native))
		return ALIKE;
	return a.translated ? TRANSLATED : DIFFERENT;
}

/* Note the args[n] that do not agree with those of the first probe; bit 63 represents all further ones. */
static void compare_args(struct dif_compiler *c, const struct dif_probe_info *probe)
{
	struct dif_clause_state *cl = c->clause;

	for (int n = 0; n < cl->first.nargs || n < probe->nargs; n++) {
		uint64_t bit = 1ull << (n < 63 ? n : 63);
		enum agreement found = DIFFERENT;
		if (cl->args_differ & bit)
			continue;
		if (n < cl->first.nargs && n < probe->nargs)
			found = c->world->probe_arg ? compare_arg(c, cl->first.id, probe->id, (unsigned)n)
						    : ALIKE;
		if (found == DIFFERENT)
			cl->args_differ |= bit;
		else if (found == TRANSLATED)
			cl->is_split = true;
	}
}

/* Are a probe's args[] of the provider's own types, which D documents, not of the kernel's? */
static bool is_translated(struct dif_compiler *c, const struct dif_probe_info *probe)
{
	struct dif_probe_arg arg;

	for (int n = 0; n < probe->nargs && c->world->probe_arg; n++)
		if (c->world->probe_arg(c->world->env, probe->id, (unsigned)n, &arg) && arg.translated)
			return true;
	return false;
}

/* An args[n] of a provider's own type is known if every probe has the same one; of a kernel's type, if the
 * probes agree in all. */
static bool see_probe(void *arg, const struct dif_probe_info *probe)
{
	struct match_state *st = arg;
	struct dif_compiler *c = st->c;
	struct dif_clause_state *cl = c->clause;

	if (cl->nmatched++ == 0) {
		cl->first = *probe;
		cl->first.provider = dif_strdup(c, &c->scratch, probe->provider);
		cl->first.module = dif_strdup(c, &c->scratch, probe->module);
		cl->first.function = dif_strdup(c, &c->scratch, probe->function);
		cl->first.name = dif_strdup(c, &c->scratch, probe->name);
		cl->args_known = probe->nargs >= 0;
		return !c->diag.failed;
	}
	if (!cl->args_known)
		return true;
	if (probe->nargs >= 0)
		compare_args(c, probe);
	if (probe->nargs < 0 || (cl->args_differ && !is_translated(c, &cl->first)))
		cl->args_differ = UINT64_MAX;
	return cl->args_differ != UINT64_MAX;
}

static bool count_only(void *arg, const struct dif_probe_info *probe)
{
	(void)arg;
	(void)probe;
	return true;
}

bool dif_match_failed(struct dif_compiler *c, struct ot_err *err, uint32_t line)
{
	/* the provider's text may begin with the tag: "D_PROC_GRAB: text" */
	const char *msg = ot_err_message(err), *colon = strchr(msg, ':');

	for (int tag = 1; colon && tag < DIF_D_COUNT; tag++) {
		const char *name = dif_errtag_name((enum dif_errtag)tag);
		if (strlen(name) == (size_t)(colon - msg) && !strncmp(name, msg, strlen(name)))
			dif_fail(c, (enum dif_errtag)tag, line, "%s",
				 colon[1] == ' ' ? colon + 2 : colon + 1);
	}
	dif_fail(c, DIF_D_PDESC_INVAL, line, "%s", msg);
	if (!strncmp(msg, "D_PROC_BADPID:", 14))
		dif_hint_target(c);
	ot_err_destroy(err);
	return false;
}

/* "nfsv3": a provider of another system's kernel, mistaken for a program's. */
static void hint_numbered(struct dif_compiler *c, const char *provider)
{
	size_t len = strlen(provider), letters = len;

	while (letters && provider[letters - 1] >= '0' && provider[letters - 1] <= '9')
		letters--;
	if (letters && letters < len && strncmp(provider, "pid", letters) != 0)
		dif_hint(c, "a number behind a provider's name is a process's: %.*s in process %s",
			 (int)letters, provider, provider + letters);
}

/* Suggest a name, and that the clause's other probes can be used without this one. */
static void hint_none(struct dif_compiler *c, const struct dif_parsed_clause *pc,
		      const struct dif_probedesc *desc)
{
	struct ot_buf text = { 0 };
	bool any = c->world->hint_probe && c->world->hint_probe(c->world->env, desc, &text);

	if (pc->ndescs > 1)
		ot_buf_printf(&text,
			      "%swith -x anydefs a clause runs with those of its probes that there are",
			      any ? "; " : "");
	if (text.len)
		dif_hint(c, "%s", ot_buf_str(&text));
	ot_buf_deinit(&text);
}

bool dif_match_probes(struct dif_compiler *c, const struct dif_parsed_clause *pc,
		      const struct dif_probedesc *desc, bool want_args)
{
	uint32_t line = pc->line;
	struct match_state st = { .c = c };
	uint64_t count = 0;
	struct ot_err *err;

	c->clause->desc = desc;
	if (!c->world->match)
		return true;
	err = c->world->match(c->world->env, desc, want_args ? see_probe : count_only, &st, &count);
	if (err) {
		dif_match_failed(c, err, line);
		hint_numbered(c, desc->provider);
		return false;
	}
	c->clause->is_elsewhere =
	    !count && c->world->elsewhere &&
	    c->world->elsewhere(c->world->env, desc, want_args ? see_probe : count_only, &st);
	if (c->clause->is_elsewhere)
		return !c->diag.failed;
	if (!count && !dif_check_process(c, desc, line))
		return false;
	if (!count && !c->opts->zdefs && !c->opts->anydefs) {
		struct ot_buf text = { 0 }, why = { 0 };
		dif_probedesc_print(desc, &text);
		bool refused = c->world->why_none && c->world->why_none(c->world->env, desc, &why);
		if (desc->id)
			dif_fail(c, DIF_D_PDESC_INVAL, line, "invalid probe identifier %u: %s", desc->id,
				 refused ? ot_buf_str(&why) : "Unknown probe identifier");
		else
			dif_fail(c, DIF_D_PDESC_ZERO, line,
				 "probe description %s does not match any probes%s%s", ot_buf_str(&text),
				 refused ? ": " : "", ot_buf_str(&why));
		if (!refused)
			hint_none(c, pc, desc);
		ot_buf_deinit(&text);
		ot_buf_deinit(&why);
		return false;
	}
	c->clause->nprobes = count;
	c->out.matched += count;
	return !c->diag.failed;
}

/* Option anydefs: of a clause's descriptions one must match. */
bool dif_match_needs_one(const struct dif_compiler *c)
{
	return c->opts->anydefs && !c->opts->zdefs && c->world->match;
}

/* The last matched description gets no clause. */
bool dif_match_pass_over(const struct dif_compiler *c)
{
	return dif_match_needs_one(c) && !c->clause->nprobes && !c->clause->is_elsewhere;
}

/* Option anydefs, and no description matched: list all of them, with the reasons for refused ones. */
bool dif_match_none(struct dif_compiler *c, const struct dif_parsed_clause *pc)
{
	struct ot_buf text = { 0 };

	for (size_t i = 0; i < pc->ndescs; i++) {
		struct ot_buf why = { 0 };
		ot_buf_printf(&text, "%s", i ? ", " : "");
		dif_probedesc_print(&pc->descs[i], &text);
		if (c->world->why_none && c->world->why_none(c->world->env, &pc->descs[i], &why))
			ot_buf_printf(&text, " (%s)", ot_buf_str(&why));
		ot_buf_deinit(&why);
	}
	dif_fail(c, DIF_D_PDESC_ZERO, pc->line,
		 "this clause needs one of these probes, and there is none: %s", ot_buf_str(&text));
	ot_buf_deinit(&text);
	return false;
}

/* --- other systems' names ------------------------------------------------------------------------ */

struct said {
	struct dif_probedesc desc;
	bool renamed;
};

static bool field_matches(const char *pattern, const char *text)
{
	if (dif_glob_is_pattern(pattern))
		return dif_glob_match(pattern, text);
	return !*pattern || !strcmp(pattern, text);
}

/* Does another description of the clause select that too? Of several renamed ones the last one does. */
static bool is_repeated(const struct said *said, size_t n, size_t i)
{
	const struct dif_probedesc *is = &said[i].desc;

	for (size_t k = 0; k < n; k++) {
		const struct dif_probedesc *other = &said[k].desc;
		if (k == i || other->id || (said[k].renamed && k < i) || strcmp(other->guest, is->guest) != 0)
			continue;
		if (field_matches(other->provider, is->provider) &&
		    field_matches(other->module, is->module) &&
		    field_matches(other->function, is->function) && field_matches(other->name, is->name))
			return true;
	}
	return false;
}

static bool any_is_renamed(const struct dif_compiler *c, const struct dif_parsed_clause *pc)
{
	struct dif_probedesc here;

	for (size_t i = 0; i < pc->ndescs; i++)
		if (c->world->named_here(c->world->env, &pc->descs[i], &here))
			return true;
	return false;
}

bool dif_match_names_here(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			  struct dif_parsed_clause *ret)
{
	struct dif_probedesc *kept;
	struct said *said;

	*ret = *pc;
	if (!c->world->named_here || !any_is_renamed(c, pc))
		return true;
	said = dif_alloc(c, &c->scratch, pc->ndescs * sizeof(*said));
	kept = dif_alloc(c, &c->scratch, pc->ndescs * sizeof(*kept));
	if (!said || !kept)
		return false;
	for (size_t i = 0; i < pc->ndescs; i++) {
		said[i].desc = pc->descs[i];
		said[i].renamed = c->world->named_here(c->world->env, &pc->descs[i], &said[i].desc);
	}
	ret->descs = kept;
	ret->ndescs = 0;
	for (size_t i = 0; i < pc->ndescs; i++)
		if (!said[i].renamed || !is_repeated(said, pc->ndescs, i))
			kept[ret->ndescs++] = said[i].desc;
	return true;
}
