/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints: their prototypes in the guest's BTF, and their entries in an agent's catalogue. */
#include "vmm-probe/provider/tracepoint.h"

#include <string.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_args.h"

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

const struct vp_agent_event *vp_tracepoint_find(const struct vp_guest_agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->nevents; i++)
		if (!strcmp(agent->events[i].name, name))
			return &agent->events[i];
	return NULL;
}

/* After a reload of the agent its entries are elsewhere. */
bool vp_tracepoint_inside(const struct vp_probes *probes, const struct vp_probe *probe,
			  const struct vp_guest_agent *agent, struct vp_batch_event *ret)
{
	const struct vp_tracepoint *own = probe->own;
	const struct vp_agent_event *e = NULL;

	if (agent != vp_probes_agent(probes, NULL)) {
		e = vp_tracepoint_find(agent, own->event);
		if (!e)
			return false;
	}
	ret->want = GA_TRACEPOINT;
	ret->slot = e ? e->slot : own->slot;
	ret->address = e ? e->address : own->address;
	ret->nargs = own->nargs;
	return true;
}

uint32_t vp_tracepoint_words(struct vp_probes *probes, uint64_t address, const char *event)
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

int vp_tracepoint_nargs(struct vp_probes *probes, uint64_t address, const char *event)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, address, event, &btf);

	return proto ? (int)vp_proto_count(proto) - 1 : -1;
}

bool vp_tracepoint_arg(struct vp_probes *probes, uint64_t address, const char *event, unsigned n,
		       struct dif_probe_arg *ret)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, address, event, &btf);
	unsigned words;

	if (!proto || n + 1 >= vp_proto_count(proto) ||
	    !vp_proto_map(btf, proto, 1, REGISTER_WORDS, n, &ret->mapping, &words) ||
	    ret->mapping + words > GA_ARGS)
		return false;
	ret->native =
	    vp_types_get(vp_probes_types(probes), btf, ((const struct btf_param *)(proto + 1))[n + 1].type);
	return ret->native != NULL;
}
