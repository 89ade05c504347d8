/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by phys.c and phys_data.c. */
#ifndef VP_GUEST_PHYS_INTERNAL_H
#define VP_GUEST_PHYS_INTERNAL_H

#include <stdbool.h>

#include "vmm-probe/guest/phys.h"

enum vp_phys_kind {
	VP_PHYS_FILE,
	VP_PHYS_PROCESS,
	VP_PHYS_MEMORY,
	VP_PHYS_READER,
};

struct vp_phys_range {
	uint64_t gpa;
	uint64_t size;
	enum vp_phys_kind kind;
	int fd;          /* file; or /proc/PID/mem */
	int pagemap_fd;  /* process; -1: can't be read */
	uint64_t offset; /* in the file; or the host address in the process */
	const uint8_t *mem;
	vp_phys_reader reader;
	void *reader_arg;
};

struct vp_phys {
	struct vp_phys_range ranges[VP_PHYS_RANGES_MAX]; /* by address, not overlapping */
	size_t nranges;
	uint64_t size;
};

/* The range that contains @p gpa, else the next one; NULL: none. */
const struct vp_phys_range *vp_phys_range_at_or_after(const struct vp_phys *phys, uint64_t gpa);

#endif
