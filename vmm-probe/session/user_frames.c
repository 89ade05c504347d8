/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the rules for processes' stacks. */
#include "vmm-probe/session/user_frames.h"

#include <stdio.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf/cfi.h"
#include "vmm-probe/session/user_files.h"

#define PAGE 4096u

/* A file's rows in the message. */
struct vp_frames_file {
	uint64_t base; /* as linked, for their offsets */
	uint32_t first_row, nrows;
};

void vp_frames_init(struct vp_frames_making *m, struct vp_pid_processes *all, const char *sysroot,
		    void (*say)(void *arg, const char *text), void *say_arg)
{
	*m = (struct vp_frames_making){ .all = all, .sysroot = sysroot, .say = say, .say_arg = say_arg };
	ot_map_init(&m->files);
	ot_arena_init(&m->arena);
}

void vp_frames_deinit(struct vp_frames_making *m)
{
	ot_buf_deinit(&m->processes);
	ot_buf_deinit(&m->maps);
	ot_buf_deinit(&m->rows);
	ot_map_deinit(&m->files);
	ot_arena_deinit(&m->arena);
}

/* --- a file ------------------------------------------------------------------------------------------ */

/* Keep what has fewer gaps. */
static struct ot_err *read_better(void *arg, struct vp_elf *elf)
{
	struct vp_cfi *best = arg, cfi;
	struct ot_err *err = vp_cfi_read(elf, &cfi);

	if (err)
		return vp_pid_forgive(err);
	if (!best->functions || (cfi.count && cfi.missing < best->missing)) {
		vp_cfi_deinit(best);
		*best = cfi;
	} else {
		vp_cfi_deinit(&cfi);
	}
	return NULL;
}

/* Once of a file, which may have been built without .eh_frame. */
static struct ot_err *tell(const struct vp_frames_making *m, const struct vp_file *file,
			   const struct vp_pid_object *o, const struct vp_cfi *cfi)
{
	char text[512];

	if (!m->say || (cfi->functions ? !cfi->missing : !o->elf.image->missing[VP_PART_FRAMES]) ||
	    ot_map_get(&m->all->told, &file->id, sizeof(file->id)))
		return NULL;
	if (cfi->functions)
		snprintf(text, sizeof(text),
			 "%.200s: how %u of %u functions keep their stack frames is not in the guest's "
			 "memory (.eh_frame): ustack() may end there; --sysroot DIR, with the file below "
			 "DIR, helps",
			 o->name, cfi->missing, cfi->functions);
	else
		snprintf(text, sizeof(text),
			 "%.200s: its .eh_frame is not in the guest's memory: ustack() follows frame "
			 "pointers there; --sysroot DIR, with the file below DIR, helps",
			 o->name);
	m->say(m->say_arg, text);
	return ot_map_put(&m->all->told, &file->id, sizeof(file->id), m->all) ? NULL : ot_err_nomem();
}

static struct ot_err *add_rows(struct vp_frames_making *m, const struct vp_cfi *cfi,
			       struct vp_frames_file *file)
{
	uint64_t size = cfi->count * sizeof(*cfi->rows);

	if (m->rows.len + size > VP_FRAMES_SIZE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the programs' stack tables exceed %u MiB",
				  VP_FRAMES_SIZE_MAX >> 20);
	OT_TRY(vp_budget_take(size));
	*file = (struct vp_frames_file){ cfi->base, (uint32_t)(m->rows.len / sizeof(*cfi->rows)),
					 (uint32_t)cfi->count };
	ot_buf_append(&m->rows, cfi->rows, size);
	return m->rows.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *read_file(struct vp_frames_making *m, const struct vp_file *file,
				struct vp_pid_object *o, struct vp_frames_file *ret)
{
	const struct vp_user_wanted wanted = { m->sysroot, file->path, o->elf.build_id, o->elf.build_id_len };
	struct vp_cfi cfi = { 0 };
	struct ot_err *err = read_better(&cfi, &o->elf);

	if (!err && (!cfi.functions || cfi.missing))
		err = vp_user_files_each(&wanted, read_better, &cfi);
	if (!err)
		err = add_rows(m, &cfi, ret);
	if (!err)
		err = tell(m, file, o, &cfi);
	vp_cfi_deinit(&cfi);
	return err;
}

static struct ot_err *file_of(struct vp_frames_making *m, struct vp_pid_process *process,
			      struct vp_pid_object *o, const struct vp_frames_file **ret)
{
	const struct vp_file *file = &process->maps.files[o->file];
	struct vp_frames_file *made = ot_map_get(&m->files, &file->id, sizeof(file->id));

	if (!made) {
		made = ot_arena_alloc(&m->arena, sizeof(*made));
		if (!made)
			return ot_err_nomem();
		*made = (struct vp_frames_file){ 0 };
		OT_TRY(read_file(m, file, o, made));
		if (!ot_map_put(&m->files, &file->id, sizeof(file->id), made))
			return ot_err_nomem();
	}
	*ret = made;
	return NULL;
}

/* --- a process --------------------------------------------------------------------------------------- */

static struct vp_pid_object *object_of(struct vp_pid_process *process, uint32_t file)
{
	for (size_t i = 0; i < process->nobjects; i++)
		if (process->objects[i].file == file)
			return &process->objects[i];
	return NULL;
}

/* Is the mapping where the object's bias says that those bytes of the file are? */
static bool is_at_bias(const struct vp_pid_object *o, const struct vp_map *map)
{
	for (size_t i = 0; i < o->elf.nsegments; i++) {
		const Elf64_Phdr *p = &o->elf.segments[i];
		uint64_t offset = p->p_offset / PAGE * PAGE, addr = p->p_vaddr / PAGE * PAGE;

		if (p->p_type == PT_LOAD && map->offset >= offset &&
		    map->offset - offset < p->p_filesz + (p->p_offset - offset) &&
		    map->start - o->bias - addr == map->offset - offset)
			return true;
	}
	return false;
}

static struct ot_err *add_map(struct vp_frames_making *m, struct vp_pid_process *process,
			      const struct vp_map *map)
{
	struct vp_pid_object *o = map->flags & VP_VMA_EXEC ? object_of(process, map->file) : NULL;
	const struct vp_frames_file *file;

	if (!o)
		return NULL;
	OT_TRY(vp_pid_forgive(vp_pid_object_open(m->all, process, o)));
	if (!o->has_elf || !is_at_bias(o, map))
		return NULL;
	OT_TRY(file_of(m, process, o, &file));
	const struct vp_frames_map made = { map->start, map->end, o->bias + file->base, file->first_row,
					    file->nrows };

	if (file->nrows)
		ot_buf_append(&m->maps, &made, sizeof(made));
	return m->maps.failed ? ot_err_nomem() : NULL;
}

struct ot_err *vp_frames_add(struct vp_frames_making *m, struct vp_pid_process *process)
{
	size_t before = m->maps.len;
	struct vp_frames_process made = { process->id, (uint32_t)(before / sizeof(struct vp_frames_map)), 0 };

	if (m->processes.len / sizeof(made) == VP_FRAMES_PROCESSES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "stack tables of more than %u processes",
				  VP_FRAMES_PROCESSES_MAX);
	for (size_t i = 0; i < process->maps.count; i++) {
		struct ot_err *err = add_map(m, process, &process->maps.items[i]);

		if (err) {
			m->maps.len = before;
			return err;
		}
	}
	made.nmaps = (uint32_t)((m->maps.len - before) / sizeof(struct vp_frames_map));
	if (made.nmaps)
		ot_buf_append(&m->processes, &made, sizeof(made));
	return m->processes.failed ? ot_err_nomem() : NULL;
}

struct ot_err *vp_frames_assemble(const struct vp_frames_making *m, struct ot_buf *out)
{
	const struct vp_frames_header header = {
		.magic = VP_FRAMES_MAGIC,
		.nprocesses = (uint32_t)(m->processes.len / sizeof(struct vp_frames_process)),
		.nmaps = (uint32_t)(m->maps.len / sizeof(struct vp_frames_map)),
		.nrows = (uint32_t)(m->rows.len / sizeof(struct vp_frame_row)),
	};
	const struct ot_buf *parts[] = { &m->processes, &m->maps, &m->rows };

	if (!header.nprocesses)
		return NULL;
	ot_buf_append(out, &header, sizeof(header));
	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++)
		ot_buf_append(out, ot_buf_str(parts[i]), parts[i]->len);
	return out->failed ? ot_err_nomem() : NULL;
}
