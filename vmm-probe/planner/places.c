/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the kernel's tables of places that it patches and of places that must not be probed. */
#include "vmm-probe/planner/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"

#define BLACKLIST_MAX 65536u      /* entries; Debian's kernels have a thousand */
#define PLACES_MAX    (1u << 19)  /* Debian's kernels have some ten thousand */
#define PLACE_MAX     (16u << 20) /* bytes; the longest are sections of less than one MiB */
#define CHECK_PLACES  256u

static struct ot_err *append(struct vp_place_list *p, struct vp_place place)
{
	size_t cap = p->cap;

	if (!ot_grow(&p->list, &p->cap, p->n + 1, sizeof(*p->list)))
		return ot_err_nomem();
	OT_TRY(vp_budget_take((p->cap - cap) * sizeof(*p->list)));
	p->list[p->n++] = place;
	return NULL;
}

static struct ot_err *too_many(void)
{
	return ot_err_new(OT_ERR_LIMIT,
			  "no probe is set: the guest's tables have more than %u places that can't be probed",
			  PLACES_MAX);
}

static struct ot_err *add(struct vp_place_list *p, uint64_t start, uint64_t end, bool whole, const char *why)
{
	if (end <= start)
		return NULL;
	if (end - start > PLACE_MAX)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "no probe is set: by the guest's tables, it can't be probed from 0x%llx to "
				  "0x%llx (%s), which is more than any kernel has",
				  (unsigned long long)start, (unsigned long long)end, why);
	if (p->n >= PLACES_MAX)
		return too_many();
	if (p->n % CHECK_PLACES == 0)
		OT_TRY(vp_budget_check());
	return append(p, (struct vp_place){ .start = start, .end = end, .whole = whole, .why = why });
}

static const char static_key[] = "a static key is patched there";
static const char static_call[] = "a static call is patched there";

/* Only the first two bytes of a patched instruction are refused: every patched instruction has at least two,
 * and a site is a whole instruction. */
static struct ot_err *add_patched(const struct vp_static_keys *keys, struct vp_place_list *p)
{
	if (keys->incomplete)
		return too_many();
	for (size_t i = 0; i < keys->njumps; i++)
		OT_TRY(add(p, keys->jumps[i].code, keys->jumps[i].code + 2, false, static_key));
	for (size_t i = 0; i < keys->ncalls; i++)
		OT_TRY(add(p, keys->calls[i].addr, keys->calls[i].addr + 2, false, static_call));
	return NULL;
}

/* Add kprobes' list of the blacklist (kernel/kprobes.c), which includes modules. The section from which it is
 * made is freed after boot. */
static struct ot_err *add_blacklist(struct vp_guest *guest, struct vp_place_list *p)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	uint64_t head = vp_guest_symbol_or_0(guest, "kprobe_blacklist"), node, range[2];
	uint32_t list, start, end;

	if (!head || !btf || !vp_btf_member_offset(btf, "kprobe_blacklist_entry", "list", &list, NULL) ||
	    !vp_btf_member_offset(btf, "kprobe_blacklist_entry", "start_addr", &start, NULL) ||
	    !vp_btf_member_offset(btf, "kprobe_blacklist_entry", "end_addr", &end, NULL) ||
	    !vp_guest_try_read(guest, head, &node, sizeof(node)))
		return NULL;
	for (unsigned i = 0; node != head && i < BLACKLIST_MAX; i++) {
		uint64_t entry = node - list;
		if (i % CHECK_PLACES == 0)
			OT_TRY(vp_budget_check());
		if (!vp_guest_try_read(guest, entry + start, &range[0], sizeof(range[0])) ||
		    !vp_guest_try_read(guest, entry + end, &range[1], sizeof(range[1])) ||
		    !vp_guest_try_read(guest, node, &node, sizeof(node)))
			break;
		OT_TRY(add(p, range[0], range[1], true, "on the kernel's kprobe blacklist"));
	}
	return NULL;
}

static struct ot_err *add_sections(struct vp_guest *guest, struct vp_place_list *p)
{
	static const struct {
		const char *start, *end, *why;
	} sections[] = {
		{ "__noinstr_text_start", "__noinstr_text_end",
		  "noinstr code, which may run before the kernel's own state is set up" },
		{ "__kprobes_text_start", "__kprobes_text_end", "on the kernel's kprobe blacklist" },
		{ "__entry_text_start", "__entry_text_end", "entry code, which is not a C function" },
		{ "__static_call_text_start", "__static_call_text_end",
		  "a static call's trampoline, which the kernel rewrites" },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(sections); i++) {
		uint64_t start = vp_guest_symbol_or_0(guest, sections[i].start),
			 end = vp_guest_symbol_or_0(guest, sections[i].end);
		if (start && end)
			OT_TRY(add(p, start, end, true, sections[i].why));
	}
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct vp_place *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Append to @out the places on @stack that are between @from and @to. Of overlapping ones, the last one
 * applies. Places that have ended are removed from the stack. */
static struct ot_err *split(struct vp_place *stack, size_t *depth, uint64_t from, uint64_t to,
			    struct vp_place_list *out)
{
	while (*depth && from < to) {
		struct vp_place top = stack[*depth - 1];
		if (top.end <= from) {
			--*depth;
			continue;
		}
		top.start = from;
		top.end = top.end < to ? top.end : to;
		from = top.end;
		OT_TRY(append(out, top));
	}
	return NULL;
}

/* Split @all, which is sorted by start, into a list without overlaps: a look-up then takes the same time for
 * any guest's tables. @whole: only places that refuse whole functions. */
static struct ot_err *flatten(const struct vp_place_list *all, bool whole, struct vp_place_list *out)
{
	uint64_t at = 0, bytes = (all->n + 1) * sizeof(struct vp_place);
	struct ot_err *err = NULL;
	size_t depth = 0;

	OT_TRY(vp_budget_take(bytes));
	struct vp_place *stack = malloc(bytes);
	if (!stack)
		err = ot_err_nomem();
	for (size_t i = 0; !err && i < all->n; i++) {
		if (whole && !all->list[i].whole)
			continue;
		err = split(stack, &depth, at, all->list[i].start, out);
		at = all->list[i].start;
		stack[depth++] = all->list[i];
	}
	if (!err)
		err = split(stack, &depth, at, UINT64_MAX, out);
	free(stack);
	vp_budget_give(bytes);
	return err;
}

static struct ot_err *read_all(struct vp_guest *guest, struct vp_place_list *all, struct vp_places *ret)
{
	OT_TRY(add_sections(guest, all));
	OT_TRY(vp_static_keys_read(guest, &ret->keys));
	OT_TRY(add_patched(&ret->keys, all));
	OT_TRY(add_blacklist(guest, all));
	if (all->n)
		qsort(all->list, all->n, sizeof(*all->list), by_start);
	OT_TRY(flatten(all, false, &ret->any));
	return flatten(all, true, &ret->whole);
}

struct ot_err *vp_places_read(struct vp_guest *guest, struct vp_places *ret)
{
	struct vp_place_list all = { 0 };
	struct vp_places p = { 0 };
	struct vp_budget budget;

	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_PLACES]);
	struct ot_err *err = read_all(guest, &all, &p);
	vp_budget_end(&budget);
	free(all.list);
	if (err) {
		vp_places_deinit(&p);
		return err;
	}
	*ret = p;
	return NULL;
}

void vp_places_deinit(struct vp_places *p)
{
	free(p->any.list);
	free(p->whole.list);
	vp_static_keys_deinit(&p->keys);
	*p = (struct vp_places){ 0 };
}

/* The reason for which [gva, end) is refused: the last place in it. */
static const char *find(const struct vp_place_list *p, uint64_t gva, uint64_t end)
{
	size_t n = OT_COUNT_BEFORE(p->n, i, p->list[i].start < end);

	return n && p->list[n - 1].end > gva ? p->list[n - 1].why : NULL;
}

const char *vp_places_find(const struct vp_places *p, uint64_t gva, uint8_t len)
{
	return find(&p->any, gva, gva + (len ? len : 1));
}

const char *vp_places_function(const struct vp_places *p, uint64_t gva)
{
	return find(&p->whole, gva, gva + 1);
}

const char *vp_places_branch(const struct vp_places *p, uint64_t gva, uint64_t target)
{
	const struct vp_jump_entry *entry = vp_static_keys_jump(&p->keys, gva);
	const char *whole = vp_places_function(p, gva);

	if (whole)
		return whole;
	if (vp_static_keys_call(&p->keys, gva))
		return static_call;
	return entry && entry->target == target ? NULL : static_key;
}
