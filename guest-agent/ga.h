/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The module's parts.
 *
 *   main.c       life, the poll of the control block, memory
 *   catalogue.c  which tracepoints there are; modules come and go
 *   probe.c      turning a slot on and off; the probes themselves
 *   ring.c       records
 * walk.c the guest's own lists of its processes and modules
 *
 * ga_lock covers slots, catalogue and header. Order of locks: the tracepoint core's list of modules
 * (which calls us), then ga_lock, then the locks of registering a probe. A probe takes none.
 */
#ifndef OUTSIGHT_GA_H
#define OUTSIGHT_GA_H

#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>

#include "agent_abi.h"

struct ga_slot {
	u32 index;
	u16 nargs;
	u16 flags;                /* enum ga_want_flags */
	bool core;                /* the tracepoint is the kernel's own, no module's */
	u32 armed;                /* enum ga_kind */
	u64 address;              /* kprobes: where it is armed */
	struct tracepoint *tp;    /* NULL: no such (any more) */
	struct ga_kprobe *kprobe; /* while one is armed */
};

extern struct ga_header outsight_agent;
extern struct ga_slot *ga_slots;      /* GA_SLOTS of them */
extern struct ga_entry *ga_catalogue; /* the same number */
extern struct mutex ga_lock;

int ga_catalogue_init(void);
void ga_catalogue_exit(void);

/**
 * ga_slots_apply() - Make slots match the control block, or turn all off.
 * @want: the host's array, hostile; NULL: everything off.
 */
void ga_slots_apply(const struct ga_want *want);

/** ga_slot_off() - Turn off the tracepoint of one slot, whose module goes. */
void ga_slot_off(struct ga_slot *slot);

int ga_rings_init(unsigned long bytes);
/** ga_rings_stop() - No ring is given to a CPU any more; no probe may be armed. */
void ga_rings_stop(void);
void ga_rings_free(void);

/** ga_emit() - Put a record into this CPU's ring. Any context, NMI too. */
void ga_emit(const struct ga_slot *slot, u32 flags, const u64 args[GA_ARGS]);

void ga_clock_mark(void);

/** ga_walks_begin() - Begin to walk if a tracepoint is enabled; walks then repeat by themselves. */
void ga_walks_begin(void);
/** ga_walks_exit() - Wait for the last one. No tracepoint may be enabled. */
void ga_walks_exit(void);

#endif
