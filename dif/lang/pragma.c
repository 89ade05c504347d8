/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dif/lang/pragma.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dif/lang/compiler.h"

/* A line being taken apart into words. */
struct words {
	const char *at, *end;
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
	if (w->at == w->end)
		return NULL;
	const char *start = w->at;
	if (*start == '"') {
		const char *close = memchr(start + 1, '"', (size_t)(w->end - start - 1));
		if (!close)
			return dif_fail(c, DIF_D_SYNTAX, c->lex.line,
					"newline encountered in string literal");
		w->at = close + 1;
		return dif_strndup(c, &c->scratch, start + 1, (size_t)(close - start - 1));
	}
	while (w->at < w->end && !isspace((unsigned char)*w->at))
		w->at++;
	return dif_strndup(c, &c->scratch, start, (size_t)(w->at - start));
}

static bool malformed(struct dif_compiler *c, const char *usage)
{
	return dif_fail(c, DIF_D_PRAGMA_MALFORM, c->lex.line, "malformed #pragma: expected %s", usage);
}

static bool at_end(struct words *w)
{
	skip_space(w);
	return w->at == w->end;
}

/* --- #pragma D option name[=value] ------------------------------------------------------------- */

static bool remember_option(struct dif_compiler *c, const char *name, const char *value)
{
	if (!ot_grow(&c->optsets, &c->optsets_cap, c->noptsets + 1, sizeof(*c->optsets)))
		return dif_fail_memory(c);
	struct dif_optset *o = &c->optsets[c->noptsets++];
	o->name = dif_strdup(c, &c->prog->arena, name);
	o->value = value ? dif_strdup(c, &c->prog->arena, value) : NULL;
	return !c->failed;
}

static bool pragma_option(struct dif_compiler *c, struct words *w)
{
	const char *name = next_word(c, w), *value = NULL;

	if (!name || !at_end(w))
		return c->failed ? false : malformed(c, "#pragma D option <option>=<value>");
	char *eq = strchr(name, '=');
	if (eq) {
		*eq = '\0';
		value = eq + 1;
	}
	struct ot_err *err = dif_options_set(c->opts, name, value, DIF_OPT_PROGRAM);
	if (err) {
		if (value)
			dif_fail(c, DIF_D_PRAGMA_OPTSET, c->lex.line, "failed to set option '%s' to '%s': %s",
				 name, value, ot_err_message(err));
		else
			dif_fail(c, DIF_D_PRAGMA_OPTSET, c->lex.line, "failed to set option '%s': %s", name,
				 ot_err_message(err));
		ot_err_destroy(err);
		return false;
	}
	return remember_option(c, name, value);
}

/* --- attributes, binding, depends_on, error ------------------------------------------------------- */

static bool is_stability(const char *s, size_t len)
{
	static const char *const names[] = { "Internal", "Private",  "Obsolete", "External",
					     "Unstable", "Evolving", "Stable",   "Standard" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !strncasecmp(names[i], s, len))
			return true;
	return false;
}

static bool is_class(const char *s, size_t len)
{
	static const char *const names[] = { "Unknown", "CPU", "Platform", "Group", "ISA", "Common" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !strncasecmp(names[i], s, len))
			return true;
	return false;
}

/* Name/Data/Class */
static bool is_attributes(const char *s)
{
	const char *a = strchr(s, '/'), *b = a ? strchr(a + 1, '/') : NULL;

	return b && is_stability(s, (size_t)(a - s)) && is_stability(a + 1, (size_t)(b - a - 1)) &&
	       is_class(b + 1, strlen(b + 1));
}

static bool known_name(struct dif_compiler *c, const char *name)
{
	return dif_ident_find(c, DIF_NAME_GLOBAL, name) || dif_type_find(c, name);
}

/* The name may come later in the program: then it is waited for. */
static bool wait_for(struct dif_compiler *c, const char *name)
{
	if (known_name(c, name))
		return true;
	struct dif_pending_pragma *p = dif_new(c, &c->scratch, struct dif_pending_pragma);
	if (!p)
		return false;
	p->name = name;
	p->line = c->lex.line;
	p->next = c->pending;
	c->pending = p;
	return true;
}

static bool pragma_attributes(struct dif_compiler *c, struct words *w)
{
	static const char usage[] =
	    "#pragma D attributes <Name/Data/Class> [provider] <identifier> [component]";
	const char *attrs = next_word(c, w), *name = attrs ? next_word(c, w) : NULL;

	if (!name || !is_attributes(attrs))
		return c->failed ? false : malformed(c, usage);
	if (strcmp(name, "provider"))
		return at_end(w) ? wait_for(c, name) : malformed(c, usage);
	const char *provider = next_word(c, w), *part = provider ? next_word(c, w) : NULL;
	static const char *const parts[] = { "provider", "module", "function", "name", "args" };
	for (size_t i = 0; part && i < OT_ARRAY_SIZE(parts); i++)
		if (!strcmp(part, parts[i]) && at_end(w))
			return true;
	return c->failed ? false : malformed(c, usage);
}

static bool is_version(const char *s)
{
	int dots = 0;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; *s; s++) {
		if (*s == '.')
			dots++;
		else if (!isdigit((unsigned char)*s))
			return false;
	}
	return dots == 1 || dots == 2;
}

static bool pragma_binding(struct dif_compiler *c, struct words *w)
{
	const char *version = next_word(c, w), *name = version ? next_word(c, w) : NULL;

	if (!name || !at_end(w) || !is_version(version))
		return c->failed ? false : malformed(c, "#pragma D binding \"version\" <identifier>");
	return wait_for(c, name);
}

static bool pragma_depends(struct dif_compiler *c, struct words *w)
{
	const char *kind = next_word(c, w), *name = kind ? next_word(c, w) : NULL;

	if (!name || !at_end(w) ||
	    (strcmp(kind, "provider") && strcmp(kind, "module") && strcmp(kind, "library")))
		return c->failed ? false
				 : malformed(c, "#pragma D depends_on <provider|module|library> <name>");
	/* the order of libraries is the consumer's work, done before they are compiled */
	if (!strcmp(kind, "library")) {
		if (c->is_library)
			return true;
		return dif_fail(c, DIF_D_PRAGMA_DEPEND, c->lex.line,
				"main program may not explicitly depend on a library");
	}
	if (c->world->has_dependency && c->world->has_dependency(c->world->env, kind, name))
		return true;
	return dif_fail(c, DIF_D_PRAGMA_DEPEND, c->lex.line, "program requires %s %s which is not available",
			kind, name);
}

static bool pragma_d(struct dif_compiler *c, struct words *w)
{
	const char *what = next_word(c, w);

	if (!what)
		return c->failed ? false : malformed(c, "#pragma D <name>");
	if (!strcmp(what, "option"))
		return pragma_option(c, w);
	if (!strcmp(what, "attributes"))
		return pragma_attributes(c, w);
	if (!strcmp(what, "binding"))
		return pragma_binding(c, w);
	if (!strcmp(what, "depends_on"))
		return pragma_depends(c, w);
	if (!strcmp(what, "error")) {
		const char *text = next_word(c, w);
		return c->failed
			   ? false
			   : dif_fail(c, DIF_D_PRAGERR, c->lex.line, "#error: %s", text ? text : "") != NULL;
	}
	return dif_fail(c, DIF_D_PRAGMA_INVAL, c->lex.line, "invalid pragma: %s", what);
}

/* --- line numbers --------------------------------------------------------------------------------- */

/* # N "file" flags: the next line is line N of file. */
static bool set_line(struct dif_compiler *c, const char *number, struct words *w)
{
	char *end;
	unsigned long n = strtoul(number, &end, 10);
	const char *file = *end ? NULL : next_word(c, w);

	if (*end || n > UINT32_MAX || c->failed)
		return c->failed ? false
				 : dif_fail(c, DIF_D_PRAGCTL_INVAL, c->lex.line, "invalid line number: %s",
					    number) != NULL;
	if (file) {
		/* the program itself, which cpp may have read from its standard input, needs no name */
		bool self = !*file || *file == '<' || (c->src->name && !strcmp(file, c->src->name)) ||
			    !strcmp(file, "/dev/stdin");
		c->lex.file = self ? NULL : dif_strdup(c, &c->arena, file);
	}
	c->lex.line = n ? (uint32_t)n - 1 : 0; /* the newline adds one */
	return !c->failed;
}

bool dif_control_line(struct dif_compiler *c, const char *text, size_t len)
{
	struct words w = { text, text + len };
	const char *word = next_word(c, &w);

	if (!word)
		return !c->failed;
	if (isdigit((unsigned char)*word))
		return set_line(c, word, &w);
	if (!strcmp(word, "line")) {
		const char *number = next_word(c, &w);
		return number ? set_line(c, number, &w)
			      : dif_fail(c, DIF_D_PRAGCTL_INVAL, c->lex.line, "#line needs a number") != NULL;
	}
	if (!strcmp(word, "ident"))
		return true;
	if (!strcmp(word, "error")) {
		skip_space(&w);
		return dif_fail(c, DIF_D_PRAGERR, c->lex.line, "#error: %.*s",
				(int)(w.end - w.at > 400 ? 400 : w.end - w.at), w.at);
	}
	if (!strcmp(word, "pragma")) {
		const char *whose = next_word(c, &w);
		if (whose && !strcmp(whose, "D"))
			return pragma_d(c, &w);
		return !c->failed;
	}
	dif_fail(c, DIF_D_PRAGCTL_INVAL, c->lex.line, "invalid control directive: #%s", word);
	if (!strcmp(word, "include") || !strcmp(word, "define") || !strncmp(word, "if", 2))
		dif_hint(c, "-C runs the C preprocessor");
	return false;
}

bool dif_pragma_end(struct dif_compiler *c)
{
	for (struct dif_pending_pragma *p = c->pending; p; p = p->next)
		if (!known_name(c, p->name))
			return dif_fail(c, DIF_D_PRAGMA_UNUSED, p->line,
					"pragma attributes or binding for %s is not used", p->name);
	return true;
}
