/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a session, read as events instead of interrupting it. */
#include "cli/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/signals.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

void cli_signals_hold(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < OT_ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool cli_signals_pending(void)
{
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(ending); i++)
		if (sigismember(&pending, ending[i]))
			return true;
	return false;
}

struct ot_err *cli_signals_open(int extra, int *ret_fd)
{
	const int list[] = { ending[0], ending[1], ending[2], extra };

	return ot_signals_open(list, OT_ARRAY_SIZE(ending) + (extra != 0), ret_fd);
}

unsigned cli_signals_take(int fd)
{
	struct signalfd_siginfo info;
	unsigned n = 0;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		n++;
	return n;
}
