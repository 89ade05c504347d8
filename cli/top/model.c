/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the live view: see model.h. */
#include "cli/top/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The initial sort columns: the CPU's. */
static const unsigned first_columns[CLI_TOP_LEVELS] = { 3, 2, 1, 0 };

void cli_top_model_init(struct cli_top_model *m, unsigned period_ms)
{
	*m = (struct cli_top_model){ .period_ms = period_ms, .page = 1 };
	for (unsigned i = 0; i < CLI_TOP_LEVELS; i++)
		m->orders[i].column = first_columns[i];
}

void cli_top_model_deinit(struct cli_top_model *m)
{
	cli_top_table_deinit(&m->table);
	free(m->guest_name);
	free(m->asked_name);
	free(m->process_name);
	free(m->function);
	free(m->counted);
}

/* --- system calls of guests ------------------------------------------------------------------------------ */

bool cli_top_model_counts(const struct cli_top_model *m, uint32_t guest)
{
	for (size_t i = 0; i < m->ncounted; i++)
		if (m->counted[i] == guest)
			return true;
	return false;
}

void cli_top_model_uncount(struct cli_top_model *m, uint32_t guest)
{
	for (size_t i = 0; i < m->ncounted; i++)
		if (m->counted[i] == guest)
			m->counted[i] = m->counted[--m->ncounted];
}

/* --- questions ------------------------------------------------------------------------------------------- */

struct cli_top_question cli_top_model_question(const struct cli_top_model *m)
{
	struct cli_top_question q = { .guest = m->guest, .period_ms = m->period_ms };

	if (m->level == CLI_TOP_PROCESSES) {
		q.subject = CLI_TOP_ASK_PROCESSES;
		q.probes = m->probes;
	} else if (m->level != CLI_TOP_GUESTS) {
		q.subject = CLI_TOP_ASK_STACKS;
		q.process = m->process;
	}
	return q;
}

struct cli_top_question cli_top_model_shown(const struct cli_top_model *m)
{
	size_t row = m->orders[CLI_TOP_GUESTS].row;

	if (m->level != CLI_TOP_GUESTS)
		return cli_top_model_question(m);
	uint32_t guest = row < m->table.count ? (uint32_t)m->table.rows[row].id : 0;
	bool counted = cli_top_model_counts(m, guest);
	return (struct cli_top_question){ counted ? CLI_TOP_ASK_CALLS : CLI_TOP_ASK_NOTHING, guest, 0,
					  counted, m->period_ms };
}

/* --- the table ------------------------------------------------------------------------------------------- */

/* The selected row remains selected at its new position; if it has disappeared, the one in its place is. */
static void keep_selected(struct cli_top_model *m)
{
	struct cli_top_order *o = &m->orders[m->level];
	size_t at = cli_top_table_find(&m->table, o->selected);

	if (at < m->table.count)
		o->row = at;
	else if (o->row >= m->table.count)
		o->row = m->table.count ? m->table.count - 1 : 0;
	if (m->table.count)
		o->selected = m->table.rows[o->row].id;
	if (o->row < o->first)
		o->first = o->row;
	if (o->row >= o->first + m->page)
		o->first = o->row - m->page + 1;
}

static struct ot_err *fill(struct cli_top_model *m, const struct cli_top_guests *guests,
			   const struct cli_top_answer *answer)
{
	switch (m->level) {
	case CLI_TOP_PROCESSES:
		return cli_top_answer_processes(answer, &m->table);
	case CLI_TOP_FUNCTIONS:
		return cli_top_answer_functions(answer, &m->table);
	case CLI_TOP_STACKS:
		return cli_top_answer_stacks(answer, m->function, &m->table);
	default:
		return cli_top_guests_table(guests, m->exits, &m->table);
	}
}

struct ot_err *cli_top_model_fill(struct cli_top_model *m, const struct cli_top_guests *guests,
				  const struct cli_top_answer *answer)
{
	struct cli_top_order *o = &m->orders[m->level];

	OT_TRY(fill(m, guests, answer));
	if (o->column > m->table.shape->ncolumns)
		o->column = 0;
	cli_top_table_sort(&m->table, o->column, o->reversed);
	keep_selected(m);
	return NULL;
}

void cli_top_model_home(struct cli_top_model *m, const char *why)
{
	m->level = CLI_TOP_GUESTS;
	m->sheet = CLI_TOP_ROWS;
	m->probes = false;
	snprintf(m->message, sizeof(m->message), "%s", why);
}
