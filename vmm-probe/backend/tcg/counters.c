/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inline counters: 64-bit words per vCPU to which generated code adds 1, with no call. They
 * are in scoreboards of QEMU's, which survive a reset of the plugin, and are created a chunk at a
 * time because a scoreboard has room for 16 vCPUs at least, even if fewer exist.
 */
#include "vmm-probe/backend/tcg/tcg.h"

struct ot_err *vp_tcg_counters_reserve(uint32_t n)
{
	uint32_t chunks = (n + VP_TCG_SLOTS_PER_CHUNK - 1) / VP_TCG_SLOTS_PER_CHUNK;

	if (n > VP_TCG_CHUNKS * VP_TCG_SLOTS_PER_CHUNK)
		return ot_err_new(OT_ERR_LIMIT, "%u inline counters requested, at most %u are available", n,
				  VP_TCG_CHUNKS * VP_TCG_SLOTS_PER_CHUNK);
	for (uint32_t i = 0; i < chunks; i++) {
		if (!atomic_load_explicit(&vp_tcg.counters[i], memory_order_relaxed))
			atomic_store_explicit(
			    &vp_tcg.counters[i],
			    qemu_plugin_scoreboard_new(VP_TCG_SLOTS_PER_CHUNK * sizeof(uint64_t)),
			    memory_order_release);
	}
	return NULL;
}

bool vp_tcg_counter_entry(uint32_t slot, struct qemu_plugin_u64 *ret)
{
	uint32_t chunk = slot / VP_TCG_SLOTS_PER_CHUNK;

	if (chunk >= VP_TCG_CHUNKS)
		return false;
	ret->score = atomic_load_explicit(&vp_tcg.counters[chunk], memory_order_acquire);
	ret->offset = slot % VP_TCG_SLOTS_PER_CHUNK * sizeof(uint64_t);
	return ret->score != NULL;
}

uint32_t vp_tcg_counter_slots(void *backend)
{
	(void)backend;
	return VP_TCG_CHUNKS * VP_TCG_SLOTS_PER_CHUNK;
}

uint64_t vp_tcg_counter_read(void *backend, uint32_t slot, uint32_t vcpu)
{
	struct qemu_plugin_u64 entry;

	(void)backend;
	/* QEMU aborts for a vCPU that never existed. */
	if (!vp_tcg_vcpu_get(vcpu) || !vp_tcg_counter_entry(slot, &entry))
		return 0;
	return qemu_plugin_u64_get(entry, vcpu);
}
