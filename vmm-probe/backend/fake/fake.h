/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fake backend: guest RAM that is an array, page tables that a test writes, vCPUs whose registers a
 * test sets. A "hit" is a call. For tests and benchmarks of everything above the backends.
 *
 * Threads: vp_fake_hit() and vp_fake_sample() by any thread, one at a time for one vCPU; the rest as engine.h
 * documents for a backend.
 */
#ifndef VP_BACKEND_FAKE_FAKE_H
#define VP_BACKEND_FAKE_FAKE_H

#include "vmm-probe/engine/engine.h"

#define VP_FAKE_PAGE 4096ull

struct vp_fake;
struct vp_resident_room;
struct vp_backend_ram;

struct vp_fake_config {
	uint32_t nvcpus;
	uint64_t ram_size;           /* bytes, a multiple of the page size */
	uint32_t counter_slots;      /* 0: the backend has no inline counters */
	uint32_t levels;             /* of its page tables: 4 or 5 */
	bool can_profile, can_count; /* it has counters of vCPUs, for all events but those of the cache */
	uint32_t hit_cost_ns, counter_cost_ns; /* of one hit, of one count, as reported to the engine */
	const struct vp_resident_room *room;   /* for resident probes; NULL: there is none. Borrowed */
};

OT_MUST_CHECK struct ot_err *vp_fake_create(const struct vp_fake_config *config, struct vp_fake **ret);
void vp_fake_destroy(struct vp_fake *fake);

/** The engine to test; made by create, owned by the fake, destroyed with it (or before). */
struct vp_engine *vp_fake_engine(struct vp_fake *fake);
void vp_fake_destroy_engine(struct vp_fake *fake);

/* --- guest memory ---------------------------------------------------------------------------- */

/** A fresh zeroed page of RAM; its guest physical address. Aborts the test when RAM is full. */
uint64_t vp_fake_page(struct vp_fake *fake);

/** An empty top page table. */
uint64_t vp_fake_root(struct vp_fake *fake);

/** Map the page at @p va in @p root to @p gpa; @p flags: page-table entry bits besides P and W (4: user).
 * @p shift 12, or 21 for a large page. */
void vp_fake_map(struct vp_fake *fake, uint64_t root, uint64_t va, uint64_t gpa, uint64_t flags,
		 unsigned shift);

/** The entry that vp_fake_map() has made for the small page at @p va. */
uint64_t *vp_fake_entry(struct vp_fake *fake, uint64_t root, uint64_t va);

/** Host address of guest physical memory, NULL outside RAM. */
void *vp_fake_ram(struct vp_fake *fake, uint64_t gpa);

/** Write to mapped guest memory by virtual address; aborts the test where nothing is mapped. */
void vp_fake_write(struct vp_fake *fake, uint64_t root, uint64_t va, const void *src, size_t len);

/* --- running ------------------------------------------------------------------------------------ */

void vp_fake_set_reg(struct vp_fake *fake, uint32_t vcpu, enum vp_reg reg, uint64_t value);

/** The vCPU executes the instruction at kernel address @p gva: true when that is a site of the plan in
 * force. */
bool vp_fake_hit(struct vp_fake *fake, uint32_t vcpu, uint64_t gva);

/** The site that vp_fake_hit() would find, for benchmarks; valid while no plan is installed. */
const struct vp_site *vp_fake_site(struct vp_fake *fake, uint64_t gva);

/** The context that the fake passes to vp_engine_hit(), for benchmarks. */
void *vp_fake_ctx(struct vp_fake *fake, uint32_t vcpu);

/** Take a sample now if one was requested; true if so. */
bool vp_fake_sample(struct vp_fake *fake, uint32_t vcpu);

/** The vCPU's time-stamp counter at that moment of the host's clock. */
static inline uint64_t vp_fake_counter(uint32_t vcpu, uint64_t ns)
{
	return 3 * ns + 1000000007ull * vcpu;
}

/** The vCPU's statistic "ticks". */
void vp_fake_set_ticks(struct vp_fake *fake, uint32_t vcpu, uint64_t value);
/** The @p i-th counter of the plan in force overflows, and did so @p missed times before; false: there is
 * none. */
bool vp_fake_overflow(struct vp_fake *fake, uint32_t vcpu, uint32_t i, uint64_t missed);
/** vm_events of the plan in force. */
uint32_t vp_fake_vm_events(struct vp_fake *fake);

/** From now on the engine asks @p layouts, with this fake as `backend`, for guest RAM. Before it serves. */
void vp_fake_set_layouts(struct vp_fake *fake, const struct vp_backend_ram *layouts);

/* --- faults to inject, and what happened ---------------------------------------------------------- */

/** From now on install() answers BUSY (a paused guest). */
void vp_fake_set_busy(struct vp_fake *fake, bool busy);
/** From now on the vCPUs can't be stopped for exclusive(). */
void vp_fake_set_unstoppable(struct vp_fake *fake, bool unstoppable);
/** The n-th install() from now fails with OS; 0: none does. */
void vp_fake_fail_install(struct vp_fake *fake, unsigned n);

uint32_t vp_fake_sites(struct vp_fake *fake); /* in the plan in force */

#endif
