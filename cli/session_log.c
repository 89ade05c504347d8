/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session_log.h"

#include <stdlib.h>

bool cli_session_names(struct vp_session *session, struct cli_strings *ret)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < vp_session_nguests(session); i++)
		ok = cli_strings_add(ret, vp_session_guest_name(session, i));
	return ok;
}

void cli_session_note(struct vp_session *session, const char *what)
{
	struct cli_strings names = { 0 };

	if (cli_session_names(session, &names) && names.count)
		cli_journal_note(what, &names);
	free(names.items);
}
