/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into a program: makes one of its allocations fail, or one of its calls into the system.
 *
 *   OUTSIGHT_FAIL=alloc:17   the 17th allocation from main() on; alloc:17+ all from the 17th on; alloc:0 none
 *   OUTSIGHT_FAIL=call:17    the same with calls of the functions below
 *   OUTSIGHT_FAIL_TOLD=FILE  at the end: "alloc N call M", what there was; and a line with what failed
 *
 * Only the process that was started fails: those that it makes run on as they are.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#pragma GCC visibility push(default)

#define NEXT(name) ((__typeof__(&(name)))next(#name))

enum kind { ALLOC, CALL, KINDS };

static unsigned long counts[KINDS];
static struct {
	enum kind kind;
	unsigned long at; /* 0: none */
	bool onwards;
	pid_t pid; /* 0: not yet */
	const char *failed;
	char told[4096];
} fail;

/* dlsym() itself may allocate before we know how to. */
static char early[4096];
static size_t early_used;
static __thread bool resolving;

static void *next(const char *name)
{
	bool was = resolving;

	resolving = true;
	void *at = dlsym(RTLD_NEXT, name);
	resolving = was;
	return at;
}

/* Is this the one that fails? */
static bool fails(enum kind kind, const char *name)
{
	if (!fail.pid || resolving || fail.pid != getpid())
		return false;
	unsigned long n = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
	if (kind != fail.kind || !fail.at || (fail.onwards ? n < fail.at : n != fail.at))
		return false;
	if (!fail.failed)
		fail.failed = name;
	return true;
}

/* --- begin and end -------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("OUTSIGHT_FAIL"), *told = getenv("OUTSIGHT_FAIL_TOLD");
	char *end;

	if (!what || !told || strlen(told) >= sizeof(fail.told))
		return;
	memcpy(fail.told, told, strlen(told) + 1);
	fail.kind = strncmp(what, "alloc:", 6) ? CALL : ALLOC;
	fail.at = strtoul(strchr(what, ':') + 1, &end, 10);
	fail.onwards = *end == '+';
	unsetenv("LD_PRELOAD");
	fail.pid = getpid();
}

__attribute__((destructor)) static void tell(void)
{
	char text[256];

	if (!fail.pid || fail.pid != getpid())
		return;
	fail.pid = 0;
	int n = snprintf(text, sizeof(text), "alloc %lu call %lu\n%s\n", counts[ALLOC], counts[CALL],
			 fail.failed ? fail.failed : "-");
	int fd = open(fail.told, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		abort();
	close(fd);
}

/* --- memory -------------------------------------------------------------------------------------------- */

static void *early_alloc(size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (size > sizeof(early) - early_used)
		abort();
	early_used += size;
	return early + early_used - size;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

#define FAIL_ALLOC(name)                  \
	do {                              \
		if (fails(ALLOC, name)) { \
			errno = ENOMEM;   \
			return NULL;      \
		}                         \
	} while (0)

void *malloc(size_t size)
{
	static void *(*real)(size_t);

	if (resolving)
		return early_alloc(size);
	if (!real)
		real = NEXT(malloc);
	FAIL_ALLOC("malloc");
	return real(size);
}

void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);

	if (resolving)
		return early_alloc(n * size); /* zeros as yet */
	if (!real)
		real = NEXT(calloc);
	FAIL_ALLOC("calloc");
	return real(n, size);
}

void *realloc(void *p, size_t size)
{
	static void *(*real)(void *, size_t);

	if (!real)
		real = NEXT(realloc);
	FAIL_ALLOC("realloc");
	return real(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	static void *(*real)(size_t, size_t);

	if (!real)
		real = NEXT(aligned_alloc);
	FAIL_ALLOC("aligned_alloc");
	return real(align, size);
}

void free(void *p)
{
	static void (*real)(void *);

	if (is_early(p))
		return;
	if (!real)
		real = NEXT(free);
	real(p);
}

/* --- calls --------------------------------------------------------------------------------------------- */

/* A function with a result of @type that fails with @error: its parameters twice, as declared and as passed.
 */
#define CALLS(type, name, params, args, result, error) \
	type name params                               \
	{                                              \
		static __typeof__(&name) real;         \
		if (!real)                             \
			real = NEXT(name);             \
		if (fails(CALL, #name)) {              \
			errno = error;                 \
			return result;                 \
		}                                      \
		return real args;                      \
	}

/* open() and its kin have one parameter more when they make a file. */
#define OPENS(name, params, last, ...)               \
	int name params                              \
	{                                            \
		static __typeof__(&name) real;       \
		va_list more;                        \
		mode_t mode = 0;                     \
		if (last & (O_CREAT | O_TMPFILE)) {  \
			va_start(more, last);        \
			mode = va_arg(more, mode_t); \
			va_end(more);                \
		}                                    \
		if (!real)                           \
			real = NEXT(name);           \
		if (fails(CALL, #name)) {            \
			errno = EMFILE;              \
			return -1;                   \
		}                                    \
		return real(__VA_ARGS__, mode);      \
	}

OPENS(open, (const char *path, int flags, ...), flags, path, flags)
OPENS(openat, (int dir, const char *path, int flags, ...), flags, dir, path, flags)
CALLS(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
CALLS(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)
CALLS(FILE *, open_memstream, (char **text, size_t *len), (text, len), NULL, ENOMEM)
CALLS(DIR *, opendir, (const char *path), (path), NULL, EMFILE)
CALLS(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n), -1, EIO)
CALLS(ssize_t, pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), -1, EIO)
CALLS(ssize_t, readlink, (const char *path, char *buf, size_t n), (path, buf, n), -1, EACCES)
CALLS(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off),
      (at, n, prot, flags, fd, off), MAP_FAILED, ENOMEM)
CALLS(int, ftruncate, (int fd, off_t n), (fd, n), -1, ENOSPC)
CALLS(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
CALLS(int, eventfd, (unsigned n, int flags), (n, flags), -1, EMFILE)
CALLS(int, timerfd_create, (clockid_t clock, int flags), (clock, flags), -1, EMFILE)
CALLS(int, timerfd_settime, (int fd, int flags, const struct itimerspec *t, struct itimerspec *old),
      (fd, flags, t, old), -1, EINVAL)
CALLS(int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags), -1, EMFILE)
CALLS(int, pipe2, (int fds[2], int flags), (fds, flags), -1, EMFILE)
CALLS(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, EMFILE)
CALLS(int, socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds), -1,
      EMFILE)
CALLS(int, connect, (int fd, const struct sockaddr *addr, socklen_t n), (fd, addr, n), -1, ECONNREFUSED)
CALLS(int, bind, (int fd, const struct sockaddr *addr, socklen_t n), (fd, addr, n), -1, EADDRINUSE)
CALLS(ssize_t, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags), -1, EPIPE)
CALLS(ssize_t, recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags), -1, ECONNRESET)
CALLS(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags), -1, EPIPE)
CALLS(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags), -1, ECONNRESET)
CALLS(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *n), (fd, level, name, value, n),
      -1, ENOPROTOOPT)
CALLS(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1, ENOMEM)
CALLS(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *mask),
      (fds, n, t, mask), -1, ENOMEM)
CALLS(pid_t, fork, (void), (), -1, EAGAIN)

/* Not to the standard streams: a message must be seen. */
ssize_t write(int fd, const void *buf, size_t n)
{
	static __typeof__(&write) real;

	if (!real)
		real = NEXT(write);
	if (fd > STDERR_FILENO && fails(CALL, "write")) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, buf, n);
}

int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static __typeof__(&pthread_create) real;

	if (!real)
		real = NEXT(pthread_create);
	return fails(CALL, "pthread_create") ? EAGAIN : real(ret, attr, start, arg);
}
