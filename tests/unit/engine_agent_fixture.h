/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's agent for the engine's tests, in the guest of engine_fixture.h. A thread implements the module's
 * poll: it executes commands, and stands for the guest's vCPUs when the engine holds them. The test emits the
 * module's events itself: ea_emit().
 */
#ifndef TESTS_UNIT_ENGINE_AGENT_FIXTURE_H
#define TESTS_UNIT_ENGINE_AGENT_FIXTURE_H

#include "tests/unit/engine_fixture.h"

#include <pthread.h>
#include <stdbool.h>

#include "guest-agent/agent_abi.h"

#define EA_TOKEN   0x1234567890abc00ull
#define EA_RECORDS 64u                   /* in a ring */
#define EA_SLOT    17u                   /* of the event that the tests want */
#define EA_TP      0xffffffff82001000ull /* its tracepoint */

struct ea {
	struct ef *f;
	struct ga_header *header;
	struct ga_control *control;
	struct ga_ring *rings[2]; /* by vCPU */
	uint64_t heads[2];
	struct vp_batch_agent place; /* as sent in a batch; to be changed before that */
	pthread_t thread;
	bool stop;
	bool deaf;  /* takes no command; atomic: the thread reads it */
	bool still; /* the test itself is the vCPUs; to be changed while paused */
};

/** An agent in a guest of two vCPUs, live and without an owner, with its thread running; it is in the batch.
 */
struct ea *ea_create(struct ef *f);
/** Close the session while the guest still runs, then end the thread and free the guest too. Not while
 * paused. */
void ea_destroy(struct ea *g);

/** Wait until the thread is gone: from here on the test alone is the guest. */
void ea_pause(struct ea *g);
/** Let it run again. */
void ea_play(struct ea *g);

/** An event of EA_SLOT with the arguments @p arg and @p arg + 1. */
struct ga_record ea_record(uint64_t arg);
/** As the module's probe: put a record into a vCPU's ring; its number is assigned by the ring. false: the
 * ring is full, and has counted a loss. */
bool ea_emit(struct ea *g, uint32_t cpu, const struct ga_record *content);
/** As vCPU 0's probe, which must have room: a record with the argument @p arg, made when the guest's counter
 * stood at @p tsc. */
void ea_emit_at(struct ea *g, uint64_t tsc, uint64_t arg);

/** A probe of the event for @p clause in the batch: to be changed before the next one is made. */
struct vp_batch_probe *ea_probe(struct ef *f, uint32_t clause);
/** Such a probe as it is, enabled: its EPID. */
uint32_t ea_enable(struct ef *f, uint32_t clause);
/** Open and start a session with one clause, that counts every event. */
void ea_start_counting(struct ef *f);

/** Half a millisecond. */
void ea_nap(void);
/** Until the 8 bytes at @p at are @p value, which they must be within seconds. */
void ea_wait_for(const void *at, uint64_t value);

#endif
