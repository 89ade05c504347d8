/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes with a runtime whose frames have notes, and the texts that these notes refer to. */
#include "vmm-probe/session/user_notes.h"

#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/engine/wire/notes.h"
#include "vmm-probe/session/user_memory.h"
#include "vmm-probe/session/user_symbols.h"

#define TEXT_MAX  8192u       /* bytes of one */
#define TEXTS_MAX (64u << 20) /* … and of all */
#define KEY_MAX   (16u + VP_NOTE_MAX)

struct program {
	struct vp_guest_process process;
	struct vp_hotspot_layout hotspot;
};

void vp_user_notes_deinit(struct vp_user_notes *n)
{
	if (!n->made)
		return;
	ot_map_deinit(&n->programs);
	ot_map_deinit(&n->texts);
	ot_arena_deinit(&n->arena);
	*n = (struct vp_user_notes){ 0 };
}

static void make(struct vp_user_notes *n)
{
	if (n->made)
		return;
	n->made = true;
	ot_map_init(&n->programs);
	ot_map_init(&n->texts);
	ot_arena_init(&n->arena);
}

struct ot_err *vp_user_notes_hotspot(struct vp_user_notes *n, const struct vp_guest_process *process,
				     const struct vp_hotspot_layout *layout)
{
	struct program *p;

	make(n);
	p = ot_map_get(&n->programs, &process->pid, sizeof(process->pid));
	if (!p) {
		p = ot_arena_new(&n->arena, struct program);
		if (!p || !ot_map_put(&n->programs, &process->pid, sizeof(process->pid), p))
			return ot_err_nomem();
	}
	*p = (struct program){ *process, *layout };
	return NULL;
}

/* --- texts --------------------------------------------------------------------------------------------- */

/* An interpreted method is the same one at every place in the interpreter. 0: the note is invalid. */
static size_t make_key(uint64_t pid, uint64_t pc, const char *note, char key[KEY_MAX])
{
	size_t len = strnlen(note, VP_NOTE_MAX);

	if (!vp_is_note(note) || len == VP_NOTE_MAX)
		return 0;
	if (*note == VP_NOTE_HOTSPOT_METHOD)
		pc = 0;
	memcpy(key, &pid, sizeof(pid));
	memcpy(key + sizeof(pid), &pc, sizeof(pc));
	memcpy(key + 16, note, len);
	return 16 + len;
}

const char *vp_user_notes_text(const struct vp_user_notes *n, uint64_t pid, uint64_t pc, const char *note)
{
	char key[KEY_MAX];
	size_t len = n->made ? make_key(pid, pc, note, key) : 0;

	return len ? ot_map_get(&n->texts, key, len) : NULL;
}

static void keep(struct vp_user_symbols *us, const char *key, size_t len, const struct ot_buf *text)
{
	struct vp_user_notes *n = &us->notes;
	char *kept;

	if (text->failed || text->len > TEXT_MAX)
		return;
	if (n->size + text->len + len > TEXTS_MAX) {
		if (!n->full && us->say)
			us->say(us->say_arg, "the guest's programs have more functions than are kept: "
					     "further frames of jstack() "
					     "have no names");
		n->full = true;
		return;
	}
	kept = ot_arena_strndup(&n->arena, ot_buf_str(text), text->len);
	if (kept && ot_map_put(&n->texts, key, len, kept))
		n->size += text->len + len;
}

/* exec() makes another program of a process. */
static bool is_same(const struct vp_guest_process *a, const struct vp_guest_process *b)
{
	return a->mm == b->mm && a->since_ns == b->since_ns;
}

void vp_user_notes_see(struct vp_user_symbols *us, uint64_t pid, uint64_t pc, const char *note)
{
	struct vp_user_memory memory = { .us = us };
	const struct vp_user_reader reader = { vp_user_memory_read, &memory };
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	char key[KEY_MAX];
	size_t len = us->notes.made ? make_key(pid, pc, note, key) : 0;
	const struct program *p = len && !us->notes.full && !ot_map_get(&us->notes.texts, key, len)
				      ? ot_map_get(&us->notes.programs, &pid, sizeof(pid))
				      : NULL;
	uint64_t number;

	memory.maps = p ? vp_user_symbols_maps(us, pid, &number) : NULL;
	if (!memory.maps || !is_same(&memory.maps->process, &p->process))
		return;
	if (vp_hotspot_text(&reader, &p->hotspot, pc, note, &text))
		keep(us, key, len, &text);
	vp_user_memory_end(&memory);
}
