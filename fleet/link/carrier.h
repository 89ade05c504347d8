/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What carries a link's packets: a pair of pipes, a NATS subject, a test's queue. Packets have at most
 * FL_PACKET_MAX bytes and arrive whole or not at all, perhaps twice, perhaps in another order.
 */
#ifndef FLEET_LINK_CARRIER_H
#define FLEET_LINK_CARRIER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define FL_PACKET_MAX (256u << 10)

struct fl_carrier;

struct fl_carrier_ops {
	const char *name; /* "pipe", "nats" */
	/* Accepted packets arrive, in order, and while busy() is false every packet is accepted. The link
	 * then never resends, however slow the other side is. */
	bool is_reliable;
	/** Never waits: a packet that can't be accepted now is lost, and the link sends it again. An error:
	 * nothing can be sent any more. */
	struct ot_err *(*send)(struct fl_carrier *c, const void *packet, size_t len);
	/** Is an earlier packet still being sent? Then nothing is sent until the descriptor is writable.
	 * NULL: never. */
	bool (*busy)(struct fl_carrier *c);
	/** The next packet, borrowed until the next call; *ret_len 0: there is none now. GUEST_GONE is never
	 * used; OS: the other end closed the connection. */
	struct ot_err *(*receive)(struct fl_carrier *c, const void **ret, size_t *ret_len);
	/** Readable when receive() may have a packet; and writable, if *ret_out, when more can be sent. */
	int (*fd)(struct fl_carrier *c, bool *ret_out);
	/** Text besides packets, such as ssh's reason for ending, goes to @p say, from within receive():
	 * lines of unknown content, without control characters. NULL: there is none. */
	void (*listen)(struct fl_carrier *c, void (*say)(void *arg, const char *line), void *arg);
	void (*destroy)(struct fl_carrier *c);
};

/* The first member of a carrier's own state. */
struct fl_carrier {
	const struct fl_carrier_ops *ops;
};

/** pipe.c: packets with a u32 length in front over @p in and @p out, which are made non-blocking and become
 * the carrier's, also after an error; they may be the same socket. */
OT_MUST_CHECK struct ot_err *fl_pipe_create(int in, int out, struct fl_carrier **ret);

/** Bytes received by a pipe carrier that are not a packet yet; borrowed until its next receive(). */
size_t fl_pipe_rest(const struct fl_carrier *c, const void **ret);

/** ssh.c: run `ssh HOST outsight-serve --stdio` and talk to it; the process ends with the carrier. @p host as
 * ssh takes it ("user@host"), checked not to begin with '-'. $OUTSIGHT_SSH, if set, replaces the words before
 * HOST, split at spaces: FL_SSH_WORDS. */
OT_MUST_CHECK struct ot_err *fl_ssh_create(const char *host, struct fl_carrier **ret);

/* Without a terminal, because several hosts could ask at once, and without options of the user's
 * configuration that are for interactive sessions. */
#define FL_SSH_WORDS \
	"ssh -T -o BatchMode=yes -o ConnectTimeout=10 -o RemoteCommand=none -o ClearAllForwardings=yes"

static inline void fl_carrier_destroy(struct fl_carrier *c)
{
	if (c)
		c->ops->destroy(c);
}

#endif
