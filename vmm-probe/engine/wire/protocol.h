/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control protocol between the operator's process (client) and an engine in a VMM
 * (server): SOCK_SEQPACKET on a UNIX socket of mode 0600, peer's uid checked (root, or the
 * VMM's own). Which process the server is, the client asks the kernel (SO_PEERCRED): so it is the
 * VMM itself that calls listen(), on a socket that it was given too. Each message is one struct vp_msg_* beginning with struct vp_msg; large data
 * travels in sealed memfds sent along. Both run on one host: host endianness and sizes.
 *
 * One connection is one session at most. When it closes, for whatever reason, the engine takes
 * the session's sites out and frees it: that is the only clean-up there is, so `kill -9`
 * of the client needs none of its own.
 *
 *   client                                   engine
 *   ── HELLO ────────────────────────────►
 *   ◄─────── HELLO_REPLY + RAM memfds ───   name, vCPUs, RAM ranges, what the backend can
 *   ── SNAPSHOT ─────────────────────────►
 *   ◄───────────────── SNAPSHOT_REPLY ───   registers of each vCPU
 *   ── STATS ────────────────────────────►   where HELLO_REPLY.vm is not 0
 *   ◄──────────────────── STATS_REPLY ───   what vm:::stat probes there are
 *   ── OPEN + facts, program (DOF), shared memory, unwind table (memfds) ──►
 *   ◄────────────────────────── REPLY ───   verified and laid out, or the error
 *   ── ENABLE + batch memfd ─────────────►   probes, sites, ECBs; any number of times
 *   ◄────────────────────────── REPLY ───
 *   ── START ────────────────────────────►   sites go in; then the session is ACTIVE
 *   ◄────────────────────────── REPLY ───
 *   ── SWITCH ───────────────────────────►   every vCPU's halves are exchanged
 *   ◄──────────────────── SWITCH_REPLY ───
 *   ── STOP ─────────────────────────────►   no ECB fires from now on; sites come out
 *   ◄────────────────────────── REPLY ───
 */
#ifndef VP_ENGINE_WIRE_PROTOCOL_H
#define VP_ENGINE_WIRE_PROTOCOL_H

#include <stdint.h>

#include "vmm-probe/engine/engine.h"

#define VP_PROTOCOL_VERSION 10u
#define VP_MSG_MAX          65536
#define VP_ERROR_TEXT       512

enum vp_msg_type {
	VP_MSG_HELLO = 1,
	VP_MSG_HELLO_REPLY,
	VP_MSG_SNAPSHOT,
	VP_MSG_SNAPSHOT_REPLY,
	VP_MSG_OPEN,
	VP_MSG_ENABLE,
	VP_MSG_START,
	VP_MSG_SWITCH,
	VP_MSG_SWITCH_REPLY,
	VP_MSG_STOP,
	VP_MSG_STATS,
	VP_MSG_STATS_REPLY,
	VP_MSG_PATCHES, /* what stands in guest text that is not the guest's own? Before OPEN or after */
	VP_MSG_PATCHES_REPLY, /* with a memfd of struct vp_patch; without one: nothing */
	VP_MSG_LOOK,          /* SWITCH_REPLY, but halves stay: how is it going? */
	VP_MSG_REPLY,         /* of OPEN, ENABLE, START, STOP, and of anything that failed */
};

struct vp_msg {
	uint32_t type;
	uint32_t size; /* of the whole message */
};

struct vp_msg_hello {
	struct vp_msg head;
	uint32_t version;
	uint32_t pad;
};

struct vp_msg_hello_reply {
	struct vp_msg head;
	uint32_t version;
	uint32_t nvcpus;
	uint32_t nsessions; /* that are open already */
	char backend[16];
	char guest_name[VP_GUEST_NAME];
	uint32_t guest_id;
	uint32_t counter_slots;
	uint32_t can_profile;
	uint32_t traps;  /* VP_TRAPS_* */
	uint32_t vm;     /* 1: it has vm probes; STATS asks for the names of their statistics */
	uint32_t paused; /* 1: the VMM has the guest stand still; 0: it does not, or that is not known */
	uint32_t nram;
	uint64_t held_ns; /* vCPUs have been kept out of the guest so long, since the engine was made */
	struct vp_ram_range ram[]; /* fd_index: of the descriptors that came along */
};

struct vp_msg_snapshot_reply {
	struct vp_msg head;
	uint32_t nvcpus;
	uint32_t pad;
	struct vp_regs regs[]; /* valid 0: could not be had in time */
};

struct vp_msg_stats_reply {
	struct vp_msg head;
	uint32_t n; /* at most VP_VM_STATS_MAX */
	uint32_t pad;
	char names[][VP_VM_STAT_NAME]; /* NUL-terminated */
};

struct vp_msg_reply {
	struct vp_msg head;
	uint32_t code; /* 0: done, else enum ot_err_code */
	uint32_t pad;
	char text[VP_ERROR_TEXT];
};

struct vp_msg_patches_reply {
	struct vp_msg head;
	uint32_t npatches;
	uint32_t pad;
};

/* Descriptors with OPEN, in this order: program, facts (struct vp_facts), shared, unwind (absent:
 * no unwind table). */
struct vp_msg_open {
	struct vp_msg head;
	uint64_t bufsize, aggsize;             /* of one half, bytes */
	uint64_t globals_offset, globals_size; /* in the shared memfd */
	uint64_t dynvars_offset, dynvars_size;
	uint64_t specs_offset;   /* of nspec × uint64_t: speculations, see speculation.c */
	uint64_t status_offset;  /* of nvcpus × struct vp_vcpu_status */
	uint64_t buffers_offset; /* of the vCPUs' buffers, see vp_shared_layout() */
	uint32_t strsize, stackframes, ustackframes, jstackframes, jstackstrsize;
	uint32_t nspec;
	uint64_t specsize;
	uint32_t nvcpus;      /* must be the engine's */
	uint32_t first_cpu;   /* this engine's vCPU 0 is this one in the dynamic variables' table (only there:
			       * `cpu` and records count from 0 in each guest) */
	uint32_t bufpolicy;   /* enum dif_bufpolicy */
	uint32_t flags;       /* VP_OPEN_* */
	uint32_t engine;      /* which of the session's engines this is, below VP_ENGINES_MAX */
	uint32_t only_cpu;    /* -x cpu: 1 + the vCPU that clauses fire on; 0: all */
	uint32_t maxcost;     /* -x maxcost: per cent of the vCPUs' time that it may take; 0: any */
	uint32_t scratch_max; /* bytes of scratch space that a vCPU has at most; 0: vp_scratch_size() knows */
};

enum { VP_OPEN_DESTRUCTIVE = 1 };

#define VP_ENGINES_MAX 32 /* of one session */
#define VP_NSPEC_MAX   65536u

/*
 * ENABLE's memfd: struct vp_batch, then arrays and a string pool at the given offsets.
 */
struct vp_batch {
	uint32_t size;
	uint32_t nprobes, probes_offset;       /* struct vp_batch_probe */
	uint32_t nsites, sites_offset;         /* struct vp_batch_site */
	uint32_t necbs, ecbs_offset;           /* struct vp_batch_ecb, in program order per probe */
	uint32_t strings_offset, strings_size; /* NUL-terminated, last byte NUL */
	uint32_t nagents, agent_offset;        /* struct vp_batch_agent: 0 or 1 of them */
};

enum vp_probe_kind {
	VP_PROBE_SITE,       /* fires when a vCPU executes one of its sites */
	VP_PROBE_PROFILE,    /* fires on every vCPU each interval_ns */
	VP_PROBE_ERROR,      /* dtrace:::ERROR of this session, for faults on this engine */
	VP_PROBE_HOST,       /* BEGIN, END, tick: fired by the operator's process (host engine only) */
	VP_PROBE_SENTINEL,   /* no probe of the user's: all its sites have `sentinel`, and it has no ECB */
	VP_PROBE_VM,         /* fires on an event of a vCPU */
	VP_PROBE_AGENT,      /* fires for records of the guest's agent */
	VP_PROBE_AGENT_CALL, /* no probe of the user's: all its sites have `agent`, and it has no ECB */
};

/* AGENT: for which of its slot's events a probe fires. */
enum vp_agent_when {
	VP_WHEN_ALWAYS,
	VP_WHEN_FIRST, /* of a process's first thread, by which the process is known */
	VP_WHEN_WORD,  /* (args[when_word] & when_mask) == when_value, before `skip` */
};

#define VP_AGENT_SKIP_MAX 4u

struct vp_batch_probe {
	uint32_t id;                               /* probe id as shown */
	uint32_t kind;                             /* enum vp_probe_kind */
	uint32_t args;                             /* enum vp_args */
	uint32_t provider, module, function, name; /* offsets in the string pool */
	uint32_t first_site, nsites;
	uint32_t event; /* VM: VP_VM_EVENT() */
	uint64_t interval_ns;
	uint64_t address; /* AGENT: where the guest's agent says that it is */
	uint32_t slot;    /* AGENT: the tracepoint's; else any of the others, the engine chooses */
	uint32_t nargs;   /* AGENT: words of arguments to pass on */
	uint32_t want;    /* AGENT: enum ga_kind */
	uint32_t flags;   /* AGENT: enum ga_want_flags */
	uint32_t syscall; /* AGENT, not 0: fires only for system call number syscall - 1 */
	uint32_t skip;    /* AGENT: so many words of the event stand in front of the probe's arguments */
	uint32_t when;    /* AGENT: enum vp_agent_when */
	uint32_t when_word;
	uint64_t when_mask, when_value;
};

/*
 * The agent in the guest, as the operator's process found it. A later batch may bring another one (the guest
 * has loaded its module anew): then that batch's AGENT probes without ECBs say where the probes of the same
 * ids are now, and its AGENT_CALL sites are there instead of the earlier ones.
 */
struct vp_batch_agent {
	uint64_t token;
	uint64_t header_gpa;
	uint64_t control_gpa;
	uint32_t tsc_khz; /* as the guest believes */
	uint32_t pad;
	struct {
		uint64_t gpa; /* 0: none */
		uint32_t records;
		uint32_t pad;
	} rings[VP_VCPUS_MAX]; /* by vCPU */
};

/* A site's condition: fires only in system calls of the kernel's own ABI. Functions without parameters are
 * called for those of 32 bits too. */
#define VP_SYSCALL_NATIVE 0xffffffffu

struct vp_batch_site {
	uint64_t gva;
	/* In a module's text: its struct module, whose page goes with the module even where the kernel keeps the
	 * text's page for the next one; else 0. */
	uint64_t owner;
	uint32_t offset;   /* from the start of its function: arg0 of a return probe */
	uint8_t length;    /* of the instruction */
	uint8_t bytes[15]; /* as the operator's process saw it; the engine compares before it plants */
	/* Not 0: fires only in system call number syscall - 1, and only where the function is about to go
	 * back to the kernel's dispatcher of system calls (facts.syscall_caller_*): it is shared code in
	 * which that call ends by a tail jump. */
	uint32_t syscall; /* … or VP_SYSCALL_NATIVE */
	uint8_t room;     /* at least `length`: what of the bytes behind the instruction is never executed */
	uint8_t trap;     /* enum vp_site_trap */
	uint8_t sentinel; /* enum vp_sentinel */
	uint8_t agent;    /* enum vp_agent_call */
	uint16_t pushed;  /* sentinels: the return address lies this many bytes above rsp there */
	uint16_t pad2;
};

struct vp_batch_ecb {
	uint32_t epid;
	uint32_t clause; /* index in the program */
	uint32_t probe;  /* index in this batch */
	uint32_t pad;
};

/*
 * Shared memory, per vCPU. Written by the engine (except where said), read by the client, which
 * believes none of it further than bounds allow.
 */
struct vp_half {
	uint64_t used;    /* bytes of records, valid when the half is not the active one */
	uint64_t dropped; /* records that found no room in it, since the session was opened */
	uint64_t wrapped; /* ring policy: offset of the oldest record, ~0: has not wrapped. When it has,
			   * records are [wrapped, bufsize) and then [0, used) */
	uint64_t since_ns, until_ns; /* covers this time (CLOCK_MONOTONIC), idle vCPUs too */
};

struct vp_vcpu_status {
	uint32_t active; /* half that the vCPU writes now: 0 or 1 */
	uint32_t pad;
	struct vp_half principal[2];
	struct vp_half aggregation[2];
	uint64_t error_drops; /* faults in an ERROR enabling */
	uint64_t spec_drops, spec_busy, spec_unavail;
	uint64_t stkstr_overflows;
	uint64_t faults;       /* evaluations that ended in a fault */
	uint64_t exit_pending; /* exit() was called: status + 1, else 0 */
	uint64_t hits;         /* firings of ECBs */
	uint64_t agent_lost;   /* events for which the guest's agent had no room */
	uint64_t guest_end;    /* of vCPU 0: enum vp_guest_end; not 0: the engine has stopped the session */
};

/* In the number of the aggregation, with which a tuple in an aggregation half begins: what the guest's agent
 * saw. So the two views of one key are two entries. */
#define VP_AGG_INSIDE 0x80000000u

/*
 * A fault, as a record in the principal half: what the consumer prints as "error on enabled probe
 * ID …". It stands where the clause's own record would have been.
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

/** Where things lie in the shared memfd: fills the offsets of @p open from its sizes and returns the
 * total size. LIMIT when it would exceed 64 GiB. A session of several engines may move status_offset
 * and buffers_offset of the second one behind the first's: an engine only demands that its parts are
 * in bounds, aligned to 64, and apart. */
OT_MUST_CHECK struct ot_err *vp_shared_layout(struct vp_msg_open *open, uint64_t *ret_total);

/** Offsets of a vCPU's halves in the shared memfd. */
uint64_t vp_principal_offset(const struct vp_msg_open *open, uint32_t vcpu, unsigned half);
uint64_t vp_aggregation_offset(const struct vp_msg_open *open, uint32_t vcpu, unsigned half);

/* Probes that the overload guard took out since the last reply. */
struct vp_overload {
	uint32_t taken;   /* how many; 0: none, and nothing else here means anything */
	uint32_t epid;    /* of the most expensive one's first enabling */
	uint32_t percent; /* of the vCPUs' time that the session took */
	uint32_t pad;
};

struct vp_msg_switch_reply {
	struct vp_msg head;
	uint64_t now_ns;      /* every vCPU is covered until here */
	uint32_t exit_called; /* some vCPU called exit() */
	uint32_t exit_status;
	uint32_t flags; /* VP_SWITCH_* */
	uint32_t pad;
	struct vp_patching patching; /* since the session was started */
	struct vp_overload overload;
	uint64_t agent_bound_ns; /* how far the time of an event inside may be off; 0: not known */
	/* With that: one moment on both clocks, the last at which they were compared. */
	uint64_t agent_tsc, agent_ns;
};

enum {
	VP_SWITCH_PAUSED = 1, /* the guest does not run: sites could not be changed as they should be */
	VP_SWITCH_FILLED = 2, /* fill policy: a buffer is full, so the session has left the active state */
	VP_SWITCH_AGENT_GONE = 4, /* the guest has unloaded its agent: ENABLE may bring the next one */
};

#endif
