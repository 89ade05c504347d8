/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rounds of stepped.S, and what they need of the machine: pages that come and go, GS, a timer. */
#include "guest.h"

#define LAZY        0xffffffffa0000000ull /* a page for each vCPU, mapped when it is first touched */
#define READ_ONLY   (LAZY + 64 * 4096)    /* the same pages, read-only until the first store */
#define PRESENT     1u
#define WRITABLE    2u
#define NOBODYS     0xfee01000ull /* in the page directory's 2 MiB of the local APIC, where no device is */
#define MSR_GS_BASE 0xc0000101u
#define CR4_SMAP    (1ull << 21)
#define CR0_WP      (1ull << 16)
#define APIC_EOI    0xb0
#define TIMER       0x40
#define WORDS       5

extern uint64_t lazy_table[512];
extern void vector_pf(void), vector_db(void), vector_timer(void);
extern uint64_t stepped_fwait(uint64_t), stepped_stac(uint64_t), stepped_imul(uint64_t);
extern uint64_t stepped_xadd(uint64_t, uint64_t *), stepped_load(uint64_t, uint64_t),
    stepped_store(uint64_t, uint64_t);
extern uint64_t stepped_beside(uint64_t), stepped_gsload(uint64_t), stepped_gsadd(uint64_t);
extern uint64_t stepped_gsindex(uint64_t, uint64_t);
extern uint64_t trace_through(uint64_t, uint64_t (*)(uint64_t));
extern uint64_t probed_endbr(uint64_t);

static struct {
	uint64_t page[512] __attribute__((aligned(4096)));
	uint64_t gs[8], words[WORDS + 1], sum;
	volatile uint64_t faults, steps, timers;
} cpu_data[MAX_CPUS];
static uint64_t shared;
static uint64_t smap;

static uint64_t *entry_of(uint64_t address)
{
	return &lazy_table[(address - LAZY) / 4096];
}

static void map(uint64_t address, uint64_t flags)
{
	uint64_t page = (uint64_t)cpu_data[(address - LAZY) / 4096 % 64].page - 0xffffffff80000000ull;

	*(volatile uint64_t *)entry_of(address) = flags ? page | flags : 0;
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

/* @frame: error code, rip … */
void on_page_fault(uint64_t address, const uint64_t *frame)
{
	if (address < LAZY || address >= LAZY + 512 * 4096 || (address & 0xfff) > 8)
		fail("page fault at", frame[1]);
	if (frame[3] & 0x100)
		fail("a trace flag at a fault", frame[3]);
	cpu_data[(address - LAZY) / 4096 % 64].faults++;
	map(address, PRESENT | WRITABLE);
}

/* The vCPU is known by its stack. */
void on_debug(const uint64_t *frame)
{
	uint64_t dr6;

	__asm__ volatile("mov %%dr6, %0" : "=r"(dr6));
	if (!(dr6 & 0x4000))
		fail("a debug exception", dr6);
	dr6 = 0xffff0ff0;
	__asm__ volatile("mov %0, %%dr6" : : "r"(dr6));
	cpu_data[((uint64_t)frame - (uint64_t)stacks) / 4096].steps++;
}

void on_timer(void)
{
	uint64_t here;

	cpu_data[((uint64_t)&here - (uint64_t)stacks) / 4096].timers++;
	apic_write(APIC_EOI, 0);
}

static void wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
}

static int has_smap(void)
{
	uint32_t a = 7, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 20 & 1;
}

void stepped_setup(uint32_t cpu)
{
	uint64_t cr0;

	set_gate(14, vector_pf);
	set_gate(1, vector_db);
	set_gate(TIMER, vector_timer);
	wrmsr(MSR_GS_BASE, (uint64_t)cpu_data[cpu].gs);
	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	cr0 |= CR0_WP;
	__asm__ volatile("mov %0, %%cr0" : : "r"(cr0));
	if (has_smap()) {
		uint64_t cr4;
		__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
		cr4 |= CR4_SMAP;
		__asm__ volatile("mov %0, %%cr4" : : "r"(cr4));
		smap = 1;
	}
}

void timer_setup(uint32_t count)
{
	apic_timer(TIMER | 1 << 17 /* periodic */, count);
	__asm__ volatile("sti");
}

/* stepped_string() takes its arguments where the instruction has them. */
static void fill(uint64_t *words, uint64_t n, uint64_t value)
{
	__asm__ volatile("call stepped_string" : "+D"(words), "+c"(n), "+a"(value) : : "memory", "cc");
}

static void call_faulting(uint64_t i, uint32_t cpu)
{
	uint64_t faults = cpu_data[cpu].faults, lazy = LAZY + cpu * 4096, ro = READ_ONLY + cpu * 4096;

	cpu_data[cpu].page[1] = 0x7000 + cpu;
	map(lazy, 0);
	check("load", stepped_load(i, lazy + 8), i + 0x7000 + cpu);
	check("faults", cpu_data[cpu].faults, faults + 1);
	map(ro, PRESENT);
	check("store", stepped_store(i, ro), i);
	check("stored", cpu_data[cpu].page[0], i);
	check("faults", cpu_data[cpu].faults, faults + 2);
	check("device", stepped_load(i, NOBODYS), i - 1);
}

static void call_gs(uint64_t i, uint32_t cpu)
{
	cpu_data[cpu].gs[1] = 0x5000 + cpu;
	cpu_data[cpu].gs[2] = ~0ull;
	cpu_data[cpu].gs[3] = 0x8877665544332211ull;
	check("gsload", stepped_gsload(i), i + 0x5000 + cpu);
	check("gsadd", stepped_gsadd(i), i - 1);
	check("gsindex", stepped_gsindex(i, 3), 0x5544);
}

/* A trap follows each instruction. Hosts differ in whether the popf that ends it is one: the others are
 * compared with the first one, which is before tracing. */
void call_traced(uint64_t i, uint32_t cpu)
{
	static uint64_t wanted[MAX_CPUS];
	uint64_t steps = cpu_data[cpu].steps;

	check("traced", trace_through(i, probed_endbr), i + 1);
	if (!wanted[cpu])
		wanted[cpu] = cpu_data[cpu].steps - steps;
	check("steps", cpu_data[cpu].steps, steps + wanted[cpu]);
}

void call_stepped(uint64_t i, uint32_t cpu)
{
	uint64_t *w = cpu_data[cpu].words;

	check("fwait", stepped_fwait(i), i + 1);
	if (smap)
		check("stac", stepped_stac(i), i + 2);
	check("imul", stepped_imul(i), i * 3);
	stepped_xadd(1, &shared);
	check("xadd", stepped_xadd(i, &cpu_data[cpu].sum), 0);
	cpu_data[cpu].sum = 0;
	for (unsigned k = 0; k <= WORDS; k++)
		w[k] = 0;
	fill(w, WORDS, i);
	check("string", w[0] + w[WORDS - 1] + w[WORDS], 2 * i);
	call_gs(i, cpu);
	call_faulting(i, cpu);
	check("beside", stepped_beside(i), i + 4);
}

void stepped_round_end(uint64_t calls)
{
	uint32_t bp = __atomic_exchange_n(&bp_count, 0, __ATOMIC_SEQ_CST);
	uint64_t n = __atomic_exchange_n(&shared, 0, __ATOMIC_SEQ_CST);

	check("int3s", bp, 3 * calls);
	check("sum", n, calls);
}
