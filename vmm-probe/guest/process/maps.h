/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of a process's /proc/PID/maps, read from outside: mappings, and the files behind them. */
#ifndef VP_GUEST_PROCESS_MAPS_H
#define VP_GUEST_PROCESS_MAPS_H

#include "base/buf.h"
#include "vmm-probe/guest/process/files.h"
#include "vmm-probe/guest/process/vmas.h"

#define VP_NO_FILE       UINT32_MAX
#define VP_MAP_FILES_MAX 4096u /* of one process */

struct vp_map {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* of start in the file, bytes */
	uint64_t flags;      /* enum vp_vma_flags */
	uint32_t file;       /* its index in files; VP_NO_FILE: none, or one that could not be read */
};

struct vp_maps {
	struct vp_guest_process process;
	struct vp_map *items; /* owned; by address, disjoint */
	size_t count;
	struct vp_file *files; /* owned; each once. The kernel's own code is one of them (vdso.h) */
	size_t nfiles, files_cap;
	uint32_t program; /* the index in files of its program; VP_NO_FILE: unknown, or not mapped */
	uint64_t vdso;    /* where the kernel has mapped its own code; 0: nowhere */
	uint64_t mark;    /* for vp_maps_are_current() */
};

/** The maps of process @p pid. A file of which nothing but its mapping can be read is left out. NOT_FOUND:
 * there is no such process, or it has no memory. BUSY: each attempt met a change. LIMIT: the budget, or more
 * than VP_MAP_FILES_MAX files. */
OT_MUST_CHECK struct ot_err *vp_maps_read(struct vp_processes *ps, uint64_t pid, struct vp_maps *ret);
void vp_maps_deinit(struct vp_maps *maps);

/** Are they still the process's mappings? A few words are read, so that a change that leaves the number of
 * mappings and the beginning of their structure as they were is not seen. */
bool vp_maps_are_current(struct vp_processes *ps, const struct vp_maps *maps);

/** The mapping at @p addr; NULL: none. Borrowed. */
const struct vp_map *vp_maps_find(const struct vp_maps *maps, uint64_t addr);

/** Append them as /proc/PID/maps has them, without its names of mappings that have no file but "[vdso]". */
void vp_maps_print(const struct vp_maps *maps, struct ot_buf *out);

#endif
