/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads and stores of memory that may be gone: a mapped file that is cut, and the handlers of SIGBUS around
 * ours. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/guarded.h"
#include "base/thread.h"

#define PAGE 4096u

/* Two pages of a file; the second is gone. */
struct cut {
	int fd;
	uint8_t *at;
};

static struct cut open_cut(void)
{
	struct cut c = { .fd = memfd_create("cut", MFD_CLOEXEC) };

	assert_true(c.fd >= 0);
	assert_int_equal(ftruncate(c.fd, 2 * PAGE), 0);
	c.at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
	assert_ptr_not_equal(c.at, MAP_FAILED);
	for (unsigned i = 0; i < 2 * PAGE; i++)
		c.at[i] = (uint8_t)(i * 7 + 1);
	assert_int_equal(ftruncate(c.fd, PAGE), 0);
	return c;
}

static void close_cut(struct cut *c)
{
	munmap(c->at, 2 * PAGE);
	close(c->fd);
}

/* --- what is there ----------------------------------------------------------------------------------- */

static void test_every_length(void **state)
{
	uint8_t from[160], to[160], want[160];

	(void)state;
	for (unsigned i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i + 1);
	for (unsigned len = 0; len <= 130; len++)
		for (unsigned at = 0; at < 9; at++) {
			memset(to, 0xee, sizeof(to));
			memset(want, 0xee, sizeof(want));
			memcpy(want + at, from + 8 - at, len);
			assert_true(ot_guarded_read(to + at, from + 8 - at, len));
			assert_memory_equal(to, want, sizeof(to));
			memset(to, 0xee, sizeof(to));
			assert_true(ot_guarded_write(to + at, from + 8 - at, len));
			assert_memory_equal(to, want, sizeof(to));
		}
}

static void test_words(void **state)
{
	uint64_t word = 0x1122334455667788, got = 0;
	uint32_t half = 0;

	(void)state;
	assert_true(ot_guarded_load64(&word, &got));
	assert_true(got == word);
	assert_true(ot_guarded_load32(&word, &half));
	assert_int_equal(half, 0x55667788);
	assert_true(ot_guarded_store32(&word, 1));
	assert_true(word == 0x1122334400000001);
	assert_false(ot_guarded_exchange(&word, 1, 2));
	assert_true(word == 0x1122334400000001);
	assert_true(ot_guarded_exchange(&word, word, 2));
	assert_true(word == 2);
	assert_true(ot_guarded_store64(&word, 3));
	assert_true(word == 3);
}

/* --- what is gone ------------------------------------------------------------------------------------ */

static void test_gone(void **state)
{
	struct cut c = open_cut();
	uint8_t text[64] = { 0 };

	(void)state;
	ot_guarded_on();
	for (unsigned len = 1; len <= sizeof(text); len++) {
		assert_true(ot_guarded_read(text, c.at + PAGE - len, len));
		assert_memory_equal(text, c.at + PAGE - len, len);
		assert_false(ot_guarded_read(text, c.at + PAGE, len));
		assert_false(ot_guarded_write(c.at + PAGE, text, len));
		/* over both pages */
		assert_false(len > 1 && ot_guarded_read(text, c.at + PAGE - len / 2, len));
		assert_false(len > 1 && ot_guarded_write(c.at + PAGE - len / 2, text, len));
	}
	assert_false(ot_guarded_exchange(c.at + PAGE, 0, 1));
	assert_int_equal(ftruncate(c.fd, 2 * PAGE), 0);
	assert_true(ot_guarded_read(text, c.at + PAGE, 8));
	assert_int_equal(text[0], 0);
	ot_guarded_off();
	close_cut(&c);
}

static _Atomic bool stop;

static void *cut_it(void *arg)
{
	const struct cut *c = arg;

	while (!atomic_load(&stop))
		if (ftruncate(c->fd, PAGE) || ftruncate(c->fd, 2 * PAGE))
			break;
	return NULL;
}

struct reads {
	const struct cut *c;
	unsigned there, gone;
};

static void *read_it(void *arg)
{
	struct reads *r = arg;
	uint64_t word = 0;

	for (unsigned i = 0; i < 200000 || !r->gone || !r->there; i++) {
		bool ok = ot_guarded_load64(r->c->at + PAGE + i % 500 * 8, &word);
		r->there += ok;
		r->gone += !ok;
	}
	return NULL;
}

/* Threads whose signals are blocked by ot_thread_start(), as the engine's are. */
static void test_while_it_is_read(void **state)
{
	struct cut c = open_cut();
	struct reads reads[3] = { { .c = &c }, { .c = &c }, { .c = &c } };
	pthread_t cutter, readers[OT_ARRAY_SIZE(reads)];

	(void)state;
	ot_guarded_on();
	atomic_store(&stop, false);
	assert_null(ot_thread_start(&cutter, NULL, cut_it, &c, "cutter"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(reads); i++)
		assert_null(ot_thread_start(&readers[i], NULL, read_it, &reads[i], "reader"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(reads); i++)
		pthread_join(readers[i], NULL);
	atomic_store(&stop, true);
	pthread_join(cutter, NULL);
	for (size_t i = 0; i < OT_ARRAY_SIZE(reads); i++)
		assert_true(reads[i].there && reads[i].gone);
	ot_guarded_off();
	close_cut(&c);
}

/* A thread that another library started has it blocked, and then not. */
static void *read_unblocked(void *arg)
{
	const struct cut *c = arg;
	sigset_t all;
	uint64_t word;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	ot_guarded_this_thread();
	return ot_guarded_load64(c->at + PAGE, &word) ? arg : NULL;
}

static void test_this_thread(void **state)
{
	struct cut c = open_cut();
	pthread_t thread;
	void *ret = &c;

	(void)state;
	ot_guarded_on();
	assert_int_equal(pthread_create(&thread, NULL, read_unblocked, &c), 0);
	pthread_join(thread, &ret);
	assert_null(ret);
	ot_guarded_off();
	close_cut(&c);
}

/* --- other handlers ---------------------------------------------------------------------------------- */

static sigjmp_buf out;
static unsigned theirs;
static void *their_address;

static void on_their_bus(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	theirs++;
	their_address = info->si_addr;
	siglongjmp(out, 1);
}

static void set_handler(void (*handler)(int, siginfo_t *, void *))
{
	const struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	assert_int_equal(sigaction(SIGBUS, &sa, NULL), 0);
}

static void (*handler_now(void))(int, siginfo_t *, void *)
{
	struct sigaction sa;

	assert_int_equal(sigaction(SIGBUS, NULL, &sa), 0);
	return sa.sa_sigaction;
}

static void touch(const uint8_t *at)
{
	if (!sigsetjmp(out, 1))
		(void)*(const volatile uint8_t *)at;
}

/* A fault of the process's own code is passed to its handler, with the same arguments. */
static void test_their_faults(void **state)
{
	struct cut c = open_cut();
	uint64_t word;

	(void)state;
	set_handler(on_their_bus);
	theirs = 0;
	ot_guarded_on();
	ot_guarded_on();
	assert_ptr_not_equal(handler_now(), on_their_bus);
	touch(c.at + PAGE + 8);
	assert_int_equal(theirs, 1);
	assert_ptr_equal(their_address, c.at + PAGE + 8);
	assert_false(ot_guarded_load64(c.at + PAGE, &word));
	assert_int_equal(theirs, 1);
	if (!sigsetjmp(out, 1))
		raise(SIGBUS);
	assert_int_equal(theirs, 2);
	ot_guarded_off();
	assert_false(ot_guarded_load64(c.at + PAGE, &word));
	ot_guarded_off();
	assert_ptr_equal(handler_now(), on_their_bus);
	close_cut(&c);
}

/* QEMU replaces the handler for a while when memory is plugged in, and calls the one of before. */
static struct sigaction below;

static void on_bus_for_a_while(int sig, siginfo_t *info, void *context)
{
	below.sa_sigaction(sig, info, context);
}

static void test_replaced_meanwhile(void **state)
{
	const struct sigaction above = { .sa_sigaction = on_bus_for_a_while, .sa_flags = SA_SIGINFO };
	struct cut c = open_cut();
	uint64_t word;

	(void)state;
	set_handler(on_their_bus);
	theirs = 0;
	ot_guarded_on();
	assert_int_equal(sigaction(SIGBUS, &above, &below), 0);
	assert_false(ot_guarded_load64(c.at + PAGE, &word));
	ot_guarded_off(); /* leaves theirs */
	assert_ptr_equal(handler_now(), on_bus_for_a_while);
	assert_int_equal(sigaction(SIGBUS, &below, NULL), 0);
	ot_guarded_on(); /* ours is there again, and its own predecessor is not ours */
	touch(c.at + PAGE);
	assert_int_equal(theirs, 1);
	assert_false(ot_guarded_load64(c.at + PAGE, &word));
	ot_guarded_off();
	assert_ptr_equal(handler_now(), on_their_bus);
	close_cut(&c);
}

static int end_of(void (*child)(const struct cut *), const struct cut *c)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		child(c);
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void fault_by_default(const struct cut *c)
{
	signal(SIGBUS, SIG_DFL);
	ot_guarded_on();
	(void)*(volatile uint8_t *)(c->at + PAGE);
}

static void sent_by_default(const struct cut *c)
{
	(void)c;
	signal(SIGBUS, SIG_DFL);
	ot_guarded_on();
	raise(SIGBUS);
}

static void fault_ignored(const struct cut *c)
{
	signal(SIGBUS, SIG_IGN);
	ot_guarded_on();
	(void)*(volatile uint8_t *)(c->at + PAGE);
}

static void sent_ignored(const struct cut *c)
{
	(void)c;
	signal(SIGBUS, SIG_IGN);
	ot_guarded_on();
	raise(SIGBUS);
}

/* Without a handler of the process's own it ends as it would without ours. */
static void test_no_handler(void **state)
{
	struct cut c = open_cut();
	int status;

	(void)state;
	status = end_of(fault_by_default, &c);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = end_of(sent_by_default, &c);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = end_of(fault_ignored, &c);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = end_of(sent_ignored, &c);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	close_cut(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_while_it_is_read),
		cmocka_unit_test(test_this_thread),
		cmocka_unit_test(test_their_faults),
		cmocka_unit_test(test_replaced_meanwhile),
		cmocka_unit_test(test_no_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
