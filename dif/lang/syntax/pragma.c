/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control lines: words, options, attributes, line numbers. */
#include "dif/lang/syntax/pragma.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dif/lang/syntax/unit.h"
#include "dif/lang/types/pending.h"

/* A control line being split into words, for any contents: only quotes make a difference. */
struct words {
	const char *at, *end;
	bool quoted; /* the last one that was taken */
};

static void skip_space(struct words *w)
{
	while (w->at < w->end && isspace((unsigned char)*w->at))
		w->at++;
}

/* The next word, or a "quoted" one without its quotes; NULL at the end of the line. */
static const char *next_word(struct dif_compiler *c, struct words *w)
{
	skip_space(w);
	w->quoted = false;
	if (w->at == w->end)
		return NULL;
	const char *start = w->at;
	if (*start == '"') {
		const char *close = memchr(start + 1, '"', (size_t)(w->end - start - 1));
		if (!close)
			return dif_fail(c, DIF_D_STR_NL, c->unit->lex.line,
					"newline encountered in string literal");
		w->at = close + 1;
		w->quoted = true;
		return dif_strndup(c, &c->scratch, start + 1, (size_t)(close - start - 1));
	}
	while (w->at < w->end && !isspace((unsigned char)*w->at))
		w->at++;
	return dif_strndup(c, &c->scratch, start, (size_t)(w->at - start));
}

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* A word that is neither quoted nor a number; NULL: something else, or nothing. */
static const char *next_name(struct dif_compiler *c, struct words *w)
{
	const char *s = next_word(c, w);

	return s && !w->quoted && !is_number(s) ? s : NULL;
}

static bool malformed(struct dif_compiler *c, const char *usage)
{
	return dif_fail(c, DIF_D_PRAGMA_MALFORM, c->unit->lex.line, "malformed #%s", usage);
}

static bool at_end(struct words *w)
{
	skip_space(w);
	return w->at == w->end;
}

/* --- #pragma D option name[=value] ------------------------------------------------------------- */

static bool remember_option(struct dif_compiler *c, const char *name, const char *value)
{
	if (!ot_grow(&c->out.optsets, &c->out.optsets_cap, c->out.noptsets + 1, sizeof(*c->out.optsets)))
		return dif_fail_memory(c);
	struct dif_optset *o = &c->out.optsets[c->out.noptsets++];
	o->name = dif_strdup(c, &c->out.prog->arena, name);
	o->value = value ? dif_strdup(c, &c->out.prog->arena, value) : NULL;
	return !c->diag.failed;
}

static void hint_option(struct dif_compiler *c, const char *name, const struct ot_err *err)
{
	struct ot_buf hint = { 0 };

	if (dif_options_hint(name, err, &hint))
		dif_hint(c, "%s", ot_buf_str(&hint));
	ot_buf_deinit(&hint);
}

static bool pragma_option(struct dif_compiler *c, struct words *w)
{
	const char *name = next_name(c, w), *value = NULL;

	if (!name)
		return malformed(c, "pragma option <option>=<val>");
	if (!at_end(w))
		return dif_fail(c, DIF_D_PRAGMA_MALFORM, c->unit->lex.line,
				"superfluous arguments specified for #pragma option");
	const char *eq = strchr(name, '=');
	if (eq) {
		value = eq + 1;
		name = dif_strndup(c, &c->scratch, name, (size_t)(eq - name));
		if (!name)
			return false;
	}
	struct ot_err *err = dif_options_set(c->opts, name, value, DIF_OPT_PROGRAM);
	if (err) {
		if (value)
			dif_fail(c, DIF_D_PRAGMA_OPTSET, c->unit->lex.line,
				 "failed to set option '%s' to '%s': %s", name, value, ot_err_message(err));
		else
			dif_fail(c, DIF_D_PRAGMA_OPTSET, c->unit->lex.line, "failed to set option '%s': %s",
				 name, ot_err_message(err));
		hint_option(c, name, err);
		ot_err_destroy(err);
		return false;
	}
	return remember_option(c, name, value);
}

/* --- attributes, binding, depends_on, error ------------------------------------------------------- */

/* … provider NAME PART */
static bool provider_part(struct dif_compiler *c, struct words *w, struct dif_pending_pragma *p)
{
	static const char *const parts[DIF_ATTR_PARTS] = {
		[DIF_ATTR_PROVIDER] = "provider", [DIF_ATTR_MODULE] = "module",
		[DIF_ATTR_FUNCTION] = "function", [DIF_ATTR_NAME] = "name",
		[DIF_ATTR_ARGS] = "args",
	};
	const char *part;

	p->is_provider = true;
	p->name = next_name(c, w);
	part = p->name ? next_name(c, w) : NULL;
	if (!part)
		return malformed(c, "pragma attributes <attributes> provider <name> <component>");
	for (unsigned i = 0; i < DIF_ATTR_PARTS; i++) {
		p->part = (enum dif_attr_part)i;
		if (!strcmp(part, parts[i]))
			return true;
	}
	return dif_fail(c, DIF_D_PRAGMA_INVAL, c->unit->lex.line,
			"invalid component \"%s\" in attribute #pragma for provider %s", part, p->name);
}

static bool pragma_attributes(struct dif_compiler *c, struct words *w)
{
	struct dif_pending_pragma p = { .pragma = "attributes", .line = c->unit->lex.line };
	const char *attrs = next_name(c, w);

	p.name = attrs ? next_name(c, w) : NULL;
	if (!p.name)
		return malformed(c, "pragma attributes <attributes> <ident>");
	if (!dif_attribute_parse(attrs, &p.attr))
		return dif_fail(c, DIF_D_PRAGMA_INVAL, c->unit->lex.line,
				"invalid attributes specified by #pragma attributes");
	if (!strcmp(p.name, "provider") && !provider_part(c, w, &p))
		return false;
	return dif_pragma_modify(c, &p);
}

static bool pragma_binding(struct dif_compiler *c, struct words *w)
{
	struct dif_pending_pragma p = { .pragma = "binding", .line = c->unit->lex.line };
	const char *version = next_word(c, w);
	bool quoted = w->quoted;

	p.name = version ? next_name(c, w) : NULL;
	if (!p.name || !quoted)
		return malformed(c, "pragma binding \"version\" <ident>");
	if (!dif_version_parse(version, &p.version) || !p.version)
		return dif_fail(c, DIF_D_PRAGMA_INVAL, c->unit->lex.line,
				"invalid version string specified by #pragma binding");
	return dif_pragma_modify(c, &p);
}

/* A library's subject may be missing in a kernel: without CONFIG_BLOCK there is no struct bio. */
static bool is_struct(struct dif_compiler *c, const char *tag)
{
	struct dif_type *type = dif_tag_find(c, DIF_C_STRUCT, tag);

	return type && !dif_is_incomplete(c, type);
}

static bool pragma_depends(struct dif_compiler *c, struct words *w)
{
	const char *kind = next_name(c, w), *name = kind ? next_name(c, w) : NULL;

	if (!name)
		return malformed(c, "pragma depends_on <class> <name>");
	if (strcmp(kind, "provider") != 0 && strcmp(kind, "module") != 0 && strcmp(kind, "library") != 0 &&
	    strcmp(kind, "struct") != 0)
		return dif_fail(c, DIF_D_PRAGMA_INVAL, c->unit->lex.line,
				"invalid class %s specified by #pragma depends_on", kind);
	/* the order of libraries is the consumer's work, done before they are compiled */
	if (!strcmp(kind, "library")) {
		if (c->unit->is_library)
			return true;
		return dif_fail(c, DIF_D_PRAGMA_DEPEND, c->unit->lex.line,
				"main program may not explicitly depend on a library");
	}
	if (!strcmp(kind, "struct") && is_struct(c, name))
		return true;
	if (c->world->has_dependency && c->world->has_dependency(c->world->env, kind, name))
		return true;
	return dif_fail(c, DIF_D_PRAGMA_DEPEND, c->unit->lex.line, "program requires %s %s", kind, name);
}

/* All words after it are the message. */
static bool pragma_error(struct dif_compiler *c, struct words *w)
{
	struct ot_buf text;
	const char *word;

	ot_buf_init(&text);
	while ((word = next_word(c, w)))
		if (w->quoted || !is_number(word))
			ot_buf_printf(&text, "%s ", word);
	if (!c->diag.failed)
		dif_fail(c, DIF_D_PRAGERR, c->unit->lex.line, "#error: %s", ot_buf_str(&text));
	ot_buf_deinit(&text);
	return false;
}

/* --- line numbers --------------------------------------------------------------------------------- */

/* # N "file" flags: the next line is line N of file. */
static bool set_line(struct dif_compiler *c, struct words *w)
{
	const char *number = next_word(c, w), *file;
	unsigned long n = 0;
	bool ok = number && !w->quoted && is_number(number) && (n = strtoul(number, NULL, 10)) <= UINT32_MAX;

	file = ok ? next_word(c, w) : NULL;
	if (file && w->quoted && !at_end(w)) {
		const char *flag = next_word(c, w);
		ok = flag && !w->quoted && is_number(flag);
	} else if (file) {
		ok = w->quoted;
	}
	if (c->diag.failed || !ok)
		return malformed(c, "line <line> [ [\"file\"] state ]");
	if (file) {
		/* the program itself, which cpp may have read from its standard input, needs no name */
		bool self = !*file || *file == '<' ||
			    (c->unit->src->name && !strcmp(file, c->unit->src->name)) ||
			    !strcmp(file, "/dev/stdin") || !strncmp(file, "/dev/fd/", 8);
		c->diag.file = self ? NULL : dif_strdup(c, &c->arena, file);
	}
	c->unit->lex.line = n ? (uint32_t)n - 1 : 0; /* the newline adds one */
	return !c->diag.failed;
}

static bool pragma_ident(struct dif_compiler *c, struct words *w)
{
	(void)c;
	(void)w;
	return true;
}

/* Where a pragma may stand. */
enum { BEHIND_HASH, BEHIND_PRAGMA, BEHIND_D };

static const struct pragma {
	const char *name;
	bool (*act)(struct dif_compiler *c, struct words *w);
	int from;
} pragmas[] = {
	{ "attributes", pragma_attributes, BEHIND_D }, { "binding", pragma_binding, BEHIND_D },
	{ "depends_on", pragma_depends, BEHIND_D },    { "error", pragma_error, BEHIND_HASH },
	{ "ident", pragma_ident, BEHIND_HASH },        { "line", set_line, BEHIND_HASH },
	{ "option", pragma_option, BEHIND_D },
};

/* Pragmas for other programs are ignored; one that resembles D's, or cpp's directives, is an error. */
static bool unknown(struct dif_compiler *c, const char *word, int place)
{
	if (place == BEHIND_PRAGMA)
		return true;
	if (place == BEHIND_D)
		return dif_fail(c, DIF_D_PRAGMA_INVAL, c->unit->lex.line, "invalid D pragma: %s", word);
	dif_fail(c, DIF_D_PRAGCTL_INVAL, c->unit->lex.line, "invalid control directive: #%s", word);
	if (!strcmp(word, "include") || !strcmp(word, "define") || !strncmp(word, "if", 2))
		dif_hint(c, "-C runs the C preprocessor");
	else
		dif_hint(c, "a comment stands between /* and */, or behind //");
	return false;
}

bool dif_control_line(struct dif_compiler *c, const char *text, size_t len)
{
	struct words w = { .at = text, .end = text + len }, before = w;
	int place = BEHIND_HASH;
	const char *word;

	for (; (word = next_word(c, &w)); before = w) {
		if (!w.quoted && is_number(word))
			return set_line(c, &before);
		if (w.quoted)
			return dif_fail(c, DIF_D_PRAGCTL_INVAL, c->unit->lex.line,
					"invalid control directive");
		if (place == BEHIND_HASH && !strcmp(word, "pragma")) {
			place = BEHIND_PRAGMA;
		} else if (place == BEHIND_PRAGMA && !strcmp(word, "D")) {
			place = BEHIND_D;
		} else {
			for (size_t i = 0; i < OT_ARRAY_SIZE(pragmas); i++)
				if (pragmas[i].from <= place && !strcmp(pragmas[i].name, word))
					return pragmas[i].act(c, &w);
			return unknown(c, word, place);
		}
	}
	return !c->diag.failed;
}
