/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * untouched
 *
 * Passes memory to system calls that it has never touched, neither itself nor by the kernel: the paths of an
 * openat(2) and of an execve(2), constants so far from all else in its file that the kernel neither reads
 * them nor maps them with a page that is touched; and as what a write(2) is to write, memory that it has just
 * mapped. Of all of these it only takes the addresses. There are no such files. Prints nothing but zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
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

int main(void)
{
	char name[] = "executed", *const words[] = { name, NULL };
	const void *zeros = mmap(NULL, FAR, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (syscall(SYS_openat, AT_FDCWD, opened.path, O_RDONLY) != -1 || errno != ENOENT)
		return 1;
	if (syscall(SYS_execve, executed.path, words, words + 1) != -1 || errno != ENOENT)
		return 2;
	return syscall(SYS_write, 1, zeros, 64) != 64;
}
