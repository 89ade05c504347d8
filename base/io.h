/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole reads and writes, sealed shared memory, messages with descriptors. */
#ifndef OT_BASE_IO_H
#define OT_BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/** Read exactly @p len bytes at @p offset; BAD_DATA at an early end of file. */
OT_MUST_CHECK struct ot_err *ot_pread_all(int fd, void *buf, size_t len, off_t offset);

/** Write all of @p len bytes. */
OT_MUST_CHECK struct ot_err *ot_write_all(int fd, const void *buf, size_t len);

/** Read a whole file of at most @p max bytes; *ret is owned by the caller and
 * has a NUL behind its *ret_len bytes. Works for /proc files of unknown size. */
OT_MUST_CHECK struct ot_err *ot_read_file(const char *path, size_t max, char **ret, size_t *ret_len);

/** The same of an open file, from where it stands; @p path names it in messages. */
OT_MUST_CHECK struct ot_err *ot_read_fd(int fd, const char *path, size_t max, char **ret, size_t *ret_len);

/** A memfd of @p size bytes, sealed against shrinking and growing, O_CLOEXEC. */
OT_MUST_CHECK struct ot_err *ot_memfd_create(const char *name, size_t size, int *ret_fd);

/** Check that @p fd is a memfd sealed with SHRINK, GROW and SEAL (else a peer
 * could take the pages away under a mapping), and return its size. */
OT_MUST_CHECK struct ot_err *ot_memfd_check(int fd, size_t *ret_size);

/** Send one message with @p nfds descriptors on a SOCK_SEQPACKET socket. */
OT_MUST_CHECK struct ot_err *ot_send_fds(int sock, const void *msg, size_t len, const int *fds, int nfds);

/** Receive one message into @p buf of @p cap bytes. At most @p max_fds descriptors
 * are stored in @p fds (O_CLOEXEC, owned by the caller), the rest are closed.
 * *ret_len is 0 at end of connection; a longer message is BAD_DATA. */
OT_MUST_CHECK struct ot_err *ot_recv_fds(int sock, void *buf, size_t cap, int *fds, int max_fds,
					 size_t *ret_len, int *ret_nfds);

#endif
