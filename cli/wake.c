/* SPDX-License-Identifier: GPL-2.0-or-later */
/* External events that end a session: signals, and its time limit. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/signals.h"
#include "cli/tracing.h"
#include "consumer/terminal.h"

#define LAST_CHANCE_MS 5000

/* While a write waits for room, nothing else is done for the session. Its time limit still applies, because
 * its probes remain in the guests; a reader that is only slow loses nothing by it. */
static bool has_enough(void *arg)
{
	struct cli_run *r = arg;
	bool expired = r->expired;

	if (cli_run_is_impatient(r))
		return true;
	cli_run_read_ttl(r);
	if (expired || !r->expired)
		return false;
	struct pollfd out = { .fd = con_terminal_fileno(r->out), .events = POLLOUT };
	return poll(&out, 1, LAST_CHANCE_MS) == 0;
}

struct ot_err *cli_run_watch(struct cli_run *r)
{
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing */
	OT_TRY(cli_signals_open(SIGUSR1, &r->signal_fd));
	r->patience = (struct con_terminal_patience){ { r->signal_fd, -1 }, has_enough, r };
	con_terminal_wait(&r->patience);
	r->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->wake_fd < 0)
		return ot_err_os(errno, "epoll");
	struct epoll_event ev = { .events = EPOLLIN };
	if (epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, r->signal_fd, &ev) < 0)
		return ot_err_os(errno, "epoll");
	/* the loss of our output's reader is an error condition, and epoll always reports it. A file has
	 * none */
	struct epoll_event errors = { .events = 0 };
	if (epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, con_terminal_fileno(r->out), &errors) < 0 && errno != EPERM)
		return ot_err_os(errno, "epoll");
	for (size_t i = 0; i < r->procs.count; i++)
		if (epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, r->procs.items[i].fd, &ev) < 0)
			return ot_err_os(errno, "epoll");
	return NULL;
}

struct ot_err *cli_run_start_ttl(struct cli_run *r)
{
	uint64_t ns = r->inv->opts.ttl_ns;
	const struct itimerspec at = { .it_value = ot_timespec(ns) };
	struct epoll_event ev = { .events = EPOLLIN };

	if (!ns)
		return NULL;
	/* the time of a host's suspend counts: the limit is in the operator's time */
	r->ttl_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->ttl_fd < 0 || timerfd_settime(r->ttl_fd, 0, &at, NULL) < 0 ||
	    epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, r->ttl_fd, &ev) < 0)
		return ot_err_os(errno, "-x ttl");
	r->patience.fds[1] = r->ttl_fd;
	return NULL;
}

void cli_run_read_ttl(struct cli_run *r)
{
	uint64_t times;

	if (r->ttl_fd >= 0 && read(r->ttl_fd, &times, sizeof(times)) == sizeof(times))
		r->expired = true;
}

void cli_run_read_signals(struct cli_run *r)
{
	r->interrupts += cli_signals_take(r->signal_fd);
}

bool cli_run_is_impatient(void *arg)
{
	struct cli_run *r = arg;

	cli_run_read_signals(r);
	return r->interrupts > 1;
}

void cli_run_unwatch(struct cli_run *r)
{
	int *const fds[] = { &r->signal_fd, &r->wake_fd, &r->ttl_fd };

	con_terminal_wait(NULL);
	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
}
