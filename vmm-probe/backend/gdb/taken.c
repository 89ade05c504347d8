/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detecting whether a stub on this host serves another client, and which process that is. */
#include "vmm-probe/backend/gdb/taken.h"

#include <dirent.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

/* In /proc/net/tcp: an established connection. In /proc/net/unix: a connected socket that was accepted. */
#define TCP_IS_UP  1u
#define UNIX_IS_UP 3u

/* The words of a line, at most @max; returns how many. */
static size_t split(char *line, char **words, size_t max)
{
	size_t n = 0;
	char *rest = NULL;

	for (char *w = strtok_r(line, " \n", &rest); w && n < max; w = strtok_r(NULL, " \n", &rest))
		words[n++] = w;
	return n;
}

/* --- processes ---------------------------------------------------------------------------------------- */

static bool has_socket(const char *pid, unsigned long inode)
{
	char path[300], want[64], is[64];
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	snprintf(want, sizeof(want), "socket:[%lu]", inode);
	ot_auto_dir DIR *dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, is, sizeof(is) - 1);
		if (n > 0 && (is[n] = '\0', !strcmp(is, want)))
			return true;
	}
	return false;
}

/* "name (PID n)" of the process that has this socket. */
static void name_owner(unsigned long inode, char *who, size_t size)
{
	ot_auto_dir DIR *dir = inode ? opendir("/proc") : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[300], name[32] = "";
		if (*e->d_name < '1' || *e->d_name > '9' || !has_socket(e->d_name, inode))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		ot_auto_file FILE *fp = fopen(path, "re");
		if (fp && fgets(name, sizeof(name), fp))
			name[strcspn(name, "\n")] = '\0';
		snprintf(who, size, "%s (PID %s)", *name ? name : "a process", e->d_name);
		return;
	}
}

/* --- TCP ---------------------------------------------------------------------------------------------- */

struct tcp_row {
	unsigned local, remote; /* ports */
	unsigned long inode;    /* 0: not accepted yet */
};

static bool next_row(FILE *fp, struct tcp_row *row)
{
	char line[512], *f[10];

	while (fgets(line, sizeof(line), fp)) {
		/* number, local, remote, state, queues, timer, retransmits, uid, timeout, inode */
		if (split(line, f, OT_ARRAY_SIZE(f)) < OT_ARRAY_SIZE(f))
			continue;
		const char *local = strchr(f[1], ':'), *remote = strchr(f[2], ':');
		row->inode = strtoul(f[9], NULL, 10);
		if (!local || !remote || strtoul(f[3], NULL, 16) != TCP_IS_UP)
			continue;
		row->local = (unsigned)strtoul(local + 1, NULL, 16);
		row->remote = (unsigned)strtoul(remote + 1, NULL, 16);
		return true;
	}
	return false;
}

/* A connection of these ports, 0: any, but not @other; it was accepted. */
static bool find_row(unsigned local, unsigned remote, unsigned other, struct tcp_row *ret)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(tables); i++) {
		ot_auto_file FILE *fp = fopen(tables[i], "re");
		while (fp && next_row(fp, ret))
			if (ret->local == local && (!remote || ret->remote == remote) &&
			    ret->remote != other && ret->inode)
				return true;
	}
	return false;
}

static unsigned port_of(const struct sockaddr_storage *a)
{
	return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
					      : ((const struct sockaddr_in *)a)->sin_port);
}

static bool same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

static bool tcp_taken(const struct sockaddr_storage *stub, const struct sockaddr_storage *us, char *who,
		      size_t size)
{
	struct tcp_row theirs, client;

	if (!same_host(stub, us) || !find_row(port_of(stub), 0, port_of(us), &theirs))
		return false;
	if (find_row(theirs.remote, theirs.local, 0, &client))
		name_owner(client.inode, who, size);
	return true;
}

/* --- UNIX --------------------------------------------------------------------------------------------- */

/* /proc/net/unix does not name the process at the other end. */
static bool unix_taken(const char *path)
{
	ot_auto_file FILE *fp = fopen("/proc/net/unix", "re");
	char line[512], *f[8];

	/* address, references, protocol, flags, type, state, inode, path */
	while (fp && fgets(line, sizeof(line), fp))
		if (split(line, f, OT_ARRAY_SIZE(f)) == OT_ARRAY_SIZE(f) &&
		    strtoul(f[5], NULL, 16) == UNIX_IS_UP && !strcmp(f[7], path))
			return true;
	return false;
}

bool vp_gdb_is_taken(int fd, char *who, size_t size)
{
	struct sockaddr_storage stub = { 0 }, us = { 0 };
	socklen_t stub_len = sizeof(stub), us_len = sizeof(us);

	*who = '\0';
	if (getpeername(fd, (struct sockaddr *)&stub, &stub_len) ||
	    getsockname(fd, (struct sockaddr *)&us, &us_len))
		return false;
	if (stub.ss_family == AF_UNIX)
		return unix_taken(((const struct sockaddr_un *)&stub)->sun_path);
	if (stub.ss_family != us.ss_family || (stub.ss_family != AF_INET && stub.ss_family != AF_INET6))
		return false;
	return tcp_taken(&stub, &us, who, size);
}
