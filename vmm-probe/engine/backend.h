/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A backend's operations: one table that every backend has, and a table for each optional feature. A NULL
 * table means unsupported, and the engine reports that; it never means success.
 *
 * To add a backend: a folder in vmm-probe/backend/, these tables, a call of vp_engine_create() with them,
 * vp_engine_hit() on each hit.
 *
 * Each callback's first argument is vp_engine_config.backend.
 */
#ifndef VP_ENGINE_BACKEND_H
#define VP_ENGINE_BACKEND_H

#include "vmm-probe/engine/engine.h"

/* Counters that a site increments without vp_engine_hit(). Service thread. */
struct vp_backend_counters {
	/* Slots of each vCPU; 0: none. */
	uint32_t (*slots)(void *backend);

	/* The value of a slot on a vCPU since the engine was loaded: monotonic, kept across install(). */
	uint64_t (*read)(void *backend, uint32_t slot, uint32_t vcpu);

	/* Optional. Time that the vCPUs have spent counting in a slot since the engine was loaded, ns;
	 * monotonic. NULL: none. */
	uint64_t (*cost_ns)(void *backend, uint32_t slot);

	/* Does a count not depend on the place of the hit, so that a guest can raise it? */
	bool guest_can_raise;
};

/* Traps in the guest's text. A backend without them leaves the text alone. */
struct vp_backend_traps {
	/* VP_TRAPS_*. Service thread. */
	uint32_t (*kinds)(void *backend);

	/* Its present changes of guest text, in any order, at most @max; returns their number, which may be
	 * that of a moment ago. @ret may be NULL with @max 0. Service thread. */
	uint32_t (*patches)(void *backend, struct vp_patch *ret, uint32_t max);

	/* Check that all traps are still in place, and plant missing ones again if possible. Called about
	 * once a second. Service thread. */
	void (*sweep)(void *backend);

	/* Any thread. */
	void (*patching)(void *backend, struct vp_patching *ret);

	/* Total time for which the vCPUs have been kept out of the guest for changes of its text or memory.
	 * Any thread. */
	uint64_t (*held_ns)(void *backend);
};

struct vp_facts;

/* The data about a guest's kernel that a backend needs to map the room there. */
struct vp_resident_kernel {
	uint64_t root; /* guest physical address of its top page table */
	uint32_t levels;
	uint64_t image_end;           /* virtual */
	const uint64_t *percpu_base;  /* by vCPU */
	const struct vp_facts *facts; /* all that is known of it; valid during the call */
	bool anyway; /* for tests: even if the host executes such code more slowly than an exit, or the room
		      * can't be searched for tasks */
};

/* Memory of ours that is mapped in the guest's kernel. It stays as long as the engine. */
struct vp_resident_room {
	uint8_t *code; /* in this process; the guest can't write it */
	uint64_t code_gva;
	uint32_t code_size;
	/* Data of the vCPU with the lowest per-CPU area, whose base is `lowest`. Each other vCPU's data is as
	 * far from it as the areas are apart. */
	uint8_t *data;
	uint64_t data_gva;
	uint64_t lowest;
	uint32_t data_size; /* bytes of a vCPU's */
	uint8_t port;       /* an `out` to it in a trampoline is a hit of the trampoline's site */
	/* The VM has disks, or may be reset: what the guest itself writes of its memory may be run where the
	 * room is not. */
	bool outlived;
};

/* Resident probes: docs/design/017-resident-probes.md. install() plants a jump to vp_site.jump in place of a
 * trap where the text is the nop of function tracing. */
struct vp_backend_resident {
	/* Map the room in this kernel; another kernel's mapping stays as it is. UNSUPPORTED, LIMIT: it can't
	 * be mapped, with the reason. Service thread. */
	struct ot_err *(*open)(void *backend, const struct vp_resident_kernel *kernel,
			       struct vp_resident_room *ret);
	/* Within exclusive(): registers of each vCPU; how many were filled. */
	uint32_t (*regs)(void *backend, struct vp_regs *regs, uint32_t max);
	/* The time-stamp counter that a vCPU's guest reads, while the vCPU is outside the guest: on its
	 * thread, or within exclusive(). False: it can't be read. May make a system call, so the engine does
	 * not ask for it at a hit. NULL: unsupported. */
	bool (*counter)(void *backend, uint32_t vcpu, uint64_t *ret);
};

/* Guest RAM as it is at one time. */
struct vp_ram_layout {
	const struct vp_ram_range *ranges;
	const int *fds; /* borrowed */
	uint32_t nranges, nfds;
	uint64_t number; /* no other layout has it; not 0 */
};

/* Guest RAM that is not known when the engine is created, and may change while it lives. Service thread. */
struct vp_backend_ram {
	/* Find its present layout. From here on gpa_to_host() uses it, and its memory stays mapped until
	 * let_go(). BUSY, LIMIT: it can't be determined, with the reason, and nothing changes. @patient: this
	 * may wait two seconds. */
	struct ot_err *(*find)(void *backend, bool patient, struct vp_ram_layout *ret);

	/* No vCPU and no client uses any other layout than that of @number any more. 0: none uses that
	 * either; nothing reads guest memory until the next find(). */
	void (*let_go)(void *backend, uint64_t number);
};

/* Events and statistics of the VM: the vm provider. The backend reports events by vp_engine_vm(). */
struct vp_backend_vm {
	/* The names of each vCPU's statistics; returns their number. Service thread. */
	uint32_t (*stats)(void *backend, char (*names)[VP_VM_STAT_NAME], uint32_t max);

	/* The value of statistic @index; 0: unavailable. Timer and service threads. */
	uint64_t (*stat)(void *backend, uint32_t vcpu, uint32_t index);
};

/* Counters of the vCPUs' threads: the cpc provider. install() starts those of the plan and ends the others;
 * the backend reports overflows by vp_engine_overflow(). */
struct vp_backend_cpc {
	/* Can @event, which is valid, be counted for the vCPUs? UNSUPPORTED: no, with the reason and the
	 * remedy. Service thread. */
	struct ot_err *(*test)(void *backend, const struct vp_cpc_event *event);
};

/* The host engine's: no vCPU fires its probes, so built-ins and actions refer to this process. */
struct vp_backend_host {
	/* A built-in variable (pid, uid, cpu …); false: it reads as 0. */
	bool (*scalar)(void *backend, uint32_t var, uint64_t *ret);

	/* The same for strings (execname): length, or -1. */
	int (*string)(void *backend, uint32_t var, char *dst, uint32_t cap);

	/* Is this process @pid or one of its descendants? */
	bool (*progenyof)(void *backend, uint64_t pid);

	/* Optional. raise(), and stop() with SIGSTOP, signal this process. NULL: clauses with them can't be
	 * enabled. */
	void (*raise)(void *backend, int signal);
};

/* Required unless marked optional. One struct with many fields: the engine's whole interface to its
 * environment. */
struct vp_backend_ops {
	const char *name; /* "tcg", "fake" */

	/* A register of the vCPU that is in a hit or sample; @ctx is the backend's own pointer. Hit path. */
	uint64_t (*reg)(void *backend, void *ctx, enum vp_reg reg);

	/* The host address of guest physical @gpa and the number of contiguous bytes from there, at most to
	 * the end of its RAM block; NULL: not RAM. Hit path; must be safe against memory slots that are
	 * removed concurrently. */
	void *(*gpa_to_host)(void *backend, uint64_t gpa, uint64_t *ret_len);

	/* Optional. The host engine's: reads the attached guest's kernel memory for BEGIN and tick; false:
	 * not readable. Another's: reads memory at a hit or sample, the kernel's or (@user) that of the
	 * vCPU's process, where that is cheaper than a page walk or no page table is known; false: walk.
	 * NULL: walk. */
	bool (*load)(void *backend, uint64_t gva, void *dst, uint32_t len, bool user);

	/* Put @plan in force, and return when no vCPU can enter a site of the previous plan, which the engine
	 * then frees. Service thread. NULL plan: no sites. BUSY: the guest is paused or does not run; the
	 * engine reports that and tries again. */
	struct ot_err *(*install)(void *backend, const struct vp_plan *plan);

	/* Optional. Cost to a vCPU of a hit on @site (NULL: of a sample) besides vp_engine_hit() itself:
	 * leaving and re-entering the guest, ns. NULL: none. Service thread. */
	uint32_t (*hit_cost_ns)(void *backend, const struct vp_site *site);

	/* Optional. Request that vp_engine_sample() is called soon on this vCPU's thread (or here, for a
	 * halted one, with the registers that it halted with). NULL: no profile probes. Timer thread. */
	void (*request_sample)(void *backend, uint32_t vcpu);

	/* Optional. Request that vp_engine_visit() (or vp_engine_sample()) is called soon on this vCPU's
	 * thread, or here for a halted one. NULL: request_sample() is called instead. Any thread. */
	void (*request_visit)(void *backend, uint32_t vcpu);

	/* Registers of each vCPU for attaching, as recent as the backend can get them within 200 ms; returns
	 * how many were filled. Service thread. */
	uint32_t (*snapshot)(void *backend, struct vp_regs *regs, uint32_t max);

	uint32_t (*nvcpus)(void *backend);

	/* Optional. The TID of the thread that runs this vCPU; 0, and NULL: not known. Service thread. */
	uint32_t (*thread)(void *backend, uint32_t vcpu);

	/* Optional. Call @fn while no vCPU executes the guest's code, and none is within an instruction, on
	 * any thread; returns when that is done. False: not done, as the vCPUs could not be stopped in time.
	 * NULL: unsupported. Service thread. */
	bool (*exclusive)(void *backend, void (*fn)(void *arg), void *arg);

	/* It reports hits at VP_SENTINEL_MODULE_* by vp_engine_module(). */
	bool has_modules;

	/* It watches the plan's sites in processes, and reports a hit there in the site's process only
	 * (vp_site_is_of()). With `traps`: where these have VP_TRAPS_USER. */
	bool has_processes;

	/* Optional. Has the VMM stopped the guest? False, and NULL: no, or unknown. Any thread. */
	bool (*paused)(void *backend);

	/* NULL: unsupported. */
	const struct vp_backend_counters *counters;
	const struct vp_backend_traps *traps;
	const struct vp_backend_resident *resident;
	const struct vp_backend_ram *ram; /* the engine's initial RAM never changes */
	const struct vp_backend_vm *vm;
	const struct vp_backend_cpc *cpc;
	const struct vp_backend_host *host; /* not NULL: the host engine */
};

#endif
