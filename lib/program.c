/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of D: dtrace_program_strcompile(3). All of a handle become one program, of which those are enabled
 * that were executed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/handle.h"

struct con_texts lib_texts(dtrace_hdl_t *h)
{
	return (struct con_texts){
		.opts = &h->opts,
		.items = h->texts,
		.count = h->nprogs,
		.args = &h->no_args,
		.cpp = &h->cpp,
		.libdirs = &h->libdirs,
		.arena = &h->arena,
	};
}

static bool is_executed(void *arg, uint32_t text)
{
	const dtrace_hdl_t *h = arg;

	return text < h->nprogs && h->progs[text]->executed;
}

void lib_keep_executed(dtrace_hdl_t *h, uint32_t first)
{
	con_compilation_keep(&h->comp, first, is_executed, h);
}

static bool spec_of(dtrace_probespec_t spec, enum dif_spec *ret)
{
	static const enum dif_spec specs[] = {
		[DTRACE_PROBESPEC_PROVIDER] = DIF_SPEC_PROVIDER,
		[DTRACE_PROBESPEC_MOD] = DIF_SPEC_MODULE,
		[DTRACE_PROBESPEC_FUNC] = DIF_SPEC_FUNCTION,
		[DTRACE_PROBESPEC_NAME] = DIF_SPEC_NAME,
	};

	/* none: a text is not a specifier, but a bare word is still an error */
	if (spec < DTRACE_PROBESPEC_NONE || spec > DTRACE_PROBESPEC_NAME)
		return false;
	*ret = spec == DTRACE_PROBESPEC_NONE ? DIF_SPEC_NAME : specs[spec];
	return true;
}

/* A flag remains set, as an option. */
static void set_flags(struct dif_options *opts, uint_t flags)
{
	opts->empty |= !!(flags & DTRACE_C_EMPTY);
	opts->zdefs |= !!(flags & DTRACE_C_ZDEFS);
	opts->knodefs |= !!(flags & DTRACE_C_KNODEF);
	opts->unodefs |= !!(flags & DTRACE_C_UNODEF);
	opts->pspec |= !!(flags & DTRACE_C_PSPEC);
	opts->errtags |= !!(flags & DTRACE_C_ETAGS);
	opts->argref |= !!(flags & DTRACE_C_ARGREF);
	opts->defaultargs |= !!(flags & DTRACE_C_DEFARG);
	opts->nolibs |= !!(flags & DTRACE_C_NOLIBS);
}

/* Add a text that is not compiled yet; NULL: no memory. */
static struct dtrace_prog *add(dtrace_hdl_t *h, const char *text, enum dif_spec spec, int argc,
			       char *const argv[])
{
	struct dtrace_prog *prog = calloc(1, sizeof(*prog));
	char *copy = ot_arena_strdup(&h->arena, text);
	bool ok = prog && copy && ot_grow(&h->texts, &h->texts_cap, h->nprogs + 1, sizeof(*h->texts)) &&
		  ot_grow(&h->progs, &h->progs_cap, h->nprogs + 1, sizeof(struct dtrace_prog *));

	for (int i = 0; ok && i < argc; i++) {
		const char *arg = ot_arena_strdup(&h->arena, argv[i]);
		ok = arg && con_strings_add(&prog->args, arg);
	}
	if (!ok) {
		if (prog)
			free(prog->args.items);
		free(prog);
		return NULL;
	}
	h->texts[h->nprogs] = (struct con_program){ .spec = spec, .arg = copy };
	if (argc > 0)
		h->texts[h->nprogs].args = &prog->args;
	h->progs[h->nprogs++] = prog;
	return prog;
}

static void drop_last(dtrace_hdl_t *h)
{
	struct dtrace_prog *prog = h->progs[--h->nprogs];

	free(prog->args.items);
	free(prog);
}

/* The compiler's message, without the text itself before it, which the caller has. */
static int compile_error(dtrace_hdl_t *h, struct ot_err *err)
{
	const struct con_failure *failure = &h->comp.failure;
	struct ot_buf text;

	if (!failure->diag)
		return lib_result(h, err);
	struct dif_diag diag = *failure->diag;
	ot_buf_init(&text);
	if (failure->in_library && failure->context)
		ot_buf_printf(&text, "%s: ", failure->context);
	dif_diag_print(&diag, h->opts.errtags, &text);
	if (diag.hint && !h->opts.errtags)
		ot_buf_printf(&text, " (%s)", diag.hint);
	lib_fail_text(h, OUTSIGHT_E_COMPILER, "%s", ot_buf_str(&text));
	ot_buf_deinit(&text);
	ot_err_destroy(err);
	return -1;
}

static void read_info(dtrace_hdl_t *h, struct dtrace_prog *prog)
{
	const struct con_compiled *unit = &h->comp.units[h->nprogs - 1];
	const dtrace_attribute_t used = { unit->used.name, unit->used.data, unit->used.class };
	dtrace_proginfo_t *info = &prog->info;

	info->dpi_descattr = info->dpi_stmtattr = used;
	info->dpi_matches = unit->matched > UINT32_MAX ? UINT32_MAX : (uint_t)unit->matched;
	for (uint32_t i = unit->first; i < unit->end; i++) {
		const struct dif_clause *clause = &h->comp.prog.clauses[i];
		uint32_t records = !clause->nactions;

		for (uint32_t k = 0; k < clause->nactions; k++) {
			const struct dif_action *action = &clause->actions[k];
			info->dpi_aggregates += DIF_ACT_IS_AGG(action->kind);
			info->dpi_speculations += action->kind == DIF_ACT_speculate;
			records += !action->is_key && !DIF_ACT_IS_AGG(action->kind);
		}
		info->dpi_recgens += records != 0;
	}
}

static struct dtrace_prog *compile(dtrace_hdl_t *h, const char *text, enum dif_spec spec, int argc,
				   char *const argv[])
{
	if (lib_result(h, lib_attach(h)))
		return NULL;
	struct dtrace_prog *prog = add(h, text, spec, argc, argv);
	if (!prog)
		return lib_fail(h, ENOMEM), NULL;
	const struct con_texts texts = lib_texts(h);
	struct ot_err *err = con_compile_more(&h->comp, &texts, h->session);
	if (err) {
		compile_error(h, err);
		drop_last(h);
		return NULL;
	}
	read_info(h, prog);
	return prog;
}

dtrace_prog_t *dtrace_program_strcompile(dtrace_hdl_t *h, const char *text, dtrace_probespec_t spec,
					 uint_t flags, int argc, char *const argv[])
{
	enum dif_spec what;

	if (lib_check_idle(h))
		return NULL;
	if (h->state != LIB_IDLE)
		return lib_fail(h, OUTSIGHT_E_ACTIVE), NULL;
	if (!text || !spec_of(spec, &what) || flags & ~DTRACE_C_MASK || argc < 0 || (argc && !argv))
		return lib_fail(h, EINVAL), NULL;
	set_flags(&h->opts, flags);
	lib_begin(h);
	struct dtrace_prog *prog = compile(h, text, what, argc, argv);
	lib_end(h);
	return prog;
}

int dtrace_program_exec(dtrace_hdl_t *h, dtrace_prog_t *prog, dtrace_proginfo_t *info)
{
	if (h->state != LIB_IDLE)
		return lib_fail(h, OUTSIGHT_E_ACTIVE);
	if (!prog)
		return lib_fail(h, EINVAL);
	prog->executed = true;
	if (info)
		*info = prog->info;
	return 0;
}
