/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating a vCPU: its descriptor, its kvm_run and its CPUID. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "vmm-probe/monitor/internal.h"

#define MAX_CPUID 256u

/* Bits of an index below @n. */
static uint32_t width(uint32_t n)
{
	uint32_t bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

/* Leaves 0xb and 0x1f: threads (one per core) at level 0, cores (all in one package) at level 1. */
static void set_topology(struct kvm_cpuid_entry2 *e, uint32_t index, uint32_t nvcpus)
{
	e->edx = index; /* x2APIC id */
	e->ecx = e->index;
	e->eax = e->ebx = 0;
	if (e->index == 0) {
		e->ebx = 1;
		e->ecx |= 1 << 8;
	} else if (e->index == 1) {
		e->eax = width(nvcpus);
		e->ebx = nvcpus;
		e->ecx |= 2 << 8;
	}
}

static void set_leaf(struct kvm_cpuid_entry2 *e, uint32_t index, uint32_t nvcpus, bool tsc_deadline)
{
	switch (e->function) {
	case 1:
		e->ebx = (e->ebx & 0x0000ffff) | index << 24 | (nvcpus & 0xff) << 16;
		e->ecx |= 1u << 31; /* hypervisor present */
		if (tsc_deadline)
			e->ecx |= 1u << 24;
		if (nvcpus > 1)
			e->edx |= 1u << 28;
		break;
	case 0xb:
	case 0x1f:
		set_topology(e, index, nvcpus);
		break;
	default:
		break;
	}
}

static struct ot_err *set_cpuid(struct vp_mon *mon, uint32_t index)
{
	ot_auto_free struct kvm_cpuid2 *c =
	    calloc(1, sizeof(*c) + MAX_CPUID * sizeof(struct kvm_cpuid_entry2));
	bool tsc_deadline = ioctl(mon->kvm, KVM_CHECK_EXTENSION, KVM_CAP_TSC_DEADLINE_TIMER) > 0;

	if (!c)
		return ot_err_nomem();
	c->nent = MAX_CPUID;
	if (ioctl(mon->kvm, KVM_GET_SUPPORTED_CPUID, c))
		return ot_err_os(errno, "KVM_GET_SUPPORTED_CPUID");
	for (uint32_t i = 0; i < c->nent; i++)
		set_leaf(&c->entries[i], index, mon->config.nvcpus, tsc_deadline);
	if (ioctl(mon->vcpus[index].fd, KVM_SET_CPUID2, c))
		return ot_err_os(errno, "KVM_SET_CPUID2");
	return NULL;
}

struct ot_err *vp_mon_cpu_create(struct vp_mon *mon, uint32_t index)
{
	struct vp_mon_vcpu *v = &mon->vcpus[index];

	v->fd = ioctl(mon->vm, KVM_CREATE_VCPU, (unsigned long)index);
	if (v->fd < 0)
		return ot_err_os(errno, "KVM_CREATE_VCPU %u", index);
	void *run = mmap(NULL, mon->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (run == MAP_FAILED)
		return ot_err_os(errno, "mapping vCPU %u", index);
	v->run = run;
	return set_cpuid(mon, index);
}

void vp_mon_cpu_destroy(struct vp_mon *mon, uint32_t index)
{
	struct vp_mon_vcpu *v = &mon->vcpus[index];

	if (v->run)
		munmap(v->run, mon->run_size);
	v->run = NULL;
	ot_cleanup_close(&v->fd);
}
