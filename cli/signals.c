/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a session, read as events instead of interrupting it. */
#include "cli/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

static sigset_t blocked(int extra)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < OT_ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	if (extra)
		sigaddset(&set, extra);
	return set;
}

void cli_signals_hold(void)
{
	const sigset_t set = blocked(0);

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
	const sigset_t set = blocked(extra);

	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return ot_err_os(errno, "signalfd");
	*ret_fd = fd;
	return NULL;
}

unsigned cli_signals_take(int fd)
{
	struct signalfd_siginfo info;
	unsigned n = 0;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		n++;
	return n;
}
