/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and types of Prometheus' families: see prom.h. */
#include <stdlib.h>
#include <string.h>

#include "consumer/output/prom.h"

static const char counter[] = "counter", gauge[] = "gauge", histogram[] = "histogram";

static const char *type_of(const struct con_agg_view *v)
{
	const struct con_agg *agg = v->columns[0];
	struct con_aggval val;

	if (con_aggval_is_histogram(agg->kind))
		return histogram;
	if (agg->kind != DIF_AGG_count && agg->kind != DIF_AGG_sum)
		return gauge;
	for (size_t i = 0; i < v->nrows; i++) {
		val = con_agg_view_value(v, i, 0);
		if (con_aggval_number(&val) < 0)
			return gauge;
	}
	return counter;
}

/* Is @name the family's, or that of one of its series? */
static bool has_name(const char *family, const char *type, const char *name)
{
	static const char *const suffixes[] = { "", "_bucket", "_count", "_sum" };
	size_t len = strlen(family);

	if (strncmp(family, name, len) != 0)
		return false;
	for (size_t i = 0; i < (type == histogram ? OT_ARRAY_SIZE(suffixes) : 1); i++)
		if (!strcmp(name + len, suffixes[i]))
			return true;
	return false;
}

static bool clash(const char *a, const char *a_type, const char *b, const char *b_type)
{
	return has_name(a, a_type, b) || has_name(b, b_type, a);
}

static const struct {
	const char *name, *type;
} own_families[] = {
	{ CON_PROM_DROPS, counter },
	{ CON_PROM_FAULTS, counter },
	{ CON_PROM_TAKEN, counter },
	{ CON_PROM_LEFT_OUT, gauge },
};

static bool is_taken(const struct con_prom_names *names, uint32_t own, const char *name, const char *type)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(own_families); i++)
		if (clash(name, type, own_families[i].name, own_families[i].type))
			return true;
	for (uint32_t i = 0; i < names->count; i++)
		if (i != own && clash(name, type, names->families[i].name, names->families[i].type))
			return true;
	return false;
}

/* @n: number of the attempt; the first one is unchanged. */
static void make_name(char *buf, const struct con_agg *agg, const char *type, unsigned n)
{
	bool is_named = agg->name[0] && strcmp(agg->name, "_") != 0;
	char number[16] = "";

	if (n)
		snprintf(number, sizeof(number), "_%u", n + 1);
	snprintf(buf, CON_PROM_NAME_MAX, "outsight_%.200s%s%s",
		 is_named ? agg->name : dif_action_name(agg->kind), number, type == counter ? "_total" : "");
}

static void name_family(struct con_prom_names *names, uint32_t at, const struct con_agg *agg,
			const char *type)
{
	struct con_prom_family *f = &names->families[at];
	char name[CON_PROM_NAME_MAX];
	unsigned n = 0;

	do
		make_name(name, agg, type, n++);
	while (is_taken(names, at, name, type));
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->type = type;
}

struct ot_err *con_prom_name(struct con_prom_names *names, const struct con_agg_view *view, uint32_t id,
			     const struct con_prom_family **ret)
{
	const char *type = type_of(view);

	if (id > names->count) {
		if (!ot_grow(&names->families, &names->cap, id, sizeof(*names->families)))
			return ot_err_nomem();
		name_family(names, id - 1, view->columns[0], type);
		names->count = id;
	} else if (names->families[id - 1].type == counter && type == gauge) {
		name_family(names, id - 1, view->columns[0], type);
	}
	*ret = &names->families[id - 1];
	return NULL;
}

void con_prom_names_deinit(struct con_prom_names *names)
{
	free(names->families);
	*names = (struct con_prom_names){ 0 };
}
