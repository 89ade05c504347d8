/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request to a gdb stub and its answer, despite stray and lost packets. */
#ifndef VP_BACKEND_GDB_ASK_H
#define VP_BACKEND_GDB_ASK_H

#include <string.h>

#include "vmm-probe/backend/gdb/stub.h"

/* A stub answers in microseconds; one with another client does not answer at all. */
#define VP_GDB_ANSWER_MS  30000
/* After this time without an answer the fence checks whether the request was lost. */
#define VP_GDB_HEARD_MS   200
#define VP_GDB_STRAYS_MAX 64
#define VP_GDB_FENCE      "qC"
#define VP_GDB_PHYSICAL   "qemu.PhyMemMode"

/* Does @reply mean "no such request"? */
static inline bool vp_gdb_is_empty(const struct vp_gdb_packet *reply)
{
	return reply->len == 0;
}

static inline bool vp_gdb_is_ok(const struct vp_gdb_packet *reply)
{
	return !strcmp(reply->data, "OK");
}

/* E and two digits; an answer that is data has an even length. */
static inline bool vp_gdb_is_error(const struct vp_gdb_packet *reply)
{
	return reply->data[0] == 'E' && reply->len % 2 == 1;
}

static inline bool vp_gdb_is_fence(const struct vp_gdb_packet *reply)
{
	return !strncmp(reply->data, "QC", 2);
}

/** Receive the answer to the last request into stub->reply. BUSY: none in time. */
OT_MUST_CHECK struct ot_err *vp_gdb_answer(struct vp_gdb_stub *stub, int timeout_ms);

/**
 * The last request was not answered in time: was it lost? *ret_answered: it was not, and the answer is in
 * stub->reply. The target is stopped afterwards.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_fence(struct vp_gdb_stub *stub, bool *ret_answered);

/** Send a request, with bytes @p before it; *ret_answered false: it was lost. */
OT_MUST_CHECK struct ot_err *vp_gdb_ask_once(struct vp_gdb_stub *stub, const char *before,
					     const char *request, bool *ret_answered);

/** The same, repeated while it is lost: the answer is in stub->reply. */
OT_MUST_CHECK struct ot_err *vp_gdb_ask(struct vp_gdb_stub *stub, const char *fmt, ...) OT_PRINTF(2, 3);

/** UNSUPPORTED with the message "the gdb stub at NAME @p what". */
OT_MUST_CHECK struct ot_err *vp_gdb_unsupported(const struct vp_gdb_stub *stub, const char *what);

#endif
