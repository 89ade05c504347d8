/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of the remote serial protocol: `$data#checksum`, always acknowledged by + or -, by which lost
 * packets are detected. Input is hostile: lengths, checksums, run lengths and escapes are checked, and a
 * packet is a text of bounded size or an error. GDB's manual, appendix "GDB Remote Serial Protocol".
 *
 * One thread at a time uses a connection.
 */
#ifndef VP_BACKEND_GDB_PACKET_H
#define VP_BACKEND_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define VP_GDB_PACKET_MAX  16384 /* data of a received packet */
#define VP_GDB_REQUEST_MAX 1024  /* data of a sent packet */
#define VP_GDB_INTERRUPT   0x03  /* a byte outside of packets: stop the target */
/*
 * Stop the target in any state of the stub: a + for a reply of its own that waits for its acknowledgement,
 * until which it ignores an interrupt, between two interrupts. The first is for a running target. QEMU then
 * takes any byte for an interrupt, but since 8.1 ends a single step in progress only at the stop reply to
 * 0x03 (gdbstub/system.c, gdb_vm_state_change()); a vCPU that kept stepping would stop after a detach.
 */
#define VP_GDB_HALT        "\003+\003"

struct vp_gdb_packet {
	size_t len;
	char data[VP_GDB_PACKET_MAX + 1]; /* decoded; NUL-terminated, and may contain NULs */
};

struct vp_gdb_conn {
	int fd;           /* -1: none */
	unsigned acks;    /* since the last packet was sent */
	unsigned repeats; /* of the current packet, sent or received */
	size_t garbage;   /* bytes outside of packets, since the last packet */
	size_t have;
	char in[2 * VP_GDB_PACKET_MAX]; /* received and not yet parsed */
	size_t sent_len;
	char sent[VP_GDB_REQUEST_MAX +
		  8]; /* the last packet, whole, with the bytes before it; NUL-terminated */
};

struct vp_gdb_keeper;

/** "HOST:PORT", "[ADDRESS]:PORT" or the path of a UNIX socket. A stub stops the target when a client
 * connects, so @p keeper is started before; after an error there is none. NOT_FOUND: nothing listens there.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_connect(const char *where, struct vp_gdb_keeper *keeper, int *ret_fd);

/** Take over @p fd. */
void vp_gdb_conn_init(struct vp_gdb_conn *conn, int fd);
void vp_gdb_conn_deinit(struct vp_gdb_conn *conn);

/** Send a packet: text without $, #, } and *. GUEST_GONE: the connection is closed. */
OT_MUST_CHECK struct ot_err *vp_gdb_send(struct vp_gdb_conn *conn, const char *data);
OT_MUST_CHECK struct ot_err *vp_gdb_interrupt(struct vp_gdb_conn *conn);
/** A packet with the bytes @p before it, three at most, in one write: nothing is sent in between. */
OT_MUST_CHECK struct ot_err *vp_gdb_send_after(struct vp_gdb_conn *conn, const char *before,
					       const char *data);

/** Read available input, without waiting. GUEST_GONE: the connection is closed. */
OT_MUST_CHECK struct ot_err *vp_gdb_fill(struct vp_gdb_conn *conn);

/** The next packet in the input. *ret_any false: there is no whole one. BAD_DATA: one that is too long, or
 * damaged three times. */
OT_MUST_CHECK struct ot_err *vp_gdb_take(struct vp_gdb_conn *conn, struct vp_gdb_packet *ret, bool *ret_any);

/** The next packet, waiting for it. BUSY: none arrived within @p timeout_ms. */
OT_MUST_CHECK struct ot_err *vp_gdb_receive(struct vp_gdb_conn *conn, int timeout_ms,
					    struct vp_gdb_packet *ret);

/** Wait until the sent packet is acknowledged, or another one arrives. *ret false: neither did in time. */
OT_MUST_CHECK struct ot_err *vp_gdb_wait_heard(struct vp_gdb_conn *conn, int timeout_ms, bool *ret);

/* --- hexadecimal text -------------------------------------------------------------------------------- */

/** The value of a digit, or -1. */
int vp_gdb_digit(char c);
/** Exactly @p n bytes from 2 * @p n digits; false: others than digits. */
bool vp_gdb_bytes(const char *hex, size_t n, void *dst);

#endif
