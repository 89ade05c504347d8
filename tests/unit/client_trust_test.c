/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client, attach: whose engine it is, and whose memory is read, is the kernel's word and not the engine's. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/engine/wire/socket_path.h"

#define GPA    0x1000u
#define SECRET "the tracer's own"
#define THEIRS "the engine's own"
#define NOBODY 65534

#define assert_ok(e)                                        \
	do {                                                \
		struct ot_err *e_ = (e);                    \
		if (e_)                                     \
			fail_msg("%s", ot_err_message(e_)); \
	} while (0)

/* One page, at the same address in this process and in those that it forks. */
static char *page;

struct fake {
	pid_t pid; /* of the listener */
	char path[64];
	int bound;
};

/* --- an engine that says what it likes ------------------------------------------------------------------ */

/* A guest with one vCPU, its memory at @page in the process or in @fd. */
static void answer(int sock, int fd)
{
	struct vp_msg_hello hello;
	union {
		struct vp_msg_hello_reply reply;
		char space[sizeof(struct vp_msg_hello_reply) + sizeof(struct vp_ram_range)];
	} u = { 0 };
	struct vp_ram_range ram = {
		.gpa = GPA, .size = 4096, .host = (uintptr_t)page, .fd_index = fd < 0 ? -1 : 0
	};

	if (read(sock, &hello, sizeof(hello)) != sizeof(hello))
		return;
	u.reply.head = (struct vp_msg){ VP_MSG_HELLO_REPLY, sizeof(u.space) };
	u.reply.version = VP_PROTOCOL_VERSION;
	u.reply.nvcpus = 1;
	u.reply.nram = 1;
	memcpy(u.reply.guest_name, "web01", sizeof("web01"));
	memcpy(u.space + sizeof(u.reply), &ram, sizeof(ram));
	ot_err_destroy(ot_send_fds(sock, u.space, sizeof(u.space), &fd, fd >= 0));
}

static OT_NORETURN void serve(int listening, int fd)
{
	memcpy(page, THEIRS, sizeof(THEIRS));
	for (;;) {
		int sock = accept(listening, NULL, NULL);
		if (sock < 0)
			_exit(1);
		answer(sock, fd);
		/* until the other end hangs up */
		char byte;
		while (read(sock, &byte, 1) > 0)
			;
		close(sock);
	}
}

static void bind_fake(struct fake *f)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	snprintf(f->path, sizeof(f->path), "/tmp/outsight-trust-%d.sock", (int)getpid());
	unlink(f->path);
	memcpy(addr.sun_path, f->path, sizeof(f->path));
	f->bound = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_true(f->bound >= 0);
	assert_int_equal(bind(f->bound, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

/* One that listens on what it was given, and has memory of its own at @page. */
static void start_fake(struct fake *f, int fd)
{
	int ready[2];
	char byte;

	bind_fake(f);
	assert_int_equal(pipe(ready), 0);
	f->pid = fork();
	if (!f->pid) {
		if (listen(f->bound, 8) || write(ready[1], "x", 1) != 1)
			_exit(1);
		serve(f->bound, fd);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

static void stop_fake(struct fake *f)
{
	if (f->pid > 0) {
		kill(f->pid, SIGKILL);
		waitpid(f->pid, NULL, 0);
	}
	close(f->bound);
	unlink(f->path);
}

/* What is read as the guest's memory. */
static void read_guest(struct fake *f, char *ret, size_t size)
{
	struct vp_client client;
	struct vp_phys *phys = NULL;

	assert_ok(vp_client_connect(&client, f->path));
	assert_int_equal(client.pid, f->pid);
	assert_int_equal(client.uid, getuid());
	assert_ok(vp_client_map_ram(&client, &phys));
	assert_ok(vp_phys_read(phys, (struct vp_gpa){ GPA }, ret, size));
	vp_phys_destroy(phys);
	vp_client_close(&client);
}

/* --- tests ---------------------------------------------------------------------------------------------- */

/* It would have our memory, at the address that it knows, and what we find there. */
static void only_its_own_memory_is_read(void **state)
{
	char text[sizeof(THEIRS)];
	struct fake f = { 0 };

	(void)state;
	memcpy(page, SECRET, sizeof(SECRET));
	start_fake(&f, -1);
	read_guest(&f, text, sizeof(text));
	assert_string_equal(text, THEIRS);
	stop_fake(&f);
}

/* What reads as a file may be an act of its sender's, or give more to who reads than to who sends. */
static void a_file_that_is_no_memory_is_not_read(void **state)
{
	char text[sizeof(THEIRS)];
	struct fake f = { 0 };
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	start_fake(&f, fd);
	close(fd);
	read_guest(&f, text, sizeof(text));
	assert_string_equal(text, THEIRS);
	stop_fake(&f);
}

static void a_file_of_memory_is(void **state)
{
	char text[sizeof(THEIRS)];
	struct fake f = { 0 };
	int fd;

	(void)state;
	assert_ok(ot_memfd_create("ram", 4096, &fd));
	assert_int_equal(pwrite(fd, "file", 5, 0), 5);
	start_fake(&f, fd);
	close(fd);
	read_guest(&f, text, sizeof(text));
	assert_string_equal(text, "file");
	stop_fake(&f);
}

static void assert_refused(const char *path, enum ot_err_code code)
{
	struct vp_client c;
	ot_auto_err struct ot_err *err = vp_client_connect(&c, path);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
}

/* Its PID may be anybody's by now; who answers has never listened. */
static void who_has_only_been_given_the_socket_is_not_believed(void **state)
{
	struct fake f = { 0 };
	int status;

	(void)state;
	bind_fake(&f);
	int pipes[2];
	pid_t heir = 0;
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (!pid) {
		if (listen(f.bound, 8))
			_exit(1);
		heir = fork();
		if (!heir)
			serve(f.bound, -1);
		_exit(write(pipes[1], &heir, sizeof(heir)) != sizeof(heir));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(pipes[0], &heir, sizeof(heir)), sizeof(heir));
	assert_refused(f.path, OT_ERR_NOT_FOUND);
	kill(heir, SIGKILL);
	close(pipes[0]);
	close(pipes[1]);
	stop_fake(&f);
}

/* As by a program with the set-user-ID bit: what listened was another user's. */
static void who_has_become_somebody_else_is_not_believed(void **state)
{
	struct fake f = { 0 };
	int ready[2];
	char byte;

	(void)state;
	if (geteuid()) {
		print_message("SKIP: changing the user takes root\n");
		skip();
	}
	bind_fake(&f);
	assert_int_equal(pipe(ready), 0);
	f.pid = fork();
	if (!f.pid) {
		if (seteuid(NOBODY) || listen(f.bound, 8) || seteuid(0) || write(ready[1], "x", 1) != 1)
			_exit(1);
		serve(f.bound, -1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_refused(f.path, OT_ERR_PERMISSION);
	close(ready[0]);
	close(ready[1]);
	stop_fake(&f);
}

/* No other user can keep an operator out by a claim, and an operator can by his. */
static void a_claim_takes_the_right_to_touch_the_process(void **state)
{
	int fd, again;

	(void)state;
	assert_ok(vp_vmm_claim(getpid(), &fd));
	ot_auto_err struct ot_err *busy = vp_vmm_claim(getpid(), &again);
	assert_non_null(busy);
	assert_int_equal(ot_err_code(busy), OT_ERR_BUSY);
	close(fd);
	assert_ok(vp_vmm_claim(getpid(), &fd));
	close(fd);
	if (geteuid())
		return;
	assert_int_equal(seteuid(NOBODY), 0);
	ot_auto_err struct ot_err *refused = vp_vmm_claim(getppid(), &fd);
	assert_int_equal(seteuid(0), 0);
	assert_non_null(refused);
	assert_int_equal(ot_err_code(refused), OT_ERR_PERMISSION);
}

static void a_guest_is_taken_once(void **state)
{
	struct vp_guest_link link = { .client = { .pid = 7, .guest_name = "z1" } };
	struct vp_links links = { .items = { &link }, .n = 1 };

	(void)state;
	assert_ok(vp_links_check_once(&links, 8));
	ot_auto_err struct ot_err *err = vp_links_check_once(&links, 7);
	assert_non_null(err);
	assert_string_equal(ot_err_message(err),
			    "guest z1 (PID 7) is named twice: each -g takes another guest");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_its_own_memory_is_read),
		cmocka_unit_test(a_file_that_is_no_memory_is_not_read),
		cmocka_unit_test(a_file_of_memory_is),
		cmocka_unit_test(who_has_only_been_given_the_socket_is_not_believed),
		cmocka_unit_test(who_has_become_somebody_else_is_not_believed),
		cmocka_unit_test(a_claim_takes_the_right_to_touch_the_process),
		cmocka_unit_test(a_guest_is_taken_once),
	};

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
