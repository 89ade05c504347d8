/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RUN: the part of an operator's command line that a host carries out. */
#include <string.h>

#include "fleet/operator/internal.h"

static struct ot_err *source_of(const struct con_program *program, struct fl_source *ret)
{
	const char *text = program->is_script ? program->text : program->arg;
	size_t len = program->is_script ? program->len : strlen(text);

	if (len > FL_SOURCE_MAX)
		return ot_err_new(OT_ERR_LIMIT,
				  "%.80s: a text of more than %u bytes is not sent to other hosts",
				  program->arg, FL_SOURCE_MAX);
	*ret = (struct fl_source){
		.is_script = program->is_script,
		.spec = (uint8_t)program->spec,
		.name = program->is_script ? program->arg : "",
		.text = { (const uint8_t *)text, (uint32_t)len },
	};
	return NULL;
}

static struct ot_err *put_sources(const struct con_texts *texts, struct ot_arena *arena, struct fl_run *run)
{
	struct fl_source *sources;

	if (texts->count > FL_TEXTS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u programs are not sent to other hosts",
				  FL_TEXTS_MAX);
	sources = ot_arena_alloc(arena, (texts->count + 1) * sizeof(*sources));
	if (!sources)
		return ot_err_nomem();
	for (size_t i = 0; i < texts->count; i++)
		OT_TRY(source_of(&texts->items[i], &sources[i]));
	run->sources = sources;
	run->nsources = (uint32_t)texts->count;
	return NULL;
}

/* Hosts don't get the options by which they are reached, which may contain a password. */
static bool is_ours(const char *option)
{
	return !strncmp(option, "fleet", strlen("fleet"));
}

/* The host knows which of them are its. */
static struct ot_err *put_options(const struct dif_options *opts, struct ot_arena *arena, struct fl_run *run)
{
	const struct ot_map *set = &opts->set;
	struct fl_option *options;

	if (set->count > FL_STRINGS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u options", FL_STRINGS_MAX);
	options = ot_arena_alloc(arena, (set->count + 1) * sizeof(*options));
	if (!options)
		return ot_err_nomem();
	for (size_t i = 0; i < set->count; i++) {
		const char *name = set->entries[i]->key, *value = set->entries[i]->value;
		if (!is_ours(name))
			options[run->noptions++] = (struct fl_option){ name, *value ? value : NULL };
	}
	run->options = options;
	return NULL;
}

static struct ot_err *put_all(const struct fl_fleet *fleet, const char *guests, struct ot_buf *out)
{
	const struct con_texts *texts = fleet->config.texts;
	struct fl_run run = { .guests = guests };
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = put_sources(texts, &arena, &run);
	if (!err)
		err = put_options(fleet->config.opts, &arena, &run);
	if (!err && texts->args->count > FL_STRINGS_MAX)
		err = ot_err_new(OT_ERR_LIMIT, "more than %u arguments are not sent to other hosts",
				 FL_STRINGS_MAX);
	if (!err) {
		run.args = texts->args->items;
		run.nargs = (uint32_t)texts->args->count;
		fl_put_run(out, &run);
		if (out->failed)
			err = ot_err_nomem();
	}
	ot_arena_deinit(&arena);
	return err;
}

/* Size of an empty text of guests, which is the first in RUN. */
#define NO_GUESTS sizeof(uint32_t)

struct ot_err *fl_run_keep(struct fl_fleet *fleet)
{
	return fleet->run.len ? NULL : put_all(fleet, "", &fleet->run);
}

struct ot_err *fl_run_put(const struct fl_fleet *fleet, const char *guests, struct ot_buf *out)
{
	if (!fleet->run.len)
		return put_all(fleet, guests, out);
	fl_put_text(out, guests);
	ot_buf_append(out, fleet->run.data + NO_GUESTS, fleet->run.len - NO_GUESTS);
	return out->failed ? ot_err_nomem() : NULL;
}
