/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that are read, and traced, by a source other than an engine in their VMM: see backend/source.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/hosts/locate.h"

/* --- services for sources ------------------------------------------------------------------------------- */

static void progress(void *arg, const char *what)
{
	vp_links_progress(arg, what);
}

/* An engine in the VMM owns its vCPUs' synchronised registers. */
static struct ot_err *check_absent(pid_t pid)
{
	char spec[32], path[128];

	snprintf(spec, sizeof(spec), "%d", (int)pid);
	ot_auto_err struct ot_err *absent = vp_locate(spec, path, sizeof(path));
	if (absent)
		return NULL;
	return ot_err_new(OT_ERR_BUSY,
			  "process %d contains an engine: -g %d traces with it, and `outsight detach %d` "
			  "disables it",
			  (int)pid, (int)pid, (int)pid);
}

/* While we hold the claim, no other process can activate a dormant library in the VMM. */
static struct ot_err *claim_vmm(void *arg, const char *name, pid_t *ret_pid, int *ret_claim_fd)
{
	ot_auto_close int claim = -1;
	pid_t pid;

	OT_TRY(vp_locate_process(name, &pid));
	OT_TRY(vp_links_check_once(arg, pid));
	OT_TRY(check_absent(pid));
	OT_TRY(vp_vmm_claim(pid, &claim));
	OT_TRY(vp_inject_idle(pid));
	*ret_pid = pid;
	*ret_claim_fd = ot_move_fd(claim);
	return NULL;
}

/* --- attaching ------------------------------------------------------------------------------------------ */

static struct ot_err *open_source(const struct vp_links *links, struct vp_guest_link *link,
				  const struct vp_source_ops *ops, const char *where)
{
	const struct vp_source_env env = { (void *)(uintptr_t)links, progress, claim_vmm };
	struct vp_source *source = &link->source;

	OT_TRY(ops->open(&env, where, source));
	source->ops = ops;
	if (!source->client) {
		snprintf(link->client.guest_name, sizeof(link->client.guest_name), "%s", source->name);
		return NULL;
	}
	OT_TRY(vp_client_connect(&link->client, source->client));
	if (source->vmm)
		link->client.pid = (uint32_t)source->vmm; /* guest RAM is in that process */
	if (ops->reading)
		vp_links_progress(links, ops->reading);
	return source->phys ? NULL : vp_client_map_ram(&link->client, &link->phys);
}

/* The kernel can't be read: continue without it unless @err (consumed) is fatal. */
static struct ot_err *without_kernel(struct vp_guest_link *link, struct ot_err *err)
{
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE || link->starts ||
	    link->file_fault)
		return err; /* no fallback for a wrong file: samples without names would hide it */
	link->unread_fault = ot_err_code(err) == OT_ERR_FAULT;
	link->unread =
	    strdup(link->client.nram ? ot_err_message(err) : "its memory was not found in its VMM");
	ot_err_destroy(err);
	if (!link->unread)
		return ot_err_nomem();
	vp_facts_none(&link->facts);
	link->facts.guest_id = link->client.guest_id;
	memcpy(link->facts.guest_name, link->client.guest_name, sizeof(link->facts.guest_name));
	return NULL;
}

struct ot_err *vp_link_attach_source(const struct vp_links *links, struct vp_guest_link *link,
				     const struct vp_source_ops *ops, const char *where)
{
	OT_TRY(open_source(links, link, ops, where));
	const struct vp_phys *phys = link->phys ? link->phys : link->source.phys;
	struct ot_err *err = vp_link_read(links, link, phys);
	if (err)
		return ops->nameless ? without_kernel(link, err) : err;
	const struct vp_mmu *mmu = vp_guest_mmu(link->guest);
	if (ops->kernel_found)
		ops->kernel_found(link->source.handle, phys, mmu->root, mmu->levels);
	return links->opts.unwinds ? vp_link_unwind_table(link) : NULL;
}

/* --- enabling ------------------------------------------------------------------------------------------- */

struct ot_err *vp_link_take(const struct vp_links *links, struct vp_guest_link *link,
			    const struct vp_probe *probe)
{
	const struct vp_source_ops *ops = link->source.ops;
	struct vp_batch_probe bp;

	if (!ops || !ops->suffices)
		return NULL;
	vp_probes_fill(link->probes, probe, &bp);
	const char *only = ops->suffices(probe->kind, bp.event);
	if (!only)
		return NULL;
	if (!link->tentative)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s is %s, %s:%s:%s:%s does not",
				  link->client.guest_name, only, probe->provider, probe->module,
				  probe->function, probe->name);
	if (links->opts.entry != VP_ENTRY_AS_NEEDED)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "%s:%s:%s:%s needs an engine in the VMM of guest %s (PID %u), which -x noattach "
		    "forbids",
		    probe->provider, probe->module, probe->function, probe->name, link->client.guest_name,
		    link->client.pid);
	if (!link->needed_for)
		link->needed_for = probe;
	return NULL;
}
