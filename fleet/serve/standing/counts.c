/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts in memory that two processes share. */
#include "fleet/serve/standing/counts.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/io.h"

struct ot_err *fl_counts_create(struct fl_counts **ret, int *ret_fd)
{
	ot_auto_close int fd = -1;

	OT_TRY(ot_memfd_create("counts", sizeof(struct fl_counts), &fd));
	void *mem = mmap(NULL, sizeof(struct fl_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		return ot_err_os(errno, "mmap");
	*ret = mem;
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

struct ot_err *fl_counts_map(int fd, const struct fl_counts **ret)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (size < sizeof(struct fl_counts))
		return ot_err_new(OT_ERR_BAD_DATA, "the daemon's counts are %zu bytes", size);
	void *mem = mmap(NULL, sizeof(struct fl_counts), PROT_READ, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		return ot_err_os(errno, "mmap");
	*ret = mem;
	return NULL;
}
