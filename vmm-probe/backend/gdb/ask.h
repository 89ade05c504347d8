/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request to a gdb stub, and its answer, whatever comes in between and whatever is lost. */
#ifndef VP_BACKEND_GDB_ASK_H
#define VP_BACKEND_GDB_ASK_H

#include <string.h>

#include "vmm-probe/backend/gdb/stub.h"

/* A stub answers in microseconds; one with another client does not answer at all. */
#define VP_GDB_ANSWER_MS  30000
/* An answer that is not there then may never come: it is looked into. */
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

/** The answer to what was sent, into stub->reply. BUSY: none in time. */
OT_MUST_CHECK struct ot_err *vp_gdb_answer(struct vp_gdb_stub *stub, int timeout_ms);

/**
 * What was sent last was not answered in time: is that slowness, or was it lost? *ret_answered: the answer is
 * in stub->reply after all. The target stands still.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_fence(struct vp_gdb_stub *stub, bool *ret_answered);

/** Send a request, with bytes @p before it; *ret_answered false: it was lost. */
OT_MUST_CHECK struct ot_err *vp_gdb_ask_once(struct vp_gdb_stub *stub, const char *before,
					     const char *request, bool *ret_answered);

/** The same as often as it is lost: the answer is in stub->reply. */
OT_MUST_CHECK struct ot_err *vp_gdb_ask(struct vp_gdb_stub *stub, const char *fmt, ...) OT_PRINTF(2, 3);

/** UNSUPPORTED: the stub @p what, a verb and the rest. */
OT_MUST_CHECK struct ot_err *vp_gdb_unsupported(const struct vp_gdb_stub *stub, const char *what);

#endif
