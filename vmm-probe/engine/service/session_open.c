/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a session: its input is checked, and everything that it needs is built. */
#include <stdlib.h>

#include "dif/obj/verify.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/wire/private_memory.h"

#define STRSIZE_MAX (1u << 20)

/* A session is one allocation, whose address is that of `es`. */
struct whole {
	struct vp_engine_session es;
	struct vp_engine_session_service service;
};

/* --- checks -------------------------------------------------------------------- */

static bool apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return !a_size || !b_size || a + a_size <= b || b + b_size <= a;
}

/* The parts of shared memory must lie in it and not over one another. Sizes are bounded by
 * vp_shared_layout(), offsets by shared_size, so no sum below wraps. */
static struct ot_err *check_shared(const struct vp_msg_open *open, uint64_t shared_size)
{
	struct vp_msg_open canon = *open;
	uint64_t total;

	OT_TRY(vp_shared_layout(&canon, &total));
	const struct {
		uint64_t offset, size;
	} part[] = {
		{ open->globals_offset, open->globals_size },
		{ open->dynvars_offset, open->dynvars_size },
		{ open->specs_offset, open->nspec * sizeof(uint64_t) },
		{ open->status_offset, open->nvcpus * sizeof(struct vp_vcpu_status) },
		{ open->buffers_offset, total - canon.buffers_offset },
	};
	for (size_t i = 0; i < OT_ARRAY_SIZE(part); i++) {
		if (part[i].offset % 64 || part[i].offset > shared_size ||
		    part[i].size > shared_size - part[i].offset)
			return ot_err_new(OT_ERR_BAD_DATA, "part %zu of the shared memory is out of bounds",
					  i);
		for (size_t k = 0; k < i; k++)
			if (!apart(part[i].offset, part[i].size, part[k].offset, part[k].size))
				return ot_err_new(OT_ERR_BAD_DATA,
						  "parts %zu and %zu of the shared memory overlap", k, i);
	}
	return NULL;
}

static struct ot_err *check_open(const struct vp_engine *engine, const struct vp_msg_open *open,
				 uint64_t shared_size)
{
	if (open->nvcpus != engine->nvcpus)
		return ot_err_new(OT_ERR_BAD_DATA, "a session for %u vCPUs: this engine has %u", open->nvcpus,
				  engine->nvcpus);
	if (!open->strsize || open->strsize > STRSIZE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "strsize %u is not between 1 and %u", open->strsize,
				  STRSIZE_MAX);
	if (open->stackframes > VP_FRAMES_MAX || open->ustackframes > VP_FRAMES_MAX ||
	    open->jstackframes > VP_FRAMES_MAX || open->jstackstrsize > STRSIZE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "stacks have at most %u frames", VP_FRAMES_MAX);
	if (open->engine >= VP_ENGINES_MAX || open->first_cpu >= 1u << 24)
		return ot_err_new(OT_ERR_BAD_DATA, "engine %u, whose first CPU is %u", open->engine,
				  open->first_cpu);
	if (open->bufpolicy > VP_BUF_SWITCH)
		return ot_err_new(OT_ERR_BAD_DATA, "buffer policy %u is unknown", open->bufpolicy);
	if (open->maxcost > 100)
		return ot_err_new(OT_ERR_BAD_DATA, "%u per cent of the vCPUs' time", open->maxcost);
	if (open->bufsize % 8 || open->aggsize % 8)
		return ot_err_new(OT_ERR_BAD_DATA, "buffer sizes must be multiples of 8");
	return check_shared(open, shared_size);
}

static bool is_shape(const struct vp_maple_shape *shape)
{
	return shape->slots && shape->slots <= VP_MAPLE_PIVOTS_MAX && shape->pivots == shape->slots - 1;
}

/* Offsets may lead anywhere, to any contents; lengths bound the reads of a hit. */
static struct ot_err *check_mappings(const struct vp_mapping_facts *m)
{
	if (!m->vmemmap)
		return NULL;
	if (m->mm_tree != VP_NO_OFFSET && (!is_shape(&m->leaf) || !is_shape(&m->range)))
		return ot_err_new(OT_ERR_BAD_DATA, "maple trees with nodes of %u and %u slots", m->leaf.slots,
				  m->range.slots);
	if (!m->xa_nslots || m->xa_nslots > VP_XARRAY_SLOTS_MAX || m->xa_nslots & (m->xa_nslots - 1))
		return ot_err_new(OT_ERR_BAD_DATA, "xarrays with nodes of %u slots", m->xa_nslots);
	if (!m->page_size || m->folio_uptodate > 63)
		return ot_err_new(OT_ERR_BAD_DATA, "pages of %u bytes, read in by bit %u", m->page_size,
				  m->folio_uptodate);
	return NULL;
}

static struct ot_err *check_facts(const struct vp_facts *facts)
{
	if (facts->size != sizeof(*facts))
		return ot_err_new(OT_ERR_BAD_DATA, "facts of %u bytes, not %zu: another version", facts->size,
				  sizeof(*facts));
	if (facts->kernel_root && !VP_PAGING_LEVELS(facts->levels))
		return ot_err_new(OT_ERR_BAD_DATA, "%u page table levels", facts->levels);
	if (facts->kernel_root % 4096)
		return ot_err_new(OT_ERR_BAD_DATA, "kernel page table at %#llx",
				  (unsigned long long)facts->kernel_root);
	return check_mappings(&facts->mappings);
}

static struct ot_err *use_orc(struct vp_engine_session *es, const void *orc, size_t size)
{
	struct vp_orc_header header;
	size_t entry = sizeof(uint64_t) + sizeof(struct vp_orc_rule);

	if (!orc)
		return NULL;
	if (size < sizeof(header))
		return ot_err_new(OT_ERR_BAD_DATA, "unwind table of %zu bytes", size);
	memcpy(&header, orc, sizeof(header));
	if (header.magic != VP_ORC_MAGIC || header.nentries > (size - sizeof(header)) / entry)
		return ot_err_new(OT_ERR_BAD_DATA, "unwind table with an invalid header");
	es->orc_addrs = (const uint64_t *)((const uint8_t *)orc + sizeof(header));
	es->orc_rules = (const struct vp_orc_rule *)(es->orc_addrs + header.nentries);
	es->norc = header.nentries;
	return NULL;
}

/* --- building -------------------------------------------------------------------- */

static struct ot_err *load_program(struct vp_engine_session *es, const void *dof, size_t dof_size)
{
	const struct vp_msg_open *o = &es->open;

	es->service->layout_opts = (struct dif_layout_opts){
		.strsize = o->strsize,
		.stackframes = o->stackframes,
		.ustackframes = o->ustackframes,
		.jstackframes = o->jstackframes,
		.jstackstrsize = o->jstackstrsize,
	};
	OT_TRY(dif_dof_read(dof, dof_size, &es->service->prog));
	OT_TRY(dif_program_verify(&es->service->prog));
	OT_TRY(dif_var_layout(&es->service->prog, &es->service->layout_opts, &es->service->arena,
			      &es->service->vars));
	if (es->service->vars.globals_size > o->globals_size)
		return ot_err_new(OT_ERR_BAD_DATA, "%u bytes of globals, room for %llu",
				  es->service->vars.globals_size, (unsigned long long)o->globals_size);
	es->service->clauses = ot_arena_alloc(&es->service->arena, (es->service->prog.nclauses + 1) *
								       sizeof(*es->service->clauses));
	if (!es->service->clauses)
		return ot_err_nomem();
	for (uint32_t i = 0; i < es->service->prog.nclauses; i++)
		OT_TRY(ot_err_prefix(
		    vp_clause_compile(es, &es->service->prog.clauses[i], &es->service->clauses[i]),
		    "clause %u", i + 1));
	if (es->service->vars.has_dynamic && !o->dynvars_size)
		return ot_err_new(OT_ERR_BAD_DATA, "no room for dynamic variables");
	return o->dynvars_size
		   ? dif_dynvars_open(es->service->shared + o->dynvars_offset, o->dynvars_size, &es->dynvars)
		   : NULL;
}

static struct ot_err *init_vm(struct vp_engine_session *es, struct vp_vcpu_session *v, uint32_t vcpu)
{
	struct dif_vm_config config = {
		.ops = &vp_dif_ops,
		.env = v,
		.vars = &es->service->vars,
		.globals = es->service->shared + es->open.globals_offset,
		.dynvars = es->dynvars,
		.vcpu = es->open.first_cpu + vcpu,
		.strsize = es->open.strsize,
		.scratch_size = vp_scratch_size(&es->open),
	};

	v->es = es;
	v->vcpu = vcpu;
	v->hit = ~0ull; /* not the value of any sequence word: words are odd in a probe, and never reach this
			   one */
	v->running = &v->alone;
	v->tlb.stable = 1ull << 63;
	v->tuple = malloc(es->service->tuple_max + 8);
	if (!v->tuple)
		return ot_err_nomem();
	return dif_vm_init(&v->vm, &config);
}

/* Called before anything is allocated. */
static struct ot_err *check_memory(struct vp_engine_session *es, size_t dof_size, size_t orc_size)
{
	es->service->parts = (struct vp_private_parts){
		.program = dof_size,
		.tuple_max = es->service->tuple_max,
		.key_max = es->dynvars ? dif_dynvars_key_size(es->dynvars) : 0,
		.locals = es->service->vars.locals_size,
		.mapped = es->service->shared_size + orc_size,
		.speculates = es->service->speculates,
	};
	return vp_engine_session_check_memory(es, &es->service->parts);
}

struct ot_err *vp_engine_session_check_memory(const struct vp_engine_session *es,
					      const struct vp_private_parts *parts)
{
	uint64_t bytes = vp_private_memory(&es->open, parts);

	if (bytes <= VP_PRIVATE_MAX)
		return NULL;
	return ot_err_new(OT_ERR_LIMIT,
			  "the session would take %llu MiB of the VMM's memory, which is more than %llu",
			  (unsigned long long)(bytes >> 20), VP_PRIVATE_MAX >> 20);
}

static struct ot_err *init_vcpus(struct vp_engine_session *es)
{
	size_t size = (es->open.nvcpus + 1u) * sizeof(*es->vcpus);

	es->vcpus = aligned_alloc(64, size);
	if (!es->vcpus)
		return ot_err_nomem();
	memset(es->vcpus, 0, size);
	es->spare = &es->vcpus[es->open.nvcpus];
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		OT_TRY(init_vm(es, &es->vcpus[i], i));
		OT_TRY(vp_buffers_init(&es->vcpus[i]));
	}
	OT_TRY(init_vm(es, es->spare, 0));
	/* It neither records nor counts, but needs words to count in. */
	es->spare->status = &es->spare->counts;
	return vp_spec_init(es);
}

static void free_vcpu(struct vp_vcpu_session *v)
{
	if (v->vm.priv)
		dif_vm_deinit(&v->vm);
	vp_buffers_deinit(v);
	free(v->tuple);
}

static void free_batches(struct vp_engine_session *es)
{
	struct vp_enabled_batch *next;

	for (struct vp_enabled_batch *b = es->service->batches.first; b; b = next) {
		next = b->next;
		vp_batch_free(b);
	}
}

/* Do these locate the same task, process and name? */
static bool same_task(const struct vp_facts *a, const struct vp_facts *b)
{
	return a->kernel_root == b->kernel_root && a->levels == b->levels &&
	       !memcmp(a->percpu_base, b->percpu_base, sizeof(a->percpu_base)) &&
	       a->current_task == b->current_task && a->task_tgid == b->task_tgid &&
	       a->task_pid == b->task_pid && a->task_comm == b->task_comm &&
	       a->task_comm_size == b->task_comm_size;
}

/* Two clients of one guest have read the same facts, unless it was booted again between them. */
static uint64_t number_kernel(struct vp_service *s, const struct vp_facts *facts)
{
	for (uint32_t i = 0; i < s->nsessions; i++)
		if (same_task(&s->sessions[i]->facts, facts))
			return s->sessions[i]->kernel;
	return ++s->nkernels;
}

void vp_engine_session_free(struct vp_engine_session *es)
{
	vp_guard_destroy(es);
	vp_counters_free(es);
	vp_resident_free(es);
	vp_spec_deinit(es);
	for (uint32_t i = 0; es->vcpus && i <= es->open.nvcpus; i++)
		free_vcpu(&es->vcpus[i]);
	free(es->vcpus);
	free_batches(es);
	vp_frames_free(es);
	free(es->sizes);
	free(es->service->agent);
	dif_dynvars_close(es->dynvars);
	dif_program_deinit(&es->service->prog);
	ot_arena_deinit(&es->service->arena);
	free(OT_CONTAINER_OF(es, struct whole, es));
}

struct ot_err *vp_engine_session_open(struct vp_engine *engine, const struct vp_msg_open *open,
				      const void *dof, size_t dof_size, const struct vp_facts *facts,
				      void *shared, size_t shared_size, const void *orc, size_t orc_size,
				      struct vp_engine_session **ret)
{
	struct whole *whole = calloc(1, sizeof(*whole));

	if (!whole)
		return ot_err_nomem();
	struct vp_engine_session *es = &whole->es;
	es->service = &whole->service;
	es->engine = engine;
	es->open = *open;
	es->facts = *facts;
	es->facts.guest_name[VP_GUEST_NAME - 1] = 0;
	es->service->shared = shared;
	es->service->shared_size = shared_size;
	ot_arena_init(&es->service->arena);
	dif_program_init(&es->service->prog);

	struct ot_err *err =
	    engine->service->nsessions < VP_SESSIONS_MAX
		? check_open(engine, &es->open, shared_size)
		: ot_err_new(OT_ERR_LIMIT, "%u sessions are open already", engine->service->nsessions);
	if (!err)
		err = check_facts(&es->facts);
	if (!err)
		err = use_orc(es, orc, orc_size);
	if (!err)
		err = load_program(es, dof, dof_size);
	if (!err)
		err = check_memory(es, dof_size, orc_size);
	if (!err)
		err = init_vcpus(es);
	if (!err && open->maxcost && !engine->host)
		err = vp_guard_create(es);
	if (err) {
		vp_engine_session_free(es);
		return err;
	}
	es->kernel = number_kernel(engine->service, &es->facts);
	engine->service->sessions[engine->service->nsessions++] = es;
	*ret = es;
	return NULL;
}
