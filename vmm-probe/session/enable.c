/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a compiled program to ECBs in engines: lay clauses out, match them against probes, give
 * each pair an EPID, find the probes' sites, and hand every engine what is its own.
 *
 * BEGIN, END and tick go to the host engine; a probe in a guest to that guest's; ERROR to all,
 * as a fault may come up in any.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/map.h"
#include "dif/obj/verify.h"
#include "vmm-probe/backend/none/none.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/session/internal.h"

/* Probes of one guest that are in its source's batch already: id → index + 1. */
struct enabling {
	struct vp_session *s;
	uint32_t clause;
	uint32_t registry;       /* whose probes are being matched */
	struct ot_map *in_batch; /* one for each source */
	struct ot_err *err;
};

static struct vp_probes *registry(struct vp_session *s, uint32_t i)
{
	return s->nlinks ? s->links[i]->probes : s->host_probes;
}

static uint32_t add_string(struct vp_source *src, const char *text)
{
	uint32_t at = (uint32_t)src->batch_strings.len;

	ot_buf_append(&src->batch_strings, text, strlen(text) + 1);
	return at;
}

static struct ot_err *add_sites(struct vp_session *s, struct vp_source *src, uint32_t reg,
				const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	ot_auto_free struct vp_batch_site *sites = NULL;

	if (probe->kind != VP_PROBE_SITE)
		return NULL;
	bp->first_site = (uint32_t)(src->batch_sites.len / sizeof(*sites));
	OT_TRY(vp_probes_sites(registry(s, reg), probe, &sites, &bp->nsites));
	ot_buf_append(&src->batch_sites, sites, bp->nsites * sizeof(*sites));
	return NULL;
}

/* Put a probe in a source's batch, once. */
static struct ot_err *add_probe(struct enabling *e, uint32_t source, const struct vp_probe *probe,
				uint32_t *ret_index)
{
	struct vp_source *src = &e->s->sources[source];
	struct ot_map *map = &e->in_batch[source];
	uintptr_t known = (uintptr_t)ot_map_get(map, &probe->id, sizeof(probe->id));

	if (known) {
		*ret_index = (uint32_t)known - 1;
		return NULL;
	}
	struct vp_batch_probe bp = {
		.id = probe->id,
		.kind = source == 0 && probe->kind == VP_PROBE_PROFILE ? VP_PROBE_HOST : probe->kind,
		.args = probe->args,
		.provider = add_string(src, probe->provider),
		.module = add_string(src, probe->module),
		.function = add_string(src, probe->function),
		.name = add_string(src, probe->name),
		.interval_ns = probe->interval_ns,
	};
	OT_TRY(add_sites(e->s, src, e->registry, probe, &bp));
	uint32_t index = (uint32_t)(src->batch_probes.len / sizeof(bp));
	ot_buf_append(&src->batch_probes, &bp, sizeof(bp));
	if (!ot_map_put(map, &probe->id, sizeof(probe->id), (void *)(uintptr_t)(index + 1)))
		return ot_err_nomem();
	*ret_index = index;
	return NULL;
}

static struct ot_err *add_ecb(struct enabling *e, uint32_t source, const struct vp_probe *probe,
			      uint32_t epid)
{
	struct vp_source *src = &e->s->sources[source];
	struct vp_batch_ecb ecb = { .epid = epid, .clause = e->clause };

	OT_TRY(add_probe(e, source, probe, &ecb.probe));
	ot_buf_append(&src->batch_ecbs, &ecb, sizeof(ecb));
	src->has_work = true;
	return NULL;
}

static bool is_timer(const struct vp_probe *probe)
{
	return (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_PROFILE) && probe->interval_ns;
}

static struct ot_err *route(struct enabling *e, const struct vp_probe *probe, uint32_t epid)
{
	struct vp_session *s = e->s;

	if (probe->kind == VP_PROBE_ERROR) {
		for (uint32_t i = 0; i < s->nsources; i++)
			if (i == 0 || !s->links[i - 1]->dump)
				OT_TRY(add_ecb(e, i, probe, epid));
		return NULL;
	}
	if (s->nlinks && probe->kind != VP_PROBE_HOST) {
		if (s->links[e->registry]->dump)
			return ot_err_new(
			    OT_ERR_UNSUPPORTED,
			    "%s is a dump, nothing runs in it: only dtrace::: and tick probes fire",
			    s->links[e->registry]->client.guest_name);
		return add_ecb(e, e->registry + 1, probe, epid);
	}
	if (is_timer(probe) && !vp_tick_add(s, probe))
		return ot_err_nomem();
	return add_ecb(e, 0, probe, epid);
}

static bool enable_one(void *arg, const struct vp_probe *probe)
{
	struct enabling *e = arg;
	struct vp_session *s = e->s;

	/* dtrace:::, tick: there is one host engine, however many guests */
	if (e->registry > 0 && (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR))
		return true;
	if (!ot_grow(&s->enabled, &s->enabled_cap, s->nenabled + 1, sizeof(*s->enabled))) {
		e->err = ot_err_nomem();
		return false;
	}
	s->enabled[s->nenabled] = (struct vp_enabled){
		.epid = (uint32_t)s->nenabled + 1,
		.clause_index = e->clause,
		.guest = e->registry,
		.clause = &s->prog->clauses[e->clause],
		.layout = &s->layouts[e->clause],
		.probe = probe,
	};
	s->nenabled++;
	e->err = route(e, probe, (uint32_t)s->nenabled);
	return e->err == NULL;
}

static bool clause_wants_guest(const struct vp_session *s, const struct dif_clause *clause, uint32_t guest)
{
	const char *pattern = clause->probe.guest;

	return !pattern || !*pattern ||
	       (s->nlinks && dif_glob_match(pattern, s->links[guest]->client.guest_name));
}

static struct ot_err *enable_clause(struct enabling *e)
{
	struct vp_session *s = e->s;
	const struct dif_clause *clause = &s->prog->clauses[e->clause];
	uint32_t nregistries = s->nlinks ? s->nlinks : 1;

	for (e->registry = 0; e->registry < nregistries; e->registry++) {
		uint64_t count = 0;
		if (!clause_wants_guest(s, clause, e->registry))
			continue;
		OT_TRY(
		    vp_probes_match(registry(s, e->registry), &clause->probe, false, enable_one, e, &count));
		if (e->err)
			return e->err;
	}
	return NULL;
}

static struct ot_err *enable_clauses(struct vp_session *s)
{
	ot_auto_free struct ot_map *maps = calloc(s->nsources, sizeof(*maps));
	struct enabling e = { .s = s, .in_batch = maps };
	struct ot_err *err = NULL;

	if (!maps)
		return ot_err_nomem();
	for (; !err && e.clause < s->prog->nclauses; e.clause++)
		err = enable_clause(&e);
	for (uint32_t i = 0; i < s->nsources; i++)
		ot_map_deinit(&maps[i]);
	return err;
}

static struct ot_err *lay_out(struct vp_session *s)
{
	const struct dif_options *o = s->options;

	s->layout_opts = (struct dif_layout_opts){
		.strsize = (uint32_t)o->strsize,
		.stackframes = (uint32_t)o->stackframes,
		.ustackframes = (uint32_t)o->ustackframes,
		.jstackframes = (uint32_t)o->jstackframes,
		.jstackstrsize = (uint32_t)o->jstackstrsize,
	};
	s->layouts = ot_arena_alloc(&s->arena, (s->prog->nclauses + 1) * sizeof(*s->layouts));
	if (!s->layouts)
		return ot_err_nomem();
	for (uint32_t i = 0; i < s->prog->nclauses; i++)
		OT_TRY(dif_clause_layout(&s->prog->clauses[i], &s->layout_opts, &s->arena, &s->layouts[i]));
	return NULL;
}

static struct ot_err *make_sources(struct vp_session *s)
{
	s->nsources = 1 + s->nlinks;
	s->sources = calloc(s->nsources, sizeof(*s->sources));
	if (!s->sources)
		return ot_err_nomem();
	for (uint32_t i = 0; i < s->nsources; i++) {
		struct vp_source *src = &s->sources[i];
		src->link = i ? s->links[i - 1] : NULL;
		src->guest = i ? i - 1 : 0;
		src->ncpus = i && !src->link->dump ? src->link->client.nvcpus : 1;
		src->seen = calloc(src->ncpus, sizeof(*src->seen));
		if (!src->seen)
			return ot_err_nomem();
	}
	return NULL;
}

static struct ot_err *open_host(struct vp_session *s, const void *dof, size_t size)
{
	struct vp_guest_link *only = s->nlinks == 1 ? s->links[0] : NULL;
	struct vp_facts none;

	vp_facts_none(&none);
	OT_TRY(vp_none_engine_create(only ? only->guest : NULL, &s->host_engine));
	OT_TRY(vp_es_open(s->host_engine, &s->sources[0].open, dof, size, &none, s->shared, s->shared_size,
			  NULL, 0, &s->host_es));
	s->sources[0].opened = true;
	return NULL;
}

static struct ot_err *to_memfd(const char *name, const void *data, size_t size, int *ret_fd)
{
	ot_auto_close int fd = -1;

	OT_TRY(ot_memfd_create(name, size, &fd));
	OT_TRY(ot_write_all(fd, data, size));
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

static struct ot_err *open_guest(struct vp_session *s, struct vp_source *src, const void *dof, size_t size)
{
	ot_auto_close int dof_fd = -1;
	ot_auto_close int facts_fd = -1;

	OT_TRY(to_memfd("outsight-program", dof, size, &dof_fd));
	OT_TRY(to_memfd("outsight-facts", &src->link->facts, sizeof(src->link->facts), &facts_fd));
	int fds[] = { dof_fd, facts_fd, s->shared_fd, src->link->orc_fd };
	int nfds = src->link->orc_fd >= 0 ? 4 : 3;
	OT_TRY(vp_client_open(&src->link->client, &src->open, fds, nfds));
	src->opened = true;
	return NULL;
}

static struct ot_err *open_engines(struct vp_session *s)
{
	struct ot_buf dof;

	ot_buf_init(&dof);
	struct ot_err *err = dif_dof_write(s->prog, &dof);
	if (!err)
		err = open_host(s, dof.data, dof.len);
	for (uint32_t i = 1; !err && i < s->nsources; i++)
		if (s->sources[i].has_work)
			err = open_guest(s, &s->sources[i], dof.data, dof.len);
	ot_buf_deinit(&dof);
	return err;
}

/* The arrays behind one another, each aligned to 8. */
static struct ot_err *assemble(struct vp_source *src, struct ot_buf *out)
{
	struct vp_batch batch = {
		.nprobes = (uint32_t)(src->batch_probes.len / sizeof(struct vp_batch_probe)),
		.nsites = (uint32_t)(src->batch_sites.len / sizeof(struct vp_batch_site)),
		.necbs = (uint32_t)(src->batch_ecbs.len / sizeof(struct vp_batch_ecb)),
		.strings_size = (uint32_t)src->batch_strings.len,
	};
	struct ot_buf *parts[] = { &src->batch_probes, &src->batch_sites, &src->batch_ecbs,
				   &src->batch_strings };
	uint32_t *offsets[] = { &batch.probes_offset, &batch.sites_offset, &batch.ecbs_offset,
				&batch.strings_offset };

	ot_buf_append(out, &batch, sizeof(batch));
	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++) {
		ot_buf_align(out, 8);
		*offsets[i] = (uint32_t)out->len;
		ot_buf_append(out, ot_buf_str(parts[i]), parts[i]->len);
		if (parts[i]->failed)
			return ot_err_nomem();
	}
	if (out->failed)
		return ot_err_nomem();
	if (out->len > UINT32_MAX)
		return ot_err_new(OT_ERR_LIMIT, "too many probes for one session");
	batch.size = (uint32_t)out->len;
	memcpy(out->data, &batch, sizeof(batch));
	return NULL;
}

static struct ot_err *send_batch(struct vp_session *s, struct vp_source *src)
{
	struct ot_buf whole;
	ot_auto_close int fd = -1;

	if (!src->has_work)
		return NULL;
	ot_buf_init(&whole);
	struct ot_err *err = assemble(src, &whole);
	if (!err && !src->link)
		err = vp_es_enable(s->host_es, whole.data, whole.len);
	if (!err && src->link)
		err = to_memfd("outsight-enablings", whole.data, whole.len, &fd);
	if (!err && src->link)
		err = vp_client_enable(&src->link->client, fd);
	ot_buf_deinit(&whole);
	return err;
}

static bool is_destructive(const struct dif_program *prog)
{
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *c = &prog->clauses[i];
		if (c->predicate && c->predicate->destructive)
			return true;
		for (uint32_t k = 0; k < c->nactions; k++) {
			unsigned class = DIF_ACT_CLASS(c->actions[k].kind);
			if (class == 0x200 || class == 0x500)
				return true;
			if (c->actions[k].object && c->actions[k].object->destructive)
				return true;
		}
	}
	return false;
}

/* A program holds addresses as numbers: guests whose kernels lie apart can't share those. */
static struct ot_err *check_addresses(const struct vp_session *s)
{
	for (uint32_t i = 1; s->used_address && i < s->nlinks; i++)
		if (vp_guest_kaslr_offset(s->links[i]->guest) != vp_guest_kaslr_offset(s->links[0]->guest))
			return ot_err_new(
			    OT_ERR_UNSUPPORTED,
			    "the program uses kernel symbols (`name), and the kernels of %s and %s lie at "
			    "different addresses: trace them in sessions of their own",
			    s->links[0]->client.guest_name, s->links[i]->client.guest_name);
	return NULL;
}

struct ot_err *vp_session_enable(struct vp_session *s, struct dif_program *prog, const struct vp_sink *sink)
{
	s->prog = prog;
	s->sink = *sink;
	OT_TRY(check_addresses(s));
	OT_TRY(dif_program_verify(prog));
	if (is_destructive(prog) && !s->options->destructive)
		return ot_err_new(OT_ERR_UNSUPPORTED, "Destructive actions not allowed");
	if (!s->nlinks && !s->host_probes)
		OT_TRY(vp_probes_create(NULL, &s->host_probes));
	OT_TRY(lay_out(s));
	OT_TRY(make_sources(s));
	OT_TRY(enable_clauses(s));
	OT_TRY(vp_share_create(s));
	OT_TRY(open_engines(s));
	for (uint32_t i = 0; i < s->nsources; i++)
		OT_TRY(send_batch(s, &s->sources[i]));
	return NULL;
}
