/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching a guest: find its engine or its source, read its kernel from outside, list its probes. The guest
 * does not change.
 */
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/backend/kvm/perf.h"
#include "vmm-probe/guest/facts_families.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/provider/registry.h"

#define TRIES    5
#define AGAIN_NS 200000000

static void cleanup_link(struct vp_guest_link **link)
{
	vp_link_destroy(*link);
}

/* --- by an engine in the VMM ---------------------------------------------------------------------------- */

struct ot_err *vp_link_attach_engine(const struct vp_links *links, struct vp_guest_link *link,
				     const char *path)
{
	OT_TRY(links->opts.reply_ms ? vp_client_connect_within(&link->client, path, links->opts.reply_ms)
				    : vp_client_connect(&link->client, path));
	OT_TRY(vp_links_check_once(links, (pid_t)link->client.pid));
	vp_link_note_states(link);
	OT_TRY(vp_client_map_ram(&link->client, &link->phys));
	OT_TRY(vp_link_read(links, link, link->phys));
	return links->opts.unwinds ? vp_link_unwind_table(link) : NULL;
}

static struct ot_err *attach_running(const struct vp_links *links, struct vp_guest_link *link,
				     const char *name)
{
	char path[sizeof(link->client.path)];
	struct ot_err *err = vp_locate(name, path, sizeof(path));

	if (!err)
		return vp_link_attach_engine(links, link, path);
	if (!name || ot_err_code(err) != OT_ERR_NOT_FOUND)
		return err;
	bool unknown = false;
	struct ot_err *absent = err;
	err = vp_absent_attach(links, link, name, &unknown);
	ot_err_destroy(unknown ? err : absent);
	return unknown ? absent : err;
}

/* --- probes --------------------------------------------------------------------------------------------- */

static struct ot_err *add_vm_probes(struct vp_guest_link *link)
{
	char names[VP_VM_STATS_MAX][VP_VM_STAT_NAME];
	uint32_t n = 0;

	if (!link->client.has_vm) {
		snprintf(names[0], sizeof(names[0]), "the %s backend has no exits", link->client.backend);
		return vp_probes_add_vm(link->probes, NULL, 0, names[0]);
	}
	OT_TRY(vp_client_stats(&link->client, names, &n));
	return vp_probes_add_vm(link->probes, names, n, NULL);
}

/* The engine answers. If there is none yet, an engine in the VMM would have the CPU and the kernel of this
 * process. */
static struct ot_err *test_cpc(void *arg, const struct vp_cpc_event *event)
{
	struct vp_guest_link *link = arg;

	return link->tentative ? vp_kvm_perf_try(event) : vp_client_cpc(&link->client, event);
}

static struct ot_err *patches_of(void *arg, struct vp_patches *ret)
{
	struct vp_guest_link *link = arg;

	return vp_client_patches(&link->client, ret);
}

/* A backend that sees every translated block finds a program's places by their bytes; on KVM debug registers
 * find them by their addresses. */
static struct ot_err *allow_processes(struct vp_guest_link *link)
{
	char why[256];

	if (link->client.has_processes)
		return vp_probes_set_processes(link->probes, NULL);
	if (link->client.traps & VP_TRAPS_TEXT)
		snprintf(why, sizeof(why),
			 "this host's KVM does not stop programs at debug registers (hw_user=no of `outsight "
			 "doctor -v`), which probes in processes of a guest on KVM need");
	else
		snprintf(why, sizeof(why),
			 "probes in processes need an engine in the guest's QEMU, under TCG with "
			 "liboutsight-tcg.so or on KVM: this guest is traced by the %s backend",
			 link->client.backend);
	return vp_probes_set_processes(link->probes, why);
}

/* Raising semaphores requires a short stop of the guest, and its lists of processes and pages. */
static struct ot_err *allow_semaphores(const struct vp_links *links, struct vp_guest_link *link)
{
	struct vp_family_facts families = { 0 };
	const char *why = NULL;

	if (link->guest)
		vp_facts_families(link->guest, &families);
	if (links->opts.keep_semaphores)
		why = "-x semaphores=no";
	else if (!link->client.raises)
		why = "this QEMU does not export how to stop its vCPUs for a moment";
	else if (!families.init_task)
		why = "copies of a process's memory can't be located by the guest's types and symbols";
	return vp_probes_set_semaphores(link->probes, why);
}

/* Creates the registry of probes; if probes change guest text, it then checks that each can be trapped. */
static struct ot_err *list_probes(const struct vp_links *links, struct vp_guest_link *link)
{
	uint32_t traps = link->client.traps;

	OT_TRY(vp_probes_create(link->guest, &link->probes));
	if (!vp_link_runs(link))
		return NULL;
	OT_TRY(add_vm_probes(link));
	OT_TRY(allow_processes(link));
	OT_TRY(allow_semaphores(links, link));
	vp_probes_set_cpc(link->probes, &(struct vp_cpc_support){ test_cpc, link });
	OT_TRY(vp_planner_check(traps, links->opts.trap));
	if (!traps)
		return NULL;
	const struct vp_text_undo undo = { patches_of, link };
	return vp_probes_plan(link->probes, traps, links->opts.trap, &undo);
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static struct ot_err *attach(const struct vp_links *links, struct vp_guest_link *link, const char *name)
{
	const char *where;
	const struct vp_source_ops *ops = name ? vp_source_find(name, &where) : NULL;

	return ops ? vp_link_attach_source(links, link, ops, where) : attach_running(links, link, name);
}

/* An error that the guest's own bytes have caused names the guest. */
static struct ot_err *of_guest(const struct vp_guest_link *link, struct ot_err *err)
{
	const char *name = link->client.guest_name;

	return err && ot_err_code(err) == OT_ERR_LIMIT && *name ? ot_err_prefix(err, "%s", name) : err;
}

static struct ot_err *attach_once(struct vp_links *links, const char *name)
{
	ot_auto(cleanup_link) struct vp_guest_link *link = NULL;

	OT_TRY(vp_link_create(&link));
	OT_TRY(of_guest(link, attach(links, link, name)));
	vp_links_progress(links, "listing the guest's functions");
	OT_TRY(of_guest(link, list_probes(links, link)));
	links->items[links->n++] = ot_move(link);
	return NULL;
}

/* An engine closes its connections when its guest's machine changes (by firmware, a migration, a new vCPU),
 * and soon accepts new ones. If the VMM is then not found it has ended, and the first error is returned. */
struct ot_err *vp_links_attach(struct vp_links *links, const char *name)
{
	static const struct timespec pause = { .tv_nsec = AGAIN_NS };

	if (links->n == VP_GUESTS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "at most %d guests in one session", VP_GUESTS_MAX);
	struct ot_err *err = attach_once(links, name);
	for (unsigned tries = 0;
	     err && ot_err_code(err) == OT_ERR_GUEST_GONE && tries < TRIES && !links->opts.from_boot;
	     tries++) {
		nanosleep(&pause, NULL);
		struct ot_err *again = attach_once(links, name);
		bool ended = again && ot_err_code(again) == OT_ERR_NOT_FOUND;

		ot_err_destroy(ended ? again : err);
		if (ended)
			break;
		err = again;
	}
	return err;
}
