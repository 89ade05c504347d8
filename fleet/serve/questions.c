/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that can't be answered yet. */
#include <stdio.h>
#include <string.h>

#include "fleet/serve/serve.h"

void fl_questions_add(struct fl_questions *q, const struct fl_broker_message *m)
{
	struct fl_question *item = &q->items[q->count];

	if (q->count == FL_QUESTIONS_MAX || m->len > FL_REQUEST_MAX ||
	    strlen(m->reply) >= sizeof(item->reply))
		return;
	ot_buf_init(&item->data);
	ot_buf_append(&item->data, m->data, m->len);
	snprintf(item->reply, sizeof(item->reply), "%s", m->reply);
	if (item->data.failed)
		ot_buf_deinit(&item->data);
	else
		q->count++;
}

void fl_questions_answer(struct fl_questions *q, void (*take)(void *arg, const struct fl_broker_message *m),
			 void *arg)
{
	/* removed first: questions that need another list are queued again */
	struct fl_questions now = *q;

	q->count = 0;
	for (unsigned i = 0; i < now.count; i++) {
		const struct fl_question *item = &now.items[i];

		take(arg, &(struct fl_broker_message){
			      .reply = item->reply, .data = item->data.data, .len = item->data.len });
	}
	fl_questions_clear(&now);
}

void fl_questions_clear(struct fl_questions *q)
{
	for (unsigned i = 0; i < q->count; i++)
		ot_buf_deinit(&q->items[i].data);
	q->count = 0;
}
