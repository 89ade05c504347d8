/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that claims to be an engine: fake_engine LOG MODE HOST OPTION…
 *
 * OPTIONs are for who reads the command line: socket= in them is where this listens, what follows -name its
 * guest's name. MODE: `answer`, with RAM at HOST in its process; `silent`, which accepts connections and
 * sends nothing; `none`, which does not listen. The type of each request is a line in LOG, after a first line
 * once it listens.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "vmm-probe/engine/wire/protocol.h"

#define RAM_BYTES (1u << 20)

struct fake {
	FILE *log;
	const char *name;
	const char *socket;
	uint64_t host;
};

static void answer_hello(const struct fake *f, int sock)
{
	union {
		struct vp_msg_hello_reply reply;
		char space[sizeof(struct vp_msg_hello_reply) + sizeof(struct vp_ram_range)];
	} u = { 0 };
	struct vp_ram_range ram = { .size = RAM_BYTES, .host = f->host, .fd_index = -1 };

	u.reply.head = (struct vp_msg){ VP_MSG_HELLO_REPLY, sizeof(u.space) };
	u.reply.version = VP_PROTOCOL_VERSION;
	u.reply.nvcpus = 1;
	u.reply.nram = 1;
	strcpy(u.reply.backend, "tcg");
	strncpy(u.reply.guest_name, f->name, sizeof(u.reply.guest_name) - 1);
	memcpy(u.space + sizeof(u.reply), &ram, sizeof(ram));
	if (send(sock, u.space, sizeof(u.space), MSG_NOSIGNAL) < 0)
		perror("send");
}

/* Nothing but HELLO is answered. */
static void serve(const struct fake *f, int sock)
{
	uint64_t space[VP_MSG_MAX / 8];
	const struct vp_msg *head = (const void *)space;

	while (recv(sock, space, sizeof(space), 0) >= (ssize_t)sizeof(*head)) {
		fprintf(f->log, "%u\n", head->type);
		if (head->type != VP_MSG_HELLO)
			return;
		answer_hello(f, sock);
	}
}

static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	if (bind(sock, (const struct sockaddr *)&addr, sizeof(addr)) || listen(sock, 64) ||
	    chmod(path, 0666)) {
		perror(path);
		exit(1);
	}
	return sock;
}

int main(int argc, char **argv)
{
	struct fake f = { .name = "" };

	if (argc < 4)
		return 2;
	for (int i = 4; i < argc; i++) {
		char *at = strstr(argv[i], "socket=");
		if (at)
			f.socket = strdup(at + strlen("socket="));
		if (!strcmp(argv[i], "-name") && i + 1 < argc)
			f.name = argv[i + 1];
	}
	f.log = fopen(argv[1], "we");
	if (!f.log)
		return 1;
	f.host = strtoull(argv[3], NULL, 0);
	setvbuf(f.log, NULL, _IOLBF, 0);
	int sock = strcmp(argv[2], "none") != 0 && f.socket ? listen_at(f.socket) : -1;
	fputs("listens\n", f.log);
	for (;;) {
		int conn = sock < 0 ? pause() : accept(sock, NULL, NULL);
		if (conn >= 0 && !strcmp(argv[2], "answer"))
			serve(&f, conn);
	}
}
