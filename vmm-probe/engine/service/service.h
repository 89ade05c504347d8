/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the service thread alone keeps of an engine, and how a change gets to the vCPUs. A change is
 * published, then vp_quiesce() waits until no vCPU can still see what was there before.
 */
#ifndef VP_ENGINE_SERVICE_SERVICE_H
#define VP_ENGINE_SERVICE_SERVICE_H

#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/patches.h"

struct vp_server;

/* Guest RAM, as HELLO_REPLY tells of it. */
struct vp_engine_ram {
	struct vp_ram_range *ranges;
	const int *fds; /* borrowed */
	uint32_t nranges, nfds;
};

/* The backend's slots of inline counters. */
struct vp_slots {
	uint8_t *used; /* by slot */
	uint32_t n, nused;
	uint32_t hint; /* where the search for a free one begins */
};

struct vp_service {
	char guest_name[VP_GUEST_NAME];
	uint32_t guest_id;
	struct vp_engine_ram ram;
	struct vp_slots slots;
	struct vp_engine_session *sessions[VP_SESSIONS_MAX]; /* in order of opening */
	uint32_t nsessions;
	struct vp_plan *plan; /* in force; NULL: nothing */
	bool replan;          /* the plan in force is not what the sessions want: the backend was busy */
	uint64_t nbatches;    /* ever */
	uint64_t fence_word;
	struct vp_server *server;
	uint32_t guest_end; /* enum vp_guest_end that the sessions are to be told */
};

void vp_quiesce_init(struct vp_engine *engine);

/** Wait until every vCPU that was in a probe has left it. What was published before is then
 * seen by all. Service thread; never from a probe. */
void vp_quiesce(struct vp_engine *engine);

/** Make the backend watch what the sessions want now. BUSY leaves the old plan in force and
 * `replan` set. On return no vCPU is in a probe that the old plan started. */
OT_MUST_CHECK struct ot_err *vp_replan(struct vp_engine *engine);

/** Try again what a busy backend put off; frees sessions that waited for it. */
void vp_engine_retry(struct vp_engine *engine);

/** Tell the sessions what vp_engine_guest_ended() said. Service thread. */
void vp_engine_tell_end(struct vp_engine *engine);

/** What stands in the guest now; none for a backend that does not change text. Service thread. */
OT_MUST_CHECK struct ot_err *vp_patches_of_engine(struct vp_engine *engine, struct vp_patches *ret);

void vp_server_stop(struct vp_engine *engine);

#endif
