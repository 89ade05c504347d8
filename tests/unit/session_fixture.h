/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session of guests whose engines are the test: their ends of the sockets hold the replies that were put
 * there, and what the sink got is counted. */
#ifndef TESTS_UNIT_SESSION_FIXTURE_H
#define TESTS_UNIT_SESSION_FIXTURE_H

#include "vmm-probe/session/internal.h"

#define assert_ok(e)                                        \
	do {                                                \
		struct ot_err *e_ = (e);                    \
		if (e_)                                     \
			fail_msg("%s", ot_err_message(e_)); \
	} while (0)

#define SF_GUESTS 4

struct session_fixture {
	struct dif_options options;
	struct dif_program prog;
	struct dif_compiler *comp;
	struct vp_session *s;
	struct vp_guest_link *links[SF_GUESTS]; /* web01, web02 … */
	int vmms[SF_GUESTS];                    /* the other ends of their sockets; -1: none */
	/* what the sink got */
	unsigned records, aggregates, faults, overloads;
	uint32_t last; /* EPID */
	unsigned said;
	char text[512]; /* the last sentence */
	unsigned joined, left;
	struct vp_guest_news news; /* the last; its text is not kept */
};

/** Attach @p n guests, compile @p program for them, enable and start it. */
void session_fixture_init(struct session_fixture *t, const char *program, unsigned n);
void session_fixture_deinit(struct session_fixture *t);

/** A guest like the others, not in the session; its engine has @p replies of "done" ready. */
struct vp_guest_link *session_fixture_link(struct session_fixture *t, unsigned nth, unsigned replies);

/** Put a reply into an engine's socket. */
void session_fixture_put(int vmm, const void *reply, size_t size);
/** What an engine was asked last, without waiting; 0: nothing. Descriptors are closed. */
uint32_t session_fixture_asked(int vmm);

#endif
