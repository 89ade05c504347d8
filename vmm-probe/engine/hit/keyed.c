/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding to a table that the guest reads meanwhile: the first word of a key is written before the second, by
 * which it is found. */
#include "vmm-probe/engine/hit/keyed.h"

#include <string.h>

#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

void vp_keyed_init(struct vp_keyed *k, void *keys, bool names)
{
	*k = (struct vp_keyed){ .keys = keys, .names = names };
	for (uint32_t i = 0; i < VP_TRAMP_ENTRIES; i++) {
		k->keys[i][0] = 0;
		k->keys[i][1] = VP_TRAMP_FREE;
	}
}

bool vp_keyed_get(const struct vp_keyed *k, uint32_t i, uint64_t ret[2])
{
	ret[1] = __atomic_load_n(&k->keys[i][1], __ATOMIC_ACQUIRE);
	ret[0] = __atomic_load_n(&k->keys[i][0], __ATOMIC_RELAXED);
	return ret[1] != VP_TRAMP_FREE;
}

void vp_keyed_add(struct vp_keyed *k, uint64_t first, uint64_t second)
{
	uint32_t at = vp_tramp_set_of(first, second) * VP_TRAMP_WAYS, end = at + VP_TRAMP_WAYS;
	uint64_t key[2];

	for (; at < end; at++) {
		if (vp_keyed_get(k, at, key) && key[0] == first && key[1] == second)
			return;
		/* Two vCPUs may add one key to two places: the counts of both are added up. */
		if (__atomic_exchange_n(&k->taken[at], 1, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&k->keys[at][0], first, __ATOMIC_RELAXED);
		__atomic_store_n(&k->keys[at][1], second, __ATOMIC_RELEASE);
		return;
	}
}

/* The name as the task has it: the trampoline compares all of its bytes. */
static bool read_name(struct vp_vcpu_session *v, uint64_t ret[2])
{
	const uint64_t task = vp_task(v);

	return task && vp_load_kernel(v, task + v->es->facts.task_comm, ret, VP_TRAMP_KEY);
}

void vp_keyed_learn(struct vp_vcpu_session *v, struct vp_keyed *k, uint64_t number)
{
	uint64_t key[2] = { number, 0 };

	if (v->event || (k->names && !read_name(v, key)) || key[1] == VP_TRAMP_FREE)
		return;
	vp_keyed_add(k, key[0], key[1]);
}
