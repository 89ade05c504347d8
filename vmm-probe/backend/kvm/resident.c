/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of resident probes: a slot for code and one for data, allocated when the first session of the VM
 * asks for them. The checks before a kernel gets them mapped (resident_map.c).
 *
 * A slot may be added while vCPUs run: KVM publishes a new list of slots, which each of them reads when it
 * next misses in its tables. When one is removed, KVM has the vCPUs flush their TLBs before it returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/room.h"

#define CODE_SIZE          (4 * VP_KVM_LARGE_PAGE)
/* Of the data of all vCPUs: the bytes that they use, and those between their first and their last one. */
#define USED_MAX           (16ull << 20)
#define SPAN_PAGES         128u
#define CPUID_MAX          256u
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
	const uint32_t n = kvm->config.nvcpus;

	for (uint32_t i = 0; i < n; i++) {
		bits |= base[i];
		lowest = base[i] < lowest ? base[i] : lowest;
		highest = base[i] > highest ? base[i] : highest;
		for (uint32_t k = 0; k < i; k++) {
			uint64_t d = base[i] > base[k] ? base[i] - base[k] : base[k] - base[i];
			gap = d < gap ? d : gap;
		}
	}
	if (n && gap > USED_MAX / n)
		gap = USED_MAX / n;
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

static struct ot_err *set_slot(const struct vp_kvm_resident *r, uint32_t index, uint64_t size, uint32_t flags)
{
	uint64_t offset = index ? CODE_SIZE : 0;
	struct kvm_userspace_memory_region slot = { .slot = r->slot + index,
						    .flags = flags,
						    .guest_phys_addr = r->gpa + offset,
						    .memory_size = size,
						    .userspace_addr = (uintptr_t)r->mem + offset };

	if (ioctl(r->vm, KVM_SET_USER_MEMORY_REGION, &slot))
		return ot_err_os(errno, "KVM_SET_USER_MEMORY_REGION");
	return NULL;
}

static struct ot_err *add_slots(const struct vp_kvm_resident *r)
{
	OT_TRY(set_slot(r, 0, CODE_SIZE, KVM_MEM_READONLY));
	struct ot_err *err = set_slot(r, 1, r->data_size, 0);
	if (err)
		ot_err_destroy(set_slot(r, 0, 0, 0));
	return err;
}

static void free_memory(struct vp_kvm_resident *r)
{
	munmap(r->mem, CODE_SIZE + r->data_size);
	close(r->fd);
	r->mem = NULL;
	r->table = 0;
	r->room = (struct vp_resident_room){ 0 };
}

void vp_kvm_resident_free(struct vp_kvm_resident *r)
{
	if (!r->mem)
		return;
	for (uint32_t i = 0; i < 2; i++)
		ot_err_destroy(set_slot(r, i, 0, 0)); /* KVM refuses no removal */
	free_memory(r);
}

static struct ot_err *make_memory(const struct vp_kvm *kvm, const uint64_t *base, struct vp_kvm_resident *r)
{
	uint64_t size = CODE_SIZE + r->data_size;

	OT_TRY(ot_memfd_create("outsight-resident", size, &r->fd));
	struct ot_err *err = allocate(kvm, base, r);
	void *mem = err ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (!err && mem == MAP_FAILED)
		err = ot_err_os(errno, "mapping %llu bytes", (unsigned long long)size);
	if (err) {
		close(r->fd);
		return err;
	}
	r->mem = mem;
	err = add_slots(r);
	if (err) {
		free_memory(r);
		return err;
	}
	r->room.code = mem;
	r->room.code_size = CODE_SIZE;
	r->room.data = r->mem + CODE_SIZE;
	r->room.port = VP_KVM_PORT_A;
	r->room.outlived = kvm->config.place != NULL;
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

	if (!kvm->config.spare_gpa && !kvm->config.place)
		return REFUSED("its VMM has no memory for them");
	if (!anyway && !vp_kvm_host_gains(host))
		return REFUSED(
		    "on this host a guest's kernel takes %.0f ns for a few instructions, and an exit "
		    "%.0f ns (-x inject=force has them anyway)",
		    vp_kvm_host_resident_ns(host), host->exit_cost.median);
	return NULL;
}

/* --- where the memory is -------------------------------------------------------------------------- */

/* Of a guest physical address, as the guest's CPUID says. A vCPU that runs does not answer: they are held. */
static struct ot_err *address_bits(const struct vp_kvm *kvm, uint32_t *ret)
{
	ot_auto_free struct kvm_cpuid2 *cpuid =
	    calloc(1, sizeof(*cpuid) + CPUID_MAX * sizeof(cpuid->entries[0]));

	if (!cpuid)
		return ot_err_nomem();
	cpuid->nent = CPUID_MAX;
	if (ioctl(kvm->vcpus[0].fd, KVM_GET_CPUID2, cpuid))
		return ot_err_os(errno, "KVM_GET_CPUID2");
	*ret = 36; /* of a processor that does not say */
	for (uint32_t i = 0; i < cpuid->nent && i < CPUID_MAX; i++)
		if (cpuid->entries[i].function == 0x80000008u)
			*ret = cpuid->entries[i].eax & 0xff;
	return NULL;
}

static struct ot_err *choose_place(struct vp_kvm *kvm, struct vp_kvm_resident *r)
{
	uint32_t bits;

	r->vm = kvm->config.vm;
	r->gpa = kvm->config.spare_gpa;
	r->slot = kvm->config.spare_slot;
	if (!kvm->config.place)
		return NULL;
	vp_kvm_hold(kvm);
	struct ot_err *err = address_bits(kvm, &bits);
	vp_kvm_release(kvm);
	OT_TRY(err);
	return kvm->config.place(kvm->config.arg, bits, CODE_SIZE + r->data_size, &r->gpa, &r->slot);
}

/* --- opening -------------------------------------------------------------------------------------- */

/* A room that an earlier engine has left has trampolines in which a task may be, and nothing tells how much
 * of it they are. */
static struct ot_err *take_over(struct vp_kvm *kvm)
{
	if (kvm->resident_opened || !kvm->resident->mem)
		return NULL;
	vp_kvm_hold(kvm);
	bool taken = vp_kvm_resident_take(kvm);
	vp_kvm_release(kvm);
	return taken ? NULL : REFUSED("a task may still be in those of an earlier session");
}

/* The VMM saves its guests: then nothing of one may be in memory that only this VM has. */
static struct ot_err *check_kernel(const struct vp_kvm *kvm, const struct vp_resident_kernel *kernel)
{
	if (!kvm->config.place || kernel->anyway || vp_room_can_search(kernel->facts))
		return NULL;
	return REFUSED("its tasks can't be listed, which is done before the guest is saved");
}

static struct ot_err *prepare(struct vp_kvm *kvm, const struct vp_resident_kernel *kernel)
{
	struct vp_kvm_resident *r = kvm->resident, next;

	OT_TRY(take_over(kvm));
	next = *r;
	OT_TRY(measure(kvm, kernel->percpu_base, &next));
	if (r->mem && (next.room.lowest != r->room.lowest || next.data_size != r->data_size ||
		       next.room.data_size != r->room.data_size))
		return REFUSED("another kernel has run in this guest, with other per-CPU areas");
	if (r->mem)
		return allocate(kvm, kernel->percpu_base, &next);
	OT_TRY(choose_place(kvm, &next));
	OT_TRY(make_memory(kvm, kernel->percpu_base, &next));
	*r = next;
	return NULL;
}

struct ot_err *vp_kvm_resident_open(void *backend, const struct vp_resident_kernel *kernel,
				    struct vp_resident_room *ret)
{
	struct vp_kvm *kvm = backend;
	struct vp_kvm_resident *r = kvm->resident;

	OT_TRY(check_host(kvm, kernel->anyway));
	OT_TRY(check_kernel(kvm, kernel));
	OT_TRY(prepare(kvm, kernel));
	kvm->resident_opened = true;
	vp_kvm_hold(kvm);
	struct ot_err *err = check_vcpus(kvm, kernel->percpu_base);
	if (!err)
		err = vp_kvm_resident_map(kvm, kernel, r);
	if (!err)
		r->facts = *kernel->facts;
	vp_kvm_release(kvm);
	OT_TRY(err);
	*ret = r->room;
	return NULL;
}

void vp_kvm_resident_deinit(struct vp_kvm *kvm)
{
	if (kvm->resident == &kvm->own && kvm->own.mem)
		free_memory(&kvm->own);
}
