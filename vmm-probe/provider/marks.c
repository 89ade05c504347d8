/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks of the linker script. */
#include "vmm-probe/provider/marks.h"

#include "vmm-probe/guest/guest.h"

struct vp_mark_range vp_marked(const struct vp_guest *guest, const char *start, const char *end)
{
	struct vp_gva a, b;
	struct ot_err *err = vp_guest_symbol(guest, start, &a);

	if (!err)
		err = vp_guest_symbol(guest, end, &b);
	if (err) {
		ot_err_destroy(err);
		return (struct vp_mark_range){ 0 };
	}
	return (struct vp_mark_range){ a.v, b.v };
}
