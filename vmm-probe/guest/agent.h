/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's agent as the operator's process reads it: the module's header, the tracepoints that it offers
 * and the addresses of its rings. Nothing is written. All of it is guest memory: numbers are bounded, and
 * names contain only letters, digits and underscores.
 */
#ifndef VP_GUEST_AGENT_H
#define VP_GUEST_AGENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/trace_systems.h"

/* A tracepoint that can be turned on. */
struct vp_agent_event {
	uint32_t slot;
	uint64_t address; /* of the guest's struct tracepoint */
	char name[GA_NAME];
	const char *system; /* "sched", "" if it has no trace event; points into `systems` below */
};

struct vp_agent_cpu {
	uint64_t percpu; /* base of the per-CPU area of the CPU that writes the ring */
	uint64_t gpa;
	uint32_t records;
};

struct vp_guest_agent {
	struct ga_header header;
	struct vp_gpa header_gpa;
	/* The functions that it calls for the host, and their sizes in bytes; 0: unknown. */
	uint64_t doorbell, doorbell_size, mark, mark_size;
	struct vp_agent_event *events; /* by slot */
	size_t nevents;
	struct vp_agent_cpu *cpus; /* those with a ring */
	size_t ncpus;
	struct vp_trace_systems systems; /* memory of the events' `system` strings */
};

/** Check that @p header is of an agent of our version. UNSUPPORTED: another version. BUSY: the module is
 * being loaded or unloaded. BAD_DATA: not an agent's header. */
OT_MUST_CHECK struct ot_err *vp_agent_check_header(const struct ga_header *header);

/** Check one entry of the catalogue. False: it is empty or invalid. */
bool vp_agent_check_entry(const struct ga_entry *entry, uint32_t slot, struct vp_agent_event *ret);

/** Copy the valid rings among @p n places to @p ret, which has room for @p n. UNSUPPORTED: there is none. */
OT_MUST_CHECK struct ot_err *vp_agent_check_rings(const struct ga_ring_place *places, size_t n,
						  struct vp_agent_cpu *ret, size_t *ret_n);

/** Find the agent in the guest's current list of modules, within a budget of its own. NOT_FOUND: the module
 * is not loaded. BUSY: the list, or the agent, keeps changing. LIMIT: it takes more than the budget. *ret is
 * initialised in any case. */
OT_MUST_CHECK struct ot_err *vp_guest_agent_read(struct vp_guest *guest, struct vp_guest_agent *ret);
void vp_guest_agent_deinit(struct vp_guest_agent *agent);

#endif
