/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiler's questions about one guest, answered by its registry. */
#include "vmm-probe/provider/world.h"

#include <string.h>

#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/registry.h"

bool vp_world_symbol(const struct vp_symtab *tab, struct vp_types *types, const char *module,
		     const char *name, struct dif_symbol *ret)
{
	const struct vp_symbol *sym = vp_symtab_find(tab, module, name);

	if (!sym)
		return false;
	*ret = (struct dif_symbol){
		.address = sym->addr,
		.size = vp_symbol_size(tab, sym),
		.name = vp_symbol_name(tab, sym),
		.module = vp_symbol_module(tab, sym),
		.is_function = vp_symbol_is_function(sym),
		.is_percpu = sym->flags & VP_SYM_PERCPU,
	};
	if (types)
		ret->type = vp_types_symbol(types, ret->module, name, ret->is_function);
	return true;
}

static struct dif_type *find_type(void *env, const char *module, enum dif_ckind kind, const char *name)
{
	struct vp_types *types = vp_probes_types(env);

	return types ? vp_types_find(types, module, kind, name) : NULL;
}

static bool find_enumerator(void *env, const char *name, struct dif_type **ret_type, int64_t *ret_value)
{
	struct vp_types *types = vp_probes_types(env);

	return types && vp_types_enumerator(types, name, ret_type, ret_value);
}

static bool find_symbol(void *env, const char *module, const char *name, struct dif_symbol *ret)
{
	return vp_world_symbol(vp_guest_symtab(vp_probes_guest(env)), vp_probes_types(env), module, name,
			       ret);
}

struct match {
	struct vp_probes *probes;
	bool (*each)(void *arg, const struct dif_probe_info *probe);
	void *arg;
};

static bool match_one(void *arg, const struct vp_probe *probe)
{
	struct match *m = arg;
	const struct dif_probe_info info = {
		.id = probe->id,
		.provider = probe->provider,
		.module = probe->module,
		.function = probe->function,
		.name = probe->name,
		.nargs = vp_probes_nargs(m->probes, probe),
	};

	return !m->each || m->each(m->arg, &info);
}

static struct ot_err *match(void *env, const struct dif_probedesc *desc,
			    bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			    uint64_t *ret_count)
{
	struct match m = { .probes = env, .each = each, .arg = arg };

	return vp_probes_match(env, desc, false, match_one, &m, ret_count);
}

static bool probe_arg(void *env, uint32_t probe_id, unsigned n, struct dif_probe_arg *ret)
{
	const struct vp_probe *probe = vp_probes_get(env, probe_id);

	return probe && vp_probes_arg(env, probe, n, ret);
}

struct refusal {
	struct ot_buf *out;
	bool found;
};

static bool see_refused(void *arg, const struct vp_probe *probe)
{
	struct refusal *r = arg;

	if (!probe->refused)
		return true;
	ot_buf_puts(r->out, probe->refused);
	r->found = true;
	return false;
}

static bool why_none(void *env, const struct dif_probedesc *desc, struct ot_buf *out)
{
	struct refusal r = { .out = out };
	uint64_t count;

	ot_err_destroy(vp_probes_match(env, desc, true, see_refused, &r, &count));
	return r.found;
}

void vp_world_of_probes(struct vp_probes *probes, struct dif_world *ret)
{
	*ret = (struct dif_world){
		.env = probes,
		.find_type = find_type,
		.find_enumerator = find_enumerator,
		.find_symbol = find_symbol,
		.match = match,
		.why_none = why_none,
		.probe_arg = probe_arg,
	};
}
