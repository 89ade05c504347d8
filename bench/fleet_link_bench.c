/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fleet's link carries, from one process to another: messages of several sizes, plain or sealed, over
 * a socket pair, and over a NATS server on loopback that is started here. The time is that from the first
 * message to the acknowledgement of the last one; the CPU time is both processes', without the server's.
 * Medians of several rounds, with the smallest and largest.
 *
 *   fleet_link_bench [ROUNDS]
 */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/link/broker.h"
#include "fleet/link/link.h"
#include "fleet/link/seal.h"

#define ROUNDS_MAX  99
#define PENDING_MAX ((size_t)4 << 20) /* a worker hands over no more before that is taken */
#define WAIT_MS     10000

struct row {
	size_t size;
	unsigned count;
	bool is_sealed, by_nats;
};

struct keys {
	uint8_t public[FL_KEY], secret[FL_KEY];
};

static char url[64];
static struct keys operator_keys, host_keys;

static OT_NORETURN void die(const char *what)
{
	fprintf(stderr, "fleet_link_bench: %s\n", what);
	exit(1);
}

static void must(struct ot_err *err)
{
	if (err)
		die(ot_err_message(err));
}

static struct fl_carrier *nats_carrier(bool is_host)
{
	struct fl_broker_config config = { .url = url, .name = "bench", .patient = true };
	struct fl_broker *broker;
	struct fl_carrier *c;

	must(fl_broker_connect(&config, &broker));
	must(fl_nats_create(broker, is_host ? "os.v1.in.b.h" : "os.v1.out.b.h",
			    is_host ? "os.v1.out.b.h" : "os.v1.in.b.h", &c));
	if (!fl_broker_flush(broker, WAIT_MS))
		die("the broker does not answer");
	fl_broker_unref(broker);
	return c;
}

static struct fl_link *make_link(const struct row *row, bool is_host, int sock)
{
	struct fl_carrier *c;
	struct fl_seal *seal = NULL;
	struct fl_link *link;
	const struct keys *own = is_host ? &host_keys : &operator_keys;
	const struct keys *other = is_host ? &operator_keys : &host_keys;

	if (row->by_nats)
		c = nats_carrier(is_host);
	else
		must(fl_pipe_create(sock, sock, &c));
	if (row->is_sealed)
		must(fl_seal_create(own->public, own->secret, other->public, !is_host, &seal));
	must(fl_link_create(c, seal, NULL, NULL, &link));
	return link;
}

static void wait_for_link(struct fl_link *link)
{
	struct pollfd p;

	p.fd = fl_link_fd(link, &p.events);
	poll(&p, 1, ot_ms_until(fl_link_due_ns(link)));
}

/* The operator's side: takes them all, and goes when the host, who waits for the last acknowledgement, has
 * said so. */
static OT_NORETURN void take_all(const struct row *row, int sock, int ready, int done)
{
	struct fl_link *link = make_link(row, false, sock);
	unsigned taken = 0;
	char byte = 0;
	struct pollfd end = { .fd = done, .events = POLLIN };

	if (write(ready, &byte, 1) != 1)
		die("the other process is gone");
	while (poll(&end, 1, 0) == 0) {
		enum fl_kind kind;
		const void *data;
		size_t len;

		must(fl_link_poll(link));
		while (fl_link_receive(link, &kind, &data, &len))
			taken += len == row->size;
		if (fl_link_due_ns(link) > ot_now_ns()) {
			struct pollfd p[2] = { { 0 }, end };

			p[0].fd = fl_link_fd(link, &p[0].events);
			poll(p, 2, ot_ms_until(fl_link_due_ns(link)));
		}
	}
	fl_link_destroy(link);
	exit(taken == row->count ? 0 : 1);
}

static uint64_t send_all(const struct row *row, struct fl_link *link)
{
	uint8_t *message = malloc(row->size);
	unsigned sent = 0;

	if (!message)
		die("no memory");
	memset(message, 'x', row->size); /* zeros would not travel */

	uint64_t start = ot_now_ns();

	while (sent < row->count || fl_link_pending(link)) {
		while (sent < row->count && fl_link_pending(link) < PENDING_MAX) {
			must(fl_link_send(link, FL_RECORDS, message, row->size));
			sent++;
		}
		must(fl_link_poll(link));
		if (fl_link_due_ns(link) > ot_now_ns())
			wait_for_link(link);
	}
	free(message);
	return ot_now_ns() - start;
}

static double cpu_seconds(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec + children.ru_utime.tv_sec +
			children.ru_stime.tv_sec) +
	       (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec + children.ru_utime.tv_usec +
			children.ru_stime.tv_usec) /
		   1e6;
}

/* The host's side, in a process of its own too, so that its CPU time is its own. Its result is in @result. */
static OT_NORETURN void run_host(const struct row *row, double result[2])
{
	int socks[2], ready[2], done[2], status;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, socks) || pipe(ready) || pipe(done))
		die("no socket");

	pid_t pid = fork();

	if (!pid) {
		close(socks[0]);
		close(done[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take_all(row, socks[1], ready[1], done[0]);
	}
	close(socks[1]);

	struct fl_link *link = make_link(row, true, socks[0]);

	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		die("no other process");
	result[0] = (double)send_all(row, link) / 1e9;
	close(done[0]);
	close(done[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		die("messages are missing");
	fl_link_destroy(link);
	result[1] = cpu_seconds();
	exit(0);
}

static void measure(const struct row *row, double result[2])
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_host(row, result);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("a round failed");
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_row(const struct row *row, int rounds, double *shared)
{
	double seconds[ROUNDS_MAX], cpu[ROUNDS_MAX], count = row->count;

	for (int i = 0; i < rounds; i++) {
		measure(row, shared);
		seconds[i] = shared[0];
		cpu[i] = shared[1];
	}
	qsort(seconds, (size_t)rounds, sizeof(*seconds), by_size);
	qsort(cpu, (size_t)rounds, sizeof(*cpu), by_size);

	double median = seconds[rounds / 2], mb = count * (double)row->size / 1e6;

	printf("%s, %s, %u messages of %zu bytes: %.0f messages/s (%.0f to %.0f, n=%d), %.0f MB/s (%.0f to "
	       "%.0f), "
	       "%.2f us of CPU each (%.2f to %.2f)\n",
	       row->by_nats ? "NATS" : "socket", row->is_sealed ? "sealed" : "plain", row->count, row->size,
	       count / median, count / seconds[rounds - 1], count / seconds[0], rounds, mb / median,
	       mb / seconds[rounds - 1], mb / seconds[0], cpu[rounds / 2] * 1e6 / count, cpu[0] * 1e6 / count,
	       cpu[rounds - 1] * 1e6 / count);
	fflush(stdout);
}

/* A server on a port that was free just now; its number, or 0: there is none here. */
static pid_t start_server(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char port[8];

	if (access("/usr/sbin/nats-server", X_OK))
		return 0;
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) || getsockname(fd, (struct sockaddr *)&a, &len))
		die("no port");
	close(fd);
	snprintf(port, sizeof(port), "%u", ntohs(a.sin_port));
	snprintf(url, sizeof(url), "nats://127.0.0.1:%s", port);

	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("/dev/null", "w", stderr))
			execl("/usr/sbin/nats-server", "nats-server", "-a", "127.0.0.1", "-p", port, NULL);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv)
{
	static const struct row rows[] = {
		{ 200, 200000, false, false },    { 200, 200000, true, false },
		{ FL_BATCH, 1000, false, false }, { FL_BATCH, 1000, true, false },
		{ 200, 200000, true, true },      { FL_BATCH, 1000, true, true },
		{ 200, 200000, false, true },     { FL_BATCH, 1000, false, true },
	};
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	double *shared =
	    mmap(NULL, 2 * sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (rounds < 1 || rounds > ROUNDS_MAX || shared == MAP_FAILED || sodium_init() < 0) {
		fprintf(stderr, "usage: fleet_link_bench [ROUNDS]\n");
		return 2;
	}
	crypto_kx_keypair(operator_keys.public, operator_keys.secret);
	crypto_kx_keypair(host_keys.public, host_keys.secret);

	pid_t server = start_server();

	if (!server)
		printf("NATS: skipped, there is no nats-server here (Debian: apt install nats-server)\n");
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		if (server || !rows[i].by_nats)
			print_row(&rows[i], rounds, shared);
	if (server) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	return 0;
}
