/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors, memory, limits and system calls that a confined child gives up. */
#include "vmm-probe/confined/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/proc_map.h"

#define MAPS_MAX (64u << 20)
#define NOBODY   65534 /* the kernel's overflow id, which no distribution assigns to a user */

/* --- descriptors and memory ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

struct ot_err *vp_rights_close(const struct vp_confined_job *job, const struct vp_confined_ends *ends)
{
	unsigned n = 0, first = 0;
	ot_auto_free int *keep = calloc(job->nfds + 2, sizeof(*keep));

	if (!keep)
		return ot_err_nomem();
	for (unsigned i = 0; i < job->nfds; i++)
		keep[n++] = job->fds[i];
	keep[n++] = ends->out;
	if (ends->answers >= 0)
		keep[n++] = ends->answers;
	qsort(keep, n, sizeof(*keep), by_number);
	for (unsigned i = 0; i < n; i++) {
		unsigned fd = (unsigned)keep[i];

		if (fd > first && close_range(first, fd - 1, 0) < 0)
			return ot_err_os(errno, "close_range");
		first = fd + 1;
	}
	return close_range(first, ~0u, 0) < 0 ? ot_err_os(errno, "close_range") : NULL;
}

struct ot_err *vp_rights_unmap(const void *kept, uint64_t *ret_left)
{
	ot_auto_free char *maps = NULL;
	size_t len;
	uint64_t left = 0;

	OT_TRY(ot_read_file("/proc/self/maps", MAPS_MAX, &maps, &len));
	for (char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct ot_proc_map map;

		*end = '\0';
		if (!ot_proc_map_parse(line, &map))
			return ot_err_new(OT_ERR_INTERNAL, "/proc/self/maps has an unknown form");
		if (map.perms[3] != 's' || map.start == (uintptr_t)kept) {
			left += map.end - map.start;
			continue;
		}
		if (munmap((void *)(uintptr_t)map.start, map.end - map.start) < 0)
			return ot_err_os(errno, "munmap");
	}
	*ret_left = left;
	return NULL;
}

/* --- user ------------------------------------------------------------------------------------------------ */

struct ot_err *vp_rights_user(void)
{
	if (geteuid() != 0)
		return NULL;
	/* Raw calls: libc's functions signal all threads of the process, of which this child has none. A root
	 * that may not change its user is one of a user namespace or a container, where root is another user
	 * already.
	 */
	if (syscall(SYS_setgroups, 0, NULL) < 0 && errno != EPERM)
		return ot_err_os(errno, "setgroups");
	if (syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0 && errno != EPERM && errno != EINVAL)
		return ot_err_os(errno, "setresgid");
	if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) < 0 && errno != EPERM && errno != EINVAL)
		return ot_err_os(errno, "setresuid");
	return NULL;
}

/* --- limits ---------------------------------------------------------------------------------------------- */

static struct ot_err *limit(__rlimit_resource_t what, uint64_t soft, uint64_t hard)
{
	const struct rlimit value = { soft, hard };

	return setrlimit(what, &value) < 0 ? ot_err_os(errno, "setrlimit") : NULL;
}

struct ot_err *vp_rights_limit(const struct vp_confined_limits *limits, uint64_t mapped)
{
	uint64_t memory = mapped + ((uint64_t)limits->memory_mib << 20);

	OT_TRY(limit(RLIMIT_CORE, 0, 0));
	/* SIGXCPU identifies the cause; SIGKILL follows if it were held up. */
	OT_TRY(limit(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + 1));
	return limit(RLIMIT_AS, memory, memory);
}

/* --- system calls ---------------------------------------------------------------------------------------- */

/* For malloc(), libelf, libdw, and a sanitizer's run time: on descriptors that are open, and private memory.
 */
static const int allowed[] = {
	SCMP_SYS(read),           SCMP_SYS(pread64),      SCMP_SYS(readv),           SCMP_SYS(lseek),
	SCMP_SYS(close),          SCMP_SYS(fstat),        SCMP_SYS(munmap),          SCMP_SYS(brk),
	SCMP_SYS(madvise),        SCMP_SYS(mremap),       SCMP_SYS(futex),           SCMP_SYS(getrandom),
	SCMP_SYS(clock_gettime),  SCMP_SYS(gettimeofday), SCMP_SYS(sched_yield),     SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),     SCMP_SYS(getpid),
	SCMP_SYS(gettid),         SCMP_SYS(sysinfo),      SCMP_SYS(restart_syscall), SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

/* Of the descriptors only the one to the parent: that of a guest's RAM may be open for writing. */
static const int writing[] = { SCMP_SYS(write), SCMP_SYS(writev) };

/* Libraries try to open files and continue without them: libdw for a program's name and for further debugging
 * information. */
static const int absent[] = {
	SCMP_SYS(open),       SCMP_SYS(openat),    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(access),
	SCMP_SYS(faccessat2), SCMP_SYS(faccessat), SCMP_SYS(stat),     SCMP_SYS(lstat),
};

static int add_rules(scmp_filter_ctx ctx, int out)
{
	const struct scmp_arg_cmp to_parent = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)out),
				  elsewhere = SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)out);
	const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	const struct scmp_arg_cmp private =
	    SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_PRIVATE | MAP_SHARED, MAP_PRIVATE);
	const struct scmp_arg_cmp getfd = SCMP_A1(SCMP_CMP_EQ, F_GETFD),
				  getfl = SCMP_A1(SCMP_CMP_EQ, F_GETFL);
	/* glibc's fstat(); it can ask of a path too, of which nothing but its attributes would be learned */
	const struct scmp_arg_cmp by_fd = SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH);
	/* abort() */
	const struct scmp_arg_cmp itself = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid());
	int r = 0;

	for (size_t i = 0; !r && i < OT_ARRAY_SIZE(allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; !r && i < OT_ARRAY_SIZE(writing); i++) {
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, writing[i], 1, to_parent);
		if (!r)
			r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EBADF), writing[i], 1, elsewhere);
	}
	for (size_t i = 0; !r && i < OT_ARRAY_SIZE(absent); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), absent[i], 0);
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, no_exec, private);
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_exec);
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, getfd);
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, getfl);
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1, by_fd);
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, itself);
	return r;
}

struct ot_err *vp_rights_filter(int out)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	if (syscall(SYS_capset, &head, none) < 0)
		return ot_err_os(errno, "capset");
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!ctx)
		return ot_err_nomem();
	/* seccomp_load() sets no_new_privs first, without which only root may load a filter. */
	int r = add_rules(ctx, out);
	if (!r)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r ? ot_err_os(-r, "seccomp") : NULL;
}
