/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters. A site that only counts, on an instruction that need not be emulated, has an `out` to a port of
 * the counter's own, bound to an eventfd: KVM counts there without an exit. All other sites exit, and the
 * vCPU's thread counts. An eventfd's count belongs to no single vCPU: it is reported as vCPU 0's.
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vmm-probe/backend/kvm/internal.h"

/* Ports without a device on a PC or on QEMU's machines. */
static uint16_t port_of(uint32_t slot)
{
	return (uint16_t)(slot < 8 ? 0xa8 + slot : 0xe0 + slot - 8);
}

uint16_t vp_kvm_port(uint32_t i)
{
	if (i < 2)
		return i ? VP_KVM_PORT_B : VP_KVM_PORT_A;
	return i - 2 < VP_KVM_COUNTERS ? port_of(i - 2) : 0;
}

void vp_kvm_counters_init(struct vp_kvm *kvm)
{
	for (uint32_t i = 0; i < VP_KVM_COUNTERS; i++)
		kvm->counters[i].fd = -1;
}

static int bind_port(struct vp_kvm *kvm, uint32_t slot, int fd, uint32_t flags)
{
	/* no length: a write of any width counts */
	struct kvm_ioeventfd io = { .addr = port_of(slot),
				    .fd = fd,
				    .flags = KVM_IOEVENTFD_FLAG_PIO | flags };

	return ioctl(kvm->config.vm, KVM_IOEVENTFD, &io);
}

uint16_t vp_kvm_counter_port(struct vp_kvm *kvm, uint32_t slot)
{
	struct vp_kvm_counter *c = &kvm->counters[slot];

	if (!kvm->config.host.ioeventfd)
		return 0;
	if (c->fd < 0) {
		int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd < 0)
			return 0;
		if (bind_port(kvm, slot, fd, 0)) {
			close(fd);
			return 0;
		}
		c->fd = fd;
	}
	return port_of(slot);
}

void vp_kvm_counters_deinit(struct vp_kvm *kvm)
{
	for (uint32_t i = 0; i < VP_KVM_COUNTERS; i++) {
		if (kvm->counters[i].fd < 0)
			continue;
		bind_port(kvm, i, kvm->counters[i].fd, KVM_IOEVENTFD_FLAG_DEASSIGN);
		close(kvm->counters[i].fd);
	}
}

uint32_t vp_kvm_counter_slots(void *backend)
{
	(void)backend;
	return VP_KVM_COUNTERS;
}

uint64_t vp_kvm_counter_read(void *backend, uint32_t slot, uint32_t vcpu)
{
	struct vp_kvm *kvm = backend;
	struct vp_kvm_counter *c = &kvm->counters[slot];
	uint64_t here = atomic_load_explicit(&kvm->vcpus[vcpu].counts[slot], memory_order_relaxed);
	eventfd_t more;

	if (vcpu)
		return here;
	if (c->fd >= 0 && !eventfd_read(c->fd, &more))
		c->total += more;
	return here + c->total;
}

/* Hits that KVM counted were cheaper than those that exited. */
uint64_t vp_kvm_counter_cost_ns(void *backend, uint32_t slot)
{
	struct vp_kvm *kvm = backend;
	const struct vp_kvm_host *h = &kvm->config.host;
	uint64_t came_out = 0, stepped = 0;

	for (uint32_t i = 0; i < kvm->config.nvcpus; i++) {
		const struct vp_kvm_vcpu *v = &kvm->vcpus[i];
		came_out += atomic_load_explicit(&v->counts[slot], memory_order_relaxed);
		stepped += atomic_load_explicit(&v->step_ns[slot], memory_order_relaxed);
	}
	vp_kvm_counter_read(kvm, slot, 0); /* updates `total` */
	return came_out * (uint64_t)h->exit_cost.median + stepped +
	       kvm->counters[slot].total * (uint64_t)h->ioeventfd_cost.median;
}

/* One writer: the vCPU's thread. */
static void add(_Atomic uint64_t *sum, uint64_t n)
{
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + n, memory_order_relaxed);
}

void vp_kvm_count(struct vp_kvm_vcpu *v, const struct vp_site *site)
{
	for (uint32_t i = 0; i < site->ncounters; i++)
		add(&v->counts[site->counters[i]], 1);
}

void vp_kvm_count_step(struct vp_kvm_vcpu *v, const struct vp_site *site, uint64_t ns)
{
	for (uint32_t i = 0; i < site->ncounters; i++)
		add(&v->step_ns[site->counters[i]], ns);
}
