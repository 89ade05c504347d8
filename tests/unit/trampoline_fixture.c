/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine for trampolines: memory, entry and exit, signals, the interpreter beside it. */
#include "tests/unit/trampoline_fixture.h"

#include <asm/prctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "vmm-probe/arch/x86/regs.h"

#define TEXT_SIZE   16384u
#define CODE_AT     4096u /* of the trampoline, in text; the site is at 0 */
#define FAR         (1ull << 40)
#define TRAP_FLAG   0x100u
#define STACK_FILL  0xa5
#define FLAGS_START 0x202u

/* --- entry and exit -------------------------------------------------------------------------- */

struct tf_regs tf_cpu;
uint64_t tf_host_rsp, tf_entry;
void tf_enter(void);
extern const char tf_leave[];

#define LOAD(n, reg) "mov 8*" #n "+tf_cpu(%rip), %" #reg "\n"
#define SAVE(n, reg) "mov %" #reg ", 8*" #n "+tf_cpu(%rip)\n"
#define MOST_REGS(X) \
	X(0, rax)    \
	X(1, rcx)    \
	X(2, rdx)    \
	X(3, rbx)    \
	X(5, rbp)    \
	X(6, rsi)    \
	X(7, rdi) X(8, r8) X(9, r9) X(10, r10) X(11, r11) X(12, r12) X(13, r13) X(14, r14) X(15, r15)

__asm__(".pushsection .text\n"
	".globl tf_enter\n"
	"tf_enter:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, tf_host_rsp(%rip)\n" MOST_REGS(LOAD) "push 8*16+tf_cpu(%rip); popfq\n" LOAD(
	    4, rsp) "jmp *tf_entry(%rip)\n"
		    ".globl tf_leave\n"
		    "tf_leave:\n" MOST_REGS(SAVE)
			SAVE(4, rsp) "mov tf_host_rsp(%rip), %rsp\n"
				     "pushfq; pop 8*16+tf_cpu(%rip)\n"
				     "push $0x202; popfq\n"
				     "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
				     "ret\n"
				     ".popsection\n");

/* The machine whose hit is executed, for signals. */
static struct tf_machine *active;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "trampoline machine: %s\n", what);
	abort();
}

void tf_set_cpu(struct tf_machine *m, unsigned cpu)
{
	m->cpu = cpu;
	must(!syscall(SYS_arch_prctl, ARCH_SET_GS, (unsigned long)(m->percpu + (size_t)cpu * TF_SPACING)),
	     "GS");
}

/* --- signals --------------------------------------------------------------------------------- */

static void keep_regs(struct tf_regs *to, const mcontext_t *c)
{
	static const int order[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	for (unsigned i = 0; i < OT_ARRAY_SIZE(order); i++)
		to->r[i] = (uint64_t)c->gregs[order[i]];
	to->flags = (uint64_t)c->gregs[REG_EFL];
}

/* A process may not use ports: this is the exit. Anything else is a trampoline's fault, and ends the test. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	mcontext_t *c = &((ucontext_t *)context)->uc_mcontext;
	const uint8_t *rip = (const uint8_t *)(uintptr_t)c->gregs[REG_RIP];
	struct tf_machine *m = active;

	(void)info;
	if (!m || rip < m->text || rip >= m->text + TEXT_SIZE || rip[0] != 0xe6 || rip[1] != TF_PORT) {
		signal(sig, SIG_DFL);
		return;
	}
	m->exits++;
	keep_regs(&m->at_exit, c);
	c->gregs[REG_RIP] += 2;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	mcontext_t *c = &((ucontext_t *)context)->uc_mcontext;
	struct tf_machine *m = active;
	uint64_t rip = (uint64_t)c->gregs[REG_RIP], code = (uint64_t)(uintptr_t)m->text + CODE_AT;

	(void)sig;
	(void)info;
	if (rip < code || rip >= code + m->len)
		return;
	if (m->step)
		m->step(m, m->steps, rip);
	m->steps++;
}

static void take_signals(void)
{
	static uint8_t stack[1 << 18];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	must(!sigaltstack(&alternate, NULL) && !sigaction(SIGSEGV, &fault, NULL) &&
		 !sigaction(SIGTRAP, &step, NULL),
	     "signals");
}

/* --- the machine ----------------------------------------------------------------------------- */

static uint8_t *map(size_t size, uint8_t *hint)
{
	uint8_t *p = mmap(hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "memory");
	return p;
}

/* A task, and behind it memory that must not be read as its own. */
static void set_tasks(struct tf_machine *m)
{
	for (unsigned i = 0; i < TF_CPUS; i++) {
		uint64_t task = (uint64_t)(uintptr_t)tf_task(m, i);
		uint32_t ids[2] = { 100 + i, 200 + i };
		memset(tf_task(m, i), (int)(0x70 + i), TF_TASK_SIZE);
		memcpy(tf_task(m, i) + TF_TASK_PID, ids, sizeof(ids));
		snprintf((char *)tf_task(m, i) + TF_TASK_COMM, GA_COMM, "task%u", i);
		memcpy(m->percpu + (size_t)i * TF_SPACING + TF_CURRENT, &task, sizeof(task));
	}
}

struct tf_machine *tf_create(void)
{
	struct tf_machine *m = calloc(1, sizeof(*m));

	must(m != NULL, "memory");
	m->text = map(TEXT_SIZE, NULL);
	m->stack = map(2 * TF_STACK, NULL);
	m->tasks = map(4096, NULL);
	m->percpu = map((size_t)TF_CPUS * TF_SPACING, NULL);
	/* So far away that a constant for the distance needs 64 bits, as in a guest. */
	m->keys = mmap(NULL, VP_TRAMP_KEYS_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	must(m->keys != MAP_FAILED, "memory below 2 GiB");
	m->data = map((size_t)TF_CPUS * TF_SPACING, (uint8_t *)((uintptr_t)m->percpu - FAR));
	m->facts = (struct vp_facts){ .guest_id = 7,
				      .task_pid = TF_TASK_PID,
				      .task_tgid = TF_TASK_TGID,
				      .task_comm = TF_TASK_COMM,
				      .task_comm_size = GA_COMM };
	m->guest = (struct vp_tramp_guest){ .facts = &m->facts,
					    .task_size = TF_TASK_SIZE,
					    .percpu_size = TF_PERCPU_SIZE,
					    .strsize = TF_STRSIZE,
					    .data_size = TF_SPACING };
	m->guest.world =
	    (struct vp_tramp_world){ .current = TF_CURRENT,
				     .preempt = TF_PREEMPT,
				     .data = (uint64_t)((uintptr_t)m->data - (uintptr_t)m->percpu),
				     .lost = TF_LOST,
				     .port = TF_PORT };
	m->guest.world.ring = (struct vp_tramp_ring){ .at = TF_RING,
						      .head = offsetof(struct ga_ring, reserved),
						      .tail = offsetof(struct ga_ring, tail),
						      .lost = offsetof(struct ga_ring, lost),
						      .first = offsetof(struct ga_ring, records),
						      .count = TF_RECORDS,
						      .shift = 7 };
	_Static_assert(sizeof(struct ga_record) == 1 << 7, "the ring's shift");
	m->epid = 3;
	m->probe = 44;
	set_tasks(m);
	must(tf_start_interpreter(m), "the interpreter");
	take_signals();
	return m;
}

void tf_destroy(struct tf_machine *m)
{
	active = NULL;
	syscall(SYS_arch_prctl, ARCH_SET_GS, 0ul);
	dif_vm_deinit(&m->vm);
	ot_arena_deinit(&m->arena);
	munmap(m->text, TEXT_SIZE);
	munmap(m->stack, 2 * TF_STACK);
	munmap(m->tasks, 4096);
	munmap(m->percpu, (size_t)TF_CPUS * TF_SPACING);
	munmap(m->keys, VP_TRAMP_KEYS_BYTES);
	munmap(m->data, (size_t)TF_CPUS * TF_SPACING);
	free(m);
}

/* Each word of a free key is what only the second one must be: no key has that either. */
void tf_give_keys(struct tf_machine *m)
{
	m->guest.world.keys_from = (uint64_t)(uintptr_t)m->keys;
	m->guest.world.keys_end = m->guest.world.keys_from + VP_TRAMP_KEYS_BYTES;
	memset(m->keys, 0xff, VP_TRAMP_KEYS_BYTES);
}

uint64_t *tf_key(const struct tf_machine *m, uint32_t entry)
{
	const struct vp_tramp_table *t = &m->t.table;

	return (uint64_t *)(uintptr_t)(t->keys + ((uint64_t)entry << vp_tramp_key_log(t->nwords)));
}

void tf_reset(struct tf_machine *m)
{
	memset(m->data, 0, (size_t)TF_CPUS * TF_SPACING);
}

/* A jump to the trampoline at the site, and behind it one to the end. */
static void put_in(struct tf_machine *m, const uint8_t *bytes)
{
	uint64_t site = (uint64_t)(uintptr_t)m->text, leave = (uint64_t)(uintptr_t)tf_leave;
	static const uint8_t jmp_to[] = { 0xff, 0x25, 0, 0, 0, 0 };

	must(!mprotect(m->text, TEXT_SIZE, PROT_READ | PROT_WRITE), "text");
	must(vp_trampoline_jump(site, site + CODE_AT, m->text), "the site's jump");
	memcpy(m->text + VP_TRAMP_SITE, jmp_to, sizeof(jmp_to));
	memcpy(m->text + VP_TRAMP_SITE + sizeof(jmp_to), &leave, sizeof(leave));
	memset(m->text + CODE_AT, 0xcc, TEXT_SIZE - CODE_AT);
	memcpy(m->text + CODE_AT, bytes, m->len);
	must(!mprotect(m->text, TEXT_SIZE, PROT_READ | PROT_EXEC), "text");
}

static bool is_own_return(const struct tf_machine *m)
{
	return m->site_args == VP_ARGS_FBT_RETURN && m->returns;
}

struct ot_err *tf_compile(struct tf_machine *m, const struct dif_clause *clauses, uint32_t n,
			  enum vp_args args)
{
	struct vp_tramp_clause list[8];
	struct vp_tramp_site site = { .args = args, .offset = TF_OFFSET, .clauses = list, .nclauses = n };
	uint64_t text = (uint64_t)(uintptr_t)m->text;
	uint8_t bytes[VP_TRAMP_BYTES_MAX];

	must(n <= OT_ARRAY_SIZE(list), "clauses");
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct vp_tramp_clause){ &clauses[i], m->epid, m->probe, 1000 + i };
	OT_TRY(vp_trampoline_compile(&m->guest, &site, TF_WORDS, &m->t));
	struct vp_tramp_code code = { .bytes = bytes, .size = sizeof(bytes) };
	/* What is behind the site stands for a return thunk too. */
	struct vp_tramp_end end = { vp_tramp_place_of(&site), text + VP_TRAMP_SITE };
	m->site_args = args;
	if (is_own_return(m))
		end.to = 0;
	OT_TRY(vp_trampoline_emit(m->t.ops, m->t.nops, &m->guest.world, text + CODE_AT, &end, &code));
	m->len = code.len;
	m->exit_at = code.exit;
	const char *wrong = tf_harmless(m, bytes, m->len, text + CODE_AT, &end);
	if (wrong)
		return ot_err_new(OT_ERR_INTERNAL, "bytes: %s", wrong);
	put_in(m, bytes);
	tf_reset(m);
	return NULL;
}

/* --- a hit ----------------------------------------------------------------------------------- */

static void hit(struct tf_machine *m, struct tf_regs *regs, uint64_t flags)
{
	struct tf_machine *outer = active;
	const struct tf_regs outer_regs = tf_cpu;
	const uint64_t outer_rsp = tf_host_rsp;

	active = m;
	tf_set_cpu(m, m->cpu);
	tf_cpu = *regs;
	/* An interrupt's hit is on a stack of its own. */
	tf_cpu.r[VP_RSP] = (uint64_t)(uintptr_t)(m->stack + (outer ? 2 : 1) * TF_STACK) - 64;
	if (is_own_return(m)) { /* to what is behind the site */
		uint64_t caller = (uint64_t)(uintptr_t)m->text + VP_TRAMP_SITE;
		memcpy((void *)(uintptr_t)tf_cpu.r[VP_RSP], &caller, sizeof(caller));
	}
	tf_cpu.flags = flags;
	tf_entry = (uint64_t)(uintptr_t)m->text;
	tf_enter();
	*regs = tf_cpu;
	tf_cpu = outer_regs;
	tf_host_rsp = outer_rsp;
	active = outer;
}

void tf_hit(struct tf_machine *m, struct tf_regs *regs)
{
	if (!active)
		m->exits = 0;
	hit(m, regs, FLAGS_START);
}

void tf_hit_stepped(struct tf_machine *m, struct tf_regs *regs)
{
	m->exits = m->steps = 0;
	hit(m, regs, FLAGS_START | TRAP_FLAG);
}

static uint8_t *kept; /* the tasks, and the beginning of each per-CPU area, as they were */

void tf_fill_stack(struct tf_machine *m)
{
	if (!kept)
		kept = map(4096u * (1 + TF_CPUS), NULL);
	memset(m->stack, STACK_FILL, 2 * TF_STACK);
	memcpy(kept, m->tasks, 4096);
	for (unsigned i = 0; i < TF_CPUS; i++)
		memcpy(kept + (size_t)4096 * (i + 1), m->percpu + (size_t)i * TF_SPACING, 4096);
}

static bool is_filled(const uint8_t *from, const uint8_t *to)
{
	while (from < to && *from == STACK_FILL)
		from++;
	return from == to;
}

const char *tf_intact(const struct tf_machine *m, const struct tf_regs *before, const struct tf_regs *after)
{
	const uint8_t *top = m->stack + TF_STACK - 64, *end = top + (is_own_return(m) ? 8 : 0);
	unsigned dead = m->site_args == VP_ARGS_FBT_RETURN ? VP_RDI : VP_RAX;

	for (unsigned i = 0; i < 16; i++)
		if (i != dead && i != VP_R10 && i != VP_R11 && i != VP_RSP && before->r[i] != after->r[i])
			return "a register of the guest's has changed";
	if (after->r[VP_RSP] != (uint64_t)(uintptr_t)end || after->flags & 0x400)
		return "the stack pointer or the direction flag has changed";
	if (!is_filled(m->stack, top - VP_TRAMP_STACK_MAX) || !is_filled(end, m->stack + TF_STACK))
		return "the guest's stack has changed";
	if (memcmp(kept, m->tasks, 4096))
		return "a task has changed";
	for (unsigned i = 0; i < TF_CPUS; i++)
		if (memcmp(kept + (size_t)4096 * (i + 1), m->percpu + (size_t)i * TF_SPACING, 4096))
			return "a per-CPU area has changed";
	return NULL;
}
