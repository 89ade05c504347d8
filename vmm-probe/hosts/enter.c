/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Injecting an engine into a running VMM: find the process, check the preconditions, inject.
 */
#include "vmm-probe/hosts/enter.h"

#include <limits.h>

#include "base/cleanup.h"
#include "vmm-probe/hosts/engine_files.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/hosts/machines.h"
#include "vmm-probe/machines/memory_room.h"

#define MIB(bytes) ((double)(bytes) / (1 << 20))

/* The expected socket of the engine of a VMM with the plugin; "": it has none. */
static void plugin_places(pid_t pid, struct ot_buf *out)
{
	ot_auto_free struct vp_qemu *qemus = NULL;
	size_t n = 0;
	ot_auto_err struct ot_err *err = vp_qemu_list(&qemus, &n);

	for (size_t i = 0; !err && i < n; i++)
		if (qemus[i].pid == pid && qemus[i].plugin)
			vp_locate_places(&qemus[i], out);
}

/* Its engine listens at the expected socket. */
static bool answers(pid_t pid)
{
	char spec[16], path[PATH_MAX];

	snprintf(spec, sizeof(spec), "%d", (int)pid);
	ot_auto_err struct ot_err *err = vp_locate(spec, path, sizeof(path));
	return !err;
}

struct ot_err *vp_enter_find(const char *spec, pid_t *ret)
{
	struct ot_err *err = vp_locate_process(spec, ret);

	if (!err || ot_err_code(err) != OT_ERR_NOT_FOUND)
		return err;
	struct ot_err *better = vp_domain_not_running(spec);
	if (!better)
		return err;
	ot_err_destroy(err);
	return better;
}

/* The VMM's memory that the library, its thread and its engine take, without sessions. */
static struct ot_err *check_room(pid_t pid)
{
	struct vp_memory_room room;

	if (!vp_memory_room("", pid, &room) || room.room >= VP_ENTER_BYTES)
		return NULL;
	return ot_err_new(
	    OT_ERR_LIMIT,
	    "attaching to process %d takes up to %.1f MiB of its memory, whose cgroup %s has %.1f MiB left "
	    "of %.1f MiB",
	    (int)pid, MIB(VP_ENTER_BYTES), room.group, MIB(room.room), MIB(room.limit));
}

/* @refused (consumed) of process @pid, or a better explanation. */
static struct ot_err *explain(pid_t pid, struct ot_err *refused)
{
	struct ot_buf places;

	if (!refused || ot_err_code(refused) != OT_ERR_UNSUPPORTED)
		return refused;
	ot_buf_init(&places);
	plugin_places(pid, &places);
	if (places.len) {
		bool found = answers(pid);
		ot_err_destroy(refused);
		refused = ot_err_new(OT_ERR_UNSUPPORTED, "process %d was started with an engine: %s%s",
				     (int)pid, found ? "-g traces it" : "it does not answer at ",
				     found ? "" : ot_buf_str(&places));
	}
	ot_buf_deinit(&places);
	return refused;
}

struct ot_err *vp_enter_check(pid_t pid)
{
	char library[PATH_MAX];

	OT_TRY(check_room(pid));
	OT_TRY(vp_hook_file(library, sizeof(library)));
	return explain(pid, vp_inject_check(pid, library));
}

struct ot_err *vp_enter(const char *spec, struct vp_inject_result *ret)
{
	char library[PATH_MAX];
	pid_t pid;

	OT_TRY(vp_enter_find(spec, &pid));
	OT_TRY(check_room(pid));
	OT_TRY(vp_hook_file(library, sizeof(library)));
	return explain(pid, vp_inject_attach(pid, library, ret));
}
