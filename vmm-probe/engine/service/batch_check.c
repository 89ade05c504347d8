/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checking a batch of probes, sites and ECBs, which is hostile input: every offset, count and index before it
 * is used. */
#include <string.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/service/enabling.h"

#define EPID_MAX  (4u << 20)
#define ITEMS_MAX (1u << 20) /* probes, sites, ECBs: each */
#define DOF_MAX   (16u << 20)

static struct ot_err *check_array(const char *what, uint32_t offset, uint32_t n, size_t elem, size_t size)
{
	if (n > ITEMS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "batch of %u %s", n, what);
	if (offset % 8 || offset > size || n > (size - offset) / elem)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: %s at offset %u are out of bounds", what, offset);
	return NULL;
}

struct ot_err *vp_batch_take_apart(const void *batch, size_t size, struct vp_batch_parts *ret)
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

static struct ot_err *check_agent_probe(const struct vp_batch_parts *p, const struct vp_batch_probe *probe,
					uint32_t i)
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

static struct ot_err *check_cpc_probe(const struct vp_engine *engine, const struct vp_batch_probe *probe,
				      uint32_t i)
{
	if (probe->kind != VP_PROBE_CPC)
		return NULL;
	if (!vp_cpc_is_valid(&probe->cpc))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u has an unknown event", i);
	return engine->ops->cpc ? NULL
				: ot_err_new(OT_ERR_UNSUPPORTED, "the %s backend provides no cpc probes",
					     engine->ops->name);
}

static struct ot_err *check_process(const struct vp_engine *engine, const struct vp_batch_probe *probe,
				    uint32_t i)
{
	const struct vp_batch_process *p = &probe->process;

	if (probe->stands_in > 1 || (probe->stands_in && !probe->file))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u stands in for none", i);
	if (!p->pid && !probe->file)
		return NULL;
	if (!vp_engine_has_processes(engine))
		return ot_err_new(OT_ERR_UNSUPPORTED, "the %s backend provides no probes in processes",
				  engine->ops->name);
	if (probe->file && engine->ops->traps)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the %s backend provides no probes in files",
				  engine->ops->name);
	if (probe->file && (probe->kind != VP_PROBE_SITE || p->pid || p->root || p->mm))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u is in a file and in a process", i);
	if (probe->file)
		return NULL;
	if (probe->kind != VP_PROBE_SITE || !p->root || p->root & ~vp_native_paging.address || !p->mm)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u is in no process", i);
	return NULL;
}

static struct ot_err *check_probe(const struct vp_engine *engine, const struct vp_batch_parts *p, uint32_t i)
{
	const struct vp_batch_probe *probe = &p->probes[i];
	uint32_t strings = p->head.strings_size;

	if (!probe->id || probe->kind > VP_PROBE_CPC || probe->args > VP_ARGS_SYSCALL32_ENTRY)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u has an unknown kind", i);
	if (probe->provider >= strings || probe->module >= strings || probe->function >= strings ||
	    probe->name >= strings)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u's name is out of bounds", i);
	if (probe->first_site > p->head.nsites || probe->nsites > p->head.nsites - probe->first_site)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: probe %u's sites are out of bounds", i);
	if (probe->nsites && probe->kind != VP_PROBE_SITE && !vp_is_own_use(probe->kind))
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
	OT_TRY(check_cpc_probe(engine, probe, i));
	OT_TRY(check_process(engine, probe, i));
	return check_agent_probe(p, probe, i);
}

static struct ot_err *check_ecb(const struct vp_engine_session *es, const struct vp_batch_parts *p,
				uint32_t i)
{
	const struct vp_batch_ecb *ecb = &p->ecbs[i];

	if (!ecb->epid || ecb->epid > EPID_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u", ecb->epid);
	if (ecb->clause >= es->service->prog.nclauses || ecb->probe >= p->head.nprobes)
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u has no clause or no probe", ecb->epid);
	if (vp_is_own_use(p->probes[ecb->probe].kind))
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u is on a sentinel", ecb->epid);
	if (es->sizes && ecb->epid < es->sizes->n && es->sizes->size[ecb->epid])
		return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u is taken", ecb->epid);
	return NULL;
}

struct ot_err *vp_batch_check(const struct vp_engine_session *es, const struct vp_batch_parts *p)
{
	for (uint32_t i = 0; i < p->head.nprobes; i++)
		OT_TRY(check_probe(es->engine, p, i));
	for (uint32_t i = 0; i < p->head.necbs; i++)
		OT_TRY(check_ecb(es, p, i));
	return NULL;
}
