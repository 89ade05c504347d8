/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's own view as a text that the operator has of it: what ps, lsmod, ss or ldd printed there, or
 * /proc/modules, /proc/net/tcp and its like, /proc/mounts, /proc/PID/maps. Which one it is, its first line
 * tells. The bytes are the guest's: a line that cannot be one of them is an error, and nothing is guessed.
 */
#ifndef CONSUMER_INSIDE_H
#define CONSUMER_INSIDE_H

#include "base/buf.h"
#include "consumer/hidden.h"

#define CON_INSIDE_BYTES_MAX (64u << 20) /* of a text */

struct con_inside {
	const struct con_hidden_kind *kind; /* what it lists */
	struct vp_census seen;              /* CON_HIDDEN_TEXT is its way */
	uint32_t sockets; /* which of them it lists, a bit each: TCP, TCP on IPv6, UDP, UDP on IPv6 */
	bool by_soname;   /* it has libraries by the names that programs ask for, as ldd does */
};

/** Read the descriptor @p fd to its end, into @p out. LIMIT: more than CON_INSIDE_BYTES_MAX. @p name is for
 * messages. */
OT_MUST_CHECK struct ot_err *con_inside_load(int fd, const char *name, struct ot_buf *out);

/** Take a text of @p len bytes apart. BAD_DATA, with the line: it is none of those above. UNSUPPORTED: it
 * does not list all that there is; the message says which command does. The caller deinits *ret in any case.
 */
OT_MUST_CHECK struct ot_err *con_inside_read(const char *name, const char *text, size_t len,
					     struct con_inside *ret);
void con_inside_deinit(struct con_inside *in);

/** Add what the text lists to @p seen, which is of the same kind and from outside, and join both. What such a
 * text never lists is taken out: it is not compared. */
OT_MUST_CHECK struct ot_err *con_inside_join(const struct con_inside *in, struct vp_census *seen);

#endif
