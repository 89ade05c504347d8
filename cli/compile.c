/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries and programs of a command line compiled into one program, once for each kernel of the session's
 * guests, and the messages about it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/compile.h"
#include "cli/hints.h"
#include "cli/messages.h"
#include "cli/source.h"
#include "dif/obj/verify.h"

#define DOF_MAX (64u << 20)

/* The line of the source that an error is in, and a caret under its column. For people only. */
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

/* As cli_fail(), unless messages are suppressed. */
static int complain(const struct cli_compilation *c, struct ot_err *err, const char *context)
{
	if (!c->silent)
		return context ? cli_fail(err, "%s", context) : cli_fail(err, NULL);
	ot_err_destroy(err);
	return CLI_EXIT_ERROR;
}

static int fail(struct cli_compilation *c, const struct cli_invocation *inv, struct ot_err *err,
		const struct dif_diag *diag, const struct dif_source *src, const char *context)
{
	struct dif_diag shown;
	struct ot_buf text;

	if (c->early && diag && !cli_is_certain(diag, src)) {
		ot_err_destroy(err);
		c->unsure = true;
		return CLI_EXIT_ERROR;
	}
	if (!diag || c->silent)
		return complain(c, err, context);
	ot_err_destroy(err);
	shown = *diag;
	/* dtrace numbers the lines of files only; the caret shows where in a specifier */
	if (src && src->kind == DIF_SOURCE_COMMAND_LINE && !diag->file)
		shown.line = 0;
	ot_buf_init(&text);
	dif_diag_print(&shown, inv->opts.errtags, &text);
	cli_error("%s: %s", context, ot_buf_str(&text));
	ot_buf_deinit(&text);
	/* cpp's output has other line numbers */
	if (src && !(src->kind == DIF_SOURCE_SCRIPT && inv->opts.cpp))
		show_caret(diag, src);
	if (diag->hint)
		cli_hint(&inv->opts, "%s", diag->hint);
	else if (diag->tag && !strcmp(diag->tag, "D_MACRO_UNUSED"))
		cli_hint_words(inv);
	return CLI_EXIT_ERROR;
}

/* -S: the objects of new clauses. `a, b { … }` is two clauses with the same objects: print them once. */
static void list_objects(const struct dif_program *prog, uint32_t first)
{
	struct ot_map seen;
	struct ot_buf out;

	ot_map_init(&seen);
	ot_buf_init(&out);
	for (uint32_t i = first; i < prog->nclauses; i++) {
		const struct dif_clause *clause = &prog->clauses[i];
		for (uint32_t k = 0; k <= clause->nactions; k++) {
			const struct dif_object *obj = k ? clause->actions[k - 1].object : clause->predicate;
			if (!obj || ot_map_get(&seen, &obj, sizeof(obj)))
				continue;
			if (!ot_map_put(&seen, &obj, sizeof(obj), (void *)(uintptr_t)1))
				break;
			dif_object_list(obj, &out);
		}
	}
	fflush(NULL);
	fputs(ot_buf_str(&out), stderr);
	ot_buf_deinit(&out);
	ot_map_deinit(&seen);
}

/* One compiler's part of the program: for one kernel. */
struct part {
	struct cli_compilation *c;
	struct cli_invocation *inv;
	struct dif_compiler *comp;
	uint32_t kernel;
	const char *of; /* " for web02 (6.12.9)"; "" for the first kernel */
	bool lists;     /* shows its trees and objects */
};

/* What is new in the program is for this kernel. Options are what they are. */
static void mark(const struct part *p, uint32_t first, uint32_t nopts)
{
	struct dif_program *prog = &p->c->prog;

	for (uint32_t i = first; i < prog->nclauses; i++)
		prog->clauses[i].kernel = p->kernel;
	if (p->kernel)
		prog->nopts = nopts;
}

static int compile_source(struct part *p, const struct dif_source *src, const char *context,
			  struct cli_compiled *unit)
{
	struct cli_compilation *c = p->c;
	const struct dif_diag *diag = NULL;
	uint32_t first = 0, nopts = c->prog.nopts;
	struct ot_err *err = dif_compile(p->comp, src, &c->prog, &first, &diag);

	if (p->lists)
		fputs(dif_compiler_tree(p->comp),
		      stderr); /* of a program that fails: the clauses before the error */
	if (err)
		return fail(c, p->inv, err, diag, src, context);
	mark(p, first, nopts);
	uint64_t matched = dif_compiler_matched(p->comp);
	unit->matched += matched;
	c->matched += matched;
	if (p->kernel)
		return CLI_GO_ON;
	unit->first = first;
	unit->end = c->prog.nclauses;
	unit->used = dif_compiler_used(p->comp);
	if (p->inv->opts.verbose && p->lists)
		list_objects(&c->prog, first);
	return CLI_GO_ON;
}

/* Read once: it may come from a pipe, and be compiled twice. */
static struct ot_err *read_script(struct cli_invocation *inv, struct cli_program *program)
{
	struct ot_buf text;

	if (program->text)
		return NULL;
	OT_TRY(cli_source_read(inv, program->arg, &text));
	char *copy = ot_arena_alloc(&inv->arena, text.len + 1);
	if (copy) {
		memcpy(copy, ot_buf_str(&text), text.len + 1);
		program->len = text.len;
		program->text = copy;
	}
	ot_buf_deinit(&text);
	return copy ? NULL : ot_err_nomem();
}

static int compile_script(struct part *p, struct cli_program *program, struct cli_compiled *unit)
{
	struct cli_compilation *c = p->c;
	struct cli_invocation *inv = p->inv;
	const char *path = program->arg;
	ot_auto_free char *context = NULL;

	if (access(path, R_OK) < 0)
		return complain(c, ot_err_os(errno, "failed to open %s", path), NULL);
	if (asprintf(&context, "failed to compile script %s%s", path, p->of) < 0)
		return complain(c, ot_err_nomem(), NULL);
	struct ot_err *err = read_script(inv, program);
	if (err)
		return complain(c, err, context);
	struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT,
		.name = path,
		.text = program->text,
		.len = program->len,
		.args = inv->args.items,
		.nargs = (unsigned)inv->args.count,
		.syntax_only = c->syntax_only,
	};
	const char *arg0 = inv->args.items[0];
	inv->args.items[0] = path; /* $0 */
	unit->what = "script";
	if (!unit->name)
		unit->name = strdup(path);
	int status = compile_source(p, &src, context, unit);
	inv->args.items[0] = arg0;
	return status;
}

static int compile_specifier(struct part *p, const struct cli_program *program, struct cli_compiled *unit)
{
	struct cli_compilation *c = p->c;
	struct cli_invocation *inv = p->inv;
	ot_auto_free char *context = NULL;
	struct dif_source src = {
		.kind = DIF_SOURCE_COMMAND_LINE,
		.spec = program->spec,
		.name = program->arg,
		.text = program->arg,
		.len = strlen(program->arg),
		.args = inv->args.items,
		.nargs = (unsigned)inv->args.count,
		.syntax_only = c->syntax_only,
	};

	if (asprintf(&context, "invalid probe specifier %s%s", program->arg, p->of) < 0)
		return complain(c, ot_err_nomem(), NULL);
	unit->what = "description";
	if (!unit->name)
		unit->name = strndup(program->arg, strcspn(program->arg, "{/;"));
	return compile_source(p, &src, context, unit);
}

/* --dof: a saved program. It is untrusted, so it is verified. */
static int load_program(struct cli_compilation *c, struct cli_invocation *inv, struct vp_session *s)
{
	const struct dif_world *world = vp_session_world(s, 0);
	struct cli_compiled *unit = &c->units[c->nunits++];
	ot_auto_free char *data = NULL;
	struct dif_program loaded;
	struct ot_err *err;
	size_t len;

	err = vp_session_nkernels(s) > 1
		  ? ot_err_new(OT_ERR_UNSUPPORTED,
			       "--dof is a program for one kernel, and the guests run several: "
			       "trace them in sessions of their own")
		  : ot_read_file(inv->load_dof, DOF_MAX, &data, &len);
	if (!err)
		err = dif_dof_read(data, len, &loaded);
	if (!err) {
		dif_program_deinit(&c->prog);
		c->prog = loaded;
		err = dif_program_verify(&c->prog);
	}
	for (uint32_t i = 0; !err && i < c->prog.nopts; i++)
		err =
		    dif_options_set(&inv->opts, c->prog.opts[i].name, c->prog.opts[i].value, DIF_OPT_PROGRAM);
	unit->what = "program";
	unit->used = DIF_ATTRIBUTE_DEFAULT; /* the file doesn't record which attributes its text used */
	unit->name = strdup(inv->load_dof);
	unit->end = c->prog.nclauses;
	for (uint32_t i = 0; !err && i < c->prog.nclauses; i++) {
		uint64_t n = 0;
		err = world->match(world->env, &c->prog.clauses[i].probe, NULL, NULL, &n);
		unit->matched += n;
	}
	c->matched += unit->matched;
	return err ? complain(c, ot_err_prefix(err, "failed to load %s", inv->load_dof), NULL) : CLI_GO_ON;
}

static int compile_libraries(const struct part *p)
{
	struct cli_compilation *c = p->c;
	struct cli_invocation *inv = p->inv;
	const struct dif_diag *diag = NULL;
	const char *path = NULL;
	uint32_t first = c->prog.nclauses, nopts = c->prog.nopts;
	struct ot_err *err = cli_libraries_compile(inv, p->comp, &c->prog, &diag, &path);
	ot_auto_free char *context = NULL;

	if (!err) {
		mark(p, first, nopts);
		return CLI_GO_ON;
	}
	if (c->early) { /* perhaps because there is no guest */
		ot_err_destroy(err);
		c->unsure = true;
		return CLI_EXIT_ERROR;
	}
	if (!path || asprintf(&context, "invalid D library %s%s", path, p->of) < 0)
		return complain(c, err, NULL);
	return fail(c, inv, err, diag, NULL, context);
}

static int compile_part(struct part *p)
{
	struct cli_compilation *c = p->c;
	int status = p->inv->nprograms ? compile_libraries(p) : CLI_GO_ON;

	for (size_t i = 0; status == CLI_GO_ON && i < p->inv->nprograms; i++) {
		struct cli_program *program = &p->inv->programs[i];
		struct cli_compiled *unit = &c->units[i];

		c->nunits = p->kernel ? c->nunits : i + 1;
		status = program->is_script ? compile_script(p, program, unit)
					    : compile_specifier(p, program, unit);
		if (status == CLI_GO_ON && !unit->name)
			return complain(c, ot_err_nomem(), NULL);
	}
	return status;
}

static int add_compiler(struct cli_compilation *c, struct cli_invocation *inv, struct vp_session *s)
{
	struct dif_compiler **comp = &c->comps[c->ncomps];
	struct ot_err *err = dif_compiler_create(vp_session_world(s, c->ncomps), &inv->opts, comp);

	if (err)
		return complain(c, err, NULL);
	if (c->ncomps++)
		dif_compiler_share(*comp, c->comps[0]);
	return CLI_GO_ON;
}

/* @again: what there is to show has been shown. */
static int compile_all(struct cli_compilation *c, struct cli_invocation *inv, struct vp_session *s,
		       bool again)
{
	uint32_t n = vp_session_nkernels(s);
	int status = CLI_GO_ON;

	for (uint32_t k = 0; status == CLI_GO_ON && k < n; k++) {
		char of[160] = "", name[128];

		status = add_compiler(c, inv, s);
		vp_session_kernel_name(s, k, name, sizeof(name));
		if (k)
			snprintf(of, sizeof(of), " for %s", name);
		struct part p = { .c = c, .inv = inv, .comp = c->comps[k], .kernel = k, .of = of };
		p.lists = !k && !again && !c->silent && !c->early;
		if (status == CLI_GO_ON)
			status = compile_part(&p);
	}
	return status;
}

static int begin(struct cli_compilation *c, const struct cli_invocation *inv)
{
	*c = (struct cli_compilation){
		.silent = c->silent,
		.early = c->early,
		.syntax_only = c->syntax_only,
	};
	dif_program_init(&c->prog);
	c->units = calloc(inv->nprograms + 1, sizeof(*c->units));
	return c->units ? CLI_GO_ON : complain(c, ot_err_nomem(), NULL);
}

int cli_compile(struct cli_compilation *c, struct cli_invocation *inv, struct vp_session *s)
{
	bool loads = inv->load_dof && !(c->early && !inv->nprograms);
	int status = begin(c, inv);

	if (status == CLI_GO_ON && loads) {
		if (!inv->nprograms)
			return load_program(c, inv, s);
		if (!c->silent)
			cli_error("--dof can't be combined with -s, -n and the like");
		return CLI_EXIT_USAGE;
	}
	if (status == CLI_GO_ON)
		status = compile_all(c, inv, s, false);
	if (status != CLI_GO_ON || !vp_session_split_kernels(s))
		return status;
	cli_compilation_deinit(c);
	status = begin(c, inv);
	return status == CLI_GO_ON ? compile_all(c, inv, s, true) : status;
}

void cli_compilation_deinit(struct cli_compilation *c)
{
	for (size_t i = 0; i < c->nunits; i++)
		free(c->units[i].name);
	free(c->units);
	dif_program_deinit(&c->prog);
	while (c->ncomps) /* the first one's names are the others' */
		dif_compiler_destroy(c->comps[--c->ncomps]);
}
