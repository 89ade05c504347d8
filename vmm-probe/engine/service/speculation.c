/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speculations, the service thread's part: their buffers, and moving the records of other vCPUs under ids
 * that were committed or discarded. hit/speculation.h documents the states.
 */
#include "vmm-probe/engine/hit/speculation.h"

#include <stdlib.h>

#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/service/parts.h"

#define MEMORY_LIMIT (256ull << 20)

/* --- life ----------------------------------------------------------------------------------- */

static struct ot_err *make_buffers(struct vp_engine_session *es, uint64_t n, uint64_t size)
{
	if (size > MEMORY_LIMIT || n * size * es->open.nvcpus > MEMORY_LIMIT)
		return ot_err_new(OT_ERR_LIMIT,
				  "%llu speculations of %llu bytes on %u vCPUs are more than 256 MiB",
				  (unsigned long long)n, (unsigned long long)size, es->open.nvcpus);
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		struct vp_vcpu_session *v = &es->vcpus[i];
		v->specs = calloc(n, sizeof(*v->specs));
		if (!v->specs)
			return ot_err_nomem();
		for (uint32_t k = 0; k < n; k++) {
			v->specs[k].mem = malloc(size + 8);
			if (!v->specs[k].mem)
				return ot_err_nomem();
		}
	}
	return NULL;
}

struct ot_err *vp_spec_init(struct vp_engine_session *es)
{
	uint64_t n = es->open.nspec, size = es->open.specsize & ~7ull;

	if (!n)
		return NULL;
	es->spec_state = (uint64_t *)(void *)(es->service->shared + es->open.specs_offset);
	es->service->spec_seen = calloc(n, sizeof(*es->service->spec_seen));
	if (!es->service->spec_seen)
		return ot_err_nomem();
	/* ids are allocated even if no clause speculates */
	return es->service->speculates ? make_buffers(es, n, size) : NULL;
}

void vp_spec_deinit(struct vp_engine_session *es)
{
	for (uint32_t i = 0; es->vcpus && i < es->open.nvcpus; i++) {
		struct vp_vcpu_session *v = &es->vcpus[i];
		for (uint32_t k = 0; v->specs && k < es->open.nspec; k++)
			free(v->specs[k].mem);
		free(v->specs);
	}
	free(es->service->spec_seen);
}

/* --- committing and discarding ------------------------------------------------------------- */

/* The half just handed over is the service thread's; with RING or FILL before the end nothing was handed
 * over, and this is not called. */
static void move_part(struct vp_engine_session *es, struct vp_vcpu_session *v, struct vp_specbuf *spec,
		      uint64_t now)
{
	uint64_t used = spec->used;
	uint8_t *dst = used ? vp_buffer_append(v, v->active ^ 1, (uint32_t)used, 8) : NULL;

	if (!dst)
		return;
	vp_spec_set_times(es, spec->mem, used, now);
	memcpy(dst, spec->mem, used);
}

void vp_spec_poll(struct vp_engine_session *es)
{
	for (uint32_t i = 0; es->spec_state && i < es->open.nspec; i++)
		es->service->spec_seen[i] = __atomic_load_n(&es->spec_state[i], __ATOMIC_ACQUIRE);
}

static bool is_leaving(uint64_t word)
{
	return vp_spec_state_of(word) == VP_SPEC_COMMITTING || vp_spec_state_of(word) == VP_SPEC_DISCARDING;
}

/* An engine has no more records for an id that is being closed; the last engine frees it. */
static void take_bit_away(uint64_t *at, uint64_t bit)
{
	uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < VP_SPEC_TRIES_MAX && is_leaving(word); tries++) {
		uint64_t to = word & ~bit;
		if (vp_spec_cas(at, &word, to >> 32 ? to : VP_SPEC_FREE))
			return;
	}
}

/* Only ids that vp_spec_poll() saw being closed: the vCPUs have been quiescent since, so none is writing a
 * record for one. */
void vp_spec_clean(struct vp_engine_session *es, uint64_t now)
{
	for (uint32_t i = 0; es->spec_state && i < es->open.nspec; i++) {
		uint64_t word = es->service->spec_seen[i];
		if (!is_leaving(word) || !(word & vp_spec_engine_bit(es)))
			continue;
		for (uint32_t k = 0; es->service->speculates && k < es->open.nvcpus; k++) {
			struct vp_specbuf *spec = &es->vcpus[k].specs[i];
			if (vp_spec_state_of(word) == VP_SPEC_COMMITTING)
				move_part(es, &es->vcpus[k], spec, now);
			spec->used = 0;
		}
		take_bit_away(&es->spec_state[i], vp_spec_engine_bit(es));
	}
}

void vp_specs_engine_gone(uint64_t *words, uint32_t n, uint32_t engine)
{
	for (uint32_t i = 0; i < n; i++)
		take_bit_away(&words[i], 1ull << (32 + engine));
}
