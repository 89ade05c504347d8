/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the small guest's files share. */
#ifndef SMALL_GUEST_H
#define SMALL_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define APIC         0xfee00000ull
#define APIC_TIMER   0x320
#define APIC_INITIAL 0x380
#define APIC_DIVIDE  0x3e0
#define COM1         0x3f8
#define MAX_CPUS     16
#define noinline     __attribute__((noinline, noclone, used))

extern uint8_t stacks[]; /* a page for each vCPU */
extern volatile uint32_t bp_count;
extern uint64_t cpus, calls, rounds, key_times;

void print(const char *s);
/** Say so on the console, and power off. */
void fail(const char *what, uint64_t value);
void set_gate(unsigned n, void (*handler)(void));

static inline void check(const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		fail(what, got);
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

static inline void apic_write(unsigned reg, uint32_t v)
{
	*(volatile uint32_t *)(APIC + reg) = v;
}

/** After so many ns, under KVM and QEMU, this vCPU's local APIC sends it @p vector, which may have flags of
 * the timer's entry. */
static inline void apic_timer(uint32_t vector, uint32_t count)
{
	apic_write(APIC_DIVIDE, 0xb); /* by 1 */
	apic_write(APIC_TIMER, vector);
	apic_write(APIC_INITIAL, count);
}

/* stepped.c */
void stepped_setup(uint32_t cpu);
void timer_setup(uint32_t count);
void call_stepped(uint64_t i, uint32_t cpu);
void call_traced(uint64_t i, uint32_t cpu);
/** All vCPUs have made @p calls of call_stepped() in all. */
void stepped_round_end(uint64_t calls);

/** @patching: it has begun, and continues after this round. */
void round_begin(uint64_t n, uint64_t patching);
void round_end(uint64_t n);
/** Every function of probed.S once, results checked. */
void call_all(uint64_t i, uint32_t cpu);
/** percpu.c, in the guest that has it: this vCPU's per-CPU area. */
void percpu_setup(uint32_t cpu) __attribute__((weak));
/** returned.c, in the guest that has it: each of its functions once; they add both. */
void call_returned(uint64_t i, uint64_t second) __attribute__((weak));
/** patching.c, in the guest that has it: its rounds instead. */
void patching_run(uint32_t cpu) __attribute__((weak));

#endif
