/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of resident probes: a slot for code and one for data, allocated when the first session of the VM
 * asks for them. The checks before a kernel gets them mapped (resident_map.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/backend/kvm/internal.h"

#define CODE_SIZE          (4 * VP_KVM_LARGE_PAGE)
/* Of the data of all vCPUs: the bytes that they use, and those between their first and their last one. */
#define USED_MAX           (16ull << 20)
#define SPAN_PAGES         128u
#define DATA_MAX           (1ull << 20)
#define DATA_MIN           (4ull << 10)
#define MSR_KERNEL_GS_BASE 0xc0000102u
#define EFER_NXE           (1ull << 11) /* without it NX is a reserved bit */

#define REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)

/* --- sizes --------------------------------------------------------------------------------------- */

/* A vCPU's data lies where its per-CPU area does, among those of the others. */
static struct ot_err *measure(const struct vp_kvm *kvm, const uint64_t *base, struct vp_kvm_resident *r)
{
	uint64_t lowest = base[0], highest = base[0], gap = DATA_MAX, bits = 0;

	for (uint32_t i = 0; i < kvm->config.nvcpus; i++) {
		bits |= base[i];
		lowest = base[i] < lowest ? base[i] : lowest;
		highest = base[i] > highest ? base[i] : highest;
		for (uint32_t k = 0; k < i; k++) {
			uint64_t d = base[i] > base[k] ? base[i] - base[k] : base[k] - base[i];
			gap = d < gap ? d : gap;
		}
	}
	if (gap > USED_MAX / kvm->config.nvcpus)
		gap = USED_MAX / kvm->config.nvcpus;
	gap &= ~(DATA_MIN - 1);
	if (!gap || bits & 7 || highest - lowest > SPAN_PAGES * VP_KVM_LARGE_PAGE - gap)
		return REFUSED("its per-CPU areas are too close together, or too far apart");
	r->room.lowest = lowest;
	r->room.data_size = (uint32_t)gap;
	r->data_size = (highest - lowest + gap + VP_KVM_LARGE_PAGE - 1) & ~(VP_KVM_LARGE_PAGE - 1);
	return NULL;
}

/* --- memory --------------------------------------------------------------------------------------- */

/* So that no access has to wait for a page, or lacks one. */
static struct ot_err *allocate(const struct vp_kvm *kvm, const uint64_t *base,
			       const struct vp_kvm_resident *r)
{
	int rc = posix_fallocate(r->fd, 0, (off_t)CODE_SIZE);

	for (uint32_t i = 0; !rc && i < kvm->config.nvcpus; i++)
		rc = posix_fallocate(r->fd, (off_t)(CODE_SIZE + base[i] - r->room.lowest),
				     (off_t)r->room.data_size);
	return rc ? ot_err_os(rc, "memory for resident probes") : NULL;
}

static struct ot_err *add_slot(const struct vp_kvm *kvm, uint32_t index, uint64_t offset, uint64_t size,
			       uint32_t flags, const uint8_t *mem)
{
	struct kvm_userspace_memory_region slot = { .slot = kvm->config.spare_slot + index,
						    .flags = flags,
						    .guest_phys_addr = kvm->config.spare_gpa + offset,
						    .memory_size = size,
						    .userspace_addr = (uintptr_t)mem + offset };

	if (ioctl(kvm->config.vm, KVM_SET_USER_MEMORY_REGION, &slot))
		return ot_err_os(errno, "KVM_SET_USER_MEMORY_REGION");
	return NULL;
}

static struct ot_err *make_memory(const struct vp_kvm *kvm, const uint64_t *base, struct vp_kvm_resident *r)
{
	uint64_t size = CODE_SIZE + r->data_size;

	OT_TRY(ot_memfd_create("outsight-resident", size, &r->fd));
	struct ot_err *err = allocate(kvm, base, r);
	void *mem = err ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (!err && mem == MAP_FAILED)
		err = ot_err_os(errno, "mapping %llu bytes", (unsigned long long)size);
	if (!err)
		err = add_slot(kvm, 0, 0, CODE_SIZE, KVM_MEM_READONLY, mem);
	if (!err)
		err = add_slot(kvm, 1, CODE_SIZE, r->data_size, 0, mem);
	if (err) {
		if (mem != MAP_FAILED)
			munmap(mem, size);
		close(r->fd);
		return err;
	}
	r->mem = mem;
	r->room.code = mem;
	r->room.code_size = CODE_SIZE;
	r->room.data = r->mem + CODE_SIZE;
	r->room.port = VP_KVM_PORT_A;
	return NULL;
}

/* --- the room ------------------------------------------------------------------------------------- */

/* Would each vCPU use our entries as intended? Is its base the one that the facts claim? In user mode it is
 * in the other register, until the kernel exchanges the two. */
static struct ot_err *check_vcpus(const struct vp_kvm *kvm, const uint64_t *base)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs;
	struct kvm_sregs sregs;

	for (uint32_t i = 0; i < kvm->config.nvcpus; i++) {
		msrs.head = (struct kvm_msrs){ .nmsrs = 1 };
		msrs.entry = (struct kvm_msr_entry){ .index = MSR_KERNEL_GS_BASE };
		if (ioctl(kvm->vcpus[i].fd, KVM_GET_SREGS, &sregs) ||
		    ioctl(kvm->vcpus[i].fd, KVM_GET_MSRS, &msrs) != 1)
			return REFUSED("vCPU %u has registers that can't be read", i);
		if (!(sregs.efer & EFER_NXE))
			return REFUSED("vCPU %u knows no pages that can't be executed", i);
		if (sregs.gs.base != base[i] && msrs.entry.data != base[i])
			return REFUSED("vCPU %u does not use the per-CPU area that it should", i);
	}
	return NULL;
}

static struct ot_err *check_host(const struct vp_kvm *kvm, bool anyway)
{
	const struct vp_kvm_host *host = &kvm->config.host;

	if (!kvm->config.spare_gpa)
		return REFUSED("only guests of outsight-vmm have memory for them");
	if (!anyway && !vp_kvm_host_gains(host))
		return REFUSED(
		    "on this host a guest's kernel takes %.0f ns for a few instructions, and an exit "
		    "%.0f ns (-x inject=force has them anyway)",
		    vp_kvm_host_resident_ns(host), host->exit_cost.median);
	return NULL;
}

struct ot_err *vp_kvm_resident_open(void *backend, const struct vp_resident_kernel *kernel,
				    struct vp_resident_room *ret)
{
	struct vp_kvm *kvm = backend;
	struct vp_kvm_resident *r = &kvm->resident, next = *r;

	OT_TRY(check_host(kvm, kernel->anyway));
	OT_TRY(measure(kvm, kernel->percpu_base, &next));
	if (r->mem && (next.room.lowest != r->room.lowest || next.data_size != r->data_size ||
		       next.room.data_size != r->room.data_size))
		return REFUSED("another kernel has run in this guest, with other per-CPU areas");
	OT_TRY(r->mem ? allocate(kvm, kernel->percpu_base, &next)
		      : make_memory(kvm, kernel->percpu_base, &next));
	*r = next;
	vp_kvm_hold(kvm);
	struct ot_err *err = check_vcpus(kvm, kernel->percpu_base);
	if (!err)
		err = vp_kvm_resident_map(kvm, kernel, r);
	vp_kvm_release(kvm);
	OT_TRY(err);
	*ret = r->room;
	return NULL;
}

void vp_kvm_resident_deinit(struct vp_kvm *kvm)
{
	struct vp_kvm_resident *r = &kvm->resident;

	if (!r->mem)
		return;
	munmap(r->mem, CODE_SIZE + r->data_size);
	close(r->fd);
	r->mem = NULL;
}
