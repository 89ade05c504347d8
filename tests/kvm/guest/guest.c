/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest of a few pages for tests of the KVM engine: several vCPUs that call the functions of probed.S, in
 * rounds of exactly known counts, for ever. Its command line is words NAME=NUMBER:
 *
 *   cpus=N    vCPUs to bring up (1)
 *   calls=N   calls of each function in a round, by each vCPU (100)
 *   ports=N   in a round, vCPU 0 writes to each port at which KVM counts for the engine N times (0)
 *   io=N      in a round, vCPU 0 writes and reads a port and an address without a device N times each (0)
 *   say=N     prints N digits on its console first (0)
 *   wait=N    before 16 of them each it waits for the chip: 0 not at all, 1 for its transmitter, 2 for
 *             its interrupt
 *   rounds=N  rounds before it ends (0: until it is killed)
 *   await=N   they count from the Nth one that finds the text of round_end() changed: it has a probe; until
 *             that one's end probed_nop()'s second argument is 6, and then 7. A session is active a moment
 *             after its probes are there, which may be as long as a round that does not exit
 *   returned=1
 *             each call is followed by one of each function of returned.S, with 256 times that argument
 *   keys=N    how often a round that patches turns a static key on and off (2)
 *   rest=N    after a round each vCPU halts for N ns, so that the host has its CPU meanwhile (0: it goes on)
 *   input=1   it ends also after the round in which a byte comes on its serial port
 *   end=N     how: 0 powers off, 1 resets, 2 has a triple fault, 3 spins with interrupts off, 4 does what
 *             an emulating KVM can't, then powers off
 *
 * A round begins with round_begin(n) on vCPU 0 and ends with round_end(n) there, all vCPUs being in between.
 * Every result of a function is checked: an emulation that went wrong ends the guest with FAIL on its
 * console.
 */
#include "guest.h"

#define PM_CONTROL 0x604
#define RESET      0xcf9
#define NO_PORT    0x2e0
#define NO_RAM     0xfee10000ull /* behind the APIC, which is mapped */
#define APIC_ICR   0x300
#define APIC_ICR2  0x310
#define APIC_SVR   0xf0
#define REST       0x41 /* its vector */
#define PIC_MASK   0x21
#define PIC_MASK2  0xa1
#define TRAMPOLINE 0x8000ull
#define CMDLINE    0x228

/* What tells a reader that this is a kernel with symbols of its own. */
const char linux_banner[] __attribute__((used)) = "Linux version 0.1.0-small (outsight) #1 SMP\n";

extern uint8_t trampoline[], trampoline_end[];
extern void vector_bp(void), vector_rest(void), vector_other(void);
extern uint64_t probed_nop(uint64_t, uint64_t), probed_endbr(uint64_t), probed_push(uint64_t);
extern uint64_t probed_push1(uint64_t), probed_load(uint64_t), probed_flags(uint64_t), probed_frame(uint64_t);
extern uint64_t probed_tail(uint64_t);

struct gate {
	uint16_t low, selector, flags, mid;
	uint32_t high, zero;
};

struct gate idt[256] __attribute__((aligned(16)));
uint64_t ap_stack;
volatile uint32_t bp_count;
static volatile uint32_t online, arrived, generation;
uint64_t cpus = 1, calls = 100, rounds, key_times;
static uint64_t io, ports, step, trace, timer, input, rest, returned;
static volatile uint64_t await;
static volatile bool stopped;

/* --- the machine ---------------------------------------------------------------------------- */

static inline void outb(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port));
}

static inline void outw(uint16_t port, uint16_t v)
{
	__asm__ volatile("outw %0, %1" : : "a"(v), "Nd"(port));
}

void print(const char *s)
{
	while (*s)
		outb(COM1, (uint8_t)*s++);
}

static void print_hex(uint64_t v)
{
	for (int i = 60; i >= 0; i -= 4)
		outb(COM1, (uint8_t) "0123456789abcdef"[v >> i & 15]);
}

enum { WAIT_TRANSMITTER = 1, WAIT_INTERRUPT };

static void say(uint64_t n, uint64_t wait)
{
	static char text[26]; /* 16 from any of the first ten on */

	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] = (char)('0' + i % 10);
	outb(COM1 + 1, wait == WAIT_INTERRUPT ? 2 : 0);
	for (uint64_t i = 0; i < n; i += 16) {
		const char *from = text + i % 10;
		uint64_t len = n - i < 16 ? n - i : 16;
		while ((wait == WAIT_TRANSMITTER && !(inb(COM1 + 5) & 0x20)) ||
		       (wait == WAIT_INTERRUPT && (inb(COM1 + 2) & 0xf) != 2))
			__asm__ volatile("pause");
		__asm__ volatile("rep outsb" : "+S"(from), "+c"(len) : "d"((uint16_t)COM1) : "memory");
	}
	outb(COM1 + 1, 0);
}

static _Noreturn void power_off(void)
{
	outw(PM_CONTROL, 1 << 13);
	for (;;)
		__asm__ volatile("hlt");
}

enum { END_POWER_OFF, END_RESET, END_TRIPLE_FAULT, END_HANG, END_REFUSED };

static void end_as(uint64_t how)
{
	static const struct __attribute__((packed)) {
		uint16_t limit;
		uint64_t base;
	} none;
	static uint64_t wide[2] __attribute__((aligned(16)));

	switch (how) {
	case END_RESET:
		outb(RESET, 6);
		break;
	case END_TRIPLE_FAULT:
		__asm__ volatile("lidt %0; ud2" : : "m"(none));
		break;
	case END_HANG:
		for (;;)
			__asm__ volatile("" : : : "memory");
	case END_REFUSED:
		__asm__ volatile("cmpxchg16b %0" : "+m"(wide) : : "rax", "rbx", "rcx", "rdx", "memory", "cc");
		break;
	default:
		break;
	}
	power_off();
}

/* One vCPU tells its end, whole: the others' are its consequence. */
static void end_once(void)
{
	static bool ended;

	while (__atomic_exchange_n(&ended, true, __ATOMIC_ACQUIRE))
		while (true)
			__asm__ volatile("pause");
}

static _Noreturn void tell_fail(const char *what, uint64_t value)
{
	print("FAIL ");
	print(what);
	print(" 0x");
	print_hex(value);
	print("\n");
	power_off();
}

void fail(const char *what, uint64_t value)
{
	end_once();
	tell_fail(what, value);
}

#define FRAME_WORDS 20

/* rdi and the rest were pushed above what the CPU pushed. */
void on_exception(const uint64_t *frame)
{
	end_once();
	print("exception, frame");
	for (unsigned i = 5; i < 5 + FRAME_WORDS; i++) {
		print(" 0x");
		print_hex(frame[i]);
	}
	print("\n");
	tell_fail("exception at", frame[5] > 0xffff ? frame[5] : frame[6]);
}

void set_gate(unsigned n, void (*handler)(void))
{
	uint64_t a = (uint64_t)handler;

	idt[n] = (struct gate){ (uint16_t)a, 0x10, 0x8e00, (uint16_t)(a >> 16), (uint32_t)(a >> 32), 0 };
}

static void wait_online(uint32_t n)
{
	while (online != n)
		__asm__ volatile("pause");
}

static void start_cpu(uint32_t n)
{
	ap_stack = (uint64_t)stacks + (n + 1) * 4096;
	apic_write(APIC_ICR2, n << 24);
	apic_write(APIC_ICR, 0x4500); /* INIT */
	apic_write(APIC_ICR2, n << 24);
	apic_write(APIC_ICR, 0x4600 | TRAMPOLINE >> 12); /* start-up */
	wait_online(n + 1);
}

/* --- rounds ---------------------------------------------------------------------------------- */

noinline void round_begin(uint64_t n, uint64_t patching)
{
	__asm__ volatile("" : : "r"(n), "r"(patching));
}

noinline void round_end(uint64_t n)
{
	__asm__ volatile("" : : "r"(n));
}

static bool round_end_has_changed(void)
{
	static uint8_t first;
	uint8_t now = *(const volatile uint8_t *)round_end;

	if (!first)
		first = now;
	return first != now;
}

/* All vCPUs wait for the last one. */
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

/* Has round_end() got a probe, so that rounds count from now on? vCPU 0 answers for all, which else would end
 * after different rounds: the text may change between one's look and another's. */
static bool end_await(uint32_t cpu)
{
	static volatile bool changed;
	static uint64_t rounds_since; /* vCPU 0's */

	if (cpu == 0)
		changed = round_end_has_changed() && ++rounds_since == await;
	barrier();
	bool ends = changed;
	barrier(); /* before either is written again */
	if (cpu == 0 && ends)
		await = 0;
	return ends;
}

void call_all(uint64_t i, uint32_t cpu)
{
	uint64_t second = await ? 6 : 7;

	if (step)
		call_stepped(i, cpu);
	if (trace)
		call_traced(i, cpu);
	check("nop", probed_nop(i, second), i + second);
	check("endbr", probed_endbr(i), i + 1);
	check("push", probed_push(i), i + 2);
	check("push1", probed_push1(i), i + 3);
	check("load", probed_load(i), i + 0x1000);
	check("flags", probed_flags(i), i < 5 ? i + 2 : i);
	check("frame", probed_frame(i), i);
	check("tail", probed_tail(i), i + 0x1004);
	if (returned && call_returned)
		call_returned(i, second << 8);
}

/* What a VMM answers with ones, or not at all. */
static void do_io(void)
{
	volatile uint32_t *nobody = (volatile uint32_t *)NO_RAM;
	uint16_t in;

	for (uint64_t i = 0; i < io; i++) {
		outw(NO_PORT, 0x1234);
		__asm__ volatile("inw %1, %0" : "=a"(in) : "Nd"((uint16_t)(NO_PORT + 1)));
		check("inw", in, 0xffff);
		*nobody = 0x55aa;
		check("nobody", *nobody, 0xffffffff);
	}
}

/* VP_KVM_COUNTERS ports without a device. */
static void write_ports(void)
{
	for (uint64_t i = 0; i < ports; i++)
		for (uint16_t k = 0; k < 8; k++) {
			outb(0xa8 + k, 0);
			outb(0xe0 + k, 0);
		}
}

/* Interrupts are off but for this instruction, which also one that has come already ends. */
static void halt_for_rest(void)
{
	apic_timer(REST, (uint32_t)rest);
	__asm__ volatile("sti; hlt; cli" : : : "memory");
}

static void run(uint32_t cpu)
{
	if (percpu_setup)
		percpu_setup(cpu);
	if (patching_run) {
		patching_run(cpu);
		return;
	}
	if (step || trace || timer)
		stepped_setup(cpu);
	if (trace)
		call_traced(0, cpu);
	if (timer)
		timer_setup((uint32_t)timer);
	for (uint64_t n = 1; !rounds || n <= rounds; n++) {
		barrier();
		if (cpu == 0)
			round_begin(n, 0);
		barrier();
		for (uint64_t i = 0; i < calls; i++)
			call_all(i, cpu);
		if (cpu == 0) {
			do_io();
			write_ports();
		}
		if (cpu == 0 && input && inb(COM1 + 5) & 1)
			stopped = true;
		barrier();
		if (cpu == 0 && step)
			stepped_round_end(calls * cpus);
		if (cpu == 0)
			round_end(n);
		if (stopped)
			break;
		if (await && !end_await(cpu))
			n = 0;
		if (rest)
			halt_for_rest();
	}
}

/* --- start ----------------------------------------------------------------------------------- */

void ap_main(void)
{
	uint32_t cpu = online;

	apic_write(APIC_SVR, 0x1ff);
	__atomic_store_n(&online, cpu + 1, __ATOMIC_RELEASE);
	run(cpu);
	for (;;)
		__asm__ volatile("hlt");
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
	const char *line = (const char *)(uint64_t) * (const uint32_t *)(zero_page + CMDLINE);

	cpus = option(line, "cpus", 1);
	calls = option(line, "calls", 100);
	rounds = option(line, "rounds", 0);
	key_times = option(line, "keys", 2);
	io = option(line, "io", 0);
	ports = option(line, "ports", 0);
	step = option(line, "step", 0);
	trace = option(line, "trace", 0);
	timer = option(line, "timer", 0);
	input = option(line, "input", 0);
	await = option(line, "await", 0);
	rest = option(line, "rest", 0);
	returned = option(line, "returned", 0);
	for (unsigned i = 0; i < 256; i++)
		set_gate(i, vector_other);
	set_gate(3, vector_bp);
	set_gate(REST, vector_rest);
	if (rest) { /* firmware may have left the old chips on, whose vectors are exceptions' */
		outb(PIC_MASK, 0xff);
		outb(PIC_MASK2, 0xff);
	}
	apic_write(APIC_SVR, 0x1ff);
	for (uint64_t i = 0; i < (uint64_t)(trampoline_end - trampoline); i++)
		((volatile uint8_t *)TRAMPOLINE)[i] = trampoline[i];
	online = 1;
	for (uint32_t n = 1; n < cpus && n < MAX_CPUS; n++)
		start_cpu(n);
	(void)round_end_has_changed(); /* what it is before anybody can trace it */
	print("READY\n");
	say(option(line, "say", 0), option(line, "wait", 0));
	run(0);
	print("DONE\n");
	end_as(option(line, "end", END_POWER_OFF));
}
