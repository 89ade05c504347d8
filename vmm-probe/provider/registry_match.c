/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matching descriptions with probes. A hundred thousand probes are ordinary: results are kept from probe to
 * probe, an index finds exact names of functions, and probes of other providers are skipped by the run. */
#include <string.h>

#include "vmm-probe/guest/symtab.h"
#include "vmm-probe/provider/registry_internal.h"

/* One field of a description. Runs of probes share their strings, so the last result is kept. */
struct field {
	const char *pattern; /* NULL: matches anything */
	bool is_glob;
	const char *last;
	bool answer;
};

static void field_init(struct field *f, const char *pattern)
{
	*f = (struct field){ .pattern = pattern && *pattern ? pattern : NULL };
	f->is_glob = f->pattern && dif_glob_is_pattern(pattern);
}

static inline bool field_match(struct field *f, const char *text)
{
	if (!f->pattern)
		return true;
	if (f->last != text) {
		f->last = text;
		f->answer = f->is_glob ? dif_glob_match(f->pattern, text) : !strcmp(f->pattern, text);
	}
	return f->answer;
}

struct matcher {
	struct vp_probes *probes;
	struct ot_err *err;
	struct field provider, module, function, name;
	bool module_elsewhere; /* the module is another system's kernel */
	bool with_refused;
	bool to_enable; /* with stand-ins */
	uint32_t after; /* only ids above this one */
	bool (*each)(void *arg, const struct vp_probe *probe);
	void *arg;
	uint64_t count;
};

/* Other systems' names of the modules of providers that are defined in D here: a description with one of
 * these matches the provider's probes here, whose module is this kernel. */
static bool is_kernel_elsewhere(const char *module)
{
	static const char *const names[] = { "genunix", "unix", "ip", "kernel", "mach_kernel" };

	for (size_t i = 0; module && i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(module, names[i]))
			return true;
	return false;
}

static bool module_matches(struct matcher *m, const struct vp_probe_entry *e)
{
	return field_match(&m->module, e->probe.module) ||
	       (m->module_elsewhere && e->provider->definitions) ||
	       (e->provider->is_module && e->provider->is_module(&e->probe, m->module.pattern));
}

/* A stand-in is of every process, so that a number must not matter to the provider's pattern. In the name
 * that it is compared with an asterisk stands for the number. */
static bool means_stand_ins(const struct matcher *m)
{
	const char *pattern = m->provider.pattern;

	return m->to_enable && (!pattern || pattern[strlen(pattern) - 1] == '*');
}

/* False: the callback ended the match. */
static bool try_probe(struct matcher *m, struct vp_probe_entry *e)
{
	const struct vp_probe *p = &e->probe;

	m->probes->compared++;
	if (p->id <= m->after || (p->refused && !m->with_refused) || (p->stands_in && !means_stand_ins(m)))
		return true;
	/* Cheapest first: results for names and providers are often kept, those for functions are not. */
	if (!field_match(&m->provider, p->provider) || !field_match(&m->name, p->name) ||
	    !module_matches(m, e) || !field_match(&m->function, p->function))
		return true;
	m->err = vp_probe_plan(m->probes, e);
	if (m->err)
		return false;
	if (p->refused && !m->with_refused)
		return true;
	m->count++;
	return !m->each || m->each(m->arg, p);
}

/* Advance @id, to at most @count, to a probe whose provider has a name that matches; *ret_end is where that
 * is no longer known. @definitions: only providers whose probes are defined in D. False: there is none. */
static bool next_of_provider(struct matcher *m, uint32_t count, bool definitions, uint32_t *id,
			     uint32_t *ret_end)
{
	const struct vp_probe_runs *runs = &m->probes->runs;
	size_t i = *id <= count ? vp_probe_runs_find(runs, *id) : 0;

	for (; *id <= count; i++) {
		const struct vp_probe_run *run = &runs->list[i];
		*ret_end = vp_probe_run_end(runs, i, count + 1);
		if ((run->provider->definitions || !definitions) && field_match(&m->provider, run->name))
			return true;
		*id = *ret_end;
	}
	return false;
}

/* Probes with ids above @after, up to @count. */
static struct ot_err *try_range(struct matcher *m, uint32_t after, uint32_t count)
{
	uint32_t id = after + 1, end;

	while (next_of_provider(m, count, false, &id, &end))
		for (; id < end; id++)
			if (!try_probe(m, vp_probe_entry(m->probes, id)))
				return m->err;
	return NULL;
}

static const char *function_of(void *probes, uint32_t id)
{
	return vp_probes_get(probes, id)->function;
}

/* The index finds an exact function name; probes added after the index was built are compared one by one. */
static struct ot_err *match_exact(struct vp_probes *probes, struct matcher *m)
{
	struct vp_probe_index *index = &probes->index;

	if (!index->count)
		OT_TRY(vp_probe_index_init(index, probes->count, function_of, probes));
	for (uint32_t id = vp_probe_index_first(index, m->function.pattern); id; id = index->next[id])
		if (!try_probe(m, vp_probe_entry(probes, id)))
			return m->err;
	return try_range(m, index->count, probes->count);
}

/* No function has that name: try the compiler's copies of one. Rare, and mostly a misspelling. */
static struct ot_err *match_copies(struct vp_probes *probes, struct matcher *m)
{
	const char *of = m->function.pattern;
	uint32_t count = probes->count, id = m->after + 1, end;

	m->function.pattern = NULL;
	while (next_of_provider(m, count, false, &id, &end))
		for (; id < end; id++) {
			struct vp_probe_entry *e = vp_probe_entry(probes, id);
			if (vp_function_is_copy(e->probe.function, of) && !try_probe(m, e))
				return m->err;
		}
	return NULL;
}

static struct ot_err *match_all(struct vp_probes *probes, struct matcher *m)
{
	/* Probes that @each adds are not visited: a description means those that existed before. */
	return try_range(m, m->after, probes->count);
}

/* A provider defined in D knows its probes' functions only when their places are determined. If a description
 * names such a provider and a function, determine all of its probes. */
static struct ot_err *name_functions(struct vp_probes *probes, struct matcher *m, bool *ret)
{
	uint32_t id = 1, end;

	*ret = false;
	if (!m->provider.pattern || m->provider.is_glob || !m->function.pattern)
		return NULL;
	while (next_of_provider(m, probes->count, true, &id, &end))
		for (; id < end; id++) {
			struct vp_probe_entry *e = vp_probe_entry(probes, id);
			probes->compared++;
			if (*e->probe.function && !e->resolved)
				continue;
			*ret = true;
			OT_TRY(vp_probe_plan(probes, e));
		}
	return NULL;
}

/* No function has that name: try it without ThinLTO's hash, which the guest's own list of symbols has (it may
 * be a pattern), then the compiler's copies. */
static struct ot_err *match_others(struct vp_probes *probes, struct matcher *m, bool is_exact)
{
	char function[VP_SYM_NAME_MAX + 1];
	const char *name = m->function.pattern;
	size_t len = strlen(name), bare = len;

	if (len <= VP_SYM_NAME_MAX)
		bare = vp_symbol_without_hash(function, name, len, "0123456789*");
	if (bare < len) {
		function[bare] = '\0';
		field_init(&m->function, function);
		return m->function.is_glob || m->after ? match_all(probes, m) : match_exact(probes, m);
	}
	return is_exact ? match_copies(probes, m) : NULL;
}

static struct ot_err *match_fields(struct vp_probes *probes, struct matcher *m)
{
	bool is_exact = m->function.pattern && !m->function.is_glob, is_late;

	OT_TRY(name_functions(probes, m, &is_late));
	if (is_late) /* the index has the functions of the beginning */
		return match_all(probes, m);
	OT_TRY(is_exact && !m->after ? match_exact(probes, m) : match_all(probes, m));
	return m->count || !m->function.pattern ? NULL : match_others(probes, m, is_exact);
}

static struct ot_err *match_id(struct vp_probes *probes, struct matcher *m, uint32_t id)
{
	if (!vp_probes_get(probes, id))
		return ot_err_new(OT_ERR_NOT_FOUND, "invalid probe identifier %u: Unknown probe identifier",
				  id);
	try_probe(m, vp_probe_entry(probes, id));
	return m->err;
}

static struct ot_err *match(struct matcher *m, const struct dif_probedesc *desc)
{
	OT_TRY(vp_providers_provide(m->probes, desc));
	field_init(&m->provider, desc->provider);
	field_init(&m->module, desc->module);
	field_init(&m->function, desc->function);
	field_init(&m->name, desc->name);
	m->module_elsewhere = is_kernel_elsewhere(desc->module);
	return match_fields(m->probes, m);
}

struct ot_err *vp_probes_match(struct vp_probes *probes, const struct dif_probedesc *desc, bool with_refused,
			       bool (*each)(void *arg, const struct vp_probe *probe), void *arg,
			       uint64_t *ret_count)
{
	struct matcher m = { .probes = probes, .with_refused = with_refused, .each = each, .arg = arg };

	OT_TRY(desc->id ? match_id(probes, &m, desc->id) : match(&m, desc));
	*ret_count = m.count;
	return NULL;
}

struct ot_err *vp_probes_match_to_enable(struct vp_probes *probes, const struct dif_probedesc *desc,
					 uint32_t after,
					 bool (*each)(void *arg, const struct vp_probe *probe), void *arg,
					 uint64_t *ret_count)
{
	struct matcher m = { .probes = probes, .to_enable = true, .after = after, .each = each, .arg = arg };

	if (!desc->id)
		OT_TRY(match(&m, desc));
	else if (!after)
		OT_TRY(match_id(probes, &m, desc->id));
	*ret_count = m.count;
	return NULL;
}
