/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the rule for an address of a process. Hit path. The tables are in memory that their sender may
 * still write to: each index is read once, and then checked.
 */
#include "vmm-probe/engine/hit/user_frames.h"
#include "base/search.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

/* [*first, *first + *n) of an array of @all. */
static bool read_range(const uint32_t *first, const uint32_t *n, uint32_t all, uint32_t *ret_first,
		       uint32_t *ret_n)
{
	*ret_first = __atomic_load_n(first, __ATOMIC_RELAXED);
	*ret_n = __atomic_load_n(n, __ATOMIC_RELAXED);
	return *ret_first <= all && *ret_n <= all - *ret_first;
}

/* The root is compared first: it is a register, and nearly all processes have another one. */
static bool is_running(struct vp_vcpu_session *v, uint64_t root, const struct vp_batch_process *process)
{
	struct vp_batch_process id;

	if (__atomic_load_n(&process->root, __ATOMIC_RELAXED) != root)
		return false;
	id = *process;
	return vp_in_process(v, &id);
}

bool vp_frames_of_process(struct vp_vcpu_session *v, struct vp_process_frames *ret)
{
	const struct vp_user_frames *f = __atomic_load_n(&v->es->frames, __ATOMIC_ACQUIRE);
	uint64_t root = f ? vp_reg(v, VP_REG_ROOT) & v->es->facts.user_pgd_mask : 0;

	for (; f; f = f->next)
		for (uint32_t i = 0; i < f->nprocesses; i++) {
			const struct vp_frames_process *p = &f->processes[i];

			if (!is_running(v, root, &p->id))
				continue;
			ret->in = f;
			return read_range(&p->first_map, &p->nmaps, f->nmaps, &ret->first_map, &ret->nmaps);
		}
	return false;
}

bool vp_frames_row(const struct vp_process_frames *frames, uint64_t pc, struct vp_frame_row *ret)
{
	const struct vp_user_frames *in = frames->in;
	const struct vp_frames_map *maps = in->maps + frames->first_map, *m;
	size_t n = OT_COUNT_BEFORE(frames->nmaps, i, maps[i].start <= pc);
	uint32_t first, nrows;
	uint64_t offset;

	if (!n)
		return false;
	m = &maps[n - 1];
	offset = pc - m->base;
	if (pc >= m->end || !read_range(&m->first_row, &m->nrows, in->nrows, &first, &nrows))
		return false;
	const struct vp_frame_row *rows = in->rows + first;

	n = OT_COUNT_BEFORE(nrows, i, rows[i].offset <= offset);
	*ret = n ? rows[n - 1] : vp_frame_row(0, VP_FRAME_NONE, 0, 0);
	return true;
}
