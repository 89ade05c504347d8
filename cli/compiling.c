/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiling the texts of a command line, and the messages about them. */
#include "cli/compiling.h"

#include <string.h>
#include <unistd.h>

#include "cli/hints.h"
#include "consumer/messages.h"

struct con_texts cli_texts_of(struct cli_invocation *inv)
{
	return (struct con_texts){
		.opts = &inv->opts,
		.items = inv->programs,
		.count = inv->nprograms,
		.args = &inv->args,
		.cpp = &inv->cpp,
		.libdirs = &inv->libdirs,
		.arena = &inv->arena,
		.dof = inv->load_dof,
	};
}

/* The source line of an error, and a caret under its column. For people only. */
static void show_caret(const struct dif_diag *diag, const struct dif_source *src)
{
	const char *line = src->text, *end = src->text + src->len, *eol;

	if (!isatty(STDERR_FILENO) || diag->file || !diag->line)
		return;
	for (uint32_t n = 1; n < diag->line && line < end; n++) {
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			return;
		line++;
	}
	eol = memchr(line, '\n', (size_t)(end - line));
	if (!eol)
		eol = end;
	if (diag->column > (uint32_t)(eol - line) + 1)
		return;
	fprintf(stderr, "  %.*s\n", (int)(eol - line), line);
	if (!diag->column)
		return; /* column unknown */
	fputs("  ", stderr);
	for (uint32_t i = 1; i < diag->column; i++)
		putc(line[i - 1] == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

/* After an error of D: its place, and the remedy. */
static void show_help(const struct con_failure *failure, const struct cli_invocation *inv)
{
	const struct dif_source *src = failure->in_source ? &failure->source : NULL;
	const struct dif_diag *diag = failure->diag;

	/* cpp's output has other line numbers */
	if (src && !(src->kind == DIF_SOURCE_SCRIPT && inv->opts.cpp))
		show_caret(diag, src); /* of a specifier too, whose message has no line */
	if (diag->hint)
		con_hint(&inv->opts, "%s", diag->hint);
	else if (diag->tag && !strcmp(diag->tag, "D_MACRO_UNUSED"))
		cli_hint_words(inv);
}

int cli_complain(const struct con_compilation *c, const struct cli_invocation *inv, struct ot_err *err)
{
	const struct con_failure *failure = &c->failure;
	struct ot_buf text;

	ot_buf_init(&text);
	con_failure_print(failure, err, inv->opts.errtags, &text);
	con_error("%s", text.failed ? ot_err_message(err) : ot_buf_str(&text));
	ot_buf_deinit(&text);
	if (failure->diag)
		show_help(failure, inv);
	ot_err_destroy(err);
	return CON_EXIT_ERROR;
}

static void list(void *arg, const char *text)
{
	(void)arg;
	fflush(NULL);
	fputs(text, stderr);
}

int cli_check_dof(const struct cli_invocation *inv, bool silent)
{
	if (!inv->load_dof || !inv->nprograms)
		return CLI_GO_ON;
	if (!silent)
		con_error("--dof can't be combined with -s, -n and the like");
	return CON_EXIT_USAGE;
}

int cli_compile_asked(struct con_compilation *c, struct cli_invocation *inv, struct vp_session *s,
		      bool silent)
{
	const struct con_texts texts = cli_texts_of(inv);
	int status = cli_check_dof(inv, silent);

	if (status != CLI_GO_ON)
		return status;
	c->list = silent ? NULL : list;
	struct ot_err *err = con_compile(c, &texts, s);
	if (!err)
		return CLI_GO_ON;
	if (!silent) {
		bool has_hint = c->failure.diag && c->failure.diag->hint;
		status = cli_complain(c, inv, err);
		if (!has_hint && vp_session_lacks_types(s))
			con_hint(&inv->opts,
				 "the guest's kernel has no BTF, so that its types are unknown: --vmlinux "
				 "FILE supplies them");
		return status;
	}
	ot_err_destroy(err);
	return CON_EXIT_ERROR;
}
