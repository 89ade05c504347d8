/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/link/pipe.c, ssh.c and lines.c: packets in parts, those that hostile ends make, and ends that go. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/io.h"
#include "fleet/link/link.h"

/* Two carriers that are connected: by a socket, or by two pipes. */
struct ends {
	struct fl_carrier *a, *b;
};

static void connect_ends(struct ends *e, bool by_pipes)
{
	int there[2], back[2], small = 4096;

	if (by_pipes) {
		assert_int_equal(pipe2(there, O_CLOEXEC), 0);
		assert_int_equal(pipe2(back, O_CLOEXEC), 0);
		assert_null(fl_pipe_create(back[0], there[1], &e->a));
		assert_null(fl_pipe_create(there[0], back[1], &e->b));
	} else {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, there), 0);
		assert_int_equal(setsockopt(there[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
		assert_null(fl_pipe_create(there[0], there[0], &e->a));
		assert_null(fl_pipe_create(there[1], there[1], &e->b));
	}
}

static void destroy_ends(struct ends *e)
{
	fl_carrier_destroy(e->a);
	fl_carrier_destroy(e->b);
}

/* One carrier, and the other end as descriptors for what no carrier would write. */
static struct fl_carrier *raw_ends(bool by_pipes, int *ret_write, int *ret_read)
{
	int there[2], back[2];
	struct fl_carrier *c;

	if (by_pipes) {
		assert_int_equal(pipe2(there, O_CLOEXEC), 0);
		assert_int_equal(pipe2(back, O_CLOEXEC), 0);
		assert_null(fl_pipe_create(there[0], back[1], &c));
		*ret_write = there[1];
		*ret_read = back[0];
	} else {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, there), 0);
		assert_null(fl_pipe_create(there[0], there[0], &c));
		*ret_write = *ret_read = there[1];
	}
	return c;
}

static void close_raw(int in, int out)
{
	if (in != out)
		close(in);
	close(out);
}

static bool can_read(struct fl_carrier *c)
{
	bool out;
	struct pollfd p = { .fd = c->ops->fd(c, &out), .events = (short)(POLLIN | (out ? POLLOUT : 0)) };

	return poll(&p, 1, 0) > 0;
}

/* The next packet has so many bytes of that value; 0: there is none. */
static void assert_next(struct fl_carrier *c, size_t len, uint8_t value)
{
	const void *data = NULL;
	size_t got = 0;

	assert_null(c->ops->receive(c, &data, &got));
	assert_int_equal(got, len);
	for (size_t i = 0; i < got; i++)
		assert_int_equal(((const uint8_t *)data)[i], value);
}

static void assert_fails(struct fl_carrier *c, enum ot_err_code code, int err_errno)
{
	const void *data;
	size_t len;

	for (unsigned i = 0; i < 2; i++) {
		struct ot_err *err = c->ops->receive(c, &data, &len);

		assert_non_null(err);
		assert_int_equal(ot_err_code(err), code);
		assert_int_equal(ot_err_errno(err), err_errno);
		ot_err_destroy(err);
	}
}

/* Packets of all sizes through buffers that are smaller than most of them. */
static void test_parts(void **state)
{
	static const size_t sizes[] = {
		1, 2, 3, 4, 5, 4091, 4092, 4093, 65536, FL_PACKET_MAX - 1, FL_PACKET_MAX, 7
	};
	uint8_t *packet = malloc(FL_PACKET_MAX);

	(void)state;
	for (unsigned by_pipes = 0; by_pipes < 2; by_pipes++) {
		struct ends e;
		size_t sent = 0, received = 0;
		bool was_busy = false;

		connect_ends(&e, by_pipes);
		assert_true(e.a->ops->is_reliable);
		while (received < OT_ARRAY_SIZE(sizes)) {
			const void *data;
			size_t len;

			if (sent < OT_ARRAY_SIZE(sizes) && !e.a->ops->busy(e.a)) {
				memset(packet, (int)sent, sizes[sent]);
				assert_null(e.a->ops->send(e.a, packet, sizes[sent]));
				sent++;
			}
			was_busy |= e.a->ops->busy(e.a);
			assert_null(e.b->ops->receive(e.b, &data, &len));
			if (len) {
				assert_int_equal(len, sizes[received]);
				assert_int_equal(((const uint8_t *)data)[0], received);
				assert_int_equal(((const uint8_t *)data)[len - 1], received);
				received++;
			} else {
				/* What is left of a packet goes on when there is room again, which poll()
				 * tells. */
				assert_true(!e.a->ops->busy(e.a) || can_read(e.a));
				assert_next(e.a, 0, 0);
			}
		}
		assert_true(was_busy);
		assert_false(e.a->ops->busy(e.a));
		destroy_ends(&e);
	}
	free(packet);
}

/* A packet that comes byte by byte, and several at once. */
static void test_reads(void **state)
{
	static const uint8_t bytes[] = { 3, 0, 0, 0, 7, 7, 7, 1, 0, 0, 0, 8, 2, 0, 0, 0, 9, 9, 1 };

	(void)state;
	for (unsigned by_pipes = 0; by_pipes < 2; by_pipes++) {
		int in, out;
		struct fl_carrier *c = raw_ends(by_pipes, &in, &out);

		assert_false(can_read(c));
		for (unsigned i = 0; i < 7; i++) {
			assert_next(c, 0, 0);
			assert_int_equal(write(in, bytes + i, 1), 1);
			assert_true(can_read(c));
		}
		assert_next(c, 3, 7);
		assert_int_equal(write(in, bytes + 7, sizeof(bytes) - 7), sizeof(bytes) - 7);
		assert_next(c, 1, 8);
		assert_next(c, 2, 9);
		assert_next(c, 0, 0);
		close_raw(in, out);
		/* Half a packet is none. */
		assert_fails(c, OT_ERR_OS, EPIPE);
		fl_carrier_destroy(c);
	}
}

/* Lengths that no packet has; what is in front of them is received. */
static void test_lengths(void **state)
{
	static const uint32_t lengths[] = { 0, FL_PACKET_MAX + 1, UINT32_MAX };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(lengths); i++) {
		uint8_t bytes[] = { 1, 0, 0, 0, 5, 0, 0, 0, 0, 0 };
		int in, out;
		struct fl_carrier *c = raw_ends(i & 1, &in, &out);

		for (unsigned k = 0; k < 4; k++)
			bytes[5 + k] = (uint8_t)(lengths[i] >> (8 * k));
		assert_int_equal(write(in, bytes, sizeof(bytes)), sizeof(bytes));
		assert_next(c, 1, 5);
		assert_fails(c, OT_ERR_BAD_DATA, 0);
		close_raw(in, out);
		fl_carrier_destroy(c);
	}
}

/* Nobody reads any more: an error, and no signal, but one that was there before is left. */
static void test_no_reader(void **state)
{
	sigset_t broken, pending;

	(void)state;
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	for (unsigned by_pipes = 0; by_pipes < 2; by_pipes++) {
		for (unsigned round = 0; round < 2; round++) {
			int in, out;
			struct fl_carrier *c = raw_ends(by_pipes, &in, &out);

			if (round) {
				assert_int_equal(sigprocmask(SIG_BLOCK, &broken, NULL), 0);
				raise(SIGPIPE);
			}
			assert_int_equal(write(in, "\1\0\0\0\5", 5), 5);
			close_raw(in, out);
			struct ot_err *err = c->ops->send(c, "abc", 3);
			assert_int_equal(ot_err_errno(err), EPIPE);
			ot_err_destroy(err);
			assert_false(c->ops->busy(c));
			/* What came before is still there. */
			assert_next(c, 1, 5);
			assert_fails(c, OT_ERR_OS, EPIPE);
			sigpending(&pending);
			assert_int_equal(sigismember(&pending, SIGPIPE), round);
			if (round) {
				signal(SIGPIPE, SIG_IGN); /* drops the pending one */
				signal(SIGPIPE, SIG_DFL);
				assert_int_equal(sigprocmask(SIG_UNBLOCK, &broken, NULL), 0);
			}
			fl_carrier_destroy(c);
		}
	}
}

/* Its reader goes while a packet is half written. */
static void test_reader_goes(void **state)
{
	uint8_t *packet = calloc(1, FL_PACKET_MAX);

	(void)state;
	for (unsigned by_pipes = 0; by_pipes < 2; by_pipes++) {
		int in, out;
		struct fl_carrier *c = raw_ends(by_pipes, &in, &out);

		while (!c->ops->busy(c))
			assert_null(c->ops->send(c, packet, FL_PACKET_MAX));
		/* One that can't be taken is lost, and nothing waits. */
		assert_null(c->ops->send(c, packet, FL_PACKET_MAX));
		close(out);
		assert_true(can_read(c));
		assert_fails(c, OT_ERR_OS, EPIPE);
		if (by_pipes)
			close(in);
		fl_carrier_destroy(c);
	}
	free(packet);
}

static void test_unfit(void **state)
{
	struct fl_carrier *c;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), other = dup(null);

	(void)state;
	/* A file is always readable: nobody could wait for it. It is closed. */
	struct ot_err *err = fl_pipe_create(null, other, &c);
	assert_non_null(err);
	ot_err_destroy(err);
	assert_int_equal(fcntl(null, F_GETFD), -1);
	assert_int_equal(fcntl(other, F_GETFD), -1);
	err = fl_pipe_create(-1, -1, &c);
	assert_int_equal(ot_err_errno(err), EBADF);
	ot_err_destroy(err);
}

static uint64_t test_clock;

static uint64_t clock_of_test(void *arg)
{
	(void)arg;
	return test_clock;
}

/* A link whose other end does not read for minutes sends nothing again, and all arrives when it does. */
static void test_slow_link(void **state)
{
	struct ends e;
	struct fl_link *a, *b;
	uint8_t *data = calloc(1, 1000000);
	unsigned got = 0;
	uint64_t again, twice;
	short events;

	(void)state;
	connect_ends(&e, true);
	test_clock = 1;
	assert_null(fl_link_create(e.a, NULL, clock_of_test, NULL, &a));
	assert_null(fl_link_create(e.b, NULL, clock_of_test, NULL, &b));
	for (unsigned i = 0; i < 20; i++)
		assert_null(fl_link_send(a, FL_RECORDS, data, 1000000));
	for (unsigned i = 0; i < 300; i++) {
		assert_null(fl_link_poll(a));
		test_clock += FL_HEARTBEAT_NS;
	}
	while (got < 20) {
		enum fl_kind kind;
		const void *bytes;
		size_t len;

		assert_null(fl_link_poll(b));
		while (fl_link_receive(b, &kind, &bytes, &len)) {
			assert_int_equal(len, 1000000);
			got++;
		}
		assert_null(fl_link_poll(a));
	}
	fl_link_counts(a, &again, &twice);
	assert_int_equal(again, 0);
	assert_true(fl_link_fd(a, &events) >= 0);
	assert_int_equal(events, POLLIN);
	fl_link_destroy(a);
	fl_link_destroy(b);
	free(data);
}

/* --- ssh -------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/outsight-fleet-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[8][128];
	static unsigned turn;
	char *p = path[turn++ % 8];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

/* A stand-in for ssh: a script, whose words are written to a file, and its number to another. */
static void set_ssh(const char *script)
{
	FILE *f = fopen(path_of("ssh"), "w");
	char words[200];

	assert_non_null(f);
	fprintf(f, "echo \"$@\" > %s; echo $$ > %s.new; mv %s.new %s\n%s\n", path_of("words"), path_of("pid"),
		path_of("pid"), path_of("pid"), script);
	fclose(f);
	unlink(path_of("pid"));
	snprintf(words, sizeof(words), "sh  %s -x", path_of("ssh"));
	assert_int_equal(setenv("OUTSIGHT_SSH", words, 1), 0);
}

/* What is in a file that the stand-in writes, as soon as it is. */
static void read_said(const char *name, char *ret, size_t cap)
{
	char *text = NULL;
	size_t len;
	struct ot_err *err;

	while ((err = ot_read_file(path_of(name), cap, &text, &len)))
		ot_err_destroy(err), usleep(1000);
	snprintf(ret, cap, "%s", text);
	free(text);
}

static pid_t pid_of_ssh(void)
{
	char text[32];

	read_said("pid", text, sizeof(text));
	return atoi(text);
}

static void await_packet(struct fl_carrier *c, size_t len, uint8_t value)
{
	while (!can_read(c))
		usleep(1000);
	assert_next(c, len, value);
}

static void test_ssh(void **state)
{
	struct fl_carrier *c;
	char words[200];

	(void)state;
	set_ssh("exec cat");
	assert_null(fl_ssh_create("me@h17", &c));
	assert_null(c->ops->send(c, "\7\7\7", 3));
	await_packet(c, 3, 7);
	read_said("words", words, sizeof(words));
	assert_string_equal(words, "-x me@h17 outsight-serve --stdio\n");

	/* Ctrl-C at the terminal is not for it. */
	pid_t pid = pid_of_ssh();

	assert_int_equal(kill(pid, SIGINT), 0);
	assert_null(c->ops->send(c, "\6", 1));
	await_packet(c, 1, 6);
	fl_carrier_destroy(c);
	assert_int_equal(kill(pid, 0), -1);
}

/* However it clings to life, it ends with the carrier. */
static void test_ssh_ends(void **state)
{
	static const char *const scripts[] = { "exec sleep 1000",
					       "trap '' TERM; while :; do sleep 0.1; done" };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(scripts); i++) {
		struct fl_carrier *c;

		set_ssh(scripts[i]);
		assert_null(fl_ssh_create("h17", &c));
		pid_t pid = pid_of_ssh();
		assert_int_equal(kill(pid, 0), 0);
		fl_carrier_destroy(c);
		assert_int_equal(kill(pid, 0), -1);
	}
}

/* What ssh can't do it says by its status; what it sent before can be read. */
static void test_ssh_fails(void **state)
{
	struct fl_carrier *c;
	const void *data;
	size_t len;

	(void)state;
	set_ssh("printf '\\001\\000\\000\\000\\005'; exit 255");
	assert_null(fl_ssh_create("h17", &c));
	await_packet(c, 1, 5);
	struct ot_err *err;
	while (!(err = c->ops->receive(c, &data, &len)))
		usleep(1000);
	assert_int_equal(ot_err_code(err), OT_ERR_OS);
	assert_string_equal(ot_err_message(err), "ssh to h17 ended with status 255");
	ot_err_destroy(err);
	fl_carrier_destroy(c);

	assert_int_equal(setenv("OUTSIGHT_SSH", "/nonexistent/ssh", 1), 0);
	err = fl_ssh_create("h17", &c);
	assert_int_equal(ot_err_errno(err), ENOENT);
	assert_non_null(strstr(ot_err_message(err), "/nonexistent/ssh"));
	ot_err_destroy(err);
	assert_int_equal(setenv("OUTSIGHT_SSH", "  ", 1), 0);
	err = fl_ssh_create("h17", &c);
	assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
	ot_err_destroy(err);
}

/* --- what ssh says --------------------------------------------------------------------------------------- */

static char heard[4096];

static void hear(void *arg, const char *line)
{
	assert_ptr_equal(arg, heard);
	assert_true(strlen(heard) + strlen(line) + 2 < sizeof(heard));
	strcat(strcat(heard, line), "|");
}

/* The error that such an ssh ends in. */
static struct ot_err *end_of(const char *script)
{
	struct fl_carrier *c;
	const void *data;
	struct ot_err *err;
	size_t len;

	set_ssh(script);
	assert_null(fl_ssh_create("h17", &c));
	heard[0] = '\0';
	c->ops->listen(c, hear, heard);
	while (!(err = c->ops->receive(c, &data, &len)))
		usleep(1000);
	fl_carrier_destroy(c);
	return err;
}

static void assert_ends(const char *script, enum ot_err_code code, const char *message)
{
	struct ot_err *err = end_of(script);

	assert_string_equal(ot_err_message(err), message);
	assert_int_equal(ot_err_code(err), code);
	ot_err_destroy(err);
}

/* Its standard error comes in lines, without controls and empty ones, and the descriptor tells of them. */
static void test_ssh_says(void **state)
{
	struct fl_carrier *c;
	const void *data;
	char words[200];
	size_t len;

	(void)state;
	assert_ends("printf 'one\\r\\n\\n\\033[2Jtwo\\n\\000three' >&2; exit 3", OT_ERR_OS,
		    "ssh to h17 ended with status 3");
	assert_string_equal(heard, "one|?[2Jtwo|?three|");
	/* longer than a line may be */
	ot_err_destroy(end_of("head -c 1300 /dev/zero | tr '\\0' x >&2"));
	assert_int_equal(strlen(heard), 1300 + 3);
	assert_int_equal(strspn(heard, "x"), 511);

	set_ssh("echo told >&2; exec cat");
	assert_null(fl_ssh_create("h17", &c));
	heard[0] = '\0';
	c->ops->listen(c, hear, heard);
	while (!heard[0]) {
		if (can_read(c))
			assert_null(c->ops->receive(c, &data, &len));
		usleep(1000);
	}
	assert_string_equal(heard, "told|");
	assert_null(c->ops->send(c, "\6", 1));
	await_packet(c, 1, 6);
	read_said("words", words, sizeof(words));
	assert_string_equal(words, "-x h17 outsight-serve --stdio\n");
	fl_carrier_destroy(c);
}

/* A terabyte of it costs nothing but time, and no call takes more than its share. */
static void test_ssh_talks(void **state)
{
	struct fl_carrier *c;
	const void *data;
	size_t len;

	(void)state;
	set_ssh("exec yes '' >&2");
	assert_null(fl_ssh_create("h17", &c));
	for (unsigned i = 0; i < 100; i++) {
		assert_null(c->ops->receive(c, &data, &len));
		assert_int_equal(len, 0);
	}
	fl_carrier_destroy(c);
}

#define NOISE(text)                                                                      \
	"output precedes that of outsight-serve: \"" text "\"; without a terminal, the " \
	"shell's startup files, such as ~/.bashrc, must print nothing"

/* Of a startup file; however long it is, what follows it is not read as a packet. */
static void test_ssh_noise(void **state)
{
	(void)state;
	assert_ends("echo; echo Welcome to h17; exec sleep 1000", OT_ERR_BAD_DATA, NOISE("Welcome to h17"));
	assert_ends("printf '\\033]0;title\\a'; exec sleep 1000", OT_ERR_BAD_DATA, NOISE("?]0;title?"));
	assert_ends("printf ok", OT_ERR_BAD_DATA, NOISE("ok"));
	/* and then a packet, whose beginning looks like the end of a length */
	assert_ends("echo; printf '\\060\\000\\000\\000OFl1'; exec sleep 1000", OT_ERR_BAD_DATA,
		    NOISE("0???OFl1"));
	assert_ends("echo 12; printf '\\060\\000\\000\\000OFl1'; exec sleep 1000", OT_ERR_BAD_DATA,
		    NOISE("12"));
}

/* The end before a packet has come is explained as far as its status goes. */
static void test_ssh_advice(void **state)
{
	(void)state;
	assert_ends("exit 127", OT_ERR_OS,
		    "ssh to h17 ended with status 127: outsight-serve is not installed there, or not in the "
		    "PATH of a shell without a terminal");
	assert_ends("exit 126", OT_ERR_OS,
		    "ssh to h17 ended with status 126: outsight-serve can't be executed there");
	assert_ends("echo 'me@h17: Permission denied (publickey,password).' >&2; exit 255", OT_ERR_OS,
		    "ssh to h17 ended with status 255: ssh can't ask for a password here: use an agent, or a "
		    "key without a passphrase");
	assert_ends("exit 0", OT_ERR_OS, "ssh to h17 ended with status 0");
	/* after one it is something else's */
	assert_ends("printf '\\001\\000\\000\\000\\005'; exit 127", OT_ERR_OS,
		    "ssh to h17 ended with status 127");
	assert_ends("printf '\\001\\000\\000\\000\\005'; exit 0", OT_ERR_OS,
		    "the other end closed the connection: Broken pipe");
}

/* Names that ssh, or a shell that it asks, would take for something else. No program is started. */
static void test_ssh_hosts(void **state)
{
	static const char *const wrong[] = { "",         "-oProxyCommand=x", "me@-x", "me@",  "a b",
					     "a;reboot", "$(reboot)",        "`x`",   "a\nb", "a\x1b[m" };
	static const char *const right[] = { "h17", "me@h17",       "h17.example.org",
					     "::1", "fe80::1%eth0", "a@b@h17" };
	struct fl_carrier *c;

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(wrong); i++) {
		set_ssh("exec cat");
		struct ot_err *err = fl_ssh_create(wrong[i], &c);
		assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
		ot_err_destroy(err);
		assert_int_equal(access(path_of("pid"), F_OK), -1);
	}
	for (unsigned i = 0; i < OT_ARRAY_SIZE(right); i++) {
		set_ssh("exec cat");
		assert_null(fl_ssh_create(right[i], &c));
		fl_carrier_destroy(c);
	}
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "ssh", "words", "pid" };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(names); i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),       cmocka_unit_test(test_reads),
		cmocka_unit_test(test_lengths),     cmocka_unit_test(test_no_reader),
		cmocka_unit_test(test_reader_goes), cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_slow_link),   cmocka_unit_test(test_ssh),
		cmocka_unit_test(test_ssh_ends),    cmocka_unit_test(test_ssh_fails),
		cmocka_unit_test(test_ssh_hosts),   cmocka_unit_test(test_ssh_says),
		cmocka_unit_test(test_ssh_talks),   cmocka_unit_test(test_ssh_noise),
		cmocka_unit_test(test_ssh_advice),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
