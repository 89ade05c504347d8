/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reads N
 *
 * Makes exactly N read system calls of known, varied sizes from a file, each satisfied in
 * full, and prints the totals: "reads N bytes B", then "bucket P COUNT" for each power of
 * two P with the number of sizes in [P, 2P). No other code here calls read.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#define FILE_BYTES (64 << 10)
#define BUCKETS    17

static int make_file(void)
{
	static char data[FILE_BYTES];
	int fd = open("/tmp/reads.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		die("/tmp/reads.dat");
	memset(data, 'x', sizeof(data));
	if (write(fd, data, sizeof(data)) != (ssize_t)sizeof(data))
		die("write");
	unlink("/tmp/reads.dat");
	return fd;
}

int main(int argc, char **argv)
{
	static char buf[FILE_BYTES];
	long counts[BUCKETS] = { 0 }, bytes = 0;
	unsigned int state = 1;

	if (argc < 2) {
		fprintf(stderr, "usage: reads N\n");
		return 2;
	}
	long n = number_arg(argv[1], 1000000000);
	int fd = make_file();
	for (long i = 0; i < n; i++) {
		/* Every order of magnitude as likely as the next. */
		unsigned int order = next_random(&state) % BUCKETS;
		size_t size = ((size_t)1 << order) + (next_random(&state) & ((1u << order) - 1));
		if (size > FILE_BYTES)
			size = FILE_BYTES;
		if (lseek(fd, 0, SEEK_SET) < 0)
			die("lseek");
		if (syscall(SYS_read, fd, buf, size) != (long)size)
			die("read");
		bytes += (long)size;
		counts[63 - __builtin_clzl(size)]++;
	}
	printf("reads %ld bytes %ld\n", n, bytes);
	for (int i = 0; i < BUCKETS; i++) {
		if (counts[i])
			printf("bucket %ld %ld\n", 1L << i, counts[i]);
	}
	return 0;
}
