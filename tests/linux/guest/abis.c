/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abis NATIVE OTHER
 *
 * Makes exactly NATIVE getppid system calls of 64 bits, and OTHER of 32 bits (int $0x80), by turns as long as
 * there are both. Nothing else in the program calls it.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#define GETPPID_32 64 /* its number there */

static long call32(long number)
{
	long ret;

	/* r8 to r11 do not survive it in all kernels */
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number) : "r8", "r9", "r10", "r11", "memory");
	return ret;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: abis NATIVE OTHER\n");
		return 2;
	}
	long native = number_arg(argv[1], 1000000), other = number_arg(argv[2], 1000000), parent = -1;

	while (native || other) {
		if (native) {
			parent = syscall(SYS_getppid);
			native--;
		}
		if (other) {
			long same = call32(GETPPID_32);
			if (parent >= 0 && same != parent) {
				fprintf(stderr, "int $0x80: %ld, not %ld\n", same, parent);
				return 1;
			}
			other--;
		}
	}
	printf("parent %ld\n", parent);
	return 0;
}
