/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers and statistics of a vCPU, from KVM's structs. */
#include "vmm-probe/backend/kvm/state.h"

#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 256u

static uint64_t general(const struct kvm_regs *r, enum vp_reg reg)
{
	switch (reg) {
	case VP_RAX:
		return r->rax;
	case VP_RCX:
		return r->rcx;
	case VP_RDX:
		return r->rdx;
	case VP_RBX:
		return r->rbx;
	case VP_RSP:
		return r->rsp;
	case VP_RBP:
		return r->rbp;
	case VP_RSI:
		return r->rsi;
	case VP_RDI:
		return r->rdi;
	case VP_RIP:
		return r->rip;
	case VP_RFLAGS:
		return r->rflags;
	default:
		return (&r->r8)[reg - VP_R8]; /* r8 to r15 are adjacent in KVM's struct */
	}
}

static uint64_t special(const struct kvm_sregs *s, enum vp_reg reg)
{
	switch (reg) {
	case VP_CS:
		return s->cs.selector;
	case VP_SS:
		return s->ss.selector;
	case VP_FS_BASE:
		return s->fs.base;
	case VP_GS_BASE:
		return s->gs.base;
	case VP_CR0:
		return s->cr0;
	case VP_CR2:
		return s->cr2;
	case VP_CR3:
		return s->cr3;
	case VP_CR4:
		return s->cr4;
	case VP_EFER:
		return s->efer;
	case VP_IDT_BASE:
		return s->idt.base;
	default:
		return 0; /* the kernel's GS base while in user mode is an MSR: not needed at a hit */
	}
}

uint64_t vp_kvm_reg_of(const struct kvm_regs *regs, const struct kvm_sregs *sregs, enum vp_reg reg)
{
	if (VP_REG_BIT(reg) & VP_KVM_GENERAL)
		return general(regs, reg);
	return sregs ? special(sregs, reg) : 0;
}

static bool read_at(int fd, void *to, size_t len, uint64_t at)
{
	return pread(fd, to, len, (off_t)at) == (ssize_t)len;
}

/* One descriptor; false: it is of another kind. */
static bool read_stat(int fd, const struct kvm_stats_header *h, uint32_t i, struct vp_kvm_stat *ret)
{
	struct {
		struct kvm_stats_desc desc;
		char name[NAME_MAX_BYTES];
	} d = { 0 };
	size_t name = h->name_size < NAME_MAX_BYTES ? h->name_size : NAME_MAX_BYTES - 1;

	if (!read_at(fd, &d, sizeof(d.desc) + name,
		     h->desc_offset + (uint64_t)i * (sizeof(d.desc) + h->name_size)))
		return false;
	size_t len = strnlen(d.name, name);
	if ((d.desc.flags & KVM_STATS_TYPE_MASK) != KVM_STATS_TYPE_CUMULATIVE || d.desc.size != 1 || !len ||
	    len >= sizeof(ret->name))
		return false;
	memset(ret->name, 0, sizeof(ret->name));
	memcpy(ret->name, d.name, len);
	ret->offset = h->data_offset + (uint64_t)d.desc.offset;
	return true;
}

uint32_t vp_kvm_stats_list(int fd, struct vp_kvm_stat *ret, uint32_t max)
{
	struct kvm_stats_header h;
	uint32_t n = 0;

	if (fd < 0 || !read_at(fd, &h, sizeof(h), 0))
		return 0;
	for (uint32_t i = 0; i < h.num_desc && n < max; i++)
		n += read_stat(fd, &h, i, &ret[n]);
	return n;
}

uint64_t vp_kvm_stat_read(int fd, const struct vp_kvm_stat *stat)
{
	uint64_t v;

	return fd >= 0 && read_at(fd, &v, sizeof(v), stat->offset) ? v : 0;
}
