/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The distribution's nats-server on loopback; a test without one is skipped. */
#ifndef TESTS_FLEET_SERVER_H
#define TESTS_FLEET_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/link/broker.h"
#include "fleet/link/nats_library.h"

#define LONG_NS 60000000000ull

struct server {
	char port[8], url[64];
	pid_t pid;
};

static inline bool server_is_there(void)
{
	const struct fl_nats_calls *calls;
	struct ot_err *err = fl_nats_load(&calls);
	bool no_library = err;

	ot_err_destroy(err);
	if (no_library || system("PATH=$PATH:/usr/sbin command -v nats-server >/dev/null")) {
		print_message("SKIP: no nats-server here (scripts/test gets one)\n");
		return false;
	}
	return true;
}

static inline void server_choose_port(struct server *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	close(fd);
	snprintf(s->port, sizeof(s->port), "%u", ntohs(a.sin_port));
	snprintf(s->url, sizeof(s->url), "nats://127.0.0.1:%s", s->port);
}

static inline void server_start(struct server *s)
{
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
	if (freopen("/dev/null", "w", stderr))
		execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", s->port, NULL);
	execl("/usr/sbin/nats-server", "nats-server", "-a", "127.0.0.1", "-p", s->port, NULL);
	_exit(127);
}

static inline void server_kill(struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

/* Once its inbox answers, the server runs. */
static inline struct fl_broker *server_connect(const struct server *s)
{
	struct fl_broker_config config = { .url = s->url, .name = "test", .patient = true };
	struct fl_broker *b;

	assert_null(fl_broker_connect(&config, &b));
	uint64_t end = ot_now_ns() + LONG_NS;

	while (!fl_broker_flush(b, 200))
		assert_true(ot_now_ns() < end);
	return b;
}

static inline void inbox_wait(const struct fl_inbox *inbox)
{
	struct pollfd p = { .fd = fl_inbox_fd(inbox), .events = POLLIN };

	assert_int_equal(poll(&p, 1, (int)(LONG_NS / 1000000)), 1);
}

#endif
