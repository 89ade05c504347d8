/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the sessions of this process's engines, and their lines in the system's log. */
#include "vmm-probe/engine/service/access.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

static struct {
	pthread_mutex_t lock;
	struct vp_access list[VP_ACCESS_KEPT]; /* number 0: unused */
	struct vp_access_reads reads[VP_ACCESS_UIDS];
	uint64_t last; /* number of the last one */
	uint64_t lost; /* discarded ones that no log has */
	bool comm_denied;
} records = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void lock(void)
{
	pthread_mutex_lock(&records.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&records.lock);
}

static uint64_t now_s(void)
{
	return (uint64_t)time(NULL);
}

/* --- text ------------------------------------------------------------------------------------------------ */

/* At most size - 1 bytes of a client's text, without characters that control a terminal or end a line. */
static void take_text(char *ret, size_t size, const char *text)
{
	size_t n = strnlen(text, size - 1);

	for (size_t i = 0; i < n; i++)
		ret[i] = text[i] > 0x20 && text[i] < 0x7f && text[i] != '"' ? text[i] : '?';
	memset(ret + n, 0, size - n);
}

/* The name that a process gave itself. If a security module denies the first read, it is not asked again,
 * because it would report each attempt. */
static void read_comm(pid_t pid, char ret[VP_ACCESS_COMM])
{
	char path[48], text[VP_ACCESS_COMM + 1] = "";

	memset(ret, 0, VP_ACCESS_COMM);
	if (pid <= 0 || __atomic_load_n(&records.comm_denied, __ATOMIC_RELAXED))
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		__atomic_store_n(&records.comm_denied, true, __ATOMIC_RELAXED);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	take_text(ret, VP_ACCESS_COMM, text);
}

/* --- the list; with the lock ------------------------------------------------------------------------------ */

static struct vp_access *find(uint64_t number)
{
	for (uint32_t i = 0; number && i < VP_ACCESS_KEPT; i++)
		if (records.list[i].number == number)
			return &records.list[i];
	return NULL;
}

/* Is @a discarded before @b? First those that a log has, then the older ones. */
static bool is_lesser(const struct vp_access *a, const struct vp_access *b)
{
	bool x = !a->number || a->flags & VP_ACCESS_LOGGED, y = !b->number || b->flags & VP_ACCESS_LOGGED;

	return x != y ? x : a->number < b->number;
}

static struct vp_access *take_place(void)
{
	struct vp_access *a = &records.list[0];

	for (uint32_t i = 1; i < VP_ACCESS_KEPT; i++)
		if (is_lesser(&records.list[i], a))
			a = &records.list[i];
	records.lost += a->number && !(a->flags & VP_ACCESS_LOGGED);
	return a;
}

/* --- what happens ------------------------------------------------------------------------------------------ */

/* An engine in the operator's process has one client, that process. */
static bool is_own(const struct ucred *peer)
{
	return peer->pid == getpid();
}

void vp_access_read(const struct ucred *peer)
{
	if (is_own(peer))
		return;
	lock();
	struct vp_access_reads *r = &records.reads[0];
	if (r->times && r->uid != peer->uid)
		r = &records.reads[1];
	r->uid = peer->uid;
	r->times++;
	r->last_s = now_s();
	unlock();
}

uint64_t vp_access_open(const struct ucred *peer, bool destructive)
{
	struct vp_access new = { .began_s = now_s(),
				 .uid = peer->uid,
				 .pid = peer->pid,
				 .flags = destructive ? VP_ACCESS_DESTRUCTIVE : 0 };

	if (is_own(peer))
		return 0;
	read_comm(peer->pid, new.comm);
	lock();
	new.number = ++records.last;
	*take_place() = new;
	unlock();
	return new.number;
}

void vp_access_enable(uint64_t number, uint32_t n, const char *first)
{
	lock();
	struct vp_access *a = find(number);
	if (a) {
		if (!a->enablings && n)
			take_text(a->first, sizeof(a->first), first);
		a->enablings = n < UINT32_MAX - a->enablings ? a->enablings + n : UINT32_MAX;
	}
	unlock();
}

static bool send_line(const struct vp_access *a, const char *guest)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	ot_buf_init(&line);
	ot_buf_puts(&line, "tracing is served: guest=\"");
	ot_log_put_text(&line, guest, VP_GUEST_NAME);
	ot_buf_printf(&line, "\" uid=%u pid=%d comm=\"%s\" enablings=%u first=\"%s\" destructive=%s", a->uid,
		      (int)a->pid, a->comm, a->enablings, a->first,
		      a->flags & VP_ACCESS_DESTRUCTIVE ? "yes" : "no");
	return !line.failed && ot_log_send(line.data, false);
}

void vp_access_start(uint64_t number, const char *guest)
{
	struct vp_access copy = { 0 };

	lock();
	struct vp_access *a = find(number);
	if (a) {
		a->flags |= VP_ACCESS_STARTED;
		copy = *a;
	}
	unlock();
	if (!copy.number || !send_line(&copy, guest))
		return;
	lock();
	a = find(number);
	if (a)
		a->flags |= VP_ACCESS_LOGGED;
	unlock();
}

void vp_access_close(uint64_t number)
{
	lock();
	struct vp_access *a = find(number);
	if (a)
		a->ended_s = now_s();
	unlock();
}

static int by_number(const void *x, const void *y)
{
	const struct vp_access *a = x, *b = y;

	return (a->number > b->number) - (a->number < b->number);
}

void vp_access_answer(const struct ucred *peer, uint64_t logged, struct vp_msg_access_reply *ret)
{
	*ret = (struct vp_msg_access_reply){ .head = { VP_MSG_ACCESS_REPLY, sizeof(*ret) } };
	lock();
	for (uint32_t i = 0; i < VP_ACCESS_KEPT; i++) {
		struct vp_access *a = &records.list[i];
		if (!a->number)
			continue;
		if (!peer->uid && a->number <= logged)
			a->flags |= VP_ACCESS_LOGGED;
		ret->list[ret->n++] = *a;
	}
	memcpy(ret->reads, records.reads, sizeof(ret->reads));
	ret->lost = records.lost;
	if (!peer->uid && logged)
		records.lost = 0;
	unlock();
	qsort(ret->list, ret->n, sizeof(ret->list[0]), by_number);
}
