/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries and texts compiled into one program, once for each kernel of the session's guests. */
#include "consumer/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "consumer/source.h"

/* One compiler's part of the program: for one kernel. */
struct part {
	struct con_compilation *c;
	const struct con_texts *texts;
	struct dif_compiler *comp;
	uint32_t kernel;
	const char *of; /* " for web02 (6.12.9)"; "" for the first kernel */
	bool lists;     /* shows its trees and objects */
	uint32_t text;  /* being compiled */
};

/* --- what failed ---------------------------------------------------------------------------------------- */

static void forget_failure(struct con_compilation *c)
{
	free(c->failure.context);
	c->failure = (struct con_failure){ 0 };
}

/* @context is consumed; without memory it is omitted. */
static struct ot_err *fail(struct con_compilation *c, struct ot_err *err, const struct dif_diag *diag,
			   const struct dif_source *src, char *context)
{
	forget_failure(c);
	c->failure.context = context;
	c->failure.diag = diag;
	if (diag && src) {
		c->failure.in_source = true;
		c->failure.source = *src;
	}
	return err;
}

/* The context of an error, owned by who gets it; NULL: no memory. */
static char *context_of(const struct part *p, const char *what, const char *name)
{
	char *text;

	return asprintf(&text, "%s %s%s", what, name, p->of) < 0 ? NULL : text;
}

/* --- listings ------------------------------------------------------------------------------------------- */

/* -S: the objects of new clauses. `a, b { … }` is two clauses with the same objects: list them once. */
static void list_objects(const struct part *p, uint32_t first)
{
	const struct dif_program *prog = &p->c->prog;
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
	p->c->list(p->c->list_arg, ot_buf_str(&out));
	ot_buf_deinit(&out);
	ot_map_deinit(&seen);
}

/* --- texts ---------------------------------------------------------------------------------------------- */

/* New parts of the program are for this kernel, from this text. Options are unchanged. */
static void mark(const struct part *p, uint32_t first, uint32_t nopts)
{
	struct dif_program *prog = &p->c->prog;

	for (uint32_t i = first; i < prog->nclauses; i++) {
		prog->clauses[i].kernel = p->kernel;
		prog->clauses[i].text = p->text;
	}
	if (p->kernel)
		prog->nopts = nopts;
}

/* @context as of fail(). */
static struct ot_err *compile_source(struct part *p, const struct dif_source *src, char *context,
				     struct con_compiled *unit)
{
	struct con_compilation *c = p->c;
	const struct dif_diag *diag = NULL;
	uint32_t first = 0, nopts = c->prog.nopts;
	struct ot_err *err = dif_compile(p->comp, src, &c->prog, &first, &diag);

	if (p->lists) /* of a program that fails: the clauses before the error */
		c->list(c->list_arg, dif_compiler_tree(p->comp));
	if (err)
		return fail(c, err, diag, src, context);
	free(context);
	mark(p, first, nopts);
	uint64_t matched = dif_compiler_matched(p->comp);
	unit->matched += matched;
	c->matched += matched;
	if (p->kernel)
		return NULL;
	unit->first = first;
	unit->end = c->prog.nclauses;
	unit->used = dif_compiler_used(p->comp);
	if (p->texts->opts->verbose && p->lists)
		list_objects(p, first);
	return NULL;
}

static const struct con_strings *args_of(const struct part *p, const struct con_program *program)
{
	return program->args ? program->args : p->texts->args;
}

static struct ot_err *compile_script(struct part *p, struct con_program *program, struct con_compiled *unit)
{
	const struct con_strings *args = args_of(p, program);
	const char *path = program->arg;

	if (!program->text && access(path, R_OK) < 0)
		return ot_err_os(errno, "failed to open %s", path);
	char *context = context_of(p, "failed to compile script", path);
	if (!context)
		return ot_err_nomem();
	struct ot_err *err = con_source_script(p->texts, program);
	if (err)
		return fail(p->c, err, NULL, NULL, context);
	struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT,
		.name = path,
		.text = program->text,
		.len = program->len,
		.args = args->items,
		.nargs = (unsigned)args->count,
		.syntax_only = p->c->syntax_only,
	};
	const char *arg0 = args->items[0];
	args->items[0] = path; /* $0 */
	unit->what = "script";
	if (!unit->name)
		unit->name = strdup(path);
	err = compile_source(p, &src, context, unit);
	args->items[0] = arg0;
	return err;
}

static struct ot_err *compile_specifier(struct part *p, const struct con_program *program,
					struct con_compiled *unit)
{
	const struct con_strings *args = args_of(p, program);
	char *context = context_of(p, "invalid probe specifier", program->arg);
	struct dif_source src = {
		.kind = DIF_SOURCE_COMMAND_LINE,
		.spec = program->spec,
		.name = program->arg,
		.text = program->arg,
		.len = strlen(program->arg),
		.args = args->items,
		.nargs = (unsigned)args->count,
		.syntax_only = p->c->syntax_only,
	};

	if (!context)
		return ot_err_nomem();
	unit->what = "description";
	if (!unit->name)
		unit->name = strndup(program->arg, strcspn(program->arg, "{/;"));
	return compile_source(p, &src, context, unit);
}

static struct ot_err *compile_libraries(struct part *p)
{
	struct con_compilation *c = p->c;
	const struct dif_diag *diag = NULL;
	const char *path = NULL;
	uint32_t nopts = c->prog.nopts;
	struct ot_err *err = con_libraries_compile(p->texts, p->comp, &c->prog, &diag, &path);

	if (!err) {
		mark(p, c->prog.nclauses, nopts);
		return NULL;
	}
	err = fail(c, err, path ? diag : NULL, NULL, path ? context_of(p, "invalid D library", path) : NULL);
	c->failure.in_library = true;
	return err;
}

/* --- kernels -------------------------------------------------------------------------------------------- */

/* The texts from number @from on. */
static struct ot_err *compile_part(struct part *p, size_t from)
{
	struct con_compilation *c = p->c;

	for (size_t i = from; i < p->texts->count; i++) {
		struct con_program *program = &p->texts->items[i];
		struct con_compiled *unit = &c->units[i];

		p->text = (uint32_t)i;
		if (!p->kernel)
			c->nunits = i + 1;
		OT_TRY(program->is_script ? compile_script(p, program, unit)
					  : compile_specifier(p, program, unit));
		if (!unit->name)
			return ot_err_nomem();
	}
	return NULL;
}

static struct ot_err *add_compiler(struct part *p, struct vp_session *s)
{
	struct con_compilation *c = p->c;
	struct dif_compiler **comp = &c->comps[c->ncomps];

	OT_TRY(dif_compiler_create(vp_session_world(s, c->ncomps), p->texts->opts, comp));
	if (c->ncomps++)
		dif_compiler_share(*comp, c->comps[0]);
	p->comp = *comp;
	if (c->expect)
		OT_TRY(c->expect(c->expect_arg, *comp));
	return p->texts->count ? compile_libraries(p) : NULL;
}

/* The texts from number @from on, for one kernel; @lists: list them. */
static struct ot_err *compile_kernel(struct con_compilation *c, const struct con_texts *texts,
				     struct vp_session *s, uint32_t kernel, size_t from, bool lists)
{
	char of[160] = "", name[128];
	struct part p = {
		.c = c, .texts = texts, .comp = c->comps[kernel], .kernel = kernel, .of = of, .lists = lists
	};

	vp_session_kernel_name(s, kernel, name, sizeof(name));
	if (kernel)
		snprintf(of, sizeof(of), " for %s", name);
	if (kernel == c->ncomps)
		OT_TRY(add_compiler(&p, s));
	return compile_part(&p, from);
}

/* @again: the listings have been made. */
static struct ot_err *compile_all(struct con_compilation *c, const struct con_texts *texts,
				  struct vp_session *s, size_t from, bool again)
{
	uint32_t n = vp_session_nkernels(s);

	for (uint32_t k = 0; k < n; k++)
		OT_TRY(compile_kernel(c, texts, s, k, from, !k && !again && c->list));
	return NULL;
}

struct ot_err *con_compile_joining(struct con_compilation *c, const struct con_texts *texts,
				   struct vp_session *s)
{
	if (texts->dof)
		return ot_err_new(OT_ERR_UNSUPPORTED, "--dof is a program for one kernel");
	return compile_kernel(c, texts, s, c->ncomps, 0, false);
}

void con_compile_undo(struct con_compilation *c, uint32_t ncomps)
{
	forget_failure(c); /* it may be the compiler's */
	while (c->ncomps > ncomps) {
		dif_compiler_destroy(c->comps[--c->ncomps]);
		c->comps[c->ncomps] = NULL;
	}
}

static struct ot_err *make_room(struct con_compilation *c, size_t n)
{
	size_t had = c->units_cap;

	if (!ot_grow(&c->units, &c->units_cap, n + 1, sizeof(*c->units)))
		return ot_err_nomem();
	memset(c->units + had, 0, (c->units_cap - had) * sizeof(*c->units));
	return NULL;
}

/* Of texts that failed: the next ones get their numbers. */
static void forget_units(struct con_compilation *c, size_t from)
{
	while (c->nunits > from) {
		struct con_compiled *unit = &c->units[--c->nunits];
		c->matched -= unit->matched;
		free(unit->name);
		*unit = (struct con_compiled){ 0 };
	}
}

static void begin_again(struct con_compilation *c)
{
	const struct con_compilation set = *c;

	con_compilation_deinit(c);
	*c = (struct con_compilation){
		.syntax_only = set.syntax_only,
		.list = set.list,
		.list_arg = set.list_arg,
		.expect = set.expect,
		.expect_arg = set.expect_arg,
	};
	dif_program_init(&c->prog);
}

struct ot_err *con_compile_more(struct con_compilation *c, const struct con_texts *texts,
				struct vp_session *s)
{
	size_t from = c->nunits;

	if (!from)
		begin_again(c);
	uint32_t nclauses = c->prog.nclauses;
	OT_TRY(make_room(c, texts->count));
	struct ot_err *err = compile_all(c, texts, s, from, false);
	if (err) {
		forget_units(c, from);
		c->prog.nclauses = nclauses;
		return err;
	}
	if (!vp_session_split_kernels(s))
		return NULL;
	begin_again(c);
	OT_TRY(make_room(c, texts->count));
	return compile_all(c, texts, s, 0, true);
}

struct ot_err *con_compile(struct con_compilation *c, const struct con_texts *texts, struct vp_session *s)
{
	if (!texts->dof)
		return con_compile_more(c, texts, s);
	begin_again(c);
	OT_TRY(make_room(c, 1));
	return con_compile_saved(c, texts, s);
}

void con_compilation_keep(struct con_compilation *c, uint32_t first, bool (*keep)(void *arg, uint32_t text),
			  void *arg)
{
	struct dif_program *prog = &c->prog;
	uint32_t n = first;

	for (uint32_t i = first; i < prog->nclauses; i++)
		if (keep(arg, prog->clauses[i].text))
			prog->clauses[n++] = prog->clauses[i];
	prog->nclauses = n;
}

void con_compilation_deinit(struct con_compilation *c)
{
	forget_units(c, 0);
	free(c->units);
	c->units = NULL;
	c->units_cap = 0;
	forget_failure(c);
	dif_program_deinit(&c->prog);
	while (c->ncomps) /* the first one's names are the others' */
		dif_compiler_destroy(c->comps[--c->ncomps]);
}
