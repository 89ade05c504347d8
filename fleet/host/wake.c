/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for the link, the time, and the signals that end a worker, besides its guests. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "fleet/host/internal.h"

static struct ot_err *watch(const struct fl_wake *w, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? ot_err_os(errno, "epoll") : NULL;
}

struct ot_err *fl_wake_open(struct fl_wake *w)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

	*w = (struct fl_wake){ -1, -1, -1, -1, 0 };
	signal(SIGPIPE, SIG_IGN); /* a lost operator is an error of the link */
	OT_TRY(ot_signals_open(ending, OT_ARRAY_SIZE(ending), &w->signal_fd));
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->timer_fd < 0 || w->epoll_fd < 0)
		return ot_err_os(errno, "waiting");
	OT_TRY(watch(w, w->signal_fd, EPOLLIN));
	return watch(w, w->timer_fd, EPOLLIN);
}

void fl_wake_close(struct fl_wake *w)
{
	const int fds[] = { w->epoll_fd, w->signal_fd, w->timer_fd };

	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* A regular file is always ready, and epoll refuses it: the link's end is then found at the next poll. */
static struct ot_err *watch_link(struct fl_wake *w, int fd, short events)
{
	struct epoll_event ev = { .events = (uint32_t)(unsigned short)events };

	if (w->link_fd == fd && w->link_events == events)
		return NULL;
	if (w->link_fd >= 0 && w->link_fd != fd)
		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, w->link_fd, NULL);
	int op = w->link_fd == fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	if (epoll_ctl(w->epoll_fd, op, fd, &ev) < 0 && errno != EPERM)
		return ot_err_os(errno, "epoll");
	w->link_fd = fd;
	w->link_events = events;
	return NULL;
}

struct ot_err *fl_wake_set(struct fl_wake *w, struct fl_link *link, uint64_t due_ns)
{
	const struct itimerspec at = { .it_value = ot_timespec(due_ns ? due_ns : 1) };
	short events = 0;
	int fd = fl_link_fd(link, &events);

	OT_TRY(watch_link(w, fd, events));
	if (timerfd_settime(w->timer_fd, TFD_TIMER_ABSTIME, &at, NULL) < 0)
		return ot_err_os(errno, "setting a timer");
	return NULL;
}

void fl_wake_wait(const struct fl_wake *w)
{
	struct pollfd fd = { .fd = w->epoll_fd, .events = POLLIN };

	poll(&fd, 1, 1000);
}

int fl_wake_signal(const struct fl_wake *w)
{
	struct signalfd_siginfo info;
	int last = 0;

	while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info))
		last = (int)info.ssi_signo;
	return last;
}
