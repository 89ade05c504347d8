/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes stand-ins. A semaphore belongs to a process: of a file only its offset is known, by which the engine
 * raises it where a process maps the file (engine/hit/early.h).
 */
#include "vmm-probe/provider/usdt_stand_in.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/facts_families.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/usdt_make.h"

/* A place of a file that has its stand-in. */
struct place_key {
	struct vp_file_id file;
	uint64_t addr;
};

/* A site in a file needs the kernel's struct page, and an engine that compares it at each hit. */
static bool are_possible(struct vp_probes *probes, struct vp_pid_processes *processes)
{
	struct vp_family_facts facts;

	if (vp_probes_target(probes)) /* descriptions match that one only */
		return false;

	if (processes->stand_ins == VP_STAND_INS_UNKNOWN) {
		vp_facts_families(vp_probes_guest(probes), &facts);
		bool possible =
		    !vp_probes_planner(probes) && facts.init_task && facts.page_index != VP_NO_OFFSET;
		processes->stand_ins = possible ? VP_STAND_INS_POSSIBLE : VP_STAND_INS_IMPOSSIBLE;
	}
	return processes->stand_ins == VP_STAND_INS_POSSIBLE;
}

static struct place_key key_of(const struct vp_usdt_reader *reader, const struct vp_pid_object *object,
			       const struct vp_usdt_place *place)
{
	struct place_key key;

	memset(&key, 0, sizeof(key)); /* it is compared by its bytes */
	key.file = reader->process->maps.files[object->file].id;
	key.addr = place->addr;
	return key;
}

/* Another reading may have had another name for a function, or none: a place has one stand-in. */
static bool can_be_made(const struct vp_usdt_reader *reader, const struct vp_pid_object *object,
			const struct vp_usdt_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct place_key key = key_of(reader, object, &places[i]);

		if (places[i].refused || ot_map_get(&reader->processes->stood_in, &key, sizeof(key)))
			return false;
	}
	return true;
}

static struct ot_err *remember(const struct vp_usdt_reader *reader, const struct vp_pid_object *object,
			       const struct vp_usdt_place *places, size_t count)
{
	struct ot_map *known = &reader->processes->stood_in;

	for (size_t i = 0; i < count; i++) {
		struct place_key key = key_of(reader, object, &places[i]);

		if (!ot_map_put(known, &key, sizeof(key), known))
			return ot_err_nomem();
	}
	return NULL;
}

/* The places in the file; *ret NULL: it does not have all of them. */
static struct ot_err *copy_places(const struct vp_usdt_reader *reader, struct vp_pid_object *object,
				  const struct vp_usdt_place *places, size_t count,
				  struct vp_usdt_place **ret)
{
	bool all = true;

	*ret = ot_arena_alloc(&reader->exprs->arena, count * sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	for (size_t i = 0; all && i < count; i++) {
		(*ret)[i] = places[i];
		OT_TRY(vp_usdt_place_of_file(reader, object, &(*ret)[i], &all));
	}
	if (!all)
		*ret = NULL;
	return NULL;
}

static struct ot_err *add(struct vp_probes *probes, const struct vp_usdt_reader *reader,
			  const struct vp_pid_object *object, const char *module,
			  struct vp_usdt_place *places, size_t count)
{
	struct vp_usdt_probe *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SITE,
		.provider = ot_arena_printf(&reader->exprs->arena, "%s*", places->provider),
		.module = module,
		.function = places->function,
		.name = places->name,
		.own = own,
		.stands_in = true,
	};

	if (!own || !probe.provider)
		return ot_err_nomem();
	*own = (struct vp_usdt_probe){
		.file = reader->process->maps.files[object->file].id.mapping,
		.of_program = object->is_program,
		.costly = vp_usdt_why_costly(places),
		.places = places,
		.nplaces = (uint32_t)count,
	};
	return vp_probes_add(probes, &vp_provider_usdt, &probe);
}

struct ot_err *vp_usdt_stand_in(struct vp_probes *probes, const struct vp_usdt_reader *reader,
				struct vp_pid_object *object, const char *module,
				const struct vp_usdt_place *places, size_t count)
{
	struct vp_usdt_place *copies;

	if (!are_possible(probes, reader->processes) || !can_be_made(reader, object, places, count))
		return NULL;
	OT_TRY(vp_budget_take(count * (sizeof(*copies) + sizeof(struct place_key)) +
			      sizeof(struct vp_usdt_probe) + sizeof(struct vp_probe)));
	OT_TRY(remember(reader, object, places, count));
	OT_TRY(copy_places(reader, object, places, count, &copies));
	return copies ? add(probes, reader, object, module, copies, count) : NULL;
}
