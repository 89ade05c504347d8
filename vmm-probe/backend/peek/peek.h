/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * External sampling of a KVM guest: nothing is injected into its VMM and nothing in it is stopped.
 *
 * The page that KVM shares with the VMM for each vCPU (struct kvm_run) is mapped here too. A sample requests
 * a vCPU's registers there, which KVM stores at its next exit (kvm_valid_regs), and makes the vCPU exit by
 * the signal with which its VMM does so itself. As soon as the registers have arrived, kvm_valid_regs is set
 * to 0 again. No other word changes: a process of ours (undo.c) restores it if this one dies in between.
 *
 * So there are samples (profile-n), statistics (vm:::stat) and reads of guest RAM, and no sites.
 *
 *   vmm.c      the process, its vCPUs, threads, and its kick
 *   sample.c   one vCPU's registers
 *   sampler.c  the thread that requests them and fires
 *   memory.c   the place of the guest's RAM in the VMM: a guess, checked
 *   undo.c     the process that undoes a request
 *   peek.c     an engine in this process
 */
#ifndef VP_BACKEND_PEEK_PEEK_H
#define VP_BACKEND_PEEK_PEEK_H

#include <sys/types.h>

#include "vmm-probe/engine/engine.h"
#include "vmm-probe/guest/mmu.h"

struct vp_peek;

/**
 * Open process @p pid for sampling, and create an engine for its guest. There must be no engine in it.
 *
 * @param claim_fd of vp_vmm_claim() on that process; ownership is taken, also on an error
 * @return PERMISSION; UNSUPPORTED: no VMM with KVM, or an unknown kick, or its synchronised registers are in
 * use; NOT_FOUND: no such process.
 */
OT_MUST_CHECK struct ot_err *vp_peek_open(pid_t pid, int claim_fd, struct vp_peek **ret);
/** On return the VMM is as it was before. Connections to the engine end. */
void vp_peek_close(struct vp_peek *peek);

/** The address of its engine's socket: "@NAME", an abstract address. */
const char *vp_peek_socket(const struct vp_peek *peek);

/** From now on probes can read the guest's memory: @p phys (borrowed until close) by the kernel's page table
 * at @p root. To be called before a session is opened. */
void vp_peek_use_memory(struct vp_peek *peek, const struct vp_phys *phys, struct vp_gpa root,
			unsigned levels);

/** Bytes of RAM that were found; 0: none. */
uint64_t vp_peek_ram_bytes(const struct vp_peek *peek);

/* State of the vCPUs when it was opened. */
enum vp_peek_seen {
	VP_PEEK_PAUSED, /* none responded, because none runs */
	VP_PEEK_SILENT, /* none responded */
	VP_PEEK_EARLY,  /* none had 64-bit paging on: no kernel runs yet */
	VP_PEEK_64BIT,
};
enum vp_peek_seen vp_peek_seen(const struct vp_peek *peek);

/** The VMM's /dev/kvm, for detecting its KVM's behaviour; the caller's to close. NOT_FOUND. */
OT_MUST_CHECK struct ot_err *vp_peek_kvm(const struct vp_peek *peek, int *ret_fd);

/* Since it was opened. Any thread. */
struct vp_peek_counts {
	uint64_t kicks;   /* sent to vCPUs for samples */
	uint64_t answers; /* of these: registers arrived */
	uint64_t dropped; /* of those: unusable (the vCPU was in SMM, or in a guest of its own) */
};
void vp_peek_count(const struct vp_peek *peek, struct vp_peek_counts *ret);

/** Registers of each vCPU that arrive within @p wait_ms, or, after the first, within a second: valid 0
 * otherwise. Returns their number. None, and early: the guest is paused. One thread at a time. */
uint32_t vp_peek_read(struct vp_peek *peek, struct vp_regs *ret, uint32_t max, unsigned wait_ms);

#endif
