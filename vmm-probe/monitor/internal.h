/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the monitor's files share. */
#ifndef VP_MONITOR_INTERNAL_H
#define VP_MONITOR_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vmm-probe/monitor/monitor.h"

/* Guest physical addresses. RAM has a hole for devices below 4 GiB, as on a PC. */
#define VP_MON_LOW_END      0xc0000000ull
#define VP_MON_HIGH         0x100000000ull
#define VP_MON_GDT          0x500u
#define VP_MON_PVH_INFO     0x6000u
#define VP_MON_ZERO_PAGE    0x7000u
#define VP_MON_STACK        0x8ff0u
#define VP_MON_PAGE_TABLE   0x9000u /* 6 pages: 4 GiB one to one */
#define VP_MON_CMDLINE      0x20000u
#define VP_MON_CMDLINE_SIZE 4096u
#define VP_MON_EBDA         0x9fc00u /* RAM below it; above up to 1 MiB the firmware's */
#define VP_MON_ACPI         0xe0000u
#define VP_MON_ACPI_SIZE    0x2000u
#define VP_MON_KERNEL       0x100000u /* the lowest address of a kernel */

/* Ports of the power management block. Writing bit 13 (SLP_EN) to CONTROL powers off. */
#define VP_MON_PM_EVENT   0x600u
#define VP_MON_PM_CONTROL 0x604u
#define VP_MON_COM1       0x3f8u
#define VP_MON_COM1_IRQ   4u
#define VP_MON_SCI_IRQ    9u

struct vp_mon_console_thread {
	pthread_t thread;
	bool started;
};

/* What is behind COM1 (console.c); under the chip's lock. */
struct vp_mon_console {
	int out, in;
	uint8_t *queue; /* what the guest has sent: len bytes from head, in a ring */
	size_t head, len;
	size_t piece;  /* is written at once */
	bool losing;   /* nobody reads: until the queue is empty, what comes is lost */
	uint64_t lost; /* bytes since then */
	bool ending;
	pthread_cond_t sent; /* the queue was empty; or ending */
	int wake;            /* eventfd: the reader is to look at ending, or at the room in rx */
	struct vp_mon_console_thread writer, reader;
};

struct vp_mon_serial {
	pthread_mutex_t lock; /* vCPUs and the console's threads */
	int vm;
	uint8_t ier, lcr, mcr, scr, divisor[2];
	bool thr_empty; /* an interrupt for it is due */
	bool tx_waits;  /* it will be when the transmitter is free again */
	uint8_t rx[64];
	unsigned rx_head, rx_len;
	bool irq; /* the line's level */
	struct vp_mon_console console;
};

/* How vCPU 0 starts. */
struct vp_mon_entry {
	uint64_t rip;
	bool pvh; /* 32-bit, RBX = start info; else 64-bit, RSI = zero page */
};

struct vp_mon_thread {
	struct vp_mon *mon;
	uint32_t index;
	pthread_t thread;
	bool started;
	struct ot_err *err; /* its own until joined */
};

struct vp_mon {
	struct vp_mon_config config;
	int kvm, vm, ram_fd;
	struct vp_mon_ram ram[2];
	uint32_t nram;
	size_t run_size;
	struct vp_mon_vcpu vcpus[VP_MON_MAX_VCPUS];
	struct vp_mon_thread threads[VP_MON_MAX_VCPUS];
	struct vp_mon_serial serial;
	_Atomic uint16_t pm_enabled;
	struct vp_mon_entry entry;
	uint64_t initrd, initrd_size;
	bool is_bzimage;
	_Atomic int end; /* -1 while it runs, else enum vp_mon_end */
};

/** Host address of [@p gpa, +@p len) when it is all RAM, else NULL. */
uint8_t *vp_mon_at(const struct vp_mon *mon, uint64_t gpa, uint64_t len);

/* memory.c */
OT_MUST_CHECK struct ot_err *vp_mon_memory_init(struct vp_mon *mon);
void vp_mon_memory_deinit(struct vp_mon *mon);

/* image.c: the kernel into RAM, entry and the setup header (bzImage) of a zero page */
OT_MUST_CHECK struct ot_err *vp_mon_load_kernel(struct vp_mon *mon);
/* elf.c. @p image is borrowed. */
OT_MUST_CHECK struct ot_err *vp_mon_load_elf(struct vp_mon *mon, const uint8_t *image, size_t size,
					     bool allow_pvh, uint64_t *ret_end);
/* unpack.c: whatever @p in is compressed with; *ret owned by the caller, at most @p max bytes. */
OT_MUST_CHECK struct ot_err *vp_mon_unpack(const uint8_t *in, size_t len, size_t max, uint8_t **ret,
					   size_t *ret_len);

/* boot.c: zero page, start info, page tables, command line; vCPU 0's registers */
OT_MUST_CHECK struct ot_err *vp_mon_boot_tables(struct vp_mon *mon);
OT_MUST_CHECK struct ot_err *vp_mon_boot_vcpu(struct vp_mon *mon);

/* acpi.c */
OT_MUST_CHECK struct ot_err *vp_mon_acpi_write(struct vp_mon *mon);

/* cpu.c: a vCPU and what CPUID says */
OT_MUST_CHECK struct ot_err *vp_mon_cpu_create(struct vp_mon *mon, uint32_t index);
void vp_mon_cpu_destroy(struct vp_mon *mon, uint32_t index);

/* exits.c */
OT_MUST_CHECK struct ot_err *vp_mon_handle_exit(struct vp_mon *mon, uint32_t vcpu);

/* refused.c: an instruction that KVM's emulator refuses. false: not one of those that we can do. */
bool vp_mon_do_refused(struct vp_mon *mon, uint32_t vcpu);

/* serial.c */
OT_MUST_CHECK struct ot_err *vp_mon_serial_init(struct vp_mon_serial *s, int vm, int out, int in);
void vp_mon_serial_deinit(struct vp_mon_serial *s);
uint8_t vp_mon_serial_read(struct vp_mon_serial *s, unsigned reg);
void vp_mon_serial_write(struct vp_mon_serial *s, unsigned reg, uint8_t value);
/** A byte comes in; lost when there is no room. */
void vp_mon_serial_receive(struct vp_mon_serial *s, uint8_t byte);
bool vp_mon_serial_has_room(struct vp_mon_serial *s);
/** The transmitter may be free again. With the lock. */
void vp_mon_serial_sent(struct vp_mon_serial *s);

/* console.c. -1: nothing is there. */
OT_MUST_CHECK struct ot_err *vp_mon_console_init(struct vp_mon_serial *s, int out, int in);
/** What is queued has two seconds to be read; also of one that init() failed on, or all zeros but wake, which
 * is -1. */
void vp_mon_console_deinit(struct vp_mon_serial *s);
/** The chip sends @p byte. With its lock; never waits. */
void vp_mon_console_put(struct vp_mon_console *c, uint8_t byte);
/** Can as much as a driver sends at once be sent? With the lock. */
bool vp_mon_console_is_free(const struct vp_mon_console *c);
/** There is room for input again. */
void vp_mon_console_room(struct vp_mon_console *c);

/** Every vCPU out, and vp_mon_run() with this. The first one counts. */
void vp_mon_end(struct vp_mon *mon, enum vp_mon_end how);

#endif
