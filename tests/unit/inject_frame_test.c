/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls injected into a process that waits in ppoll(2): all its registers are restored. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/inject/internal.h"

#define CALLS 300u

struct registers {
	uint8_t xmm[16][16];
	uint64_t rbx, rbp, r12, r13, r14, r15, r9;
	uint64_t result;
};

/* All of *want into the registers, ppoll(NULL, 0, timeout, NULL), and all of them into *got. */
void wait_with(const struct registers *want, struct registers *got, const struct timespec *timeout);
__asm__(".text\n"
	"wait_with:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rsi\n"
	"	mov %rdi, %rax\n"
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movdqu 16*\\n(%rax), %xmm\\n\n"
	".endr\n"
	"	mov 256(%rax), %rbx; mov 264(%rax), %rbp; mov 272(%rax), %r12; mov 280(%rax), %r13\n"
	"	mov 288(%rax), %r14; mov 296(%rax), %r15; mov 304(%rax), %r9\n"
	"	xor %edi, %edi; xor %esi, %esi; xor %r10d, %r10d; mov $8, %r8d; mov $271, %eax\n"
	"	syscall\n"
	"	mov (%rsp), %rsi\n"
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movdqu %xmm\\n, 16*\\n(%rsi)\n"
	".endr\n"
	"	mov %rbx, 256(%rsi); mov %rbp, 264(%rsi); mov %r12, 272(%rsi); mov %r13, 280(%rsi)\n"
	"	mov %r14, 288(%rsi); mov %r15, 296(%rsi); mov %r9, 304(%rsi); mov %rax, 312(%rsi)\n"
	"	pop %rsi; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n");

struct shared {
	_Atomic uint32_t turns;
	_Atomic uint32_t wrong; /* which check, of which there was one */
};

static uint32_t mxcsr(void)
{
	uint32_t v;

	__asm__ volatile("stmxcsr %0" : "=m"(v));
	return v;
}

static void be_target(struct shared *s)
{
	static uint8_t stack[1 << 16];
	const stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	uint32_t rounding = mxcsr() | 0x6000; /* towards zero */
	sigset_t mask;
	stack_t now;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaltstack(&ss, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	__asm__ volatile("ldmxcsr %0" : : "m"(rounding));
	for (uint32_t n = 1;; n++) {
		const struct timespec timeout = { .tv_nsec = 3000000 };
		struct registers want, got;
		for (size_t i = 0; i < offsetof(struct registers, result); i++)
			((uint8_t *)&want)[i] = (uint8_t)(n * 31 + i * 7);
		wait_with(&want, &got, &timeout);
		if (memcmp(&want, &got, offsetof(struct registers, result)) != 0)
			s->wrong = 1;
		if (got.result) /* not a time-out: an error caused by the injection */
			s->wrong = 2;
		if (mxcsr() != rounding)
			s->wrong = 3;
		if (sigprocmask(SIG_BLOCK, NULL, &mask) || !sigismember(&mask, SIGUSR2) ||
		    sigismember(&mask, SIGUSR1))
			s->wrong = 4;
		if (sigaltstack(NULL, &now) || now.ss_sp != ss.ss_sp || now.ss_size != ss.ss_size)
			s->wrong = 5;
		atomic_fetch_add(&s->turns, 1);
	}
}

static void no_error(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static void open_target(pid_t pid, struct vp_target *t)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	char path[64];

	*t = (struct vp_target){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	assert_true(t->mem >= 0);
	no_error(vp_remote_find(pid, "/libc.so.6", 0, &t->libc));
	no_error(vp_remote_symbol(pid, &t->libc, "dlopen", &t->dlopen));
	no_error(vp_remote_code(pid, &t->libc, sigreturn, sizeof(sigreturn), &t->restorer));
}

static void wait_turns(struct shared *s, uint32_t more)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint32_t from = s->turns;

	for (unsigned i = 0; i < 20000 && s->turns - from < more; i++)
		nanosleep(&pause, NULL);
	assert_true(s->turns - from >= more);
}

static void test_nothing_is_lost(void **state)
{
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct vp_mapped loaded;
	struct vp_target t;
	uint64_t stop_ns;

	(void)state;
	assert_true(s != MAP_FAILED);
	pid_t pid = fork();
	if (!pid)
		be_target(s);
	wait_turns(s, 2);
	open_target(pid, &t);
	for (unsigned i = 0; i < CALLS && !s->wrong; i++)
		no_error(vp_frame_call(&t, "/no/such/library.so", &stop_ns));
	assert_int_equal(s->wrong, 0);
	/* and the call is made */
	ot_err_destroy(vp_remote_find(pid, "/libutil.so.1", 0, &loaded));
	no_error(vp_frame_call(&t, "libutil.so.1", &stop_ns));
	wait_turns(s, 2);
	no_error(vp_remote_find(pid, "/libutil.so.1", 0, &loaded));
	assert_int_equal(s->wrong, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(t.mem);
	munmap(s, 4096);
}

/* One that never waits is left alone. */
static void test_never_waits(void **state)
{
	struct vp_target t;
	uint64_t stop_ns;

	(void)state;
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause(); /* a system call that is not one of those */
	}
	open_target(pid, &t);
	struct ot_err *err = vp_frame_call(&t, "libutil.so.1", &stop_ns);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BUSY);
	ot_err_destroy(err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(t.mem);
}

static void test_gone(void **state)
{
	struct vp_mapped m;

	(void)state;
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	struct ot_err *err = vp_remote_find(pid, "/libc.so.6", 0, &m);
	assert_non_null(err);
	ot_err_destroy(err);
	err = vp_remote_find(getpid(), "/libno-such.so", 0, &m);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
	no_error(vp_remote_find(getpid(), "/libc.so.6", 0, &m));
	uint64_t at;
	err = vp_remote_symbol(getpid(), &m, "no_such_symbol", &at);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
	no_error(vp_remote_symbol(getpid(), &m, "getppid", &at));
	assert_true(at == (uint64_t)(uintptr_t)getppid || at > m.start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_never_waits),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
