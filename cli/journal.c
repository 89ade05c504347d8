/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries in the system's log: who traces which guest with what program. */
#include "cli/journal.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "vmm-probe/hosts/children.h"

#define UNSET_LOGIN 0xffffffffu /* AUDIT_UID_UNSET of linux/audit.h */
#define NAMES_MS    1000u

/* --- the text ------------------------------------------------------------------------------------------- */

void cli_journal_who(struct ot_buf *out, const struct cli_journal_user *user,
		     const struct cli_strings *guests)
{
	ot_buf_printf(out, "user=%s uid=%u login=%s guests=\"", user->name ? user->name : "-", user->uid,
		      user->login ? user->login : "-");
	for (size_t i = 0; i < guests->count; i++) {
		if (i)
			ot_buf_putc(out, ',');
		ot_log_put_text(out, guests->items[i], CLI_JOURNAL_TEXT);
	}
	ot_buf_putc(out, '"');
}

void cli_journal_what(struct ot_buf *out, const struct cli_invocation *inv, uint64_t probes)
{
	struct ot_buf text;

	ot_buf_init(&text);
	if (inv->load_dof)
		ot_buf_printf(&text, "--dof %s ", inv->load_dof);
	for (size_t i = 0; i < inv->nprograms; i++)
		ot_buf_printf(&text, "%s%s ", inv->programs[i].is_script ? "-s " : "", inv->programs[i].arg);
	ot_buf_printf(out, "probes=%llu destructive=%s program=\"", (unsigned long long)probes,
		      inv->opts.destructive ? "yes" : "no");
	ot_log_put_text(out, ot_buf_str(&text), CLI_JOURNAL_TEXT);
	ot_buf_putc(out, '"');
	out->failed |= text.failed;
	ot_buf_deinit(&text);
}

/* --- the user ------------------------------------------------------------------------------------------- */

/* The uid of the session that this process belongs to: it stays through su and sudo. */
static bool login_uid(uint32_t *ret)
{
	ot_auto_free char *text = NULL;
	unsigned long uid;
	size_t len;
	char *end;
	struct ot_err *err = ot_read_file("/proc/self/loginuid", 32, &text, &len);

	ot_err_destroy(err);
	if (err || !text)
		return false;
	uid = strtoul(text, &end, 10);
	*ret = (uint32_t)uid;
	return end != text && uid != UNSET_LOGIN;
}

struct names {
	uint32_t uids[2];
	size_t n;
};

static void ask_name(void *arg, size_t i, char ret[VP_CHILDREN_ANSWER])
{
	const struct names *names = arg;
	const struct passwd *pw = getpwuid(names->uids[i]);

	if (pw)
		snprintf(ret, VP_CHILDREN_ANSWER, "%s", pw->pw_name);
}

/* --- the log -------------------------------------------------------------------------------------------- */

static void put_line(const char *what, const char *line)
{
	ot_auto(ot_buf_deinit) struct ot_buf text;

	ot_buf_init(&text);
	ot_buf_printf(&text, "%s: %s", what, line);
	if (!text.failed)
		(void)ot_log_send(text.data, true); /* a system without a log is unaffected */
}

/* This process's user. Names are looked up in a child: libc's look-up asks servers, which may not answer, and
 * ends the process where an allocation fails. */
static void put_who(struct ot_buf *out, const struct cli_strings *guests)
{
	char answers[2][VP_CHILDREN_ANSWER];
	struct names names = { .uids = { getuid() }, .n = 1 };
	struct cli_journal_user user = { .uid = names.uids[0] };

	names.n += login_uid(&names.uids[1]);
	vp_children_ask(names.n, names.n, NAMES_MS, ask_name, &names, answers);
	if (*answers[0])
		user.name = answers[0];
	if (names.n > 1 && *answers[1])
		user.login = answers[1];
	cli_journal_who(out, &user, guests);
}

void cli_journal_note(const char *what, const struct cli_strings *guests)
{
	struct ot_buf line;

	ot_buf_init(&line);
	put_who(&line, guests);
	if (!line.failed)
		put_line(what, ot_buf_str(&line));
	ot_buf_deinit(&line);
}

void cli_journal_note_one(const char *what, const char *guest)
{
	const struct cli_strings guests = { .items = &guest, .count = 1 };

	cli_journal_note(what, &guests);
}

void cli_journal_start(struct cli_journal *journal, const struct cli_invocation *inv,
		       const struct cli_strings *guests, uint64_t probes)
{
	struct ot_buf line;

	journal->start_ns = ot_now_ns();
	ot_buf_init(&journal->who);
	ot_buf_init(&line);
	put_who(&journal->who, guests);
	ot_buf_printf(&line, "%s ", ot_buf_str(&journal->who));
	cli_journal_what(&line, inv, probes);
	if (!line.failed && !journal->who.failed)
		put_line("tracing starts", ot_buf_str(&line));
	ot_buf_deinit(&line);
}

void cli_journal_end(struct cli_journal *journal, int status)
{
	struct ot_buf line;

	if (!journal->who.len)
		return;
	ot_buf_init(&line);
	ot_buf_printf(&line, "%s seconds=%.1f status=%d", ot_buf_str(&journal->who),
		      (double)(ot_now_ns() - journal->start_ns) / 1e9, status);
	if (!line.failed && !journal->who.failed)
		put_line("tracing ends", ot_buf_str(&line));
	ot_buf_deinit(&line);
	ot_buf_deinit(&journal->who);
}
