/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the monitor's files: the machine's layout and state. */
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
#define VP_MON_EBDA         0x9fc00u /* RAM below; reserved for firmware from here to 1 MiB */
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

/* The line of COM1 (console.c); under the chip's lock. */
struct vp_mon_console {
	int out, in;
	uint8_t *queue; /* output of the guest: len bytes from head, in a ring */
	size_t head, len;
	size_t piece;  /* at most so many bytes per write() */
	bool losing;   /* output is not being read: drop it until the queue is empty */
	uint64_t lost; /* bytes dropped since then */
	bool ending;
	pthread_cond_t sent; /* the queue is no longer empty, or ending is set */
	int wake;            /* eventfd: the reader is to check ending, and the room in rx */
	struct vp_mon_console_thread writer, reader;
};

struct vp_mon_serial {
	pthread_mutex_t lock; /* vCPUs and the console's threads */
	int vm;
	uint8_t ier, lcr, mcr, scr, divisor[2];
	bool thr_empty; /* the interrupt "transmitter empty" is pending */
	bool tx_waits;  /* it becomes pending when the transmitter is free again */
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
	struct ot_err *err; /* written by the thread; read after joining it */
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

/** Host address of [@p gpa, +@p len); NULL: not all of it is RAM. */
uint8_t *vp_mon_at(const struct vp_mon *mon, uint64_t gpa, uint64_t len);

/* memory.c */
OT_MUST_CHECK struct ot_err *vp_mon_memory_init(struct vp_mon *mon);
void vp_mon_memory_deinit(struct vp_mon *mon);

/* image.c: load the kernel into RAM; set the entry, and a bzImage's setup header in the zero page */
OT_MUST_CHECK struct ot_err *vp_mon_load_kernel(struct vp_mon *mon);
/* elf.c. @p image is borrowed. */
OT_MUST_CHECK struct ot_err *vp_mon_load_elf(struct vp_mon *mon, const uint8_t *image, size_t size,
					     bool allow_pvh, uint64_t *ret_end);
/* unpack.c: decompress @p in by its magic number; the caller owns *ret, at most @p max bytes. */
OT_MUST_CHECK struct ot_err *vp_mon_unpack(const uint8_t *in, size_t len, size_t max, uint8_t **ret,
					   size_t *ret_len);

/* boot.c: write zero page or start info, page tables and command line; set vCPU 0's registers */
OT_MUST_CHECK struct ot_err *vp_mon_boot_tables(struct vp_mon *mon);
OT_MUST_CHECK struct ot_err *vp_mon_boot_vcpu(struct vp_mon *mon);

/* acpi.c */
OT_MUST_CHECK struct ot_err *vp_mon_acpi_write(struct vp_mon *mon);

/* cpu.c: a vCPU and its CPUID */
OT_MUST_CHECK struct ot_err *vp_mon_cpu_create(struct vp_mon *mon, uint32_t index);
void vp_mon_cpu_destroy(struct vp_mon *mon, uint32_t index);

/* exits.c */
OT_MUST_CHECK struct ot_err *vp_mon_handle_exit(struct vp_mon *mon, uint32_t vcpu);

/* refused.c: emulate an instruction that KVM's emulator refuses. False: not supported. */
bool vp_mon_do_refused(struct vp_mon *mon, uint32_t vcpu);

/* serial.c */
OT_MUST_CHECK struct ot_err *vp_mon_serial_init(struct vp_mon_serial *s, int vm, int out, int in);
void vp_mon_serial_deinit(struct vp_mon_serial *s);
uint8_t vp_mon_serial_read(struct vp_mon_serial *s, unsigned reg);
void vp_mon_serial_write(struct vp_mon_serial *s, unsigned reg, uint8_t value);
/** Receive a byte; dropped if there is no room. */
void vp_mon_serial_receive(struct vp_mon_serial *s, uint8_t byte);
bool vp_mon_serial_has_room(struct vp_mon_serial *s);
/** Check whether the transmitter is free again. With the lock. */
void vp_mon_serial_sent(struct vp_mon_serial *s);

/* console.c. -1: no descriptor. */
OT_MUST_CHECK struct ot_err *vp_mon_console_init(struct vp_mon_serial *s, int out, int in);
/** Wait up to two seconds for queued output to be read, then end the threads. May be called after a failed
 * init(), and if all members are zero but wake, which is -1. */
void vp_mon_console_deinit(struct vp_mon_serial *s);
/** Queue a byte of output. With the chip's lock; never blocks. */
void vp_mon_console_put(struct vp_mon_console *c, uint8_t byte);
/** Is there room for as much as a driver sends at once (a FIFO)? With the lock. */
bool vp_mon_console_is_free(const struct vp_mon_console *c);
/** There is room for input again. */
void vp_mon_console_room(struct vp_mon_console *c);

/** Make every vCPU leave the guest, and vp_mon_run() return @p how. The first call counts. */
void vp_mon_end(struct vp_mon *mon, enum vp_mon_end how);

#endif
