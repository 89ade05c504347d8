/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a file's pages for its image. */
#include "vmm-probe/guest/process/image.h"

#include "vmm-probe/guest/process/page_cache.h"
#include "vmm-probe/guest/process/vdso.h"

/* A page that can't be read, for any reason, is missing. */
static bool read_vdso_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct vp_file_reader *r = arg;
	struct ot_err *err = vp_vdso_read(r->ps, r->vdso, index, dst);

	ot_err_destroy(err);
	return !err;
}

static bool read_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct vp_file_reader *r = arg;
	struct ot_err *err = vp_page_cache_read(r->ps, r->id.mapping, index, dst);

	ot_err_destroy(err);
	/* The kernel may have reused the file's memory for another file since it was found. */
	return !err && vp_file_is_there(r->ps, &r->id);
}

struct ot_err *vp_file_pages(struct vp_processes *ps, const struct vp_file *file,
			     struct vp_file_reader *reader, struct vp_elf_pages **ret)
{
	*reader = (struct vp_file_reader){ ps, file->id, file->vdso };
	if (file->vdso)
		return vp_elf_pages_create(file->size, read_vdso_page, reader, ret);
	OT_TRY(vp_page_cache_check(ps));
	return vp_elf_pages_create(file->size, read_page, reader, ret);
}
