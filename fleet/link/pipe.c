/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A carrier over a pair of pipes, or a socket: each packet with its length in front. Nothing gets lost. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "fleet/link/carrier.h"

#define LENGTH   4
#define ROOM_MAX (LENGTH + FL_PACKET_MAX)

struct pipe_carrier {
	struct fl_carrier base;
	int in, out;
	int epoll;          /* -1: in and out are the same */
	bool is_socket;     /* out */
	bool is_broken;     /* nothing can be written any more */
	bool waits;         /* epoll waits for out */
	struct ot_buf left; /* rest of a partly written packet, from `left_at` on */
	size_t left_at;
	size_t got, got_at; /* bytes in room, and the number of them that were returned */
	uint8_t room[ROOM_MAX];
};

static struct pipe_carrier *pipe_of(struct fl_carrier *c)
{
	return (struct pipe_carrier *)c;
}

static bool has_left(const struct pipe_carrier *p)
{
	return p->left.len > p->left_at;
}

/* The reader may have gone: write() then reports EPIPE, and the process must not get a SIGPIPE for it. */
static ssize_t write_parts(const struct pipe_carrier *p, struct iovec *parts, int n)
{
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = (size_t)n };
	const struct timespec none = { 0 };
	sigset_t broken, pending, before;

	if (p->is_socket)
		return sendmsg(p->out, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &broken, &before);

	ssize_t written = writev(p->out, parts, n);
	int err = errno;

	if (written < 0 && err == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&broken, NULL, &none) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return written;
}

/* Write as many bytes as possible without waiting; returns their number. */
static size_t write_some(struct pipe_carrier *p, struct iovec *parts, int n)
{
	ssize_t written;

	do
		written = write_parts(p, parts, n);
	while (written < 0 && errno == EINTR);
	if (written >= 0)
		return (size_t)written;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		p->is_broken = true;
	return 0;
}

/* With two descriptors, request the second one's events only while they are needed. */
static void update_waiting(struct pipe_carrier *p)
{
	struct epoll_event event = { .events = EPOLLOUT };
	bool waits = has_left(p) && !p->is_broken;

	if (p->epoll < 0 || waits == p->waits)
		return;
	if (!epoll_ctl(p->epoll, waits ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, p->out, &event))
		p->waits = waits;
}

static void flush(struct pipe_carrier *p)
{
	while (has_left(p) && !p->is_broken) {
		struct iovec part = { p->left.data + p->left_at, p->left.len - p->left_at };
		size_t n = write_some(p, &part, 1);

		if (!n)
			break;
		p->left_at += n;
	}
	if (!has_left(p)) {
		ot_buf_clear(&p->left);
		p->left_at = 0;
	}
	update_waiting(p);
}

static struct ot_err *closed(void)
{
	return ot_err_os(EPIPE, "the other end closed the connection");
}

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct pipe_carrier *p = pipe_of(c);
	uint8_t length[LENGTH];
	struct iovec parts[] = { { length, LENGTH }, { (void *)(uintptr_t)packet, len } };

	for (unsigned i = 0; i < LENGTH; i++)
		length[i] = (uint8_t)(len >> (8 * i));
	flush(p);
	if (!has_left(p) && !p->is_broken) {
		size_t n = write_some(p, parts, 2);

		if (n < LENGTH)
			ot_buf_append(&p->left, length + n, LENGTH - n);
		n = n > LENGTH ? n - LENGTH : 0;
		ot_buf_append(&p->left, (const uint8_t *)packet + n, len - n);
		/* A partly written packet can't be revoked. */
		p->is_broken |= p->left.failed;
		update_waiting(p);
	}
	return p->is_broken ? closed() : NULL;
}

/* The length of the first packet in the room; 0: not known yet. */
static size_t length_here(const struct pipe_carrier *p)
{
	size_t len = 0;

	if (p->got - p->got_at >= LENGTH)
		for (unsigned i = 0; i < LENGTH; i++)
			len |= (size_t)p->room[p->got_at + i] << (8 * i);
	return len;
}

static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct pipe_carrier *p = pipe_of(c);

	flush(p);
	for (;;) {
		size_t len = length_here(p), have = p->got - p->got_at;

		if (have >= LENGTH && (!len || len > FL_PACKET_MAX))
			return ot_err_new(OT_ERR_BAD_DATA, "the other end announced a packet of %zu bytes",
					  len);
		if (len && have >= LENGTH + len) {
			*ret = p->room + p->got_at + LENGTH;
			*ret_len = len;
			p->got_at += LENGTH + len;
			return NULL;
		}
		memmove(p->room, p->room + p->got_at, have);
		p->got_at = 0;
		p->got = have;

		ssize_t n = read(p->in, p->room + p->got, sizeof(p->room) - p->got);

		if (n > 0) {
			p->got += (size_t)n;
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && !p->is_broken) {
			*ret_len = 0;
			return NULL;
		} else if (n == 0 || errno != EINTR) {
			return closed();
		}
	}
}

size_t fl_pipe_rest(const struct fl_carrier *c, const void **ret)
{
	const struct pipe_carrier *p = (const struct pipe_carrier *)c;

	*ret = p->room + p->got_at;
	return p->got - p->got_at;
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	struct pipe_carrier *p = pipe_of(c);

	*ret_out = p->epoll < 0 && has_left(p) && !p->is_broken;
	return p->epoll < 0 ? p->in : p->epoll;
}

static bool op_busy(struct fl_carrier *c)
{
	struct pipe_carrier *p = pipe_of(c);

	return has_left(p) && !p->is_broken;
}

static void op_destroy(struct fl_carrier *c)
{
	struct pipe_carrier *p = pipe_of(c);

	if (p->epoll >= 0)
		close(p->epoll);
	if (p->out >= 0 && p->out != p->in)
		close(p->out);
	if (p->in >= 0)
		close(p->in);
	ot_buf_deinit(&p->left);
	free(p);
}

static struct ot_err *set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return ot_err_os(errno, "preparing a pipe");
	return NULL;
}

static struct ot_err *prepare(struct pipe_carrier *p)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct stat st;

	OT_TRY(set_nonblocking(p->in));
	OT_TRY(set_nonblocking(p->out));
	p->is_socket = !fstat(p->out, &st) && S_ISSOCK(st.st_mode);
	if (p->in == p->out)
		return NULL;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->in, &event) < 0)
		return ot_err_os(errno, "waiting for a pipe");
	return NULL;
}

struct ot_err *fl_pipe_create(int in, int out, struct fl_carrier **ret)
{
	static const struct fl_carrier_ops ops = {
		.name = "pipe",
		.is_reliable = true,
		.send = op_send,
		.receive = op_receive,
		.busy = op_busy,
		.fd = op_fd,
		.destroy = op_destroy,
	};
	struct pipe_carrier *p = calloc(1, sizeof(*p));

	if (!p) {
		if (out != in)
			close(out);
		close(in);
		return ot_err_nomem();
	}
	*p = (struct pipe_carrier){ .base.ops = &ops, .in = in, .out = out, .epoll = -1 };

	struct ot_err *err = prepare(p);

	if (err) {
		op_destroy(&p->base);
		return err;
	}
	*ret = &p->base;
	return NULL;
}
