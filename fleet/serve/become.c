/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight-serve's own program in another process. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fleet/serve/serve.h"

/* libnats opens sockets that stay open on exec(): only the given descriptor is passed on. */
static bool keep_only(int fd, int number)
{
	int given = fd == number ? fd : dup2(fd, number);

	return given >= 0 && !fcntl(given, F_SETFD, 0) &&
	       (number == 3 || !close_range(3, (unsigned)number - 1, 0)) &&
	       !close_range((unsigned)number + 1, ~0u, 0);
}

_Noreturn void fl_serve_become(char *const *argv, int fd, int number, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == parent && keep_only(fd, number))
		execv("/proc/self/exe", argv);
	_exit(127);
}
