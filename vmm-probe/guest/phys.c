/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of guest physical memory, and reading them. */
#include "vmm-probe/guest/phys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/phys_internal.h"

struct ot_err *vp_phys_create(struct vp_phys **ret)
{
	struct vp_phys *phys = calloc(1, sizeof(*phys));

	if (!phys)
		return ot_err_nomem();
	*ret = phys;
	return NULL;
}

static void range_close(struct vp_phys_range *range)
{
	if (range->fd >= 0)
		close(range->fd);
	if (range->pagemap_fd >= 0)
		close(range->pagemap_fd);
}

void vp_phys_leave(struct vp_phys *phys)
{
	for (size_t i = 0; i < phys->nranges; i++)
		range_close(&phys->ranges[i]);
	phys->nranges = 0;
	phys->size = 0;
}

void vp_phys_destroy(struct vp_phys *phys)
{
	if (!phys)
		return;
	vp_phys_leave(phys);
	free(phys);
}

/* Check a new range against the existing ones, and find its index. */
static struct ot_err *range_place(const struct vp_phys *phys, struct vp_gpa gpa, uint64_t size, size_t *ret)
{
	size_t at = 0;

	if (!size || ((gpa.v | size) & ~VP_PAGE_MASK) || gpa.v + size < gpa.v)
		return ot_err_new(OT_ERR_BAD_DATA, "memory range 0x%llx + 0x%llx is not whole pages",
				  (unsigned long long)gpa.v, (unsigned long long)size);
	if (phys->nranges == VP_PHYS_RANGES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %d memory ranges", VP_PHYS_RANGES_MAX);
	while (at < phys->nranges && phys->ranges[at].gpa < gpa.v)
		at++;
	if ((at < phys->nranges && gpa.v + size > phys->ranges[at].gpa) ||
	    (at > 0 && phys->ranges[at - 1].gpa + phys->ranges[at - 1].size > gpa.v))
		return ot_err_new(OT_ERR_BAD_DATA, "memory range 0x%llx + 0x%llx overlaps another",
				  (unsigned long long)gpa.v, (unsigned long long)size);
	*ret = at;
	return NULL;
}

static void range_insert(struct vp_phys *phys, size_t at, const struct vp_phys_range *range)
{
	memmove(&phys->ranges[at + 1], &phys->ranges[at], (phys->nranges - at) * sizeof(*range));
	phys->ranges[at] = *range;
	phys->nranges++;
	phys->size += range->size;
}

struct ot_err *vp_phys_add_file(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size, int fd,
				uint64_t offset)
{
	struct vp_phys_range range = {
		.gpa = gpa.v, .size = size, .kind = VP_PHYS_FILE, .pagemap_fd = -1, .offset = offset
	};
	struct stat st;
	size_t at = 0;

	OT_TRY(range_place(phys, gpa, size, &at));
	if (fstat(fd, &st) < 0)
		return ot_err_os(errno, "cannot stat the memory file");
	/* stat() gives no size of block and character devices; reads past their end fail. */
	if (S_ISREG(st.st_mode) && (offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset))
		return ot_err_new(
		    OT_ERR_BAD_DATA,
		    "the memory file is truncated: it has %lld bytes, 0x%llx + 0x%llx are needed",
		    (long long)st.st_size, (unsigned long long)offset, (unsigned long long)size);
	range.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (range.fd < 0)
		return ot_err_os(errno, "cannot duplicate the memory file's descriptor");
	range_insert(phys, at, &range);
	return NULL;
}

struct ot_err *vp_phys_add_process(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size, pid_t pid,
				   uint64_t hva)
{
	struct vp_phys_range range = { .gpa = gpa.v, .size = size, .kind = VP_PHYS_PROCESS, .offset = hva };
	char path[64];
	size_t at = 0;

	OT_TRY(range_place(phys, gpa, size, &at));
	if ((hva & ~VP_PAGE_MASK) || hva + size < hva || hva + size > INT64_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "host address 0x%llx is not a valid address of memory",
				  (unsigned long long)hva);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	range.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (range.fd < 0)
		return ot_err_os(errno, "cannot read the memory of process %d", (int)pid);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	range.pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
	range_insert(phys, at, &range);
	return NULL;
}

struct ot_err *vp_phys_add_memory(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size, const void *mem)
{
	struct vp_phys_range range = {
		.gpa = gpa.v, .size = size, .kind = VP_PHYS_MEMORY, .fd = -1, .pagemap_fd = -1, .mem = mem
	};
	size_t at = 0;

	OT_TRY(range_place(phys, gpa, size, &at));
	range_insert(phys, at, &range);
	return NULL;
}

struct ot_err *vp_phys_add_reader(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
				  vp_phys_reader reader, void *arg)
{
	struct vp_phys_range range = { .gpa = gpa.v,
				       .size = size,
				       .kind = VP_PHYS_READER,
				       .fd = -1,
				       .pagemap_fd = -1,
				       .reader = reader,
				       .reader_arg = arg };
	size_t at = 0;

	OT_TRY(range_place(phys, gpa, size, &at));
	range_insert(phys, at, &range);
	return NULL;
}

struct ot_err *vp_phys_fds(const struct vp_phys *phys, int **ret, unsigned *ret_n)
{
	int *fds = calloc(2 * phys->nranges + 1, sizeof(*fds));
	unsigned n = 0;

	if (!fds)
		return ot_err_nomem();
	for (size_t i = 0; i < phys->nranges; i++) {
		if (phys->ranges[i].fd >= 0)
			fds[n++] = phys->ranges[i].fd;
		if (phys->ranges[i].pagemap_fd >= 0)
			fds[n++] = phys->ranges[i].pagemap_fd;
	}
	*ret = fds;
	*ret_n = n;
	return NULL;
}

void vp_phys_set_reader(struct vp_phys *phys, vp_phys_reader reader, void *arg)
{
	for (size_t i = 0; i < phys->nranges; i++) {
		if (phys->ranges[i].kind != VP_PHYS_READER)
			continue;
		phys->ranges[i].reader = reader;
		phys->ranges[i].reader_arg = arg;
	}
}

const struct vp_phys_range *vp_phys_range_at_or_after(const struct vp_phys *phys, uint64_t gpa)
{
	const struct vp_phys_range *ranges = phys->ranges;
	size_t at = OT_COUNT_BEFORE(phys->nranges, i, ranges[i].gpa + (ranges[i].size - 1) < gpa);

	return at < phys->nranges ? &ranges[at] : NULL;
}

static struct ot_err *range_read(const struct vp_phys_range *range, uint64_t at, uint8_t *dst, size_t len)
{
	if (range->kind == VP_PHYS_MEMORY) {
		memcpy(dst, range->mem + at, len);
		return NULL;
	}
	if (range->kind == VP_PHYS_READER)
		return range->reader(range->reader_arg, range->gpa + at, dst, len);
	while (len) {
		ssize_t n = pread(range->fd, dst, len, (off_t)(range->offset + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && range->kind == VP_PHYS_PROCESS)
			return ot_err_new(OT_ERR_GUEST_GONE, "the guest's memory can't be read any more: %s",
					  n < 0 ? strerror(errno) : "its process ended");
		if (n < 0)
			return ot_err_os(errno, "cannot read the guest's memory");
		if (n == 0) {
			uint64_t gpa = range->gpa + at;

			return ot_err_new(OT_ERR_FAULT, "the memory file ends before guest address 0x%llx",
					  (unsigned long long)gpa);
		}
		dst += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return NULL;
}

struct ot_err *vp_phys_read(const struct vp_phys *phys, struct vp_gpa gpa, void *dst, size_t len)
{
	uint8_t *out = dst;
	uint64_t at = gpa.v;

	OT_TRY(vp_budget_read(len));
	while (len) {
		const struct vp_phys_range *range = vp_phys_range_at_or_after(phys, at);
		uint64_t left;
		size_t n;

		if (!range || range->gpa > at)
			return ot_err_new(OT_ERR_FAULT, "guest physical address 0x%llx is not RAM",
					  (unsigned long long)at);
		left = range->gpa + range->size - at;
		n = len < left ? len : (size_t)left;
		OT_TRY(range_read(range, at - range->gpa, out, n));
		out += n;
		at += n;
		len -= n;
	}
	return NULL;
}

uint64_t vp_phys_size(const struct vp_phys *phys)
{
	return phys->size;
}
