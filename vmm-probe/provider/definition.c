/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits a file of definitions: only its frame is parsed here, the rest is left to the D compiler. */
#include "vmm-probe/provider/definition.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/provider/definition_returns.h"

#define DEFINITIONS_MAX 128

struct reader {
	const char *begin, *at;
	char *common; /* a copy, in which the parsed parts are blanked */
	struct ot_arena *arena;
	struct vp_definitions *ret;
};

static struct ot_err *wrong(const struct reader *r, const char *what)
{
	unsigned line = 1;

	for (const char *p = r->begin; p < r->at; p++)
		line += *p == '\n';
	return ot_err_new(OT_ERR_BAD_DATA, "line %u: %s", line, what);
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-';
}

const char *vp_definition_behind_quoted(const char *p)
{
	const char *end;

	if (p[0] == '/' && p[1] == '*') {
		end = strstr(p + 2, "*/");
		return end ? end + 2 : p + strlen(p);
	}
	if (*p != '"' && *p != '\'')
		return NULL;
	for (end = p + 1; *end && *end != *p; end++)
		if (*end == '\\' && end[1])
			end++;
	return *end ? end + 1 : end;
}

static void skip_blanks(struct reader *r)
{
	for (;;) {
		r->at += strspn(r->at, " \t\n");
		if (r->at[0] != '/' || r->at[1] != '*')
			return;
		r->at = vp_definition_behind_quoted(r->at);
	}
}

/* Is @p word next? Then skip it. */
static bool accept(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(r);
	if (strncmp(r->at, word, n) != 0 || (is_name(word[0]) && is_name(r->at[n])))
		return false;
	r->at += n;
	return true;
}

static struct ot_err *read_name(struct reader *r, const char **ret)
{
	size_t n = 0;

	skip_blanks(r);
	while (is_name(r->at[n]))
		n++;
	if (!n)
		return wrong(r, "a name is expected");
	*ret = ot_arena_strndup(r->arena, r->at, n);
	if (!*ret)
		return ot_err_nomem();
	r->at += n;
	return NULL;
}

/* NAME, FUNCTION:NAME, *:NAME or MODULE:FUNCTION:NAME */
static struct ot_err *read_probe_name(struct reader *r, struct vp_definition *d)
{
	d->module = d->function = "";
	if (accept(r, "*")) {
		d->function = "*";
		return accept(r, ":") ? read_name(r, &d->name) : wrong(r, ": is expected");
	}
	OT_TRY(read_name(r, &d->name));
	if (!accept(r, ":"))
		return NULL;
	d->function = d->name;
	OT_TRY(read_name(r, &d->name));
	if (!accept(r, ":"))
		return NULL;
	d->module = d->function;
	d->function = d->name;
	return read_name(r, &d->name);
}

/* The text between braces, which may contain others. */
static struct ot_err *read_block(struct reader *r, struct vp_text_part *ret)
{
	unsigned depth = 1;

	if (!accept(r, "{"))
		return wrong(r, "{ is expected");
	ret->text = r->at;
	while (depth && *r->at) {
		const char *end = vp_definition_behind_quoted(r->at);

		if (end) {
			r->at = end;
			continue;
		}
		depth += *r->at == '{';
		depth -= *r->at == '}';
		r->at++;
	}
	if (depth)
		return wrong(r, "} is missing");
	ret->len = (size_t)(r->at - 1 - ret->text);
	return NULL;
}

/* A type's name up to one of @p ends. */
static struct ot_err *read_type(struct reader *r, const char *ends, const char **ret)
{
	skip_blanks(r);
	size_t n = strcspn(r->at, ends), len = n;

	while (len && strchr(" \t\n", r->at[len - 1]))
		len--;
	if (!len || !r->at[n])
		return wrong(r, "a type is expected");
	*ret = ot_arena_strndup(r->arena, r->at, len);
	if (!*ret)
		return ot_err_nomem();
	r->at += n;
	return NULL;
}

static void read_mapping(struct reader *r, unsigned *ret)
{
	skip_blanks(r);
	if (strncmp(r->at, "arg", 3) != 0 || r->at[3] < '0' || r->at[3] > '9' || is_name(r->at[4]))
		return;
	*ret = (unsigned)(r->at[3] - '0');
	r->at += 4;
}

/* After those that @p d already has. */
static struct ot_err *read_args(struct reader *r, struct vp_definition *d)
{
	if (!accept(r, "("))
		return wrong(r, "( is expected");
	if (accept(r, ")"))
		return NULL;
	do {
		if (d->nargs == VP_ARGS_MAX)
			return wrong(r, "too many arguments");
		d->args[d->nargs].mapping = d->nargs;
		read_mapping(r, &d->args[d->nargs].mapping);
		OT_TRY(read_type(r, ":,)", &d->args[d->nargs].native));
		if (accept(r, ":"))
			OT_TRY(read_type(r, ",)", &d->args[d->nargs].translated));
		d->nargs++;
	} while (accept(r, ","));
	return accept(r, ")") ? NULL : wrong(r, ") is expected");
}

/* The places where the last alternative of @p entry returns. */
static struct ot_err *read_returns(struct reader *r, const struct vp_definition *entry,
				   struct vp_definition *d)
{
	struct vp_text_part text;

	OT_TRY(read_block(r, &text));
	if (!vp_definition_returns(d->function, entry->nargs,
				   &entry->alternatives[entry->nalternatives - 1].at, &text, r->arena,
				   &d->alternatives[d->nalternatives++]))
		return ot_err_nomem();
	return NULL;
}

/* @p returns: the return that is defined with @p d; NULL: none is. */
static struct ot_err *read_alternatives(struct reader *r, struct vp_definition *d,
					struct vp_definition *returns)
{
	struct vp_alternative *a = NULL;

	while (!accept(r, "}")) {
		if (accept(r, d->nalternatives ? "or" : "at")) {
			if (d->nalternatives == VP_ALTERNATIVES_MAX)
				return wrong(r, "too many alternatives");
			a = &d->alternatives[d->nalternatives++];
			OT_TRY(read_block(r, &a->at));
			if (returns && !accept(r, "returns"))
				return wrong(r, "returns is expected");
			if (returns)
				OT_TRY(read_returns(r, d, returns));
		} else if (a && !a->with.text && accept(r, "with")) {
			OT_TRY(read_block(r, &a->with));
		} else if (a && !a->after.text && accept(r, "after")) {
			OT_TRY(read_block(r, &a->after));
		} else {
			return wrong(r, "at, or, with, after or } is expected");
		}
	}
	return a ? NULL : wrong(r, "a probe without places");
}

static struct ot_err *read_probe(struct reader *r)
{
	struct vp_definition *d = &r->ret->list[r->ret->count], *returns = NULL;

	if (r->ret->count + 2 > DEFINITIONS_MAX)
		return wrong(r, "too many probes");
	OT_TRY(read_probe_name(r, d));
	OT_TRY(read_args(r, d));
	if (accept(r, "return")) {
		returns = d + 1;
		*returns = *d;
		returns->name = "return";
		OT_TRY(read_args(r, returns));
	}
	if (!accept(r, "{"))
		return wrong(r, "{ is expected");
	OT_TRY(read_alternatives(r, d, returns));
	r->ret->count += returns ? 2 : 1;
	return NULL;
}

static struct ot_err *read_head(struct reader *r)
{
	if (!accept(r, "provider"))
		return wrong(r, "provider is expected");
	OT_TRY(read_name(r, &r->ret->provider));
	return accept(r, ";") ? NULL : wrong(r, "; is expected");
}

static void blank(struct reader *r, const char *from)
{
	for (const char *p = from; p < r->at; p++)
		if (*p != '\n')
			r->common[p - r->begin] = ' ';
}

/* Skip a declaration of D. */
static void skip_declaration(struct reader *r)
{
	unsigned depth = 0;

	for (; *r->at && (depth || *r->at != ';'); r->at++) {
		const char *end;
		while ((end = vp_definition_behind_quoted(r->at)))
			r->at = end;
		if (!*r->at)
			return;
		depth += *r->at == '{';
		depth -= *r->at == '}' && depth;
	}
	r->at += *r->at == ';';
}

struct ot_err *vp_definitions_parse(const char *text, struct ot_arena *arena, struct vp_definitions *ret)
{
	struct reader r = { .begin = text, .at = text, .arena = arena, .ret = ret };

	*ret = (struct vp_definitions){ 0 };
	r.common = ot_arena_strdup(arena, text);
	ret->list = ot_arena_alloc(arena, DEFINITIONS_MAX * sizeof(*ret->list));
	if (!r.common || !ret->list)
		return ot_err_nomem();
	OT_TRY(read_head(&r));
	blank(&r, text);
	for (;;) {
		skip_blanks(&r);
		const char *from = r.at;
		if (!*from)
			break;
		if (!accept(&r, "probe")) {
			skip_declaration(&r);
			continue;
		}
		OT_TRY(read_probe(&r));
		blank(&r, from);
	}
	ret->common = r.common;
	return NULL;
}
