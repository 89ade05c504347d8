/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resident probes (docs/design/017-resident-probes.md): their memory in the guest, and the jumps to it. The
 * memory is two slots, one of code that the guest can't write and one of data that it can't execute. Entries
 * of the kernel's own page table map both behind its image.
 *
 * In our own monitor they stay until the VM ends. Another project's VMM replaces its engine whenever the
 * machine changes, and may save the guest's memory: there the memory is its caller's
 * (vp_kvm_config.resident), outlives the engine, and is withdrawn after it, as soon as no task is there
 * (withdraw.c).
 */
#ifndef VP_KVM_RESIDENT_H
#define VP_KVM_RESIDENT_H

#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/wire/facts.h"

#define VP_KVM_LARGE_PAGE (2ull << 20)

struct vp_kvm;
struct vp_kvm_trap;
struct vp_kvm_traps;

struct vp_kvm_resident {
	int fd;                       /* of the memory; valid if mem is */
	int vm;                       /* whose slots these are */
	uint8_t *mem;                 /* code, then data, as guest physical memory has them; NULL: none yet */
	uint64_t data_size;           /* of all vCPUs, in whole large pages */
	uint64_t gpa;                 /* of the code; the data is behind it */
	uint32_t slot;                /* of the code; the data's is the next one */
	struct vp_resident_room room; /* code_gva, data_gva: of the kernel that got it mapped last */
	uint64_t table;               /* the page of entries that map it, guest physical; 0: none */
	struct vp_facts facts;        /* of that kernel */
};

/** As the backend operation. */
OT_MUST_CHECK struct ot_err *vp_kvm_resident_open(void *backend, const struct vp_resident_kernel *kernel,
						  struct vp_resident_room *ret);
/** Remove @p r's slots from the VM and free its memory, whoever uses it. */
void vp_kvm_resident_free(struct vp_kvm_resident *r);
/** As the backend operation. resident_clock.c */
bool vp_kvm_resident_counter(void *backend, uint32_t vcpu, uint64_t *ret);
/** No vCPU runs any more. */
void vp_kvm_resident_deinit(struct vp_kvm *kvm);

/* resident_map.c; the vCPUs are held */
/** Have entries of the kernel's page table map @p r's memory, unless they do already, and set its addresses
 * in @p r->room. UNSUPPORTED, LIMIT: it has no entries for that; they are unchanged. */
OT_MUST_CHECK struct ot_err *vp_kvm_resident_map(struct vp_kvm *kvm, const struct vp_resident_kernel *kernel,
						 struct vp_kvm_resident *r);
/** Clear those entries, if they are still ours, in @p ram: an engine's, or after it what the VMM has now.
 * Until the slots are removed, a TLB may have them. */
void vp_kvm_resident_unmap(const struct vp_kvm_resident *r, const struct vp_ram_range *ram, uint32_t nram);

/* withdraw.c */
/** Take the memory away from the VM, if no task of the guest is there and nothing leads there; false: a task
 * may be. The vCPUs are held. */
bool vp_kvm_resident_take(struct vp_kvm *kvm);

/* jumps.c */
/** Make @p t a jump over the instruction that it has recorded; false: that has to be trapped. */
bool vp_kvm_aim_jump(struct vp_kvm_trap *t);
/** Fill traps->exits, which traps_destroy() frees. NO_MEMORY. */
OT_MUST_CHECK struct ot_err *vp_kvm_exits_create(struct vp_kvm_traps *traps);
/** The site whose trampoline has exited, with RIP at its `out` or behind; NULL: none. Hit path. */
const struct vp_kvm_trap *vp_kvm_exits_find(const struct vp_kvm_traps *traps, uint64_t rip);

#endif
