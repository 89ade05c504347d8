/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of all guests, for -l: each name once, with the guests that have it. Guests of one kernel differ
 * in their modules, and in their VMMs' capabilities.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/provider/registry.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/listing.h"

/* A probe of at least one guest. */
struct entry {
	struct entry *same;          /* the next of the same name: static functions may share one */
	const struct vp_probe *of[]; /* by guest */
};

struct gathering {
	struct vp_session *s;
	uint32_t guest; /* whose probes are being matched */
	bool of_guest;  /* the description names guests */
	struct ot_arena arena;
	struct ot_map by_name; /* the first of each name */
	struct ot_buf key;
	struct entry **list; /* in the first guest's order, followed by those that only the next ones have */
	size_t n, cap;
	struct ot_err *err;
};

static struct vp_probes *registry(struct vp_session *s, uint32_t guest)
{
	return s->links.n ? s->links.items[guest]->probes : s->host.probes;
}

static struct ot_err *make_key(struct gathering *g, const struct vp_probe *p)
{
	const char *const parts[] = { p->provider, p->module, p->function, p->name };

	ot_buf_clear(&g->key);
	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++)
		ot_buf_append(&g->key, parts[i], strlen(parts[i]) + 1);
	return g->key.failed ? ot_err_nomem() : NULL;
}

/* The entry of g->key that this guest has no probe in yet; a new one if there is none. */
static struct ot_err *find_entry(struct gathering *g, struct entry **ret)
{
	struct entry *e = ot_map_get(&g->by_name, g->key.data, g->key.len), *last = NULL;

	for (; e && e->of[g->guest]; e = e->same)
		last = e;
	if (!e) {
		e = ot_arena_alloc(&g->arena, sizeof(*e) + g->s->links.n * sizeof(e->of[0]));
		if (!e || !ot_grow(&g->list, &g->cap, g->n + 1, sizeof(struct entry *)))
			return ot_err_nomem();
		g->list[g->n++] = e;
		if (last)
			last->same = e;
		else if (!ot_map_put(&g->by_name, g->key.data, g->key.len, e))
			return ot_err_nomem();
	}
	*ret = e;
	return NULL;
}

static bool add(void *arg, const struct vp_probe *probe)
{
	struct gathering *g = arg;
	struct entry *e;

	/* they are no guest's */
	if (g->of_guest && (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR))
		return true;
	g->err = make_key(g, probe);
	if (!g->err)
		g->err = find_entry(g, &e);
	if (!g->err)
		e->of[g->guest] = probe;
	return !g->err;
}

static struct ot_err *gather(struct gathering *g, const struct dif_probedesc *desc, bool with_refused,
			     uint32_t *ret_asked)
{
	*ret_asked = 0;
	for (g->guest = 0; g->guest < g->s->links.n; g->guest++) {
		uint64_t count;
		if (g->of_guest &&
		    !dif_glob_match(desc->guest, g->s->links.items[g->guest]->client.guest_name))
			continue;
		*ret_asked |= 1u << g->guest;
		OT_TRY(vp_probes_match(registry(g->s, g->guest), desc, with_refused, add, g, &count));
		if (g->err)
			return g->err;
	}
	return NULL;
}

static struct vp_listed listed(const struct gathering *g, const struct entry *e, uint32_t asked)
{
	struct vp_listed l = { .of = e->of, .missing = asked };

	for (uint32_t i = g->s->links.n; i-- > 0;)
		if (e->of[i]) {
			l.probe = e->of[i];
			l.guest = i;
			l.missing &= ~(1u << i);
		}
	return l;
}

/* --- one guest, or none --------------------------------------------------------------------------- */

struct only {
	bool (*each)(void *arg, const struct vp_listed *listed);
	void *arg;
};

static bool pass_on(void *arg, const struct vp_probe *probe)
{
	const struct only *only = arg;
	const struct vp_listed l = { .probe = probe, .of = &probe };

	return only->each(only->arg, &l);
}

/* --- the whole ------------------------------------------------------------------------------------ */

struct ot_err *vp_session_match(struct vp_session *s, const struct dif_probedesc *desc, bool with_refused,
				bool (*each)(void *arg, const struct vp_listed *listed), void *arg,
				uint64_t *ret_count)
{
	struct gathering g = { .s = s, .of_guest = desc->guest && *desc->guest };
	struct only only = { each, arg };
	uint32_t asked;

	if (s->links.n <= 1)
		return vp_probes_match(registry(s, 0), desc, with_refused, pass_on, &only, ret_count);
	ot_arena_init(&g.arena);
	ot_map_init(&g.by_name);
	ot_buf_init(&g.key);
	struct ot_err *err = gather(&g, desc, with_refused, &asked);
	for (size_t i = 0; !err && i < g.n; i++) {
		const struct vp_listed l = listed(&g, g.list[i], asked);
		if (!each(arg, &l))
			break;
	}
	if (!err)
		*ret_count = g.n;
	free(g.list);
	ot_buf_deinit(&g.key);
	ot_map_deinit(&g.by_name);
	ot_arena_deinit(&g.arena);
	return err;
}

void vp_session_describe(struct vp_session *s, const struct vp_listed *l, struct ot_buf *out)
{
	vp_probes_describe(registry(s, l->guest), l->probe, out);
}

bool vp_session_probe_arg(struct vp_session *s, const struct vp_listed *l, unsigned n,
			  struct dif_probe_arg *ret)
{
	return vp_probes_arg(registry(s, l->guest), l->probe, n, ret);
}
