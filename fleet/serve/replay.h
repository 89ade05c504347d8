/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Used invitations, so that none is accepted twice. Until they expire they are kept in a file, which is
 * written before one takes effect, so that they survive a restart.
 *
 * Only invitations that a known operator signed are stored, and each operator has room for FL_REPLAY_EACH of
 * them in the hour that one may be valid, which others can't use up.
 */
#ifndef FLEET_SERVE_REPLAY_H
#define FLEET_SERVE_REPLAY_H

#include "fleet/serve/conf.h"
#include "fleet/trust/sign.h"

#define FL_REPLAY_EACH 1024u
#define FL_REPLAY_MAX  (FL_REPLAY_EACH * FL_OPERATORS_MAX)

struct fl_replay;

/** Open the file "replayed" in the folder @p state, for one process only: BUSY. Invitations that have expired
 * at @p now (seconds since 1970) are removed. */
OT_MUST_CHECK struct ot_err *fl_replay_open(const char *state, uint64_t now, struct fl_replay **ret);
void fl_replay_close(struct fl_replay *replay);
/** Record an invitation. NULL: it was not used before, and is on the disk now. PERMISSION: it was used.
 * LIMIT: the operator has sent too many. OS: it can't be written, and must not take effect. */
OT_MUST_CHECK struct ot_err *fl_replay_take(struct fl_replay *replay, const struct fl_request *request,
					    uint64_t now);

#endif
