/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking a program before its guest is booted, as booting takes seconds. The program is compiled for this
 * host, without a guest, and only errors that are independent of the guest are reported. After the first
 * error that a guest's symbols or types might resolve, the rest is only parsed.
 */
#include <ctype.h>
#include <string.h>

#include "cli/asked.h"
#include "cli/compiling.h"
#include "consumer/messages.h"
#include "vmm-probe/session/session.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The place of the error in the source; NULL: unknown. */
static const char *place_of(const struct dif_diag *diag, const struct dif_source *src)
{
	const char *at = src->text, *end = src->text + src->len;

	if (diag->file || !diag->line || !diag->column)
		return NULL;
	for (uint32_t n = 1; n < diag->line; n++) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			return NULL;
		at++;
	}
	return diag->column - 1 <= (size_t)(end - at) ? at + diag->column - 1 : NULL;
}

static const char *before_blanks(const char *from, const char *at)
{
	while (at > from && isspace((unsigned char)at[-1]))
		at--;
	return at;
}

static const char *before_word(const char *from, const char *at)
{
	while (at > from && is_word(at[-1]))
		at--;
	return at;
}

/* Outside clauses "name *x;" is a declaration or two descriptions, as name is a type or not. */
static bool ends_declaration(const struct dif_source *src, const char *at)
{
	int depth = 0;

	if (at == src->text + src->len || !strchr(";=(", *at))
		return false;
	for (const char *p = src->text; p < at; p++)
		depth += (*p == '{') - (*p == '}');
	return !depth;
}

/* Names of types change how D is parsed: (name)x, (name *)p, sizeof (name *), offsetof (name, m), this name
 * x. An error at such a place or just after it may be due to a name that is a type in the guest. */
static bool may_be_type(const struct dif_source *src, const char *at)
{
	const char *end = src->text + src->len, *prev = before_blanks(src->text, at);
	bool at_word = at < end && is_word(*at);

	if (prev == src->text)
		return at_word; /* a declaration */
	if (ends_declaration(src, at))
		return true;
	if (prev[-1] == '*')
		return true;
	if (prev[-1] == ')') { /* after "(name)" */
		const char *word = before_blanks(src->text, prev - 1);
		const char *open = before_blanks(src->text, before_word(src->text, word));
		return open < word && open > src->text && open[-1] == '(';
	}
	if (is_word(prev[-1]))
		return at_word || (at < end && *at == '*');
	return at_word && strchr("(<,;{}", prev[-1]);
}

/* "(name)(x)" calls a function or casts to a type: does the name appear so anywhere? */
static bool stands_as_cast(const struct dif_source *src, const char *name, size_t len)
{
	const char *end = src->text + src->len;

	for (const char *at = src->text; len && (at = memmem(at, (size_t)(end - at), name, len)); at += len) {
		const char *open = before_blanks(src->text, at), *close = at + len;
		while (close < end && isspace((unsigned char)*close))
			close++;
		if (open > src->text && open[-1] == '(' && close < end && *close == ')')
			return true;
	}
	return false;
}

static bool is_function(const struct dif_diag *diag, const struct dif_source *src)
{
	const char *name = strrchr(diag->message, ' ');

	return name && !stands_as_cast(src, name + 1, strlen(name + 1));
}

/* Is it an error for any guest? Not if a name may be that of one of its types. */
static bool is_certain(const struct dif_diag *diag, const struct dif_source *src)
{
	static const char *const tags[] = {
		"D_EMPTY",
		"D_MACRO_UNDEF",
		"D_MACRO_OFLOW",
		"D_MACRO_UNUSED",
		"D_INT_OFLOW",
		"D_INT_DIGIT",
		"D_STR_NL",
		"D_CHR_NL",
		"D_CHR_NULL",
		"D_CHR_OFLOW",
		"D_PRAGMA_MALFORM",
		"D_PRAGMA_OPTSET",
		"D_PRAGMA_INVAL",
		"D_PRAGCTL_INVAL",

		"D_COMM_COMM",
		"D_COMM_DREC",
		"D_SPEC_SPEC",
		"D_SPEC_COMM",
		"D_SPEC_DREC",
		"D_ACT_SPEC",
		"D_EXIT_SPEC",
		"D_DREC_COMM",
		"D_PRINTF_ARG_EXTRA",
		"D_PRINTF_ARG_PROTO",
		"D_PRINTF_FMT_EMPTY",
	};

	if (!diag->tag || !src)
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(tags); i++)
		if (!strcmp(diag->tag, tags[i]))
			return true;
	if (!strcmp(diag->tag, "D_FUNC_UNDEF"))
		return is_function(diag, src);
	if (strcmp(diag->tag, "D_SYNTAX") != 0)
		return false;
	if (strstr(diag->message, "near end of input"))
		return true;
	const char *at = place_of(diag, src);
	return at && !may_be_type(src, at);
}

/* Might a guest resolve that? The D libraries may fail because there is no guest. */
static bool is_unsure(const struct con_failure *failure)
{
	if (failure->in_library)
		return true;
	return failure->diag && !is_certain(failure->diag, failure->in_source ? &failure->source : NULL);
}

/* One pass; *ret_unsure: it ended at an error that a guest might resolve. */
static int pass(struct cli_invocation *inv, struct vp_session *session, bool syntax_only, bool *ret_unsure)
{
	struct con_compilation comp = { .syntax_only = syntax_only };
	struct con_texts texts = cli_texts_of(inv);
	bool zdefs = inv->opts.zdefs;
	int status = cli_check_dof(inv, false);

	*ret_unsure = false;
	if (status != CLI_GO_ON)
		return status;
	texts.dof = NULL;       /* it belongs to a guest */
	inv->opts.zdefs = true; /* a guest's probes */
	struct ot_err *err = con_compile(&comp, &texts, session);
	inv->opts.zdefs = zdefs;
	*ret_unsure = err && is_unsure(&comp.failure);
	if (*ret_unsure)
		ot_err_destroy(err);
	else if (err)
		status = cli_complain(&comp, inv, err);
	con_compilation_deinit(&comp);
	return status;
}

int cli_check(struct cli_invocation *inv)
{
	const struct vp_session_config config = { .options = &inv->opts };
	struct vp_session *session = NULL;
	int status = cli_check_asked(inv);
	bool unsure = false;

	if (status == CLI_GO_ON)
		status = cli_check_files(inv);
	if (status != CLI_GO_ON)
		return status;
	struct ot_err *err = vp_session_create(&config, &session);
	if (!err)
		err = vp_session_attach(session, "none");
	if (err)
		status = con_fail(err, NULL);
	else
		status = pass(inv, session, false, &unsure);
	if (unsure)
		status = pass(inv, session, true, &unsure);
	vp_session_destroy(session);
	return status;
}
