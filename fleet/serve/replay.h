/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invitations that this host has taken, so that none is taken twice. They are kept in a file, written before
 * one is acted upon, until they have expired: a restart does not forget.
 *
 * Only what a known operator has signed comes here, and each has a part of the room that the others can't use
 * up: FL_REPLAY_EACH invitations within the hour that one may hold.
 */
#ifndef FLEET_SERVE_REPLAY_H
#define FLEET_SERVE_REPLAY_H

#include "fleet/serve/conf.h"
#include "fleet/trust/sign.h"

#define FL_REPLAY_EACH 1024u
#define FL_REPLAY_MAX  (FL_REPLAY_EACH * FL_OPERATORS_MAX)

struct fl_replay;

/** The file "replayed" in the folder @p state; the process that has it open is the only one: BUSY. Those that
 * have expired at @p now (seconds since 1970) are forgotten. */
OT_MUST_CHECK struct ot_err *fl_replay_open(const char *state, uint64_t now, struct fl_replay **ret);
void fl_replay_close(struct fl_replay *replay);
/** Is this the first time? Then it is on the disk when this returns. PERMISSION: no. LIMIT: the operator has
 * sent too many. OS: it can't be written, and must not be acted upon. */
OT_MUST_CHECK struct ot_err *fl_replay_take(struct fl_replay *replay, const struct fl_request *request,
					    uint64_t now);

#endif
