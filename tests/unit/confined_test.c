/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confined: what a child may do, what it may not, and what is said of each end. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "vmm-probe/confined/child.h"
#include "vmm-probe/confined/rights.h"

#define MIB (1u << 20)

static int *shared; /* memory that this process shares with its children */

static struct vp_confined_job job_of(struct ot_err *(*run)(void *arg, struct ot_buf *result), void *arg)
{
	return (struct vp_confined_job){
		.what = "FILE",
		.run = run,
		.arg = arg,
		.limits = { .memory_mib = 64, .cpu_s = 60, .wall_s = 600, .result_mib = 1 },
	};
}

/* Run it; the result as text, or the error's message. */
static const char *outcome(const struct vp_confined_job *job, enum ot_err_code *ret_code)
{
	static char text[4096];
	struct vp_confined_result result = { 0 };
	struct ot_err *err = vp_confined_run(job, &result);

	snprintf(text, sizeof(text), "%.*s", err ? 4095 : (int)result.len,
		 err ? ot_err_message(err) : (const char *)result.data);
	*ret_code = err ? ot_err_code(err) : 0;
	ot_err_destroy(err);
	vp_confined_result_deinit(&result);
	/* the child is gone, whatever came of it */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return text;
}

static void expect(const struct vp_confined_job *job, enum ot_err_code code, const char *text)
{
	enum ot_err_code got;

	assert_string_equal(outcome(job, &got), text);
	assert_int_equal(got, code);
}

/* --- what it may do --------------------------------------------------------------------------------------- */

static struct ot_err *read_file(void *arg, struct ot_buf *result)
{
	int fd = *(int *)arg;
	char text[64];
	ssize_t n = pread(fd, text, sizeof(text), 1);
	char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	char *large = malloc(8 * MIB);

	if (n < 0 || map == MAP_FAILED || !large)
		return ot_err_new(OT_ERR_INTERNAL, "n %zd", n);
	memset(large, 'x', 8 * MIB);
	ot_buf_append(result, text, (size_t)n);
	ot_buf_putc(result, map[0]);
	ot_buf_append(result, large + 8 * MIB - 1, 1);
	return NULL;
}

static void test_result(void **state)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct vp_confined_job job = job_of(read_file, &fd);

	(void)state;
	assert_int_equal(write(fd, "abc", 3), 3);
	job.fds = &fd;
	job.nfds = 1;
	expect(&job, 0, "bcax");
	close(fd);
}

static struct ot_err *return_error(void *arg, struct ot_buf *result)
{
	ot_buf_puts(result, "not sent");
	return ot_err_new(*(enum ot_err_code *)arg, "no such thing\033[1m");
}

static void test_own_error(void **state)
{
	enum ot_err_code code = OT_ERR_NOT_FOUND;
	const struct vp_confined_job job = job_of(return_error, &code);

	(void)state;
	expect(&job, OT_ERR_NOT_FOUND, "FILE: no such thing?[1m");
	code = OT_ERR_GUEST_GONE; /* a code that would mean something of this process */
	expect(&job, OT_ERR_BAD_DATA, "FILE: no such thing?[1m");
}

/* --- what it has lost ------------------------------------------------------------------------------------- */

static struct ot_err *look_around(void *arg, struct ot_buf *result)
{
	int fd = *(int *)arg;

	/* open() and read() by number: what a library does that looks for a file goes on */
	ot_buf_printf(result, "open %d, ", open("/proc/self/maps", O_RDONLY));
	ot_buf_printf(result, "fd %zd, ", read(fd, (char[1]){ 0 }, 1));
	ot_buf_printf(result, "stderr %zd", write(STDERR_FILENO, "x", 1));
	return NULL;
}

static void test_descriptors(void **state)
{
	int fd = open("/dev/zero", O_RDONLY);
	const struct vp_confined_job job = job_of(look_around, &fd);

	(void)state;
	expect(&job, 0, "open -1, fd -1, stderr -1");
	close(fd);
}

/* A guest's RAM is open for writing in the VMM, and so is the descriptor that is handed on. */
static struct ot_err *write_file(void *arg, struct ot_buf *result)
{
	int fd = *(int *)arg;
	struct iovec iov = { "x", 1 };

	ot_buf_printf(result, "write %zd, writev %zd", write(fd, "x", 1), writev(fd, &iov, 1));
	return NULL;
}

static void test_read_only(void **state)
{
	int fd = memfd_create("RAM", MFD_CLOEXEC);
	struct vp_confined_job job = job_of(write_file, &fd);
	struct stat st;

	(void)state;
	job.fds = &fd;
	job.nfds = 1;
	expect(&job, 0, "write -1, writev -1");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(write(fd, "x", 1), 1); /* this process's own right is untouched */
	close(fd);
}

/* A job can't ask who it is. */
static void test_user(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		uid_t expected = getuid() ? getuid() : 65534;
		struct ot_err *err = vp_rights_user();

		_exit(err || getuid() != expected || geteuid() != expected || seteuid(0) == 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static struct ot_err *touch_shared(void *arg, struct ot_buf *result)
{
	(void)arg;
	(void)result;
	*(volatile int *)shared = 2;
	return NULL;
}

static void test_shared_memory(void **state)
{
	const struct vp_confined_job job = job_of(touch_shared, NULL);

	(void)state;
	*shared = 1;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader crashed (Segmentation fault)");
	assert_int_equal(*shared, 1);
}

/* --- ends ------------------------------------------------------------------------------------------------- */

static struct ot_err *crash(void *arg, struct ot_buf *result)
{
	(void)result;
	if (*(int *)arg == SIGABRT)
		abort();
	raise(*(int *)arg);
	return NULL;
}

static void test_crash(void **state)
{
	int sig = SIGABRT;
	const struct vp_confined_job job = job_of(crash, &sig);

	(void)state;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader crashed (Aborted)");
	sig = SIGFPE;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader crashed (Floating point exception)");
}

static struct ot_err *end(void *arg, struct ot_buf *result)
{
	(void)result;
	_exit(*(int *)arg);
}

static void test_no_result(void **state)
{
	int status = 0;
	const struct vp_confined_job job = job_of(end, &status);

	(void)state;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader ended without a result");
	status = 3;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader ended without a result");
}

/* A number that no filter allows, and those with which a process gets out: each kills the child. */
static struct ot_err *system_call(void *arg, struct ot_buf *result)
{
	switch (*(int *)arg) {
	case SYS_socket:
		(void)socket(AF_UNIX, SOCK_STREAM, 0);
		break;
	case SYS_mmap:
		(void)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case SYS_tgkill:
		(void)syscall(SYS_tgkill, getppid(), getppid(), SIGTERM);
		break;
	case SYS_fcntl:
		(void)fcntl(0, F_SETFL, O_APPEND);
		break;
	default:
		(void)syscall(*(int *)arg, 0, 0, 0, 0, 0, 0);
	}
	ot_buf_puts(result, "it went on");
	return NULL;
}

static void test_system_calls(void **state)
{
	static const int calls[] = { SYS_socket,    SYS_mmap,    SYS_tgkill,   SYS_fcntl,
				     SYS_execve,    SYS_clone,   SYS_ptrace,   SYS_unlink,
				     SYS_prctl,     SYS_ioctl,   SYS_pwrite64, SYS_ftruncate,
				     SYS_fallocate, SYS_sendmsg, SYS_dup2,     SYS_process_vm_writev };
	int call;
	const struct vp_confined_job job = job_of(system_call, &call);

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(calls); i++) {
		call = calls[i];
		expect(&job, OT_ERR_BAD_DATA, "FILE: its reader made a system call that it may not make");
	}
}

/* --- limits ----------------------------------------------------------------------------------------------- */

static struct ot_err *map_all(void *arg, struct ot_buf *result)
{
	size_t n = 0;

	(void)result;
	while (n < 4096 &&
	       mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		n++;
	if (n > 64)
		return ot_err_new(OT_ERR_INTERNAL, "%zu MiB", n);
	if (arg)
		vp_confined_no_memory();
	return ot_err_nomem();
}

static void test_memory(void **state)
{
	struct vp_confined_job job = job_of(map_all, NULL);

	(void)state;
	expect(&job, OT_ERR_LIMIT, "FILE: reading it takes more than 64 MiB of memory");
	job.arg = &job; /* as a library ends that knows no errors */
	expect(&job, OT_ERR_LIMIT, "FILE: reading it takes more than 64 MiB of memory");
}

static struct ot_err *spin(void *arg, struct ot_buf *result)
{
	volatile bool forever = true;

	(void)arg;
	(void)result;
	while (forever)
		;
	return NULL;
}

static void test_processor_time(void **state)
{
	struct vp_confined_job job = job_of(spin, NULL);

	(void)state;
	job.limits.cpu_s = 1;
	expect(&job, OT_ERR_LIMIT, "FILE: reading it took more than 1 s of processor time");
}

static struct ot_err *wait_forever(void *arg, struct ot_buf *result)
{
	char byte;

	(void)result;
	while (read(*(int *)arg, &byte, 1) > 0)
		;
	return NULL;
}

static void count(void *arg)
{
	++*(unsigned *)arg;
}

static void test_wall_time(void **state)
{
	int ends[2];
	unsigned calls = 0;
	struct vp_confined_job job = job_of(wait_forever, &ends[0]);

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0); /* nobody writes */
	job.fds = ends;
	job.nfds = 2;
	job.limits.wall_s = 1;
	job.waiting = count;
	job.waiting_arg = &calls;
	expect(&job, OT_ERR_LIMIT, "FILE: reading it took more than 1 s");
	assert_true(calls > 0);
	close(ends[0]);
	close(ends[1]);
}

static struct ot_err *return_much(void *arg, struct ot_buf *result)
{
	ot_buf_zero(result, *(size_t *)arg);
	return NULL;
}

static void test_result_size(void **state)
{
	size_t size = MIB - 1;
	const struct vp_confined_job job = job_of(return_much, &size);
	struct vp_confined_result result;

	(void)state;
	assert_null(vp_confined_run(&job, &result));
	assert_int_equal(result.len, MIB - 1);
	vp_confined_result_deinit(&result);
	size++;
	expect(&job, OT_ERR_LIMIT, "FILE: what its reader found takes more than 1 MiB");
}

/* --- questions -------------------------------------------------------------------------------------------- */

/* Asks for each of its argument's words what comes next, until it is told an error. */
static struct ot_err *ask(void *arg, struct ot_buf *result)
{
	uint32_t word = *(uint32_t *)arg;

	for (;;) {
		OT_TRY(vp_confined_ask(&word, sizeof(word), &word, sizeof(word)));
		ot_buf_printf(result, "%u ", word);
		if (word == 6)
			return NULL;
	}
}

static struct ot_err *tell(void *arg, const void *question, size_t len, struct ot_buf *ret)
{
	uint32_t word;

	++*(unsigned *)arg;
	if (len != sizeof(word))
		return ot_err_new(OT_ERR_BAD_DATA, "not a word");
	memcpy(&word, question, sizeof(word));
	if (word > 6)
		return ot_err_new(OT_ERR_FAULT, "%u is too much", word);
	word++;
	ot_buf_append(ret, &word, word == 5 ? 3 : sizeof(word));
	return NULL;
}

static void test_questions(void **state)
{
	uint32_t from = 5;
	unsigned told = 0;
	struct vp_confined_job job = job_of(ask, &from);

	(void)state;
	expect(&job, OT_ERR_BAD_DATA, "FILE: a question that a confined child may not ask");
	job.answer = tell;
	job.answer_arg = &told;
	expect(&job, 0, "6 ");
	assert_int_equal(told, 1);
	from = 7;
	expect(&job, OT_ERR_FAULT, "FILE: 7 is too much");
	from = 3;
	expect(&job, OT_ERR_BAD_DATA, "FILE: an answer of 3 bytes");
	job.names_itself = true;
	expect(&job, OT_ERR_BAD_DATA, "an answer of 3 bytes");
}

/* Asks again and again, and never reads what it is told. */
static struct ot_err *pester(void *arg, struct ot_buf *result)
{
	const struct vp_confined_frame frame = { .kind = VP_CONFINED_ASKS, .len = sizeof(frame.code) };
	char message[sizeof(frame) + sizeof(frame.code)] = { 0 };
	volatile bool forever = true;

	(void)result;
	(void)arg;
	memcpy(message, &frame, sizeof(frame));
	while (forever)
		for (int fd = 0; fd < 64; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				(void)!write(fd, message, sizeof(message));
	return NULL;
}

static void test_pestered(void **state)
{
	unsigned told = 0;
	struct vp_confined_job job = job_of(pester, NULL);

	(void)state;
	job.answer = tell;
	job.answer_arg = &told;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader's result is broken");
	assert_true(told > 100);
}

/* Closes the socket for answers, asks a question, and then blocks forever. */
static struct ot_err *stop_listening(void *arg, struct ot_buf *result)
{
	uint32_t word = 1;

	for (int fd = 3; fd < 64; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
			close(fd);
	}
	for (int fd = 3; fd < 64; fd++) {
		const struct vp_confined_frame frame = { .kind = VP_CONFINED_ASKS, .len = sizeof(word) };

		if (fcntl(fd, F_GETFD) >= 0 && write(fd, &frame, sizeof(frame)) > 0)
			(void)!write(fd, &word, sizeof(word));
	}
	return wait_forever(arg, result);
}

static void test_deaf(void **state)
{
	int ends[2];
	unsigned told = 0;
	struct vp_confined_job job = job_of(stop_listening, &ends[0]);

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0); /* nobody writes */
	job.fds = ends;
	job.nfds = 2;
	job.limits.wall_s = 86400;
	job.answer = tell;
	job.answer_arg = &told;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader's result is broken");
	assert_int_equal(told, 1);
	close(ends[0]);
	close(ends[1]);
}

/* --- the caller's other children ---------------------------------------------------------------------- */

/* Writes what it likes to each descriptor that it has: one of them is the result's. */
static struct ot_err *forge(void *arg, struct ot_buf *result)
{
	(void)result;
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			(void)!write(fd, arg, strlen(arg));
	_exit(0);
}

static void test_forged(void **state)
{
	char text[] = "this is no frame at all, and longer than one";
	const struct vp_confined_job job = job_of(forge, text);

	(void)state;
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader's result is broken");
	text[4] = '\0';
	expect(&job, OT_ERR_BAD_DATA, "FILE: its reader ended without a result");
}

static int set_up(void **state)
{
	(void)state;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),         cmocka_unit_test(test_own_error),
		cmocka_unit_test(test_descriptors),    cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_user),           cmocka_unit_test(test_shared_memory),
		cmocka_unit_test(test_crash),          cmocka_unit_test(test_no_result),
		cmocka_unit_test(test_system_calls),   cmocka_unit_test(test_memory),
		cmocka_unit_test(test_processor_time), cmocka_unit_test(test_wall_time),
		cmocka_unit_test(test_result_size),    cmocka_unit_test(test_forged),
		cmocka_unit_test(test_questions),      cmocka_unit_test(test_pestered),
		cmocka_unit_test(test_deaf),
	};

	return cmocka_run_group_tests_name("confined", tests, set_up, NULL);
}
