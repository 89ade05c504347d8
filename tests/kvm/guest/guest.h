/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the small guest's files share. */
#ifndef SMALL_GUEST_H
#define SMALL_GUEST_H

#include <stddef.h>
#include <stdint.h>

#define APIC     0xfee00000ull
#define MAX_CPUS 16

extern uint8_t stacks[]; /* a page for each vCPU */
extern volatile uint32_t bp_count;

/** Say so on the console, and power off. */
void fail(const char *what, uint64_t value);
void set_gate(unsigned n, void (*handler)(void));

static inline void check(const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		fail(what, got);
}

static inline void apic_write(unsigned reg, uint32_t v)
{
	*(volatile uint32_t *)(APIC + reg) = v;
}

/* stepped.c */
void stepped_setup(uint32_t cpu);
void timer_setup(uint32_t count);
void call_stepped(uint64_t i, uint32_t cpu);
void call_traced(uint64_t i, uint32_t cpu);
/** All vCPUs have made @p calls of call_stepped() in all. */
void stepped_round_end(uint64_t calls);

#endif
