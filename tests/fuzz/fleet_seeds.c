/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the seeds of fuzz_message or fuzz_link: a message of each kind, made from its struct; and what
 * happens to a link that talks to an honest one.
 *
 *   fleet_seeds DIRECTORY message|link
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/link/link.h"
#include "tests/fuzz/link_steps.h"
#include "tests/fuzz/seed_file.h"
#include "tests/unit/fleet_messages.h"

static void check(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "fleet_seeds: %s\n", ot_err_message(err));
	exit(1);
}

static void write_messages(const char *directory)
{
	for (unsigned i = 0; i < FLEET_KINDS; i++) {
		struct ot_buf seed = { 0 };
		char name[32];

		fl_put_u8(&seed, (uint8_t)i);
		fleet_kinds[i].write(&seed);
		snprintf(name, sizeof(name), "%u-%s", i, fl_kind_name(fleet_kinds[i].kind));
		seed_write(directory, name, &seed);
		ot_buf_deinit(&seed);
	}
}

/* An end of a link in memory. What arrives at the recorded one is a step of the seed. */
struct end {
	struct fl_carrier base;
	struct end *other;
	struct ot_buf coming[64], lent;
	unsigned ncoming, nsent;
	unsigned lost;         /* of so many packets of this end one is lost; 0: none */
	struct ot_buf *record; /* or NULL */
};

static uint64_t now;

static uint64_t the_time(void *arg)
{
	(void)arg;
	return now;
}

static void put_step(struct ot_buf *seed, enum link_step step, size_t n)
{
	fl_put_u8(seed, (uint8_t)step);
	fl_put_u8(seed, (uint8_t)n);
	fl_put_u8(seed, (uint8_t)(n >> 8));
}

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct end *end = (struct end *)c, *to = end->other;

	if (end->lost && !(++end->nsent % end->lost))
		return NULL;
	if (to->ncoming < OT_ARRAY_SIZE(to->coming))
		ot_buf_append(&to->coming[to->ncoming++], packet, len);
	if (to->record) {
		put_step(to->record, LINK_PACKET, len);
		ot_buf_append(to->record, packet, len);
	}
	return NULL;
}

static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct end *end = (struct end *)c;

	ot_buf_deinit(&end->lent);
	*ret_len = 0;
	if (!end->ncoming)
		return NULL;
	end->lent = end->coming[0];
	end->ncoming--;
	memmove(&end->coming[0], &end->coming[1], end->ncoming * sizeof(end->coming[0]));
	memset(&end->coming[end->ncoming], 0, sizeof(end->coming[0]));
	*ret = end->lent.data;
	*ret_len = end->lent.len;
	return NULL;
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	(void)c;
	*ret_out = false;
	return -1;
}

static void op_destroy(struct fl_carrier *c)
{
	ot_buf_deinit(&((struct end *)c)->lent);
}

/* The recorded link asks, the other one answers with a message of each kind, until everything is
 * acknowledged. */
static void write_link(const char *directory, const char *name, unsigned lost, bool one_by_one)
{
	static const struct fl_carrier_ops ops = {
		.name = "seed", .send = op_send, .receive = op_receive, .fd = op_fd, .destroy = op_destroy
	};
	static const uint8_t request[100];
	struct end ends[2] = { { .base.ops = &ops, .lost = lost }, { .base.ops = &ops, .lost = lost } };
	struct fl_link *links[2];
	struct ot_buf seed = { 0 };
	unsigned said = 0;

	now = 1;
	for (unsigned i = 0; i < 2; i++) {
		ends[i].other = &ends[!i];
		check(fl_link_create(&ends[i].base, NULL, the_time, NULL, &links[i]));
	}
	ends[0].record = &seed;
	put_step(&seed, LINK_SEND, sizeof(request));
	check(fl_link_send(links[0], FL_SAY, request, sizeof(request)));
	while (said < FLEET_KINDS || fl_link_pending(links[0]) || fl_link_pending(links[1])) {
		enum fl_kind kind;
		const void *data;
		size_t len;

		put_step(&seed, LINK_POLL, 1);
		check(fl_link_poll(links[0]));
		while (fl_link_receive(links[0], &kind, &data, &len))
			;
		for (unsigned i = 0; said < FLEET_KINDS && (!i || !one_by_one); i++) {
			struct ot_buf message = { 0 };

			fleet_kinds[said].write(&message);
			check(fl_link_send(links[1], (enum fl_kind)fleet_kinds[said++].kind, message.data,
					   message.len));
			ot_buf_deinit(&message);
		}
		check(fl_link_poll(links[1]));
		now += 100000000;
		put_step(&seed, LINK_TIME, 100);
	}
	seed_write(directory, name, &seed);
	fl_link_destroy(links[0]);
	fl_link_destroy(links[1]);
	for (unsigned i = 0; i < 2; i++)
		while (ends[i].ncoming)
			ot_buf_deinit(&ends[i].coming[--ends[i].ncoming]);
	ot_buf_deinit(&seed);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (!strcmp(argv[2], "message")) {
		write_messages(argv[1]);
	} else {
		write_link(argv[1], "at-once", 0, false);
		write_link(argv[1], "one-by-one", 0, true);
		write_link(argv[1], "lossy", 5, true);
	}
	return 0;
}
