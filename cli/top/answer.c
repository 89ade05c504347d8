/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing a guest's answer, line by line: see answer.h. */
#include "cli/top/answer.h"

#include <stdlib.h>
#include <string.h>

#include "consumer/output/fold.h"

/* Of one period; the programs print fewer. */
#define PROCESSES_MAX 8192u
#define STACKS_MAX    4096u
#define FRAMES_MAX    512u

void cli_top_answer_init(struct cli_top_answer *a, unsigned period_ms)
{
	*a = (struct cli_top_answer){ .period_ms = period_ms };
	ot_arena_init(&a->whole.arena);
	ot_arena_init(&a->next.arena);
}

static void period_clear(struct cli_top_period *p)
{
	for (size_t i = 0; i < p->nstacks; i++)
		free(p->stacks[i].frames);
	free(p->stacks);
	free(p->processes);
	ot_arena_deinit(&p->arena);
	*p = (struct cli_top_period){ 0 };
	ot_arena_init(&p->arena);
}

void cli_top_answer_deinit(struct cli_top_answer *a)
{
	period_clear(&a->whole);
	period_clear(&a->next);
}

/* --- lines ----------------------------------------------------------------------------------------------- */

/* A number and a blank after it, or, at the end of a line, its end. A '-' is 0. False: there is none. */
static bool take_number(const char **p, uint64_t *ret)
{
	char *end;

	if (**p == '-' && (*p)[1] == ' ') {
		*ret = 0;
		*p += 2;
		return true;
	}
	if (**p < '0' || **p > '9')
		return false;
	*ret = strtoull(*p, &end, 10);
	if (*end && *end != ' ')
		return false;
	*p = end + (*end == ' ');
	return true;
}

static char *take_name(struct cli_top_period *p, const char *text)
{
	struct ot_buf name;

	ot_buf_init(&name);
	cli_top_unescape(&name, text, strlen(text));
	char *copy = name.failed ? NULL : ot_arena_strndup(&p->arena, ot_buf_str(&name), name.len);
	ot_buf_deinit(&name);
	return copy;
}

/* "PID SAMPLES CALLS FAULTS IOS NAME". False: no memory. */
static bool take_process(struct cli_top_period *p, const char *line)
{
	struct cli_top_process process = { 0 };
	uint64_t pid;

	if (!take_number(&line, &pid) || pid > INT32_MAX || !take_number(&line, &process.samples) ||
	    p->nprocesses == PROCESSES_MAX)
		return true;
	process.pid = (uint32_t)pid;
	process.has_probes = *line != '-';
	if (!take_number(&line, &process.calls) || !take_number(&line, &process.faults) ||
	    !take_number(&line, &process.ios))
		return true;
	process.name = take_name(p, line);
	if (!process.name ||
	    !ot_grow(&p->processes, &p->processes_cap, p->nprocesses + 1, sizeof(*p->processes)))
		return false;
	p->processes[p->nprocesses++] = process;
	return true;
}

static bool take_stack(struct cli_top_period *p, const char *line)
{
	uint64_t samples;

	if (!take_number(&line, &samples) || *line || p->nstacks == STACKS_MAX)
		return true;
	if (!ot_grow(&p->stacks, &p->stacks_cap, p->nstacks + 1, sizeof(*p->stacks)))
		return false;
	p->stacks[p->nstacks++] = (struct cli_top_stack){ .samples = samples };
	return true;
}

/* A frame of the last stack. Places in one function are one. */
static bool take_frame(struct cli_top_period *p, const char *text)
{
	struct cli_top_stack *s = p->nstacks ? &p->stacks[p->nstacks - 1] : NULL;

	text += strspn(text, " ");
	if (!s || !*text || s->nframes == FRAMES_MAX)
		return true;
	if (!ot_grow(&s->frames, &s->cap, s->nframes + 1, sizeof(*s->frames)))
		return false;
	const char *copy = ot_arena_strndup(&p->arena, text, con_fold_name(text));
	if (!copy)
		return false;
	s->frames[s->nframes++] = copy;
	return true;
}

static void end_period(struct cli_top_answer *a)
{
	period_clear(&a->whole);
	a->whole = a->next;
	a->next = (struct cli_top_period){ 0 };
	ot_arena_init(&a->next.arena);
	a->periods++;
}

/* The text after @word and a blank; NULL: the line does not begin with it. */
static const char *behind(const char *line, const char *word)
{
	size_t len = strlen(word);

	return strncmp(line, word, len) || line[len] != ' ' ? NULL : line + len + 1;
}

void cli_top_answer_line(void *answer, const char *line)
{
	struct cli_top_answer *a = answer;
	const char *rest;
	uint64_t calls;
	bool ok = true;

	if (!strcmp(line, "end"))
		end_period(a);
	else if (*line == ' ')
		ok = take_frame(&a->next, line);
	else if ((rest = behind(line, "process")))
		ok = take_process(&a->next, rest);
	else if ((rest = behind(line, "stack")))
		ok = take_stack(&a->next, rest);
	else if ((rest = behind(line, "calls")) && take_number(&rest, &calls))
		a->next.calls = calls;
	a->failed |= !ok;
}
