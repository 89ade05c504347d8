/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs a worker's actions in the host's log: by its config's function, or as sessions of this host's own
 * users are logged. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "consumer/session_log.h"
#include "fleet/host/internal.h"

/* `operator="alice@ws" guests="web*" ` */
static void put_who(const struct fl_worker *w, struct ot_buf *out)
{
	ot_buf_puts(out, "operator=\"");
	ot_log_put_text(out, w->operator_name, CON_JOURNAL_TEXT);
	ot_buf_puts(out, "\" guests=\"");
	ot_log_put_text(out, w->run.guests, CON_JOURNAL_TEXT);
	ot_buf_puts(out, "\" ");
}

static void put_line(const struct fl_worker *w, struct ot_buf *line)
{
	if (!line->failed)
		w->config->log(w->config->arg, ot_buf_str(line));
	ot_buf_deinit(line);
}

void fl_log_refused(struct fl_worker *w, const char *why)
{
	struct ot_buf line;

	if (!w->config->log)
		return;
	ot_buf_init(&line);
	ot_buf_puts(&line, "refused: ");
	put_who(w, &line);
	con_journal_what(&line, &w->run.texts, w->matched);
	ot_buf_puts(&line, " reason=\"");
	ot_log_put_text(&line, why, CON_JOURNAL_TEXT);
	ot_buf_putc(&line, '"');
	put_line(w, &line);
}

void fl_log_start(struct fl_worker *w)
{
	struct con_strings names = { 0 };
	struct ot_buf line;

	if (!w->config->log) {
		if (con_session_names(w->session, &names) && names.count)
			con_journal_start(&w->journal, &w->run.texts, &names, w->matched);
		free(names.items);
		return;
	}
	w->journal.start_ns = ot_now_ns();
	ot_buf_init(&line);
	ot_buf_puts(&line, "tracing starts: ");
	put_who(w, &line);
	con_journal_what(&line, &w->run.texts, w->matched);
	put_line(w, &line);
}

void fl_log_end(struct fl_worker *w, int status)
{
	struct ot_buf line;

	if (!w->journal.start_ns)
		return;
	if (!w->config->log) {
		con_journal_end(&w->journal, status);
		return;
	}
	ot_buf_init(&line);
	ot_buf_puts(&line, "tracing ends: ");
	put_who(w, &line);
	ot_buf_printf(&line, "seconds=%.1f status=%d", (double)(ot_now_ns() - w->journal.start_ns) / 1e9,
		      status);
	put_line(w, &line);
}
