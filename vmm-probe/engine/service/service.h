/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of an engine that only the service thread uses, and how a change reaches the vCPUs. A change is
 * published, then vp_quiesce() waits until no vCPU can still use the previous state.
 */
#ifndef VP_ENGINE_SERVICE_SERVICE_H
#define VP_ENGINE_SERVICE_SERVICE_H

#include <pthread.h>

#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/service/early.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/engine/service/semaphores.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/patches.h"

struct vp_server;

/* Guest RAM, as HELLO_REPLY lists it: ram.c. */
struct vp_engine_ram {
	struct vp_ram_layout is;
	struct vp_ram_range *own; /* where that is this engine's memory */
	struct ot_err *trouble;   /* the reason why the last search did not find it; NULL: it was found */
	uint64_t ending;          /* the layout of this number takes the place of others; 0: of none */
	uint64_t next_ns;         /* time of the next search */
};

/* The backend's slots of inline counters. */
struct vp_slots {
	uint8_t *used; /* by slot */
	uint32_t n, nused;
	uint32_t hint; /* where the search for a free one begins */
};

/* Modules of the guest that came and went. */
struct vp_modules_log {
	pthread_mutex_t lock;                           /* of the fields down to `last` */
	struct vp_module_event events[VP_MODULES_KEPT]; /* number n is at n % VP_MODULES_KEPT */
	uint64_t last;                                  /* number of the last one; 0: there was none */
	uint64_t ended;                                 /* the sites of modules that go, up to this one */
	uint64_t handled;                               /* the engine's own part is done up to this one */
	uint64_t done;                                  /* … and its clients': no vCPU waits for these */
};

struct vp_service {
	char guest_name[VP_GUEST_NAME];
	uint32_t guest_id;
	struct vp_engine_ram ram;
	struct vp_slots slots;
	struct vp_engine_session *sessions[VP_SESSIONS_MAX]; /* in order of opening */
	uint32_t nsessions;
	struct vp_plan *plan; /* in force; NULL: nothing */
	bool replan;          /* the plan in force is outdated, because the backend was busy */
	uint64_t nbatches;    /* made so far */
	uint64_t nkernels;    /* numbers of vp_engine_session.kernel in use so far */
	uint64_t fence_word;
	struct vp_server *server;
	uint32_t guest_end; /* enum vp_guest_end to report to the sessions */
	struct vp_modules_log modules;
	struct vp_semaphores semaphores;
	struct vp_early_taking early;
	struct vp_resident resident;
};

/** Can sites be in processes, here and on this host? Service thread. */
bool vp_engine_has_processes(const struct vp_engine *engine);

void vp_quiesce_init(struct vp_engine *engine);

/** Wait until every vCPU that was in a probe has left it. All of them then see what was published before.
 * Service thread; never from a probe. */
void vp_quiesce(struct vp_engine *engine);

/** Give the backend a plan of the sites that the sessions request now. BUSY leaves the old plan in force and
 * `replan` set. On return no vCPU is in a probe that the old plan started. */
OT_MUST_CHECK struct ot_err *vp_replan(struct vp_engine *engine);

/** Retry changes that a busy backend deferred; frees sessions that waited for it. */
void vp_engine_retry(struct vp_engine *engine);

/** The RAM that the engine is created with, if there is no other. */
OT_MUST_CHECK struct ot_err *vp_ram_init(struct vp_engine *engine, const struct vp_engine_config *config);
void vp_ram_deinit(struct vp_engine *engine);

/** Report the end given to vp_engine_guest_ended() to the sessions. Service thread. */
void vp_engine_report_end(struct vp_engine *engine);

/** Handle the modules that vp_engine_module() reported: end the sites of those that are unloaded, notify the
 * sessions. Service thread. */
void vp_modules_handle(struct vp_engine *engine);
/** A session has handled the modules up to event @p seen: *ret are the later ones. */
void vp_modules_answer(struct vp_engine_session *es, uint64_t seen, struct vp_msg_modules_reply *ret);
/** Sessions have changed: update which events are handled. */
void vp_modules_recount(struct vp_engine *engine);

/** The present changes of guest text; none for a backend that does not change text. Service thread. */
OT_MUST_CHECK struct ot_err *vp_patches_of_engine(struct vp_engine *engine, struct vp_patches *ret);

void vp_server_stop(struct vp_engine *engine);
/** Wake the service thread to handle reports. Any thread. */
void vp_server_wake(struct vp_engine *engine);

#endif
