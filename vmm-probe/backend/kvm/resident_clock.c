/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time-stamp counter as a vCPU's guest reads it: with the offset and the rate that KVM gives it. */
#include <sys/ioctl.h>

#include "vmm-probe/backend/kvm/internal.h"

#define MSR_TSC 0x10u

bool vp_kvm_resident_counter(void *backend, uint32_t vcpu, uint64_t *ret)
{
	const struct vp_kvm *kvm = backend;
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head = { .nmsrs = 1 }, .entry = { .index = MSR_TSC } };

	if (ioctl(kvm->vcpus[vcpu].fd, KVM_GET_MSRS, &msrs) != 1)
		return false;
	*ret = msrs.entry.data;
	return true;
}
