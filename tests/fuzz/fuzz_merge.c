/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merger whose operator and hosts say anything, in any order. What is wrong with a host ends that host,
 * what is wrong with the operator the session, and neither anything else.
 *
 * Input: messages, each of who says it (merge_steps.h), its kind, its length in two bytes, and its body.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fleet/merge/internal.h"
#include "tests/fuzz/merge_steps.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOSTS  2u
#define ROUNDS 3u

struct world {
	struct fl_merge_config config;
	struct fl_merge *m;
	struct fl_link *link;            /* the merger's end */
	struct fl_link *ends[1 + HOSTS]; /* the operator's, the hosts' */
	bool is_over, has_sums;
};

static bool ended;

bool fuzz_seed_reached(void)
{
	return ended;
}

/* In memory's shortage, or that of descriptors, nothing is to be found here. */
static void must(struct ot_err *err)
{
	if (err)
		abort();
}

static void make_pair(struct fl_carrier **ret_near, struct fl_carrier **ret_far)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		abort();
	must(fl_pipe_create(ends[0], ends[0], ret_near));
	must(fl_pipe_create(ends[1], ends[1], ret_far));
}

static void open_world(struct world *w)
{
	struct fl_carrier *near, *far;

	*w = (struct world){ .config = { .name = "m1" } };
	make_pair(&near, &far);
	must(fl_link_create(near, NULL, NULL, NULL, &w->link));
	must(fl_link_create(far, NULL, NULL, NULL, &w->ends[0]));
	must(fl_merge_create(w->link, &w->config, &w->m));
}

static void close_world(struct world *w)
{
	fl_merge_destroy(w->m);
	fl_link_destroy(w->link);
	for (unsigned i = 0; i <= HOSTS; i++)
		fl_link_destroy(w->ends[i]);
}

/* A member that is invited has answered. */
static void join(struct world *w)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		struct fl_carrier *near, *far;

		if (w->m->members[i].state != FL_MEMBER_INVITED || w->ends[1 + i])
			continue;
		make_pair(&near, &far);
		must(fl_link_create(far, NULL, NULL, NULL, &w->ends[1 + i]));
		must(fl_members_join(w->m, &w->m->members[i], near, NULL));
	}
}

/* What a merger says is right, whatever is said to it. */
static void listen_to(struct world *w)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	while (fl_link_receive(w->ends[0], &kind, &data, &len)) {
		struct ot_arena arena;
		struct fl_of of;

		w->has_sums |= kind == FL_AGGREGATES;
		ended |= kind == FL_ENDED && w->has_sums;
		if (kind != FL_OF)
			continue;
		ot_arena_init(&arena);
		must(fl_get_of(data, len, &arena, &of));
		ended |= of.kind == FL_ENDED && w->has_sums;
		ot_arena_deinit(&arena);
	}
}

static void work(struct world *w)
{
	for (unsigned i = 0; i < ROUNDS && !w->is_over; i++) {
		w->m->opts.aggrate_ns = 0;
		struct ot_err *err = fl_merge_step(w->m);

		w->is_over = err || w->m->stopped || w->m->broken;
		ot_err_destroy(err);
		join(w);
		for (unsigned k = 0; k <= HOSTS; k++)
			if (w->ends[k])
				ot_err_destroy(fl_link_poll(w->ends[k]));
		listen_to(w);
	}
}

static void take_step(struct world *w, const struct merge_step *step, const uint8_t *body)
{
	struct fl_link *end = w->ends[step->who % (1 + HOSTS)];
	const enum fl_kind kind = (enum fl_kind)(1 + step->kind % FL_GONE);

	if (!end)
		return;
	ot_err_destroy(fl_link_send(end, kind, body, step->len));
	ot_err_destroy(fl_link_poll(end));
	work(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct merge_step step;
	struct world w;

	ended = false;
	open_world(&w);
	while (!w.is_over && merge_step_get(&data, &size, &step)) {
		const uint32_t len = step.len;
		uint8_t *body = malloc(len + 1u); /* to the byte */

		if (!body)
			abort();
		memcpy(body, data, len);
		take_step(&w, &step, body);
		free(body);
		data += len;
		size -= len;
	}
	close_world(&w);
	return 0;
}
