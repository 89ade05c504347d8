/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine. It runs in a VMM's process, or in the operator's own for BEGIN, END and tick. It owns sessions,
 * their enablings (ECBs) and buffers; a backend reports hits and samples to it, and the engine gives the
 * backend the sites to watch.
 *
 * Threads: vCPU threads call vp_engine_hit(), vp_engine_sample() and the like, each with its own index,
 * never two at once for one vCPU. Everything else runs on the engine's service thread, which
 * serves the control socket (engine/service/server.c) and switches buffers, or, in the operator's
 * process, is the thread that called vp_engine_create().
 *
 * A switch needs no lock on the hit path: each vCPU has a sequence word, odd while it is in a probe. The
 * service thread publishes the change (plan, active half, session state), calls membarrier(2), and waits
 * until each sequence word is even or has changed.
 */
#ifndef VP_ENGINE_ENGINE_H
#define VP_ENGINE_ENGINE_H

#include <stddef.h>

#include "base/err.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/engine/wire/vmm.h"

struct vp_engine;
struct vp_ecb;
struct vp_enabled_site;
struct vp_engine_session;

/*
 * A place in the guest's text that a backend watches. The engine creates it for one plan; immutable while the
 * plan is installed.
 */
struct vp_site {
	uint64_t gva;    /* guest virtual address of the instruction: the kernel's, or of a process; or, with
			  * `file`, its offset there */
	uint64_t target; /* as in struct vp_batch_site: of a branch on a static key; else 0 */
	uint64_t host;   /* host address of the byte in this process (0: the backend resolves) */
	uint32_t necbs;  /* evaluated on a hit; 0: only counters */
	uint32_t ncounters;
	struct vp_ecb **ecbs; /* of all sessions, in order of enabling */
	const struct vp_enabled_site *
	    *enabled;       /* the engine's: for each ECB, the site that it is enabled on */
	uint32_t *counters; /* counter slots to add 1 to, inline if the backend can */
	uint64_t regs;      /* VP_REG_BIT()s that the ECBs may read */
	uint8_t length;     /* of the instruction */
	uint8_t room;       /* bytes from its start that execute only from its start; at least `length` */
	uint8_t bytes[15];  /* the instruction, then the rest of `room` */
	uint8_t trap;       /* enum vp_site_trap */
	uint8_t sentinel;   /* enum vp_sentinel */
	uint8_t agent;      /* enum vp_agent_call: a hit is wanted even without ECBs */
	uint16_t pushed;    /* sentinels: the return address is this many bytes above rsp */
	uint32_t cost_ns;   /* the engine's: from ops->hit_cost_ns */
	/* In a process: its top page table, and the bits of VP_REG_ROOT that are its address; 0: in the
	 * kernel */
	uint64_t root, root_mask;
	/* Guest address of its trampoline, to which it jumps instead of trapping; 0: none. The ECBs are those
	 * of a trap, which is planted while the text is not the nop that the jump replaces. */
	uint64_t jump;
	uint64_t exit;  /* … of the `out` in the trampoline that is a hit here; 0: there is none */
	uint64_t file;  /* in a file, whichever process executes it (struct vp_batch_probe); else 0 */
	uint64_t batch; /* generation; increases when a client re-enables the site after checking its bytes */
	struct vp_engine_session *es; /* the engine's: the session whose page tables are used */
	const struct vp_plan *plan;   /* that it is of */
};

/* A counter that a backend keeps for each vCPU. The engine creates it for one plan, as it does sites. */
struct vp_cpc {
	struct vp_cpc_event event;
	/* the engine's: */
	uint32_t cost_ns; /* of an overflow, from ops->hit_cost_ns */
	uint32_t nprobes;
	struct vp_cpc_probe *probes;
};

/* All sites to watch. Those in the kernel are sorted by host address. Those in processes and files are behind
 * them, sorted by process or file and address: `host` is 0, as a page of a program may be in other memory at
 * any time, or in none. A backend identifies them by their address, or its offset in a page, and their
 * bytes. */
struct vp_plan {
	struct vp_site *sites;
	uint32_t nsites;
	uint32_t nusers;    /* in processes and files: sites[nsites] and on */
	uint32_t ncounters; /* slots in use are below this */
	bool profiling;     /* some profile-n is enabled: samples will be requested */
	uint32_t vm_events; /* bit 1 << enum vp_vm_kind: some probe fires on that kind */
	struct vp_cpc *cpcs;
	uint32_t ncpcs; /* at most VP_CPC_MAX */
};

struct vp_backend_ops; /* vmm-probe/engine/backend.h */

struct vp_engine_config {
	const struct vp_backend_ops *ops;
	void *backend;
	const char *guest_name;
	uint32_t guest_id;
	const struct vp_ram_range *ram; /* copied */
	uint32_t nram;
	const int *ram_fds; /* borrowed for the engine's life */
	uint32_t nram_fds;
};

OT_MUST_CHECK struct ot_err *vp_engine_create(const struct vp_engine_config *config, struct vp_engine **ret);
void vp_engine_destroy(struct vp_engine *engine);

/** Is a vCPU at @p site, which is in a process and in no file, when its VP_REG_PC is @p pc and its
 * VP_REG_ROOT @p root? */
static inline bool vp_site_is_of(const struct vp_site *site, uint64_t pc, uint64_t root)
{
	return pc == site->gva && (root & site->root_mask) == site->root;
}

/** A vCPU reached a site. @p ctx is passed to ops->reg. Hit path. */
void vp_engine_hit(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *site, void *ctx);

/** The last hit at @p site on @p vcpu has cost the guest @p ns of its vCPUs' time, all of them together,
 * beyond ops->hit_cost_ns. On that vCPU's thread, while the site's plan is in force. Counters' cost is
 * reported by ops->counters->cost_ns instead. */
void vp_engine_charge(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *site, uint64_t ns);

/** A vCPU was stopped at the address of @p sites, @p n of them, and is in none of their processes: its time
 * (cost_ns) is charged to the sessions that requested the stop. Hit path. */
void vp_engine_pass(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *const *sites, uint32_t n);

/** Is the instruction at @p site, which is in a process, the one that it was planned for, as far as its page
 * is in memory? A breakpoint of the guest's own behind it is ignored. For a backend at a hit, on that vCPU's
 * thread. */
bool vp_site_is_there(const struct vp_site *site, uint32_t vcpu);

/** Guest kernel memory at virtual address @p gva, for a backend at a hit on @p site, on that vCPU's thread:
 * all of @p len bytes, or false with nothing done. A store to a page that the guest's kernel may not write
 * fails (its CR0.WP is taken to be set). Memory that is gone (base/guarded.h) fails too, and of a store over
 * two pages the first part may be done then. */
bool vp_site_load(const struct vp_site *site, uint32_t vcpu, uint64_t gva, void *dst, uint32_t len);
bool vp_site_store(const struct vp_site *site, uint32_t vcpu, uint64_t gva, const void *src, uint32_t len);

/** The host address of a site by the guest's page table as it is now, not cached; 0: not mapped. Any thread
 * while the site's plan is in force. */
uint64_t vp_site_host(const struct vp_site *site);
/** The word at @p gva, in kernel memory and aligned, not cached. False: not readable. Any thread. */
bool vp_site_word(const struct vp_site *site, uint64_t gva, uint64_t *ret);
/** Does the guest's kernel hold one of the locks that guard changes of its text? Any thread. */
bool vp_site_text_locked(const struct vp_site *site);
/** May a task of the guest be about to patch a branch on a static key, or is that not known? False is exact
 * while the vCPUs are out of the guest. Any thread. */
bool vp_site_keys_locked(const struct vp_site *site);

/** A sample that request_sample() requested. Hit path. */
void vp_engine_sample(struct vp_engine *engine, uint32_t vcpu, void *ctx);

/** The counter @p cpc of the plan in force has overflowed on @p vcpu, and before that @p missed times since
 * the last call, without one. Hit path. */
void vp_engine_overflow(struct vp_engine *engine, uint32_t vcpu, const struct vp_cpc *cpc, uint64_t missed,
			void *ctx);

/** An event of a vCPU that vm probes fire on; called for the kinds in plan->vm_events. @p event:
 * VP_VM_EVENT(). Hit path. */
void vp_engine_vm(struct vp_engine *engine, uint32_t vcpu, uint32_t event, const uint64_t args[10],
		  void *ctx);

/** A visit that request_visit() requested. Hit path. */
void vp_engine_visit(struct vp_engine *engine, uint32_t vcpu);

/** Does the backend report that sentinel by vp_engine_module()? */
static inline bool vp_sentinel_is_module(uint8_t sentinel)
{
	return sentinel == VP_SENTINEL_MODULE_COMES || sentinel == VP_SENTINEL_MODULE_GOES;
}

/** A vCPU is at a VP_SENTINEL_MODULE_* with @p module as first argument, and has left the probes there. Until
 * vp_engine_module_done() is true of the number that is returned, or for VP_MODULES_HOLD_NS, the backend
 * keeps it from running guest code. Any thread; outside of vp_engine_hit(). */
uint64_t vp_engine_module(struct vp_engine *engine, enum vp_sentinel kind, uint64_t module);
bool vp_engine_module_done(const struct vp_engine *engine, uint64_t number);

/** Guest RAM was moved, added or removed: drop every translation. Any thread; in force from the next hit on,
 * so the memory itself may be freed only once every vCPU has left its probe. */
void vp_engine_memory_changed(struct vp_engine *engine);

/** The kernel traced by the sessions now open has ended: stop them and report @p how to them. The engine
 * keeps serving, new sessions too (after a reboot of the guest). Any thread, vCPUs' too; does not wait. */
void vp_engine_guest_ended(struct vp_engine *engine, enum vp_guest_end how);

/** Wait until no session is open, at most @p timeout_ms. A VMM calls this between the guest's end and its
 * own, so that no data is lost. Not on the service thread. */
void vp_engine_wait_drained(struct vp_engine *engine, int timeout_ms);

/** Serve the control socket at @p path (mode 0600, removed at the end) on a thread of the engine's own, with
 * all signals blocked. On return the socket is listening. */
OT_MUST_CHECK struct ot_err *vp_engine_serve(struct vp_engine *engine, const char *path);

/** The same on a UNIX socket of SOCK_SEQPACKET that is already listening; duplicated. */
OT_MUST_CHECK struct ot_err *vp_engine_serve_fd(struct vp_engine *engine, int listening);

#endif
