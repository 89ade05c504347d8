/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One key for one name: see agg_names.h. */
#include "consumer/agg_names.h"

#include <stdlib.h>
#include <string.h>

#include "consumer/aggregate.h"

void con_agg_names_init(struct con_agg_names *names)
{
	*names = (struct con_agg_names){ 0 };
	ot_map_init(&names->addresses);
	ot_map_init(&names->names);
	ot_arena_init(&names->arena);
}

void con_agg_names_deinit(struct con_agg_names *names)
{
	ot_map_deinit(&names->addresses);
	ot_map_deinit(&names->names);
	ot_arena_deinit(&names->arena);
	free(names->places);
}

static bool is_of_process(uint32_t kind)
{
	return DIF_ACT_CLASS(kind) == DIF_ACT_CLASS(DIF_ACT_ustack);
}

static bool is_of_kernel(uint32_t kind)
{
	return kind == DIF_ACT_sym || kind == DIF_ACT_mod || kind == DIF_ACT_stack;
}

static bool any_key(const struct dif_clause *clause, const struct dif_agg_layout *layout,
		    bool (*is)(uint32_t kind))
{
	for (uint32_t i = 0; i < layout->nkeys; i++)
		if (is(clause->actions[layout->keys[i].action].kind))
			return true;
	return false;
}

bool con_agg_names_kernel(const struct dif_clause *clause, const struct dif_agg_layout *layout)
{
	return any_key(clause, layout, is_of_kernel);
}

bool con_agg_names_process(const struct dif_clause *clause, const struct dif_agg_layout *layout)
{
	return any_key(clause, layout, is_of_process);
}

/* The representative of a name from now on. */
static struct ot_err *add(struct con_agg_names *names, struct con_printer *p, bool numbered, uint64_t addr,
			  uint64_t *ret)
{
	*ret = addr;
	if (!numbered)
		return NULL;
	if (!ot_grow(&names->places, &names->cap, names->nplaces + 1, sizeof(*names->places)))
		return ot_err_nomem();
	p->places = names->places;
	p->nplaces = names->nplaces + 1;
	names->places[names->nplaces++] = (struct con_named_place){ p->guest, addr };
	*ret = names->nplaces;
	return NULL;
}

/* An address in its original form. */
struct address {
	uint64_t kind, guest, pid, addr;
};

/* An address without a name is its guest's own. */
static struct ot_err *find_name(struct con_agg_names *names, struct con_printer *p, bool numbered,
				const struct address *a, const char *name, uint64_t **ret)
{
	bool shared = numbered && strncmp(name, "0x", 2) != 0;
	char text[CON_SYMBOL_MAX + 64];

	snprintf(text, sizeof(text), "%llx %llx %llx %s", (unsigned long long)a->kind,
		 shared ? 0 : (unsigned long long)a->guest + 1, (unsigned long long)a->pid, name);
	*ret = ot_map_gets(&names->names, text);
	if (*ret)
		return NULL;
	*ret = ot_arena_new(&names->arena, uint64_t);
	if (!*ret)
		return ot_err_nomem();
	OT_TRY(add(names, p, numbered, a->addr, *ret));
	return ot_map_puts(&names->names, text, *ret) ? NULL : ot_err_nomem();
}

/* Memory of an address and its name, in both maps and the arena. */
static uint64_t cost(const char *name)
{
	return 2 * strlen(name) + 256;
}

/* Replace the address at @at, which is @d's or a frame of it. */
static struct ot_err *replace(struct con_agg_names *names, struct con_printer *p, bool numbered,
			      const struct con_datum *d, uint8_t *at)
{
	struct address a = { d->action->kind, p->guest, 0, con_load(at, 8) };
	char name[CON_SYMBOL_MAX];

	if (is_of_process(d->action->kind))
		a.pid = con_load(d->data, 8);
	uint64_t *known = ot_map_get(&names->addresses, &a, sizeof(a));
	if (!known) {
		if (d->action->kind == DIF_ACT_stack)
			con_kernel_text(p, a.addr, VP_SYM_OFFSET, name, sizeof(name));
		else
			con_symbol_text(p, d, name, sizeof(name));
		if (!ot_account_take(names->account, cost(name)))
			return ot_err_new(OT_ERR_LIMIT, "no room for %s", name);
		OT_TRY(find_name(names, p, numbered, &a, name, &known));
		if (!ot_map_put(&names->addresses, &a, sizeof(a), known))
			return ot_err_nomem();
	}
	memcpy(at, known, sizeof(*known));
	return NULL;
}

static struct ot_err *replace_frames(struct con_agg_names *names, struct con_printer *p,
				     const struct con_datum *d, uint8_t *data)
{
	for (uint32_t at = 0; at + 8 <= d->size && con_load(data + at, 8); at += 8)
		OT_TRY(replace(names, p, true, d, data + at));
	return NULL;
}

struct ot_err *con_agg_names_apply(struct con_agg_names *names, struct con_printer *p,
				   struct con_agg_entry *e)
{
	bool numbered = e->source->guest == CON_GUEST_NAMED;

	names->account = e->source->account;
	for (uint32_t i = 0; i < e->source->layout->nkeys; i++) {
		struct con_datum d = con_agg_key(e, i);
		uint8_t *data = con_agg_tuple(e) + e->source->layout->keys[i].offset;

		switch (d.action->kind) {
		case DIF_ACT_sym:
		case DIF_ACT_mod:
			if (d.size >= 8)
				OT_TRY(replace(names, p, numbered, &d, data));
			break;
		case DIF_ACT_usym:
		case DIF_ACT_umod:
			if (d.size >= 16)
				OT_TRY(replace(names, p, false, &d, data + 8));
			break;
		case DIF_ACT_stack:
			if (numbered)
				OT_TRY(replace_frames(names, p, &d, data));
			break;
		default:
			break;
		}
	}
	return NULL;
}
