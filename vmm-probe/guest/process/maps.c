/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Combines a process's mappings and files, and finds one. */
#include "vmm-probe/guest/process/maps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/internal.h"
#include "vmm-probe/guest/process/vdso.h"

#define NAME_COLUMN 73 /* of the path in /proc/PID/maps, fs/proc/task_mmu.c */

void vp_maps_deinit(struct vp_maps *maps)
{
	for (size_t i = 0; i < maps->nfiles; i++)
		vp_file_deinit(&maps->files[i]);
	free(maps->files);
	free(maps->items);
	memset(maps, 0, sizeof(*maps));
}

/* Takes @file over, unless it is already there. */
static struct ot_err *keep_file(struct vp_file *file, struct vp_maps *maps, uint32_t *ret)
{
	for (*ret = 0; *ret < maps->nfiles; ++*ret) {
		if (!vp_file_is_same(&maps->files[*ret].id, &file->id))
			continue;
		vp_file_deinit(file);
		return NULL;
	}
	if (maps->nfiles < VP_MAP_FILES_MAX &&
	    ot_grow(&maps->files, &maps->files_cap, maps->nfiles + 1, sizeof(*file))) {
		maps->files[maps->nfiles++] = *file;
		return NULL;
	}
	vp_file_deinit(file);
	return maps->nfiles < VP_MAP_FILES_MAX
		   ? ot_err_nomem()
		   : ot_err_new(OT_ERR_LIMIT, "more than %u files", VP_MAP_FILES_MAX);
}

/* If it can't be read, the mapping has no file. */
static struct ot_err *add_file(struct vp_processes *ps, struct vp_near *near, uint64_t at,
			       struct vp_maps *maps, uint32_t *ret)
{
	struct vp_file file;
	struct ot_err *err = vp_file_read(ps, near, at, &file);

	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY && !vp_budget_is_over()) {
		ot_err_destroy(err);
		*ret = VP_NO_FILE;
		return NULL;
	}
	OT_TRY(err);
	return keep_file(&file, maps, ret);
}

/* A file is mapped several times in a row: by its segments. */
static struct ot_err *add_maps(struct vp_processes *ps, const struct vp_vmas *vmas, struct vp_maps *maps)
{
	struct vp_near near = { .page = 0 };
	uint64_t last = 0;
	uint32_t file = VP_NO_FILE;

	maps->items = calloc(vmas->count ? vmas->count : 1, sizeof(*maps->items));
	if (!maps->items)
		return ot_err_nomem();
	for (size_t i = 0; i < vmas->count; i++) {
		const struct vp_vma *vma = &vmas->items[i];

		if (vma->file && vma->file != last)
			OT_TRY(add_file(ps, &near, vma->file, maps, &file));
		last = vma->file ? vma->file : last;
		maps->items[maps->count++] = (struct vp_map){
			vma->start, vma->end, vma->offset, vma->flags, vma->file ? file : VP_NO_FILE,
		};
	}
	return NULL;
}

/* The kernel's own code is mapped from its beginning on, at the address in the process's memory. A process
 * may have unmapped it, and something else may be there. */
static struct ot_err *add_vdso(struct vp_processes *ps, struct vp_maps *maps)
{
	struct vp_map *at = NULL;
	struct vp_file file;
	bool found;

	for (size_t i = 0; maps->vdso && i < maps->count; i++)
		if (maps->items[i].start == maps->vdso && maps->items[i].file == VP_NO_FILE &&
		    maps->items[i].flags & VP_VMA_EXEC)
			at = &maps->items[i];
	if (!at)
		return NULL;
	OT_TRY(vp_vdso_find(ps, &maps->process, &file, &found));
	return found ? keep_file(&file, maps, &at->file) : NULL;
}

/* By its path, and whether it still has that path. */
static bool is_path_same(const struct vp_file *a, const struct vp_file *b)
{
	return !strcmp(a->path, b->path) && a->deleted == b->deleted;
}

/* The file that was given to exec(): not always the first one that is mapped. On overlayfs exec() keeps the
 * overlay's file, and mmap() maps the layer's (ovl_mmap(), fs/overlayfs/file.c): they have the user's path in
 * common. */
static uint32_t program_of(const struct vp_maps *maps, const struct vp_file *program)
{
	for (uint32_t i = 0; i < maps->nfiles; i++)
		if (vp_file_is_same(&maps->files[i].id, &program->id))
			return i;
	for (uint32_t i = 0; i < maps->nfiles; i++)
		if (is_path_same(&maps->files[i], program))
			return i;
	return VP_NO_FILE;
}

static void find_program(struct vp_processes *ps, struct vp_maps *maps)
{
	struct vp_file file;
	uint64_t at = 0;
	struct ot_err *err;

	maps->program = VP_NO_FILE;
	if (ps->l.mm_exe_file == VP_NO_MEMBER)
		return;
	err = vp_kernel_u64(ps, maps->process.mm + ps->l.mm_exe_file, &at);
	if (!err && at)
		err = vp_file_read(ps, NULL, at, &file);
	if (err || !at) {
		ot_err_destroy(err);
		return;
	}
	maps->program = program_of(maps, &file);
	vp_file_deinit(&file);
}

static struct ot_err *read_all(struct vp_processes *ps, uint64_t pid, struct vp_maps *maps)
{
	ot_auto(vp_vmas_deinit) struct vp_vmas vmas = { 0 };

	OT_TRY(vp_guest_process_find(ps, pid, &maps->process));
	/* Before they are read: a change meanwhile is detected the next time. */
	vp_vmas_mark(ps, &maps->process, &maps->mark);
	OT_TRY(vp_vmas_read(ps, &maps->process, &vmas));
	OT_TRY(vp_budget_take(vmas.count * sizeof(*maps->items)));
	OT_TRY(add_maps(ps, &vmas, maps));
	maps->vdso = vmas.vdso;
	OT_TRY(add_vdso(ps, maps));
	find_program(ps, maps);
	/* Files are read last: if the process is still the same, they were its own. */
	if (!vp_guest_process_is(ps, &maps->process))
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest's process %" PRIu64 " ended", pid);
	return NULL;
}

bool vp_maps_are_current(struct vp_processes *ps, const struct vp_maps *maps)
{
	uint64_t mark = 0;

	return vp_guest_process_is(ps, &maps->process) && vp_vmas_mark(ps, &maps->process, &mark) &&
	       mark == maps->mark;
}

struct ot_err *vp_maps_read(struct vp_processes *ps, uint64_t pid, struct vp_maps *ret)
{
	struct vp_maps maps = { 0 };
	struct ot_err *err = read_all(ps, pid, &maps);

	if (err) {
		vp_maps_deinit(&maps);
		return err;
	}
	*ret = maps;
	return NULL;
}

const struct vp_map *vp_maps_find(const struct vp_maps *maps, uint64_t addr)
{
	size_t at = OT_COUNT_BEFORE(maps->count, i, maps->items[i].end <= addr);

	return at < maps->count && maps->items[at].start <= addr ? &maps->items[at] : NULL;
}

static void print_map(const struct vp_maps *maps, const struct vp_map *m, struct ot_buf *out)
{
	const struct vp_file *f = m->file < maps->nfiles ? &maps->files[m->file] : NULL;
	size_t begin = out->len;

	ot_buf_printf(out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %02x:%02x %" PRIu64 " ",
		      m->start, m->end, m->flags & VP_VMA_READ ? 'r' : '-',
		      m->flags & VP_VMA_WRITE ? 'w' : '-', m->flags & VP_VMA_EXEC ? 'x' : '-',
		      m->flags & VP_VMA_SHARED ? 's' : 'p', m->offset, f ? f->id.dev >> 20 : 0,
		      f ? f->id.dev & 0xfffff : 0, f ? f->id.inode : 0);
	if (f || (maps->vdso && m->start == maps->vdso)) {
		while (out->len - begin < NAME_COLUMN && !out->failed)
			ot_buf_putc(out, ' ');
		ot_buf_puts(out, f ? f->path : "[vdso]");
		if (f && f->deleted)
			ot_buf_puts(out, " (deleted)");
	}
	ot_buf_putc(out, '\n');
}

void vp_maps_print(const struct vp_maps *maps, struct ot_buf *out)
{
	for (size_t i = 0; i < maps->count; i++)
		print_map(maps, &maps->items[i], out);
}
