/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that a session's engines share with its client: its layout, and the data that engines write to
 * it. */
#ifndef VP_ENGINE_WIRE_SHARED_H
#define VP_ENGINE_WIRE_SHARED_H

#include "base/err.h"
#include "vmm-probe/engine/wire/protocol.h"

/*
 * Shared memory, per vCPU. Written by the engine (unless noted), read by the client, which trusts it only
 * within bounds.
 */
struct vp_half {
	uint64_t used;    /* bytes of records, valid when the half is not the active one */
	uint64_t dropped; /* records without room in it, since the session was opened */
	uint64_t wrapped; /* ring policy: offset of the oldest record, ~0: has not wrapped. When it has,
			   * records are [wrapped, bufsize) and then [0, used) */
	uint64_t since_ns, until_ns; /* covers this time (CLOCK_MONOTONIC), idle vCPUs too */
};

struct vp_vcpu_status {
	uint32_t active; /* half that the vCPU writes now: 0 or 1 */
	uint32_t tid; /* of the thread that ran the vCPU when the session was opened, as the engine's process
		       * sees it; 0: not known */
	struct vp_half principal[2];
	struct vp_half aggregation[2];
	uint64_t error_drops; /* faults in an ERROR enabling */
	uint64_t spec_drops, spec_busy, spec_unavail;
	uint64_t stkstr_overflows;
	uint64_t faults;       /* evaluations that ended in a fault */
	uint64_t exit_pending; /* exit() was called: status + 1, else 0 */
	uint64_t hits;         /* firings of ECBs */
	uint64_t agent_lost;   /* events for which the guest's agent had no room */
	uint64_t modules;      /* of vCPU 0: number of the last event that VP_MSG_MODULES reports */
	uint64_t guest_end;    /* of vCPU 0: enum vp_guest_end; not 0: the engine has stopped the session */
	uint64_t records_lost; /* hits of resident probes for whose records the ring had no room */
	uint64_t reserved[7];
};
_Static_assert(sizeof(struct vp_vcpu_status) % 64 == 0,
	       "a vCPU writes to its own status at each hit, and to no cache line of another's");

/* In the number of the aggregation, which begins each tuple of an aggregation half: the event was seen by the
 * guest's agent. So the two views of one key are two entries. */
#define VP_AGG_INSIDE 0x80000000u

/*
 * A fault, as a record in the principal half, which the consumer prints as "error on enabled probe ID …". It
 * replaces the clause's own record.
 */
#define VP_EPID_FAULT 0xffffffffu

struct vp_fault_record {
	uint32_t epid; /* VP_EPID_FAULT */
	uint32_t time_hi, time_lo;
	uint32_t ecb;    /* EPID of the clause that faulted */
	uint32_t action; /* 0: the predicate, else the n-th action */
	uint32_t offset; /* of the DIF instruction in bytes; ~0 unknown */
	uint32_t fault;  /* enum dif_fault */
	uint32_t pad;
	uint64_t address;
};

/* vp_msg_open.bufpolicy, the numbers of enum dif_bufpolicy. With RING and FILL the halves are
 * exchanged only once the session has left the active state. */
enum { VP_BUF_RING = 0, VP_BUF_FILL = 1, VP_BUF_SWITCH = 2 };

/** The layout of the memory that an engine and its client share: computes the offsets in @p open from its
 * sizes and returns the total size. Up to status_offset, a multiple of the page size, it is the memory that
 * all engines of the session share. LIMIT: over 64 GiB. An engine only requires that its parts are in bounds,
 * aligned to 64, and disjoint. */
OT_MUST_CHECK struct ot_err *vp_shared_layout(struct vp_msg_open *open, uint64_t *ret_total);

/** Offsets of a vCPU's halves in it. */
uint64_t vp_principal_offset(const struct vp_msg_open *open, uint32_t vcpu, unsigned half);
uint64_t vp_aggregation_offset(const struct vp_msg_open *open, uint32_t vcpu, unsigned half);

#endif
