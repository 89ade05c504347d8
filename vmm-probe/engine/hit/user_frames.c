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

static const struct vp_frames_sent *sent_of(const struct vp_user_frames *f, uint32_t number)
{
	return number < __atomic_load_n(&f->nsent, __ATOMIC_ACQUIRE) ? f->sent[number] : NULL;
}

static const struct vp_runtime *runtime_of(const struct vp_frames_sent *in, uint32_t process)
{
	uint32_t i = __atomic_load_n(&in->processes[process].runtime, __ATOMIC_RELAXED);

	return i < in->nruntimes ? &in->runtimes[i] : NULL;
}

/* Does the vCPU run the process of that slot? */
static bool take_slot(struct vp_vcpu_session *v, uint64_t slot, struct vp_process_frames *ret)
{
	const struct vp_frames_sent *in =
	    sent_of(v->es->frames, slot >> VP_FRAMES_PROCESS_BITS & (VP_FRAMES_SENT_MAX - 1));
	uint32_t number = slot & (VP_FRAMES_PROCESSES_MAX - 1);

	if (!in || number >= in->nprocesses)
		return false;
	const struct vp_batch_process id = in->processes[number].id;

	ret->in = in;
	ret->runtime = runtime_of(in, number);
	return vp_in_process(v, &id) &&
	       read_range(&in->processes[number].first_map, &in->processes[number].nmaps, in->nmaps,
			  &ret->first_map, &ret->nmaps);
}

/* The page table's address is in a register, and excludes nearly all processes. */
bool vp_frames_of_process(struct vp_vcpu_session *v, struct vp_process_frames *ret)
{
	const struct vp_user_frames *f = __atomic_load_n(&v->es->frames, __ATOMIC_ACQUIRE);

	if (!f)
		return false;
	const uint64_t root = vp_reg(v, VP_REG_ROOT) & v->es->facts.user_pgd_mask;
	const uint32_t home = vp_frames_home(root);

	for (uint32_t i = 0; i < VP_FRAMES_TRIES; i++) {
		uint64_t slot = __atomic_load_n(&f->slots[(home + i) % VP_FRAMES_SLOTS], __ATOMIC_ACQUIRE);

		if (!slot)
			return false;
		if (slot >> VP_FRAMES_ROOT_SHIFT == root >> 12 && take_slot(v, slot, ret))
			return true;
	}
	return false;
}

bool vp_frames_row_of(const struct vp_vcpu_session *v, const struct vp_frames_map *m, uint64_t pc,
		      struct vp_frame_row *ret)
{
	const uint64_t offset = pc - m->base;
	const struct vp_frames_sent *in = sent_of(v->es->frames, __atomic_load_n(&m->sent, __ATOMIC_RELAXED));
	uint32_t first, nrows;

	if (pc < m->start || pc >= m->end || !in ||
	    !read_range(&m->first_row, &m->nrows, in->nrows, &first, &nrows))
		return false;
	const struct vp_frame_row *rows = in->rows + first;
	size_t n = OT_COUNT_BEFORE(nrows, i, rows[i].offset <= offset);

	*ret = n ? rows[n - 1] : vp_frame_row(0, VP_FRAME_NONE, 0, 0);
	return true;
}

bool vp_frames_row(const struct vp_vcpu_session *v, const struct vp_process_frames *frames, uint64_t pc,
		   struct vp_frame_row *ret)
{
	const struct vp_frames_map *maps = frames->in->maps + frames->first_map;
	size_t n = OT_COUNT_BEFORE(frames->nmaps, i, maps[i].start <= pc);

	return n && vp_frames_row_of(v, &maps[n - 1], pc, ret);
}
