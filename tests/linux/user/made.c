/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made N PROVIDER NAME…
 *
 * A program that makes static probes as it runs, as Java's did (JSDT) and as libstapsdt does: each is in a
 * shared library that it writes into a file of no file system (memfd_create(2)) and loads. At each SIGUSR1 it
 * makes the probe of the next name, if there is one left, passes each that it has made N times, with a number
 * and its name, and says so:
 *
 *     NAME COUNT SUM OF NUMBERS
 *     done
 *
 * Provider and names have eight letters each, as those of the library that it copies.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rounds.h"

#define LIBRARY "/lib/x86_64-linux-gnu/libmade.so"
#define LETTERS 8

static char **names;
static struct {
	void (*pass)(long value, const char *text);
	long count, sum;
} probes[8];
static int n_probes, n_names;

static void write_over(char *image, size_t size, const char *old, const char *new)
{
	for (char *at = image; (at = memmem(at, (size_t)(image + size - at), old, LETTERS)); at += LETTERS)
		memcpy(at, new, LETTERS);
}

/* The library under another name, in memory of its own. Returns a path that dlopen() takes; NULL: no. */
static const char *make(const char *provider, const char *name)
{
	static char path[32];
	static char image[1 << 20];
	int from = open(LIBRARY, O_RDONLY), to = memfd_create(name, 0);
	ssize_t size = from < 0 ? -1 : read(from, image, sizeof(image));

	if (size <= 0 || to < 0)
		return NULL;
	write_over(image, (size_t)size, "PROVIDER", provider);
	write_over(image, (size_t)size, "THEPROBE", name);
	close(from);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	return write(to, image, (size_t)size) == size ? path : NULL;
}

static void make_next(void)
{
	const char *path = make(names[0], names[n_probes + 1]);
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (library)
		*(void **)&probes[n_probes].pass = dlsym(library, "made_pass");
	if (!library || !probes[n_probes].pass) {
		say("no library");
		exit(1);
	}
	n_probes++;
}

static void round_of(long n)
{
	if (n_probes < n_names)
		make_next();
	for (int i = 0; i < n_probes; i++) {
		for (long value = 0; value < n; value++) {
			probes[i].pass(value, names[i + 1]);
			probes[i].count++;
			probes[i].sum += value;
		}
		printf("%s %ld %ld\n", names[i + 1], probes[i].count, probes[i].sum);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4 || argc - 3 > (int)(sizeof(probes) / sizeof(*probes)))
		return 1;
	for (int i = 2; i < argc; i++) {
		if (strlen(argv[i]) != LETTERS)
			return 1;
	}
	names = argv + 2;
	n_names = argc - 3;
	do_rounds(round_of, atol(argv[1]));
	return 1;
}
