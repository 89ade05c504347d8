/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view as lines of text: see view.h. */
#include "cli/top/view.h"

#include <string.h>

#define HEAD 3u /* title, message, headings */
#define FOOT 1u /* keys */

static const char help[] =
    "The guests of this host, live. Numbers are of the last period: a second's, or in\n"
    "percent of one CPU. An unknown number is \"-\".\n"
    "\n"
    "  Up Down PgUp PgDn Home End  select\n"
    "  Enter             a guest's processes, a process's functions, its stacks\n"
    "  q Esc Backspace   back; q in the list of guests ends\n"
    "  < >               the column by which rows are in order\n"
    "  P N               by the CPU, by the PID\n"
    "  R I               the other way round\n"
    "  x                 guests' exits by kind\n"
    "  e                 count system calls, faults and disk I/O inside: asks first\n"
    "  d                 the D program that makes the screen\n"
    "  s                 save that program to a file\n"
    "  space             refresh now\n"
    "  h ?               this text\n"
    "\n"
    "%CPU is of the VMM; %STEAL: its vCPUs waited for a CPU of this host; EXITS: KVM's;\n"
    "FAULTS: page faults of the VMM; READ, WRITE: bytes of its disks; CALLS: system calls\n"
    "of the guest, counted by probes.\n"
    "Processes, functions and stacks are samples, 97 a second of each vCPU. On KVM they\n"
    "are taken from outside if no engine is in the VMM: none is put in unasked.\n";

static const char counters[] =
    "/*\n"
    " * No program makes this screen: this host counts what it shows.\n"
    " *\n"
    " *   %CPU, FAULTS      /proc/PID/stat of the VMM\n"
    " *   %STEAL            /proc/PID/task/TID/schedstat of its vCPUs' threads\n"
    " *   READ, WRITE       /proc/PID/io\n"
    " *   EXITS, by kind    KVM's statistics: the VMM's own descriptors of them, or\n"
    " *                     /sys/kernel/debug/kvm\n"
    " *\n"
    " * CALLS needs probes in the guest: e counts them, and d then shows the program.\n"
    " */\n";

size_t cli_top_page(unsigned height)
{
	return height > HEAD + FOOT ? height - HEAD - FOOT : 1;
}

/* The receiver of lines, and their width. */
struct paper {
	unsigned width;
	void (*put)(void *arg, unsigned y, enum cli_top_look look, const char *line);
	void *arg;
};

static struct ot_err *put_text(const struct paper *p, unsigned y, enum cli_top_look look, const char *text)
{
	struct ot_buf line;

	ot_buf_init(&line);
	cli_top_fit(&line, text, p->width, false);
	bool failed = line.failed;
	if (!failed)
		p->put(p->arg, y, look, ot_buf_str(&line));
	ot_buf_deinit(&line);
	return failed ? ot_err_nomem() : NULL;
}

/* --- the first two lines --------------------------------------------------------------------------------- */

static struct ot_err *put_title(const struct paper *p, const struct cli_top_model *m,
				const struct cli_top_heading *h)
{
	struct ot_buf text;

	ot_buf_init(&text);
	switch (m->level) {
	case CLI_TOP_PROCESSES:
		ot_buf_printf(&text, "%s: processes%s", m->guest_name,
			      m->probes ? ", by samples and probes" : ", by samples");
		break;
	case CLI_TOP_FUNCTIONS:
		ot_buf_printf(&text, "%s > %s (%u): functions", m->guest_name, m->process_name, m->process);
		break;
	case CLI_TOP_STACKS:
		ot_buf_printf(&text, "%s > %s (%u) > %s: stacks", m->guest_name, m->process_name, m->process,
			      m->function);
		break;
	default:
		ot_buf_printf(&text, "outsight top - %s  %zu guest%s, %u vCPUs  CPU %.1f %%  steal %.1f %%",
			      h->clock, h->sums.guests, h->sums.guests == 1 ? "" : "s", h->sums.vcpus,
			      h->sums.cpu, h->sums.steal);
	}
	struct ot_err *err = put_text(p, 0, CLI_TOP_TITLE, ot_buf_str(&text));
	ot_buf_deinit(&text);
	return err;
}

static struct ot_err *put_message(const struct paper *p, const struct cli_top_model *m,
				  const struct cli_top_heading *h)
{
	struct ot_buf text;

	ot_buf_init(&text);
	if (m->sheet == CLI_TOP_ASK_PROBES)
		ot_buf_printf(&text,
			      "Enable probes in %s, and inject an engine into its VMM if it has none? (y/n)",
			      m->asked_name);
	else if (m->sheet == CLI_TOP_ASK_FILE)
		ot_buf_printf(&text, "Save the program to: %s_", m->input);
	else if (*m->message)
		cli_top_escape(&text, m->message, strlen(m->message));
	else
		cli_top_escape(&text, h->status, strlen(h->status));
	struct ot_err *err = put_text(p, 1, CLI_TOP_MESSAGE, ot_buf_str(&text));
	ot_buf_deinit(&text);
	return err;
}

/* --- below them ------------------------------------------------------------------------------------------ */

static struct ot_err *put_table(const struct paper *p, const struct cli_top_model *m, unsigned height)
{
	const struct cli_top_order *o = &m->orders[m->level];
	struct ot_err *err = NULL;
	struct ot_buf line;

	ot_buf_init(&line);
	if (m->table.shape)
		cli_top_table_titles(&m->table, o->column, p->width, &line);
	err = put_text(p, HEAD - 1, CLI_TOP_HEADING, ot_buf_str(&line));
	for (unsigned y = HEAD; y + FOOT < height && !err; y++) {
		size_t row = o->first + y - HEAD;

		ot_buf_clear(&line);
		if (row < m->table.count)
			cli_top_table_line(&m->table, row, p->width, &line);
		err = put_text(p, y, row == o->row && row < m->table.count ? CLI_TOP_SELECTED : CLI_TOP_PLAIN,
			       ot_buf_str(&line));
	}
	ot_buf_deinit(&line);
	return err;
}

void cli_top_program_sheet(const struct cli_top_model *m, struct ot_buf *out)
{
	struct cli_top_question q = cli_top_model_shown(m);

	if (q.subject == CLI_TOP_ASK_NOTHING)
		ot_buf_puts(out, counters);
	else
		cli_top_script(&q, out);
}

/* A line of a text of our own, which has tabs. */
static struct ot_err *put_sheet_line(const struct paper *p, unsigned y, const char *text, size_t len)
{
	struct ot_err *err;
	struct ot_buf line;

	ot_buf_init(&line);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\t')
			ot_buf_puts(&line, "    ");
		else
			ot_buf_putc(&line, text[i]);
	err = put_text(p, y, CLI_TOP_PLAIN, ot_buf_str(&line));
	ot_buf_deinit(&line);
	return err;
}

/* The lines of @text from m->sheet_row on that fit. */
static struct ot_err *put_sheet(const struct paper *p, const struct cli_top_model *m, const char *text,
				unsigned height)
{
	size_t lines = 0, page = cli_top_page(height), skip;

	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	skip = lines > page ? lines - page : 0;
	skip = m->sheet_row < skip ? m->sheet_row : skip;
	for (; skip; skip--)
		text += strcspn(text, "\n") + 1;
	OT_TRY(put_text(p, HEAD - 1, CLI_TOP_HEADING, m->sheet == CLI_TOP_HELP ? "HELP" : "PROGRAM"));
	for (unsigned y = HEAD; y + FOOT < height; y++) {
		size_t len = strcspn(text, "\n");

		OT_TRY(put_sheet_line(p, y, text, len));
		text += len + (text[len] == '\n');
	}
	return NULL;
}

static struct ot_err *put_program(const struct paper *p, const struct cli_top_model *m, unsigned height)
{
	struct ot_buf text;

	ot_buf_init(&text);
	cli_top_program_sheet(m, &text);
	struct ot_err *err = put_sheet(p, m, ot_buf_str(&text), height);
	ot_buf_deinit(&text);
	return err;
}

struct ot_err *cli_top_view(const struct cli_top_model *m, const struct cli_top_heading *heading,
			    unsigned width, unsigned height,
			    void (*put)(void *arg, unsigned y, enum cli_top_look look, const char *line),
			    void *arg)
{
	static const char keys[] =
	    "Enter open  q back  < > R order  x exits  e probes  d program  s save  h help";
	const struct paper p = { width, put, arg };

	if (height <= HEAD + FOOT)
		return put_text(&p, 0, CLI_TOP_PLAIN, "too small");
	OT_TRY(put_title(&p, m, heading));
	OT_TRY(put_message(&p, m, heading));
	if (m->sheet == CLI_TOP_HELP)
		OT_TRY(put_sheet(&p, m, help, height));
	else if (m->sheet == CLI_TOP_PROGRAM)
		OT_TRY(put_program(&p, m, height));
	else
		OT_TRY(put_table(&p, m, height));
	return put_text(&p, height - 1, CLI_TOP_TITLE,
			m->sheet == CLI_TOP_HELP || m->sheet == CLI_TOP_PROGRAM
			    ? "any key goes back  s saves the program"
			    : keys);
}
