/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest physical memory: the RAM of a guest as ranges of guest physical addresses, each backed by a file (a
 * memfd, a RAM file, a dump), by the memory of another process, or by plain memory.
 *
 * Reading never populates guest memory. Holes of a file are read as zeros by pread(), which allocates nothing
 * (mmap or process_vm_readv of a memfd's hole would allocate pages). Process memory must be private and
 * anonymous, so that its untouched pages are the kernel's zero page; shared memory of a VMM must be added as
 * a file. Scans use vp_phys_next_data(), which skips holes, untouched pages and swapped pages.
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

/** Close its descriptors: from now on every read is a FAULT. The guest has ended, and a reader must not keep
 * its memory allocated. */
void vp_phys_leave(struct vp_phys *phys);

/** Add @p size bytes at @p gpa (both multiples of the page size), backed by the file from @p offset on. The
 * descriptor is duplicated. BAD_DATA: the file is too short, or ranges overlap or wrap. LIMIT: more than
 * VP_PHYS_RANGES_MAX ranges. */
OT_MUST_CHECK struct ot_err *vp_phys_add_file(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size, int fd,
					      uint64_t offset);

/** Add a range that is private memory of process @p pid at its address @p hva (a multiple of the page size).
 * PERMISSION: the process may not be read. */
OT_MUST_CHECK struct ot_err *vp_phys_add_process(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
						 pid_t pid, uint64_t hva);

/** Add a range that is memory of this process; borrowed, it must outlive @p phys. */
OT_MUST_CHECK struct ot_err *vp_phys_add_memory(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
						const void *mem);

/* Reads guest physical memory: all of @p len bytes, or an error. */
typedef struct ot_err *(*vp_phys_reader)(void *arg, uint64_t gpa, void *dst, size_t len);

/** Add a range that is read by calling @p reader, on the thread that reads. It is unknown which of its pages
 * are populated, so scans skip it. */
OT_MUST_CHECK struct ot_err *vp_phys_add_reader(struct vp_phys *phys, struct vp_gpa gpa, uint64_t size,
						vp_phys_reader reader, void *arg);

/** Read @p len bytes. FAULT: one of them is not RAM. OS or GUEST_GONE: the read itself failed. */
OT_MUST_CHECK struct ot_err *vp_phys_read(const struct vp_phys *phys, struct vp_gpa gpa, void *dst,
					  size_t len);

/** The first populated stretch at or after @p gpa: [*ret_start, *ret_end), never across two ranges.
 * NOT_FOUND: there is none. This is a snapshot: memory before it may be populated later. */
OT_MUST_CHECK struct ot_err *vp_phys_next_data(const struct vp_phys *phys, struct vp_gpa gpa,
					       struct vp_gpa *ret_start, struct vp_gpa *ret_end);

/** The descriptors that reading needs: *ret_n of them, in memory that the caller frees. */
OT_MUST_CHECK struct ot_err *vp_phys_fds(const struct vp_phys *phys, int **ret, unsigned *ret_n);

/** In a child that has those descriptors and nothing else: have @p reader read all other memory.
 */
void vp_phys_set_reader(struct vp_phys *phys, vp_phys_reader reader, void *arg);

/** All RAM, in bytes. */
uint64_t vp_phys_size(const struct vp_phys *phys);

#endif
