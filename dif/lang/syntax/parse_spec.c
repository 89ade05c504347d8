/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probe descriptions: "provider:module:function:name", filled from the right. */
#include <ctype.h>
#include <string.h>

#include "dif/lang/syntax/parse.h"

/* Most fields that a description may have: ours in front, then the four of dtrace. */
#define FIELDS_MAX 5

static bool expand_macros(struct dif_compiler *c, const char *text, size_t len, struct ot_buf *out)
{
	for (size_t i = 0; i < len;) {
		if (text[i] != '$') {
			ot_buf_putc(out, text[i++]);
			continue;
		}
		size_t n = dif_macro_expand(c, text + i, len - i, out);
		if (!n)
			return false;
		i += n;
	}
	if (out->failed)
		return dif_fail_memory(c);
	return true;
}

/* Cut @p text at its colons; more than FIELDS_MAX fields is an error. */
static bool split(struct dif_compiler *c, const char *text, const char *fields[FIELDS_MAX], int *ret_n)
{
	struct ot_arena *arena = &c->out.prog->arena;
	int n = 0;

	for (const char *p = text;; p++) {
		const char *end = strchr(p, ':');
		if (!end)
			end = p + strlen(p);
		if (n == FIELDS_MAX)
			return dif_fail(c, DIF_D_PDESC_INVAL, 0,
					"invalid probe description \"%s\": Overspecified probe description",
					text);
		fields[n] = dif_strndup(c, arena, p, (size_t)(end - p));
		if (!fields[n++])
			return false;
		p = end;
		if (!*p)
			break;
	}
	*ret_n = n;
	return true;
}

/* The field of the last name given, by -P -m -f -n. */
static int last_field(const struct dif_compiler *c)
{
	if (c->unit->src->kind != DIF_SOURCE_COMMAND_LINE)
		return 3;
	switch (c->unit->src->spec) {
	case DIF_SPEC_PROVIDER:
		return 0;
	case DIF_SPEC_MODULE:
		return 1;
	case DIF_SPEC_FUNCTION:
		return 2;
	case DIF_SPEC_NAME:
		break;
	}
	return 3;
}

static bool assign_fields(struct dif_compiler *c, const char *text, const char *const *fields, int n,
			  struct dif_probedesc *ret)
{
	const char **at[] = { &ret->provider, &ret->module, &ret->function, &ret->name };
	int last = last_field(c);

	/* the leftmost of five names guests, when it matches one */
	if (n == 5 && last == 3 && c->world->match_guest && c->world->match_guest(c->world->env, fields[0])) {
		ret->guest = fields[0];
		fields++;
		n--;
	}
	if (n > last + 1)
		return dif_fail(c, DIF_D_PDESC_INVAL, 0,
				"invalid probe description \"%s\": Overspecified probe description", text);
	for (int i = 0; i < n; i++)
		*at[last - i] = fields[n - 1 - i];
	return true;
}

/* The engine's name buffers, the NUL counted. */
static bool check_lengths(struct dif_compiler *c, const struct dif_probedesc *desc)
{
	if (strlen(desc->provider) < 64 && strlen(desc->module) < 64 && strlen(desc->function) < 192 &&
	    strlen(desc->name) < 64 && strlen(desc->guest) < 64)
		return true;
	return dif_fail(c, DIF_D_PDESC_INVAL, 0, "invalid probe description: a field is too long");
}

bool dif_parse_probedesc(struct dif_compiler *c, const char *text, size_t len, struct dif_probedesc *ret)
{
	struct dif_probedesc desc = { .guest = "", .provider = "", .module = "", .function = "", .name = "" };
	const char *fields[FIELDS_MAX];
	struct ot_buf buf = { 0 };
	bool ok = expand_macros(c, text, len, &buf);
	int n = 0;

	ok = ok && split(c, ot_buf_str(&buf), fields, &n) &&
	     assign_fields(c, ot_buf_str(&buf), fields, n, &desc);
	ot_buf_deinit(&buf);
	ok = ok && check_lengths(c, &desc);
	if (ok)
		*ret = desc;
	return ok;
}
