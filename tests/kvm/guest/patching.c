/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that patches its own text, simulated: function tracing (compares the five bytes of an fentry site
 * with what it knows, then patches them), kprobes (copy an instruction, put an int3 there, run the copy),
 * static keys; all by the three steps of Linux's text_poke_bp(): int3 over the first byte, the tail, the
 * first byte, with all vCPUs in step. The functions have the names of Linux's. Bytes that are not this
 * kernel's own end it with FAIL.
 *
 * In a round's first half nothing is patched and every call is counted; enabled functions stay enabled. In
 * its second half, on request, vCPU 0 turns a static key on and off, then patches all, vCPU 1, if there is
 * one, adds and removes kprobes, and all vCPUs call.
 */
#include "guest.h"

#define NOP5  0x0000441f0full /* as read5() has it */
#define CALL5 0xe8u
#define TIMES 2

extern uint64_t probed_keyed(uint64_t), probed_keyed_short(uint64_t);
extern uint8_t probed_nop[], probed_endbr[], probed_tail[], probed_push[];
extern uint8_t ftrace_caller[];
extern void vector_patching_bp(void);

volatile uint64_t traced_calls; /* by ftrace_caller */
volatile uint64_t keyed_events; /* by keyed_event */

/* As struct mutex, which begins with its owner. */
volatile uint64_t text_mutex, kprobe_mutex, jump_label_mutex;

/* The current patch: its address, and the address at which a vCPU continues that hits its int3. */
static volatile uint64_t poke_at, poke_to;
static volatile uint64_t sync_wanted, sync_seen[MAX_CPUS];

struct kprobe {
	uint8_t *addr;
	uint32_t len;
	uint8_t opcode;
	uint8_t slot[32]; /* the instruction, and a jump behind the original */
	volatile uint64_t hits;
	volatile bool armed;
};

static struct kprobe behind = { .addr = probed_nop + 5, .len = 4 }; /* next to an entry probe's trap */
static struct kprobe first = { .addr = probed_push, .len = 2 };     /* where one stands */
static uint8_t pristine[2][5];

/* --- three steps ----------------------------------------------------------------------------- */

static void patching_poll(uint32_t cpu)
{
	if (sync_seen[cpu] != sync_wanted)
		sync_seen[cpu] = sync_wanted;
}

/* Every other vCPU has been between two instructions of its own since. */
static void sync_all(uint32_t me)
{
	uint64_t want = __atomic_add_fetch(&sync_wanted, 1, __ATOMIC_SEQ_CST);

	for (uint32_t i = 0; i < cpus; i++)
		while (i != me && sync_seen[i] < want)
			patching_poll(me);
}

static void lock(uint32_t me, volatile uint64_t *mutex)
{
	uint64_t free = 0;

	while (!__atomic_compare_exchange_n(mutex, &free, 0x1000ull + me * 8, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		free = 0;
		patching_poll(me);
	}
}

static void text_lock(uint32_t me)
{
	lock(me, &text_mutex);
}

static void text_unlock(void)
{
	__atomic_store_n(&text_mutex, 0, __ATOMIC_RELEASE);
}

static void write_text(uint8_t *at, const void *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		((volatile uint8_t *)at)[i] = ((const uint8_t *)bytes)[i];
}

/* With the lock. */
noinline void text_poke_bp(uint32_t me, uint8_t *at, const uint8_t *bytes, uint32_t len, uint8_t *to)
{
	const uint8_t int3 = 0xcc;

	poke_to = (uint64_t)to;
	poke_at = (uint64_t)at;
	write_text(at, &int3, 1);
	sync_all(me);
	write_text(at + 1, bytes + 1, len - 1);
	sync_all(me);
	write_text(at, bytes, 1);
	sync_all(me);
	poke_at = 0;
}

static uint64_t read_text(const uint8_t *at, uint32_t len)
{
	uint64_t v = 0;

	for (uint32_t i = len; i--;)
		v = v << 8 | ((const volatile uint8_t *)at)[i];
	return v;
}

static uint64_t read5(const uint8_t *at)
{
	return read_text(at, 5);
}

static void make_branch(uint8_t opcode, const uint8_t *at, const uint8_t *to, uint8_t *bytes)
{
	int32_t distance = (int32_t)(to - (at + 5));

	bytes[0] = opcode;
	__builtin_memcpy(bytes + 1, &distance, 4);
}

static void compare(const char *what, const uint8_t *at, uint64_t want)
{
	if (read5(at) != want)
		fail(what, read5(at));
}

/* Only in the first half, so that a counter without a predicate counts whole rounds. */
noinline void quiet_call(void)
{
	__asm__ volatile("");
}

/* --- function tracing ------------------------------------------------------------------------- */

static void modify(uint32_t me, const char *who, uint8_t *site, bool on)
{
	uint8_t call[8] = { 0 }, nop[8] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	uint64_t called;

	make_branch(CALL5, site, ftrace_caller, call);
	__builtin_memcpy(&called, call, 8);
	compare(who, site, on ? NOP5 : called);
	text_poke_bp(me, site, on ? call : nop, 5, site + 5);
	compare(who, site, on ? called : NOP5);
}

noinline void ftrace_modify_all_code(uint32_t me, bool on)
{
	modify(me, "ftrace, nop", probed_nop, on);
	modify(me, "ftrace, endbr", probed_endbr + 4, on);
	modify(me, "ftrace, quiet", (uint8_t *)(uint64_t)quiet_call, on);
}

noinline void ftrace_set_filter(uint32_t me, bool on)
{
	text_lock(me);
	ftrace_modify_all_code(me, on);
	text_unlock();
}

noinline int __bpf_arch_text_poke(uint8_t *site, uint32_t me, bool on)
{
	text_lock(me);
	modify(me, "bpf", site, on);
	text_unlock();
	return 0;
}

/* Continues by a tail jump, as the kernel's does. */
noinline int bpf_arch_text_poke(uint8_t *site, uint32_t me, bool on)
{
	if (site != probed_tail)
		return -1;
	return __bpf_arch_text_poke(site, me, on);
}

/* --- static keys ------------------------------------------------------------------------------- */

#define BRANCHES 2u

struct jump_entry {
	int32_t code, target;
	int64_t key;
};

extern const struct jump_entry __start___jump_table[BRANCHES];

/* A branch that is to be patched. */
static struct {
	uint8_t *at, *to; /* to: where a vCPU continues that hits the int3 */
	uint8_t bytes[8], len;
} poke_queue[BRANCHES];
static uint32_t queued;
static uint32_t toggler; /* who has jump_label_mutex */

/* Its length is the instruction's; its code is compared with the form that it should have. */
static void queue_branch(const struct jump_entry *e, bool on)
{
	uint8_t *at = (uint8_t *)&e->code + e->code, *target = (uint8_t *)&e->target + e->target;
	uint8_t len = *at == 0x66 || *at == 0xeb ? 2 : 5;
	uint8_t nop[8] = { 0x0f, 0x1f, 0x44 }, jump[8] = { 0xeb, (uint8_t)(target - (at + 2)) };
	uint64_t expected = 0;

	if (len == 2)
		__builtin_memcpy(nop, "\x66\x90", 3);
	else
		make_branch(0xe9, at, target, jump);
	__builtin_memcpy(&expected, on ? nop : jump, len);
	if (read_text(at, len) != expected)
		fail("static key", read_text(at, len));
	poke_queue[queued].at = at;
	poke_queue[queued].to = on ? target : at + len;
	poke_queue[queued].len = len;
	__builtin_memcpy(poke_queue[queued++].bytes, on ? jump : nop, 8);
}

noinline bool arch_jump_label_transform_queue(const struct jump_entry *e, bool on)
{
	text_lock(toggler);
	queue_branch(e, on);
	text_unlock();
	return true;
}

noinline void arch_jump_label_transform_apply(void)
{
	text_lock(toggler);
	for (uint32_t i = 0; i < queued; i++)
		text_poke_bp(toggler, poke_queue[i].at, poke_queue[i].bytes, poke_queue[i].len,
			     poke_queue[i].to);
	queued = 0;
	text_unlock();
}

static void set_key(uint32_t me, bool on)
{
	lock(me, &jump_label_mutex);
	toggler = me;
	for (uint32_t i = 0; i < BRANCHES; i++)
		arch_jump_label_transform_queue(&__start___jump_table[i], on);
	arch_jump_label_transform_apply();
	__atomic_store_n(&jump_label_mutex, 0, __ATOMIC_RELEASE);
}

static void call_keyed(uint64_t i)
{
	if (probed_keyed(i) != i + 6 || probed_keyed_short(i) != i + 6)
		fail("keyed", i);
}

/* It was left on or off. After each toggle one call that can be told from all others. */
static void play_with_key(uint32_t me, uint64_t times, bool on)
{
	if (on)
		set_key(me, false);
	for (uint64_t i = 0; i < times; i++) {
		set_key(me, true);
		call_keyed(1ull << 32 | i);
		set_key(me, false);
		call_keyed(1ull << 32 | i);
	}
}

/* --- kprobes ------------------------------------------------------------------------------------- */

noinline int arch_prepare_kprobe(struct kprobe *kp)
{
	const uint8_t *own = pristine[kp == &first];

	for (uint32_t i = 0; i < kp->len; i++)
		if (kp->addr[i] != own[i])
			fail("kprobe, copying", read5(kp->addr));
	write_text(kp->slot, kp->addr, kp->len);
	for (uint32_t i = 0; i < kp->len; i++)
		if (kp->slot[i] != own[i])
			fail("kprobe, copied", read5(kp->slot));
	make_branch(0xe9, kp->slot + kp->len, kp->addr + kp->len, kp->slot + kp->len);
	kp->opcode = kp->addr[0];
	return 0;
}

noinline void arch_arm_kprobe(uint32_t me, struct kprobe *kp)
{
	const uint8_t int3 = 0xcc;

	kp->armed = true;
	text_lock(me);
	if (kp->addr[0] != kp->opcode)
		fail("kprobe, arming", read5(kp->addr));
	write_text(kp->addr, &int3, 1);
	sync_all(me);
	text_unlock();
}

noinline void arch_disarm_kprobe(uint32_t me, struct kprobe *kp)
{
	text_lock(me);
	if (kp->addr[0] != 0xcc)
		fail("kprobe, disarming", read5(kp->addr));
	write_text(kp->addr, &kp->opcode, 1);
	sync_all(me);
	text_unlock();
	kp->armed = false;
	for (uint32_t i = 1; i < kp->len; i++)
		if (kp->addr[i] != pristine[kp == &first][i])
			fail("kprobe, gone", read5(kp->addr));
}

noinline void register_kprobe(uint32_t me, struct kprobe *kp)
{
	kprobe_mutex = 0x1000;
	arch_prepare_kprobe(kp);
	arch_arm_kprobe(me, kp);
	kprobe_mutex = 0;
}

noinline void unregister_kprobe(uint32_t me, struct kprobe *kp)
{
	kprobe_mutex = 0x1000;
	arch_disarm_kprobe(me, kp);
	kprobe_mutex = 0;
}

void on_breakpoint(uint64_t *rip);

/* #BP: the address behind the int3 is in the frame. Whoever takes one away waits until all vCPUs are past it.
 */
void on_breakpoint(uint64_t *rip)
{
	uint64_t at = *rip - 1;

	if (at == poke_at) {
		*rip = poke_to;
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		struct kprobe *kp = i ? &first : &behind;
		if (at != (uint64_t)kp->addr)
			continue;
		if (!kp->armed)
			fail("an int3 of nobody's", at);
		__atomic_add_fetch(&kp->hits, 1, __ATOMIC_RELAXED);
		*rip = (uint64_t)kp->slot;
		return;
	}
	fail("a strange int3", at);
}

/* --- a task that dies in there ---------------------------------------------------------------------- */

static void *life[5];

static noinline _Noreturn void oops(void)
{
	__builtin_longjmp(life, 1);
}

/* A debugger, a function in which a task may end, without a return and without reaching the function's
 * end. */
noinline int kgdb_arch_set_breakpoint(const uint8_t *at, bool dies)
{
	if (*at == 0xcc)
		return -1;
	if (dies)
		oops();
	return 0;
}

noinline int kgdb_arch_remove_breakpoint(const uint8_t *at)
{
	return *at == 0xcc ? -1 : 0;
}

static noinline void die(void)
{
	if (!__builtin_setjmp(life))
		kgdb_arch_set_breakpoint(probed_nop, true);
}

/* A dead task's stack becomes another's. */
static noinline void reuse_stack(void)
{
	volatile uint64_t words[128];

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = 0;
}

/* --- rounds --------------------------------------------------------------------------------------- */

static volatile uint32_t arrived, generation, at_work;
static volatile bool active;           /* second halves have something to do; vCPU 0's */
static volatile uint64_t keys_at_rest; /* the round whose key has been played with alone */
static bool died;

/* All vCPUs wait for the last one, in step with who patches. */
static void meet(uint32_t cpu)
{
	uint32_t g = generation;

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == cpus) {
		arrived = 0;
		__atomic_store_n(&generation, g + 1, __ATOMIC_RELEASE);
		return;
	}
	while (generation == g)
		patching_poll(cpu);
}

static void call(uint32_t cpu, uint64_t i)
{
	call_all(i, cpu);
	call_keyed(i);
	patching_poll(cpu);
}

static void first_half(uint32_t cpu, uint64_t n, bool traced)
{
	uint64_t all = calls * cpus;

	meet(cpu);
	if (cpu == 0) {
		traced_calls = behind.hits = keyed_events = 0;
		round_begin(n, active | died << 1);
	}
	meet(cpu);
	for (uint64_t i = 0; i < calls; i++) {
		call(cpu, i);
		quiet_call();
	}
	meet(cpu);
	if (cpu)
		return;
	round_end(n);
	if (traced_calls != (traced ? 3 * all : 0))
		fail("own tracing counted", traced_calls);
	if (keyed_events != (traced ? BRANCHES * all : 0))
		fail("own tracepoint counted", keyed_events);
	if (behind.hits != (behind.armed ? all : 0))
		fail("own kprobe counted", behind.hits);
}

static void play_with_kprobes(uint32_t me, unsigned times, bool leave_on)
{
	if (behind.armed)
		unregister_kprobe(me, &behind);
	for (unsigned i = 0; i < times; i++) {
		register_kprobe(me, &behind);
		register_kprobe(me, &first);
		call(me, i);
		unregister_kprobe(me, &first);
		unregister_kprobe(me, &behind);
	}
	if (leave_on)
		register_kprobe(me, &behind);
}

static void play_with_tracing(uint32_t me, unsigned times, bool on, bool leave_on)
{
	for (unsigned i = 0; i < times; i++) {
		set_key(me, true);
		on = !on;
		ftrace_set_filter(me, on);
		bpf_arch_text_poke(probed_tail, me, true);
		call(me, i);
		bpf_arch_text_poke(probed_tail, me, false);
		set_key(me, false);
	}
	if (on != leave_on)
		ftrace_set_filter(me, leave_on);
	if (leave_on)
		set_key(me, true);
}

/* What it leaves on, the next first half has to live with. */
static void second_half(uint32_t cpu, uint64_t n, bool traced, bool leave_traced)
{
	uint32_t kprober = cpus > 1;
	unsigned times = active ? TIMES : 0;

	if (cpu == 0)
		at_work = kprober + 1;
	meet(cpu);
	if (cpu == 0) {
		play_with_key(cpu, active ? key_times : 0, traced);
		keys_at_rest = n;
	}
	while (keys_at_rest != n) {
		call_keyed(n & 15);
		patching_poll(cpu);
	}
	if (cpu == 0)
		play_with_tracing(cpu, times, traced, leave_traced);
	if (cpu == kprober)
		play_with_kprobes(cpu, times, times && n & 2);
	if (cpu == 0 || cpu == kprober)
		__atomic_sub_fetch(&at_work, cpus > 1 ? 1 : at_work, __ATOMIC_RELEASE);
	while (at_work)
		call(cpu, n & 15);
}

/* From the serial port: 'g' go on and patch, 's' turn everything off and be quiet, 'd' have a task die. */
static void obey(void)
{
	uint8_t c = inb(COM1 + 5) & 1 ? inb(COM1) : 0;

	if (c == 'g')
		active = true;
	else if (c == 's')
		active = false;
	if (c != 'd')
		return;
	died = true;
	die();
	reuse_stack();
}

void patching_run(uint32_t cpu)
{
	bool traced = false, told = true;

	if (cpu == 0) {
		write_text(pristine[0], behind.addr, 5);
		write_text(pristine[1], first.addr, 5);
		set_gate(3, vector_patching_bp);
	}
	for (uint64_t n = 1; !rounds || n <= rounds; n++) {
		bool leave_traced;

		first_half(cpu, n, traced);
		if (cpu == 0)
			obey();
		meet(cpu);
		leave_traced = active && n & 1;
		second_half(cpu, n, traced, leave_traced);
		traced = leave_traced;
		if (cpu == 0 && !active && !told)
			print("QUIET\n");
		told = !active;
	}
}
