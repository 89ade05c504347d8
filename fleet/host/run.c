/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RUN: a program and its options, from another machine. */
#include "fleet/host/run.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/host/options.h"
#include "fleet/wire/message.h"

void fl_run_here_init(struct fl_run_here *r)
{
	*r = (struct fl_run_here){ .guests = "" };
	ot_arena_init(&r->arena);
	dif_options_init(&r->opts);
	r->texts = (struct con_texts){
		.opts = &r->opts, .args = &r->args, .cpp = &r->none, .libdirs = &r->none, .arena = &r->arena
	};
}

void fl_run_here_deinit(struct fl_run_here *r)
{
	free(r->args.items);
	dif_options_deinit(&r->opts);
	ot_arena_deinit(&r->arena);
}

/* A description's text is a string, a script's is bytes. */
static struct ot_err *take_text(struct fl_run_here *r, const struct fl_source *from, struct con_program *ret)
{
	const char *text = ot_arena_strndup(&r->arena, (const char *)from->text.data, from->text.len);

	if (!text)
		return ot_err_nomem();
	if (from->spec > DIF_SPEC_PROVIDER)
		return ot_err_new(OT_ERR_BAD_DATA, "a text of kind %u", from->spec);
	if (!from->is_script && strlen(text) != from->text.len)
		return ot_err_new(OT_ERR_SYNTAX, "a NUL in a probe specifier");
	*ret = (struct con_program){
		.is_script = from->is_script,
		.spec = (enum dif_spec)from->spec,
		.arg = from->is_script ? from->name : text,
		.text = from->is_script ? text : NULL,
		.len = from->text.len,
	};
	return NULL;
}

static struct ot_err *take_texts(struct fl_run_here *r, const struct fl_run *run)
{
	if (!run->nsources)
		return ot_err_new(OT_ERR_SYNTAX, "no program");
	r->texts.items = ot_arena_alloc(&r->arena, run->nsources * sizeof(*r->texts.items));
	if (!r->texts.items)
		return ot_err_nomem();
	for (uint32_t i = 0; i < run->nsources; i++)
		OT_TRY(take_text(r, &run->sources[i], &r->texts.items[i]));
	r->texts.count = run->nsources;
	return NULL;
}

static struct ot_err *set_option(struct fl_run_here *r, const struct fl_option *o)
{
	const enum fl_option_use use = fl_option_use(o->name);
	struct ot_err *err = NULL;

	if (use == FL_OPTION_HOST)
		err = dif_options_set(&r->opts, o->name, o->value, DIF_OPT_COMMAND_LINE);
	else if (use == FL_OPTION_UNKNOWN)
		err = ot_err_new(OT_ERR_SYNTAX, "Invalid option name");
	return ot_err_prefix(err, "failed to set -x %s%s%s", o->name, o->value ? "=" : "",
			     o->value ? o->value : "");
}

/* $0 is always there. */
static struct ot_err *take_args(struct fl_run_here *r, const struct fl_run *run)
{
	bool ok = run->nargs || con_strings_add(&r->args, "outsight");

	for (uint32_t i = 0; ok && i < run->nargs; i++)
		ok = con_strings_add(&r->args, run->args[i]);
	return ok ? NULL : ot_err_nomem();
}

struct ot_err *fl_run_here_read(struct fl_run_here *r, const void *data, size_t len)
{
	struct fl_run run;

	OT_TRY(fl_get_run(data, len, &r->arena, &run));
	r->guests = run.guests;
	OT_TRY(take_texts(r, &run));
	for (uint32_t i = 0; i < run.noptions; i++)
		OT_TRY(set_option(r, &run.options[i]));
	return take_args(r, &run);
}
