/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a process has mapped as code: its program, its libraries, and injected code. */
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/census_internal.h"
#include "vmm-probe/guest/process/maps.h"

static struct ot_err *add_file(const struct vp_maps *maps, uint32_t number, struct vp_census *census)
{
	const struct vp_file *file = &maps->files[number];
	ot_auto(ot_buf_deinit) struct ot_buf name = { 0 };

	if (file->vdso) /* the kernel's own */
		return NULL;
	ot_buf_puts(&name, file->path);
	if (file->deleted)
		ot_buf_puts(&name, " (deleted)");
	if (name.failed)
		return ot_err_nomem();
	OT_TRY(vp_census_add(census, 0, 0, VP_LIBRARY_MAPPINGS, name.data, name.len));
	if (number == maps->program)
		census->items[census->count - 1].owner = maps->process.pid;
	return NULL;
}

static struct ot_err *add_all(const struct vp_maps *maps, struct vp_census *census)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].flags & VP_VMA_EXEC && maps->items[i].file < maps->nfiles)
			OT_TRY(add_file(maps, maps->items[i].file, census));
	return NULL;
}

static struct ot_err *take(struct vp_guest *guest, uint64_t pid, struct vp_census *ret)
{
	struct vp_processes *ps;
	struct vp_maps maps;

	OT_TRY(vp_processes_open(guest, &ps));
	struct ot_err *err = vp_maps_read(ps, pid, &maps);

	vp_processes_close(ps);
	OT_TRY(err);
	err = add_all(&maps, ret);
	vp_maps_deinit(&maps);
	ret->ways = VP_LIBRARY_MAPPINGS;
	vp_census_join(ret);
	return err;
}

struct ot_err *vp_census_libraries(struct vp_guest *guest, uint64_t pid, struct vp_census *ret)
{
	struct vp_budget budget;

	memset(ret, 0, sizeof(*ret));
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_MAPS]);
	struct ot_err *err = take(guest, pid, ret);

	vp_budget_end(&budget);
	return err;
}
