/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a process's memory, page by page. */
#include "vmm-probe/session/user_memory.h"

#include <string.h>

#include "vmm-probe/session/user_object.h"

#define PAGE 4096u

static bool read_present(struct vp_user_memory *m, uint64_t at, void *dst, size_t len)
{
	struct ot_err *err;
	bool done;

	if (!vp_user_symbols_read_begin(m->us)) {
		m->over = true;
		return false;
	}
	err = vp_guest_process_read(m->us->ps, &m->maps->process, vp_gva(at), dst, len);
	vp_user_symbols_read_end(m->us);
	done = !err;
	ot_err_destroy(err);
	return done;
}

/* Where the process can write, a page that is not there may be its own, in swap. */
static bool read_file(struct vp_user_memory *m, uint64_t at, void *dst, size_t len)
{
	const struct vp_map *map = vp_maps_find(m->maps, at);
	const uint8_t *page = NULL;
	uint64_t offset;

	if (!map || map->file == VP_NO_FILE || map->flags & VP_VMA_WRITE || map->end - at < len)
		return false;
	m->file = vp_user_symbols_object(m->us, m->maps->process.pid, map->file, &m->over);
	offset = map->offset + (at - map->start);
	if (m->file && vp_user_symbols_read_begin(m->us)) {
		page = vp_user_object_page(m->file, offset / PAGE);
		vp_user_symbols_read_end(m->us);
	}
	if (page)
		memcpy(dst, page + offset % PAGE, len);
	return page;
}

static bool read_copy(struct vp_user_memory *m, uint64_t at, void *dst, size_t len)
{
	uint64_t offset;

	return m->copy && vp_elf_offset(m->copy, at - m->copy_bias, len, &offset) &&
	       vp_elf_image_read(m->copy->image, VP_PART_TEXT, offset, dst, len);
}

bool vp_user_memory_read(void *memory, uint64_t at, void *dst, size_t len)
{
	uint8_t *to = dst;

	while (len) {
		size_t n = PAGE - at % PAGE < len ? PAGE - at % PAGE : len;

		if (!read_present(memory, at, to, n) && !read_file(memory, at, to, n) &&
		    !read_copy(memory, at, to, n))
			return false;
		at += n;
		to += n;
		len -= n;
	}
	return true;
}

void vp_user_memory_end(struct vp_user_memory *m)
{
	if (m->file)
		vp_user_object_forget(m->file);
	m->file = NULL;
}
