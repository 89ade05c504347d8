/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading from a file page by page. */
#include "vmm-probe/guest/elf/image.h"

#include <stdio.h>
#include <string.h>

bool vp_elf_image_read(struct vp_elf_image *image, enum vp_part part, uint64_t offset, void *dst, size_t len)
{
	uint8_t *out = dst;

	if (!image->fuel || offset > image->size || len > image->size - offset)
		return false;
	image->fuel--;
	while (len) {
		size_t at = offset % VP_IMAGE_PAGE, n = VP_IMAGE_PAGE - at < len ? VP_IMAGE_PAGE - at : len;
		const uint8_t *page = image->page(image->arg, offset / VP_IMAGE_PAGE);

		if (!page) {
			image->missing[part]++;
			return false;
		}
		memcpy(out, page + at, n);
		out += n;
		offset += n;
		len -= n;
	}
	return true;
}

bool vp_elf_image_string(struct vp_elf_image *image, enum vp_part part, uint64_t offset, char *dst,
			 size_t size)
{
	size_t len = 0;

	if (!image->fuel)
		return false;
	image->fuel--;
	while (offset < image->size && len + 1 < size) {
		size_t at = offset % VP_IMAGE_PAGE, n = VP_IMAGE_PAGE - at, left = size - 1 - len;
		const uint8_t *page = image->page(image->arg, offset / VP_IMAGE_PAGE), *end;

		if (!page) {
			image->missing[part]++;
			return false;
		}
		if (n > left)
			n = left;
		end = memchr(page + at, '\0', n);
		if (end)
			n = (size_t)(end - (page + at));
		memcpy(dst + len, page + at, n);
		len += n;
		offset += n;
		dst[len] = '\0';
		if (end)
			return true;
	}
	return false;
}

void vp_elf_image_missing(const struct vp_elf_image *image, char *dst, size_t size)
{
	static const char *const names[VP_PARTS] = {
		[VP_PART_HEADERS] = "its headers", [VP_PART_SECTIONS] = "section headers",
		[VP_PART_DYNAMIC] = ".dynsym",     [VP_PART_SYMTAB] = ".symtab",
		[VP_PART_STRTAB] = ".strtab",      [VP_PART_NOTES] = "notes",
		[VP_PART_TEXT] = ".text",          [VP_PART_FRAMES] = ".eh_frame",
	};
	size_t len = 0;

	dst[0] = '\0';
	for (int i = 0; i < VP_PARTS; i++)
		if (image->missing[i] && len < size)
			len += (size_t)snprintf(dst + len, size - len, "%s%s", len ? ", " : "", names[i]);
}
