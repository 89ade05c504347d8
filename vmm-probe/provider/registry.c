/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry of probes. A hundred thousand are ordinary, so they are stored in chunks (pointers stay valid
 * while on-demand probes are appended), their strings are borrowed, and text is read only when a probe is
 * enabled.
 */
#include "vmm-probe/provider/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/pid_process.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/registry_internal.h"
#include "vmm-probe/provider/text.h"
#include "vmm-probe/provider/tracepoint_sites.h"

#define PROBES_MAX  (8u << 20)
#define ARRIVED_MAX (1u << 20) /* with modules, while they are traced */

#define POINTER(name) &vp_provider_##name,
static const struct vp_provider *const providers[] = { VP_PROVIDERS(POINTER) };
#undef POINTER

/* Most guests have no agent; one whose agent can't be used is traced from outside. */
static struct ot_err *find_agent(struct vp_probes *probes)
{
	struct ot_err *err = vp_guest_agent_read(probes->guest, &probes->agent);

	probes->has_agent = !err;
	if (!err)
		return NULL;
	switch (ot_err_code(err)) {
	case OT_ERR_NO_MEMORY:
	case OT_ERR_GUEST_GONE:
		return err;
	case OT_ERR_NOT_FOUND:
		break;
	default:
		probes->no_agent = strdup(ot_err_message(err));
	}
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *vp_probes_create(struct vp_guest *guest, struct vp_probes **ret)
{
	struct vp_probes *probes = calloc(1, sizeof(*probes));
	struct ot_err *err = NULL;

	if (!probes)
		return ot_err_nomem();
	probes->guest = guest;
	ot_arena_init(&probes->strings);
	ot_map_init(&probes->unanchored);
	if (guest)
		err = vp_types_of_guest(guest, &probes->types);
	if (guest && !err)
		err = vp_derivation_create(probes, &probes->derivation);
	if (guest && !err)
		err = vp_tracepoint_finder_create(probes, &probes->tracepoints);
	if (guest && !err)
		err = find_agent(probes);
	for (size_t i = 0; !err && i < OT_ARRAY_SIZE(providers); i++)
		if (guest || !providers[i]->needs_guest)
			err = ot_err_prefix(providers[i]->publish(probes, providers[i]), "provider %s",
					    providers[i]->name);
	if (err) {
		vp_probes_destroy(probes);
		return err;
	}
	*ret = probes;
	return NULL;
}

static struct ot_err *arrive(struct vp_probes *probes, const struct vp_module *module)
{
	uint32_t before = probes->count;

	OT_TRY(vp_types_add_of_guest(probes->types, probes->guest, module));
	OT_TRY(vp_tracepoint_finder_add(probes->tracepoints, module));
	for (size_t i = 0; i < OT_ARRAY_SIZE(providers); i++)
		if (providers[i]->arrive)
			OT_TRY(providers[i]->arrive(probes, providers[i], module, before));
	if (probes->count - probes->at_first > ARRIVED_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u probes came with modules in one session",
				  ARRIVED_MAX);
	return NULL;
}

struct ot_err *vp_probes_arrive(struct vp_probes *probes, uint64_t since)
{
	const struct vp_modules *modules = vp_guest_modules(probes->guest);

	if (!probes->at_first)
		probes->at_first = probes->count;
	if (probes->planner) { /* the text and tables read so far do not include theirs */
		vp_probes_forget_text(probes);
		OT_TRY(vp_planner_read_again(probes->planner));
	}
	for (size_t i = 0; i < modules->count; i++)
		if (modules->list[i].nth > since)
			OT_TRY(arrive(probes, &modules->list[i]));
	return NULL;
}

void vp_probes_destroy(struct vp_probes *probes)
{
	if (!probes)
		return;
	vp_plans_forget(probes);
	for (size_t i = 0; i < probes->nchunks; i++)
		free(probes->chunks[i]);
	free(probes->chunks);
	vp_planner_destroy(probes->planner);
	vp_probe_index_deinit(&probes->index);
	vp_probe_runs_deinit(&probes->runs);
	vp_text_destroy(probes->text);
	vp_pid_processes_destroy(probes->user.known);
	vp_tracepoint_finder_destroy(probes->tracepoints);
	vp_derivation_destroy(probes->derivation);
	vp_types_destroy(probes->types);
	ot_map_deinit(&probes->unanchored);
	vp_guest_agent_deinit(&probes->agent);
	free(probes->no_agent);
	ot_arena_deinit(&probes->strings);
	free(probes);
}

struct ot_err *vp_probes_add(struct vp_probes *probes, const struct vp_provider *provider,
			     const struct vp_probe *probe)
{
	if (probes->count >= PROBES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u probes", PROBES_MAX);
	if (probes->count == probes->nchunks * VP_PROBES_CHUNK) {
		if (!ot_grow(&probes->chunks, &probes->chunks_cap, probes->nchunks + 1,
			     sizeof(*probes->chunks)))
			return ot_err_nomem();
		probes->chunks[probes->nchunks] = calloc(VP_PROBES_CHUNK, sizeof(struct vp_probe_entry));
		if (!probes->chunks[probes->nchunks])
			return ot_err_nomem();
		probes->nchunks++;
	}

	const char *name = provider->is_named ? probe->provider : provider->name;
	if (!vp_probe_runs_add(&probes->runs, provider, name, probes->count + 1))
		return ot_err_nomem();

	struct vp_probe_entry *e = vp_probe_entry(probes, ++probes->count);

	e->probe = *probe;
	e->probe.id = probes->count;
	e->probe.provider = name;
	e->provider = provider;
	if (provider->is_named)
		return NULL;
	if (!*probe->function && !ot_map_puts(&probes->unanchored, probe->name, (void *)provider))
		return ot_err_nomem();
	return NULL;
}

void vp_probes_set_function(struct vp_probes *probes, const struct vp_probe *probe, const char *function)
{
	vp_probe_entry(probes, probe->id)->probe.function = function;
}

bool vp_probes_has(struct vp_probes *probes, const struct vp_provider *provider, const char *name)
{
	return ot_map_gets(&probes->unanchored, name) == provider;
}

void *vp_probes_alloc(struct vp_probes *probes, size_t size)
{
	return ot_arena_alloc(&probes->strings, size);
}

char *vp_probes_strdup(struct vp_probes *probes, const char *s)
{
	return ot_arena_strdup(&probes->strings, s);
}

struct vp_guest *vp_probes_guest(struct vp_probes *probes)
{
	return probes->guest;
}

const struct vp_guest_agent *vp_probes_agent(const struct vp_probes *probes, const char **ret_why)
{
	if (ret_why)
		*ret_why = probes->no_agent;
	return probes->has_agent ? &probes->agent : NULL;
}

struct vp_tracepoint_finder *vp_probes_tracepoints(struct vp_probes *probes)
{
	return probes->tracepoints;
}

uint8_t **vp_probes_inlined(struct vp_probes *probes)
{
	return &probes->inlined;
}

struct vp_derivation *vp_probes_derivation(struct vp_probes *probes)
{
	return probes->derivation;
}

struct ot_err *vp_probes_add_program(struct vp_probes *probes, const struct dif_clause *program,
				     uint32_t *ret)
{
	return vp_derivation_add_program(probes->derivation, program, ret);
}

const struct dif_clause *vp_probes_program(const struct vp_probes *probes, uint32_t number)
{
	return probes->derivation ? vp_derivation_program(probes->derivation, number) : NULL;
}

const struct vp_support *vp_probes_support(const struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;

	return p->support ? p->support(probe) : NULL;
}

struct vp_types *vp_probes_types(struct vp_probes *probes)
{
	return probes->types;
}

struct ot_err *vp_probes_text(struct vp_probes *probes, struct vp_text **ret)
{
	const struct vp_code_ops *unused;

	if (!probes->guest)
		return ot_err_new(OT_ERR_UNSUPPORTED, "there is no guest");
	OT_TRY(vp_arch_code(&vp_arch_native, &unused));
	if (!probes->text)
		OT_TRY(vp_text_create(probes->guest, probes->undo.patches ? &probes->undo : NULL,
				      &probes->text));
	*ret = probes->text;
	return NULL;
}

uint32_t vp_probes_count(const struct vp_probes *probes)
{
	return probes->count;
}

const struct vp_probe *vp_probes_get(const struct vp_probes *probes, uint32_t id)
{
	return id && id <= probes->count ? &vp_probe_entry(probes, id)->probe : NULL;
}

void vp_probes_set_cpc(struct vp_probes *probes, const struct vp_cpc_support *support)
{
	probes->cpc = *support;
}

struct ot_err *vp_probes_set_processes(struct vp_probes *probes, const char *refused)
{
	probes->user.possible = true;
	probes->user.refused = refused ? vp_probes_strdup(probes, refused) : NULL;
	return refused && !probes->user.refused ? ot_err_nomem() : NULL;
}

struct ot_err *vp_probes_set_semaphores(struct vp_probes *probes, const char *refused)
{
	probes->user.raises = !refused;
	probes->user.no_semaphores = refused ? vp_probes_strdup(probes, refused) : NULL;
	return refused && !probes->user.no_semaphores ? ot_err_nomem() : NULL;
}

void vp_probes_set_guest(struct vp_probes *probes, unsigned guest)
{
	if (probes->derivation)
		vp_derivation_set_guest(probes->derivation, guest);
}

void vp_probes_set_target(struct vp_probes *probes, uint64_t pid)
{
	probes->user.target = pid;
}

void vp_probes_set_say(struct vp_probes *probes, void (*say)(void *arg, const char *text), void *arg)
{
	probes->user.say = say;
	probes->user.say_arg = arg;
}

void vp_probes_say(const struct vp_probes *probes, const char *text)
{
	if (probes->user.say)
		probes->user.say(probes->user.say_arg, text);
}

uint64_t vp_probes_target(const struct vp_probes *probes)
{
	return probes->user.target;
}

const char *vp_probes_no_processes(const struct vp_probes *probes)
{
	return probes->user.possible ? probes->user.refused : "no CPU runs this guest";
}

const char *vp_probes_no_semaphores(const struct vp_probes *probes)
{
	if (probes->user.raises)
		return NULL;
	return probes->user.no_semaphores ? probes->user.no_semaphores : "no CPU runs this guest";
}

struct vp_pid_processes **vp_probes_processes(struct vp_probes *probes)
{
	return &probes->user.known;
}

struct ot_err *vp_probes_test_cpc(const struct vp_probes *probes, const struct vp_cpc_event *event)
{
	if (!probes->cpc.test)
		return ot_err_new(OT_ERR_UNSUPPORTED, "no CPU runs this guest");
	return probes->cpc.test(probes->cpc.arg, event);
}

bool vp_provider_is_kernels(const char *pattern)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(providers); i++)
		if (!providers[i]->is_named && dif_glob_match(pattern, providers[i]->name))
			return true;
	return false;
}

static bool is_named(const struct vp_probes *probes, const struct vp_provider *p, const char *pattern)
{
	return p->is_named ? p->is_named(probes, pattern) : dif_glob_match(pattern, p->name);
}

struct ot_err *vp_providers_provide(struct vp_probes *probes, const struct dif_probedesc *desc)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(providers); i++) {
		const struct vp_provider *p = providers[i];

		if (!p->provide || (p->needs_guest && !probes->guest))
			continue;
		if (is_named(probes, p, desc->provider ? desc->provider : ""))
			OT_TRY(p->provide(probes, p, desc));
	}
	return NULL;
}

void vp_probes_fill(const struct vp_probes *probes, const struct vp_probe *probe, struct vp_batch_probe *ret)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;

	*ret = (struct vp_batch_probe){ .id = probe->id, .kind = probe->kind, .args = probe->args };
	if (p->fill)
		p->fill(probe, ret);
}

bool vp_probes_inside(const struct vp_probes *probes, const struct vp_probe *probe,
		      const struct vp_guest_agent *agent, struct vp_batch_probe *ret)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;
	struct vp_batch_event event = { 0 };

	if (!agent || !p->inside || !p->inside(probes, probe, agent, &event))
		return false;
	*ret = (struct vp_batch_probe){
		.id = probe->id, .kind = VP_PROBE_AGENT, .args = probe->args, .agent = event
	};
	return true;
}

uint64_t vp_probes_interval(const struct vp_probes *probes, const struct vp_probe *probe)
{
	struct vp_batch_probe bp;

	vp_probes_fill(probes, probe, &bp);
	return bp.interval_ns;
}

bool vp_probes_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		   struct dif_probe_arg *ret)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;

	*ret = (struct dif_probe_arg){ 0 };
	return p->arg && p->arg(probes, probe, n, ret);
}

int vp_probes_nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;

	/* probes without sites (BEGIN, tick) have none */
	return p->nargs ? p->nargs(probes, probe) : p->sites ? -1 : 0;
}

void vp_probes_describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;

	if (p->describe)
		p->describe(probes, probe, out);
}

bool vp_probes_follow(const struct vp_probes *probes, const struct dif_probedesc *desc)
{
	for (size_t i = 0; !desc->id && desc->provider && i < OT_ARRAY_SIZE(providers); i++)
		if (providers[i]->follows && providers[i]->follows(probes, desc->provider))
			return true;
	return false;
}

struct ot_err *vp_probes_have_news(struct vp_probes *probes, bool *ret)
{
	bool news;

	*ret = false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(providers); i++) {
		if (!providers[i]->has_news)
			continue;
		OT_TRY(providers[i]->has_news(probes, &news));
		*ret |= news;
	}
	return NULL;
}

bool vp_probes_is_of(const struct vp_probes *probes, const struct vp_probe *probe,
		     const struct vp_provider *provider)
{
	return vp_probe_entry(probes, probe->id)->provider == provider;
}

const char *vp_probes_asleep(const struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_provider *p = vp_probe_entry(probes, probe->id)->provider;

	return p->asleep ? p->asleep(probes, probe) : NULL;
}
