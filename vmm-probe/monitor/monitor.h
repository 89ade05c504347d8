/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small KVM monitor: enough of a PC to boot a stock Linux kernel with several vCPUs to a shell on its
 * serial console, and to run freestanding guests. No PCI, no disks, no network.
 *
 * Guest RAM is one memfd. Every vCPU is a thread, created by vp_mon_run(). The machine has the in-kernel PIC,
 * IOAPIC, LAPICs and PIT; COM1 at 0x3f8; ACPI tables with its CPUs and a port to power off. Reads of all
 * other ports and addresses return all ones.
 *
 * Sources: Documentation/virt/kvm/api.rst, Documentation/arch/x86/boot.rst and
 * Documentation/arch/x86/zero-page.rst of Linux; the PVH boot ABI (docs/misc/pvh.pandoc of Xen); ACPI 6.4
 * chapters 5.2, 16.1; the 16550A data sheet.
 */
#ifndef VP_MONITOR_MONITOR_H
#define VP_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kvm_run;
struct vp_mon;

#define VP_MON_MAX_VCPUS 64u

/* Callbacks around a vCPU's KVM_RUN, on the vCPU's own thread. Optional. */
struct vp_mon_hooks {
	void *arg;
	/* Before KVM_RUN. */
	void (*before)(void *arg, uint32_t vcpu);
	/* After KVM_RUN, with its errno or 0. True: the exit was handled, run again. */
	bool (*after)(void *arg, uint32_t vcpu, int err);
	/* The vCPU will not run again. */
	void (*leave)(void *arg, uint32_t vcpu);
};

/* All pointers are borrowed for the monitor's lifetime. */
struct vp_mon_config {
	const char *kernel; /* bzImage, or ELF64 with or without a PVH entry */
	const char *initrd; /* NULL: none */
	const char *append; /* kernel command line; NULL: "" */
	uint64_t mem_bytes; /* whole pages; at least 16 MiB */
	uint32_t nvcpus;    /* 1 to VP_MON_MAX_VCPUS */
	int console_out;    /* output of COM1; -1: discarded */
	int console_in;     /* input of COM1; -1: none */
	struct vp_mon_hooks hooks;
};

/* How a guest ended. */
enum vp_mon_end {
	VP_MON_POWERED_OFF,
	VP_MON_RESET, /* it requested a reset, which is not supported */
	VP_MON_TRIPLE_FAULT,
	VP_MON_STOPPED, /* by vp_mon_stop() */
	VP_MON_FAILED,  /* see the error */
};

/* A vCPU, for the engine. */
struct vp_mon_vcpu {
	int fd;
	struct kvm_run *run;
	int tid; /* 0 until it runs */
};

/** Open /dev/kvm, create the VM, load the image. Nothing runs yet.
 *
 * @return NOT_FOUND, PERMISSION: /dev/kvm, the kernel or the initrd. BAD_DATA: not a kernel image. LIMIT: it
 *         does not fit into the memory, or there are too many vCPUs. UNSUPPORTED: KVM lacks a feature, or the
 *         kernel's compression is not supported. */
OT_MUST_CHECK struct ot_err *vp_mon_create(const struct vp_mon_config *config, struct vp_mon **ret);
void vp_mon_destroy(struct vp_mon *mon);

/** Run all vCPUs until the guest ends. *ret_end is set in any case (VP_MON_FAILED with an error). */
OT_MUST_CHECK struct ot_err *vp_mon_run(struct vp_mon *mon, enum vp_mon_end *ret_end);

/** Make vp_mon_run() return, also if it is called later. Any thread. */
void vp_mon_stop(struct vp_mon *mon);

/** Make @p vcpu leave the guest soon, so that hooks.after is called with EINTR. Any thread. */
void vp_mon_kick(struct vp_mon *mon, uint32_t vcpu);
/** The signal that this sends. It has a handler, and is not blocked, in the vCPUs' threads; SIGIO is. */
int vp_mon_kick_signal(void);

int vp_mon_vm_fd(const struct vp_mon *mon);
/** Is the kernel a bzImage? Then it is a complete Linux, which will run processes. */
bool vp_mon_is_bzimage(const struct vp_mon *mon);
const struct vp_mon_vcpu *vp_mon_vcpu(const struct vp_mon *mon, uint32_t vcpu);

/* A contiguous range of guest RAM. */
struct vp_mon_ram {
	uint64_t gpa, size, offset; /* offset in the memfd */
	uint8_t *host;
};

/** The memfd of guest RAM, and its ranges by address; valid for the monitor's lifetime. */
int vp_mon_ram_fd(const struct vp_mon *mon);
const struct vp_mon_ram *vp_mon_ram(const struct vp_mon *mon, uint32_t *ret_count);
/** Guest physical addresses from here on have nothing, up to the CPU's last one; a multiple of 1 GiB. */
uint64_t vp_mon_spare_gpa(const struct vp_mon *mon);

#endif
