/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits what a host's clause can make this process do. The texts are the operator's own, but a host may have
 * compiled something else. A host's program may therefore contain only actions that the texts name, and none
 * that reaches beyond the session's data: system(), freopen(), setopt(), ftruncate().
 */
#include <string.h>

#include "dif/obj/format.h"
#include "fleet/operator/internal.h"

#define RUN_MAX   256u  /* data of one statement, as in the consumer */
#define WIDTH_MAX 65536 /* size of a conversion's text */

static const char *const words[] = { "printa", "clear", "trunc", "normalize", "denormalize", "exit" };
enum word { PRINTA, CLEAR, TRUNC, NORMALIZE, DENORMALIZE, EXIT, NEVER };

static unsigned words_in(const char *text, size_t len)
{
	unsigned found = 0;

	for (unsigned i = 0; i < NEVER; i++)
		if (memmem(text, len, words[i], strlen(words[i])))
			found |= 1u << i;
	return found;
}

unsigned fl_trust_of(const struct con_texts *texts)
{
	unsigned found = 0;

	for (size_t i = 0; i < texts->count; i++) {
		const struct con_program *p = &texts->items[i];
		found |= p->is_script ? words_in(p->text, p->len) : words_in(p->arg, strlen(p->arg));
	}
	/* $1 may be a name */
	for (size_t i = 0; i < texts->args->count; i++)
		found |= words_in(texts->args->items[i], strlen(texts->args->items[i]));
	return found;
}

/* --- actions -------------------------------------------------------------------------------------------- */

/* The effect of an action here; -1: data only. */
static int act_of(const struct dif_action *a)
{
	switch (a->kind) {
	case DIF_ACT_printa:
		return PRINTA;
	case DIF_ACT_exit:
		return EXIT;
	case DIF_ACT_system:
	case DIF_ACT_freopen:
		return NEVER;
	case DIF_ACT_libact:
		break;
	default:
		return -1;
	}
	switch (a->arg) {
	case DIF_LIBACT_CLEAR:
		return CLEAR;
	case DIF_LIBACT_TRUNC:
		return TRUNC;
	case DIF_LIBACT_NORMALIZE:
		return NORMALIZE;
	case DIF_LIBACT_DENORMALIZE:
		return DENORMALIZE;
	default:
		return NEVER;
	}
}

static struct ot_err *check_act(unsigned may_act, const struct dif_action *a)
{
	int act = act_of(a);

	if (act == NEVER)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s() in a clause of a guest would act on the operator's machine",
				  a->kind == DIF_ACT_libact ? "an action" : dif_action_name(a->kind));
	if (act >= 0 && !(may_act & 1u << act))
		return ot_err_new(OT_ERR_BAD_DATA, "%s() is in no text of the operator's", words[act]);
	return NULL;
}

/* --- formats -------------------------------------------------------------------------------------------- */

static struct ot_err *check_format(const char *text)
{
	struct dif_format fmt;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = dif_format_parse(text, &arena, &fmt);
	for (uint32_t i = 0; !err && i < fmt.nconvs; i++)
		if (fmt.convs[i].width > WIDTH_MAX || fmt.convs[i].prec > WIDTH_MAX)
			err = ot_err_new(OT_ERR_BAD_DATA, "a format that is %d wide", WIDTH_MAX);
	ot_arena_deinit(&arena);
	return err;
}

/* --- statements ----------------------------------------------------------------------------------------- */

/* The actions from number @at on that may belong to one statement. */
static uint32_t statement_length(const struct dif_clause *clause, uint32_t at)
{
	uint32_t n = 1;

	while (at + n < clause->nactions && clause->actions[at].uarg &&
	       clause->actions[at + n].uarg == clause->actions[at].uarg)
		n++;
	return n;
}

/* The consumer searches the whole run for the aggregation. */
static struct ot_err *check_libact(const struct dif_program *prog, const struct dif_clause *clause,
				   uint32_t at)
{
	const struct dif_action *a = &clause->actions[at];

	for (uint32_t i = 0; i < statement_length(clause, at) && a[i].kind == DIF_ACT_libact; i++)
		if (a[i].aggid && a[i].aggid <= prog->naggs)
			return NULL;
	return ot_err_new(OT_ERR_BAD_DATA, "an action on no aggregation");
}

static bool begins_statement(const struct dif_clause *clause, uint32_t at)
{
	const struct dif_action *a = &clause->actions[at];

	return !at || !a->uarg || a[-1].uarg != a->uarg || a[-1].kind != a->kind;
}

struct ot_err *fl_trust_clause(unsigned may_act, const struct dif_program *prog,
			       const struct dif_clause *clause)
{
	for (uint32_t i = 0; i < clause->nactions; i++) {
		const struct dif_action *a = &clause->actions[i];

		OT_TRY(check_act(may_act, a));
		if (DIF_ACT_IS_PRINTFLIKE(a->kind) && a->format)
			OT_TRY(check_format(a->format));
		if (a->kind == DIF_ACT_libact && begins_statement(clause, i))
			OT_TRY(check_libact(prog, clause, i));
		if (statement_length(clause, i) > RUN_MAX)
			return ot_err_new(OT_ERR_BAD_DATA, "a statement of more than %u data", RUN_MAX);
	}
	return NULL;
}
