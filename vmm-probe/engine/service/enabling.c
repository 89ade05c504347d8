/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adding a batch of probes, sites and ECBs. The batch is hostile input: every offset, count and index is
 * checked before it is used, and only copies of it are kept.
 */
#include <assert.h>
#include <stdlib.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/hit/walk.h"
#include "vmm-probe/engine/service/agent.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/wire/patches.h"

#define EPID_MAX   (4u << 20)
#define ITEMS_MAX  (1u << 20) /* probes, sites, ECBs: each */
#define DOF_MAX    (16u << 20)
#define BYTES_SEEN 15

/* The batch, by its parts. */
struct parts {
	struct vp_batch head;
	const struct vp_batch_probe *probes;
	const struct vp_batch_site *sites;
	const struct vp_batch_ecb *ecbs;
	const struct vp_batch_agent *agent; /* head.nagents of them */
	const void *dof;                    /* head.dof_size bytes */
	const char *strings;
};

/* --- checks --------------------------------------------------------------------------------- */

static struct ot_err *check_array(const char *what, uint32_t offset, uint32_t n, size_t elem, size_t size)
{
	if (n > ITEMS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "batch of %u %s", n, what);
	if (offset % 8 || offset > size || n > (size - offset) / elem)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: %s at offset %u are out of bounds", what, offset);
	return NULL;
}

static struct ot_err *take_apart(const void *batch, size_t size, struct parts *ret)
{
	const uint8_t *mem = batch;
	struct vp_batch *h = &ret->head;

	if (!batch || size < sizeof(*h))
		return ot_err_new(OT_ERR_BAD_DATA, "batch of %zu bytes", size);
	memcpy(h, batch, sizeof(*h));
	if (h->size != size)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: size is given as %u bytes, but is %zu", h->size,
				  size);
	OT_TRY(check_array("probes", h->probes_offset, h->nprobes, sizeof(*ret->probes), size));
	OT_TRY(check_array("sites", h->sites_offset, h->nsites, sizeof(*ret->sites), size));
	OT_TRY(check_array("ECBs", h->ecbs_offset, h->necbs, sizeof(*ret->ecbs), size));
	OT_TRY(check_array("agents", h->agent_offset, h->nagents, sizeof(*ret->agent), size));
	if (h->nagents > 1)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: %u agents", h->nagents);
	if (h->dof_size > DOF_MAX || h->dof_offset > size || h->dof_size > size - h->dof_offset)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: site programs are out of bounds");
	if (h->strings_offset > size || h->strings_size > size - h->strings_offset || !h->strings_size ||
	    mem[h->strings_offset + h->strings_size - 1])
		return ot_err_new(OT_ERR_BAD_DATA, "batch: strings are out of bounds or not terminated");
	ret->probes = (const void *)(mem + h->probes_offset);
	ret->sites = (const void *)(mem + h->sites_offset);
	ret->ecbs = (const void *)(mem + h->ecbs_offset);
	ret->agent = (const void *)(mem + h->agent_offset);
	ret->dof = mem + h->dof_offset;
	ret->strings = (const char *)(mem + h->strings_offset);
	return NULL;
}

/* Kinds of probes whose sites are for the engine's own use. */
static bool calls_nobody(uint32_t kind)
{
	return kind == VP_PROBE_SENTINEL || kind == VP_PROBE_AGENT_CALL;
}

static struct ot_err *check_agent_probe(const struct parts *p, const struct vp_batch_probe *probe, uint32_t i)
{
	if (probe->kind != VP_PROBE_AGENT)
		return NULL;
	bool tracepoint = probe->agent.want == GA_TRACEPOINT;

	if (!p->head.nagents || probe->agent.slot >= GA_SLOTS ||
	    tracepoint != (probe->agent.slot < GA_TRACEPOINTS) || probe->agent.nargs > GA_ARGS ||
	    !probe->agent.want || probe->agent.want > GA_KRETPROBE ||
	    probe->agent.flags & ~(uint32_t)GA_WANT_FLAGS || probe->agent.skip > VP_AGENT_SKIP_MAX ||
	    probe->agent.when > VP_WHEN_WORD || probe->agent.when_word >= GA_ARGS)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u is not one of an agent", i);
	return NULL;
}

static struct ot_err *check_probe(const struct vp_engine *engine, const struct parts *p, uint32_t i)
{
	const struct vp_batch_probe *probe = &p->probes[i];
	uint32_t strings = p->head.strings_size;

	if (!probe->id || probe->kind > VP_PROBE_AGENT_CALL || probe->args > VP_ARGS_SYSCALL32_ENTRY)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u has an unknown kind", i);
	if (probe->provider >= strings || probe->module >= strings || probe->function >= strings ||
	    probe->name >= strings)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u's name is out of bounds", i);
	if (probe->first_site > p->head.nsites || probe->nsites > p->head.nsites - probe->first_site)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u's sites are out of bounds", i);
	if (probe->nsites && probe->kind != VP_PROBE_SITE && !calls_nobody(probe->kind))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u has sites, but its kind has none", i);
	if (probe->kind == VP_PROBE_VM && (!engine->ops->vm || probe->event >> 16 >= VP_VM_KINDS))
		return ot_err_new(OT_ERR_UNSUPPORTED, "the %s backend does not provide this vm probe",
				  engine->ops->name);
	bool timed = probe->kind == VP_PROBE_PROFILE ||
		     (probe->kind == VP_PROBE_VM && probe->event >> 16 == VP_VM_STAT);
	if (timed && probe->interval_ns < 200000)
		return ot_err_new(OT_ERR_LIMIT, "batch: probe %u: an interval below 200 us", i);
	if (timed && !engine->ops->request_sample && !engine->host)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the %s backend cannot sample: no profile probes",
				  engine->ops->name);
	return check_agent_probe(p, probe, i);
}

static struct ot_err *check_ecb(const struct vp_engine_session *es, const struct parts *p, uint32_t i)
{
	const struct vp_batch_ecb *ecb = &p->ecbs[i];

	if (!ecb->epid || ecb->epid > EPID_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u", ecb->epid);
	if (ecb->clause >= es->service->prog.nclauses || ecb->probe >= p->head.nprobes)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u has no clause or no probe", ecb->epid);
	if (calls_nobody(p->probes[ecb->probe].kind))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u is on a sentinel", ecb->epid);
	if (es->sizes && ecb->epid < es->sizes->n && es->sizes->size[ecb->epid])
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u is taken", ecb->epid);
	return NULL;
}

static struct ot_err *check_parts(const struct vp_engine_session *es, const struct parts *p)
{
	for (uint32_t i = 0; i < p->head.nprobes; i++)
		OT_TRY(check_probe(es->engine, p, i));
	for (uint32_t i = 0; i < p->head.necbs; i++)
		OT_TRY(check_ecb(es, p, i));
	return NULL;
}

/* --- copying ---------------------------------------------------------------------------------- */

static void copy_probe(const struct vp_enabled_batch *b, const struct vp_batch_probe *from,
		       struct vp_enabled_probe *to)
{
	to->id = from->id;
	to->kind = (enum vp_probe_kind)from->kind;
	to->args = (enum vp_args)from->args;
	to->provider = b->strings + from->provider;
	to->module = b->strings + from->module;
	to->function = b->strings + from->function;
	to->name = b->strings + from->name;
	to->first_site = from->first_site;
	to->nsites = from->nsites;
	to->interval_ns = from->interval_ns;
	to->event = from->event;
	to->agent = from->agent;
}

/* Arguments that a calling convention says where to find, or none. */
static bool can_be_of_place(uint32_t args)
{
	return args <= VP_ARGS_SYSCALL_RETURN || args == VP_ARGS_SYSCALL32_ENTRY;
}

/* What the place's arguments are, and what programs make of them. */
static struct ot_err *copy_site_args(const struct vp_enabled_batch *b, const struct vp_enabled_probe *probe,
				     const struct vp_batch_site *from, struct vp_enabled_site *to)
{
	bool own = probe->args == VP_ARGS_SITE;
	uint32_t n = b->dof.nclauses;

	if (own ? !can_be_of_place(from->args) || from->raw > n || from->program > n
		: from->args || from->raw || from->program)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: site %#llx has arguments that it can't have",
				  (unsigned long long)from->gva);
	to->args = own ? (enum vp_args)from->args : probe->args;
	to->raw = from->raw ? &b->programs[from->raw - 1] : NULL;
	to->program = from->program ? &b->programs[from->program - 1] : NULL;
	return NULL;
}

/* The engine compares each site with the bytes that the operator's process read: if the guest rebooted or
 * patched itself meanwhile, a probe must not be planted in the middle of another instruction. */
static struct ot_err *copy_site(struct vp_engine_session *es, const struct vp_patches *patches,
				const struct vp_batch_site *from, struct vp_enabled_site *to)
{
	uint8_t bytes[BYTES_SEEN];
	unsigned long long gva = from->gva;

	if (!from->length || from->room < from->length || from->room > BYTES_SEEN)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: instruction of %u bytes at %#llx", from->length,
				  gva);
	if (from->trap > VP_SITE_HW || from->sentinel > VP_SENTINEL_LEAVE || from->agent > VP_AGENT_CALL_MARK)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: site %#llx has an unknown kind", gva);
	to->gva = from->gva;
	to->func_gva = from->gva - from->offset;
	to->syscall = from->syscall;
	to->length = from->length;
	to->room = from->room;
	to->trap = from->trap;
	to->sentinel = from->sentinel;
	to->agent = from->agent;
	to->pushed = from->pushed;
	memcpy(to->bytes, from->bytes, sizeof(to->bytes));
	to->owner_host = from->owner ? vp_kernel_host(es, from->owner) : 0;
	to->owner = to->owner_host ? from->owner : 0;
	to->host = vp_kernel_host(es, from->gva);
	if (!to->host || !vp_load_kernel(es->spare, from->gva, bytes, from->room))
		return ot_err_new(OT_ERR_FAULT, "probe site %#llx is not in guest memory", gva);
	if (es->engine->ops->traps && from->trap != VP_SITE_HW &&
	    vp_kernel_host(es, from->gva + from->room - 1) != to->host + from->room - 1)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the instruction at %#llx crosses pages that are not contiguous", gva);
	vp_patches_undo(patches, from->gva, bytes, from->room);
	if (memcmp(bytes, from->bytes, from->room) != 0)
		return ot_err_new(OT_ERR_BAD_DATA, "the guest's code at %#llx has changed: try again", gva);
	return NULL;
}

static struct ot_err *copy_all_sites(struct vp_engine_session *es, const struct vp_patches *patches,
				     struct vp_enabled_batch *b, const struct parts *p)
{
	es->spare->tlb.firing++; /* translations cached for the previous batch may be stale */
	for (uint32_t i = 0; i < b->nprobes; i++)
		for (uint32_t k = 0; k < b->probes[i].nsites; k++) {
			uint32_t at = b->probes[i].first_site + k;
			if (b->sites[at].probe)
				return ot_err_new(OT_ERR_BAD_DATA, "batch: probes share site %u", at);
			OT_TRY(copy_site_args(b, &b->probes[i], &p->sites[at], &b->sites[at]));
			OT_TRY(copy_site(es, patches, &p->sites[at], &b->sites[at]));
			if ((b->probes[i].kind == VP_PROBE_SENTINEL) != (b->sites[at].sentinel != 0))
				return ot_err_new(OT_ERR_BAD_DATA,
						  "batch: site %u: only one of site and probe is a sentinel",
						  at);
			if ((b->probes[i].kind == VP_PROBE_AGENT_CALL) != (b->sites[at].agent != 0))
				return ot_err_new(
				    OT_ERR_BAD_DATA,
				    "batch: site %u: only one of site and probe is an agent call", at);
			b->sites[at].probe = &b->probes[i];
		}
	for (uint32_t i = 0; i < b->nsites; i++)
		if (!b->sites[i].probe)
			return ot_err_new(OT_ERR_BAD_DATA, "batch: site %u belongs to no probe", i);
	return NULL;
}

static struct ot_err *copy_sites(struct vp_engine_session *es, struct vp_enabled_batch *b,
				 const struct parts *p)
{
	struct vp_patches patches = { 0 };

	if (b->nsites)
		OT_TRY(vp_patches_of_engine(es->engine, &patches));
	struct ot_err *err = copy_all_sites(es, &patches, b, p);
	free(patches.list);
	return err;
}

static void copy_ecbs(struct vp_engine_session *es, struct vp_enabled_batch *b, const struct parts *p)
{
	for (uint32_t i = 0; i < b->necbs; i++) {
		struct vp_enabled_probe *probe = &b->probes[p->ecbs[i].probe];
		struct vp_ecb *ecb = &b->ecbs[i];
		*ecb = (struct vp_ecb){
			.es = es,
			.clause = &es->service->clauses[p->ecbs[i].clause],
			.probe = probe,
			.epid = p->ecbs[i].epid,
			.order = es->service->batches.necbs + i,
		};
		if (probe->last)
			probe->last->next = ecb;
		else
			probe->first = ecb;
		probe->last = ecb;
	}
}

static struct ot_err *copy_batch(struct vp_engine_session *es, const struct parts *p,
				 struct vp_enabled_batch *b)
{
	b->strings = malloc(p->head.strings_size + 1ull);
	b->probes = calloc(p->head.nprobes + 1u, sizeof(*b->probes));
	b->sites = calloc(p->head.nsites + 1u, sizeof(*b->sites));
	b->ecbs = calloc(p->head.necbs + 1u, sizeof(*b->ecbs));
	if (!b->strings || !b->probes || !b->sites || !b->ecbs)
		return ot_err_nomem();
	memcpy(b->strings, p->strings, p->head.strings_size);
	b->nprobes = p->head.nprobes;
	b->nsites = p->head.nsites;
	b->necbs = p->head.necbs;
	for (uint32_t i = 0; i < b->nprobes; i++)
		copy_probe(b, &p->probes[i], &b->probes[i]);
	OT_TRY(vp_agent_place_probes(es->engine, b));
	OT_TRY(vp_programs_read(es, p->dof, p->head.dof_size, b));
	OT_TRY(copy_sites(es, b, p));
	copy_ecbs(es, b, p);
	return NULL;
}

/* --- linking in -------------------------------------------------------------------------------- */

static uint32_t highest_epid(const struct vp_enabled_batch *b, uint32_t max)
{
	for (uint32_t i = 0; i < b->necbs; i++)
		if (b->ecbs[i].epid > max)
			max = b->ecbs[i].epid;
	return max;
}

/* A new table each time: vCPUs may be reading the old one. A clause without a record has size 4 here, so that
 * the table also shows which EPIDs are in use. */
static struct ot_err *grow_sizes(const struct vp_engine_session *es, const struct vp_enabled_batch *b,
				 struct vp_epid_sizes **ret)
{
	uint32_t n = highest_epid(b, es->sizes ? es->sizes->n - 1 : 0) + 1;
	struct vp_epid_sizes *sizes = calloc(1, sizeof(*sizes) + n * sizeof(sizes->size[0]));

	if (!sizes)
		return ot_err_nomem();
	if (es->sizes)
		memcpy(sizes->size, es->sizes->size, es->sizes->n * sizeof(sizes->size[0]));
	sizes->n = n;
	for (uint32_t i = 0; i < b->necbs; i++) {
		const struct vp_clause *clause = b->ecbs[i].clause;
		assert(clause); /* copy_ecbs() set it */
		uint32_t size = clause->layout.size;
		if (sizes->size[b->ecbs[i].epid]) {
			free(sizes);
			return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u twice", b->ecbs[i].epid);
		}
		sizes->size[b->ecbs[i].epid] = size ? size : 4;
	}
	*ret = sizes;
	return NULL;
}

/* The fill policy reserves room for END's records; the ring evicts old records to make that room. Both need a
 * buffer that can hold them. */
static struct ot_err *reserve_end(const struct vp_engine_session *es, const struct vp_enabled_batch *b,
				  uint64_t *ret)
{
	uint64_t keep = es->end_reserve;

	for (uint32_t i = 0; es->open.bufpolicy != VP_BUF_SWITCH && i < b->necbs; i++) {
		const struct vp_ecb *ecb = &b->ecbs[i];
		assert(ecb->probe && ecb->clause); /* copy_ecbs() set them */
		if (ecb->probe->id == DIF_PROBE_END && ecb->probe->kind == VP_PROBE_HOST)
			keep += ecb->clause->layout.size + 4ull;
	}
	if (keep > es->open.bufsize)
		return ot_err_new(OT_ERR_LIMIT, "END enablings exceed size of principal buffer");
	*ret = keep;
	return NULL;
}

static void link_errors(struct vp_engine_session *es, struct vp_enabled_batch *b)
{
	for (uint32_t i = 0; i < b->necbs; i++) {
		struct vp_ecb *ecb = &b->ecbs[i];
		if (ecb->probe->kind != VP_PROBE_ERROR)
			continue;
		es->service->error_regs |= vp_needs_regs(&ecb->clause->needs, VP_ARGS_ERROR);
		/* Release: a vCPU that finds the ECB finds it complete. */
		__atomic_store_n(es->service->last_error ? &es->service->last_error->next_error : &es->errors,
				 ecb, __ATOMIC_RELEASE);
		es->service->last_error = ecb;
	}
}

void vp_batch_free(struct vp_enabled_batch *b)
{
	vp_programs_free(b);
	free(b->strings);
	free(b->probes);
	free(b->sites);
	free(b->ecbs);
	free(b->loads);
	free(b);
}

static struct ot_err *assign_counters(struct vp_engine_session *es, struct vp_enabled_batch *b)
{
	for (uint32_t i = 0; i < b->necbs; i++)
		OT_TRY(vp_counter_assign(es, &b->ecbs[i]));
	return NULL;
}

/* The newest one is kept: the guest may have reloaded its module. */
static struct ot_err *keep_agent(struct vp_engine_session *es, const struct parts *p)
{
	struct vp_batch_agent *agent;

	if (!p->head.nagents)
		return NULL;
	agent = malloc(sizeof(*agent));
	if (!agent)
		return ot_err_nomem();
	*agent = *p->agent;
	free(es->service->agent);
	es->service->agent = agent;
	return NULL;
}

/* The session's parts, with this batch. */
static struct vp_private_parts with_batch(const struct vp_engine_session *es, const struct parts *p)
{
	struct vp_private_parts ret = es->service->parts;

	ret.batch = p->head.size > ret.batch ? p->head.size : ret.batch;
	ret.site_programs += p->head.dof_size;
	ret.probes += p->head.nprobes;
	ret.sites += p->head.nsites;
	ret.ecbs += p->head.necbs;
	ret.hits += p->head.nsites;
	for (uint32_t i = 0; i < p->head.necbs; i++) {
		ret.hits += p->probes[p->ecbs[i].probe].nsites;
		ret.epids = p->ecbs[i].epid > ret.epids ? p->ecbs[i].epid : ret.epids;
	}
	return ret;
}

static struct ot_err *prepare(struct vp_engine_session *es, const struct parts *p, struct vp_enabled_batch *b,
			      struct vp_epid_sizes **ret_sizes, uint64_t *ret_keep)
{
	OT_TRY(check_parts(es, p));
	struct vp_private_parts whole = with_batch(es, p);
	OT_TRY(vp_engine_session_check_memory(es, &whole));
	OT_TRY(copy_batch(es, p, b));
	OT_TRY(reserve_end(es, b, ret_keep));
	OT_TRY(vp_guard_add(es, b));
	OT_TRY(grow_sizes(es, b, ret_sizes));
	OT_TRY(keep_agent(es, p));
	es->service->parts = whole;
	return NULL;
}

/* From here on the session owns the batch, even after an error. */
static struct ot_err *link_batch(struct vp_engine_session *es, struct vp_enabled_batch *b,
				 struct vp_epid_sizes *sizes)
{
	struct vp_epid_sizes *old = es->sizes;

	__atomic_store_n(&es->sizes, sizes, __ATOMIC_RELEASE);
	vp_quiesce(es->engine);
	free(old);
	vp_agent_moved(es, b);
	b->number = ++es->engine->service->nbatches;
	if (es->service->batches.last)
		es->service->batches.last->next = b;
	else
		es->service->batches.first = b;
	es->service->batches.last = b;
	es->service->batches.necbs += b->necbs;
	link_errors(es, b);
	OT_TRY(assign_counters(es, b));
	if (!es->service->planned)
		return NULL;
	OT_TRY(vp_replan(es->engine));
	OT_TRY(vp_profile_update(es->engine));
	return vp_agent_update(es->engine);
}

struct ot_err *vp_engine_session_enable(struct vp_engine_session *es, const void *batch, size_t size)
{
	struct parts p = { 0 };
	struct vp_epid_sizes *sizes = NULL;
	uint64_t keep = 0;

	if (es->activity == VP_STOPPED)
		return ot_err_new(OT_ERR_BUSY, "the session has been stopped");
	OT_TRY(take_apart(batch, size, &p));
	assert(p.probes && p.sites && p.ecbs && p.strings);
	struct vp_enabled_batch *b = calloc(1, sizeof(*b));
	if (!b)
		return ot_err_nomem();
	struct ot_err *err = prepare(es, &p, b, &sizes, &keep);
	if (err) {
		free(sizes);
		vp_batch_free(b);
		return err;
	}
	__atomic_store_n(&es->end_reserve, keep, __ATOMIC_RELAXED);
	return link_batch(es, b, sizes);
}
