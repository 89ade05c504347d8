/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the rules for processes' stacks: files' rows, and which of them a process has where; and what
 * runtime it has. */
#include "vmm-probe/session/user_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/elf/cfi.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/session/user_files.h"
#include "vmm-probe/session/user_object.h"
#include "vmm-probe/session/user_python.h"

#define PAGE      4096u
/* Rounds whose budget may not suffice for one process, or one file: it has a part of its rules then, or none.
 */
#define TRIES_MAX 8u
#define YOUNG_NS  (10 * OT_NS_PER_SEC)
/* How often one process's mappings are sent. */
#define SENDS_MAX 64u

/* A file's rows; none if it can't be read, or has no .eh_frame. */
struct known_file {
	uint64_t base; /* as linked, for their offsets */
	uint32_t sent, first_row, nrows;
	uint32_t tries;
	bool done;  /* no more is read of it */
	char *note; /* what it lacks, until it is said. NULL: nothing, or it was */
	struct vp_python_file python;
	bool reported; /* that its programs are not shown */
};

struct known_process {
	uint64_t number; /* of the mappings that were sent; 0: none yet */
	uint64_t mark;   /* of what they mapped as code */
	uint64_t pid;
	uint64_t mm; /* of the program that it runs */
	uint64_t
	    young_ns; /* until then it is read again once a second: a loader maps one file after another */
	uint32_t tries, sends;
	bool wanted;
};

void vp_frames_deinit(struct vp_frames_known *known)
{
	if (!known->made)
		return;
	ot_map_deinit(&known->files);
	ot_map_deinit(&known->processes);
	ot_arena_deinit(&known->arena);
	free(known->wanted);
	*known = (struct vp_frames_known){ 0 };
}

void vp_frames_making_deinit(struct vp_frames_making *m)
{
	ot_buf_deinit(&m->processes);
	ot_buf_deinit(&m->runtimes);
	ot_buf_deinit(&m->maps);
	ot_buf_deinit(&m->rows);
}

static struct known_process *process_of(struct vp_frames_known *known, uint64_t pid)
{
	struct known_process *p = known->made ? ot_map_get(&known->processes, &pid, sizeof(pid)) : NULL;

	if (p)
		return p;
	if (!known->made) {
		known->made = true;
		ot_map_init(&known->files);
		ot_map_init(&known->processes);
		ot_arena_init(&known->arena);
	}
	p = ot_arena_alloc(&known->arena, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct known_process){ .pid = pid, .young_ns = ot_now_ns() + YOUNG_NS };
	return ot_map_put(&known->processes, &pid, sizeof(pid), p) ? p : NULL;
}

void vp_frames_want(struct vp_frames_known *known, struct vp_user_symbols *us, uint64_t pid)
{
	uint64_t number;

	if (!known->asked || known->over || !vp_user_symbols_maps(us, pid, &number))
		return;
	struct known_process *p = process_of(known, pid);

	if (!p || p->wanted || p->number == number || p->sends == SENDS_MAX ||
	    !ot_grow(&known->wanted, &known->cap, known->nwanted + 1, sizeof(*known->wanted)))
		return;
	p->wanted = true;
	p->tries = 0;
	known->wanted[known->nwanted++] = pid;
}

void vp_frames_poll(struct vp_frames_known *known, struct vp_user_symbols *us)
{
	uint64_t now = ot_now_ns();

	if (!known->made || now < known->next_ns)
		return;
	known->next_ns = now + OT_NS_PER_SEC;
	for (size_t i = 0; i < known->processes.count; i++) {
		const struct known_process *p = known->processes.entries[i]->value;

		if (now < p->young_ns)
			vp_frames_want(known, us, p->pid);
	}
}

/* --- a file ------------------------------------------------------------------------------------------ */

/* Keep what has fewer gaps. */
static struct ot_err *read_better(void *arg, struct vp_elf *elf)
{
	struct vp_cfi *best = arg, cfi;
	struct ot_err *err = vp_cfi_read(elf, &cfi);

	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY) {
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(err);
	if (!best->functions || (cfi.count && cfi.missing < best->missing)) {
		vp_cfi_deinit(best);
		*best = cfi;
	} else {
		vp_cfi_deinit(&cfi);
	}
	return NULL;
}

/* What it lacks is said once a frame is in it: all processes of a guest have mapped many files. One that was
 * built without .eh_frame lacks nothing. */
static void note_missing(struct vp_frames_making *m, const char *name, const struct vp_elf *elf,
			 const struct vp_cfi *cfi, struct known_file *file)
{
	char text[512];

	if (cfi->functions ? !cfi->missing : !elf->image->missing[VP_PART_FRAMES])
		return;
	if (cfi->functions)
		snprintf(text, sizeof(text),
			 "%.200s: how %u of %u functions keep their stack frames is not in the guest's "
			 "memory (.eh_frame): ustack() may end there; --sysroot DIR, with the file below "
			 "DIR, helps",
			 name, cfi->missing, cfi->functions);
	else
		snprintf(text, sizeof(text),
			 "%.200s: its .eh_frame is not in the guest's memory: ustack() follows frame "
			 "pointers there; --sysroot DIR, with the file below DIR, helps",
			 name);
	file->note = ot_arena_alloc(&m->known->arena, strlen(text) + 1);
	if (!file->note)
		return;
	memcpy(file->note, text, strlen(text) + 1);
	m->known->unsaid++;
}

void vp_frames_met(struct vp_frames_known *known, struct vp_user_symbols *us, uint64_t pid, uint64_t addr)
{
	uint64_t number;
	const struct vp_maps *maps = known->unsaid ? vp_user_symbols_maps(us, pid, &number) : NULL;
	const struct vp_map *map = maps ? vp_maps_find(maps, addr) : NULL;
	struct known_file *file = NULL;

	if (map && map->file != VP_NO_FILE)
		file = ot_map_get(&known->files, &maps->files[map->file].id, sizeof(struct vp_file_id));
	if (!file || !file->note)
		return;
	if (us->say)
		us->say(us->say_arg, file->note);
	file->note = NULL;
	known->unsaid--;
}

static struct ot_err *add_rows(struct vp_frames_making *m, const struct vp_cfi *cfi, struct known_file *file)
{
	uint64_t size = cfi->count * sizeof(*cfi->rows);

	if (m->known->bytes + m->rows.len + size > VP_FRAMES_SIZE_MAX) {
		m->known->over = true;
		return ot_err_new(OT_ERR_LIMIT,
				  "the programs' stack tables exceed %u MiB: ustack() follows frame pointers "
				  "in further ones",
				  VP_FRAMES_SIZE_MAX >> 20);
	}
	file->base = cfi->base;
	file->sent = m->known->nsent;
	file->first_row = (uint32_t)(m->rows.len / sizeof(*cfi->rows));
	file->nrows = (uint32_t)cfi->count;
	ot_buf_append(&m->rows, cfi->rows, size);
	return m->rows.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *read_file(struct vp_frames_making *m, const struct vp_file *file,
				struct vp_user_object *o, struct vp_elf *elf, struct known_file *ret)
{
	const struct vp_user_wanted wanted = { m->us->sysroot, file->path, elf->build_id, elf->build_id_len };
	struct vp_cfi cfi = { 0 };
	struct ot_err *err = read_better(&cfi, elf);

	if (!err && (!cfi.functions || cfi.missing))
		err = vp_user_files_each(&wanted, read_better, &cfi);
	if (!err && m->known->texts)
		err = vp_python_file_read(elf, &wanted, &ret->python);
	ret->done = !vp_budget_is_over() || ++ret->tries == TRIES_MAX;
	if (!err && ret->done)
		err = add_rows(m, &cfi, ret);
	if (!err && ret->done)
		note_missing(m, vp_user_object_name(o), elf, &cfi, ret);
	vp_cfi_deinit(&cfi);
	vp_user_object_forget(o);
	return err;
}

static struct ot_err *file_of(struct vp_frames_making *m, const struct vp_file *file,
			      struct vp_user_object *o, struct vp_elf *elf, struct known_file **ret)
{
	struct vp_frames_known *known = m->known;
	struct known_file *made = ot_map_get(&known->files, &file->id, sizeof(file->id));

	if (!made) {
		made = ot_arena_alloc(&known->arena, sizeof(*made));
		if (!made)
			return ot_err_nomem();
		*made = (struct known_file){ 0 };
		if (!ot_map_put(&known->files, &file->id, sizeof(file->id), made))
			return ot_err_nomem();
	}
	if (!made->done)
		OT_TRY(read_file(m, file, o, elf, made));
	*ret = made;
	return NULL;
}

/* --- a process --------------------------------------------------------------------------------------- */

/* What is added to an address as linked, where those bytes of the file are mapped. False: no code is there.
 */
static bool find_bias(const struct vp_elf *elf, const struct vp_map *map, uint64_t *ret)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];
		uint64_t offset = p->p_offset / PAGE * PAGE;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || map->offset < offset ||
		    map->offset - offset >= p->p_filesz + (p->p_offset - offset))
			continue;
		*ret = map->start - (map->offset - offset) - p->p_vaddr / PAGE * PAGE;
		return true;
	}
	return false;
}

static bool is_code(const struct vp_map *map)
{
	return map->file != VP_NO_FILE && map->flags & VP_VMA_EXEC;
}

/* The first of its files that is a runtime counts. */
static struct ot_err *add_runtime(struct vp_frames_making *m, const struct vp_maps *maps, const char *name,
				  struct known_file *file, uint64_t bias, uint32_t *runtime)
{
	struct vp_runtime found;
	const char *why;
	char text[512];

	if (!file->python.runtime || *runtime != VP_NO_RUNTIME)
		return NULL;
	if (vp_python_find(m->us->ps, &maps->process, &file->python, bias, &found, &why)) {
		*runtime = (uint32_t)(m->runtimes.len / sizeof(found));
		ot_buf_append(&m->runtimes, &found, sizeof(found));
	} else if (m->us->say && !file->reported) {
		file->reported = true;
		snprintf(text, sizeof(text), "%.200s: %s", name, why);
		m->us->say(m->us->say_arg, text);
	}
	return m->runtimes.failed ? ot_err_nomem() : NULL;
}

/* *ret_later: the round's budget does not suffice. */
static struct ot_err *add_map(struct vp_frames_making *m, const struct vp_maps *maps,
			      const struct vp_map *map, uint32_t *runtime, bool *ret_later)
{
	struct vp_user_object *o = vp_user_symbols_object(m->us, maps->process.pid, map->file, ret_later);
	struct vp_elf *elf = o ? vp_user_object_elf(o) : NULL;
	struct known_file *file;
	uint64_t bias;

	if (!elf || !find_bias(elf, map, &bias))
		return NULL;
	OT_TRY(file_of(m, &maps->files[map->file], o, elf, &file));
	OT_TRY(add_runtime(m, maps, vp_user_object_name(o), file, bias, runtime));
	const struct vp_frames_map made = { map->start, map->end,        bias + file->base,
					    file->sent, file->first_row, file->nrows,
					    0 };

	if (file->nrows)
		ot_buf_append(&m->maps, &made, sizeof(made));
	*ret_later = vp_budget_is_over();
	return m->maps.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *add_maps(struct vp_frames_making *m, const struct vp_maps *maps, bool *ret_later)
{
	size_t before = m->maps.len;
	struct vp_frames_process made = { .id = { .mm = maps->process.mm,
						  .since_ns = maps->process.since_ns,
						  .pid = (uint32_t)maps->process.pid },
					  .first_map = (uint32_t)(before / sizeof(struct vp_frames_map)),
					  .runtime = VP_NO_RUNTIME };

	*ret_later = false;
	for (size_t i = 0; i < maps->count && !*ret_later; i++)
		if (is_code(&maps->items[i]))
			OT_TRY(add_map(m, maps, &maps->items[i], &made.runtime, ret_later));
	struct ot_err *err = vp_guest_process_root(m->us->ps, &maps->process, &made.id.root);
	made.nmaps = (uint32_t)((m->maps.len - before) / sizeof(struct vp_frames_map));
	if (!err && (made.nmaps || made.runtime != VP_NO_RUNTIME))
		ot_buf_append(&m->processes, &made, sizeof(made));
	if (err && ot_err_code(err) != OT_ERR_GUEST_GONE) {
		ot_err_destroy(err); /* it has just ended */
		err = NULL;
	}
	return m->processes.failed ? ot_err_nomem() : err;
}

/* What a process has mapped as code: FNV-1a over addresses and files. */
static uint64_t mark_of(const struct vp_maps *maps)
{
	uint64_t mark = 0xcbf29ce484222325u;

	for (size_t i = 0; i < maps->count; i++) {
		const struct vp_map *map = &maps->items[i];
		const uint64_t words[] = { map->start, map->end, map->offset,
					   is_code(map) ? maps->files[map->file].id.mapping : 0 };

		for (size_t k = 0; is_code(map) && k < OT_ARRAY_SIZE(words); k++)
			mark = (mark ^ words[k]) * 0x100000001b3u;
	}
	return mark ^ maps->process.mm ^ maps->process.since_ns;
}

/* *ret_later: it remains wanted. */
static struct ot_err *add_process(struct vp_frames_making *m, uint64_t pid, bool *ret_later)
{
	struct known_process *p = process_of(m->known, pid);
	uint64_t number, mark;
	const struct vp_maps *maps = vp_user_symbols_maps(m->us, pid, &number);

	*ret_later = false;
	if (p)
		p->wanted = maps;
	if (!p || !maps)
		return NULL;
	if (p->mm != maps->process.mm)
		p->young_ns = ot_now_ns() + YOUNG_NS;
	p->mm = maps->process.mm;
	mark = mark_of(maps);
	if (!p->number || p->mark != mark) {
		OT_TRY(add_maps(m, maps, ret_later));
		p->sends++;
	}
	*ret_later &= ++p->tries < TRIES_MAX && p->sends < SENDS_MAX;
	if (*ret_later)
		return NULL;
	p->wanted = false;
	p->number = number;
	p->mark = mark;
	return NULL;
}

struct ot_err *vp_frames_make(struct vp_frames_making *m)
{
	struct vp_frames_known *known = m->known;
	size_t done = 0;
	bool later = false;
	struct ot_err *err = NULL;

	while (!err && !later && done < known->nwanted &&
	       m->processes.len / sizeof(struct vp_frames_process) < VP_FRAMES_PROCESSES_MAX) {
		err = add_process(m, known->wanted[done], &later);
		done += !later;
	}
	known->nwanted -= done;
	if (known->nwanted)
		memmove(known->wanted, known->wanted + done, known->nwanted * sizeof(*known->wanted));
	return err;
}
