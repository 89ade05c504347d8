/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netload N
 *
 * Over the loopback, once with IPv4 and once with IPv6, N times each: a TCP connection over which the client
 * sends ASK bytes and the server answers with ANSWER bytes before the client, then the server, closes it; one
 * that the client resets; a SYN to a closed port; a datagram of DATAGRAM bytes to a socket
 * that reads it; and one to a port without a socket. Prints the ports: "port open P", "port dead P", "port
 * udp P", the same in both versions of IP. Nothing is under way when it ends.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

#define OPEN     7001
#define DEAD     7002
#define UDP      7003
#define ASK      100
#define ANSWER   700
#define DATAGRAM 40

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

/* A socket of @p type that is bound to @p port. */
static int bound(int family, int type, int port)
{
	union address a;
	socklen_t len = loopback(family, port, &a);
	int fd = socket(family, type, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) || bind(fd, &a.any, len))
		die("bind");
	return fd;
}

/* false: refused. */
static bool connected(int family, int port, int *ret)
{
	union address a;
	socklen_t len = loopback(family, port, &a);

	*ret = socket(family, SOCK_STREAM, 0);
	if (*ret < 0)
		die("socket");
	if (!connect(*ret, &a.any, len))
		return true;
	if (errno != ECONNREFUSED)
		die("connect");
	return false;
}

static void transfer(int from, int to, size_t len)
{
	char buf[ANSWER] = { 0 };

	if (send(from, buf, len, 0) != (ssize_t)len)
		die("send");
	if (recv(to, buf, len, MSG_WAITALL) != (ssize_t)len)
		die("recv");
}

/* Closed by the client first; with @p reset by a reset. */
static void converse(int family, int listener, bool reset)
{
	const struct linger now = { .l_onoff = 1 };
	int client, server;
	char end;

	if (!connected(family, OPEN, &client))
		die("connect");
	server = accept(listener, NULL, NULL);
	if (server < 0)
		die("accept");
	transfer(client, server, ASK);
	transfer(server, client, ANSWER);
	if (reset && setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof(now)))
		die("SO_LINGER");
	close(client);
	/* The end of the stream, or its reset. */
	if (recv(server, &end, 1, 0) != (reset ? -1 : 0))
		die("the end");
	close(server);
}

static void refused(int family)
{
	int fd;

	if (connected(family, DEAD, &fd))
		die("somebody listens");
	close(fd);
}

static void datagram(int family, int receiver, int port)
{
	union address a;
	socklen_t len = loopback(family, port, &a);
	char buf[DATAGRAM] = { 0 };
	int fd = socket(family, SOCK_DGRAM, 0);

	if (fd < 0 || sendto(fd, buf, sizeof(buf), 0, &a.any, len) != sizeof(buf))
		die("sendto");
	if (receiver >= 0 && recv(receiver, buf, sizeof(buf), 0) != sizeof(buf))
		die("recv");
	close(fd);
}

static void all(int family, long n)
{
	int listener = bound(family, SOCK_STREAM, OPEN), receiver = bound(family, SOCK_DGRAM, UDP);

	if (listen(listener, 1))
		die("listen");
	for (long i = 0; i < n; i++) {
		converse(family, listener, false);
		converse(family, listener, true);
		refused(family);
		datagram(family, receiver, UDP);
		datagram(family, -1, DEAD);
	}
	close(listener);
	close(receiver);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: netload N\n");
		return 2;
	}
	long n = number_arg(argv[1], 10000);

	all(AF_INET, n);
	all(AF_INET6, n);
	printf("port open %d\nport dead %d\nport udp %d\n", OPEN, DEAD, UDP);
	return 0;
}
