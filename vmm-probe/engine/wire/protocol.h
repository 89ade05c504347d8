/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control protocol between the operator's process (client) and an engine in a VMM
 * (server): SOCK_SEQPACKET on a UNIX socket of mode 0600, peer's uid checked (root, or the
 * VMM's own). The client learns the server's process from the kernel (SO_PEERCRED): so the VMM itself calls
 * listen(), even on a socket that it was given. Each message is one struct vp_msg_* beginning with struct
 * vp_msg; large data is passed in sealed memfds. Both run on one host: host endianness and sizes.
 *
 * One connection is at most one session. When it closes, for any reason, the engine removes the session's
 * sites and frees it: that is the only clean-up, so `kill -9` of the client needs none of its own.
 *
 *   client                                   engine
 *   ── HELLO ────────────────────────────►
 *   ◄─────── HELLO_REPLY + RAM memfds ───   name, vCPUs, RAM ranges, features of the backend
 *   ── SNAPSHOT ─────────────────────────►
 *   ◄───────────────── SNAPSHOT_REPLY ───   registers of each vCPU
 *   ── STATS ────────────────────────────►   where HELLO_REPLY.vm is not 0
 *   ◄──────────────────── STATS_REPLY ───   names of vm:::stat probes
 *   ── CPC ──────────────────────────────►   can this event be counted? any number of times
 *   ◄────────────────────────── REPLY ───   yes, or the reason why not
 *   ── ACCESS ───────────────────────────►   at any time: records of all sessions that there were
 *   ◄─────────────────── ACCESS_REPLY ───
 *   ── OPEN + facts, program (DOF), shared memory, unwind table (memfds) ──►
 *   ◄────────────────────────── REPLY ───   verified and laid out, or the error
 *   ── FRAMES + memfd ───────────────────►   rules for the stacks of processes; any number of times
 *   ◄────────────────────────── REPLY ───
 *   ── ENABLE + batch memfd ─────────────►   probes, sites, ECBs; any number of times
 *   ◄────────────────────────── REPLY ───
 *   ── START ────────────────────────────►   sites are planted; then the session is ACTIVE
 *   ◄────────────────────────── REPLY ───
 *   ── SWITCH ───────────────────────────►   every vCPU's halves are exchanged
 *   ◄──────────────────── SWITCH_REPLY ───
 *   ── MODULES ──────────────────────────►   whenever vp_vcpu_status.modules has changed
 *   ◄─────────────────── MODULES_REPLY ───
 *   ── STOP ─────────────────────────────►   no ECB fires from now on; sites are removed
 *   ◄────────────────────────── REPLY ───
 */
#ifndef VP_ENGINE_WIRE_PROTOCOL_H
#define VP_ENGINE_WIRE_PROTOCOL_H

#include <stdint.h>

#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/wire/access.h"
#include "vmm-probe/engine/wire/cpc.h"
#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/engine/wire/vmm.h"

#define VP_PROTOCOL_VERSION 34u
#define VP_MSG_MAX          65536
#define VP_RAM_RANGES_MAX   128 /* of guest RAM … */
#define VP_RAM_FDS_MAX      16  /* … and files that they are in */
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
	VP_MSG_PATCHES,       /* the engine's present changes of guest text. Before OPEN or after */
	VP_MSG_PATCHES_REPLY, /* with a memfd of struct vp_patch; without one: none */
	VP_MSG_MODULES,       /* the guest's modules that came and went, see struct vp_msg_modules */
	VP_MSG_MODULES_REPLY,
	VP_MSG_POLL,   /* poll: replies SWITCH_REPLY without an exchange */
	VP_MSG_CPC,    /* can this event be counted for the vCPUs? */
	VP_MSG_ACCESS, /* the users of the engines of this process. Before OPEN or after */
	VP_MSG_ACCESS_REPLY,
	VP_MSG_REPLY,  /* of OPEN, FRAMES, ENABLE, START, STOP, CPC, and of any request that failed */
	VP_MSG_FRAMES, /* with a memfd: user_frames.h */
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
	uint32_t nsessions; /* already open */
	char backend[16];
	char guest_name[VP_GUEST_NAME];
	uint32_t guest_id;
	uint32_t counter_slots;
	uint32_t can_profile;
	uint32_t traps;   /* VP_TRAPS_* */
	uint32_t vm;      /* 1: it has vm probes; STATS asks for the names of their statistics */
	uint32_t modules; /* 1: it reports modules that come and go: VP_SENTINEL_MODULE_* */
	uint32_t paused;  /* 1: the VMM has paused the guest; 0: it has not, or unknown */
	uint32_t nram;
	uint32_t processes;  /* 1: probes may be in processes: struct vp_batch_process */
	uint32_t semaphores; /* 1: … and it can raise their semaphores: vp_batch_site.semaphore */
	uint32_t pad;
	uint64_t
	    held_ns; /* time for which vCPUs have been kept out of the guest, since the engine was created */
	struct vp_ram_range ram[]; /* fd_index: in the descriptors of this message */
};

struct vp_msg_snapshot_reply {
	struct vp_msg head;
	uint32_t nvcpus;
	uint32_t pad;
	struct vp_regs regs[]; /* valid 0: not available in time */
};

struct vp_msg_stats_reply {
	struct vp_msg head;
	uint32_t n; /* at most VP_VM_STATS_MAX */
	uint32_t pad;
	char names[][VP_VM_STAT_NAME]; /* NUL-terminated */
};

struct vp_msg_cpc {
	struct vp_msg head;
	struct vp_cpc_event event;
};

struct vp_msg_reply {
	struct vp_msg head;
	uint32_t code; /* 0: done, else enum ot_err_code */
	uint32_t pad;
	char text[VP_ERROR_TEXT]; /* of the error; of a success, a note for the operator, or "" */
};

struct vp_msg_patches_reply {
	struct vp_msg head;
	uint32_t npatches;
	uint32_t pad;
};

/*
 * A guest loads and unloads modules while it is traced. A vCPU that is at a VP_SENTINEL_MODULE_* waits there,
 * VP_MODULES_HOLD_NS at most, until the sites of an unloaded module are out of the plan, and until each
 * client has read a loaded one and has enabled its probes (ENABLE). A client that did not answer within that
 * time is not waited for until it has caught up.
 */
#define VP_MODULES_HOLD_NS 200000000ull
#define VP_MODULES_KEPT    64u

struct vp_module_event {
	uint64_t module;  /* address of its struct module */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t kind;    /* enum vp_sentinel */
	uint32_t pad;
};

struct vp_msg_modules {
	struct vp_msg head;
	uint64_t seen; /* number of the last event that the client has handled */
};

/* Only root is believed about a log. */
struct vp_msg_access {
	struct vp_msg head;
	uint64_t logged; /* the client has put the records up to this number in the system's log; 0: none */
};

struct vp_msg_access_reply {
	struct vp_msg head;
	uint32_t n; /* records, by number */
	uint32_t pad;
	uint64_t lost; /* records that were forgotten and are in no log */
	struct vp_access_reads reads[VP_ACCESS_UIDS];
	struct vp_access list[VP_ACCESS_KEPT];
};

struct vp_msg_modules_reply {
	struct vp_msg head;
	uint64_t last; /* number of the last event of all */
	uint32_t n;    /* events, up to that one. Less than last - seen: the older ones are forgotten */
	uint32_t late; /* modules that were loaded and for which the guest did not wait until the client was
			  done */
	struct vp_module_event events[VP_MODULES_KEPT];
};

/* Descriptors with OPEN, in this order: program, facts (struct vp_facts), the memory that all engines of the
 * session share, the memory that only this one shares with its client, unwind (absent: no unwind table). The
 * engine maps the two memories as one, the second behind the first: offsets count from its start. */
struct vp_msg_open {
	struct vp_msg head;
	uint64_t bufsize, aggsize;             /* of one half, bytes */
	uint64_t globals_offset, globals_size; /* in the memory that all engines share, as … */
	uint64_t dynvars_offset, dynvars_size;
	uint64_t specs_offset;   /* … these: nspec × uint64_t: speculations, see speculation.c */
	uint64_t status_offset;  /* start of its own memory: nvcpus × struct vp_vcpu_status */
	uint64_t buffers_offset; /* of the vCPUs' buffers, see vp_shared_layout() */
	uint32_t strsize, stackframes, ustackframes, jstackframes, jstackstrsize;
	uint32_t nspec;
	uint64_t specsize;
	uint32_t nvcpus;    /* must be the engine's */
	uint32_t first_cpu; /* the number of this engine's vCPU 0 in the dynamic variables' table (only there:
			     * `cpu` and records count from 0 in each guest) */
	uint32_t bufpolicy; /* enum dif_bufpolicy */
	uint32_t flags;     /* VP_OPEN_* */
	uint32_t engine;    /* index among the session's engines, below VP_ENGINES_MAX */
	uint32_t only_cpu;  /* -x cpu: 1 + the vCPU that clauses fire on; 0: all */
	uint32_t maxcost; /* -x maxcost: per cent of the vCPUs' time that the session may take; 0: no limit */
	uint32_t scratch_max; /* limit of a vCPU's scratch space, bytes; 0: by vp_scratch_size() */
	uint64_t ring_size;   /* of the records of resident probes, for each vCPU, bytes at most; 0: none */
};

enum {
	VP_OPEN_DESTRUCTIVE = 1,
	VP_OPEN_EACH_HIT = 2, /* no counts by counters that the guest can raise, see backend.h */
	VP_OPEN_RESIDENT =
	    4, /* the guest may be given code that counts and tests where its functions begin */
	VP_OPEN_RESIDENT_ANYWAY = 8, /* … even if the host executes that more slowly than an exit */
};

#define VP_ENGINES_MAX 32 /* of one session */
#define VP_NSPEC_MAX   65536u

/* Probes that the overload guard has disabled since the last reply. */
struct vp_overload {
	uint32_t taken;   /* number; 0: none, and the other fields are undefined */
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
	uint64_t agent_bound_ns; /* error bound of the time of an event inside the guest; 0: not known */
	/* With that: one point in time on both clocks, of their last comparison. */
	uint64_t agent_tsc, agent_ns;
};

enum {
	VP_SWITCH_PAUSED = 1, /* the guest does not run: changes of sites are pending */
	VP_SWITCH_FILLED = 2, /* fill policy: a buffer is full, so the session has left the active state */
	VP_SWITCH_AGENT_GONE = 4, /* the guest has unloaded its agent: ENABLE may name the next one */
};

#endif
