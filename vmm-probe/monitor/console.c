/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of COM1: it connects the chip with two file descriptors, with a thread for each direction, so that
 * no vCPU ever blocks on them.
 *
 * The guest's output is queued. While the queue is full the transmitter is busy: a guest that polls it waits,
 * as for any slow line, and loses nothing. If nothing is read for STALL_MS, or if the guest sends regardless,
 * output is dropped and the transmitter is free until the whole queue has been read. Then a line with the
 * number of dropped bytes replaces them.
 *
 * A read or write is of a single byte, or of as many as poll() guarantees not to block for. There is no such
 * guarantee if another process writes to the same pipe, so deinit() cancels a writer that does not end.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "vmm-probe/monitor/internal.h"

#define QUEUE    (64u << 10) /* about the output of a booting kernel */
#define FIFO     16u         /* bytes that a driver sends at once when the transmitter is free */
#define STALL_MS 3000
#define FLUSH_NS 2000000000ull /* wait for queued output at the end */

/* --- out: with the lock held, except give() ---------------------------------------------------- */

bool vp_mon_console_is_free(const struct vp_mon_console *c)
{
	return c->out < 0 || c->losing || QUEUE - c->len >= FIFO;
}

static void queue(struct vp_mon_console *c, uint8_t byte)
{
	c->queue[(c->head + c->len++) % QUEUE] = byte;
}

void vp_mon_console_put(struct vp_mon_console *c, uint8_t byte)
{
	if (c->out < 0)
		return;
	if (c->len == QUEUE)
		c->losing = true;
	if (c->losing) {
		c->lost++;
		return;
	}
	if (!c->len)
		pthread_cond_signal(&c->sent);
	queue(c, byte);
}

/* The whole queue has been read: stop dropping, and report the dropped bytes. */
static void be_back(struct vp_mon_console *c)
{
	char text[80];

	c->losing = false;
	if (!c->lost)
		return;
	int n = snprintf(text, sizeof(text),
			 "\r\n[outsight-vmm: %llu bytes were not read in time and were dropped]\r\n",
			 (unsigned long long)c->lost);
	c->lost = 0;
	for (int i = 0; i < n; i++)
		queue(c, (uint8_t)text[i]);
}

static void taken(struct vp_mon_console *c, size_t n)
{
	c->head = (c->head + n) % QUEUE;
	c->len -= n;
	if (!c->len && c->losing)
		be_back(c);
}

/* The number of bytes to write at once: contiguous at the head of the queue. */
static size_t piece(const struct vp_mon_console *c)
{
	size_t n = c->head + c->len > QUEUE ? QUEUE - c->head : c->len;

	return n < c->piece ? n : c->piece;
}

/* Write; returns the number of bytes to remove from the queue; 0: nothing was read for STALL_MS. */
static size_t give(int fd, const uint8_t *bytes, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	do {
		int ready = poll(&p, 1, STALL_MS);
		if (!ready)
			return 0;
		n = write(fd, bytes, len);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? len : (size_t)n; /* on errors output is discarded, so that the guest continues */
}

static void *write_output(void *arg)
{
	struct vp_mon_serial *s = arg;
	struct vp_mon_console *c = &s->console;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!c->len && !c->ending)
			pthread_cond_wait(&c->sent, &s->lock);
		if (!c->len)
			break;
		const uint8_t *at = c->queue + c->head; /* the chip only appends */
		size_t n = piece(c);
		pthread_mutex_unlock(&s->lock);
		n = give(c->out, at, n);
		pthread_mutex_lock(&s->lock);
		if (n)
			taken(c, n);
		else if (!vp_mon_console_is_free(c))
			c->losing = true;
		vp_mon_serial_sent(s);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* --- in ------------------------------------------------------------------------------------------ */

/* Read one byte of input. False: end of input. */
static bool receive_input(struct vp_mon_serial *s)
{
	uint8_t byte;

	if (read(s->console.in, &byte, 1) != 1)
		return false;
	vp_mon_serial_receive(s, byte);
	return true;
}

/* The input thread. While the chip has no room, input is not read. */
static void *read_input(void *arg)
{
	struct vp_mon_serial *s = arg;
	struct vp_mon_console *c = &s->console;
	struct pollfd p[2] = { { .fd = c->in, .events = POLLIN }, { .fd = c->wake, .events = POLLIN } };
	eventfd_t n;

	while (poll(p, 2, -1) > 0 || errno == EINTR) {
		if (p[1].revents)
			eventfd_read(c->wake, &n);
		pthread_mutex_lock(&s->lock);
		bool ending = c->ending;
		pthread_mutex_unlock(&s->lock);
		if (ending || (p[0].revents && !receive_input(s)))
			break;
		p[0].fd = vp_mon_serial_has_room(s) ? c->in : -1;
		p[0].revents = p[1].revents = 0;
	}
	return NULL;
}

void vp_mon_console_room(struct vp_mon_console *c)
{
	eventfd_write(c->wake, 1);
}

/* --- lifetime ------------------------------------------------------------------------------------- */

/* With all signals blocked: other threads of the program handle them, and a closed pipe is an EPIPE here. */
static struct ot_err *start(struct vp_mon_console_thread *t, void *(*run)(void *), struct vp_mon_serial *s)
{
	OT_TRY(ot_thread_start(&t->thread, NULL, run, s, "the console's thread"));
	t->started = true;
	return NULL;
}

static struct ot_err *start_output(struct vp_mon_serial *s)
{
	struct vp_mon_console *c = &s->console;
	struct stat st;

	/* For a terminal, POLLOUT guarantees room for one byte only. */
	c->piece = !fstat(c->out, &st) && S_ISCHR(st.st_mode) ? 1 : PIPE_BUF;
	c->queue = malloc(QUEUE);
	return c->queue ? start(&c->writer, write_output, s) : ot_err_nomem();
}

struct ot_err *vp_mon_console_init(struct vp_mon_serial *s, int out, int in)
{
	struct vp_mon_console *c = &s->console;

	*c = (struct vp_mon_console){ .out = out, .in = in, .wake = -1, .sent = PTHREAD_COND_INITIALIZER };
	c->wake = eventfd(0, EFD_CLOEXEC);
	if (c->wake < 0)
		return ot_err_os(errno, "eventfd");
	if (out >= 0)
		OT_TRY(start_output(s));
	return in >= 0 ? start(&c->reader, read_input, s) : NULL;
}

static void join(struct vp_mon_console_thread *t)
{
	const struct timespec end = ot_timespec(ot_now_ns() + FLUSH_NS);

	if (!t->started)
		return;
	if (pthread_clockjoin_np(t->thread, NULL, CLOCK_MONOTONIC, &end)) {
		pthread_cancel(t->thread); /* in poll() or write(), without the lock */
		pthread_join(t->thread, NULL);
	}
	t->started = false;
}

void vp_mon_console_deinit(struct vp_mon_serial *s)
{
	struct vp_mon_console *c = &s->console;

	if (c->wake >= 0) {
		pthread_mutex_lock(&s->lock);
		c->ending = true;
		pthread_cond_signal(&c->sent);
		pthread_mutex_unlock(&s->lock);
		eventfd_write(c->wake, 1);
		join(&c->writer);
		join(&c->reader);
	}
	free(c->queue);
	c->queue = NULL;
	ot_cleanup_close(&c->wake);
	c->wake = -1;
}
