/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a guest's console output, read by a thread from a pipe. */
#include "vmm-probe/launch/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/thread.h"

struct vp_tail {
	int read_fd, write_fd;
	int stop_fd; /* an eventfd: ends the reader, even while a writer is left */
	char path[48];
	pthread_t reader;
	bool reads;
	pthread_mutex_t lock; /* of what is below */
	size_t len;
	char text[2 * VP_TAIL_SIZE]; /* the last of it counts; moved to the front when it is full */
};

static void keep(struct vp_tail *t, const char *data, size_t len)
{
	if (len > sizeof(t->text) - t->len) {
		size_t from = t->len > VP_TAIL_SIZE ? t->len - VP_TAIL_SIZE : 0;
		memmove(t->text, t->text + from, t->len - from);
		t->len -= from;
	}
	memcpy(t->text + t->len, data, len);
	t->len += len;
}

/* Read the pipe, with the lock held. False: end of file. Bounded, as a guest may never stop writing. */
static bool read_pipe(struct vp_tail *t)
{
	char data[4096];
	ssize_t n = 1;

	for (size_t sum = 0; n > 0 && sum < 2 * VP_TAIL_SIZE; sum += (size_t)n) {
		n = read(t->read_fd, data, sizeof(data));
		if (n > 0)
			keep(t, data, (size_t)n);
		else
			return n < 0 && (errno == EAGAIN || errno == EINTR);
	}
	return true;
}

static void *read_all(void *arg)
{
	struct vp_tail *t = arg;
	struct pollfd fds[] = { { .fd = t->read_fd, .events = POLLIN },
				{ .fd = t->stop_fd, .events = POLLIN } };
	bool more = true;

	while (more && poll(fds, OT_ARRAY_SIZE(fds), -1) > 0 && !fds[1].revents) {
		pthread_mutex_lock(&t->lock);
		more = read_pipe(t);
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

/* Signals are for the thread that traces. */
static struct ot_err *start_reader(struct vp_tail *t)
{
	OT_TRY(ot_thread_start(&t->reader, NULL, read_all, t, "a thread for the guest's console"));
	t->reads = true;
	return NULL;
}

static struct ot_err *open_fds(struct vp_tail *t)
{
	int fds[2];

	t->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (t->stop_fd < 0 || pipe2(fds, O_CLOEXEC))
		return ot_err_os(errno, "a pipe for the guest's console");
	t->read_fd = fds[0];
	t->write_fd = fds[1];
	if (fcntl(t->read_fd, F_SETFL, O_NONBLOCK))
		return ot_err_os(errno, "a pipe for the guest's console");
	snprintf(t->path, sizeof(t->path), "/proc/%d/fd/%d", (int)getpid(), t->write_fd);
	return NULL;
}

struct ot_err *vp_tail_create(struct vp_tail **ret)
{
	struct vp_tail *t = calloc(1, sizeof(*t));

	if (!t)
		return ot_err_nomem();
	t->read_fd = t->write_fd = t->stop_fd = -1;
	pthread_mutex_init(&t->lock, NULL);
	struct ot_err *err = open_fds(t);
	if (!err)
		err = start_reader(t);
	if (err) {
		vp_tail_destroy(t);
		return err;
	}
	*ret = t;
	return NULL;
}

void vp_tail_destroy(struct vp_tail *t)
{
	int fds[] = { t ? t->read_fd : -1, t ? t->write_fd : -1, t ? t->stop_fd : -1 };

	if (!t)
		return;
	if (t->reads) {
		eventfd_write(t->stop_fd, 1);
		pthread_join(t->reader, NULL);
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

const char *vp_tail_path(const struct vp_tail *t)
{
	return t->path;
}

/* The last place of @word in @len bytes; NULL: none. */
static const char *last_place(const char *text, size_t len, const char *word)
{
	const char *found = NULL, *end = text + len, *at = text;

	while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
		found = at;
		at++;
	}
	return found;
}

bool vp_tail_find(struct vp_tail *t, const char *word, char *buf, size_t size)
{
	size_t n = 0;

	pthread_mutex_lock(&t->lock);
	(void)read_pipe(t); /* includes text written just before its writer ended */
	const char *end = t->text + t->len, *at = last_place(t->text, t->len, word);
	for (const char *p = at; p && p < end && *p != '\n' && n + 1 < size; p++)
		if ((unsigned char)*p >= ' ' && *p != 127)
			buf[n++] = *p;
	pthread_mutex_unlock(&t->lock);
	buf[n] = '\0';
	return at != NULL;
}
