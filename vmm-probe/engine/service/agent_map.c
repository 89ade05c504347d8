/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of the guest's agent: the slots that the sessions' probes use, the ECBs of each, and the
 * words in the agent's control block that enable them.
 */
#include <stdlib.h>

#include "base/guarded.h"
#include "vmm-probe/engine/service/agent.h"

/* The first of a probe's ECBs that is still in force, from @p ecb on. */
static struct vp_ecb *still_in(struct vp_ecb *ecb)
{
	while (ecb && ecb->out)
		ecb = ecb->next;
	return ecb;
}

static uint32_t each_ecb(const struct vp_engine *engine, struct vp_agent_map *map, uint32_t slot)
{
	uint32_t n = 0;

	vp_each_planned(w, engine) {
		if (w.probe->kind != VP_PROBE_AGENT || (map && w.probe->agent.slot != slot))
			continue;
		for (struct vp_ecb *e = still_in(w.probe->first); e; e = still_in(e->next), n++)
			if (map)
				map->ecbs[map->slots[slot].first + n] = e;
	}
	return n;
}

bool vp_agent_listens(const struct vp_engine_session *es)
{
	if (!es->service->planned)
		return false;
	vp_each_probe(w, es)
		if (w.probe->kind == VP_PROBE_AGENT && vp_any_in(w.probe))
			return true;
	return false;
}

/* Probes that share a slot have the same place from the same catalogue; the slot's wants are the union of
 * theirs.
 */
static void join_needs(struct vp_agent_map *map, uint32_t slot)
{
	uint32_t first = map->slots[slot].first;

	for (uint32_t i = first; i < first + map->slots[slot].n; i++) {
		const struct vp_enabled_probe *p = map->ecbs[i]->probe;

		map->slots[slot].address = p->agent.address;
		map->slots[slot].want = p->agent.want;
		map->slots[slot].flags |= (uint16_t)p->agent.flags;
		if (p->agent.nargs > map->slots[slot].nargs)
			map->slots[slot].nargs = (uint16_t)p->agent.nargs;
	}
}

struct vp_agent_map *vp_agent_map_make(const struct vp_engine *engine)
{
	uint32_t n = each_ecb(engine, NULL, 0);
	struct vp_agent_map *map = calloc(1, sizeof(*map) + n * sizeof(map->ecbs[0]));
	bool used[GA_SLOTS] = { false };
	uint32_t at = 0;

	if (!map)
		return NULL;
	for (uint32_t s = 0; s < engine->service->nsessions; s++) {
		const struct vp_engine_session *es = engine->service->sessions[s];
		if (!vp_agent_listens(es))
			continue;
		map->sessions[map->nsessions++] = engine->service->sessions[s];
		map->variables |= es->dynvars != NULL;
		vp_each_probe(w, es)
			if (w.probe->kind == VP_PROBE_AGENT)
				used[w.probe->agent.slot] = true;
	}
	for (uint32_t slot = 0; slot < GA_SLOTS; slot++) {
		if (!used[slot])
			continue;
		map->slots[slot].first = at;
		map->slots[slot].n = each_ecb(engine, map, slot);
		at += map->slots[slot].n;
		join_needs(map, slot);
	}
	return map;
}

static bool is_written(const struct ga_want *at, const struct ga_want *want)
{
	struct ga_want is;

	if (!ot_guarded_read(&is, at, sizeof(is)))
		return false;
	if (want->kind == GA_OFF)
		return is.kind == GA_OFF;
	return is.kind == want->kind && is.address == want->address && is.nargs == want->nargs &&
	       is.flags == want->flags;
}

/* The guest may be reading: a slot that does not change must stay on throughout. */
static void write_want(struct ga_want *at, const struct ga_want *want)
{
	if (is_written(at, want))
		return;
	/* Set the kind to GA_OFF first and to its value last: the guest reads it first. */
	(void)(ot_guarded_store32(&at->kind, GA_OFF) && ot_guarded_store64(&at->address, want->address) &&
	       ot_guarded_write(&at->nargs, &want->nargs, sizeof(want->nargs)) &&
	       ot_guarded_write(&at->flags, &want->flags, sizeof(want->flags)) &&
	       ot_guarded_store32(&at->kind, want->kind));
}

static struct ga_want wanted(const struct vp_agent_map *map, uint32_t slot)
{
	if (!map || !map->slots[slot].n)
		return (struct ga_want){ .kind = GA_OFF };
	return (struct ga_want){
		.address = map->slots[slot].address,
		.kind = map->slots[slot].want,
		.nargs = map->slots[slot].nargs,
		.flags = map->slots[slot].flags,
	};
}

void vp_agent_write_wants(struct ga_control *control, const struct vp_agent_map *map)
{
	for (uint32_t slot = 0; slot < GA_SLOTS; slot++) {
		const struct ga_want want = wanted(map, slot);

		write_want(&control->slots[slot], &want);
	}
}

/* --- slots ----------------------------------------------------------------------------------- */

static void move_probe(struct vp_engine_session *es, const struct vp_enabled_probe *to)
{
	vp_each_probe(w, es) {
		struct vp_enabled_probe *p = w.probe;

		if (p->kind != VP_PROBE_AGENT || p->id != to->id || p->agent.want != to->agent.want)
			continue;
		p->agent.slot = to->agent.slot;
		p->agent.address = to->agent.address;
	}
}

void vp_agent_moved(struct vp_engine_session *es, const struct vp_enabled_batch *b)
{
	bool calls = false;

	for (uint32_t i = 0; i < b->nprobes; i++) {
		calls |= b->probes[i].kind == VP_PROBE_AGENT_CALL;
		if (b->probes[i].kind == VP_PROBE_AGENT && !b->probes[i].first)
			move_probe(es, &b->probes[i]);
	}
	if (!calls)
		return;
	vp_each_batch(old, es)
		for (uint32_t i = 0; i < old->nsites; i++)
			old->sites[i].agent = VP_AGENT_CALL_NONE;
}

static bool is_kprobe(const struct vp_enabled_probe *p)
{
	return p->kind == VP_PROBE_AGENT && p->agent.want != GA_TRACEPOINT;
}

/* Mark the slots used by the first @p n probes of @p b; a slot with the configuration of @p probe is its
 * own. */
static bool find_slot(const struct vp_enabled_batch *b, uint32_t n, bool *used,
		      struct vp_enabled_probe *probe)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_enabled_probe *p = &b->probes[i];

		if (!is_kprobe(p))
			continue;
		used[p->agent.slot - GA_TRACEPOINTS] = true;
		if (p->agent.address == probe->agent.address && p->agent.want == probe->agent.want) {
			probe->agent.slot = p->agent.slot;
			return true;
		}
	}
	return false;
}

static struct ot_err *place_probe(const struct vp_engine *engine, struct vp_enabled_batch *b, uint32_t i)
{
	bool used[GA_KPROBES] = { false };
	struct vp_enabled_probe *probe = &b->probes[i];

	for (uint32_t s = 0; s < engine->service->nsessions; s++)
		vp_each_batch(other, engine->service->sessions[s])
			if (find_slot(other, other->nprobes, used, probe))
				return NULL;
	if (find_slot(b, i, used, probe))
		return NULL;
	for (uint32_t slot = 0; slot < GA_KPROBES; slot++) {
		if (used[slot])
			continue;
		probe->agent.slot = GA_TRACEPOINTS + slot;
		return NULL;
	}
	return ot_err_new(OT_ERR_LIMIT, "the guest's agent has room for %u functions' probes", GA_KPROBES);
}

struct ot_err *vp_agent_place_probes(const struct vp_engine *engine, struct vp_enabled_batch *b)
{
	for (uint32_t i = 0; i < b->nprobes; i++)
		if (is_kprobe(&b->probes[i]))
			OT_TRY(place_probe(engine, b, i));
	return NULL;
}
