/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages of a fleet, between an operator and a worker on a host. Integers are little-endian; a text is
 * a u32 length and its bytes, without a NUL. What comes from the other side is hostile: a reader bounds every
 * length, and a message that is not whole is BAD_DATA as a whole.
 *
 *   operator                      host
 *   HELLO ──────────────────────► ◄────────────── HELLO
 *   RUN ────────────────────────►
 *                                 ◄────────────── REFUSED, or GUEST …, PROGRAM, ENABLED …, READY
 *   START ──────────────────────►
 *                                 ◄────────────── STARTED, then NAMES, AGGREGATES, RECORDS, FAULTS, DROPS,
 *                                                 GUEST, PROGRAM, ENABLED, SAY in any order
 *   STOP ───────────────────────►
 *                                 ◄────────────── the rest, ENDED
 *
 * PROGRAM comes again, with more clauses behind those that there are, when a guest joins whose kernel is new.
 * A name, an EPID or a guest is sent before anything that refers to it.
 *
 * Between an operator and a merger (fleet/merge/merge.h), which is in the place of the host:
 *
 *   operator                      merger
 *   HELLO ──────────────────────► ◄────────────── HELLO
 *   MEMBER, for each host ──────►
 *                                 ◄────────────── GUEST, itself; OF(HELLO, REFUSED, GUEST, SAY, READY) of
 *                                                 each, or GONE; OF(PROGRAM) before the READY of the first
 *                                                 member that has it
 *   PROGRAM, the operator's own ►
 *   OF(START) for each ─────────►
 *                                 ◄────────────── OF(STARTED), then OF(what a host hands over, but for
 *                                                 AGGREGATES); PROGRAM, ENABLED, NAMES and AGGREGATES of
 *                                                 the merger's own: the sums of all its hosts
 *   OF(STOP) for each ──────────►
 *                                 ◄────────────── the rest, OF(ENDED) of each
 *   STOP ───────────────────────►
 *                                 ◄────────────── ENDED
 *
 * Of a host's PROGRAM, ENABLED and NAMES a merger passes on what a record, a fault or an overload of that
 * host refers to, before it; and beforehand each distinct program once, for its names, which the operator's
 * compilation needs. Aggregations that do not add up between guests, of processes' addresses, are passed on
 * as the host's. MEMBER and OF(START) may also come later, for a host whose merger is lost.
 */
#ifndef FLEET_WIRE_MESSAGE_H
#define FLEET_WIRE_MESSAGE_H

#include "fleet/wire/kind.h"
#include "fleet/wire/value.h"

/* Raised with every change of these messages, or of the enumerations of other headers whose numbers they
 * hold. */
#define FL_PROTOCOL 2u
#define FL_BATCH    (128u << 10) /* a sender ends a list (records, names …) at that size */

#define FL_SOURCE_MAX  (1u << 20) /* of one D text */
#define FL_TEXTS_MAX   64u
#define FL_STRINGS_MAX 1024u /* options, arguments */

/* This host's clocks at one moment, ns. */
struct fl_clock {
	uint64_t realtime, boottime;
	uint64_t record;   /* the clock that records carry (struct vp_record.time_ns) */
	uint64_t maxerror; /* error of realtime by adjtimex(2); UINT64_MAX: not synchronised */
};

struct fl_hello {
	uint32_t protocol; /* another one than FL_PROTOCOL: the rest was not read */
	const char *name;  /* of the host, or of the operator (user@host) */
	struct fl_clock clock;
};

/* One text of D, as in struct con_program. */
struct fl_source {
	bool is_script;
	uint8_t spec;     /* enum dif_spec */
	const char *name; /* of a script, for messages */
	struct fl_bytes text;
};

struct fl_option {
	const char *name, *value; /* value NULL: without one */
};

/* A word of RUN's guests: a guest that migrates to that host, "arriving:NAME" or "arriving:NAME:UUID". The
 * host waits for it; a guest that was there before does not match. No -g contains a colon after that word. */
#define FL_ARRIVING "arriving:"

/* An operator's request to a host. The message is this struct, signed as a whole if a carrier needs that. */
struct fl_run {
	const char *guests; /* names and patterns, as of -g, separated by blanks */
	const struct fl_source *sources;
	uint32_t nsources;
	const struct fl_option *options; /* -x, in any order */
	uint32_t noptions;
	const char *const *args; /* $0, $1 … */
	uint32_t nargs;
};

enum fl_reason {
	FL_REASON_PROGRAM = 1, /* it does not compile there */
	FL_REASON_GUEST,       /* there is no such guest, or it can't be traced */
	FL_REASON_POLICY,      /* the host's serve.conf does not allow it */
	FL_REASON_TRUST,       /* the signature, the time or the nonce */
	FL_REASON_OTHER,
};

struct fl_refused {
	uint32_t reason;  /* enum fl_reason */
	const char *text; /* one or several lines, as the host's own outsight would print them */
};

/* The whole program of the session there. */
struct fl_program {
	struct fl_bytes dof;
	/* as struct dif_layout_opts */
	uint32_t strsize, stackframes, ustackframes, jstackframes, jstackstrsize;
};

/* The meaning of an EPID. Those of the host's own engine (BEGIN …) are not sent. */
struct fl_enabled {
	uint32_t epid, clause, guest, probe;
	const char *provider, *module, *function, *name;
};

struct fl_ready {
	uint64_t matched; /* probes, in all guests */
	uint32_t ntexts;  /* … by each text of RUN: */
	uint64_t by_text[FL_TEXTS_MAX];
};

/* A text in place of an address: of `guest`, 0 to nguests - 1. For a frame of a process, `note` has the
 * additional lines for the same place, as vp_session_note_text() returns them; "" if there are none. */
struct fl_name {
	uint32_t guest;
	uint64_t number; /* from 1 on; unique for all guests of the host */
	const char *text, *note;
};

/* struct vp_aggregate: a delta since the last one. `words` has 8-byte words at any alignment. */
struct fl_aggregate {
	uint32_t epid, action;
	struct fl_bytes tuple, words;
};

/* struct vp_record; its data has the header. */
struct fl_record {
	uint32_t epid, cpu;
	uint64_t time;
	struct fl_bytes data;
};

struct fl_fault {
	uint32_t epid, cpu, action;
	int32_t offset;
	uint32_t fault;
	uint64_t address;
};

struct fl_drop {
	uint32_t kind; /* enum vp_drop_kind */
	uint32_t cpu;
	uint64_t count;
};

struct fl_overload {
	uint32_t epid, taken, percent, limit;
};

/* struct vp_guest_news. The guests of a session's start join before PROGRAM; one that RUN expects to arrive
 * (FL_ARRIVING) is reported as joined again when it is traced. */
struct fl_guest {
	uint32_t guest;
	const char *name;
	bool joined;
	uint32_t how; /* enum vp_guest_end */
	const char *text;
	uint64_t time;    /* the time, by the clock of records: start or end of its tracing */
	const char *uuid; /* the virtual machine's; "": not known, as is NULL when it is written */
};

struct fl_say {
	bool missing; /* as from vp_session_notes() */
	const char *text;
};

/* All data was sent. */
struct fl_ended {
	bool exited; /* by exit(): */
	int32_t status;
	bool failed;      /* the session ended by an error, or a guest was lost: */
	const char *text; /* … how; "" */
};

#define FL_MEMBERS_MAX     128u /* hosts of one merger */
#define FL_INVITATIONS_MAX 4u   /* of one of them: one for each attempt, because a host accepts none twice */
#define FL_MEMBER_KEY      32u  /* bytes of a public key, FL_PUBLIC (trust/keys.h) */

/* A host that a merger must invite, and collect from. */
struct fl_member {
	uint32_t member;       /* its number with this merger, 0 to FL_MEMBERS_MAX - 1 */
	const char *name;      /* of the host */
	struct fl_bytes key;   /* its public key */
	struct fl_bytes run;   /* the message RUN for it */
	uint32_t ninvitations; /* from 1 on; signed by the operator for this run, and … */
	struct fl_bytes invitations[FL_INVITATIONS_MAX]; /* … for the merger's ephemeral key */
};

/* A message from or to a member. */
struct fl_of {
	uint32_t member;
	uint32_t kind; /* enum fl_kind, except MEMBER, OF and GONE */
	struct fl_bytes body;
};

/* A member that is lost, or that did not answer. All data that it sent was passed on before. */
struct fl_gone {
	uint32_t member;
	uint64_t silent_ns; /* time since its last message */
	const char *text;   /* reason */
};

/* Writers append to @p out, which has failed if there is no memory; messages and names are cut to
 * FL_TEXT_MAX, the contents of RUN are not. Readers read the whole message; texts are copied to @p arena,
 * bytes stay borrowed from the message. */
#define FL_MESSAGE(name)                                                                                 \
	void fl_put_##name(struct ot_buf *out, const struct fl_##name *m);                               \
	OT_MUST_CHECK struct ot_err *fl_get_##name(const void *data, size_t len, struct ot_arena *arena, \
						   struct fl_##name *ret);
FL_MESSAGE(hello)
FL_MESSAGE(run)
FL_MESSAGE(refused)
FL_MESSAGE(program)
FL_MESSAGE(ready)
FL_MESSAGE(overload)
FL_MESSAGE(guest)
FL_MESSAGE(say)
FL_MESSAGE(ended)
FL_MESSAGE(member)
FL_MESSAGE(of)
FL_MESSAGE(gone)
#undef FL_MESSAGE

/* Elements of lists. Readers return false at the end of the list, and after a malformed element;
 * fl_reader_end() distinguishes them. */
#define FL_ELEMENT(name)                                                   \
	void fl_put_##name(struct ot_buf *out, const struct fl_##name *e); \
	bool fl_next_##name(struct fl_reader *r, struct ot_arena *arena, struct fl_##name *ret);
FL_ELEMENT(enabled)
FL_ELEMENT(name)
FL_ELEMENT(aggregate)
FL_ELEMENT(record)
FL_ELEMENT(fault)
FL_ELEMENT(drop)
#undef FL_ELEMENT

void fl_put_clock(struct ot_buf *out, const struct fl_clock *clock);
void fl_get_clock(struct fl_reader *r, struct fl_clock *ret);
/** This host's clocks now (clock.c). */
void fl_clock_now(struct fl_clock *ret);

#endif
