/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that are looked at from beside their VMM, by an engine in this process; and the way from there to
 * one in the VMM, when a program needs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/session/enter.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/locate.h"

/* --- one guest ----------------------------------------------------------------------------------------- */

/* With an engine in it, that one has its vCPUs' registers. */
static struct ot_err *check_absent(pid_t pid)
{
	char spec[32], path[128];

	snprintf(spec, sizeof(spec), "%d", (int)pid);
	ot_auto_err struct ot_err *absent = vp_locate(spec, path, sizeof(path));
	if (absent)
		return NULL;
	return ot_err_new(OT_ERR_BUSY, "process %d has an engine in it: -g %d traces it by that", (int)pid,
			  (int)pid);
}

struct ot_err *vp_beside_open(struct vp_guest_link *link, const char *spec)
{
	pid_t pid;

	OT_TRY(vp_inject_find(spec, &pid));
	OT_TRY(check_absent(pid));
	OT_TRY(vp_peek_open(pid, &link->peek));
	OT_TRY(vp_client_connect(&link->client, vp_peek_socket(link->peek)));
	link->client.pid = (uint32_t)pid; /* whose memory the guest's is */
	return NULL;
}

void vp_beside_use(struct vp_guest_link *link)
{
	const struct vp_mmu *mmu = vp_guest_mmu(link->guest);

	vp_peek_use_memory(link->peek, link->phys, mmu->root, mmu->levels);
}

struct ot_err *vp_beside_without(struct vp_guest_link *link, struct ot_err *err)
{
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE || link->file_fault)
		return err; /* nameless because of a wrong file is not what was asked for */
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

void vp_beside_close(struct vp_guest_link *link)
{
	vp_client_close(&link->client);
	vp_peek_close(link->peek);
	vp_guest_destroy(link->guest);
	vp_phys_destroy(link->phys);
	free(link->unread);
	free(link->fell_back);
	*link = (struct vp_guest_link){ .client.sock = -1, .orc_fd = -1 };
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

struct ot_err *vp_beside_check(const struct vp_guest_link *link, const struct vp_probe *probe)
{
	if (!link->peek || is_had(probe))
		return NULL;
	return ot_err_new(
	    OT_ERR_UNSUPPORTED,
	    "%s is only looked at, from beside its VMM: dtrace:::, profile:::, tick and vm:::stat "
	    "probes fire, %s:%s:%s:%s does not",
	    link->client.guest_name, probe->provider, probe->module, probe->function, probe->name);
}

static bool stop_at_lack(void *arg, const struct vp_probe *probe)
{
	const struct vp_probe **lack = arg;

	if (is_had(probe))
		return true;
	*lack = probe;
	return false;
}

/* A probe of @clause that needs more than looking; NULL: none does. */
static const struct vp_probe *lack_of(const struct vp_guest_link *link, const struct dif_clause *clause)
{
	const struct vp_probe *lack = NULL;
	uint64_t n = 0;
	ot_auto_err struct ot_err *err =
	    vp_probes_match(link->probes, &clause->probe, false, stop_at_lack, &lack, &n);

	return lack; /* what else is wrong with a description, enabling it says */
}

bool vp_session_suffices(struct vp_session *s, const struct dif_program *prog, char *why, size_t size)
{
	for (uint32_t i = 0; i < s->nlinks; i++)
		for (uint32_t c = 0; s->links[i]->tentative && c < prog->nclauses; c++) {
			const struct dif_clause *clause = &prog->clauses[c];
			const struct vp_probe *lack =
			    vp_clause_wants_guest(s, clause, i) ? lack_of(s->links[i], clause) : NULL;
			if (!lack)
				continue;
			snprintf(why, size, "%s:%s:%s:%s", lack->provider, lack->module, lack->function,
				 lack->name);
			return false;
		}
	return true;
}

/* --- going in
 * ----------------------------------------------------------------------------------------------- */

/* What was read of the guest stays: kernel, symbols, types. */
static struct ot_err *enter(struct vp_session *s, struct vp_guest_link *link)
{
	char spec[32], path[sizeof(link->client.path)];
	struct vp_inject_result result;

	snprintf(spec, sizeof(spec), "%u", link->client.pid);
	vp_client_close(&link->client);
	vp_peek_close(link->peek);
	link->peek = NULL;
	link->tentative = false;
	if (s->config.progress)
		s->config.progress(s->config.arg, "attaching to QEMU");
	OT_TRY(vp_enter(spec, &result));
	OT_TRY(vp_locate(spec, path, sizeof(path)));
	OT_TRY(vp_client_connect(&link->client, path));
	link->facts.guest_id = link->client.guest_id;
	memcpy(link->facts.guest_name, link->client.guest_name, sizeof(link->facts.guest_name));
	vp_probes_destroy(link->probes);
	link->probes = NULL;
	return vp_link_list_probes(s, link);
}

struct ot_err *vp_session_enter(struct vp_session *s)
{
	for (uint32_t i = 0; i < s->nlinks; i++)
		if (s->links[i]->tentative)
			OT_TRY(enter(s, s->links[i]));
	return NULL;
}
