/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KVM's data of a vCPU in the engine's terms: registers and statistics. Independent of an engine in this
 * process: the peek backend uses it for external sampling. */
#ifndef VP_KVM_STATE_H
#define VP_KVM_STATE_H

#include <linux/kvm.h>
#include <stdint.h>

#include "vmm-probe/engine/engine.h"

/* Bits of the registers that struct kvm_regs has. */
#define VP_KVM_GENERAL ((1ull << (VP_RFLAGS + 1)) - 1)

/** 0 if unknown: @p sregs NULL and not one of VP_KVM_GENERAL, VP_K_GS_BASE. Hit path. */
uint64_t vp_kvm_reg_of(const struct kvm_regs *regs, const struct kvm_sregs *sregs, enum vp_reg reg);

/* A statistic of vCPUs (KVM_GET_STATS_FD, api.rst 4.134). */
struct vp_kvm_stat {
	char name[VP_VM_STAT_NAME];
	uint64_t offset; /* of the number, in a vCPU's stats_fd */
};

/** The monotonic ones of one number each, at most @p max; returns how many. @p fd: of any vCPU; -1: none. */
uint32_t vp_kvm_stats_list(int fd, struct vp_kvm_stat *ret, uint32_t max);
/** 0: not available. Any thread. */
uint64_t vp_kvm_stat_read(int fd, const struct vp_kvm_stat *stat);

#endif
