/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * untouched
 *
 * Passes memory to system calls that it has never touched, neither itself nor by the kernel: the paths of an
 * openat(2) and of an execve(2), constants so far from all else in its file that the kernel neither reads
 * them nor maps them with a page that is touched; and as what a write(2) is to write, zeros in the middle of
 * a large array. Of all of these it only takes the addresses. There are no such files. Prints nothing but
 * these zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAR (1u << 20)

struct far {
	char before[FAR];
	char path[32];
	char behind[FAR];
};

static const struct far opened = { .path = "/untouched/opened" },
			executed = { .path = "/untouched/executed" };
static char zeros[2 * FAR];

int main(void)
{
	char *const none[] = { NULL };

	if (syscall(SYS_openat, AT_FDCWD, opened.path, O_RDONLY) != -1 || errno != ENOENT)
		return 1;
	if (syscall(SYS_execve, executed.path, none, none) != -1 || errno != ENOENT)
		return 2;
	return syscall(SYS_write, 1, zeros + FAR, 64) != 64;
}
