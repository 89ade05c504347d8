/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a process's objects and their functions. */
#include "vmm-probe/provider/pid_process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dif/obj/program.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/registry.h"

#define PAGE_SIZE 4096u

static struct ot_err *create(struct vp_guest *guest, struct vp_pid_processes **ret)
{
	struct vp_pid_processes *p = calloc(1, sizeof(*p));
	struct ot_err *err = p ? vp_processes_open(guest, &p->ps) : ot_err_nomem();

	if (err) {
		free(p);
		return err;
	}
	ot_map_init(&p->done);
	ot_map_init(&p->made);
	ot_map_init(&p->files);
	ot_map_init(&p->noted);
	ot_map_init(&p->stood_in);
	vp_exprs_init(&p->exprs);
	*ret = p;
	return NULL;
}

void vp_pid_process_destroy(struct vp_pid_process *process)
{
	for (size_t i = 0; i < process->nobjects; i++) {
		struct vp_pid_object *o = &process->objects[i];

		vp_elf_symbols_deinit(&o->symbols);
		vp_elf_deinit(&o->elf);
		vp_elf_pages_destroy(o->pages);
	}
	free(process->objects);
	vp_maps_deinit(&process->maps);
	free(process);
}

void vp_pid_processes_destroy(struct vp_pid_processes *processes)
{
	if (!processes)
		return;
	for (size_t i = 0; i < processes->count; i++)
		vp_pid_process_destroy(processes->list[i]);
	free(processes->list);
	ot_map_deinit(&processes->done);
	ot_map_deinit(&processes->made);
	ot_map_deinit(&processes->files);
	ot_map_deinit(&processes->noted);
	ot_map_deinit(&processes->stood_in);
	vp_exprs_deinit(&processes->exprs);
	vp_processes_close(processes->ps);
	free(processes);
}

/* --- a process ---------------------------------------------------------------------------------------- */

static bool has_object(const struct vp_pid_process *process, uint32_t file)
{
	for (size_t i = 0; i < process->nobjects; i++)
		if (process->objects[i].file == file)
			return true;
	return false;
}

static bool is_code(const struct vp_map *m)
{
	return m->file != VP_NO_FILE && m->flags & VP_VMA_EXEC;
}

static struct ot_err *add_objects(struct vp_pid_processes *processes, struct vp_pid_process *process)
{
	const struct vp_maps *maps = &process->maps;

	process->objects = calloc(maps->nfiles + 1, sizeof(*process->objects));
	if (!process->objects)
		return ot_err_nomem();
	for (size_t i = 0; i < maps->count; i++) {
		uint32_t file = maps->items[i].file;

		/* The kernel's own code has no page of a file's that a site could be known by. */
		if (!is_code(&maps->items[i]) || maps->files[file].vdso || has_object(process, file))
			continue;
		process->objects[process->nobjects++] = (struct vp_pid_object){
			.name = vp_path_name(maps->files[file].path),
			.is_program = file == maps->program,
			.file = file,
			.nth = processes->nobjects++,
		};
	}
	return NULL;
}

static struct ot_err *read_process(struct vp_pid_processes *processes, uint64_t pid,
				   struct vp_pid_process *process)
{
	const struct vp_guest_process *p = &process->maps.process;

	OT_TRY(vp_maps_read(processes->ps, pid, &process->maps));
	process->id = (struct vp_batch_process){ .mm = p->mm, .since_ns = p->since_ns, .pid = (uint32_t)pid };
	OT_TRY(vp_guest_process_root(processes->ps, p, &process->id.root));
	if (!vp_guest_process_is(processes->ps, p))
		return ot_err_new(OT_ERR_NOT_FOUND, "it has just ended");
	return add_objects(processes, process);
}

struct ot_err *vp_pid_process_add(struct vp_pid_processes *processes, uint64_t pid,
				  struct vp_pid_process **ret)
{
	struct vp_pid_process *process = calloc(1, sizeof(*process));

	if (!process ||
	    !ot_grow(&processes->list, &processes->cap, processes->count + 1, sizeof(*processes->list))) {
		free(process);
		return ot_err_nomem();
	}
	struct ot_err *err = read_process(processes, pid, process);
	if (err) {
		vp_pid_process_destroy(process);
		return err;
	}
	processes->list[processes->count++] = *ret = process;
	return NULL;
}

static struct ot_err *find(struct vp_pid_processes *processes, uint64_t pid, struct vp_pid_process **ret)
{
	for (size_t i = 0; i < processes->count; i++) {
		*ret = processes->list[i];
		if ((*ret)->id.pid == pid && !(*ret)->superseded && (*ret)->objects)
			return (*ret)->is_stale ? vp_pid_process_again(processes, *ret, ret) : NULL;
	}
	return vp_pid_process_add(processes, pid, ret);
}

struct ot_err *vp_pid_processes_open(struct vp_probes *probes, struct vp_pid_processes **ret)
{
	struct vp_pid_processes **processes = vp_probes_processes(probes);

	if (!*processes)
		OT_TRY(ot_err_prefix(create(vp_probes_guest(probes), processes),
				     "D_PROC_CREATEFAIL: no process can be probed"));
	*ret = *processes;
	return NULL;
}

struct ot_err *vp_pid_process_find(struct vp_probes *probes, uint64_t pid, struct vp_pid_processes **ret_all,
				   struct vp_pid_process **ret)
{
	OT_TRY(vp_pid_processes_open(probes, ret_all));
	OT_TRY(ot_err_prefix(find(*ret_all, pid, ret), "D_PROC_GRAB: failed to grab process %" PRIu64, pid));
	(*ret)->is_named = true;
	return NULL;
}

/* --- an object ---------------------------------------------------------------------------------------- */

bool vp_pid_object_is(const char *name, bool is_program, const char *pattern)
{
	size_t n = pattern ? strlen(pattern) : 0;

	if (!n || (is_program && dif_glob_match(pattern, "a.out")) || dif_glob_match(pattern, name))
		return true;
	return !strncmp(name, pattern, n) && name[n] == '.';
}

struct ot_err *vp_pid_forgive(struct ot_err *err)
{
	if (err && (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE ||
		    vp_budget_is_over()))
		return err;
	ot_err_destroy(err);
	return NULL;
}

/* The kernel maps whole pages: from the one in which the segment begins. */
static bool is_mapped_at(const Elf64_Phdr *p, const struct vp_map *m)
{
	return p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_offset / PAGE_SIZE * PAGE_SIZE == m->offset;
}

/* The bias by the first of its code's mappings. False: no segment of the file is there. */
static bool find_bias(const struct vp_pid_process *process, struct vp_pid_object *o)
{
	for (size_t i = 0; i < process->maps.count; i++) {
		const struct vp_map *m = &process->maps.items[i];

		if (!is_code(m) || m->file != o->file)
			continue;
		for (size_t k = 0; k < o->elf.nsegments; k++) {
			if (!is_mapped_at(&o->elf.segments[k], m))
				continue;
			o->bias = m->start - o->elf.segments[k].p_vaddr / PAGE_SIZE * PAGE_SIZE;
			return true;
		}
	}
	return false;
}

static struct ot_err *read_headers(struct vp_pid_process *process, struct vp_pid_object *o)
{
	OT_TRY(vp_elf_read(vp_elf_pages_image(o->pages), &o->elf));
	o->has_elf = find_bias(process, o);
	return NULL;
}

struct ot_err *vp_pid_object_open(struct vp_pid_processes *processes, struct vp_pid_process *process,
				  struct vp_pid_object *o)
{
	if (o->opened)
		return NULL;
	o->opened = true;
	OT_TRY(vp_file_pages(processes->ps, &process->maps.files[o->file], &o->reader, &o->pages));
	return vp_pid_forgive(read_headers(process, o));
}

static struct ot_err *read_symbols(struct vp_pid_object *o)
{
	OT_TRY(vp_elf_symbols_add(&o->elf, &o->elf.symtab, VP_PART_SYMTAB, VP_PART_STRTAB, &o->symbols));
	return vp_elf_symbols_add(&o->elf, &o->elf.dynsym, VP_PART_DYNAMIC, VP_PART_DYNAMIC, &o->symbols);
}

struct ot_err *vp_pid_object_read(struct vp_pid_processes *processes, struct vp_pid_process *process,
				  struct vp_pid_object *o)
{
	OT_TRY(vp_pid_object_open(processes, process, o));
	if (o->read)
		return NULL;
	o->read = true;
	if (o->has_elf)
		OT_TRY(vp_pid_forgive(read_symbols(o)));
	vp_elf_symbols_finish(&o->symbols);
	if (o->pages)
		vp_elf_image_missing(vp_elf_pages_image(o->pages), o->missing, sizeof(o->missing));
	return NULL;
}

uint64_t vp_pid_object_gva(const struct vp_pid_process *process, const struct vp_pid_object *o, uint64_t addr,
			   uint64_t *ret_left)
{
	uint64_t gva = addr + o->bias, offset;
	const struct vp_map *m = vp_maps_find(&process->maps, gva);

	if (!m || !is_code(m) || m->file != o->file || !vp_elf_offset(&o->elf, addr, 1, &offset) ||
	    m->offset + (gva - m->start) != offset)
		return 0;
	*ret_left = m->end - gva;
	return gva;
}

bool vp_pid_object_text(struct vp_pid_object *o, uint64_t addr, void *dst, size_t len)
{
	uint64_t offset;

	return vp_elf_offset(&o->elf, addr, len, &offset) &&
	       vp_elf_image_read(vp_elf_pages_image(o->pages), VP_PART_TEXT, offset, dst, len);
}
