/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why an event can't be counted here: what perf_event_open(2) may answer, by a filter of system calls in a
 * child. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/backend/kvm/perf.h"

static const struct vp_cpc_event cycles = { .type = PERF_TYPE_HARDWARE, .period = 5000 },
				 clock_event = { .type = PERF_TYPE_SOFTWARE, .period = 200000 };

/* perf_event_open fails with @error from now on. */
static bool filter(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { OT_ARRAY_SIZE(code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* In a child, whose status is 0 when all is as it should be. */
static int check(const struct vp_cpc_event *event, int error, const char *reason)
{
	if (!filter(error))
		return 2;
	struct ot_err *err = vp_kvm_perf_try(event);
	bool right = err && ot_err_code(err) == OT_ERR_UNSUPPORTED && strstr(ot_err_message(err), reason);
	if (!right)
		fprintf(stderr, "%s: %s\n", strerror(error), err ? ot_err_message(err) : "no error");
	ot_err_destroy(err);
	return !right;
}

static void reasons(void **state)
{
	static const struct {
		const struct vp_cpc_event *event;
		int error;
		const char *reason;
	} answers[] = {
		{ &cycles, ENOENT, "sees no performance counters of its CPU" },
		{ &cycles, EACCES, "set kernel.perf_event_paranoid, which is " },
		{ &clock_event, EACCES, "CAP_PERFMON" },
		{ &cycles, EPERM, "or its seccomp filter forbids it" },
		{ &cycles, ENOSYS, "has no perf_event_open" },
		{ &cycles, EOPNOTSUPP,
		  "does not count this event: perf_event_open: Operation not supported" },
		{ &cycles, EINVAL, "does not count this event: perf_event_open: Invalid argument" },
		{ &clock_event, ENOENT, "does not count this event: perf_event_open: No such file" },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(answers); i++) {
		int status;
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child)
			_exit(check(answers[i].event, answers[i].error, answers[i].reason));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
			skip(); /* no filters of system calls here */
		if (status)
			fail_msg("answer %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reasons) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
