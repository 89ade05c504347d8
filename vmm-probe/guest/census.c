/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common code of all ways of a census: collecting and joining items, retries, the budget, walking a list. */
#include "vmm-probe/guest/census_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest_internal.h"

#define CHECK_FOUND 256u
#define TRIES       50 /* of a walk that meets changes; each takes a fraction of a millisecond */

void vp_census_deinit(struct vp_census *census)
{
	free(census->items);
	ot_arena_deinit(&census->names);
	memset(census, 0, sizeof(*census));
}

struct ot_err *vp_census_add(struct vp_census *census, uint64_t id, uint64_t since_ns, uint32_t way,
			     const void *name, size_t len)
{
	struct vp_found found = { .id = id, .since_ns = since_ns, .ways = way };
	size_t cap;

	if (census->count >= 8ull * VP_FOUND_MAX) /* of all ways together */
		return vp_census_endless();
	cap = census->cap;
	if (census->count % CHECK_FOUND == 0)
		OT_TRY(vp_budget_check());
	if (!ot_grow(&census->items, &census->cap, census->count + 1, sizeof(found)))
		return ot_err_nomem();
	len = strnlen(name, len);
	OT_TRY(vp_budget_take((census->cap - cap) * sizeof(found) + len + 1));
	found.name = ot_arena_strndup(&census->names, name, len);
	if (!found.name)
		return ot_err_nomem();
	census->items[census->count++] = found;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct vp_found *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->id ? 0 : strcmp(x->name, y->name);
}

void vp_census_join(struct vp_census *census)
{
	size_t n = 0;

	if (census->count)
		qsort(census->items, census->count, sizeof(*census->items), compare);
	for (size_t i = 0; i < census->count; i++) {
		const struct vp_found *from = &census->items[i];
		struct vp_found *to = n ? &census->items[n - 1] : NULL;

		if (!to || compare(to, from) != 0) {
			census->items[n++] = *from;
			continue;
		}
		to->ways |= from->ways;
		if (!to->since_ns)
			to->since_ns = from->since_ns;
		if (from->owner && (!to->owner || from->owner < to->owner))
			to->owner = from->owner;
		if (!*to->name)
			to->name = from->name;
	}
	census->count = n;
}

struct ot_err *vp_census_torn(void)
{
	return ot_err_new(OT_ERR_BUSY, "it changed while it was read");
}

struct ot_err *vp_census_endless(void)
{
	return ot_err_new(OT_ERR_BAD_DATA, "it does not end");
}

static struct ot_err *try_way(const struct vp_guest *guest, const struct vp_way *way, void *ctx,
			      struct vp_census *census)
{
	size_t before = census->count;
	struct ot_err *err = NULL;

	for (int i = 0; i < (guest->is_still ? 1 : TRIES); i++) {
		enum ot_err_code code;

		ot_err_destroy(err);
		census->count = before;
		err = way->walk(ctx, census);
		code = err ? ot_err_code(err) : 0;
		if (err && vp_budget_is_over()) {
			ot_err_destroy(err);
			err = vp_budget_check();
			break;
		}
		if (!err || (code != OT_ERR_BUSY && code != OT_ERR_FAULT))
			break;
	}
	return err ? ot_err_prefix(err, "the guest's %s can't be followed", way->what) : NULL;
}

static struct ot_err *walk_all(const struct vp_guest *guest, const struct vp_way *ways, size_t n,
			       uint32_t have, void *ctx, struct vp_census *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!(ways[i].way & have))
			continue;
		OT_TRY(try_way(guest, &ways[i], ctx, ret));
		ret->ways |= ways[i].way;
	}
	vp_census_join(ret);
	return NULL;
}

struct ot_err *vp_census_walk(const struct vp_guest *guest, const struct vp_reading *reading,
			      const struct vp_way *ways, size_t n, uint32_t have, void *ctx,
			      struct vp_census *ret)
{
	struct vp_budget budget;
	struct ot_err *err;

	vp_guest_budget_begin(guest, &budget, reading);
	err = walk_all(guest, ways, n, have, ctx, ret);
	vp_budget_end(&budget);
	return err;
}

struct ot_err *vp_census_list(struct vp_guest *guest, uint64_t head, size_t max,
			      struct ot_err *(*each)(void *ctx, uint64_t node), void *ctx)
{
	struct {
		uint64_t next, prev;
	} at;
	uint64_t before = head;

	OT_TRY(vp_guest_read(guest, vp_gva(head), &at, sizeof(at)));
	for (uint64_t node = at.next; node != head; node = at.next) {
		if (!max--)
			return vp_census_endless();
		if (max % CHECK_FOUND == 0)
			OT_TRY(vp_budget_check());
		OT_TRY(vp_guest_read(guest, vp_gva(node), &at, sizeof(at)));
		/* The node has just been unlinked, or is being linked. As each node has one predecessor, a
		 * list whose links fit and that stays as it is can't loop either. */
		if (at.prev != before)
			return vp_census_torn();
		OT_TRY(each(ctx, node));
		before = node;
	}
	return NULL;
}

bool vp_census_members(const struct vp_btf *btf, const struct vp_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!vp_btf_member_offset(btf, members[i].type, members[i].path, members[i].offset, NULL))
			return false;
	return true;
}
