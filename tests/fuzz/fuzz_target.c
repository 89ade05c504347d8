/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that lies to whoever is about to enter it: its maps, status, command line, security profile,
 * descriptors, and the files that it has mapped. The library's calls of open(), fopen() and readlink() on
 * /proc get these from the input.
 *
 *   input: 5 × (u16 length, bytes): maps, status, cmdline, attr/current, links | an ELF file
 *   links: lines; the first is the program's, the others are those of descriptors, again and again
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/seed.h"
#include "vmm-probe/inject/internal.h"

enum part { MAPS, STATUS, CMDLINE, ATTR, LINKS, PARTS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
ssize_t __wrap_readlink(const char *path, char *ret, size_t size);
ssize_t __real_readlink(const char *path, char *ret, size_t size);

static struct {
	bool on;
	const char *text[PARTS];
	size_t len[PARTS];
	int fds[PARTS + 1]; /* memfds with the parts and the ELF file */
	size_t link;        /* offset of the next one */
} lies;

static bool reached; /* by the last input: it may be entered */

bool fuzz_seed_reached(void)
{
	return reached;
}

/* --- what the library opens ----------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n >= k && !strcmp(path + n - k, end);
}

/* Which part a file of /proc/PID is; PARTS: the ELF file. -1: none. */
static int part_of(const char *path)
{
	static const char *const names[PARTS] = { "/maps", "/status", "/cmdline", "/attr/current", NULL };

	if (!lies.on || strncmp(path, "/proc/", 6) != 0 || !strncmp(path, "/proc/self/", 11))
		return -1;
	for (int i = 0; i < PARTS; i++)
		if (names[i] && ends_with(path, names[i]))
			return i;
	return strstr(path, "/map_files/") || strstr(path, "/root/") || ends_with(path, "/exe") ||
		       ends_with(path, "/mem")
		   ? PARTS
		   : -1;
}

/* A descriptor with an offset of its own. */
static int open_part(int part)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", lies.fds[part]);
	return __real_open(path, O_RDONLY | O_CLOEXEC);
}

int __wrap_open(const char *path, int flags, ...)
{
	int part = part_of(path);
	va_list ap;

	va_start(ap, flags);
	mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return part < 0 ? __real_open(path, flags, mode) : open_part(part);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	int part = part_of(path);

	return part < 0 ? __real_fopen(path, mode) : fdopen(open_part(part), "r");
}

ssize_t __wrap_readlink(const char *path, char *ret, size_t size)
{
	if (!lies.on || strncmp(path, "/proc/", 6) != 0)
		return __real_readlink(path, ret, size);
	if (lies.link >= lies.len[LINKS]) {
		errno = ENOENT;
		return -1;
	}
	const char *at = lies.text[LINKS] + lies.link;
	const char *end = memchr(at, '\n', lies.len[LINKS] - lies.link);
	size_t len = end ? (size_t)(end - at) : lies.len[LINKS] - lies.link;
	lies.link += len + 1;
	len = len < size ? len : size;
	memcpy(ret, at, len);
	return (ssize_t)len;
}

/* --- one process ---------------------------------------------------------------------------------------- */

static void fill(int part, const void *data, size_t len)
{
	if (!lies.fds[part])
		lies.fds[part] = memfd_create("lie", MFD_CLOEXEC);
	if (lies.fds[part] < 0 || ftruncate(lies.fds[part], (off_t)len) ||
	    pwrite(lies.fds[part], data, len, 0) != (ssize_t)len)
		abort();
}

static void take_apart(const uint8_t *data, size_t size)
{
	for (int i = 0; i < PARTS; i++) {
		uint16_t len = 0;
		if (size >= sizeof(len))
			memcpy(&len, data, sizeof(len));
		size_t head = size < sizeof(len) ? size : sizeof(len);
		data += head;
		size -= head;
		lies.text[i] = (const char *)data;
		lies.len[i] = len < size ? len : size;
		data += lies.len[i];
		size -= lies.len[i];
		fill(i, lies.text[i], lies.len[i]);
	}
	fill(PARTS, data, size);
	lies.link = 0;
}

/* A path that the library keeps ends in its array. */
static void check(const struct vp_target *t)
{
	if (!memchr(t->exe, 0, sizeof(t->exe)) || !memchr(t->libc.path, 0, sizeof(t->libc.path)) ||
	    !memchr(t->name, 0, sizeof(t->name)) || !memchr(t->confined, 0, sizeof(t->confined)) ||
	    t->nvcpus > 65536)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vp_target t;
	struct vp_inject_states states;

	take_apart(data, size);
	lies.on = true;
	struct ot_err *err = vp_target_open(getpid(), &t);
	if (!err) {
		check(&t);
		vp_target_close(&t);
	}
	reached = !err;
	ot_err_destroy(err);
	(void)vp_inject_states_read(getpid(), &states);
	lies.on = false;
	return 0;
}
