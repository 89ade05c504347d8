/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Providers that a program declares, or whose attributes it sets. */
#include "dif/lang/types/provider.h"

#include "dif/lang/types/provider_priv.h"
#include "dif/lang/types/world.h"

struct dif_provider *dif_provider_find(const struct dif_compiler *c, const char *name)
{
	return ot_map_gets(&c->idents->providers, name);
}

struct dif_provider *dif_provider_get(struct dif_compiler *c, const char *name)
{
	struct dif_provider *p = dif_provider_find(c, name);

	if (p)
		return p;
	p = dif_new(c, &c->arena, struct dif_provider);
	if (!p)
		return NULL;
	p->name = dif_strdup(c, &c->arena, name);
	ot_map_init(&p->probes);
	if (!p->name || !ot_map_puts(&c->idents->providers, p->name, p))
		return dif_fail_memory(c);
	return p;
}

bool dif_provider_is_real(struct dif_compiler *c, const char *name)
{
	return c->world->has_dependency && c->world->has_dependency(c->world->env, "provider", name);
}

const struct dif_provider *dif_compiler_provider(const struct dif_compiler *comp, size_t i)
{
	for (size_t k = 0; k < comp->idents->providers.count; k++) {
		const struct dif_provider *p = comp->idents->providers.entries[k]->value;
		/* providers named only in a pragma do not count */
		if (p->is_declared && i-- == 0)
			return p;
	}
	return NULL;
}

const char *dif_provider_name(const struct dif_provider *provider)
{
	return provider->name;
}

const char *dif_provider_probe(const struct dif_provider *provider, size_t i)
{
	return i < provider->probes.count ? provider->probes.entries[i]->key : NULL;
}

uint32_t dif_provider_nargs(const struct dif_provider *provider, size_t i)
{
	const struct dif_provider_probe *probe = provider->probes.entries[i]->value;

	return probe->input.n;
}

void dif_provider_arg(struct dif_compiler *comp, const struct dif_provider *provider, size_t i, uint32_t n,
		      struct ot_buf *out)
{
	const struct dif_provider_probe *probe = provider->probes.entries[i]->value;
	struct dif_type *type = probe->input.types[n];

	if (dif_is_string(comp, type))
		ot_buf_printf(out, "char *");
	else
		dif_type_print(type, out);
}

bool dif_compiler_provider_attribute(const struct dif_compiler *comp, const char *provider,
				     enum dif_attr_part part, struct dif_attribute *ret)
{
	const struct dif_provider *prov = dif_provider_find(comp, provider);

	if (!prov || !prov->has_attr[part])
		return false;
	*ret = prov->attrs[part];
	return true;
}
