/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fleet that is collected for somebody else: a merger's (fleet/merge/). Its hosts are read and judged as an
 * operator's are, and what they have handed over is passed on as it came. One host's fault is that host's
 * end, never the fleet's.
 *
 *   create (config.relay) ─► add … ─► take after each poll; in between, as the operator says: bind, START and
 *   STOP of each host ─► destroy
 *
 * fl_fleet_prepare(), start() and stop() are not used: they wait for all hosts together.
 */
#ifndef FLEET_OPERATOR_RELAY_H
#define FLEET_OPERATOR_RELAY_H

#include "fleet/operator/fleet.h"

struct fl_relay {
	/** A message of a host, in order, after it was taken and found right and the sink has what is in it.
	 * REFUSED and ENDED come even if they end the host by an error, which `lost` says next. @p data lasts
	 * for the call. BAD_DATA or LIMIT: it is the host's fault, and its end;
	 * another error ends fl_fleet_take(). NULL: none. */
	struct ot_err *(*message)(void *arg, uint32_t host, enum fl_kind kind, const void *data, size_t len);
	/** Nothing more comes of a host, for @p why; @p silent_ns: since when nothing was heard. */
	void (*lost)(void *arg, uint32_t host, uint64_t silent_ns, const char *why);
	void *arg;
	const char *name; /* what hosts hear who asks; NULL: this process's user and machine */
};

/** A host that has taken its invitation, and gets the message RUN @p run (copied). @p carrier and @p seal
 * become the fleet's, also after an error. *ret: the host's number in this fleet; its guests are those from
 * fl_relay_guest(*ret, 0) on. */
OT_MUST_CHECK struct ot_err *fl_relay_add(struct fl_fleet *fleet, struct fl_carrier *carrier,
					  struct fl_seal *seal, const char *name, struct fl_bytes run,
					  uint32_t *ret);
static inline uint32_t fl_relay_guest(uint32_t host, uint32_t guest)
{
	return FL_GUEST_BASE + host * VP_GUESTS_MAX + guest;
}
static inline uint32_t fl_relay_host(uint32_t guest)
{
	return (guest - FL_GUEST_BASE) / VP_GUESTS_MAX;
}

/** Send START, once it is READY and the fleet is bound, or STOP. BAD_DATA: it is not its turn. Nothing for a
 * host that is over, or was told already. */
OT_MUST_CHECK struct ot_err *fl_relay_tell(struct fl_fleet *fleet, uint32_t host, enum fl_kind kind);
/** Has it handed over everything, or is it lost? */
bool fl_relay_is_over(const struct fl_fleet *fleet, uint32_t host);
/** Give a host up: `lost` is called, and its link is closed, which has it take its probes out. */
void fl_relay_drop(struct fl_fleet *fleet, uint32_t host, const char *why);

/** What a host's EPID means; NULL: nothing. */
const struct vp_enabled *fl_relay_enabled(const struct fl_fleet *fleet, uint32_t host, uint32_t epid);
/** The message PROGRAM, as it came, that @p ecb, of a host of this fleet's, was enabled by. */
struct fl_bytes fl_relay_program(const struct fl_fleet *fleet, const struct vp_enabled *ecb);
/** "h1/web01", as fl_host_qualify() puts it into keys; NULL: there is no such guest. */
const char *fl_relay_guest_name(const struct fl_fleet *fleet, uint32_t guest);
/** What a number of @p guest's host stands for. *ret_note "": nothing further. False: it has not said. */
bool fl_relay_name(const struct fl_fleet *fleet, uint32_t guest, uint64_t number, const char **ret_text,
		   const char **ret_note);

#endif
