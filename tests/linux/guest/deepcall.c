/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deepcall FILE N
 *
 * Rewrites FILE N times, 8 KiB each with fsync, so that the kernel's write path (system call,
 * VFS, file system, page cache) is on the stack, and checks what it wrote.
 */
#include <fcntl.h>
#include <unistd.h>

#include "common.h"

#define BYTES 8192

int main(int argc, char **argv)
{
	static char out[BYTES], in[BYTES];

	if (argc != 3) {
		fprintf(stderr, "usage: deepcall FILE N\n");
		return 2;
	}
	long n = number_arg(argv[2], 100000000);
	for (long i = 0; i < n; i++) {
		int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd < 0)
			die(argv[1]);
		memset(out, 'a' + (int)(i % 26), sizeof(out));
		if (write(fd, out, BYTES) != BYTES || fsync(fd) < 0)
			die("write");
		if (pread(fd, in, BYTES, 0) != BYTES || memcmp(in, out, BYTES) != 0) {
			fprintf(stderr, "read back something else\n");
			return 1;
		}
		close(fd);
	}
	printf("writes %ld\n", n);
	return 0;
}
