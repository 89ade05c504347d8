/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched, proc and io: DTrace's probes of these names, where a tracepoint of the guest fires at exactly the
 * same event. One table: the probe, its tracepoint, and which of the tracepoint's events and arguments it
 * takes. args[] are the tracepoint's from `skip` on, with the guest's types. A guest without the tracepoint
 * does not have the probe. A probe without a tracepoint is not approximated: see docs/limits.md.
 */
#include <string.h>

#include "base/units.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/provider/native.h"
#include "vmm-probe/provider/tracepoint.h"

#define THREAD 0x10000u /* CLONE_THREAD, clone(2) */

/* A probe that selects some of a tracepoint's events; struct vp_batch_event documents the numbers. */
struct native {
	const char *provider, *name, *event;
	uint32_t skip, flags;
	enum vp_agent_when when;
	uint32_t word, mask, value;
};

static const struct native natives[] = {
	/* sched_switch(preempt, prev, next, …) runs in prev; on-cpu is about next. */
	{ "sched", "on-cpu", "sched_switch", .skip = 1, .flags = GA_TASK_FLAGS(2) },
	{ "sched", "off-cpu", "sched_switch", .skip = 2 },
	/* Fires in the waker: sched_wakeup may fire on the CPU of the task that is woken. */
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
	/* Both have the request first. The bios of a request have no completion event of their own:
	 * blk_update_request() clears their BIO_TRACE_COMPLETION. */
	{ "io", "start", "block_rq_issue" },
	{ "io", "done", "block_rq_complete" },
};

/* A probe's own data. */
struct own {
	struct vp_tracepoint tracepoint;
	const struct native *native;
};

/* Words that the agent must pass on; 0: the tracepoint lacks an argument that the probe needs. */
static uint32_t words_needed(struct vp_probes *probes, const struct native *n, const struct vp_agent_event *e)
{
	uint32_t words = vp_tracepoint_words(probes, e->address, e->name);

	if (n->skip > words || (n->when == VP_WHEN_WORD && n->word >= words))
		return 0;
	if (!(n->flags & GA_WANT_TASK))
		return words;
	return GA_TASK_WORD(n->flags) < words ? GA_ARGS : 0;
}

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, const struct native *n,
			  const struct vp_agent_event *e)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_AGENT,
		.args = VP_ARGS_AGENT,
		.module = "",
		.function = "",
		.name = n->name,
		.gva = e->address,
		.own = own,
	};

	if (!own)
		return ot_err_nomem();
	own->native = n;
	own->tracepoint = (struct vp_tracepoint){
		.event = n->event,
		.address = e->address,
		.slot = e->slot,
		.nargs = words_needed(probes, n, e),
	};
	return own->tracepoint.nargs ? vp_probes_add(probes, self, &probe) : NULL;
}

struct ot_err *vp_native_publish(struct vp_probes *probes, const struct vp_provider *self)
{
	const struct vp_guest_agent *agent = vp_probes_agent(probes, NULL);

	for (size_t i = 0; agent && i < OT_ARRAY_SIZE(natives); i++) {
		const struct native *n = &natives[i];
		const struct vp_agent_event *e = vp_tracepoint_find(agent, n->event);

		if (e && !strcmp(n->provider, self->name))
			OT_TRY(add(probes, self, n, e));
	}
	return NULL;
}

bool vp_native_inside(const struct vp_probes *probes, const struct vp_probe *probe,
		      const struct vp_guest_agent *agent, struct vp_batch_event *ret)
{
	const struct native *n = ((const struct own *)probe->own)->native;

	if (!vp_tracepoint_inside(probes, probe, agent, ret))
		return false;
	ret->flags = n->flags;
	ret->skip = n->skip;
	ret->when = n->when;
	ret->when_word = n->word;
	ret->when_mask = n->mask;
	ret->when_value = n->value;
	return true;
}

int vp_native_nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct own *own = probe->own;
	int skip = (int)own->native->skip,
	    all = vp_tracepoint_nargs(probes, probe->gva, own->tracepoint.event);

	return all < skip ? all : all - skip;
}

bool vp_native_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		   struct dif_probe_arg *ret)
{
	const struct own *own = probe->own;
	uint32_t skip = own->native->skip;

	/* The parameters that are skipped take a word each. */
	if (!vp_tracepoint_arg(probes, probe->gva, own->tracepoint.event, n + skip, ret) ||
	    ret->mapping < skip)
		return false;
	ret->mapping -= skip;
	return true;
}
