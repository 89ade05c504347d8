/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding and reading the kernel's image of a process's vdso. */
#include "vmm-probe/guest/process/vdso.h"

#include <string.h>

#include "vmm-probe/guest/process/internal.h"

/* The place of the image's pages, and their size. */
static struct ot_err *read_image(struct vp_processes *ps, const struct vp_guest_process *process,
				 uint64_t *ret_data, uint64_t *ret_size)
{
	uint64_t image;

	OT_TRY(vp_kernel_u64(ps, process->mm + ps->l.mm_vdso_image, &image));
	OT_TRY(vp_kernel_u64(ps, image + ps->l.vdso_data, ret_data));
	return vp_kernel_u64(ps, image + ps->l.vdso_size, ret_size);
}

static bool makes_sense(uint64_t data, uint64_t size)
{
	return data && !(data & ~VP_PAGE_MASK) && size && !(size & ~VP_PAGE_MASK) && size <= VP_VDSO_MAX;
}

struct ot_err *vp_vdso_find(struct vp_processes *ps, const struct vp_guest_process *process,
			    struct vp_file *ret, bool *ret_found)
{
	const struct vp_process_layout *l = &ps->l;
	uint64_t data = 0, size = 0;

	*ret_found = false;
	if (l->mm_vdso_image == VP_NO_MEMBER || l->vdso_data == VP_NO_MEMBER || l->vdso_size == VP_NO_MEMBER)
		return NULL;
	struct ot_err *err = read_image(ps, process, &data, &size);

	if (err || !makes_sense(data, size)) {
		ot_err_destroy(err);
		return NULL;
	}
	/* No struct address_space is at that address, so the image's id is no other file's. */
	*ret = (struct vp_file){ .id = { .mapping = data }, .size = size, .vdso = data };
	ret->path = strdup(VP_VDSO_NAME);
	*ret_found = ret->path != NULL;
	return ret->path ? NULL : ot_err_nomem();
}

struct ot_err *vp_vdso_read(struct vp_processes *ps, uint64_t vdso, uint64_t index, void *dst)
{
	if (index >= VP_VDSO_MAX / VP_PAGE_SIZE)
		return ot_err_new(OT_ERR_FAULT, "a vdso has no page %llu", (unsigned long long)index);
	return vp_kernel_read(ps, vdso + index * VP_PAGE_SIZE, dst, VP_PAGE_SIZE);
}
