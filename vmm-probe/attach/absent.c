/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest whose VMM has no engine. The source peek reads it, and the VMM is not changed as long as external
 * sampling can provide all of the program's probes. An engine is injected when a program enables a probe that
 * needs one, as the last step that can fail; or before the program is compiled, when only an engine, which
 * can ask QEMU where memory is, can read the guest. Each injection is announced first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/backend/kvm/host.h"
#include "vmm-probe/backend/peek/peek.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hosts/enter.h"
#include "vmm-probe/hosts/locate.h"

/* An engine that is created again answers within TRIES * AGAIN_NS. */
#define TRIES    10
#define AGAIN_NS 200000000

/* --- injecting --------------------------------------------------------------------------------------- */

/* @path gets the socket of the new engine. The caller has closed the client and the source. */
static struct ot_err *go_in(const struct vp_links *links, const char *name, uint32_t pid, const char *why,
			    char *path, size_t size)
{
	struct vp_inject_result result;
	char spec[16];

	if (links->opts.entering)
		links->opts.entering(links->opts.arg, name, pid, why);
	snprintf(spec, sizeof(spec), "%u", pid);
	vp_links_progress(links, "attaching to QEMU");
	OT_TRY(vp_enter(spec, &result));
	return vp_locate(spec, path, size);
}

static struct ot_err *check(const struct vp_guest_link *link)
{
	if (link->no_engine)
		return ot_err_new(OT_ERR_UNSUPPORTED, "guest %s: no engine can be injected into its VMM: %s",
				  link->client.guest_name, link->no_engine);
	return vp_enter_check((pid_t)link->client.pid);
}

/* Replaces the source by an engine. The kernel, symbols, probes and sites stay, as the program was compiled
 * against them.
 */
static struct ot_err *enter(const struct vp_links *links, struct vp_guest_link *link)
{
	const struct vp_probe *probe = link->needed_for;
	const uint32_t pid = link->client.pid, nvcpus = link->client.nvcpus, traps = link->client.traps;
	char name[sizeof(link->client.guest_name)], path[sizeof(link->client.path)], why[512];

	memcpy(name, link->client.guest_name, sizeof(name));
	snprintf(why, sizeof(why), "%s:%s:%s:%s needs it", probe->provider, probe->module, probe->function,
		 probe->name);
	vp_client_close(&link->client);
	vp_source_close(&link->source);
	link->tentative = false;
	OT_TRY(go_in(links, name, pid, why, path, sizeof(path)));
	OT_TRY(vp_client_connect(&link->client, path));
	if (link->client.nvcpus != nvcpus || link->client.traps != traps)
		return ot_err_new(OT_ERR_BUSY, "guest %s changed while its engine was injected: try again",
				  name);
	vp_link_note_states(link);
	link->facts.guest_id = link->client.guest_id;
	memcpy(link->facts.guest_name, link->client.guest_name, sizeof(link->facts.guest_name));
	return NULL;
}

struct ot_err *vp_link_enter(const struct vp_links *links, struct vp_guest_link *link)
{
	if (!link->needed_for)
		return NULL;
	OT_TRY(check(link));
	return enter(links, link);
}

/* All are checked before the first one is entered. */
struct ot_err *vp_links_enter(struct vp_links *links)
{
	for (uint32_t i = 0; i < links->n; i++)
		if (links->items[i]->needed_for)
			OT_TRY(check(links->items[i]));
	for (uint32_t i = 0; i < links->n; i++)
		OT_TRY(vp_link_enter(links, links->items[i]));
	return NULL;
}

/* --- read from outside -------------------------------------------------------------------------------- */

/* Tests the KVM that the VMM has open, to find the traps that an engine there could plant: probes are listed,
 * planned and compiled for these. */
static struct ot_err *foresee(struct vp_guest_link *link)
{
	struct vp_kvm_host host;
	ot_auto_close int kvm = -1;

	OT_TRY(vp_peek_kvm(link->source.handle, &kvm));
	OT_TRY(vp_kvm_host_try(kvm, &host));
	link->tentative = true;
	if (vp_kvm_host_traces(&host)) {
		link->client.traps = vp_kvm_host_traps(&host);
		link->client.has_processes = link->client.raises = link->client.traps & VP_TRAPS_USER;
		return NULL;
	}
	link->no_engine = strdup(host.out ? "this host's KVM has no synced registers"
					  : "this host's KVM has no exits by ports");
	return link->no_engine ? NULL : ot_err_nomem();
}

/* --- no kernel found ------------------------------------------------------------------------------------ */

/* @refused (consumed): why no engine can be injected; NULL: it can. */
static struct ot_err *does_not_run(const struct vp_guest_link *link, struct ot_err *refused)
{
	if (refused && ot_err_code(refused) == OT_ERR_BUSY)
		return refused; /* the whole process is stopped */
	ot_err_destroy(refused);
	if (vp_peek_seen(link->source.handle) == VP_PEEK_SILENT)
		return ot_err_new(OT_ERR_BUSY, "guest %s (PID %u): none of its vCPUs answers: try again",
				  link->client.guest_name, link->client.pid);
	return ot_err_new(OT_ERR_BUSY, "guest %s (PID %u) is paused: `cont` in QEMU's monitor lets it run",
			  link->client.guest_name, link->client.pid);
}

static struct ot_err *cannot_read(const struct vp_guest_link *link)
{
	const char *name = link->client.guest_name;
	const uint32_t pid = link->client.pid;

	if (vp_peek_seen(link->source.handle) == VP_PEEK_EARLY)
		return ot_err_new(
		    OT_ERR_BUSY,
		    "guest %s (PID %u) is still starting, none of its vCPUs runs 64-bit code: try "
		    "again in a second",
		    name, pid);
	if (!vp_peek_ram_bytes(link->source.handle))
		return ot_err_new(OT_ERR_NOT_FOUND,
				  "guest %s: %s; `outsight attach %u` injects an engine, which asks QEMU "
				  "where it is",
				  name, link->unread, pid);
	return ot_err_new(OT_ERR_BAD_DATA,
			  "guest %s: its kernel can't be read: %s; -g peek:%u samples it without names", name,
			  link->unread, pid);
}

/* QEMU knows where RAM is when it is in several pieces, for NUMA nodes or DIMMs. */
static bool engine_would_help(const struct vp_guest_link *link)
{
	return vp_peek_seen(link->source.handle) == VP_PEEK_64BIT &&
	       (!vp_peek_ram_bytes(link->source.handle) || link->unread_fault);
}

/* Injects an engine, which asks QEMU where memory is, and reads the guest through it. */
static struct ot_err *read_by_engine(const struct vp_links *links, struct vp_guest_link *link,
				     const char *name, pid_t pid, const char *why)
{
	char path[sizeof(link->client.path)];

	vp_link_reset(link);
	OT_TRY(go_in(links, name, (uint32_t)pid, why, path, sizeof(path)));
	return vp_link_attach_engine(links, link, path);
}

/* The vCPUs answered, and no kernel was found. */
static struct ot_err *without_kernel(const struct vp_links *links, struct vp_guest_link *link)
{
	const pid_t pid = (pid_t)link->client.pid;
	struct ot_err *refused = vp_enter_check(pid);
	bool wanted = links->opts.entry != VP_ENTRY_UNNEEDED;
	char name[sizeof(link->client.guest_name)], why[512];

	if (vp_peek_seen(link->source.handle) <= VP_PEEK_SILENT)
		return does_not_run(link, refused);
	if (wanted && (refused || links->opts.entry == VP_ENTRY_REFUSED)) {
		/* only samples without names are possible */
		link->fell_back = strdup(refused ? ot_err_message(refused) : "-x noattach");
		ot_err_destroy(refused);
		return link->fell_back ? NULL : ot_err_nomem();
	}
	ot_err_destroy(refused);
	if (!wanted || !engine_would_help(link))
		return cannot_read(link);
	snprintf(why, sizeof(why), "its kernel can't be read from outside: %s", link->unread);
	memcpy(name, link->client.guest_name, sizeof(name));
	return read_by_engine(links, link, name, pid, why);
}

/* The source peek could not be opened; @err (consumed) is the reason. */
static struct ot_err *unseen(const struct vp_links *links, struct vp_guest_link *link, const char *name,
			     pid_t pid, struct ot_err *err)
{
	ot_auto_err struct ot_err *why = err;
	ot_auto_close int claim = -1;

	OT_TRY(vp_enter_check(pid));
	OT_TRY(vp_vmm_claim(pid, &claim)); /* another outsight that uses it is the cause */
	ot_cleanup_close(&claim);
	claim = -1;
	if (links->opts.entry != VP_ENTRY_AS_NEEDED)
		return ot_err_new(ot_err_code(why), "%s; `outsight attach %d` injects an engine",
				  ot_err_message(why), (int)pid);
	return read_by_engine(links, link, name, pid, ot_err_message(why));
}

/* --- attaching ---------------------------------------------------------------------------------------- */

/* The library is loaded and active: it creates a new engine after a change of the machine. If no engine
 * answers, attaching again gives the library a socket of ours. */
static struct ot_err *await_engine(const struct vp_links *links, struct vp_guest_link *link, pid_t pid)
{
	static const struct timespec pause = { .tv_nsec = AGAIN_NS };
	char spec[16], path[sizeof(link->client.path)];
	struct vp_inject_result result;

	snprintf(spec, sizeof(spec), "%d", (int)pid);
	vp_links_progress(links, "waiting for the guest's engine");
	for (unsigned tries = 0; tries < TRIES; tries++) {
		ot_auto_err struct ot_err *none = vp_locate(spec, path, sizeof(path));
		if (!none)
			return vp_link_attach_engine(links, link, path);
		nanosleep(&pause, NULL);
	}
	OT_TRY(vp_enter(spec, &result));
	OT_TRY(vp_locate(spec, path, sizeof(path)));
	return vp_link_attach_engine(links, link, path);
}

static bool is_in_use(pid_t pid)
{
	ot_auto_err struct ot_err *busy = vp_inject_idle(pid);

	return busy && ot_err_code(busy) == OT_ERR_BUSY;
}

struct ot_err *vp_absent_attach(const struct vp_links *links, struct vp_guest_link *link, const char *name,
				bool *ret_unknown)
{
	pid_t pid;
	struct ot_err *err = vp_enter_find(name, &pid);

	*ret_unknown = err && ot_err_code(err) == OT_ERR_NOT_FOUND;
	OT_TRY(err);
	OT_TRY(vp_links_check_once(links, pid));
	if (is_in_use(pid))
		return await_engine(links, link, pid);
	err = vp_link_attach_source(links, link, &vp_peek_source, name);
	/* the operator's file is at fault, or the kernel is not ready: an engine would fail with it too */
	if (err && (link->file_fault || link->starts || ot_err_code(err) == OT_ERR_NO_MEMORY))
		return err;
	if (err) {
		bool found = ot_err_code(err) != OT_ERR_NOT_FOUND;
		vp_link_reset(link);
		err = unseen(links, link, name, pid, err);
		*ret_unknown = err && !found && ot_err_code(err) == OT_ERR_NOT_FOUND;
		return err;
	}
	return link->guest ? foresee(link) : without_kernel(links, link);
}
