/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A KVM guest looked at from beside its VMM: nothing is put into that process and nothing in it is stopped.
 *
 * The page that KVM shares with the VMM for each vCPU (struct kvm_run) is mapped here too. To sample a vCPU,
 * KVM is asked there to leave registers at its next exit (kvm_valid_regs), and the vCPU is made to exit by
 * the signal with which its VMM does that itself. As soon as the registers are there, kvm_valid_regs is 0
 * again. That word is the only thing that changes: a process of our own (undo.c) puts it back if this one
 * dies in between.
 *
 * So there are samples (profile-n), statistics (vm:::stat) and reads of guest RAM, and no sites.
 *
 *   vmm.c      what process it is, its vCPUs, threads, and its kick
 *   sample.c   one vCPU's registers
 *   sampler.c  the thread that has them taken and fires
 *   memory.c   where the guest's RAM lies in the VMM: a guess, checked
 *   undo.c     the process that undoes
 *   peek.c     an engine in this process
 */
#ifndef VP_BACKEND_PEEK_PEEK_H
#define VP_BACKEND_PEEK_PEEK_H

#include <sys/types.h>

#include "vmm-probe/engine/engine.h"
#include "vmm-probe/guest/mmu.h"

struct vp_peek;

/**
 * Look at process @p pid, and make an engine for its guest. There must be no engine in it.
 *
 * @param claim_fd of vp_vmm_claim() on that process; taken over, also when this fails
 * @return PERMISSION; UNSUPPORTED: no VMM with KVM, or one whose kick is not known, or whose registers are in
 * use; NOT_FOUND: no such process.
 */
OT_MUST_CHECK struct ot_err *vp_peek_open(pid_t pid, int claim_fd, struct vp_peek **ret);
/** The VMM is as it was when this returns. Connections to the engine end. */
void vp_peek_close(struct vp_peek *peek);

/** Where its engine listens: "@NAME", an abstract address. */
const char *vp_peek_socket(const struct vp_peek *peek);

/** From now on probes can read the guest's memory: @p phys (borrowed until close) by the kernel's page table
 * at @p root. To be called before a session is opened. */
void vp_peek_use_memory(struct vp_peek *peek, const struct vp_phys *phys, struct vp_gpa root,
			unsigned levels);

/** Bytes of RAM that were found; 0: none. */
uint64_t vp_peek_ram_bytes(const struct vp_peek *peek);

/* What the vCPUs were when it was opened. */
enum vp_peek_seen {
	VP_PEEK_PAUSED, /* none came, as none runs */
	VP_PEEK_SILENT, /* none came */
	VP_PEEK_EARLY,  /* none had 64-bit paging on: no kernel runs yet */
	VP_PEEK_64BIT,
};
enum vp_peek_seen vp_peek_seen(const struct vp_peek *peek);

/** The VMM's /dev/kvm, for trying out what its KVM does; the caller's to close. NOT_FOUND. */
OT_MUST_CHECK struct ot_err *vp_peek_kvm(const struct vp_peek *peek, int *ret_fd);

/* Since it was opened. Any thread. */
struct vp_peek_counts {
	uint64_t kicks;   /* sent to vCPUs that were to be sampled */
	uint64_t answers; /* of these: registers came */
	uint64_t dropped; /* of those: not to be used (the vCPU was in SMM, or in a guest of its own) */
};
void vp_peek_count(const struct vp_peek *peek, struct vp_peek_counts *ret);

/** Registers of each vCPU, as many as come within @p wait_ms, or, once one has, a second: valid 0 otherwise.
 * Returns how many did. None, and soon: the guest is paused. One thread at a time. */
uint32_t vp_peek_read(struct vp_peek *peek, struct vp_regs *ret, uint32_t max, unsigned wait_ms);

#endif
