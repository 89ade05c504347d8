/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries in the system's log: the user, the guests and the program of a session. */
#include "consumer/journal.h"

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

void con_journal_who(struct ot_buf *out, const struct con_journal_user *user,
		     const struct con_strings *guests)
{
	ot_buf_printf(out, "user=%s uid=%u login=%s guests=\"", user->name ? user->name : "-", user->uid,
		      user->login ? user->login : "-");
	for (size_t i = 0; i < guests->count; i++) {
		if (i)
			ot_buf_putc(out, ',');
		ot_log_put_text(out, guests->items[i], CON_JOURNAL_TEXT);
	}
	ot_buf_putc(out, '"');
}

void con_journal_what(struct ot_buf *out, const struct con_texts *texts, uint64_t probes)
{
	struct ot_buf text;

	ot_buf_init(&text);
	if (texts->dof)
		ot_buf_printf(&text, "--dof %s ", texts->dof);
	for (size_t i = 0; i < texts->count; i++)
		ot_buf_printf(&text, "%s%s ", texts->items[i].is_script ? "-s " : "", texts->items[i].arg);
	ot_buf_printf(out, "probes=%llu destructive=%s program=\"", (unsigned long long)probes,
		      texts->opts->destructive ? "yes" : "no");
	ot_log_put_text(out, ot_buf_str(&text), CON_JOURNAL_TEXT);
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
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };

	ot_buf_init(&text);
	ot_buf_printf(&text, "%s: %s", what, line);
	if (!text.failed)
		(void)ot_log_send(text.data, true); /* a system without a log is unaffected */
}

/* This process's user. Names are looked up in a child: libc's look-up asks servers, which may not answer, and
 * ends the process where an allocation fails. */
static void put_who(struct ot_buf *out, const struct con_strings *guests)
{
	char answers[2][VP_CHILDREN_ANSWER];
	struct names names = { .uids = { getuid() }, .n = 1 };
	struct con_journal_user user = { .uid = names.uids[0] };

	names.n += login_uid(&names.uids[1]);
	vp_children_ask(names.n, names.n, NAMES_MS, ask_name, &names, answers);
	if (*answers[0])
		user.name = answers[0];
	if (names.n > 1 && *answers[1])
		user.login = answers[1];
	con_journal_who(out, &user, guests);
}

void con_journal_note(const char *what, const struct con_strings *guests)
{
	struct ot_buf line;

	ot_buf_init(&line);
	put_who(&line, guests);
	if (!line.failed)
		put_line(what, ot_buf_str(&line));
	ot_buf_deinit(&line);
}

void con_journal_note_one(const char *what, const char *guest)
{
	const struct con_strings guests = { .items = &guest, .count = 1 };

	con_journal_note(what, &guests);
}

void con_journal_start(struct con_journal *journal, const struct con_texts *texts,
		       const struct con_strings *guests, uint64_t probes)
{
	struct ot_buf line;

	journal->start_ns = ot_now_ns();
	ot_buf_init(&journal->who);
	ot_buf_init(&line);
	put_who(&journal->who, guests);
	ot_buf_printf(&line, "%s ", ot_buf_str(&journal->who));
	con_journal_what(&line, texts, probes);
	if (!line.failed && !journal->who.failed)
		put_line("tracing starts", ot_buf_str(&line));
	ot_buf_deinit(&line);
}

void con_journal_end(struct con_journal *journal, int status)
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
