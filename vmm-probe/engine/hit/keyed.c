/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding to a table that the guest reads meanwhile: the second word of a key, by which it is found, is
 * written after all others. */
#include "vmm-probe/engine/hit/keyed.h"

#include <string.h>

#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

static uint64_t *key_at(const struct vp_keyed *k, uint32_t i)
{
	return k->keys + ((uint64_t)i << (vp_tramp_key_log(k->nwords) - 3));
}

void vp_keyed_init(struct vp_keyed *k)
{
	memset(k->taken, 0, sizeof(k->taken));
	for (uint32_t i = 0; i < VP_TRAMP_WAYS << k->sets_log; i++) {
		memset(key_at(k, i), 0, 1ull << vp_tramp_key_log(k->nwords));
		key_at(k, i)[1] = VP_TRAMP_FREE;
	}
}

/* The table's words. False: it is free. */
static bool load(const struct vp_keyed *k, uint32_t i, uint64_t ret[VP_TRAMP_KEY_WORDS])
{
	const uint64_t *key = key_at(k, i);

	ret[1] = __atomic_load_n(&key[1], __ATOMIC_ACQUIRE);
	for (uint32_t w = 0; w < k->nwords; w++)
		if (w != 1)
			ret[w] = __atomic_load_n(&key[w], __ATOMIC_RELAXED);
	return ret[1] != VP_TRAMP_FREE;
}

bool vp_keyed_get(const struct vp_keyed *k, uint32_t i, uint64_t ret[VP_KEY_WORDS])
{
	uint64_t words[VP_TRAMP_KEY_WORDS];

	if (!load(k, i, words))
		return false;
	memset(ret, 0, VP_KEY_WORDS * sizeof(*ret));
	if (k->name != VP_KEYED_NONE)
		memcpy(&ret[k->name], words, VP_NAME_BYTES);
	for (uint32_t w = 0; w < k->nwords; w++)
		if (k->from[w] != VP_KEYED_NONE)
			ret[k->from[w]] = words[w];
	return true;
}

static bool is_same(const struct vp_keyed *k, const uint64_t *a, const uint64_t *b)
{
	uint64_t differ = 0;

	for (uint32_t w = 0; w < k->nwords; w++)
		differ |= a[w] ^ b[w];
	return !differ;
}

void vp_keyed_add(struct vp_keyed *k, const uint64_t words[VP_TRAMP_KEY_WORDS])
{
	uint32_t at = vp_tramp_set_of(words, k->nwords, k->sets_log) * VP_TRAMP_WAYS,
		 end = at + VP_TRAMP_WAYS;
	uint64_t there[VP_TRAMP_KEY_WORDS], *key;

	for (; at < end; at++) {
		if (load(k, at, there) && is_same(k, there, words))
			return;
		/* Two vCPUs may add one key to two places: the counts of both are added up. */
		if (__atomic_exchange_n(&k->taken[at], 1, __ATOMIC_RELAXED))
			continue;
		key = key_at(k, at);
		for (uint32_t w = 0; w < k->nwords; w++)
			if (w != 1)
				__atomic_store_n(&key[w], words[w], __ATOMIC_RELAXED);
		__atomic_store_n(&key[1], words[1], __ATOMIC_RELEASE);
		return;
	}
}

/* The name as the task has it: the trampoline compares all of its bytes. */
static bool read_name(struct vp_vcpu_session *v, uint64_t ret[VP_NAME_WORDS])
{
	const uint64_t task = vp_task(v);

	return task && vp_load_kernel(v, task + v->es->facts.task_comm, ret, VP_NAME_BYTES);
}

void vp_keyed_learn(struct vp_vcpu_session *v, struct vp_keyed *k)
{
	uint64_t words[VP_TRAMP_KEY_WORDS] = { 0 };

	for (uint32_t w = 0; w < k->nwords; w++)
		if (k->from[w] != VP_KEYED_NONE)
			words[w] = v->key[k->from[w]];
	if (v->event || (k->name != VP_KEYED_NONE && !read_name(v, words)) || words[1] == VP_TRAMP_FREE)
		return;
	vp_keyed_add(k, words);
}
