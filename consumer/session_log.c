/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's lines for the system log: see session_log.h. */
#include "consumer/session_log.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "consumer/access.h"

bool con_session_names(struct vp_session *session, struct con_strings *ret)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < vp_session_nguests(session); i++)
		ok = con_strings_add(ret, vp_session_guest_name(session, i));
	return ok;
}

void con_session_note(struct vp_session *session, const char *what)
{
	struct con_strings names = { 0 };

	if (con_session_names(session, &names) && names.count)
		con_journal_note(what, &names);
	free(names.items);
}

/* This session's own record was logged at its start. */
static bool is_known(const struct vp_access *a)
{
	return a->flags & VP_ACCESS_LOGGED || a->pid == getpid();
}

static bool log_record(const char *guest, uint32_t vmm, const struct vp_access *a)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	ot_buf_init(&line);
	ot_buf_puts(&line, "record of a VMM: ");
	con_access_fields(&line, guest, vmm, a);
	return !line.failed && ot_log_send(line.data, true);
}

static bool log_lost(const char *guest, uint32_t vmm, uint64_t lost)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	if (!lost)
		return true;
	ot_buf_init(&line);
	ot_buf_puts(&line, "record of a VMM: guest=\"");
	ot_log_put_text(&line, guest, VP_GUEST_NAME);
	ot_buf_printf(&line, "\" vmm=%u forgotten=%llu", vmm, (unsigned long long)lost);
	return !line.failed && ot_log_send(line.data, true);
}

/* The number up to which all are in the log; 0: none. */
static uint64_t log_records(struct vp_session *session, uint32_t guest,
			    const struct vp_msg_access_reply *access)
{
	const char *name = vp_session_guest_name(session, guest);
	uint32_t vmm = vp_session_guest_pid(session, guest);
	uint64_t done = 0;

	if (!log_lost(name, vmm, access->lost))
		return 0;
	for (uint32_t i = 0; i < access->n; i++) {
		if (!is_known(&access->list[i]) && !log_record(name, vmm, &access->list[i]))
			break;
		done = access->list[i].number;
	}
	return done;
}

void con_session_take_records(struct vp_session *session, uint32_t first)
{
	ot_auto_free struct vp_msg_access_reply *access = malloc(sizeof(*access));

	if (!access || geteuid() || !ot_log_listens())
		return;
	for (uint32_t i = first; i < vp_session_nguests(session); i++) {
		struct ot_err *err = vp_session_access(session, i, 0, access);
		uint64_t done = err ? 0 : log_records(session, i, access);
		if (done)
			err = vp_session_access(session, i, done, access);
		ot_err_destroy(err); /* the session itself meets the engine's error */
	}
}
