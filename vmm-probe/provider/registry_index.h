/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes by function name: chains in order of id. Built once, at the first exact lookup. */
#ifndef VP_PROVIDER_REGISTRY_INDEX_H
#define VP_PROVIDER_REGISTRY_INDEX_H

#include <stdint.h>

#include "base/err.h"

struct vp_probe_index {
	uint32_t count; /* ids up to this one are indexed; 0: not built yet */
	uint32_t nslots;
	uint32_t *heads; /* open addressing: first id of a name, 0 empty */
	uint32_t *next;  /* by id: the next one of the same name, 0 none */
	const char *(*name)(void *env, uint32_t id);
	void *env;
};

OT_MUST_CHECK struct ot_err *vp_probe_index_init(struct vp_probe_index *index, uint32_t count,
						 const char *(*name)(void *env, uint32_t id), void *env);
void vp_probe_index_deinit(struct vp_probe_index *index);

/** The lowest id of that name; 0: none. */
uint32_t vp_probe_index_first(const struct vp_probe_index *index, const char *name);

#endif
