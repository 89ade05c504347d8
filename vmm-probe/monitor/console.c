/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line behind COM1: between the chip and two file descriptors, by a thread for each direction. No vCPU
 * ever waits for who reads or types.
 *
 * What the guest sends waits in a queue. While that is full the chip's transmitter is busy: a guest that
 * looks waits, as for any slow line, and loses nothing. A reader that takes nothing for STALL_MS is taken to
 * be away: from then on, or when the guest sends without having waited, what it sends is lost and the
 * transmitter is free, until all that is queued was read. A line in its place then says how much it was.
 *
 * Reading and writing are single bytes, or as much as poll() promises not to block for. That promise is void
 * where somebody else writes into the same pipe, so deinit() cancels a writer that does not end.
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
#include "vmm-probe/monitor/internal.h"

#define QUEUE    (64u << 10) /* about what a kernel says while it boots */
#define FIFO     16u         /* what a driver sends at once when the transmitter is free */
#define STALL_MS 3000
#define FLUSH_NS 2000000000ull /* at the end, for what is queued */

/* --- out: all with the lock held, but for give() ----------------------------------------------- */

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

/* All that was queued is read: somebody is there, and is told what is missing here. */
static void be_back(struct vp_mon_console *c)
{
	char text[80];

	c->losing = false;
	if (!c->lost)
		return;
	int n = snprintf(text, sizeof(text),
			 "\r\n[outsight-vmm: %llu bytes were not read in time, and are lost]\r\n",
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

/* At the head of the queue, in one piece. */
static size_t piece(const struct vp_mon_console *c)
{
	size_t n = c->head + c->len > QUEUE ? QUEUE - c->head : c->len;

	return n < c->piece ? n : c->piece;
}

/* How much of it was taken; 0: nothing for STALL_MS. */
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
	return n < 0 ? len : (size_t)n; /* a console that is gone stops no guest */
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
		const uint8_t *at = c->queue + c->head; /* the chip adds behind it only */
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

/* One byte from outside. false: there are no more. */
static bool receive_input(struct vp_mon_serial *s)
{
	uint8_t byte;

	if (read(s->console.in, &byte, 1) != 1)
		return false;
	vp_mon_serial_receive(s, byte);
	return true;
}

/* What is typed, until its end or deinit(). While the chip has no room, what is sent waits outside. */
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

/* --- its life ------------------------------------------------------------------------------------- */

/* Without signals: those are the program's other threads', and a closed pipe is only an error here. */
static struct ot_err *start(struct vp_mon_console_thread *t, void *(*run)(void *), struct vp_mon_serial *s)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(&t->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->started = !rc;
	return rc ? ot_err_os(rc, "the console's thread") : NULL;
}

static struct ot_err *start_output(struct vp_mon_serial *s)
{
	struct vp_mon_console *c = &s->console;
	struct stat st;

	/* A terminal says only that there is some room. */
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
