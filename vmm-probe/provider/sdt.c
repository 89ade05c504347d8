/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sdt and rawtp: the tracepoints of the guest's kernel and modules. sdt:SYSTEM::EVENT has the system that the
 * guest's tracing has for the event, or its kernel module's name if it has no trace event;
 * rawtp:MODULE::EVENT is the same tracepoint by its kernel module. args[] are the tracepoint's parameters.
 *
 * They are probed in the guest's text, where their events happen, without being enabled (tracepoint_sites.h).
 * The guest's agent, where it is loaded, reports the same events from inside, and is the only one to report
 * those that can't be probed in the text.
 */
#include <string.h>

#include "base/cleanup.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint.h"
#include "vmm-probe/provider/tracepoint_programs.h"

/* A tracepoint's own data, shared by its two probes. */
struct own {
	struct vp_tracepoint tracepoint;
	bool in_agent;                        /* the agent has it in its catalogue */
	const struct vp_guest_tracepoint *tp; /* NULL: it is only the agent's */
	const struct vp_module *within; /* only its places in this module, which came later; NULL: all */
	bool is_resolved;
	struct vp_event_sites sites;
	uint32_t *programs; /* of each site */
};

static const struct own *own_of(const struct vp_probe *probe)
{
	return probe->own;
}

/* --- publishing ------------------------------------------------------------------------------------------ */

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, const struct own *own,
			  const char *module)
{
	const struct vp_probe probe = {
		.kind = own->tp ? VP_PROBE_SITE : VP_PROBE_AGENT,
		.args = own->tp ? VP_ARGS_SITE : VP_ARGS_AGENT,
		.module = module,
		.function = "",
		.name = own->tracepoint.event,
		.own = own,
	};

	return vp_probes_add(probes, self, &probe);
}

/* Of @tp, @event or both. */
static struct ot_err *add_tracepoint(struct vp_probes *probes, const struct vp_provider *self,
				     const struct vp_guest_tracepoint *tp, const struct vp_module *within,
				     const struct vp_agent_event *event)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));

	if (!own)
		return ot_err_nomem();
	own->tp = tp;
	own->within = within;
	own->in_agent = event != NULL;
	own->tracepoint.event = tp ? tp->name : event->name;
	own->tracepoint.address = tp ? tp->gva : event->address;
	own->tracepoint.slot = event ? event->slot : 0;
	own->tracepoint.nargs = vp_tracepoint_words(probes, own->tracepoint.address, own->tracepoint.event);
	if (!tp)
		return add(probes, self, own, event->system);
	return add(probes, self, own, *tp->system ? tp->system : tp->module);
}

static const struct vp_guest_tracepoint *tracepoint_at(const struct vp_guest_tracepoints *all, uint64_t gva)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].gva == gva)
			return &all->list[i];
	return NULL;
}

/* The agent's own tracepoints are enabled by the agent. */
static bool is_agents_own(const struct vp_guest_tracepoint *tp)
{
	return !strcmp(tp->module, GA_MODULE);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	const struct vp_guest_tracepoints *all = vp_tracepoint_list(vp_probes_tracepoints(probes));
	const struct vp_guest_agent *agent = vp_probes_agent(probes, NULL);

	for (size_t i = 0; i < all->count; i++)
		if (!is_agents_own(&all->list[i]))
			OT_TRY(add_tracepoint(probes, self, &all->list[i], NULL,
					      agent ? vp_tracepoint_find(agent, all->list[i].name) : NULL));
	for (size_t i = 0; agent && i < agent->nevents; i++) {
		const struct vp_guest_tracepoint *tp = tracepoint_at(all, agent->events[i].address);
		if (!tp || is_agents_own(tp))
			OT_TRY(add_tracepoint(probes, self, NULL, NULL, &agent->events[i]));
	}
	return NULL;
}

/* A tracepoint in the code of a module that came later is one more probe of its name. */
struct arrival {
	struct vp_probes *probes;
	const struct vp_provider *self;
	const struct vp_module *module;
};

static struct ot_err *add_used(void *arg, const struct vp_guest_tracepoint *tp)
{
	struct arrival *a = arg;

	return is_agents_own(tp) ? NULL : add_tracepoint(a->probes, a->self, tp, a->module, NULL);
}

static struct ot_err *arrive(struct vp_probes *probes, const struct vp_provider *self,
			     const struct vp_module *module, uint32_t before)
{
	const struct vp_guest_tracepoints *own = vp_tracepoint_latest(vp_probes_tracepoints(probes));
	struct vp_module *kept = vp_probes_alloc(probes, sizeof(*kept));
	struct arrival a = { probes, self, kept };

	(void)before;
	if (!kept)
		return ot_err_nomem();
	*kept = *module;
	for (size_t i = 0; i < own->count; i++)
		if (!is_agents_own(&own->list[i]))
			OT_TRY(add_tracepoint(probes, self, &own->list[i], NULL, NULL));
	return vp_tracepoint_each_used(vp_probes_tracepoints(probes), module, add_used, &a);
}

/* Those of sdt's probes after @before. */
static struct ot_err *add_rawtp(struct vp_probes *probes, const struct vp_provider *self, uint32_t before)
{
	uint32_t count = vp_probes_count(probes);

	for (uint32_t id = before + 1; id <= count; id++) {
		const struct vp_probe *probe = vp_probes_get(probes, id);
		if (!strcmp(probe->provider, vp_provider_sdt.name) && own_of(probe)->tp)
			OT_TRY(add(probes, self, own_of(probe), own_of(probe)->tp->module));
	}
	return NULL;
}

static struct ot_err *publish_rawtp(struct vp_probes *probes, const struct vp_provider *self)
{
	return add_rawtp(probes, self, 0);
}

static struct ot_err *arrive_rawtp(struct vp_probes *probes, const struct vp_provider *self,
				   const struct vp_module *module, uint32_t before)
{
	(void)module;
	return add_rawtp(probes, self, before);
}

/* --- from outside ---------------------------------------------------------------------------------------- */

static void keep_within(const struct vp_module *module, struct vp_event_sites *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (vp_module_room(module, s->list[i].gva))
			s->list[kept++] = s->list[i];
	s->count = kept;
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	struct own *own = (struct own *)probe->own;
	struct vp_event_sites *s = &own->sites;
	unsigned nargs = own->tracepoint.nargs;

	if (!own->tp || own->is_resolved)
		return NULL;
	OT_TRY(vp_tracepoint_find_sites(vp_probes_tracepoints(probes), own->tp, nargs, s));
	if (own->within)
		keep_within(own->within, s);
	if (!s->count)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the module has only tests for this tracepoint");
	own->programs = vp_probes_alloc(probes, (s->count + 1) * sizeof(*own->programs));
	if (!own->programs)
		return ot_err_nomem();
	for (size_t i = 0; i < s->count; i++)
		OT_TRY(vp_event_program(probes, &s->list[i], nargs, &own->programs[i]));
	own->is_resolved = true;
	return NULL;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct own *own = own_of(probe);
	size_t n = own->sites.count;
	ot_auto_free struct vp_batch_site *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return ot_err_nomem();
	for (size_t i = 0; i < n; i++)
		OT_TRY(vp_event_batch_site(probes, &own->sites.list[i], own->programs[i], &list[i]));
	*ret = ot_move(list);
	*ret_count = (uint32_t)n;
	return NULL;
}

/* --- from inside ----------------------------------------------------------------------------------------- */

static bool inside(const struct vp_probes *probes, const struct vp_probe *probe,
		   const struct vp_guest_agent *agent, struct vp_batch_event *ret)
{
	return own_of(probe)->in_agent && vp_tracepoint_inside(probes, probe, agent, ret);
}

/* --- arguments ------------------------------------------------------------------------------------------- */

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_tracepoint *t = &own_of(probe)->tracepoint;

	return vp_tracepoint_nargs(probes, t->address, t->event);
}

/* An argument that is not available at each site has no type outside. */
static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	const struct own *own = own_of(probe);

	if (!vp_tracepoint_arg(probes, own->tracepoint.address, own->tracepoint.event, n, ret))
		return false;
	return probe->kind != VP_PROBE_SITE || !own->is_resolved ||
	       (ret->mapping < VP_BLOCK_ARGS && own->sites.known_args & 1u << ret->mapping);
}

#define TRACEPOINTS(id, from, come)                   \
	const struct vp_provider vp_provider_##id = { \
		.name = #id,                          \
		.needs_guest = true,                  \
		.publish = from,                      \
		.arrive = come,                       \
		.resolve = resolve,                   \
		.sites = sites,                       \
		.inside = inside,                     \
		.arg = arg,                           \
		.nargs = nargs,                       \
	}

TRACEPOINTS(sdt, publish, arrive);
TRACEPOINTS(rawtp, publish_rawtp, arrive_rawtp);
