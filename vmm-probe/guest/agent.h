/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's agent as the operator's process finds it: the module's header, which tracepoints it offers, and
 * where its rings are. Reading only; what is there is guest memory, so every number in it is checked and
 * every name is made of characters that names have.
 */
#ifndef VP_GUEST_AGENT_H
#define VP_GUEST_AGENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/guest.h"

/* A tracepoint that can be turned on. */
struct vp_agent_event {
	uint32_t slot;
	uint64_t address; /* of the guest's struct tracepoint */
	char name[GA_NAME];
	const char *system; /* as the guest's own tracing calls it, "" when it does not; the agent's */
};

struct vp_agent_cpu {
	uint64_t percpu; /* base of the CPU's area: whose ring it is */
	uint64_t gpa;
	uint32_t records;
};

struct vp_guest_agent {
	struct ga_header header;
	struct vp_gpa header_gpa;
	/* The functions that it calls for the host, and how long they are; 0: unknown. */
	uint64_t doorbell, doorbell_size, mark, mark_size;
	struct vp_agent_event *events; /* by slot */
	size_t nevents;
	struct vp_agent_cpu *cpus; /* those with a ring */
	size_t ncpus;
	char *systems; /* what the events' systems point into */
};

/** Is what was read of the module's header that of an agent that we can talk to? UNSUPPORTED: another version
 * of it. BUSY: it is being loaded or unloaded. BAD_DATA: it is none. */
OT_MUST_CHECK struct ot_err *vp_agent_check_header(const struct ga_header *header);

/** One entry of the catalogue. False: nothing there, or nothing that could be. */
bool vp_agent_check_entry(const struct ga_entry *entry, uint32_t slot, struct vp_agent_event *ret);

/** The rings among @p n places; @p ret has room for as many. UNSUPPORTED: no CPU has one. */
OT_MUST_CHECK struct ot_err *vp_agent_check_rings(const struct ga_ring_place *places, size_t n,
						  struct vp_agent_cpu *ret, size_t *ret_n);

/** Find the agent, in the guest's list of modules as it is now. NOT_FOUND: the guest has none. *ret is
 * initialised in any case. */
OT_MUST_CHECK struct ot_err *vp_guest_agent_read(struct vp_guest *guest, struct vp_guest_agent *ret);
void vp_guest_agent_deinit(struct vp_guest_agent *agent);

#endif
