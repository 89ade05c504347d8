/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's processes, and the text of an address. */
#include "vmm-probe/session/user_symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/session/user_object.h"

#define GENERATIONS   4u     /* of one process's mappings that are kept */
#define PROCESSES_MAX 65536u /* of a session */
#define OBJECTS_MAX   4096u
#define SIZE_MAX_ALL  (512u << 20) /* bytes of mappings and names */

/* A process's mappings at one time, and the names of the addresses that were seen in it. */
struct generation {
	struct vp_maps maps;
	struct vp_user_object **objects; /* by the maps' files; NULL: not needed yet. Borrowed */
	uint64_t number;                 /* of all that were read */
};

struct process {
	struct generation *items[GENERATIONS]; /* the newest first; NULL behind the last */
	uint64_t round;                        /* in which it was last read */
	bool read;                             /* … and its mappings were read in that round */
};

/* --- life -------------------------------------------------------------------------------------------- */

void vp_user_symbols_init(struct vp_user_symbols *us, struct vp_guest *guest, const char *sysroot,
			  void (*say)(void *arg, const char *text), void *say_arg)
{
	*us = (struct vp_user_symbols){
		.guest = guest, .sysroot = sysroot, .round = 1, .say = say, .say_arg = say_arg
	};
	ot_map_init(&us->processes);
	ot_map_init(&us->objects);
}

static void generation_destroy(struct generation *g)
{
	if (!g)
		return;
	vp_maps_deinit(&g->maps);
	free(g->objects);
	free(g);
}

static void process_destroy(struct process *p)
{
	for (unsigned i = 0; i < GENERATIONS; i++)
		generation_destroy(p->items[i]);
	free(p);
}

void vp_user_symbols_deinit(struct vp_user_symbols *us)
{
	for (size_t i = 0; i < us->processes.count; i++)
		process_destroy(us->processes.entries[i]->value);
	for (size_t i = 0; i < us->objects.count; i++)
		vp_user_object_destroy(us->objects.entries[i]->value);
	ot_map_deinit(&us->processes);
	ot_map_deinit(&us->objects);
	vp_user_notes_deinit(&us->notes);
	vp_processes_close(us->ps);
	memset(us, 0, sizeof(*us));
}

static void say(const struct vp_user_symbols *us, const char *text)
{
	if (us->say)
		us->say(us->say_arg, text);
}

/* --- the budget -------------------------------------------------------------------------------------- */

void vp_user_symbols_round(struct vp_user_symbols *us)
{
	us->round++;
	us->has_budget = false;
}

bool vp_user_symbols_read_begin(struct vp_user_symbols *us)
{
	if (us->has_budget) {
		vp_budget_resume(&us->budget);
	} else {
		vp_guest_budget_begin(us->guest, &us->budget, &vp_readings[VP_READ_PROGRAMS]);
		us->has_budget = true;
	}
	if (!vp_budget_is_over())
		return true;
	vp_budget_pause(&us->budget);
	return false;
}

/* A guest's program can make every round use up its budget: that is reported once. */
void vp_user_symbols_read_end(struct vp_user_symbols *us)
{
	struct ot_err *err = us->said_over ? NULL : vp_budget_check();

	vp_budget_pause(&us->budget);
	if (!err)
		return;
	us->said_over = true;
	say(us, ot_err_message(err));
	ot_err_destroy(err);
}

/* --- reading ----------------------------------------------------------------------------------------- */

bool vp_user_symbols_can_read(struct vp_user_symbols *us)
{
	struct ot_err *err;

	if (us->ps || us->noted || !us->guest)
		return us->ps != NULL;
	err = vp_processes_open(us->guest, &us->ps);
	if (!err)
		return true;
	us->noted = true;
	say(us, ot_err_message(err));
	ot_err_destroy(err);
	return false;
}

static bool has_room(struct vp_user_symbols *us)
{
	if (us->size < SIZE_MAX_ALL && us->processes.count < PROCESSES_MAX && us->objects.count < OBJECTS_MAX)
		return true;
	if (!us->noted)
		say(us, "the guest has more programs than are kept: further user addresses have no names");
	us->noted = true;
	return false;
}

static struct generation *read_generation(struct vp_user_symbols *us, uint64_t pid)
{
	struct generation *g = calloc(1, sizeof(*g));
	struct ot_err *err = g ? vp_maps_read(us->ps, pid, &g->maps) : ot_err_nomem();

	if (!err && !(g->objects = calloc(g->maps.nfiles + 1, sizeof(*g->objects))))
		err = ot_err_nomem();
	if (!err) {
		g->number = ++us->generations;
		us->size += g->maps.count * sizeof(*g->maps.items) + g->maps.nfiles * sizeof(*g->maps.files);
		return g;
	}
	ot_err_destroy(err);
	generation_destroy(g);
	return NULL;
}

/* Read the mappings as they are now; the previous ones become the older generation. */
static void renew(struct vp_user_symbols *us, struct process *p, uint64_t pid)
{
	struct generation *g;

	p->read = true;
	if (!has_room(us) || !vp_user_symbols_read_begin(us))
		return;
	g = read_generation(us, pid);
	vp_user_symbols_read_end(us);
	if (!g)
		return;
	generation_destroy(p->items[GENERATIONS - 1]);
	memmove(p->items + 1, p->items, (GENERATIONS - 1) * sizeof(*p->items));
	p->items[0] = g;
}

static bool is_current(struct vp_user_symbols *us, const struct process *p)
{
	bool current;

	if (!p->items[0])
		return false;
	if (!vp_user_symbols_read_begin(us))
		return true;
	current = vp_maps_are_current(us->ps, &p->items[0]->maps);
	vp_user_symbols_read_end(us);
	return current;
}

static struct process *process_of(struct vp_user_symbols *us, uint64_t pid)
{
	struct process *p = ot_map_get(&us->processes, &pid, sizeof(pid));

	if (p || !has_room(us))
		return p;
	p = calloc(1, sizeof(*p));
	if (p && !ot_map_put(&us->processes, &pid, sizeof(pid), p)) {
		free(p);
		return NULL;
	}
	return p;
}

/* The object of file number @p file of the generation, read at its first use. */
static struct vp_user_object *object_of(struct vp_user_symbols *us, struct generation *g, uint32_t file)
{
	const struct vp_file *f = &g->maps.files[file];
	struct vp_user_object *o = g->objects[file];

	if (!o)
		o = g->objects[file] = ot_map_get(&us->objects, &f->id, sizeof(f->id));
	if (o || !has_room(us) || !vp_user_symbols_read_begin(us))
		return o;
	struct ot_err *err = vp_user_object_read(us->ps, f, us->sysroot, &o);

	vp_user_symbols_read_end(us);
	if (!err && !ot_map_put(&us->objects, &f->id, sizeof(f->id), o)) {
		vp_user_object_destroy(o);
		err = ot_err_nomem();
	}
	if (err) {
		ot_err_destroy(err);
		return NULL;
	}
	us->size += vp_user_object_size(o);
	g->objects[file] = o;
	return o;
}

/* The newest mapping of a file at that address. */
static const struct vp_map *find_map(const struct process *p, uint64_t addr, struct generation **ret)
{
	for (unsigned i = 0; i < GENERATIONS && p->items[i]; i++) {
		const struct vp_map *m = vp_maps_find(&p->items[i]->maps, addr);

		*ret = p->items[i];
		if (m && (m->file != VP_NO_FILE || m->start == p->items[i]->maps.vdso))
			return m;
	}
	return NULL;
}

/* The process, read once in each round. NULL: none can be read, or be kept. */
static struct process *current_process(struct vp_user_symbols *us, uint64_t pid)
{
	struct process *p = pid && vp_user_symbols_can_read(us) ? process_of(us, pid) : NULL;

	if (p && p->round != us->round) {
		p->round = us->round;
		p->read = false;
		if (!is_current(us, p))
			renew(us, p, pid);
	}
	return p;
}

void vp_user_symbols_see(struct vp_user_symbols *us, uint64_t pid, uint64_t addr)
{
	struct process *p = current_process(us, pid);
	const struct vp_map *m;
	struct generation *g;

	if (!p)
		return;
	m = find_map(p, addr, &g);
	if (!m && !p->read) {
		renew(us, p, pid);
		m = find_map(p, addr, &g);
	}
	if (m && m->file != VP_NO_FILE)
		object_of(us, g, m->file);
}

const struct vp_maps *vp_user_symbols_maps(struct vp_user_symbols *us, uint64_t pid, uint64_t *ret_number)
{
	const struct process *p = current_process(us, pid);

	if (!p || !p->items[0])
		return NULL;
	*ret_number = p->items[0]->number;
	return &p->items[0]->maps;
}

struct vp_user_object *vp_user_symbols_object(struct vp_user_symbols *us, uint64_t pid, uint32_t file,
					      bool *ret_later)
{
	const struct process *p = ot_map_get(&us->processes, &pid, sizeof(pid));
	struct vp_user_object *o = object_of(us, p->items[0], file);

	*ret_later = !o && !vp_user_symbols_read_begin(us);
	if (!o && !*ret_later)
		vp_user_symbols_read_end(us);
	return o;
}

/* --- text -------------------------------------------------------------------------------------------- */

/* Looking for a function without a symbol may read. */
static bool find_name(struct vp_user_symbols *us, struct vp_user_object *o, uint64_t offset,
		      const char **ret_name, uint64_t *ret_behind)
{
	char note[512];
	bool found;

	if (!vp_user_symbols_read_begin(us))
		return false;
	found = vp_user_object_find(o, offset, ret_name, ret_behind);
	vp_user_symbols_read_end(us);
	if (vp_user_object_note(o, note, sizeof(note)))
		say(us, note);
	return found;
}

void vp_user_symbols_text(struct vp_user_symbols *us, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
			  char *buf, size_t size)
{
	const struct process *p = us->ps ? ot_map_get(&us->processes, &pid, sizeof(pid)) : NULL;
	struct generation *g = NULL;
	const struct vp_map *m = p ? find_map(p, addr, &g) : NULL;
	struct vp_user_object *o = m && m->file != VP_NO_FILE ? object_of(us, g, m->file) : NULL;
	const char *object = o ? vp_user_object_name(o) : m && m->file == VP_NO_FILE ? "[vdso]" : NULL, *name;
	uint64_t behind;

	if (!object)
		snprintf(buf, size, "0x%" PRIx64, addr);
	else if (form == VP_SYM_MODULE)
		snprintf(buf, size, "%s", object);
	else if (!o || !find_name(us, o, addr - m->start + m->offset, &name, &behind))
		snprintf(buf, size, "%s`0x%" PRIx64, object, addr);
	else if (form == VP_SYM_NAME || !behind)
		snprintf(buf, size, "%s`%s", object, name);
	else
		snprintf(buf, size, "%s`%s+0x%" PRIx64, object, name, behind);
}
