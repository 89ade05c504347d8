/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of a guest's answers: see answer.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "cli/top/answer.h"

#define UNKNOWN "[unknown]" /* a stack without a frame */

/* --- processes, and system calls ------------------------------------------------------------------------- */

static double per_second(const struct cli_top_answer *a, uint64_t count)
{
	return (double)count * 1000 / a->period_ms;
}

/* Percent of one vCPU. */
static double share(const struct cli_top_answer *a, uint64_t samples, unsigned periods)
{
	return periods ? per_second(a, samples) * 100 / CLI_TOP_HZ / periods : NAN;
}

double cli_top_answer_calls(const struct cli_top_answer *a)
{
	return a->periods ? per_second(a, a->whole.calls) : NAN;
}

enum { PID, CPU, CALLS, FAULTS, IOS };
static const struct cli_top_column of_processes[] = {
	{ "PID", CLI_TOP_INTEGER, 10, PID }, { "%CPU", CLI_TOP_PERCENT, 7, CPU },
	{ "CALLS", CLI_TOP_RATE, 8, CALLS }, { "FAULTS", CLI_TOP_RATE, 8, FAULTS },
	{ "DISK-IO", CLI_TOP_RATE, 8, IOS },
};
static const struct cli_top_shape processes = { "PROCESS", of_processes, OT_ARRAY_SIZE(of_processes), false };

struct ot_err *cli_top_answer_processes(const struct cli_top_answer *a, struct cli_top_table *t)
{
	struct cli_top_row *row;

	cli_top_table_clear(t, &processes);
	for (size_t i = 0; i < a->whole.nprocesses; i++) {
		const struct cli_top_process *p = &a->whole.processes[i];

		OT_TRY(cli_top_table_add(t, p->pid, p->name, strlen(p->name), &row));
		row->values[PID] = p->pid;
		row->values[CPU] = share(a, p->samples, 1);
		if (!p->has_probes)
			continue;
		row->values[CALLS] = per_second(a, p->calls);
		row->values[FAULTS] = per_second(a, p->faults);
		row->values[IOS] = per_second(a, p->ios);
	}
	return NULL;
}

/* --- functions ------------------------------------------------------------------------------------------- */

enum { SELF, TOTAL, SAMPLES };
static const struct cli_top_column of_functions[] = {
	{ "%SELF", CLI_TOP_PERCENT, 7, SELF },
	{ "%TOTAL", CLI_TOP_PERCENT, 7, TOTAL },
	{ "SAMPLES", CLI_TOP_INTEGER, 9, SAMPLES },
};
static const struct cli_top_shape functions = { "FUNCTION", of_functions, OT_ARRAY_SIZE(of_functions),
						false };

struct function {
	uint64_t self, total;
	size_t counted; /* 1 + the last stack in which it was counted */
};

static struct function *find_function(struct ot_map *map, struct ot_arena *arena, const char *name)
{
	struct function *f = ot_map_gets(map, name);

	if (f)
		return f;
	f = ot_arena_new(arena, struct function);
	if (!f)
		return NULL;
	*f = (struct function){ 0 };
	return ot_map_puts(map, name, f) ? f : NULL;
}

/* A function that calls itself is in a stack once. */
static bool count_stack(const struct cli_top_period *p, size_t i, struct ot_map *map, struct ot_arena *arena)
{
	static const char *const none[] = { UNKNOWN };
	const struct cli_top_stack *s = &p->stacks[i];
	const char *const *frames = s->nframes ? s->frames : none;

	for (size_t k = 0; k < (s->nframes ? s->nframes : 1); k++) {
		struct function *f = find_function(map, arena, frames[k]);

		if (!f)
			return false;
		f->self += k ? 0 : s->samples;
		f->total += f->counted == i + 1 ? 0 : s->samples;
		f->counted = i + 1;
	}
	return true;
}

/* By its name: the order of stacks, and so of functions, changes. */
static uint64_t id_of(const struct ot_map_entry *e)
{
	static const uint64_t key[2] = { 0 };

	return ot_siphash13(key, e->key, e->key_len);
}

static struct ot_err *put_functions(const struct cli_top_answer *a, const struct ot_map *map,
				    struct cli_top_table *t)
{
	struct cli_top_row *row;

	for (size_t i = 0; i < map->count; i++) {
		const struct ot_map_entry *e = map->entries[i];
		const struct function *f = e->value;

		OT_TRY(cli_top_table_add(t, id_of(e), e->key, e->key_len, &row));
		row->values[SELF] = share(a, f->self, a->periods);
		row->values[TOTAL] = share(a, f->total, a->periods);
		row->values[SAMPLES] = (double)f->self;
	}
	return NULL;
}

struct ot_err *cli_top_answer_functions(const struct cli_top_answer *a, struct cli_top_table *t)
{
	struct ot_arena arena;
	struct ot_map map;
	bool ok = true;

	cli_top_table_clear(t, &functions);
	ot_map_init(&map);
	ot_arena_init(&arena);
	for (size_t i = 0; ok && i < a->whole.nstacks; i++)
		ok = count_stack(&a->whole, i, &map, &arena);
	struct ot_err *err = ok ? put_functions(a, &map, t) : ot_err_nomem();
	ot_map_deinit(&map);
	ot_arena_deinit(&arena);
	return err;
}

/* --- stacks ---------------------------------------------------------------------------------------------- */

static const struct cli_top_column of_stacks[] = {
	{ "%TIME", CLI_TOP_PERCENT, 7, SELF },
	{ "SAMPLES", CLI_TOP_INTEGER, 9, SAMPLES },
};
static const struct cli_top_shape stacks = { "STACK", of_stacks, OT_ARRAY_SIZE(of_stacks), true };

static int by_samples(const void *a, const void *b)
{
	const struct cli_top_stack *x = *(const struct cli_top_stack *const *)a,
				   *y = *(const struct cli_top_stack *const *)b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

/* @function is the name of a row, so escaped. */
static bool is_in(const struct cli_top_stack *s, const char *function)
{
	bool found = !s->nframes && !strcmp(function, UNKNOWN);
	struct ot_buf name;

	ot_buf_init(&name);
	for (size_t i = 0; i < s->nframes && !found; i++) {
		ot_buf_clear(&name);
		cli_top_escape(&name, s->frames[i], strlen(s->frames[i]));
		found = !strcmp(ot_buf_str(&name), function);
	}
	ot_buf_deinit(&name);
	return found;
}

/* A line for the stack, whose frames are below it. */
static struct ot_err *put_stack(const struct cli_top_answer *a, const struct cli_top_stack *s,
				struct cli_top_table *t)
{
	const char *title = s->nframes ? "stack" : UNKNOWN;
	struct cli_top_row *row;

	OT_TRY(cli_top_table_add(t, t->count, title, strlen(title), &row));
	row->values[SELF] = share(a, s->samples, a->periods);
	row->values[SAMPLES] = (double)s->samples;
	for (size_t i = 0; i < s->nframes; i++) {
		struct ot_buf line;

		ot_buf_init(&line);
		ot_buf_printf(&line, "  %s", s->frames[i]);
		struct ot_err *err = line.failed
					 ? ot_err_nomem()
					 : cli_top_table_add(t, t->count, ot_buf_str(&line), line.len, &row);
		ot_buf_deinit(&line);
		if (err)
			return err;
	}
	return NULL;
}

struct ot_err *cli_top_answer_stacks(const struct cli_top_answer *a, const char *function,
				     struct cli_top_table *t)
{
	const struct cli_top_stack **sorted = calloc(a->whole.nstacks + 1, sizeof(*sorted));
	struct ot_err *err = NULL;
	size_t n = 0;

	cli_top_table_clear(t, &stacks);
	if (!sorted)
		return ot_err_nomem();
	for (size_t i = 0; i < a->whole.nstacks; i++)
		if (is_in(&a->whole.stacks[i], function))
			sorted[n++] = &a->whole.stacks[i];
	qsort(sorted, n, sizeof(const struct cli_top_stack *), by_samples);
	for (size_t i = 0; i < n && !err; i++)
		err = put_stack(a, sorted[i], t);
	free(sorted);
	return err;
}
