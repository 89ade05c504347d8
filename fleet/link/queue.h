/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bounded queue of messages between two threads, and a descriptor that is readable while it has one. */
#ifndef FLEET_LINK_QUEUE_H
#define FLEET_LINK_QUEUE_H

#include <pthread.h>

#include "fleet/link/broker.h"

struct fl_queued {
	struct fl_queued *next;
	struct fl_broker_message message; /* all of it is in `bytes` */
	char bytes[];
};

struct fl_queue {
	pthread_mutex_t lock;
	struct fl_queued *first, **last;
	size_t bytes;
	uint64_t dropped;
	int fd; /* an eventfd */
};

OT_MUST_CHECK struct ot_err *fl_queue_init(struct fl_queue *q);
void fl_queue_deinit(struct fl_queue *q);
/** A copy of @p m. False: there is no room, or its subject is too long; it is counted. */
bool fl_queue_put(struct fl_queue *q, const struct fl_broker_message *m);
/** The oldest, to be freed with free(); NULL: it is empty. */
struct fl_queued *fl_queue_take(struct fl_queue *q);

#endif
