/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole reads and writes, descriptors over sockets, sealed memory. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define FDS_MAX 16
#define SEALS   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct ot_err *ot_pread_all(int fd, void *buf, size_t len, off_t offset)
{
	char *p = buf;

	while (len) {
		ssize_t n = pread(fd, p, len, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ot_err_os(errno, "read");
		if (n == 0)
			return ot_err_new(OT_ERR_BAD_DATA, "unexpected end of file");
		p += n;
		len -= (size_t)n;
		offset += n;
	}
	return NULL;
}

struct ot_err *ot_write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ot_err_os(errno, "write");
		p += n;
		len -= (size_t)n;
	}
	return NULL;
}

struct ot_err *ot_read_file(const char *path, size_t max, char **ret, size_t *ret_len)
{
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? ot_err_os(errno, "%s", path) : ot_read_fd(fd, path, max, ret, ret_len);
}

struct ot_err *ot_read_fd(int fd, const char *path, size_t max, char **ret, size_t *ret_len)
{
	char chunk[16384];
	struct ot_buf buf;

	ot_buf_init(&buf);
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ot_buf_deinit(&buf);
			return ot_err_os(errno, "%s", path);
		}
		if (n == 0)
			break;
		if (buf.len + (size_t)n > max) {
			ot_buf_deinit(&buf);
			return ot_err_new(OT_ERR_LIMIT, "%s: larger than %zu bytes", path, max);
		}
		ot_buf_append(&buf, chunk, (size_t)n);
	}
	size_t len = buf.len;
	char *data = ot_buf_take(&buf);
	if (!data)
		return ot_err_nomem();
	*ret = data;
	*ret_len = len;
	return NULL;
}

struct ot_err *ot_memfd_create(const char *name, size_t size, int *ret_fd)
{
	ot_auto_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return ot_err_os(errno, "memfd_create");
	if (ftruncate(fd, (off_t)size) < 0)
		return ot_err_os(errno, "a shared buffer of %zu bytes", size);
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return ot_err_os(errno, "sealing a shared buffer");
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

struct ot_err *ot_memfd_check(int fd, size_t *ret_size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS)
		return ot_err_new(OT_ERR_BAD_DATA, "shared memory is not sealed");
	if (fstat(fd, &st) < 0)
		return ot_err_os(errno, "fstat");
	if (st.st_size < 0)
		return ot_err_new(OT_ERR_BAD_DATA, "shared memory has no size");
	*ret_size = (size_t)st.st_size;
	return NULL;
}

struct ot_err *ot_send_fds(int sock, const void *msg, size_t len, const int *fds, int nfds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)msg, .iov_len = len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nfds > FDS_MAX)
		return ot_err_new(OT_ERR_INTERNAL, "too many descriptors in one message");
	if (nfds) {
		mh.msg_control = control.space;
		mh.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)nfds * sizeof(int));
	}
	ssize_t n;
	do
		n = sendmsg(sock, &mh, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ot_err_os(errno, "send");
	return NULL;
}

/* Keep as many as the caller has room for, close the rest. */
static int take_fds(struct msghdr *mh, int *fds, int max_fds)
{
	int taken = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (taken < max_fds)
				fds[taken++] = fd;
			else
				close(fd);
		}
	}
	return taken;
}

struct ot_err *ot_recv_fds(int sock, void *buf, size_t cap, int *fds, int max_fds, size_t *ret_len,
			   int *ret_nfds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = cap };
	struct msghdr mh = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	ssize_t n;

	do
		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ot_err_os(errno, "receive");
	int nfds = take_fds(&mh, fds, max_fds);
	if (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		for (int i = 0; i < nfds; i++)
			close(fds[i]);
		return ot_err_new(OT_ERR_BAD_DATA, "message too long");
	}
	*ret_len = (size_t)n;
	*ret_nfds = nfds;
	return NULL;
}
