/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index of probes by function name. */
#include "vmm-probe/provider/registry_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint32_t *find_slot(const struct vp_probe_index *index, const char *name)
{
	uint32_t mask = index->nslots - 1;
	uint32_t i = ot_hash(name, strlen(name)) & mask;

	while (index->heads[i] && strcmp(index->name(index->env, index->heads[i]), name) != 0)
		i = (i + 1) & mask;
	return &index->heads[i];
}

struct ot_err *vp_probe_index_init(struct vp_probe_index *index, uint32_t count,
				   const char *(*name)(void *env, uint32_t id), void *env)
{
	struct vp_probe_index made = { .count = count, .nslots = 16, .name = name, .env = env };
	const char *last_name = NULL;
	uint32_t *last_slot = NULL;

	while (made.nslots < count * 2)
		made.nslots *= 2;
	made.heads = calloc(made.nslots, sizeof(*made.heads));
	made.next = calloc((size_t)count + 1, sizeof(*made.next));
	if (!made.heads || !made.next) {
		vp_probe_index_deinit(&made);
		return ot_err_nomem();
	}
	/* Downwards, so that each new head is the lowest id and chains ascend. */
	for (uint32_t id = count; id; id--) {
		const char *s = name(env, id);

		if (s != last_name || !last_slot) { /* entry and return of one function share the string */
			last_name = s;
			last_slot = find_slot(&made, s);
		}
		made.next[id] = *last_slot;
		*last_slot = id;
	}
	*index = made;
	return NULL;
}

void vp_probe_index_deinit(struct vp_probe_index *index)
{
	free(index->heads);
	free(index->next);
	*index = (struct vp_probe_index){ 0 };
}

uint32_t vp_probe_index_first(const struct vp_probe_index *index, const char *name)
{
	return index->nslots ? *find_slot(index, name) : 0;
}
