/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest physical memory: the RAM of a guest as ranges of guest physical addresses, each backed by a
 * file (a memfd, a RAM file, a dump), by the memory of another process, or by plain memory.
 *
 * Reading never makes the guest's memory grow. Holes of a file read as zeros by pread(), which
 * allocates nothing (an mmap or process_vm_readv of a memfd's hole would allocate it); process
 * memory is for private anonymous memory, whose untouched pages are the kernel's zero page; shared
 * memory of a VMM must be given as a file. Scans go by vp_phys_next_data(), which skips holes,
 * pages never touched and pages swapped out.
 *
 * Once all ranges are added, reads may run in several threads at once.
 */
#ifndef VP_GUEST_PHYS_H
#define VP_GUEST_PHYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"

struct vp_phys;

#define VP_PHYS_RANGES_MAX 512

OT_MUST_CHECK struct ot_err *vp_phys_create(struct vp_phys **ret);
void vp_phys_destroy(struct vp_phys *phys);

/** Add @p size bytes at @p gpa (both multiples of the page size), found at @p offset of the file.
 * The descriptor is duplicated. BAD_DATA when the file ends before, when ranges overlap or wrap;
 * LIMIT above VP_PHYS_RANGES_MAX ranges. */
OT_MUST_CHECK struct ot_err *vp_phys_add_file(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size, int fd,
					      uint64_t offset);

/** Add a range that is private memory of process @p pid at its address @p hva (a multiple of the page
 * size). PERMISSION when the process may not be read. */
OT_MUST_CHECK struct ot_err *vp_phys_add_process(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
						 pid_t pid, uint64_t hva);

/** Add a range that is memory of this process; borrowed, it must outlive @p phys. */
OT_MUST_CHECK struct ot_err *vp_phys_add_memory(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
						const void *mem);

/* Reads guest physical memory: all of @p len bytes, or an error. */
typedef struct ot_err *(*vp_phys_reader)(void *arg, uint64_t gpa, void *dst, size_t len);

/** Add a range that @p reader reads, wherever it finds it; called by whichever thread reads. What is
 * populated of it is not known: scans leave it out. */
OT_MUST_CHECK struct ot_err *vp_phys_add_reader(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
						vp_phys_reader reader, void *arg);

/** Read @p len bytes. FAULT when any of them is not RAM, OS or GUEST_GONE when the read itself fails. */
OT_MUST_CHECK struct ot_err *vp_phys_read(const struct vp_phys *phys, struct vp_gpa gpa, void *dst,
					  size_t len);

/** The first populated stretch at or behind @p gpa: [*ret_start, *ret_end), never across two ranges.
 * NOT_FOUND when there is none. What lies between may be populated later: this is a snapshot. */
OT_MUST_CHECK struct ot_err *vp_phys_next_data(const struct vp_phys *phys, struct vp_gpa gpa,
					       struct vp_gpa *ret_start, struct vp_gpa *ret_end);

/** All RAM, in bytes. */
uint64_t vp_phys_size(const struct vp_phys *phys);

#endif
