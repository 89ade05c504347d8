/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches a file's pages. */
#include "vmm-probe/guest/elf/pages.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"

#define CHUNK 512u /* pages that one table names */

struct vp_elf_pages {
	struct vp_elf_image image;
	vp_page_reader read;
	void *arg;
	uint8_t ***chunks; /* NULL, or CHUNK pages: NULL, a copy, or `missing` */
	uint64_t nchunks, npages, nmissing, copied;
	uint64_t budget; /* the budget charged for all copies; 0: several */
};

/* Marks a page that was requested and is missing. */
static uint8_t missing[1];

/* Without room the budget is exhausted: otherwise the page would count as one that the guest does not
 * have. */
static bool copy(struct vp_elf_pages *p, uint64_t index, uint8_t *page)
{
	if (!vp_budget_take_or_end(VP_IMAGE_PAGE))
		return false;
	if (!p->read(p->arg, index, page)) {
		vp_budget_give(VP_IMAGE_PAGE);
		return false;
	}
	if (!p->copied)
		p->budget = vp_budget_number();
	else if (p->budget != vp_budget_number())
		p->budget = 0;
	return true;
}

static void read_page(struct vp_elf_pages *p, uint64_t index, uint8_t **to)
{
	uint64_t left = p->image.size - index * VP_IMAGE_PAGE;
	uint8_t *page;

	*to = missing;
	p->nmissing++;
	if (p->copied + VP_IMAGE_PAGE > VP_PAGES_COPY_MAX || vp_budget_is_over())
		return;
	page = malloc(VP_IMAGE_PAGE);
	if (!page || !copy(p, index, page)) {
		free(page);
		return;
	}
	/* The bytes after a file's end may be anything. */
	if (left < VP_IMAGE_PAGE)
		memset(page + left, 0, VP_IMAGE_PAGE - left);
	p->copied += VP_IMAGE_PAGE;
	p->nmissing--;
	*to = page;
}

static const uint8_t *page_of(void *arg, uint64_t index)
{
	struct vp_elf_pages *p = arg;
	uint8_t ***chunk, **at;

	if (index >= p->npages)
		return NULL;
	chunk = &p->chunks[index / CHUNK];
	if (!*chunk && !(*chunk = calloc(CHUNK, sizeof(**chunk))))
		return NULL;
	at = &(*chunk)[index % CHUNK];
	if (!*at)
		read_page(p, index, at);
	return *at == missing ? NULL : *at;
}

struct ot_err *vp_elf_pages_create(uint64_t size, vp_page_reader read, void *arg, struct vp_elf_pages **ret)
{
	struct vp_elf_pages *p;
	uint64_t npages;

	if (size > VP_IMAGE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "it is larger than %llu GiB", VP_IMAGE_MAX >> 30);
	npages = (size + VP_IMAGE_PAGE - 1) / VP_IMAGE_PAGE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return ot_err_nomem();
	*p = (struct vp_elf_pages){
		.read = read, .arg = arg, .npages = npages, .nchunks = npages / CHUNK + 1
	};
	p->image = (struct vp_elf_image){ .arg = p, .size = size, .page = page_of, .fuel = VP_IMAGE_FUEL };
	p->chunks = calloc(p->nchunks, sizeof(*p->chunks));
	if (!p->chunks) {
		free(p);
		return ot_err_nomem();
	}
	*ret = p;
	return NULL;
}

void vp_elf_pages_forget(struct vp_elf_pages *p)
{
	for (uint64_t i = 0; i < p->nchunks; i++) {
		for (uint64_t k = 0; p->chunks[i] && k < CHUNK; k++)
			if (p->chunks[i][k] != missing)
				free(p->chunks[i][k]);
		free(p->chunks[i]);
		p->chunks[i] = NULL;
	}
	if (p->budget == vp_budget_number())
		vp_budget_give(p->copied);
	p->copied = p->nmissing = 0;
	p->image.fuel = VP_IMAGE_FUEL;
	memset(p->image.missing, 0, sizeof(p->image.missing));
}

void vp_elf_pages_destroy(struct vp_elf_pages *p)
{
	if (!p)
		return;
	vp_elf_pages_forget(p);
	free(p->chunks);
	free(p);
}

struct vp_elf_image *vp_elf_pages_image(struct vp_elf_pages *p)
{
	return &p->image;
}

void vp_elf_pages_count(const struct vp_elf_pages *p, uint64_t *ret_pages, uint64_t *ret_missing)
{
	*ret_pages = p->npages;
	*ret_missing = p->nmissing;
}
