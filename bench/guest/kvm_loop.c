/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KVM benchmark's guest. Its vCPUs call the functions of kvm_functions.S in turns that begin together,
 * and vCPU 0 prints what each turn took by its time stamp counter, a line a round: bare, floor, entry,
 * return, and the counter itself. Command line:
 *
 *   cpus=N    vCPUs (1)
 *   calls=N   calls in a turn (500)
 *   only=1    calls bench_entry for ever and prints nothing, for a debugger
 */
#include <stdint.h>

#define COM1       0x3f8
#define APIC       0xfee00000ull
#define APIC_ICR   0x300
#define APIC_ICR2  0x310
#define APIC_SVR   0xf0
#define TRAMPOLINE 0x8000ull
#define CMDLINE    0x228
#define TURNS      4

const char linux_banner[] __attribute__((used)) = "Linux version 0.1.0-bench (outsight) #1 SMP\n";

extern uint8_t trampoline[], trampoline_end[], stacks[];
extern uint64_t bench_bare(uint64_t, uint64_t), bench_floor(uint64_t, uint64_t);
extern uint64_t bench_entry(uint64_t, uint64_t), bench_return(uint64_t, uint64_t);
void on_exception(const uint64_t *frame), ap_main(void), guest_main(const uint8_t *zero_page);

struct gate {
	uint16_t low, selector, flags, mid;
	uint32_t high, zero;
};

struct gate idt[256] __attribute__((aligned(16)));
uint64_t ap_stack;
volatile uint32_t bp_count;
static volatile uint32_t online, arrived, generation;
static uint64_t cpus = 1, calls = 500;
static uint64_t (*const turns[TURNS])(uint64_t, uint64_t) = { bench_bare, bench_floor, bench_entry,
							      bench_return };

static inline void outb(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port));
}

static inline uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static void print(const char *s)
{
	while (*s)
		outb(COM1, (uint8_t)*s++);
}

static void print_hex(uint64_t v)
{
	int shift = 60;

	while (shift && !(v >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		outb(COM1, (uint8_t) "0123456789abcdef"[v >> shift & 15]);
}

/* Nothing here should have one. */
void on_exception(const uint64_t *frame)
{
	print("FAIL ");
	print_hex(frame[5]);
	print("\n");
	for (;;)
		__asm__ volatile("hlt");
}

static void apic_write(unsigned reg, uint32_t v)
{
	*(volatile uint32_t *)(APIC + reg) = v;
}

static void start_cpu(uint32_t n)
{
	ap_stack = (uint64_t)stacks + (n + 1) * 4096;
	apic_write(APIC_ICR2, n << 24);
	apic_write(APIC_ICR, 0x4500); /* INIT */
	apic_write(APIC_ICR2, n << 24);
	apic_write(APIC_ICR, 0x4600 | TRAMPOLINE >> 12); /* start-up */
	while (online != n + 1)
		__asm__ volatile("pause");
}

static void barrier(void)
{
	uint32_t g = generation;

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == cpus) {
		arrived = 0;
		__atomic_store_n(&generation, g + 1, __ATOMIC_RELEASE);
		return;
	}
	while (generation == g)
		__asm__ volatile("pause");
}

static uint64_t turn(uint64_t (*function)(uint64_t, uint64_t))
{
	uint64_t start;

	barrier();
	start = tsc();
	for (uint64_t i = 0; i < calls; i++)
		function(i, 7);
	return tsc() - start;
}

static void run(uint32_t cpu)
{
	uint64_t took[TURNS];

	for (;;) {
		for (unsigned i = 0; i < TURNS; i++)
			took[i] = turn(turns[i]);
		barrier();
		if (cpu)
			continue;
		print("R");
		for (unsigned i = 0; i < TURNS; i++) {
			print(" ");
			print_hex(took[i]);
		}
		print(" ");
		print_hex(tsc());
		print("\n");
	}
}

void ap_main(void)
{
	uint32_t cpu = online;

	apic_write(APIC_SVR, 0x1ff);
	__atomic_store_n(&online, cpu + 1, __ATOMIC_RELEASE);
	run(cpu);
}

/* NAME=NUMBER in @line, or @value as it is. */
static uint64_t option(const char *line, const char *name, uint64_t value)
{
	for (const char *p = line; *p; p++) {
		const char *a = p, *b = name;
		while (*b && *a == *b)
			a++, b++;
		if (*b || *a != '=' || (p != line && p[-1] != ' '))
			continue;
		value = 0;
		for (a++; *a >= '0' && *a <= '9'; a++)
			value = value * 10 + (uint64_t)(*a - '0');
	}
	return value;
}

void guest_main(const uint8_t *zero_page)
{
	extern void vector_other(void);
	const char *line = (const char *)(uint64_t) * (const uint32_t *)(zero_page + CMDLINE);
	uint64_t a = (uint64_t)vector_other;

	cpus = option(line, "cpus", 1);
	calls = option(line, "calls", 500);
	for (unsigned i = 0; i < 256; i++)
		idt[i] =
		    (struct gate){ (uint16_t)a, 0x10, 0x8e00, (uint16_t)(a >> 16), (uint32_t)(a >> 32), 0 };
	print("READY\n");
	while (option(line, "only", 0))
		for (uint64_t i = 0; i < 1000000; i++)
			bench_entry(i, 7);
	apic_write(APIC_SVR, 0x1ff);
	for (uint64_t i = 0; i < (uint64_t)(trampoline_end - trampoline); i++)
		((volatile uint8_t *)TRAMPOLINE)[i] = trampoline[i];
	online = 1;
	for (uint32_t n = 1; n < cpus; n++)
		start_cpu(n);
	run(0);
}
