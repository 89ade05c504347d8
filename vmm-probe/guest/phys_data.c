/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the populated parts of guest memory: holes are cheap to skip and expensive to read. */
#include <errno.h>
#include <unistd.h>

#include "vmm-probe/guest/phys_internal.h"

#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_BATCH   512

/* Offsets are relative to the range; *ret_start == range->size: no more data. */
static struct ot_err *file_next(const struct vp_phys_range *range, uint64_t at, uint64_t *ret_start,
				uint64_t *ret_end)
{
	off_t base = (off_t)range->offset, data, hole;

	data = lseek(range->fd, base + (off_t)at, SEEK_DATA);
	if (data < 0 && errno == ENXIO) {
		*ret_start = *ret_end = range->size;
		return NULL;
	}
	if (data < 0) {
		/* A device, or a file system without SEEK_DATA: all of it counts as data. */
		*ret_start = at;
		*ret_end = range->size;
		return NULL;
	}
	hole = lseek(range->fd, data, SEEK_HOLE);
	if (hole < 0)
		return ot_err_os(errno, "cannot find holes in the guest's memory");
	*ret_start = (uint64_t)(data - base) < range->size ? (uint64_t)(data - base) : range->size;
	*ret_end = (uint64_t)(hole - base) < range->size ? (uint64_t)(hole - base) : range->size;
	return NULL;
}

/* Pages that are present; swapped pages are not read back. */
static struct ot_err *process_next(const struct vp_phys_range *range, uint64_t at, uint64_t *ret_start,
				   uint64_t *ret_end)
{
	uint64_t entries[PAGEMAP_BATCH];
	uint64_t page = at / VP_PAGE_SIZE, npages = range->size / VP_PAGE_SIZE;
	uint64_t start = npages;

	while (page < npages) {
		uint64_t want = npages - page < PAGEMAP_BATCH ? npages - page : PAGEMAP_BATCH;
		off_t where = (off_t)((range->offset / VP_PAGE_SIZE + page) * sizeof(uint64_t));
		ssize_t n = pread(range->pagemap_fd, entries, want * sizeof(uint64_t), where);

		if (n < (ssize_t)sizeof(uint64_t))
			break;
		for (uint64_t i = 0; i < (uint64_t)n / sizeof(uint64_t); i++, page++) {
			bool present = entries[i] & PAGEMAP_PRESENT;

			if (present && start == npages)
				start = page;
			if (!present && start < npages)
				goto out;
		}
	}
out:
	*ret_start = start * VP_PAGE_SIZE;
	*ret_end = page * VP_PAGE_SIZE;
	return NULL;
}

static struct ot_err *range_next(const struct vp_phys_range *range, uint64_t at, uint64_t *ret_start,
				 uint64_t *ret_end)
{
	switch (range->kind) {
	case VP_PHYS_FILE:
		return file_next(range, at, ret_start, ret_end);
	case VP_PHYS_PROCESS:
		if (range->pagemap_fd >= 0)
			return process_next(range, at, ret_start, ret_end);
		break;
	case VP_PHYS_READER:
		at = range->size;
		break;
	case VP_PHYS_MEMORY:
		break;
	}
	*ret_start = at;
	*ret_end = range->size;
	return NULL;
}

struct ot_err *vp_phys_next_data(const struct vp_phys *phys, struct vp_gpa gpa, struct vp_gpa *ret_start,
				 struct vp_gpa *ret_end)
{
	const struct vp_phys_range *range = vp_phys_range_at_or_after(phys, gpa.v);

	for (; range && range < phys->ranges + phys->nranges; range++) {
		uint64_t from = gpa.v > range->gpa ? gpa.v - range->gpa : 0;
		uint64_t start = 0, end = 0;

		OT_TRY(range_next(range, from, &start, &end));
		if (start >= range->size)
			continue;
		*ret_start = vp_gpa(range->gpa + start);
		*ret_end = vp_gpa(range->gpa + end);
		return NULL;
	}
	return ot_err_new(OT_ERR_NOT_FOUND, "no populated memory after 0x%llx", (unsigned long long)gpa.v);
}
