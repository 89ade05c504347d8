/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that are looked at from beside their VMM, by an engine in this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/hosts/enter.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/session/internal.h"

/* --- one guest ----------------------------------------------------------------------------------------- */

/* With an engine in it, that one has its vCPUs' registers. */
static struct ot_err *check_absent(pid_t pid)
{
	char spec[32], path[128];

	snprintf(spec, sizeof(spec), "%d", (int)pid);
	ot_auto_err struct ot_err *absent = vp_locate(spec, path, sizeof(path));
	if (absent)
		return NULL;
	return ot_err_new(OT_ERR_BUSY,
			  "process %d has an engine in it: -g %d traces it by that, and `outsight detach %d` "
			  "takes it out of use",
			  (int)pid, (int)pid, (int)pid);
}

/* While we have the claim nobody wakes a library that lies dormant there. */
static struct ot_err *open_peek(struct vp_guest_link *link, pid_t pid)
{
	ot_auto_close int claim = -1;

	OT_TRY(vp_vmm_claim(pid, &claim));
	OT_TRY(vp_inject_idle(pid));
	return vp_peek_open(pid, ot_move_fd(claim), &link->peek);
}

static struct ot_err *open_beside(const struct vp_session *s, struct vp_guest_link *link, const char *spec)
{
	pid_t pid;

	OT_TRY(vp_locate_process(spec, &pid));
	OT_TRY(vp_check_once(s, pid));
	OT_TRY(check_absent(pid));
	OT_TRY(open_peek(link, pid));
	OT_TRY(vp_client_connect(&link->client, vp_peek_socket(link->peek)));
	link->client.pid = (uint32_t)pid; /* whose memory the guest's is */
	return NULL;
}

/* Its kernel can't be read: go on without, if @err (consumed) is no reason to stop. */
static struct ot_err *without_kernel(struct vp_guest_link *link, struct ot_err *err)
{
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE || link->file_fault)
		return err; /* nameless because of a wrong file is not what was asked for */
	link->unread_fault = ot_err_code(err) == OT_ERR_FAULT;
	link->unread = strdup(vp_peek_ram_bytes(link->peek) ? ot_err_message(err)
							    : "its memory was not found in its VMM");
	ot_err_destroy(err);
	if (!link->unread)
		return ot_err_nomem();
	vp_facts_none(&link->facts);
	link->facts.guest_id = link->client.guest_id;
	memcpy(link->facts.guest_name, link->client.guest_name, sizeof(link->facts.guest_name));
	return NULL;
}

struct ot_err *vp_beside_attach(struct vp_session *s, struct vp_guest_link *link, const char *spec)
{
	OT_TRY(open_beside(s, link, spec));
	OT_TRY(vp_client_map_ram(&link->client, &link->phys));
	struct ot_err *err = vp_link_read(s, link, link->phys);
	if (err)
		return without_kernel(link, err);
	const struct vp_mmu *mmu = vp_guest_mmu(link->guest);
	vp_peek_use_memory(link->peek, link->phys, mmu->root, mmu->levels);
	return vp_link_unwind_table(link);
}

void vp_beside_close(struct vp_guest_link *link)
{
	bool file_fault = link->file_fault;

	vp_client_close(&link->client);
	vp_peek_close(link->peek);
	vp_guest_destroy(link->guest);
	vp_phys_destroy(link->phys);
	free(link->unread);
	free(link->fell_back);
	free(link->no_engine);
	*link = (struct vp_guest_link){ .client.sock = -1, .orc_fd = -1, .file_fault = file_fault };
}

bool vp_session_beside(const struct vp_session *s, uint32_t guest, struct vp_beside_info *ret)
{
	const struct vp_guest_link *link = guest < s->nlinks ? s->links[guest] : NULL;

	if (!link || !link->peek)
		return false;
	*ret = (struct vp_beside_info){ link->client.guest_name, link->client.pid, link->unread };
	return true;
}

const char *vp_session_fell_back(const struct vp_session *s, uint32_t guest)
{
	return guest < s->nlinks ? s->links[guest]->fell_back : NULL;
}

/* --- what can be had --------------------------------------------------------------------------------------
 */

static bool is_had(const struct vp_probe *probe)
{
	switch (probe->kind) {
	case VP_PROBE_HOST:
	case VP_PROBE_ERROR:
	case VP_PROBE_PROFILE:
		return true;
	case VP_PROBE_VM:
		return probe->event >> 16 == VP_VM_STAT;
	default:
		return false;
	}
}

struct ot_err *vp_beside_take(const struct vp_session *s, struct vp_guest_link *link,
			      const struct vp_probe *probe)
{
	if (!link->peek || is_had(probe))
		return NULL;
	if (!link->tentative)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "%s is only looked at, from beside its VMM: dtrace:::, profile:::, tick and "
		    "vm:::stat probes fire, %s:%s:%s:%s does not",
		    link->client.guest_name, probe->provider, probe->module, probe->function, probe->name);
	if (s->config.entry != VP_ENTRY_AS_NEEDED)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "%s:%s:%s:%s needs an engine in the VMM of guest %s (PID %u), and -x noattach "
		    "keeps it out",
		    probe->provider, probe->module, probe->function, probe->name, link->client.guest_name,
		    link->client.pid);
	if (!link->needed_for)
		link->needed_for = probe;
	return NULL;
}
