/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched, proc and io: what DTrace calls by these names, as far as a tracepoint of the guest's says just that.
 * One table: the probe, its tracepoint, and which of that one's events and arguments are the probe's. args[]
 * are the tracepoint's from `skip` on, with the guest's types. A guest that has no such tracepoint has no
 * such probe. What has no tracepoint of its own is not made up: see docs/limits.md.
 */
#include <string.h>

#include "base/units.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/provider/tracepoint.h"

#define THREAD 0x10000u /* CLONE_THREAD, clone(2) */

static const struct vp_native natives[] = {
	/* sched_switch(preempt, prev, next, …) runs in prev; on-cpu is about next. */
	{ "sched", "on-cpu", "sched_switch", .skip = 1, .flags = GA_TASK_FLAGS(2) },
	{ "sched", "off-cpu", "sched_switch", .skip = 2 },
	/* In who wakes: sched_wakeup may already be on the other's CPU. */
	{ "sched", "wakeup", "sched_waking" },
	/* task_newtask(child, clone_flags), in the parent */
	{ "proc", "create", "task_newtask", .when = VP_WHEN_WORD, .word = 1, .mask = THREAD },
	{ "proc", "lwp-create", "task_newtask", .when = VP_WHEN_WORD, .word = 1, .mask = THREAD,
	  .value = THREAD },
	{ "proc", "exec", "sched_prepare_exec", .skip = 1 },
	{ "proc", "exec-success", "sched_process_exec" },
	{ "proc", "exit", "sched_process_exit", .when = VP_WHEN_FIRST },
	{ "proc", "lwp-exit", "sched_process_exit" },
	/* signal_generate(sig, info, task, group, result); results: 0 sent, 1 ignored */
	{ "proc", "signal-send", "signal_generate", .when = VP_WHEN_WORD, .word = 4, .mask = ~0u },
	{ "proc", "signal-discard", "signal_generate", .when = VP_WHEN_WORD, .word = 4, .mask = ~0u,
	  .value = 1 },
	{ "proc", "signal-handle", "signal_deliver" },
	/* Both have the request first. The bios of a device with requests are not told of when they are done.
	 */
	{ "io", "start", "block_rq_issue" },
	{ "io", "done", "block_rq_complete" },
};

static const struct vp_agent_event *find(const struct vp_guest_agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->nevents; i++)
		if (!strcmp(agent->events[i].name, name))
			return &agent->events[i];
	return NULL;
}

/* Words that the agent must pass on; 0: the tracepoint has not what the probe needs. */
static uint32_t words_needed(struct vp_probes *probes, const struct vp_native *n,
			     const struct vp_agent_event *e)
{
	uint32_t words = vp_tracepoint_words(probes, e->address, e->name);

	if (n->skip > words || (n->when == VP_WHEN_WORD && n->word >= words))
		return 0;
	if (!(n->flags & GA_WANT_TASK))
		return words;
	return GA_TASK_WORD(n->flags) < words ? GA_ARGS : 0;
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *provider)
{
	const struct vp_guest_agent *agent = vp_probes_agent(probes, NULL);

	for (size_t i = 0; agent && i < OT_ARRAY_SIZE(natives); i++) {
		const struct vp_native *n = &natives[i];
		const struct vp_agent_event *e = find(agent, n->event);
		struct vp_probe probe = {
			.kind = VP_PROBE_AGENT,
			.args = VP_ARGS_AGENT,
			.module = "",
			.function = "",
			.name = n->name,
			.event_name = n->event,
			.native = n,
		};

		if (!e || strcmp(n->provider, provider->name) != 0)
			continue;
		probe.gva = e->address;
		probe.agent_slot = e->slot;
		probe.agent_nargs = words_needed(probes, n, e);
		if (probe.agent_nargs)
			OT_TRY(vp_probes_add(probes, provider, &probe));
	}
	return NULL;
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	int all = vp_tracepoint_nargs(probes, probe->gva, probe->event_name);

	return all < (int)probe->native->skip ? all : all - (int)probe->native->skip;
}

static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		struct dif_type **ret_type, unsigned *ret_mapping)
{
	uint32_t skip = probe->native->skip;

	/* The parameters that are skipped take a word each. */
	if (!vp_tracepoint_arg(probes, probe->gva, probe->event_name, n + skip, ret_type, ret_mapping) ||
	    *ret_mapping < skip)
		return false;
	*ret_mapping -= skip;
	return true;
}

#define PROVIDER(id)                                                                                   \
	static struct ot_err *publish_##id(struct vp_probes *probes)                                   \
	{                                                                                              \
		return publish(probes, &vp_provider_##id);                                             \
	}                                                                                              \
	static struct ot_err *provide_##id(struct vp_probes *probes, const struct dif_probedesc *desc) \
	{                                                                                              \
		return vp_tracepoint_provide(probes, #id, desc);                                       \
	}                                                                                              \
	const struct vp_provider vp_provider_##id = {                                                  \
		.name = #id,                                                                           \
		.needs_guest = true,                                                                   \
		.publish = publish_##id,                                                               \
		.provide = provide_##id,                                                               \
		.arg = arg,                                                                            \
		.nargs = nargs,                                                                        \
	}

PROVIDER(sched);
PROVIDER(proc);
PROVIDER(io);
