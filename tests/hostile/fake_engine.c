/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that claims to be an engine: fake_engine LOG MODE HOST OPTION…
 *
 * OPTIONs are for who reads the command line: socket= in them is where this listens, what follows -name its
 * guest's name. MODE: `answer`, with RAM at HOST in its process; `silent`, which accepts connections and
 * sends nothing; `none`, which does not listen; `forgeN`, which answers with forgery N. The type of each
 * request is a line in LOG, after a first line once it listens.
 */
#include <stdbool.h>
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
	int forgery; /* enum forgery */
};

union hello {
	struct vp_msg_hello_reply reply;
	char space[sizeof(struct vp_msg_hello_reply) + sizeof(struct vp_ram_range)];
};

/* What each FORGERY changes of an answer that would be taken. The last two are of ACCESS. */
enum forgery {
	NOTHING = -1,
	SIZE,
	VERSION,
	NO_VCPUS,
	MANY_VCPUS,
	MANY_RANGES,
	NAME_WITHOUT_END,
	MEMORY_EVERYWHERE,
	MEMORY_WITHOUT_FILE,
	LONG_MESSAGE,
	MANY_RECORDS,
	TEXT_OF_RECORDS,
};

static void forge_hello(enum forgery what, union hello *u, struct vp_ram_range *ram)
{
	switch (what) {
	case SIZE:
		u->reply.head.size--;
		break;
	case VERSION:
		u->reply.version++;
		break;
	case NO_VCPUS:
		u->reply.nvcpus = 0;
		break;
	case MANY_VCPUS:
		u->reply.nvcpus = UINT32_MAX;
		break;
	case MANY_RANGES:
		u->reply.nram = UINT32_MAX;
		break;
	case NAME_WITHOUT_END:
		memset(u->reply.guest_name, '\033', sizeof(u->reply.guest_name));
		memset(u->reply.backend, 0x9b, sizeof(u->reply.backend));
		break;
	case MEMORY_EVERYWHERE:
		*ram = (struct vp_ram_range){
			.gpa = 0xfff, .size = UINT64_MAX, .host = UINT64_MAX, .fd_index = -1
		};
		break;
	case MEMORY_WITHOUT_FILE:
		ram->fd_index = 5;
		break;
	default:
		break;
	}
}

static void answer_hello(const struct fake *f, int sock)
{
	struct vp_ram_range ram = { .size = RAM_BYTES, .host = f->host, .fd_index = -1 };
	union hello u = { 0 };

	u.reply.head = (struct vp_msg){ VP_MSG_HELLO_REPLY, sizeof(u.space) };
	u.reply.version = VP_PROTOCOL_VERSION;
	u.reply.nvcpus = 1;
	u.reply.nram = 1;
	strcpy(u.reply.backend, "tcg");
	strncpy(u.reply.guest_name, f->name, sizeof(u.reply.guest_name) - 1);
	forge_hello((enum forgery)f->forgery, &u, &ram);
	memcpy(u.space + sizeof(u.reply), &ram, sizeof(ram));
	if (send(sock, u.space, sizeof(u.space), MSG_NOSIGNAL) < 0)
		perror("send");
}

static void answer_access(const struct fake *f, int sock)
{
	struct vp_msg_access_reply reply = { .head = { VP_MSG_ACCESS_REPLY, sizeof(reply) } };

	reply.n = f->forgery == MANY_RECORDS ? UINT32_MAX : VP_ACCESS_KEPT;
	memset(reply.list, '\n', sizeof(reply.list));
	for (unsigned i = 0; i < VP_ACCESS_KEPT; i++)
		reply.list[i].flags = VP_ACCESS_DESTRUCTIVE;
	if (send(sock, &reply, sizeof(reply), MSG_NOSIGNAL) < 0)
		perror("send");
}

static void answer(const struct fake *f, int sock, uint32_t type)
{
	static const char many[3 * VP_MSG_MAX];

	if (f->forgery == LONG_MESSAGE)
		(void)!send(sock, many, sizeof(many) / 2, MSG_NOSIGNAL);
	else if (type == VP_MSG_HELLO)
		answer_hello(f, sock);
	else
		answer_access(f, sock);
}

/* Nothing but HELLO is answered, and ACCESS by a forger. */
static void serve(const struct fake *f, int sock)
{
	uint64_t space[VP_MSG_MAX / 8];
	const struct vp_msg *head = (const void *)space;

	while (recv(sock, space, sizeof(space), 0) >= (ssize_t)sizeof(*head)) {
		fprintf(f->log, "%u\n", head->type);
		if (head->type != VP_MSG_HELLO && (f->forgery < MANY_RECORDS || head->type != VP_MSG_ACCESS))
			break;
		answer(f, sock, head->type);
	}
	if (f->forgery != NOTHING)
		close(sock);
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
	struct fake f = { .name = "", .forgery = NOTHING };

	if (argc < 4)
		return 2;
	for (int i = 4; i < argc; i++) {
		char *at = strstr(argv[i], "socket=");
		if (at)
			f.socket = strdup(at + strlen("socket="));
		if (!strcmp(argv[i], "-name") && i + 1 < argc)
			f.name = argv[i + 1];
	}
	bool answers = !strcmp(argv[2], "answer");
	if (!strncmp(argv[2], "forge", 5)) {
		f.forgery = atoi(argv[2] + 5);
		answers = true;
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
		if (conn >= 0 && answers)
			serve(&f, conn);
	}
}
