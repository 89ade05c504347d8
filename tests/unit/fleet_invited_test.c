/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A worker that was started for one RUN takes no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/host/worker.h"

static struct fl_run signed_run = { .guests = "none" };
static int log_fd = -1; /* where a worker's lines go */

static bool is_signed(void *arg, const void *run, size_t len)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	(void)arg;
	ot_buf_init(&out);
	fl_put_run(&out, &signed_run);
	return out.len == len && !memcmp(out.data, run, len);
}

static void log_line(void *arg, const char *line)
{
	(void)arg;
	if (log_fd >= 0 && write(log_fd, line, strlen(line)) < 0)
		_exit(99);
}

static struct fl_link *link_over(int fd)
{
	struct fl_carrier *carrier;
	struct fl_link *link;

	assert_null(fl_pipe_create(fd, fd, &carrier));
	assert_null(fl_link_create(carrier, NULL, NULL, NULL, &link));
	return link;
}

static pid_t start_worker(int fd)
{
	const struct fl_worker_config config = { .host = "h1", .log = log_line, .invited = is_signed };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(fl_worker_run(link_over(fd), &config));
	close(fd);
	return pid;
}

/* The next message that is not HELLO; its bytes are copied to @ret. */
static enum fl_kind await_answer(struct fl_link *link, struct ot_buf *ret)
{
	const uint64_t end = ot_now_ns() + 60000000000ull;
	enum fl_kind kind;
	const void *data;
	size_t len;

	while (ot_now_ns() < end) {
		struct pollfd p = { 0 };

		ot_err_destroy(fl_link_poll(link));
		while (fl_link_receive(link, &kind, &data, &len)) {
			if (kind == FL_HELLO)
				continue;
			ot_buf_clear(ret);
			ot_buf_append(ret, data, len);
			return kind;
		}
		p.fd = fl_link_fd(link, &p.events);
		poll(&p, 1, ot_ms_until(fl_link_due_ns(link)));
	}
	fail();
	return 0;
}

/* What a worker answers to @run. */
static enum fl_kind answer_to(const struct fl_run *run, struct ot_buf *ret)
{
	const struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = "alice@desk" };
	struct ot_buf out = { 0 };
	int fds[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	pid_t pid = start_worker(fds[1]);
	struct fl_link *link = link_over(fds[0]);

	fl_put_hello(&out, &hello);
	assert_null(fl_link_send(link, FL_HELLO, out.data, out.len));
	ot_buf_clear(&out);
	fl_put_run(&out, run);
	assert_null(fl_link_send(link, FL_RUN, out.data, out.len));
	enum fl_kind kind = await_answer(link, ret);

	fl_link_destroy(link);
	ot_buf_deinit(&out);
	waitpid(pid, &status, 0);
	return kind;
}

static void another_program(void **state)
{
	const struct fl_run other = { .guests = "all" };
	ot_auto(ot_buf_deinit) struct ot_buf answer = { 0 };
	struct fl_refused refused;
	struct ot_arena arena;

	(void)state;
	ot_buf_init(&answer);
	ot_arena_init(&arena);
	assert_int_equal(answer_to(&other, &answer), FL_REFUSED);
	assert_null(fl_get_refused(answer.data, answer.len, &arena, &refused));
	assert_int_equal(refused.reason, FL_REASON_TRUST);
	assert_string_equal(refused.text, "this is not the program that the operator has signed");
	/* and the one that was signed is looked at: whatever is wrong with it is another matter */
	if (answer_to(&signed_run, &answer) == FL_REFUSED) {
		assert_null(fl_get_refused(answer.data, answer.len, &arena, &refused));
		assert_int_not_equal(refused.reason, FL_REASON_TRUST);
	}
	ot_arena_deinit(&arena);
}

/* A program of more text than one may have, well signed: refused, and the host's log says so. */
static void too_large(void **state)
{
	uint8_t *text = malloc(FL_SOURCE_MAX + 1);
	const struct fl_source source = { .name = "", .text = { text, FL_SOURCE_MAX + 1 } };
	const struct fl_run before = signed_run;
	ot_auto(ot_buf_deinit) struct ot_buf answer = { 0 };
	struct fl_refused refused;
	struct ot_arena arena;
	char line[4096] = "";
	int pipes[2];

	(void)state;
	assert_non_null(text);
	memset(text, ' ', FL_SOURCE_MAX + 1);
	memcpy(text, "BEGIN", 5);
	assert_int_equal(pipe(pipes), 0);
	log_fd = pipes[1];
	signed_run.sources = &source;
	signed_run.nsources = 1;
	ot_buf_init(&answer);
	ot_arena_init(&arena);
	assert_int_equal(answer_to(&signed_run, &answer), FL_REFUSED);
	assert_null(fl_get_refused(answer.data, answer.len, &arena, &refused));
	assert_int_equal(refused.reason, FL_REASON_PROGRAM);
	assert_string_equal(refused.text, "a broken message RUN (2)");
	assert_true(read(pipes[0], line, sizeof(line) - 1) > 0);
	assert_non_null(strstr(line, "refused: operator=\"alice@desk\""));
	assert_non_null(strstr(line, "reason=\"a broken message RUN (2)\""));
	close(pipes[0]);
	close(pipes[1]);
	log_fd = -1;
	signed_run = before;
	ot_arena_deinit(&arena);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(another_program), cmocka_unit_test(too_large) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
