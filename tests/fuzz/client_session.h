/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session whose engine is a socket: what fuzz_client lets a hostile engine answer, and its seeds an honest
 * one. */
#ifndef TESTS_FUZZ_CLIENT_SESSION_H
#define TESTS_FUZZ_CLIENT_SESSION_H

#include "vmm-probe/session/internal.h"

#define CS_VCPUS 2u

struct client_session {
	struct dif_options options;
	struct dif_program prog;
	struct dif_compiler *comp;
	struct vp_session *s; /* enabled and started; feed 1 is the guest's */
	struct vp_guest_link *link;
	uint64_t records, aggregates; /* that the sink has got */
	/* as they were once it was started */
	struct vp_feed feed;
	struct vp_vcpu_status seen[CS_VCPUS];
	uint64_t touched[CS_VCPUS * 4]; /* bytes of each half that are not zeros */
};

/** The one of this process, made by the first call. */
struct client_session *client_session(void);

/** Let the engine's end be a socket that will give what is put into it; returns the end to put it into, the
 * caller's to close. */
int client_session_connect(struct client_session *cs);

/** Undo all that a run has done to the session, and what it was sent. */
void client_session_reset(struct client_session *cs);

/** Half @p n of 4 of each vCPU: the principal ones, then the aggregations'. */
uint8_t *client_session_half(const struct client_session *cs, uint32_t vcpu, unsigned n);

/** Put an honest reply into @p fd: HELLO_REPLY, or done. */
void client_session_hello(int fd);
void client_session_done(int fd);

#endif
