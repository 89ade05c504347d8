/* SPDX-License-Identifier: GPL-2.0-or-later */
/* liboutsight's handles: what they cost, which calls are refused in which words, and what they leave of their
 * process alone. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/lib_fixture.h"
#include "tests/unit/pace.h"

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Every tenth has a session. */
static void test_many(void **state)
{
	unsigned before = descriptors();

	(void)state;
	for (unsigned i = 0; i < pace_rounds(100, 1000); i++) {
		dtrace_hdl_t *h = lib_open();
		if (i % 10 == 0) {
			lib_program(h, "BEGIN { @ = count(); exit(0); }");
			lib_run(h, NULL, NULL, NULL);
		}
		dtrace_close(h);
	}
	dtrace_close(NULL);
	assert_int_equal(descriptors(), before);
}

static void test_open(void **state)
{
	int error = 0;

	(void)state;
	assert_null(dtrace_open(DTRACE_VERSION + 1, 0, &error));
	assert_int_equal(error, OUTSIGHT_E_VERSION);
	assert_string_equal(dtrace_errmsg(NULL, error), "Client requested version newer than library");
	assert_null(dtrace_open(0, 0, &error));
	assert_int_equal(error, EINVAL);
	assert_null(dtrace_open(DTRACE_VERSION, DTRACE_O_MASK + 1, &error));
	assert_int_equal(error, EINVAL);
	assert_null(dtrace_open(DTRACE_VERSION, DTRACE_O_ILP32, NULL));
	assert_string_equal(dtrace_errmsg(NULL, ENOENT), "No such file or directory");
	assert_string_equal(dtrace_errmsg(NULL, 0), "No error");
	assert_string_equal(dtrace_errmsg(NULL, 99999), "Unknown error");
}

static void refused(dtrace_hdl_t *h, int result, int error, const char *text)
{
	assert_int_equal(result, -1);
	assert_int_equal(dtrace_errno(h), error);
	assert_string_equal(dtrace_errmsg(h, error), text);
}

static void test_options(void **state)
{
	dtrace_hdl_t *h = lib_open();

	(void)state;
	assert_int_equal(dtrace_errno(h), 0);
	refused(h, dtrace_setopt(h, "bufsizes", "4m"), OUTSIGHT_E_OPTION_NAME, "Invalid option name");
	refused(h, dtrace_setopt(h, "bufsize", "many"), OUTSIGHT_E_OPTION_VALUE,
		"Invalid value for specified option");
	refused(h, dtrace_setopt(h, "guest", NULL), OUTSIGHT_E_OPTION_VALUE,
		"Invalid value for specified option");
	refused(h, dtrace_setopt(h, "oformat", "json"), OUTSIGHT_E_UNSUPPORTED,
		"oformat is the command's: here data come as structures and as text");
	lib_ok(h, dtrace_setopt(h, "bufsize", "4m"));
	lib_ok(h, dtrace_setopt(h, "quiet", NULL));
	lib_program(h, "BEGIN { exit(0); }");
	refused(h, dtrace_setopt(h, "guest", "web01"), OUTSIGHT_E_ACTIVE,
		"guest: the guests are attached already, by the first program");
	lib_ok(h, dtrace_go(h));
	refused(h, dtrace_setopt(h, "bufsize", "8m"), OUTSIGHT_E_ACTIVE,
		"Operation illegal when tracing is active");
	lib_ok(h, dtrace_setopt(h, "aggsortkey", NULL)); /* at any time */
	dtrace_close(h);
}

/* The text of a program is the caller's: the message begins where dtrace(1)'s goes on behind it. */
static void test_compiler(void **state)
{
	dtrace_hdl_t *h = lib_open();
	dtrace_prog_t *prog;

	(void)state;
	prog = dtrace_program_strcompile(h, "BEGIN { nosuch(1); }", DTRACE_PROBESPEC_NAME, 0, 0, NULL);
	assert_null(prog);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_COMPILER);
	assert_non_null(strstr(dtrace_errmsg(h, dtrace_errno(h)), "nosuch"));
	/* only the last error has a text of its own */
	assert_string_equal(dtrace_errmsg(h, OUTSIGHT_E_FAULT), "Error on enabled probe");
	prog = dtrace_program_strcompile(h, "nosuch:::probe { }", DTRACE_PROBESPEC_NAME, DTRACE_C_ETAGS, 0,
					 NULL);
	assert_null(prog);
	assert_non_null(strstr(dtrace_errmsg(h, dtrace_errno(h)), "[D_PDESC_ZERO]"));
	/* a program after one that failed gets its place */
	prog = dtrace_program_strcompile(h, "nosuch:::probe { } BEGIN { exit($1); }", DTRACE_PROBESPEC_NAME,
					 DTRACE_C_ZDEFS, 2, (char *[]){ "me", "7" });
	lib_ok(h, prog ? 0 : -1);
	lib_ok(h, dtrace_program_exec(h, prog, NULL));
	lib_run(h, NULL, NULL, NULL);
	assert_int_equal(outsight_exit_status(h), 7);
	dtrace_close(h);
}

static void test_order(void **state)
{
	dtrace_hdl_t *h = lib_open();
	dtrace_prog_t *prog;

	(void)state;
	assert_int_equal(dtrace_status(h), DTRACE_STATUS_NONE);
	refused(h, (int)dtrace_work(h, NULL, NULL, NULL, NULL), EINVAL,
		"Tracing has not begun: dtrace_go() comes first");
	refused(h, dtrace_stop(h), EINVAL, "Tracing has not begun: dtrace_go() comes first");
	refused(h, dtrace_aggregate_snap(h), EINVAL, "Tracing has not begun: dtrace_go() comes first");
	refused(h, dtrace_program_exec(h, NULL, NULL), EINVAL, "Invalid argument");
	dtrace_aggregate_clear(h);
	dtrace_sleep(h);
	prog = dtrace_program_strcompile(h, "BEGIN { }", DTRACE_PROBESPEC_NAME, 0, 0, NULL);
	lib_ok(h, dtrace_go(h));
	assert_int_equal(dtrace_status(h), DTRACE_STATUS_OKAY);
	refused(h, dtrace_go(h), OUTSIGHT_E_ACTIVE, "Operation illegal when tracing is active");
	refused(h, dtrace_program_exec(h, prog, NULL), OUTSIGHT_E_ACTIVE,
		"Operation illegal when tracing is active");
	assert_null(dtrace_program_strcompile(h, "END { }", DTRACE_PROBESPEC_NAME, 0, 0, NULL));
	lib_ok(h, dtrace_stop(h));
	lib_ok(h, dtrace_stop(h));
	assert_int_equal(dtrace_status(h), DTRACE_STATUS_STOPPED);
	assert_int_equal(dtrace_work(h, NULL, NULL, NULL, NULL), DTRACE_WORKSTATUS_DONE);
	dtrace_close(h);
}

static void test_no_such_guest(void **state)
{
	dtrace_hdl_t *h = dtrace_open(DTRACE_VERSION, 0, NULL);

	(void)state;
	assert_non_null(h);
	lib_ok(h, dtrace_setopt(h, "guest", "no-such-guest-of-lib-test*"));
	for (unsigned i = 0; i < 2; i++) { /* the second attempt begins again */
		assert_int_equal(outsight_attach(h), -1);
		assert_int_equal(dtrace_errno(h), OUTSIGHT_E_GUEST);
		assert_non_null(strstr(dtrace_errmsg(h, dtrace_errno(h)), "no-such-guest-of-lib-test*"));
	}
	assert_int_equal(outsight_guests(h), 0);
	assert_null(outsight_guest_name(h, 0));
	dtrace_close(h);
}

/* Without a device there is no guest, unless one is named. */
static void test_no_device(void **state)
{
	dtrace_hdl_t *h = dtrace_open(DTRACE_VERSION, DTRACE_O_NODEV, NULL);

	(void)state;
	assert_non_null(h);
	lib_program(h, "BEGIN { exit(0); }");
	lib_run(h, NULL, NULL, NULL);
	dtrace_close(h);
}

/* SIGBUS has a handler of ours while a session runs; what the caller had is back behind it. */
static void test_signals(void **state)
{
	struct sigaction before[NSIG], after;
	sigset_t blocked, now;

	(void)state;
	for (int sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &before[sig]))
			before[sig].sa_handler = SIG_ERR;
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	dtrace_hdl_t *h = lib_open();
	lib_program(h, "BEGIN { } tick-1ms /i++ == 5/ { exit(0); }");
	lib_run(h, NULL, NULL, NULL);
	dtrace_close(h);
	sigprocmask(SIG_SETMASK, NULL, &now);
	assert_memory_equal(&blocked, &now, 8);
	for (int sig = 1; sig < NSIG; sig++) {
		if (before[sig].sa_handler == SIG_ERR)
			continue;
		assert_int_equal(sigaction(sig, NULL, &after), 0);
		assert_ptr_equal(after.sa_handler, before[sig].sa_handler);
	}
}

/* Errors, faults, an option that can't be set: all of it goes to the caller. */
static void test_silence(void **state)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), fds[2];
	struct lib_text text = { 0 };
	char byte;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDOUT_FILENO);
	dup2(fds[1], STDERR_FILENO);
	dtrace_hdl_t *h = lib_open();
	lib_ok(h, dtrace_handle_buffered(h, lib_keep_text, &text));
	assert_null(dtrace_program_strcompile(h, "BEGIN {", DTRACE_PROBESPEC_NAME, 0, 0, NULL));
	lib_program(h, "BEGIN { setopt(\"nosuch\"); freopen(\"/dev/null\"); trace(1); i = *(int *)8; } "
		       "tick-1ms { exit(0); }");
	lib_ok(h, dtrace_setopt(h, "destructive", NULL));
	dtrace_go(h);
	while (dtrace_work(h, NULL, NULL, NULL, NULL) != DTRACE_WORKSTATUS_DONE)
		dtrace_sleep(h);
	dtrace_close(h);
	fflush(NULL);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
}

static void keep_message(const char *message, void *arg)
{
	struct lib_text *t = arg;

	t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s\n", message);
}

static void test_messages(void **state)
{
	struct lib_text messages = { 0 };
	dtrace_hdl_t *h = lib_open();

	(void)state;
	outsight_handle_message(h, keep_message, &messages);
	lib_ok(h, dtrace_setopt(h, "destructive", NULL));
	lib_program(h, "BEGIN { @ = count(); normalize(@, 0); freopen(\"/tmp/%d\", 1); exit(0); }");
	lib_run(h, NULL, NULL, NULL);
	assert_non_null(strstr(messages.text, "dtrace:::BEGIN): invalid normalization: 0\n"));
	assert_non_null(strstr(messages.text, "couldn't freopen() \"/tmp/1\": the output is no file\n"));
	dtrace_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),      cmocka_unit_test(test_open),
		cmocka_unit_test(test_options),   cmocka_unit_test(test_compiler),
		cmocka_unit_test(test_order),     cmocka_unit_test(test_no_such_guest),
		cmocka_unit_test(test_no_device), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_silence),   cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
