/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that are read from a descriptor: see signals.h. */
#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

struct ot_err *ot_signals_open(const int *list, size_t n, int *ret_fd)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < n; i++)
		sigaddset(&set, list[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return ot_err_os(errno, "signalfd");
	*ret_fd = fd;
	return NULL;
}
