/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the nearest name to one that does not exist. */
#include "dif/lang/types/suggest.h"

#include <string.h>

#include "base/near.h"
#include "dif/lang/types/elsewhere.h"

#define NESTING_MAX 8

static const char *const prefixes[] = {
	[DIF_NAME_GLOBAL] = "",
	[DIF_NAME_SELF] = "self->",
	[DIF_NAME_THIS] = "this->",
};

static const struct ot_map *names_of(const struct dif_compiler *c, enum dif_name_scope scope)
{
	return scope == DIF_NAME_SELF   ? &c->idents->thread
	       : scope == DIF_NAME_THIS ? &c->idents->local
					: &c->idents->globals;
}

/* Names that programs can't write (those of if/else) are not suggested. */
static bool is_variable(const struct dif_ident *id)
{
	return !id->func && id->name[0] != '%';
}

void dif_suggest_variable(struct dif_compiler *c, enum dif_name_scope scope, const char *name)
{
	const char *elsewhere = scope == DIF_NAME_GLOBAL ? dif_name_elsewhere(name, false) : NULL;
	const struct ot_map *names = names_of(c, scope);
	struct ot_near near;

	for (enum dif_name_scope other = DIF_NAME_GLOBAL; other <= DIF_NAME_THIS; other++) {
		const struct dif_ident *id = other == scope ? NULL : ot_map_gets(names_of(c, other), name);
		if (!id || !is_variable(id))
			continue;
		dif_hint(c, "did you mean %s%s?", prefixes[other], name);
		return;
	}
	if (elsewhere)
		dif_hint(c, "%s", elsewhere);
	ot_near_init(&near, name);
	for (size_t i = 0; i < names->count; i++) {
		const struct dif_ident *id = names->entries[i]->value;
		if (id && is_variable(id))
			ot_near_offer(&near, id->name);
	}
	if (ot_near_best(&near))
		dif_hint(c, "did you mean %s%s?", prefixes[scope], ot_near_best(&near));
}

void dif_suggest_function(struct dif_compiler *c, const char *name)
{
	const char *elsewhere = dif_name_elsewhere(name, true);
	struct ot_near near;

	if (elsewhere)
		dif_hint(c, "%s", elsewhere);
	ot_near_init(&near, name);
	for (size_t i = 0; i < c->idents->globals.count; i++) {
		const struct dif_ident *id = c->idents->globals.entries[i]->value;
		if (id && id->func)
			ot_near_offer(&near, id->name);
	}
	if (ot_near_best(&near))
		dif_hint(c, "did you mean %s( )?", ot_near_best(&near));
}

static void offer_members(struct dif_compiler *c, struct ot_near *near, struct dif_type *type, int depth)
{
	struct dif_type *sou = dif_base(c, type);

	if (depth > NESTING_MAX || !dif_is_sou(c, sou))
		return;
	ot_err_destroy(dif_type_complete(sou));
	for (uint32_t i = 0; sou->members && i < sou->nmembers; i++) {
		const struct dif_member *m = &sou->members[i];
		if (m->name && *m->name)
			ot_near_offer(near, m->name);
		else
			offer_members(c, near, m->type, depth + 1);
	}
}

/* Another system's structure has its members behind another prefix: cache_name is name, device_name dev_name.
 */
static const char *member_behind_prefix(struct dif_compiler *c, struct dif_type *sou, const char *name)
{
	const char *tail = strchr(name, '_');
	struct dif_type *type = dif_base(c, sou);

	if (!dif_is_sou(c, type))
		return NULL;
	ot_err_destroy(dif_type_complete(type));
	for (uint32_t i = 0; tail && tail[1] && type->members && i < type->nmembers; i++) {
		const char *is = type->members[i].name, *own = is ? strchr(is, '_') : NULL;
		if (is && (!strcmp(is, tail + 1) || (own && !strcmp(own, tail))))
			return is;
	}
	return NULL;
}

void dif_suggest_member(struct dif_compiler *c, struct dif_type *sou, const char *name)
{
	struct ot_near near;

	ot_near_init(&near, name);
	offer_members(c, &near, sou, 0);
	if (ot_near_best(&near))
		dif_hint(c, "did you mean %s?", ot_near_best(&near));
}

void dif_suggest_behind_prefix(struct dif_compiler *c, struct dif_type *sou, const char *name)
{
	const char *best = member_behind_prefix(c, sou, name);
	struct dif_type *type = dif_base(c, sou);

	if (best)
		dif_hint(c, "did you mean %s?", best);
	/* a macro of the kernel may be a member's member: sk_family is __sk_common.skc_family */
	for (uint32_t i = 0; !best && type->members && i < type->nmembers; i++) {
		const struct dif_member *m = &type->members[i];
		best = m->name && *m->name ? member_behind_prefix(c, m->type, name) : NULL;
		if (best)
			dif_hint(c, "did you mean %s.%s?", m->name, best);
	}
}

/* Variables of other systems' kernels that scripts read, and their counterparts here. Sources: the books and
 * manuals in which they are printed, and Linux's documentation of its exports. */
static const struct {
	const char *name, *here;
} variables[] = {
	{ "hp_avenrun", "`avenrun[0] / 2048 is what `hp_avenrun[0] / 65536 is there" },
	{ "averunnable", "the load of the last minute is `avenrun[0] / 2048" },
	{ "utsname", "the guest's names are in `init_uts_ns.name: `init_uts_ns.name.nodename" },
	{ "hostname", "the guest's name is `init_uts_ns.name.nodename" },
	{ "osrelease", "the kernel's release is `init_uts_ns.name.release" },
	{ "freemem", "the number of free pages is *(long *)&`vm_zone_stat" },
	{ "vm_page_free_count", "the number of free pages is *(long *)&`vm_zone_stat" },
	{ "physmem", "the number of pages is *(long *)&`_totalram_pages" },
	{ "physinstalled", "the number of pages is *(long *)&`_totalram_pages" },
	{ "_pagesize", "a page of an x86-64 guest has 4096 bytes" },
	{ "ncpus", "the number of CPUs is *(int *)&`__num_online_cpus" },
	{ "ncpus_online", "the number of CPUs is *(int *)&`__num_online_cpus" },
	{ "mp_ncpus", "the number of CPUs is *(int *)&`__num_online_cpus" },
	{ "nproc", "the number of threads is `nr_threads" },
	{ "lbolt", "ticks are counted in `jiffies" },
	{ "ticks", "ticks are counted in `jiffies" },
	{ "practive", "processes are a list from `init_task on" },
	{ "allproc", "processes are a list from `init_task on" },
	{ "p0", "the first task is `init_task" },
};

void dif_suggest_symbol(struct dif_compiler *c, const char *name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(variables); i++)
		if (!strcmp(variables[i].name, name))
			dif_hint(c, "%s", variables[i].here);
}

void dif_suggest_type(struct dif_compiler *c, const char *name)
{
	if (!dif_ident_find(c, DIF_NAME_GLOBAL, name) && !dif_type_find(c, name))
		dif_hint(c, "%s is no type: neither D nor the kernel that is traced has it", name);
}

void dif_suggest_reading(struct dif_compiler *c, const char *name, struct dif_type *wanted)
{
	const char *type = wanted && dif_is_scalar(c, wanted) ? dif_type_text(c, wanted) : "int";
	bool is_pointer = *type && type[strlen(type) - 1] == '*';

	if (wanted && dif_is_string(c, wanted))
		dif_hint(c, "%s has no type: stringof(&%s) reads a string there", name, name);
	else
		dif_hint(c, "%s has no type: *(%s%s*)&%s reads it there", name, type, is_pointer ? "" : " ",
			 name);
}

void dif_suggest_aggregation(struct dif_compiler *c, const char *name)
{
	struct ot_near near;

	ot_near_init(&near, name);
	for (size_t i = 0; i < c->idents->aggs.count; i++) {
		const struct dif_ident *id = c->idents->aggs.entries[i]->value;
		if (id)
			ot_near_offer(&near, id->name);
	}
	if (ot_near_best(&near))
		dif_hint(c, "did you mean @%s?", ot_near_best(&near));
}
