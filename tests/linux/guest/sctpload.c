/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sctpload N
 *
 * Over the loopback, once with IPv4 and once with IPv6, N times each: an association over which the client
 * sends ASKS messages and the server answers with ANSWERS before the client closes it; one that the client
 * aborts; and one to a port without a listener. One-to-one sockets, each message a chunk of its own.
 * sctp must be loaded.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

#define PORT    7101
#define DEAD    7102
#define ASKS    5
#define ANSWERS 3
#define SIZE    100
#define NODELAY 3 /* SCTP_NODELAY */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, int port, union address *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->any.sa_family = (sa_family_t)family;
	if (family == AF_INET) {
		ret->v4.sin_port = htons((uint16_t)port);
		ret->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(ret->v4);
	}
	ret->v6.sin6_port = htons((uint16_t)port);
	ret->v6.sin6_addr = in6addr_loopback;
	return sizeof(ret->v6);
}

static int new_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, IPPROTO_SCTP), on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_SCTP, NODELAY, &on, sizeof(on)))
		die("socket");
	return fd;
}

static int listener(int family)
{
	union address a;
	socklen_t len = loopback(family, PORT, &a);
	int fd = new_socket(family);

	if (bind(fd, &a.any, len) || listen(fd, 8))
		die("listen");
	return fd;
}

static void transfer(int from, int to, int messages)
{
	char buf[SIZE] = { 0 };

	while (messages--)
		if (send(from, buf, SIZE, 0) != SIZE || recv(to, buf, SIZE, 0) != SIZE)
			die("transfer");
}

static void converse(int family, int at, int aborted)
{
	const struct linger now = { .l_onoff = 1 };
	union address a;
	socklen_t len = loopback(family, PORT, &a);
	int client = new_socket(family), server;
	char end;

	if (connect(client, &a.any, len))
		die("connect");
	server = accept(at, NULL, NULL);
	if (server < 0)
		die("accept");
	transfer(client, server, ASKS);
	transfer(server, client, ANSWERS);
	if (aborted && setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof(now)))
		die("SO_LINGER");
	close(client);
	/* the end of the association, or its abort */
	if (recv(server, &end, 1, 0) > 0)
		die("the end");
	close(server);
}

static void refused(int family)
{
	union address a;
	socklen_t len = loopback(family, DEAD, &a);
	int fd = new_socket(family);

	if (!connect(fd, &a.any, len) || errno != ECONNREFUSED)
		die("somebody listens");
	close(fd);
}

int main(int argc, char **argv)
{
	static const int families[] = { AF_INET, AF_INET6 };

	if (argc != 2) {
		fprintf(stderr, "usage: sctpload N\n");
		return 2;
	}
	for (int f = 0; f < 2; f++) {
		int at = listener(families[f]);
		for (long n = number_arg(argv[1], 10000); n; n--) {
			converse(families[f], at, 0);
			converse(families[f], at, 1);
			refused(families[f]);
		}
		close(at);
	}
	return 0;
}
