/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request to the stub and its answer: retries, stray packets, and lost ones. */
#include "vmm-probe/backend/gdb/ask.h"

#include <stdarg.h>
#include <stdio.h>

#define REPEATS_MAX 20

/* Hexadecimal text of a monitor: "VM status: paused (debug)"? */
static bool reports_debug(const struct vp_gdb_packet *r)
{
	char text[128] = "";
	size_t n = (r->len - 1) / 2;

	n = n < sizeof(text) - 1 ? n : sizeof(text) - 1;
	return vp_gdb_bytes(r->data + 1, n, text) && strstr(text, "(debug)");
}

/* Packets that are not an answer: the target's output, and unexpected stop replies. */
static struct ot_err *is_stray(struct vp_gdb_stub *stub, const struct vp_gdb_packet *r, bool *ret)
{
	struct vp_gdb_stop stop;

	*ret = false;
	if (r->data[0] == 'O' && !vp_gdb_is_ok(r)) {
		stub->said_debug |= reports_debug(r);
		*ret = true;
		return NULL;
	}
	if (r->data[0] != 'T' && r->data[0] != 'S' && r->data[0] != 'W' && r->data[0] != 'X')
		return NULL;
	OT_TRY(vp_gdb_parse_stop(stub, r, ret, &stop));
	stub->stops += *ret;
	return NULL;
}

/* Receive the answer to the last request into stub->reply. */
struct ot_err *vp_gdb_answer(struct vp_gdb_stub *stub, int timeout_ms)
{
	bool stray = true;

	for (unsigned i = 0; stray; i++) {
		if (i == VP_GDB_STRAYS_MAX)
			return ot_err_new(OT_ERR_BAD_DATA,
					  "the gdb stub sends packets that answer no request");
		OT_TRY(vp_gdb_receive(&stub->conn, timeout_ms, &stub->reply));
		OT_TRY(is_stray(stub, &stub->reply, &stray));
	}
	return NULL;
}

/*
 * The last request was not answered in time: the stub is slow, or the request was lost. A stub whose target
 * runs, because another client resumed it, takes the first byte of a packet for an interrupt, drops the
 * others and does not answer (QEMU since 8.1; before, a stop reply). So a request with a distinctive answer
 * is sent, after bytes that stop the target in any state. Earlier requests are answered first. Afterwards the
 * target is stopped. *ret_answered: the answer is in stub->reply after all.
 */
struct ot_err *vp_gdb_fence(struct vp_gdb_stub *stub, bool *ret_answered)
{
	bool stray;

	*ret_answered = false;
	OT_TRY(vp_gdb_send_after(&stub->conn, VP_GDB_HALT, VP_GDB_FENCE));
	for (unsigned i = 0; i < VP_GDB_STRAYS_MAX; i++) {
		OT_TRY(vp_gdb_receive(&stub->conn, VP_GDB_ANSWER_MS, &stub->aside));
		if (vp_gdb_is_fence(&stub->aside)) {
			/* two: the earlier request was only late */
			bool lost = !*ret_answered && stub->conn.acks < 2;
			stub->lost += lost;
			stub->meddled |= lost;
			return NULL;
		}
		OT_TRY(is_stray(stub, &stub->aside, &stray));
		if (!stray) {
			stub->reply = stub->aside;
			*ret_answered = true;
		}
	}
	return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub sends packets that answer no request");
}

/* Send a request; *ret_answered false: it was lost. */
struct ot_err *vp_gdb_ask_once(struct vp_gdb_stub *stub, const char *before, const char *request,
			       bool *ret_answered)
{
	OT_TRY(vp_gdb_send_after(&stub->conn, before, request));
	struct ot_err *err = vp_gdb_answer(stub, stub->has_fence ? VP_GDB_HEARD_MS : VP_GDB_ANSWER_MS);
	*ret_answered = !err;
	if (!err || ot_err_code(err) != OT_ERR_BUSY || !stub->has_fence)
		return err;
	ot_err_destroy(err);
	return vp_gdb_fence(stub, ret_answered);
}

/* Repeated while it is lost: the target may be resumed by another client at any moment, but not each time. */
struct ot_err *vp_gdb_ask(struct vp_gdb_stub *stub, const char *fmt, ...)
{
	char request[VP_GDB_REQUEST_MAX];
	bool answered = false;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(request, sizeof(request), fmt, ap);
	va_end(ap);
	for (unsigned i = 0; !answered; i++) {
		if (i == REPEATS_MAX)
			return ot_err_new(OT_ERR_BUSY, "the gdb stub loses every packet");
		OT_TRY(vp_gdb_ask_once(stub, "", request, &answered));
	}
	return NULL;
}

struct ot_err *vp_gdb_unsupported(const struct vp_gdb_stub *stub, const char *what)
{
	return ot_err_new(OT_ERR_UNSUPPORTED, "the gdb stub at %s %s", stub->name, what);
}
