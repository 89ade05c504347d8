/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of a host's messages: a link of its own, or the link of the merger that collects from it
 * (merger.c), which delivers the host's messages and has the deadlines.
 */
#ifndef FLEET_OPERATOR_CHANNEL_H
#define FLEET_OPERATOR_CHANNEL_H

#include "fleet/link/link.h"

struct fl_channel;

struct fl_channel_ops {
	struct ot_err *(*send)(struct fl_channel *c, enum fl_kind kind, const void *data, size_t len);
	/** Bytes that are sent and not acknowledged. */
	size_t (*pending)(const struct fl_channel *c);
	/** As of a link. NULL: messages are delivered by the merger. */
	struct ot_err *(*poll)(struct fl_channel *c);
	bool (*receive)(struct fl_channel *c, enum fl_kind *ret_kind, const void **ret_data, size_t *ret_len);
	int (*fd)(struct fl_channel *c, short *ret_events);
	uint64_t (*due_ns)(const struct fl_channel *c);
	uint64_t (*silence_ns)(const struct fl_channel *c);
	void (*destroy)(struct fl_channel *c);
};

/* The first member of a channel's own state. */
struct fl_channel {
	const struct fl_channel_ops *ops;
};

/** A link over @p carrier; that and @p seal (NULL) become the channel's, also after an error. */
OT_MUST_CHECK struct ot_err *fl_channel_open(struct fl_carrier *carrier, struct fl_seal *seal,
					     struct fl_channel **ret);

static inline void fl_channel_destroy(struct fl_channel *c)
{
	if (c)
		c->ops->destroy(c);
}

/** Does it have a descriptor and deadlines of its own? */
static inline bool fl_channel_is_link(const struct fl_channel *c)
{
	return c && c->ops->poll;
}

#endif
