/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an engine is told of the agent in the guest. */
#include "vmm-probe/guest/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/session/internal.h"

#define CALLS_ID (UINT32_MAX - 1) /* no probe has it */

/* Where the agent calls for the host. A call that can't be watched is done without: rings are looked into
 * anyway, and times are then those of the looking. */
static struct ot_err *add_call(struct vp_source *src, uint64_t gva, enum vp_agent_call call, uint32_t *n)
{
	struct vp_probes *probes = src->link->probes;
	ot_auto_free struct vp_batch_site *sites = NULL;
	const struct vp_symtab *tab = vp_guest_symtab(src->link->guest);
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(gva), NULL);
	struct vp_probe function = { .kind = VP_PROBE_SITE, .args = VP_ARGS_FBT_ENTRY, .gva = gva };
	uint32_t count = 0;

	if (!sym || sym->addr != gva)
		return NULL;
	function.module = vp_symbol_module(tab, sym);
	function.function = vp_symbol_name(tab, sym);
	function.size = vp_symbol_size(tab, sym);
	struct ot_err *err = vp_fbt_entry_site(probes, &function, &sites, &count);

	if (err && (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE))
		return err;
	ot_err_destroy(err);
	for (uint32_t i = 0; !err && i < count; i++)
		sites[i].agent = (uint8_t)call;
	if (!err)
		ot_buf_append(&src->batch_sites, sites, count * sizeof(*sites));
	*n += err ? 0 : count;
	return NULL;
}

struct ot_err *vp_batch_agent_sites(struct vp_source *src, struct vp_batch_probe *bp)
{
	const struct vp_guest_agent *agent = vp_probes_agent(src->link->probes, NULL);

	bp->first_site = (uint32_t)(src->batch_sites.len / sizeof(struct vp_batch_site));
	bp->nsites = 0;
	OT_TRY(add_call(src, agent->header.doorbell_gva, VP_AGENT_CALL_DOORBELL, &bp->nsites));
	return add_call(src, agent->header.mark_gva, VP_AGENT_CALL_MARK, &bp->nsites);
}

/* The tracepoint that a system call's probe is inside; NULL: none. */
static const struct vp_agent_event *native(const struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_guest_agent *agent = vp_probes_agent(probes, NULL);
	const char *name = probe->args == VP_ARGS_SYSCALL_ENTRY    ? "sys_enter"
			   : probe->args == VP_ARGS_SYSCALL_RETURN ? "sys_exit"
								   : NULL;

	if (!agent || !name || !probe->syscall)
		return NULL;
	for (size_t i = 0; i < agent->nevents; i++)
		if (!strcmp(agent->events[i].name, name))
			return &agent->events[i];
	return NULL;
}

unsigned vp_views_of(const struct vp_session *s, uint32_t guest, const struct vp_probe *probe)
{
	const char *word = ot_map_gets(&s->options->set, "view");

	if (probe->kind == VP_PROBE_AGENT)
		return VP_VIEW_INSIDE;
	if (!word || !strcmp(word, "outside") || !s->nlinks || !native(s->links[guest]->probes, probe))
		return VP_VIEW_OUTSIDE;
	return strcmp(word, "both") ? VP_VIEW_INSIDE : VP_VIEW_INSIDE | VP_VIEW_OUTSIDE;
}

void vp_batch_inside(const struct vp_source *src, const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	const struct vp_agent_event *event = native(src->link->probes, probe);

	bp->kind = VP_PROBE_AGENT;
	bp->want = GA_TRACEPOINT;
	if (!event) {
		bp->slot = probe->agent_slot;
		bp->nargs = probe->agent_nargs;
		bp->address = probe->gva;
		return;
	}
	bp->slot = event->slot;
	bp->address = event->address;
	bp->flags = GA_WANT_SYSCALL;
	/* as agent_abi.h has them */
	bp->nargs = probe->args == VP_ARGS_SYSCALL_ENTRY ? GA_ARGS : 3;
	bp->syscall = probe->syscall;
}

static bool wants_agent(const struct vp_source *src)
{
	const struct vp_batch_probe *list = (const void *)src->batch_probes.data;

	for (size_t i = 0; i < src->batch_probes.len / sizeof(*list); i++)
		if (list[i].kind == VP_PROBE_AGENT)
			return true;
	return false;
}

/* A CPU's ring is that of the vCPU which has the same per-CPU area. */
static void place_rings(const struct vp_source *src, const struct vp_guest_agent *agent,
			struct vp_batch_agent *ret)
{
	const struct vp_facts *facts = &src->link->facts;

	for (uint32_t vcpu = 0; vcpu < src->ncpus && vcpu < VP_VCPUS_MAX; vcpu++)
		for (size_t i = 0; i < agent->ncpus; i++) {
			if (!facts->percpu_base[vcpu] || agent->cpus[i].percpu != facts->percpu_base[vcpu])
				continue;
			ret->rings[vcpu].gpa = agent->cpus[i].gpa;
			ret->rings[vcpu].records = agent->cpus[i].records;
		}
}

struct ot_err *vp_batch_add_agent(struct vp_source *src)
{
	struct vp_batch_probe bp = { .id = CALLS_ID, .kind = VP_PROBE_AGENT_CALL };
	ot_auto_free struct vp_batch_agent *place = calloc(1, sizeof(*place));
	const struct vp_guest_agent *agent;

	if (!place)
		return ot_err_nomem();
	if (!src->link || !wants_agent(src))
		return NULL;
	agent = vp_probes_agent(src->link->probes, NULL);
	place->token = agent->header.token;
	place->header_gpa = agent->header_gpa.v;
	place->control_gpa = agent->header.control_gpa;
	place->tsc_khz = agent->header.tsc_khz;
	place_rings(src, agent, place);
	ot_buf_append(&src->batch_agent, place, sizeof(*place));
	OT_TRY(vp_batch_agent_sites(src, &bp));
	if (bp.nsites)
		ot_buf_append(&src->batch_probes, &bp, sizeof(bp));
	return NULL;
}
