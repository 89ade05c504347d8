/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages from one thread to another. */
#include "fleet/link/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ot_err *fl_queue_init(struct fl_queue *q)
{
	*q = (struct fl_queue){ .lock = PTHREAD_MUTEX_INITIALIZER, .last = &q->first };
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return q->fd < 0 ? ot_err_os(errno, "eventfd") : NULL;
}

void fl_queue_deinit(struct fl_queue *q)
{
	struct fl_queued *item;

	while ((item = fl_queue_take(q)))
		free(item);
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
}

static struct fl_queued *copy(const struct fl_broker_message *m)
{
	size_t subject = strlen(m->subject) + 1, reply = m->reply ? strlen(m->reply) + 1 : 0;

	if (subject > FL_BROKER_SUBJECT || reply > FL_BROKER_SUBJECT || m->len > FL_BROKER_MESSAGE)
		return NULL;
	struct fl_queued *item = malloc(sizeof(*item) + subject + reply + m->len);

	if (!item)
		return NULL;
	char *text = item->bytes, *answer = text + subject, *data = answer + reply;

	memcpy(text, m->subject, subject);
	if (reply)
		memcpy(answer, m->reply, reply);
	if (m->len)
		memcpy(data, m->data, m->len);
	item->next = NULL;
	item->message = (struct fl_broker_message){ text, reply ? answer : NULL, data, m->len };
	return item;
}

/* The cost of a message, also of an empty one. */
static size_t cost(const struct fl_queued *item)
{
	return item->message.len + sizeof(*item) + 2 * FL_BROKER_SUBJECT;
}

bool fl_queue_put(struct fl_queue *q, const struct fl_broker_message *m)
{
	struct fl_queued *item = copy(m);

	pthread_mutex_lock(&q->lock);
	bool fits = item && q->bytes + cost(item) <= FL_BROKER_QUEUED;

	if (fits) {
		if (!q->first)
			eventfd_write(q->fd, 1);
		*q->last = item;
		q->last = &item->next;
		q->bytes += cost(item);
	} else {
		q->dropped++;
	}
	pthread_mutex_unlock(&q->lock);
	if (!fits)
		free(item);
	return fits;
}

struct fl_queued *fl_queue_take(struct fl_queue *q)
{
	eventfd_t value;

	pthread_mutex_lock(&q->lock);
	struct fl_queued *item = q->first;

	if (item) {
		q->first = item->next;
		q->bytes -= cost(item);
		if (!q->first) {
			q->last = &q->first;
			eventfd_read(q->fd, &value);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return item;
}
