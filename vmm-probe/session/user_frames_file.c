/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of a file, made once: its rows, the missing ones, and its runtime. */
#include "vmm-probe/session/user_frames_file.h"

#include <stdio.h>
#include <string.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/elf/cfi.h"
#include "vmm-probe/session/user_files.h"
#include "vmm-probe/session/user_object.h"

#define TRIES_MAX 8u /* rounds without enough budget, after which a file has a part of its rules */

/* The rules that were read last, for a register. */
struct best {
	struct vp_cfi cfi;
	uint64_t saved; /* DWARF's number of it */
};

/* Keep the version with fewer gaps. */
static struct ot_err *read_better(void *arg, struct vp_elf *elf)
{
	struct best *b = arg;
	struct vp_cfi *best = &b->cfi, cfi;
	struct ot_err *err = vp_cfi_read_saved(elf, b->saved, &cfi);

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

/* Missing rules are reported once a frame is in the file: all processes of a guest have mapped many files.
 * One that was built without .eh_frame lacks nothing. */
static void note_missing(struct vp_frames_making *m, const char *name, const struct vp_elf *elf,
			 const struct vp_cfi *cfi, struct vp_frames_file *file)
{
	char text[512];

	if (cfi->functions ? !cfi->missing : !elf->image->missing[VP_PART_FRAMES])
		return;
	if (cfi->functions)
		snprintf(text, sizeof(text),
			 "%.200s: the frame layouts of %u of %u functions (.eh_frame) are not in the guest's "
			 "memory: ustack() may end there; --sysroot DIR, with the file below "
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
	struct vp_frames_file *file = NULL;

	if (map && map->file != VP_NO_FILE)
		file = ot_map_get(&known->files, &maps->files[map->file].id, sizeof(struct vp_file_id));
	if (!file || !file->note)
		return;
	if (us->say)
		us->say(us->say_arg, file->note);
	file->note = NULL;
	known->unsaid--;
}

static struct ot_err *add_rows(struct vp_frames_making *m, const struct vp_cfi *cfi,
			       struct vp_frames_rows *ret)
{
	uint64_t size = cfi->count * sizeof(*cfi->rows);

	if (m->known->bytes + m->rows.len + size > VP_FRAMES_SIZE_MAX) {
		m->known->over = true;
		return ot_err_new(OT_ERR_LIMIT,
				  "the programs' stack tables exceed %u MiB: ustack() follows frame pointers "
				  "in further ones",
				  VP_FRAMES_SIZE_MAX >> 20);
	}
	*ret = (struct vp_frames_rows){ .base = cfi->base,
					.sent = m->known->nsent,
					.first_row = (uint32_t)(m->rows.len / sizeof(*cfi->rows)),
					.nrows = (uint32_t)cfi->count };
	ot_buf_append(&m->rows, cfi->rows, size);
	return m->rows.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *read_rules(struct vp_elf *elf, const struct vp_user_wanted *wanted, struct best *best)
{
	OT_TRY(read_better(best, elf));
	if (!best->cfi.functions || best->cfi.missing)
		return vp_user_files_each(wanted, read_better, best);
	return NULL;
}

/* DWARF's number of a register. */
static uint64_t dwarf_of(uint32_t reg)
{
	static const enum vp_reg regs[] = { VP_REGS_DWARF };
	uint64_t i = 0;

	while (i < OT_ARRAY_SIZE(regs) && (uint32_t)regs[i] != reg)
		i++;
	return i;
}

/* Erlang's machine keeps in registers the values that its functions save elsewhere. */
static struct ot_err *read_saved(struct vp_frames_making *m, struct vp_elf *elf,
				 const struct vp_user_wanted *wanted, struct vp_frames_file *f)
{
	const struct vp_beam_file *beam = &f->runtime.beam;

	for (unsigned i = 0; beam->has_registers && !beam->compiles && i < VP_BEAM_REGISTERS; i++) {
		struct best best = { .saved = dwarf_of(beam->registers[i]) };
		struct ot_err *err = read_rules(elf, wanted, &best);

		f->done = !vp_budget_is_over() || f->tries == TRIES_MAX;
		if (!err && f->done)
			err = add_rows(m, &best.cfi, &f->saved[i]);
		vp_cfi_deinit(&best.cfi);
		if (err || !f->done)
			return err;
	}
	return NULL;
}

static struct ot_err *read_file(struct vp_frames_making *m, const struct vp_user_wanted *wanted,
				struct vp_user_object *o, struct vp_frames_file *f)
{
	struct vp_elf *elf = vp_user_object_elf(o);
	struct best best = { .saved = VP_DWARF_FP };
	struct ot_err *err = read_rules(elf, wanted, &best);

	if (!err)
		err = vp_runtime_file_read(elf, wanted, m->known->texts, &f->runtime);
	f->done = !vp_budget_is_over() || ++f->tries == TRIES_MAX;
	if (!err && f->done)
		err = read_saved(m, elf, wanted, f);
	if (!err && f->done)
		err = add_rows(m, &best.cfi, &f->rows);
	if (!err && f->done)
		note_missing(m, vp_user_object_name(o), elf, &best.cfi, f);
	vp_cfi_deinit(&best.cfi);
	vp_user_object_forget(o);
	return err;
}

struct ot_err *vp_frames_file(struct vp_frames_making *m, const struct vp_file *file,
			      const struct vp_user_wanted *wanted, struct vp_user_object *o,
			      struct vp_frames_file **ret)
{
	struct vp_frames_file *made = ot_map_get(&m->known->files, &file->id, sizeof(file->id));

	if (!made) {
		made = ot_arena_new(&m->known->arena, struct vp_frames_file);
		if (!made || !ot_map_put(&m->known->files, &file->id, sizeof(file->id), made))
			return ot_err_nomem();
	}
	if (!made->done)
		OT_TRY(read_file(m, wanted, o, made));
	*ret = made;
	return NULL;
}
