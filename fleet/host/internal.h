/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker's parts, shared by the files of this folder only.
 *
 *   link ─► worker.c ─► run, guests, clauses, rights ─► session
 *                                                             │ sink.c: numbers for names
 *   link ◄─ send.c ◄─ records, gather, losses ◄───────────────┘
 */
#ifndef FLEET_HOST_INTERNAL_H
#define FLEET_HOST_INTERNAL_H

#include "consumer/joining.h"
#include "consumer/journal.h"
#include "fleet/host/gather.h"
#include "fleet/host/names.h"
#include "fleet/host/records.h"
#include "fleet/host/run.h"
#include "fleet/host/worker.h"

/* Ends of a session other than its own. */
struct fl_wake {
	int epoll_fd; /* readable when one of them is */
	int signal_fd, timer_fd;
	int link_fd; /* the descriptor in epoll_fd; -1: none */
	short link_events;
};

/* Lists that were not sent yet. */
struct fl_outbox {
	struct ot_buf enabled, faults;
	struct fl_losses losses;
	uint64_t nfaults;
	uint64_t aggregated_ns; /* when aggregations were last sent; 0: never */
	bool said_overflow;     /* of the names */
};

/* One struct with many fields: each file of this folder keeps its own part of the session here. */
struct fl_worker {
	const struct fl_worker_config *config;
	struct fl_link *link;
	uint64_t lease_ns;
	char operator_name[256]; /* the operator's name for itself */
	struct fl_wake wake;
	struct fl_run_here run;
	struct vp_session *session;
	struct con_compilation comp;
	struct con_joining *joining;
	struct con_journal journal;
	uint64_t matched;              /* probes of guests */
	enum fl_reason reason;         /* REFUSED would have this reason */
	bool told[VP_GUESTS_MAX];      /* the operator knows that this guest has joined */
	char uuids[VP_GUESTS_MAX][37]; /* "": not known */
	uint32_t identified;           /* of the session's guests, the first ones: their UUIDs are known */
	bool arrives;                  /* the guest was waited for, and arrives from another host */

	struct ot_arena arena;          /* of what follows */
	struct fl_printed_keys printed; /* of the whole program, with END and ticks */
	struct ot_map places;           /* a clause's or an aggregation's layout → struct fl_places */
	uint8_t *known;                 /* by EPID: enum fl_known */
	size_t known_cap;
	uint32_t nclauses; /* that the operator knows */
	struct fl_names names;
	struct fl_gather gather;
	bool has_gather;
	struct fl_records records;
	struct fl_outbox out;
	struct ot_buf scratch; /* a record or a tuple with numbers for names */

	bool stopped;       /* STOP was received, or the link broke: */
	bool broken;        /* the latter */
	bool expired;       /* the session's time is over */
	bool unbegun;       /* … before the operator has begun it */
	int signal;         /* the signal that ended it; 0: none */
	uint64_t signal_ns; /* … and when it came */
	uint64_t end_ns;    /* end of its time; 0: no limit */
};

/* wake.c */
/** From here on the signals that end a process are read from a descriptor, not delivered. */
OT_MUST_CHECK struct ot_err *fl_wake_open(struct fl_wake *w);
void fl_wake_close(struct fl_wake *w);
/** The link's descriptors, and the latest time at which anything is due. */
OT_MUST_CHECK struct ot_err *fl_wake_set(struct fl_wake *w, struct fl_link *link, uint64_t due_ns);
/** Wait for any of these. */
void fl_wake_wait(const struct fl_wake *w);
/** The last signal that came; 0: none. */
int fl_wake_signal(const struct fl_wake *w);

/* prepare.c */
/** Handle a message RUN up to READY: read, attach, compile, check rights, log, enable. An error is the reason
 * for a refusal, w->reason, in words for the operator. */
OT_MUST_CHECK struct ot_err *fl_prepare(struct fl_worker *w, const void *data, size_t len);
/** Compile the texts for the last kernel of the session, which a guest that joins has brought. */
OT_MUST_CHECK struct ot_err *fl_compile_joining(struct fl_worker *w);

/* log.c */
void fl_log_refused(struct fl_worker *w, const char *why);
void fl_log_start(struct fl_worker *w);
void fl_log_end(struct fl_worker *w, int status);

/* worker.c */
/** Wait until @p until_ns or the session's end. False: it has ended. */
bool fl_worker_rest(struct fl_worker *w, uint64_t until_ns);

/* arriving.c */
bool fl_is_arriving(const char *spec);
/** Attach the guest of FL_ARRIVING once it has arrived. NOT_FOUND: it does not arrive; BUSY: the session
 * ended first. */
OT_MUST_CHECK struct ot_err *fl_arriving_attach(struct fl_worker *w, const char *spec);
/** Find the UUIDs of new guests. */
void fl_guests_identify(struct fl_worker *w);

/* guests.c */
/** Does the host allow a guest of this name? */
bool fl_guest_may(void *arg, const char *name);
/** Attach the guests that RUN names, and let guests that match its patterns join later. */
OT_MUST_CHECK struct ot_err *fl_guests_attach(struct fl_worker *w);
/** Send the messages about a guest that is now traced to the operator. */
void fl_guest_notes(struct fl_worker *w, uint32_t guest);
/** The session's names for addresses. */
struct con_symbols fl_guests_symbols(struct fl_worker *w);

/* sink.c */
struct vp_sink fl_sink_of(struct fl_worker *w);

/* send.c */
/** Send @p out and empty it. A failure of the link is kept in w->broken, and is not returned. */
OT_MUST_CHECK struct ot_err *fl_send(struct fl_worker *w, enum fl_kind kind, struct ot_buf *out);
OT_MUST_CHECK struct ot_err *fl_send_say(struct fl_worker *w, bool missing, const char *text);
OT_MUST_CHECK struct ot_err *fl_send_program(struct fl_worker *w);
OT_MUST_CHECK struct ot_err *fl_send_refused(struct fl_worker *w, enum fl_reason reason, const char *text);
/** Report, once, that a guest has joined. */
OT_MUST_CHECK struct ot_err *fl_send_joined(struct fl_worker *w, uint32_t guest);
/** Report that guests which have arrived are traced from now on. */
OT_MUST_CHECK struct ot_err *fl_send_arrived(struct fl_worker *w);
OT_MUST_CHECK struct ot_err *fl_send_left(struct fl_worker *w, const struct vp_guest_news *news);
/** Send waiting data, as far as the link has room. @p all: aggregations too, regardless of the time of the
 * last ones. *ret_more: more data waits. */
OT_MUST_CHECK struct ot_err *fl_send_waiting(struct fl_worker *w, bool all, bool *ret_more);

#endif
