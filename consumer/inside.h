/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's own view as a text that the operator has: the output of ps, lsmod, ss or ldd there, or
 * /proc/modules, /proc/net/tcp and its like, /proc/mounts, /proc/PID/maps. The first line identifies the
 * kind. The bytes are the guest's: a line that does not fit the kind is an error, and nothing is guessed.
 */
#ifndef CONSUMER_INSIDE_H
#define CONSUMER_INSIDE_H

#include "base/buf.h"
#include "consumer/hidden.h"

#define CON_INSIDE_BYTES_MAX (64u << 20) /* of a text */

struct con_inside {
	const struct con_hidden_kind *kind; /* what it lists */
	struct vp_census seen;              /* CON_HIDDEN_TEXT is its way */
	uint32_t
	    sockets; /* the kinds of sockets that it lists, a bit each: TCP, TCP on IPv6, UDP, UDP on IPv6 */
	bool by_soname; /* it names libraries as programs request them, as ldd does */
};

/** Read the descriptor @p fd to its end, into @p out. LIMIT: more than CON_INSIDE_BYTES_MAX. @p name is for
 * messages. */
OT_MUST_CHECK struct ot_err *con_inside_load(int fd, const char *name, struct ot_buf *out);

/** Parse a text of @p len bytes. BAD_DATA, with the line: it is of no kind above. UNSUPPORTED: the list is
 * incomplete by its command; the message names a command that lists everything. The caller deinits *ret in
 * any case.
 */
OT_MUST_CHECK struct ot_err *con_inside_read(const char *name, const char *text, size_t len,
					     struct con_inside *ret);
void con_inside_deinit(struct con_inside *in);

/** Add the text's items to @p seen, which is of the same kind and from outside, and join both. Items that
 * such a text never lists are removed, and not compared. */
OT_MUST_CHECK struct ot_err *con_inside_join(const struct con_inside *in, struct vp_census *seen);

#endif
