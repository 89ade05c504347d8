/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of engines' sockets, and the permission to access a VMM. */
#include "vmm-probe/engine/wire/socket_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define NAME_MAX_LEN  16 /* of /PID.sock */
#define CLAIM_WAIT_MS 500u
#define CLAIM_STEP_MS 20u

/* sudo and su may keep another user's value in the environment: a directory created there is not only
 * ours. */
static bool is_others(const char *dir)
{
	struct stat st;

	return !stat(dir, &st) && st.st_uid != geteuid();
}

struct ot_err *vp_socket_dir(char *ret, size_t size)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	int n = base && *base == '/' && !is_others(base) ? snprintf(ret, size, "%s/outsight", base)
							 : snprintf(ret, size, VP_SOCKET_SYSTEM_DIR);

	if (n < 0 || (size_t)n + NAME_MAX_LEN >= size)
		return ot_err_new(OT_ERR_LIMIT, "XDG_RUNTIME_DIR is too long for the path of a socket in it");
	return NULL;
}

/* Where another user may write, sockets can be replaced, or bound in our name. */
static struct ot_err *check_own(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st))
		return ot_err_os(errno, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return ot_err_new(OT_ERR_PERMISSION,
				  "%s can't be used for sockets: it must be a directory of uid %u's own, in "
				  "which no other user may write (XDG_RUNTIME_DIR selects another)",
				  dir, (unsigned)geteuid());
	return NULL;
}

struct ot_err *vp_socket_dir_make(char *ret, size_t size)
{
	OT_TRY(vp_socket_dir(ret, size));
	if (mkdir(ret, 0700) && errno != EEXIST)
		return ot_err_os(errno, "creating %s", ret);
	return check_own(ret);
}

struct ot_err *vp_socket_path(pid_t pid, char *ret, size_t size)
{
	OT_TRY(vp_socket_dir(ret, size));
	size_t len = strlen(ret);
	snprintf(ret + len, size - len, "/%d.sock", (int)pid);
	return NULL;
}

struct ot_err *vp_socket_path_libvirt(const char *cache_home, char *ret, size_t size)
{
	static const char cache[] = "/.cache";
	size_t len = cache_home ? strlen(cache_home) : 0, n = strlen(cache);

	if (len <= n || *cache_home != '/' || strcmp(cache_home + len - n, cache) != 0)
		return ot_err_new(OT_ERR_NOT_FOUND, "libvirt gave this QEMU no directory of its own");
	int written = snprintf(ret, size, "%.*s/outsight.sock", (int)(len - n), cache_home);
	if (written < 0 || (size_t)written >= size)
		return ot_err_new(OT_ERR_LIMIT,
				  "the domain's directory is too long for the path of a socket in it");
	return NULL;
}

/* kernel.yama.ptrace_scope; 0 too if the kernel has no Yama. */
static int ptrace_scope(void)
{
	ot_auto_close int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char digit = '0';

	return fd >= 0 && read(fd, &digit, 1) == 1 ? digit - '0' : 0;
}

struct ot_err *vp_vmm_forbidden(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if (geteuid() == 0)
		return ot_err_new(
		    OT_ERR_PERMISSION,
		    "process %d may not be accessed: CAP_SYS_PTRACE is missing here (a container?), or a "
		    "security module forbids it",
		    (int)pid);
	if (!stat(path, &st) && st.st_uid && st.st_uid != geteuid())
		return ot_err_new(
		    OT_ERR_PERMISSION,
		    "process %d is uid %u's, this is uid %u: run as that uid, or with CAP_SYS_PTRACE (root)",
		    (int)pid, (unsigned)st.st_uid, (unsigned)geteuid());
	if (ptrace_scope())
		return ot_err_new(
		    OT_ERR_PERMISSION,
		    "process %d may not be accessed: kernel.yama.ptrace_scope is %d, which requires "
		    "CAP_SYS_PTRACE (root)",
		    (int)pid, ptrace_scope());
	return ot_err_new(
	    OT_ERR_PERMISSION,
	    "process %d may not be accessed: it is root's, or has had other privileges than its owner: this "
	    "requires CAP_SYS_PTRACE (root)",
	    (int)pid);
}

/* A process that was killed holds it until it, or a child of it, has ended. */
static bool lock_soon(int fd)
{
	static const struct timespec pause = { .tv_nsec = CLAIM_STEP_MS * 1000000l };

	for (unsigned waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += CLAIM_STEP_MS) {
		if (errno != EWOULDBLOCK || waited >= CLAIM_WAIT_MS)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* A lock on a file that only those may open who may ptrace the VMM: no other user can block them. It is
 * released with its last descriptor. */
struct ot_err *vp_vmm_claim(pid_t pid, int *ret_fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ESRCH))
		return ot_err_new(OT_ERR_NOT_FOUND, "there is no process %d", (int)pid);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return vp_vmm_forbidden(pid);
	if (fd < 0)
		return ot_err_os(errno, "%s", path);
	if (!lock_soon(fd)) {
		if (errno == EWOULDBLOCK)
			return ot_err_new(
			    OT_ERR_BUSY,
			    "another outsight is sampling process %d from outside, or attaching to it",
			    (int)pid);
		return ot_err_os(errno, "claiming process %d", (int)pid);
	}
	*ret_fd = ot_move_fd(fd);
	return NULL;
}
