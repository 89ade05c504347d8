/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the rules for processes' stacks: the files' rows of a process with their addresses, and its
 * runtime. */
#include "vmm-probe/session/user_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/session/user_files.h"
#include "vmm-probe/session/user_frames_file.h"
#include "vmm-probe/session/user_object.h"

#define PAGE      4096u
#define TRIES_MAX 8u /* rounds without enough budget, after which a process gets a part of its rules */
#define YOUNG_NS  (10 * OT_NS_PER_SEC)
/* How often one process's mappings are sent. */
#define SENDS_MAX 64u

struct known_process {
	uint64_t number; /* of the mappings that were sent; 0: none yet */
	uint64_t mark;   /* of their mappings as code */
	uint64_t pid;
	uint64_t mm;       /* of the program that it runs */
	uint64_t young_ns; /* until then it is read once a second: its loader maps more files */
	uint32_t tries, sends;
	bool wanted;
	bool early; /* its runtime was just starting */
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
	p = ot_arena_new(&known->arena, struct known_process);
	if (p)
		*p = (struct known_process){ .pid = pid, .young_ns = ot_now_ns() + YOUNG_NS };
	return p && ot_map_put(&known->processes, &pid, sizeof(pid), p) ? p : NULL;
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

/* --- a process --------------------------------------------------------------------------------------- */

/* The bias of the mapping of those bytes of the file. False: no code is there. */
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

/* The result for a process. */
struct made {
	struct vp_frames_process process;
	bool early; /* its runtime is just starting */
	bool later; /* the round's budget does not suffice */
};

/* The first of its files that is a runtime is used. */
static struct ot_err *add_runtime(struct vp_frames_making *m, const struct vp_maps *maps,
				  const struct vp_user_wanted *wanted, struct vp_user_object *o,
				  struct vp_frames_file *file, const struct vp_map *map, uint64_t bias,
				  struct made *made)
{
	enum vp_runtime_found found;
	struct vp_runtime runtime;

	if (made->process.runtime != VP_NO_RUNTIME)
		return NULL;
	OT_TRY(vp_runtime_find(m->us, maps, o, wanted, &file->runtime, bias, &runtime, &found));
	made->early |= found == VP_RUNTIME_EARLY;
	made->later = found == VP_RUNTIME_LATER;
	if (found != VP_RUNTIME_FOUND)
		return NULL;
	for (unsigned i = 0; runtime.kind == VP_RUNTIME_BEAM && i < VP_BEAM_REGISTERS; i++)
		runtime.beam.saved[i] = vp_frames_map(map->start, map->end, bias, &file->saved[i]);
	made->process.runtime = (uint32_t)(m->runtimes.len / sizeof(runtime));
	ot_buf_append(&m->runtimes, &runtime, sizeof(runtime));
	return m->runtimes.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *add_map(struct vp_frames_making *m, const struct vp_maps *maps,
			      const struct vp_map *map, struct made *made)
{
	struct vp_user_object *o = vp_user_symbols_object(m->us, maps->process.pid, map->file, &made->later);
	struct vp_elf *elf = o ? vp_user_object_elf(o) : NULL;
	struct vp_frames_file *file;
	uint64_t bias;

	if (!elf || !find_bias(elf, map, &bias))
		return NULL;
	const struct vp_user_wanted wanted = { m->us->sysroot, maps->files[map->file].path, elf->build_id,
					       elf->build_id_len };
	OT_TRY(vp_frames_file(m, &maps->files[map->file], &wanted, o, &file));
	OT_TRY(add_runtime(m, maps, &wanted, o, file, map, bias, made));
	const struct vp_frames_map part = vp_frames_map(map->start, map->end, bias, &file->rows);

	if (part.nrows)
		ot_buf_append(&m->maps, &part, sizeof(part));
	made->later |= vp_budget_is_over();
	return m->maps.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *add_maps(struct vp_frames_making *m, const struct vp_maps *maps, struct made *made)
{
	struct vp_frames_process *p = &made->process;

	*made =
	    (struct made){ .process = { .id = { .mm = maps->process.mm,
						.since_ns = maps->process.since_ns,
						.pid = (uint32_t)maps->process.pid },
					.first_map = (uint32_t)(m->maps.len / sizeof(struct vp_frames_map)),
					.runtime = VP_NO_RUNTIME } };
	for (size_t i = 0; i < maps->count && !made->later; i++)
		if (is_code(&maps->items[i]))
			OT_TRY(add_map(m, maps, &maps->items[i], made));
	struct ot_err *err = vp_guest_process_root(m->us->ps, &maps->process, &p->id.root);
	p->nmaps = (uint32_t)(m->maps.len / sizeof(struct vp_frames_map)) - p->first_map;
	if (!err && (p->nmaps || p->runtime != VP_NO_RUNTIME))
		ot_buf_append(&m->processes, p, sizeof(*p));
	if (err && ot_err_code(err) != OT_ERR_GUEST_GONE) {
		ot_err_destroy(err); /* it has just ended */
		err = NULL;
	}
	return m->processes.failed ? ot_err_nomem() : err;
}

/* The mappings of code of a process: FNV-1a over addresses and files. */
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
	struct made made;

	*ret_later = false;
	if (p)
		p->wanted = maps;
	if (!p || !maps)
		return NULL;
	if (p->mm != maps->process.mm)
		p->young_ns = ot_now_ns() + YOUNG_NS;
	p->mm = maps->process.mm;
	mark = mark_of(maps);
	if (!p->number || p->mark != mark || p->early) {
		OT_TRY(add_maps(m, maps, &made));
		p->early = made.early;
		*ret_later = made.later;
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
