/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight-serve's own program in another process. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "fleet/serve/serve.h"

_Noreturn void fl_serve_become(char *const *argv, int fd, int number)
{
	int given = dup2(fd, number); /* of the same number would stay closed on exec() */
	sigset_t none;

	if (fd == number)
		given = fcntl(fd, F_SETFD, 0) ? -1 : fd;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (given >= 0)
		execv("/proc/self/exe", argv);
	_exit(127);
}
