/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file's pages are in its address_space's xarray, singly or by folios of several. The kernel reclaims and
 * moves them at any time: a page is accepted only if its folio names the same file and the same place in it
 * before and after the copy.
 */
#include "vmm-probe/guest/process/page_cache.h"

#include "vmm-probe/guest/process/internal.h"
#include "vmm-probe/guest/process/xarray.h"

#define FOLIO_PAGES_MAX (1u << 18) /* 1 GiB, the largest page there is */

/* A folio's own data. */
struct folio {
	uint64_t at, flags, mapping, index;
};

struct ot_err *vp_page_cache_check(const struct vp_processes *ps)
{
	if (ps->vmemmap)
		return NULL;
	return ot_err_new(
	    OT_ERR_UNSUPPORTED,
	    "the guest's kernel shows no table of pages (vmemmap_base): files' pages can't be found");
}

static struct ot_err *absent(uint64_t index)
{
	return ot_err_new(OT_ERR_NOT_FOUND, "page %llu is not in the guest's memory",
			  (unsigned long long)index);
}

static struct ot_err *read_folio(struct vp_processes *ps, uint64_t at, struct folio *ret)
{
	const struct vp_member members[] = {
		VP_MEMBER(ps->l.folio_flags, &ret->flags),
		VP_MEMBER(ps->l.folio_mapping, &ret->mapping),
		VP_MEMBER(ps->l.folio_index, &ret->index),
	};

	ret->at = at;
	return vp_kernel_members(ps, at, members, OT_ARRAY_SIZE(members));
}

static bool is_read(const struct vp_processes *ps, const struct folio *f)
{
	return ps->l.page_uptodate < 0 || f->flags >> ps->l.page_uptodate & 1;
}

/* The physical address of the page, which is in that folio. */
static struct ot_err *locate(struct vp_processes *ps, const struct folio *f, uint64_t index,
			     struct vp_gpa *ret)
{
	uint64_t from = f->at - ps->vmemmap;

	if (f->at < ps->vmemmap || from % ps->l.page_size || index < f->index ||
	    index - f->index >= FOLIO_PAGES_MAX)
		return vp_process_torn();
	*ret = vp_gpa((from / ps->l.page_size + (index - f->index)) * VP_PAGE_SIZE);
	return NULL;
}

static struct ot_err *read_once(struct vp_processes *ps, uint64_t mapping, uint64_t index, void *dst)
{
	struct folio before, after;
	struct vp_gpa gpa = { 0 };
	uint64_t at, slot, again;

	OT_TRY(vp_xarray_locate(ps, mapping + ps->l.mapping_pages, index, &at, &slot));
	if (!at)
		return absent(index);
	OT_TRY(read_folio(ps, at, &before));
	if (before.mapping != mapping)
		return vp_process_torn();
	if (!is_read(ps, &before))
		return absent(index);
	OT_TRY(locate(ps, &before, index, &gpa));
	OT_TRY(vp_phys_read(vp_guest_phys(ps->guest), gpa, dst, VP_PAGE_SIZE));
	OT_TRY(read_folio(ps, at, &after));
	/* The folio may have been split, so that this page now belongs to another one. */
	OT_TRY(vp_kernel_u64(ps, slot, &again));
	return again == at && after.mapping == mapping && after.index == before.index ? NULL
										      : vp_process_torn();
}

struct ot_err *vp_page_cache_read(struct vp_processes *ps, uint64_t mapping, uint64_t index, void *dst)
{
	struct ot_err *err = vp_page_cache_check(ps);

	OT_TRY(err);
	for (unsigned nth = 0; vp_process_again(ps, nth, &err); nth++)
		err = read_once(ps, mapping, index, dst);
	return err;
}
