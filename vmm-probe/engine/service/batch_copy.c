/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copying a batch, so that nothing of the original is kept, and comparing its sites with guest memory. */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/walk.h"
#include "vmm-probe/engine/service/agent.h"
#include "vmm-probe/engine/service/enabling.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/engine/wire/patches.h"

#define BYTES_SEEN 15

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
	to->cpc = from->cpc;
	to->agent = from->agent;
	to->process = from->process;
	to->file = from->file;
	to->stands_in = from->stands_in;
}

/* Arguments whose places follow from a calling convention, or none. */
static bool can_be_of_place(uint32_t args)
{
	return args <= VP_ARGS_SYSCALL_RETURN || args == VP_ARGS_SYSCALL32_ENTRY;
}

/* The place's arguments, and the programs over them. */
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

/* A branch on a static key that the guest has patched since the operator's process read it. */
static bool is_other_form(const struct vp_batch_site *site, const uint8_t *bytes)
{
	return site->target && vp_native_static_branch(bytes, site->length,
						       (int64_t)(site->target - site->gva)) == site->length;
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
	if (from->semaphore || from->trap > VP_SITE_HW || from->sentinel > VP_SENTINEL_MAPS ||
	    from->agent > VP_AGENT_CALL_MARK ||
	    (from->sentinel == VP_SENTINEL_MAPS && es->engine->ops->traps))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: site %#llx has an unknown kind", gva);
	to->gva = from->gva;
	to->target = from->target;
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
	if (memcmp(bytes, from->bytes, from->room) != 0 && !is_other_form(from, bytes))
		return ot_err_new(OT_ERR_BAD_DATA, "the guest's code at %#llx has changed: try again", gva);
	vp_resident_place(es, patches, to);
	return NULL;
}

/* An even address or offset, so that it lies in one page. */
static struct ot_err *copy_semaphore(const struct vp_engine_session *es, uint64_t file,
				     const struct vp_batch_site *from, struct vp_enabled_site *to)
{
	if (!from->semaphore)
		return NULL;
	if (from->semaphore % 2 ||
	    (file ? from->semaphore > INT64_MAX
		  : !vp_is_in_half(&vp_native_paging, es->facts.levels, from->semaphore, 2, false)))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: %#llx is no address of a semaphore",
				  (unsigned long long)from->semaphore);
	if (!es->engine->ops->exclusive || !es->facts.families.init_task)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the %s backend can't raise semaphores",
				  es->engine->ops->name);
	to->semaphore = from->semaphore;
	return NULL;
}

/* Is the site's address one of user space, or a file's offset? */
static struct ot_err *check_user_address(const struct vp_engine_session *es, uint64_t file,
					 const struct vp_batch_site *from)
{
	const struct vp_facts *facts = &es->facts;

	if (!facts->kernel_root ||
	    (file ? from->gva > INT64_MAX
		  : !vp_is_in_half(&vp_native_paging, facts->levels, from->gva, from->room, false)))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: %#llx is no address of a process",
				  (unsigned long long)from->gva);
	if (file && (!facts->families.init_task || facts->families.page_index == VP_NO_OFFSET))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "batch: how this kernel keeps files' pages is not known");
	return NULL;
}

/* A site in a process or a file. Its page may be in memory or not, at any address: a backend compares the
 * bytes whenever it finds the place (vp_plan). */
static struct ot_err *copy_user_site(const struct vp_engine_session *es, const struct vp_enabled_probe *probe,
				     const struct vp_batch_site *from, struct vp_enabled_site *to)
{
	uint8_t trap = es->engine->ops->traps ? VP_SITE_HW : VP_SITE_TEXT;

	if (!from->length || from->room < from->length || from->room > BYTES_SEEN || from->owner ||
	    from->target || from->syscall || from->trap != trap || from->sentinel || from->agent ||
	    (probe->file && from->semaphore && !probe->stands_in))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: site %#llx is none in a process",
				  (unsigned long long)from->gva);
	OT_TRY(check_user_address(es, probe->file, from));
	to->gva = from->gva;
	to->func_gva = from->gva - from->offset;
	to->length = from->length;
	to->room = from->room;
	to->trap = trap;
	memcpy(to->bytes, from->bytes, sizeof(to->bytes));
	return copy_semaphore(es, probe->file, from, to);
}

static struct ot_err *copy_all_sites(struct vp_engine_session *es, const struct vp_patches *patches,
				     struct vp_enabled_batch *b, const struct vp_batch_parts *p)
{
	es->spare->tlb.firing++; /* translations cached for the previous batch may be stale */
	for (uint32_t i = 0; i < b->nprobes; i++)
		for (uint32_t k = 0; k < b->probes[i].nsites; k++) {
			uint32_t at = b->probes[i].first_site + k;
			if (b->sites[at].probe)
				return ot_err_new(OT_ERR_BAD_DATA, "batch: probes share site %u", at);
			OT_TRY(copy_site_args(b, &b->probes[i], &p->sites[at], &b->sites[at]));
			OT_TRY(b->probes[i].process.pid || b->probes[i].file
				   ? copy_user_site(es, &b->probes[i], &p->sites[at], &b->sites[at])
				   : copy_site(es, patches, &p->sites[at], &b->sites[at]));
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
				 const struct vp_batch_parts *p)
{
	struct vp_patches patches = { 0 };

	if (b->nsites)
		OT_TRY(vp_patches_of_engine(es->engine, &patches));
	struct ot_err *err = copy_all_sites(es, &patches, b, p);
	free(patches.list);
	return err;
}

static void copy_ecbs(struct vp_engine_session *es, struct vp_enabled_batch *b,
		      const struct vp_batch_parts *p)
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

struct ot_err *vp_batch_copy(struct vp_engine_session *es, const struct vp_batch_parts *p,
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
