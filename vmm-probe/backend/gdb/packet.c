/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of the gdb protocol: framing, checksums, acknowledgements, time-outs. */
#include "vmm-probe/backend/gdb/packet.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REPEATS_MAX  3
#define GARBAGE_MAX  4096
#define SEND_SECONDS 10
/* A run: the character, '*', and the number of repetitions plus 29. */
#define RUN          '*'
#define RUN_BIAS     29
#define ESCAPE       '}'
#define ESCAPE_XOR   0x20

void vp_gdb_conn_init(struct vp_gdb_conn *conn, int fd)
{
	const struct timeval patience = { .tv_sec = SEND_SECONDS };

	*conn = (struct vp_gdb_conn){ .fd = fd };
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

void vp_gdb_conn_deinit(struct vp_gdb_conn *conn)
{
	if (conn->fd >= 0)
		close(conn->fd);
	conn->fd = -1;
}

int vp_gdb_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool vp_gdb_bytes(const char *hex, size_t n, void *dst)
{
	uint8_t *to = dst;

	for (size_t i = 0; i < n; i++) {
		int high = vp_gdb_digit(hex[2 * i]), low = high < 0 ? -1 : vp_gdb_digit(hex[2 * i + 1]);
		if (low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* --- sending ------------------------------------------------------------------------------------------ */

static struct ot_err *gone(int err)
{
	return ot_err_new(OT_ERR_GUEST_GONE, "the connection to the gdb stub is closed%s%s", err ? ": " : "",
			  err ? strerror(err) : "");
}

/* Requests are small: a socket that can't accept one belongs to a stub that hangs. */
static struct ot_err *write_out(struct vp_gdb_conn *conn, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(conn->fd, data, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gone(errno);
		data += n;
		len -= (size_t)n;
	}
	return NULL;
}

static uint8_t checksum(const char *data, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += (uint8_t)data[i];
	return (uint8_t)sum;
}

struct ot_err *vp_gdb_send_after(struct vp_gdb_conn *conn, const char *before, const char *data)
{
	size_t len = strlen(data);

	if (len > VP_GDB_REQUEST_MAX)
		return ot_err_new(OT_ERR_INTERNAL, "a gdb request of %zu bytes", len);
	conn->sent_len = (size_t)snprintf(conn->sent, sizeof(conn->sent), "%.3s$%s#%02x", before, data,
					  checksum(data, len));
	conn->repeats = 0;
	conn->acks = 0;
	return write_out(conn, conn->sent, conn->sent_len);
}

struct ot_err *vp_gdb_send(struct vp_gdb_conn *conn, const char *data)
{
	return vp_gdb_send_after(conn, "", data);
}

struct ot_err *vp_gdb_interrupt(struct vp_gdb_conn *conn)
{
	const char byte = VP_GDB_INTERRUPT;

	return write_out(conn, &byte, 1);
}

static struct ot_err *repeat(struct vp_gdb_conn *conn)
{
	if (++conn->repeats > REPEATS_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub rejects every packet as damaged");
	return write_out(conn, conn->sent, conn->sent_len);
}

/* --- receiving ------------------------------------------------------------------------------------------ */

struct ot_err *vp_gdb_fill(struct vp_gdb_conn *conn)
{
	size_t room = sizeof(conn->in) - conn->have;

	if (!room)
		return NULL;
	ssize_t n = recv(conn->fd, conn->in + conn->have, room, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (n <= 0)
		return gone(n < 0 ? errno : 0);
	conn->have += (size_t)n;
	return NULL;
}

static void drop(struct vp_gdb_conn *conn, size_t n)
{
	conn->have -= n;
	memmove(conn->in, conn->in + n, conn->have);
}

/* Skip input before the next packet: acknowledgements, and bytes without a meaning. */
static struct ot_err *skip_to_packet(struct vp_gdb_conn *conn)
{
	size_t n = 0;
	bool refused = false;

	while (n < conn->have && conn->in[n] != '$') {
		if (conn->in[n] == '-')
			refused = true;
		else if (conn->in[n] == '+')
			conn->acks++;
		else
			conn->garbage++;
		n++;
	}
	drop(conn, n);
	if (conn->garbage > GARBAGE_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the peer does not speak the gdb protocol");
	return refused ? repeat(conn) : NULL;
}

/* @raw without run lengths and escapes. */
static bool decode(const char *raw, size_t len, struct vp_gdb_packet *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned times = 1;
		char c = raw[i];

		if (c == ESCAPE) {
			if (++i == len)
				return false;
			c = (char)(raw[i] ^ ESCAPE_XOR);
		} else if (c == RUN) {
			if (!n || ++i == len || (uint8_t)raw[i] < RUN_BIAS + 3 || (uint8_t)raw[i] > 126)
				return false;
			times = (uint8_t)raw[i] - RUN_BIAS;
			c = ret->data[n - 1];
		}
		if (times > VP_GDB_PACKET_MAX - n)
			return false;
		memset(ret->data + n, c, times);
		n += times;
	}
	ret->data[n] = '\0';
	ret->len = n;
	return true;
}

/* The packet that `in` begins with ends at @hash. *ret_good false: it must be sent again. */
static struct ot_err *take_one(struct vp_gdb_conn *conn, size_t hash, struct vp_gdb_packet *ret,
			       bool *ret_good)
{
	int high = vp_gdb_digit(conn->in[hash + 1]), low = vp_gdb_digit(conn->in[hash + 2]);

	*ret_good = high >= 0 && low >= 0 && (high << 4 | low) == checksum(conn->in + 1, hash - 1) &&
		    decode(conn->in + 1, hash - 1, ret);
	drop(conn, hash + 3);
	if (*ret_good) {
		conn->repeats = 0;
		conn->garbage = 0;
		return write_out(conn, "+", 1);
	}
	if (++conn->repeats > REPEATS_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub sends damaged packets");
	return write_out(conn, "-", 1);
}

struct ot_err *vp_gdb_take(struct vp_gdb_conn *conn, struct vp_gdb_packet *ret, bool *ret_any)
{
	*ret_any = false;
	while (!*ret_any) {
		OT_TRY(skip_to_packet(conn));
		const char *hash = memchr(conn->in, '#', conn->have);
		size_t at = hash ? (size_t)(hash - conn->in) : 0;
		if (!hash && conn->have > VP_GDB_PACKET_MAX + 1)
			return ot_err_new(OT_ERR_BAD_DATA,
					  "the gdb stub sends a packet of more than %d bytes",
					  VP_GDB_PACKET_MAX);
		if (!hash || conn->have < at + 3)
			return NULL;
		OT_TRY(take_one(conn, at, ret, ret_any));
	}
	return NULL;
}

struct ot_err *vp_gdb_receive(struct vp_gdb_conn *conn, int timeout_ms, struct vp_gdb_packet *ret)
{
	uint64_t deadline = ot_now_ns() + (uint64_t)timeout_ms * 1000000u;
	bool any;

	for (;;) {
		OT_TRY(vp_gdb_take(conn, ret, &any));
		if (any)
			return NULL;
		int left = ot_ms_until(deadline);
		struct pollfd fd = { .fd = conn->fd, .events = POLLIN };
		if (!left)
			return ot_err_new(OT_ERR_BUSY, "the gdb stub does not answer");
		if (poll(&fd, 1, left) > 0)
			OT_TRY(vp_gdb_fill(conn));
	}
}

struct ot_err *vp_gdb_wait_heard(struct vp_gdb_conn *conn, int timeout_ms, bool *ret)
{
	uint64_t deadline = ot_now_ns() + (uint64_t)timeout_ms * 1000000u;

	for (;;) {
		OT_TRY(skip_to_packet(conn));
		*ret = conn->acks || conn->have;
		int left = ot_ms_until(deadline);
		struct pollfd fd = { .fd = conn->fd, .events = POLLIN };
		if (*ret || !left)
			return NULL;
		if (poll(&fd, 1, left) > 0)
			OT_TRY(vp_gdb_fill(conn));
	}
}
