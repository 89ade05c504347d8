/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/session/host_symbols.c, asked about this test itself. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/session/host_symbols.h"

#define PROGRAM "session_host_symbols_test"

int host_symbols_datum[4] = { 1 };

static void is(struct vp_host_symbols *hs, uint64_t pid, const void *addr, enum vp_symbol_form form,
	       const char *expected)
{
	char buf[256];

	vp_host_symbol(hs, pid, (uint64_t)(uintptr_t)addr, form, buf, sizeof(buf));
	assert_string_equal(buf, expected);
}

int main(void);

static void test_own_addresses(void **state)
{
	uint64_t pid = (uint64_t)getpid();
	struct vp_host_symbols hs;
	char buf[256];

	(void)state;
	vp_host_symbols_init(&hs);
	is(&hs, pid, (void *)main, VP_SYM_OFFSET, PROGRAM "`main");
	is(&hs, pid, (char *)main + 1, VP_SYM_OFFSET, PROGRAM "`main+0x1");
	is(&hs, pid, (char *)main + 1, VP_SYM_NAME, PROGRAM "`main");
	is(&hs, pid, (void *)main, VP_SYM_MODULE, PROGRAM);
	is(&hs, pid, &host_symbols_datum[1], VP_SYM_OFFSET, PROGRAM "`host_symbols_datum+0x4");
	/* another file */
	vp_host_symbol(&hs, pid, (uint64_t)(uintptr_t)getpid, VP_SYM_MODULE, buf, sizeof(buf));
	assert_non_null(strstr(buf, "lib"));
	vp_host_symbol(&hs, pid, (uint64_t)(uintptr_t)getpid, VP_SYM_NAME, buf, sizeof(buf));
	assert_non_null(strstr(buf, "`"));
	assert_non_null(strstr(buf, "getpid"));
	/* cut where there is no room */
	vp_host_symbol(&hs, pid, (uint64_t)(uintptr_t)main, VP_SYM_OFFSET, buf, 9);
	assert_string_equal(buf, "session_");
	vp_host_symbols_deinit(&hs);
}

static void test_unknown(void **state)
{
	uint64_t pid = (uint64_t)getpid();
	struct vp_host_symbols hs;
	int local;
	char buf[256], expected[64];

	(void)state;
	vp_host_symbols_init(&hs);
	is(&hs, pid, (void *)16, VP_SYM_OFFSET, "0x10");
	is(&hs, pid, NULL, VP_SYM_MODULE, "0x0");
	is(&hs, UINT64_MAX, (void *)16, VP_SYM_NAME, "0x10"); /* no such process */
	vp_host_symbol(&hs, pid, (uint64_t)(uintptr_t)&local, VP_SYM_OFFSET, buf, sizeof(buf));
	snprintf(expected, sizeof(expected), "0x%" PRIxPTR, (uintptr_t)&local); /* the stack is no file's */
	assert_string_equal(buf, expected);
	vp_host_symbols_deinit(&hs);
}

/* What was read of a process stays when the process has gone. */
static void test_ended(void **state)
{
	struct vp_host_symbols hs;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	vp_host_symbols_init(&hs);
	is(&hs, (uint64_t)pid, (void *)main, VP_SYM_NAME, PROGRAM "`main");
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	is(&hs, (uint64_t)pid, (char *)main + 2, VP_SYM_OFFSET, PROGRAM "`main+0x2");
	is(&hs, (uint64_t)pid, (void *)16, VP_SYM_OFFSET, "0x10");
	vp_host_symbols_deinit(&hs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_addresses),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
