/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd PROCESSES FILES PROGRAM: so many processes, which have so many copies of the program mapped as code,
 * each of them some. All of each copy is in memory. It prints "ready", and the processes sleep until they are
 * killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EACH 20 /* files of a process */

static void *data;
static size_t size;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void read_program(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		fail(path);
	size = (size_t)st.st_size;
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		fail(path);
	close(fd);
}

static void name_of(char *path, size_t room, int file)
{
	snprintf(path, room, "/tmp/crowd/lib%d.so", file);
}

static void make_file(int file)
{
	char path[64];

	name_of(path, sizeof(path), file);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		fail(path);
	close(fd);
}

static void map_file(int file)
{
	char path[64];

	name_of(path, sizeof(path), file);
	int fd = open(path, O_RDONLY);

	if (fd < 0 || mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		fail(path);
	close(fd);
}

static void be_one(int nth, int files)
{
	for (int i = 0; i < EACH; i++)
		map_file((nth * EACH + i) % files);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int processes = argc == 4 ? atoi(argv[1]) : 0, files = argc == 4 ? atoi(argv[2]) : 0;

	if (!processes || files < EACH)
		return 2;
	read_program(argv[3]);
	if (mkdir("/tmp/crowd", 0755))
		fail("/tmp/crowd");
	for (int i = 0; i < files; i++)
		make_file(i);
	for (int i = 0; i < processes; i++)
		if (!fork())
			be_one(i, files);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
