/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a backend's present changes of guest text. */
#include <stdlib.h>

#include "vmm-probe/engine/service/service.h"
#include "vmm-probe/engine/wire/patches.h"

struct ot_err *vp_patches_of_engine(struct vp_engine *engine, struct vp_patches *ret)
{
	const struct vp_backend_traps *traps = engine->ops->traps;
	uint32_t n = traps ? traps->patches(engine->backend, NULL, 0) : 0;

	*ret = (struct vp_patches){ 0 };
	if (!n)
		return NULL;
	ret->list = calloc(n, sizeof(*ret->list));
	if (!ret->list)
		return ot_err_nomem();
	ret->n = traps->patches(engine->backend, ret->list, n);
	if (ret->n > n)
		ret->n = n;
	vp_patches_sort(ret);
	return NULL;
}
