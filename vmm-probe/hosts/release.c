/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The release of a guest's kernel, for a list: its image is found and its banner read, without symbols. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/kernel.h"
#include "vmm-probe/guest/phys.h"
#include "vmm-probe/hosts/engines.h"

/* @regs: room for one a vCPU. */
static struct ot_err *find_kernel(struct vp_client *client, const struct vp_phys *phys, struct vp_regs *regs,
				  struct vp_kernel *ret)
{
	struct vp_image image;
	struct vp_budget budget;
	uint32_t n = 0;

	OT_TRY(vp_client_snapshot(client, regs, client->nvcpus, &n));
	if (!n)
		return ot_err_new(OT_ERR_BUSY, "no vCPU answers");
	vp_budget_begin(&budget, &vp_readings[VP_READ_RELEASE], false);
	struct ot_err *err = vp_kernel_find(&vp_arch_native, phys, regs, n, ret, &image);
	vp_budget_end(&budget);
	OT_TRY(err);
	vp_image_deinit(&image);
	return NULL;
}

struct ot_err *vp_guest_release(const char *socket, unsigned ms, char *ret, size_t size)
{
	struct vp_client client;
	struct vp_phys *phys = NULL;
	struct vp_kernel kernel;

	OT_TRY(vp_client_connect_within(&client, socket, ms));
	struct ot_err *err = vp_client_map_ram(&client, &phys);
	ot_auto_free struct vp_regs *regs = calloc(client.nvcpus + 1, sizeof(*regs));
	if (!err)
		err = regs ? find_kernel(&client, phys, regs, &kernel) : ot_err_nomem();
	vp_phys_destroy(phys);
	vp_client_close(&client);
	if (!err)
		snprintf(ret, size, "%s", kernel.release);
	return err;
}
