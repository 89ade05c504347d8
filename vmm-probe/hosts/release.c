/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel a guest runs, for a list: its image is found and its banner read; no symbols. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/kernel.h"
#include "vmm-probe/session/internal.h"

#define READ_MS 2000u

static void cleanup_link(struct vp_guest_link **link)
{
	vp_link_destroy(*link);
}

struct ot_err *vp_guest_release(const char *socket, unsigned ms, char *ret, size_t size)
{
	ot_auto(cleanup_link) struct vp_guest_link *link = calloc(1, sizeof(*link));
	struct vp_kernel kernel;
	struct vp_image image;
	struct vp_budget budget;
	uint32_t n = 0;

	if (!link)
		return ot_err_nomem();
	link->client.sock = link->orc_fd = -1;
	OT_TRY(vp_client_connect_within(&link->client, socket, ms));
	OT_TRY(vp_link_map_ram(link));
	ot_auto_free struct vp_regs *regs = calloc(link->client.nvcpus, sizeof(*regs));
	if (!regs)
		return ot_err_nomem();
	OT_TRY(vp_client_snapshot(&link->client, regs, link->client.nvcpus, &n));
	if (!n)
		return ot_err_new(OT_ERR_BUSY, "no vCPU answers");
	vp_budget_begin(&budget, READ_MS);
	vp_budget_part("the kernel's image", 160, READ_MS);
	struct ot_err *err = vp_kernel_find(link->phys, regs, n, &kernel, &image);
	vp_budget_end(&budget);
	OT_TRY(err);
	vp_image_deinit(&image);
	snprintf(ret, size, "%s", kernel.release);
	return NULL;
}
