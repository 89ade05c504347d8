/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a guest's processes. */
#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/session/internal.h"

static struct ot_err *print_maps(struct vp_guest *guest, uint64_t pid, struct ot_buf *out)
{
	struct vp_processes *ps = NULL;
	struct vp_maps maps;
	struct ot_err *err;

	OT_TRY(vp_processes_open(guest, &ps));
	err = vp_maps_read(ps, pid, &maps);
	vp_processes_close(ps);
	OT_TRY(err);
	vp_maps_print(&maps, out);
	vp_maps_deinit(&maps);
	return out->failed ? ot_err_nomem() : NULL;
}

struct ot_err *vp_session_maps(struct vp_session *s, uint32_t guest, uint64_t pid, struct ot_buf *out)
{
	struct vp_guest_link *link = guest < s->links.n ? s->links.items[guest] : NULL;
	struct vp_budget budget;
	struct ot_err *err;

	if (!link)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "-g none has no processes but this host's: pick a guest");
	if (!link->guest)
		return ot_err_new(OT_ERR_NOT_FOUND, "no kernel was found in %s: %s", link->client.guest_name,
				  link->unread);
	vp_guest_budget_begin(link->guest, &budget, &vp_readings[VP_READ_MAPS]);
	err = print_maps(link->guest, pid, out);
	vp_budget_end(&budget);
	return err;
}
