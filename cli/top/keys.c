/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effects of keys in the live view: as in top(1) and htop(1), if these have the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/model.h"

#define SHEET_LINES 64u /* help and programs have fewer */

static const struct cli_top_row *selected(const struct cli_top_model *m)
{
	size_t row = m->orders[m->level].row;

	return row < m->table.count ? &m->table.rows[row] : NULL;
}

/* --- up and down ----------------------------------------------------------------------------------------- */

static size_t moved(size_t at, size_t end, size_t page, int key)
{
	size_t last = end ? end - 1 : 0;

	switch (key) {
	case CLI_TOP_KEY_UP:
		return at ? at - 1 : 0;
	case CLI_TOP_KEY_DOWN:
		return at < last ? at + 1 : last;
	case CLI_TOP_KEY_PAGE_UP:
		return at > page ? at - page : 0;
	case CLI_TOP_KEY_PAGE_DOWN:
		return last - at > page ? at + page : last;
	case CLI_TOP_KEY_HOME:
		return 0;
	default:
		return last;
	}
}

static bool is_motion(int key)
{
	return key >= CLI_TOP_KEY_UP && key <= CLI_TOP_KEY_END;
}

static void move(struct cli_top_model *m, int key)
{
	struct cli_top_order *o = &m->orders[m->level];

	o->row = moved(o->row, m->table.count, m->page, key);
	if (o->row < m->table.count)
		o->selected = m->table.rows[o->row].id;
	if (o->row < o->first)
		o->first = o->row;
	if (o->row >= o->first + m->page)
		o->first = o->row - m->page + 1;
}

/* --- deeper and back ------------------------------------------------------------------------------------- */

static void say(struct cli_top_model *m, const char *text)
{
	snprintf(m->message, sizeof(m->message), "%s", text);
}

/* A level that is entered begins at its first row. */
static void enter(struct cli_top_model *m, enum cli_top_level level)
{
	struct cli_top_order *o = &m->orders[level];

	m->level = level;
	o->row = o->first = 0;
	o->selected = UINT64_MAX;
}

static bool take_name(char **to, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return false;
	free(*to);
	*to = copy;
	return true;
}

static void descend(struct cli_top_model *m)
{
	const struct cli_top_row *row = selected(m);

	if (!row || m->level == CLI_TOP_STACKS)
		return;
	if (m->level == CLI_TOP_GUESTS) {
		m->guest = (uint32_t)row->id;
		m->probes = cli_top_model_counts(m, m->guest);
		if (take_name(&m->guest_name, row->name))
			enter(m, CLI_TOP_PROCESSES);
	} else if (m->level == CLI_TOP_PROCESSES) {
		m->process = (uint32_t)row->id;
		if (take_name(&m->process_name, row->name))
			enter(m, CLI_TOP_FUNCTIONS);
	} else if (take_name(&m->function, row->name)) {
		enter(m, CLI_TOP_STACKS);
	}
}

/* --- probes ---------------------------------------------------------------------------------------------- */

/* The question is about the guest that was selected, even if the selection changes before the answer. */
static void ask(struct cli_top_model *m, uint32_t guest, const char *name)
{
	m->asked = guest;
	if (take_name(&m->asked_name, name))
		m->sheet = CLI_TOP_ASK_PROBES;
}

/* Probes are enabled only after a "y", and disabled without a question. */
static void toggle_probes(struct cli_top_model *m)
{
	const struct cli_top_row *row = selected(m);

	if (m->level == CLI_TOP_GUESTS && row && cli_top_model_counts(m, (uint32_t)row->id)) {
		cli_top_model_uncount(m, (uint32_t)row->id);
		say(m, "the probes are removed");
	} else if (m->level == CLI_TOP_GUESTS && row) {
		ask(m, (uint32_t)row->id, row->name);
	} else if (m->level == CLI_TOP_PROCESSES && m->probes) {
		m->probes = false;
		say(m, "the probes are removed");
	} else if (m->level == CLI_TOP_PROCESSES) {
		ask(m, m->guest, m->guest_name);
	} else if (m->level != CLI_TOP_GUESTS) {
		say(m, "this screen needs samples only");
	}
}

static void allow_probes(struct cli_top_model *m)
{
	if (m->level == CLI_TOP_PROCESSES && m->asked == m->guest)
		m->probes = true;
	else if (m->level == CLI_TOP_GUESTS && !cli_top_model_counts(m, m->asked) &&
		 ot_grow(&m->counted, &m->counted_cap, m->ncounted + 1, sizeof(*m->counted)))
		m->counted[m->ncounted++] = m->asked;
}

/* --- order ----------------------------------------------------------------------------------------------- */

static void next_column(struct cli_top_model *m, bool right)
{
	struct cli_top_order *o = &m->orders[m->level];
	unsigned n = m->table.shape ? m->table.shape->ncolumns + 1 : 1;

	o->column = (o->column + (right ? 1 : n - 1)) % n;
	o->reversed = false;
}

/* By the column of that title, as top's P and N; nothing if there is none. */
static void by_column(struct cli_top_model *m, const char *title)
{
	const struct cli_top_shape *shape = m->table.shape;

	for (unsigned i = 0; shape && i < shape->ncolumns; i++)
		if (!strcmp(shape->columns[i].title, title)) {
			m->orders[m->level].column = i + 1;
			m->orders[m->level].reversed = false;
		}
}

/* --- programs -------------------------------------------------------------------------------------------- */

static void ask_file(struct cli_top_model *m)
{
	if (cli_top_model_shown(m).subject == CLI_TOP_ASK_NOTHING) {
		say(m, "this screen has no program: it shows counters of this host");
		return;
	}
	m->sheet = CLI_TOP_ASK_FILE;
	snprintf(m->input, sizeof(m->input), "outsight-top.d");
}

/* --- keys of each sheet ---------------------------------------------------------------------------------- */

static enum cli_top_act rows_command(struct cli_top_model *m, int key)
{
	switch (key) {
	case 'h':
	case '?':
		m->sheet = CLI_TOP_HELP;
		m->sheet_row = 0;
		break;
	case 'd':
		m->sheet = CLI_TOP_PROGRAM;
		m->sheet_row = 0;
		break;
	case 's':
		ask_file(m);
		break;
	case 'e':
		toggle_probes(m);
		break;
	case 'x':
		m->exits = m->level == CLI_TOP_GUESTS ? !m->exits : m->exits;
		break;
	case 'R':
	case 'I':
		m->orders[m->level].reversed = !m->orders[m->level].reversed;
		break;
	case '<':
	case '>':
		next_column(m, key == '>');
		break;
	case 'P':
		by_column(m, m->level == CLI_TOP_FUNCTIONS ? "%SELF" : "%CPU");
		break;
	case 'N':
		by_column(m, "PID");
		break;
	default:
		break;
	}
	return CLI_TOP_GO_ON;
}

static enum cli_top_act rows_key(struct cli_top_model *m, int key)
{
	if (is_motion(key)) {
		move(m, key);
		return CLI_TOP_GO_ON;
	}
	switch (key) {
	case CLI_TOP_KEY_ENTER:
		descend(m);
		return CLI_TOP_GO_ON;
	case 'q':
	case CLI_TOP_KEY_BACK:
	case CLI_TOP_KEY_ERASE:
		if (m->level == CLI_TOP_GUESTS)
			return key == 'q' ? CLI_TOP_QUIT : CLI_TOP_GO_ON;
		m->level--;
		return CLI_TOP_GO_ON;
	case ' ':
		return CLI_TOP_REFRESH;
	default:
		return rows_command(m, key);
	}
}

/* Help and programs: any key except for scrolling closes them, 's' saves the shown text. */
static enum cli_top_act sheet_key(struct cli_top_model *m, int key)
{
	if (is_motion(key)) {
		m->sheet_row = moved(m->sheet_row, SHEET_LINES, m->page, key);
		return CLI_TOP_GO_ON;
	}
	bool saves = m->sheet == CLI_TOP_PROGRAM && key == 's';
	m->sheet = CLI_TOP_ROWS;
	return saves ? rows_command(m, key) : CLI_TOP_GO_ON;
}

static enum cli_top_act probes_key(struct cli_top_model *m, int key)
{
	m->sheet = CLI_TOP_ROWS;
	if (key == 'y' || key == 'Y')
		allow_probes(m);
	else
		say(m, "nothing was injected");
	return CLI_TOP_GO_ON;
}

static enum cli_top_act file_key(struct cli_top_model *m, int key)
{
	size_t len = strlen(m->input);

	if (key == CLI_TOP_KEY_BACK || key == CLI_TOP_KEY_ENTER) {
		m->sheet = CLI_TOP_ROWS;
		return key == CLI_TOP_KEY_ENTER && len ? CLI_TOP_SAVE : CLI_TOP_GO_ON;
	}
	if (key == CLI_TOP_KEY_ERASE && len)
		m->input[len - 1] = '\0';
	else if (key >= ' ' && key <= '~' && len + 1 < sizeof(m->input))
		memcpy(m->input + len, (const char[]){ (char)key, '\0' }, 2);
	return CLI_TOP_GO_ON;
}

enum cli_top_act cli_top_key(struct cli_top_model *m, int key)
{
	*m->message = '\0';
	switch (m->sheet) {
	case CLI_TOP_HELP:
	case CLI_TOP_PROGRAM:
		return sheet_key(m, key);
	case CLI_TOP_ASK_PROBES:
		return probes_key(m, key);
	case CLI_TOP_ASK_FILE:
		return file_key(m, key);
	default:
		return rows_key(m, key);
	}
}
