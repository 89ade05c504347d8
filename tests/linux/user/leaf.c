/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library of one function, which makes the system call that stacks are taken at. */
#include <sys/syscall.h>

long leaf(void);

long leaf(void)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	return ret;
}
