/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events around KVM_RUN, for the vm provider: exits, entries, the ports and addresses that the VMM
 * answers, and KVM's own statistics of a vCPU (KVM_GET_STATS_FD, api.rst 4.134).
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

static bool is_wanted(const struct vp_kvm *kvm, enum vp_vm_kind kind)
{
	return atomic_load_explicit(&kvm->vm_events, memory_order_relaxed) >> kind & 1;
}

static void report(struct vp_kvm *kvm, uint32_t vcpu, uint32_t event, const uint64_t args[10])
{
	vp_engine_vm(kvm->engine, vcpu, event, args, &kvm->vcpus[vcpu]);
}

/* --- around KVM_RUN: vCPU threads ------------------------------------------------------------- */

/* The current exit's request to the VMM; false: none with probes. A read's value is available once the VMM
 * has answered. */
static bool request_of(const struct kvm_run *run, enum vp_vm_kind *kind, uint64_t args[10])
{
	if (run->exit_reason == KVM_EXIT_IO) {
		const size_t len = run->io.size < sizeof(args[2]) ? run->io.size : sizeof(args[2]);
		*kind = run->io.direction == KVM_EXIT_IO_IN ? VP_VM_IN : VP_VM_OUT;
		args[0] = run->io.port;
		args[1] = run->io.size;
		memcpy(&args[2], (const uint8_t *)run + run->io.data_offset, len);
		args[3] = run->io.count;
		return true;
	}
	if (run->exit_reason == KVM_EXIT_MMIO) {
		const size_t len = run->mmio.len < sizeof(args[2]) ? run->mmio.len : sizeof(args[2]);
		*kind = run->mmio.is_write ? VP_VM_WRITE : VP_VM_READ;
		args[0] = run->mmio.phys_addr;
		args[1] = run->mmio.len;
		memcpy(&args[2], run->mmio.data, len);
		return true;
	}
	return false;
}

static void report_request(struct vp_kvm *kvm, uint32_t vcpu, bool answered)
{
	uint64_t args[10] = { 0 };
	enum vp_vm_kind kind;

	if (!request_of(kvm->vcpus[vcpu].run, &kind, args))
		return;
	bool reads = kind == VP_VM_IN || kind == VP_VM_READ;
	if (reads == answered && is_wanted(kvm, kind))
		report(kvm, vcpu, VP_VM_EVENT(kind, 0), args);
}

void vp_kvm_vm_came_out(struct vp_kvm_vcpu *v)
{
	v->vm.out_ns = ot_now_ns();
}

void vp_kvm_vm_exit(struct vp_kvm *kvm, uint32_t vcpu, int err, bool ours)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	uint32_t reason = err ? KVM_EXIT_INTR : v->run->exit_reason;
	const uint64_t in_ns = v->vm.in_ns;
	const uint64_t args[10] = { reason, in_ns && v->vm.out_ns > in_ns ? v->vm.out_ns - in_ns : 0 };

	v->vm.asked = false;
	if (err && err != EINTR)
		return;
	if (is_wanted(kvm, VP_VM_EXIT))
		report(kvm, vcpu, VP_VM_EVENT(VP_VM_EXIT, ours ? VP_VM_HIT : reason & 0xffff), args);
	if (err || ours)
		return;
	v->vm.asked = true;
	report_request(kvm, vcpu, false);
}

void vp_kvm_vm_entry(struct vp_kvm *kvm, uint32_t vcpu)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];

	if (v->vm.asked)
		report_request(kvm, vcpu, true);
	v->vm.asked = false;
	uint64_t now = ot_now_ns();
	if (is_wanted(kvm, VP_VM_ENTRY)) {
		const uint64_t args[10] = { v->vm.out_ns && now > v->vm.out_ns ? now - v->vm.out_ns : 0 };
		report(kvm, vcpu, VP_VM_EVENT(VP_VM_ENTRY, 0), args);
		now = ot_now_ns();
	}
	v->vm.in_ns = now;
}

/* --- statistics --------------------------------------------------------------------------------- */

/* Only on request, and with the vCPUs held: an ioctl waits for a vCPU that is in KVM_RUN. */
static void open_stats(struct vp_kvm *kvm)
{
	if (kvm->stats_open)
		return;
	kvm->stats_open = true;
	vp_kvm_hold(kvm);
	for (uint32_t i = 0; i < kvm->config.nvcpus; i++)
		kvm->vcpus[i].stats_fd = ioctl(kvm->vcpus[i].fd, KVM_GET_STATS_FD, NULL);
	vp_kvm_release(kvm);
	kvm->nstats = vp_kvm_stats_list(kvm->vcpus[0].stats_fd, kvm->stats, VP_VM_STATS_MAX);
}

void vp_kvm_stats_deinit(struct vp_kvm *kvm)
{
	for (uint32_t i = 0; kvm->vcpus && i < kvm->config.nvcpus; i++)
		if (kvm->vcpus[i].stats_fd >= 0)
			close(kvm->vcpus[i].stats_fd);
}

uint32_t vp_kvm_stats(void *backend, char (*names)[VP_VM_STAT_NAME], uint32_t max)
{
	struct vp_kvm *kvm = backend;

	open_stats(kvm);
	uint32_t n = kvm->nstats < max ? kvm->nstats : max;

	for (uint32_t i = 0; i < n; i++)
		memcpy(names[i], kvm->stats[i].name, sizeof(kvm->stats[i].name));
	return n;
}

uint64_t vp_kvm_vm_stat(void *backend, uint32_t vcpu, uint32_t index)
{
	const struct vp_kvm *kvm = backend;

	if (index >= kvm->nstats || vcpu >= kvm->config.nvcpus)
		return 0;
	return vp_kvm_stat_read(kvm->vcpus[vcpu].stats_fd, &kvm->stats[index]);
}
