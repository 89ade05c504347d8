/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sdt: the guest's own tracepoints, where its agent is loaded. sdt:SYSTEM::EVENT, with SYSTEM as the guest's
 * tracing calls it. args[] are the parameters of the tracepoint, typed by the typedef btf_trace_EVENT that
 * the kernel makes for each: a pointer to a function whose first parameter is the probe's own data.
 */
#include <string.h>

#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/provider/fbt_args.h"
#include "vmm-probe/provider/registry.h"

#define PREFIX         "btf_trace_"
#define REGISTER_WORDS 5u /* of the convention's six, the first is the probe's own */

/* The prototype in the types of the kernel or of the module that has the tracepoint; NULL: there is none. */
static const struct btf_type *prototype(struct vp_probes *probes, uint64_t address, const char *event,
					const struct vp_btf **ret_btf)
{
	const struct vp_symtab *tab = vp_guest_symtab(vp_probes_guest(probes));
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(address), NULL);
	struct vp_types *types = vp_probes_types(probes);
	char name[sizeof(PREFIX) + GA_NAME] = PREFIX;
	const struct btf_type *t;

	*ret_btf = types ? vp_types_btf(types, sym ? vp_symbol_module(tab, sym) : "vmlinux") : NULL;
	if (!*ret_btf)
		return NULL;
	strncat(name, event, GA_NAME);
	uint32_t id = vp_btf_find(*ret_btf, VP_BTF_TYPE, name);

	t = vp_btf_type(*ret_btf, vp_btf_resolve(*ret_btf, id));
	if (!t || BTF_INFO_KIND(t->info) != BTF_KIND_PTR)
		return NULL;
	t = vp_btf_type(*ret_btf, vp_btf_resolve(*ret_btf, t->type));
	return t && BTF_INFO_KIND(t->info) == BTF_KIND_FUNC_PROTO && vp_proto_count(t) ? t : NULL;
}

/* Words that its parameters take, as far as records have them; all registers where nobody knows. */
static uint32_t count_words(struct vp_probes *probes, uint64_t address, const char *event)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, address, event, &btf);
	unsigned at, words, most = 0;

	if (!proto)
		return REGISTER_WORDS;
	for (unsigned i = 0; i + 1 < vp_proto_count(proto); i++) {
		if (!vp_proto_map(btf, proto, 1, REGISTER_WORDS, i, &at, &words))
			return GA_ARGS;
		if (at + words > most)
			most = at + words;
	}
	return most < GA_ARGS ? most : GA_ARGS;
}

static struct ot_err *publish(struct vp_probes *probes)
{
	const struct vp_guest_agent *agent = vp_probes_agent(probes, NULL);

	for (size_t i = 0; agent && i < agent->nevents; i++) {
		const struct vp_agent_event *e = &agent->events[i];
		struct vp_probe probe = {
			.kind = VP_PROBE_AGENT,
			.args = VP_ARGS_AGENT,
			.module = e->system,
			.function = "",
			.name = e->name,
			.gva = e->address,
			.agent_slot = e->slot,
			.agent_nargs = count_words(probes, e->address, e->name),
		};

		OT_TRY(vp_probes_add(probes, &vp_provider_sdt, &probe));
	}
	return NULL;
}

/* Who asks for them by name is told why there are none. */
static struct ot_err *provide(struct vp_probes *probes, const struct dif_probedesc *desc)
{
	const char *why = NULL;

	if (vp_probes_agent(probes, &why) || !why || !desc->provider ||
	    strcmp(desc->provider, vp_provider_sdt.name) != 0)
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED, "%s", why);
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, probe->gva, probe->name, &btf);

	return proto ? (int)vp_proto_count(proto) - 1 : -1;
}

static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		struct dif_type **ret_type, unsigned *ret_mapping)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, probe->gva, probe->name, &btf);
	unsigned words;

	if (!proto || n + 1 >= vp_proto_count(proto) ||
	    !vp_proto_map(btf, proto, 1, REGISTER_WORDS, n, ret_mapping, &words) ||
	    *ret_mapping + words > GA_ARGS)
		return false;
	*ret_type =
	    vp_types_get(vp_probes_types(probes), btf, ((const struct btf_param *)(proto + 1))[n + 1].type);
	return *ret_type != NULL;
}

const struct vp_provider vp_provider_sdt = {
	.name = "sdt",
	.needs_guest = true,
	.publish = publish,
	.provide = provide,
	.arg = arg,
	.nargs = nargs,
};
