/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message of each kind, with everything that it can have, for tests and for seeds of fuzzers. */
#ifndef TESTS_UNIT_FLEET_MESSAGES_H
#define TESTS_UNIT_FLEET_MESSAGES_H

#include "fleet/wire/message.h"

struct fleet_kind {
	unsigned kind;
	/** Append the message. */
	void (*write)(struct ot_buf *out);
	/** Read all of a message of that kind, and append it as it was read. */
	struct ot_err *(*rewrite)(const void *data, size_t len, struct ot_arena *arena, struct ot_buf *out);
};

#define FLEET_KINDS 19

extern const struct fleet_kind fleet_kinds[FLEET_KINDS];

/* Some of these messages. */
extern const struct fl_hello fleet_hello;
extern const struct fl_run fleet_run;
extern const struct fl_say fleet_say;
extern const struct fl_ended fleet_ended;
extern const struct fl_member fleet_member;
extern const struct fl_of fleet_of;

#endif
