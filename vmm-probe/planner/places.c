/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the kernel's tables of places that it patches and of places that must not be probed.
 *
 * struct jump_entry { s32 code, target; long key } (include/linux/jump_label.h) and struct static_call_site
 * { s32 addr, key } (include/linux/static_call_types.h) contain offsets relative to their own members.
 */
#include "vmm-probe/planner/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/guest.h"

#define TABLE_MAX     (16u << 20) /* bytes; Debian's kernels have 0.2 million */
#define BLACKLIST_MAX 65536u      /* entries; Debian's kernels have a thousand */
#define PLACES_MAX    (4u << 20)

static struct ot_err *add(struct vp_places *p, uint64_t start, uint64_t end, bool whole, const char *why)
{
	if (end <= start || p->n >= PLACES_MAX)
		return NULL;
	if (!ot_grow(&p->list, &p->cap, p->n + 1, sizeof(*p->list)))
		return ot_err_nomem();
	p->list[p->n++] = (struct vp_place){ .start = start, .end = end, .whole = whole, .why = why };
	return NULL;
}

/* A symbol's address; 0: there is none. */
static uint64_t symbol(const struct vp_guest *guest, const char *name)
{
	struct vp_gva at = { 0 };
	struct ot_err *err = vp_guest_symbol(guest, name, &at);

	if (err)
		ot_err_destroy(err);
	return err ? 0 : at.v;
}

/* False: unreadable. */
static bool read_at(struct vp_guest *guest, uint64_t gva, void *dst, size_t len)
{
	struct ot_err *err = vp_guest_read(guest, vp_gva(gva), dst, len);

	ot_err_destroy(err);
	return !err;
}

/* Add a table whose entries of @stride bytes begin with an offset to an instruction. Only the first two bytes
 * of that are refused: every patched instruction has at least two, and a site is a whole instruction. */
static struct ot_err *add_table(struct vp_guest *guest, struct vp_places *p, uint64_t table, uint64_t size,
				uint32_t stride, const char *why)
{
	struct ot_err *err = NULL;

	if (!table || !size || size > TABLE_MAX || size % stride)
		return NULL;
	uint8_t *bytes = malloc(size);
	if (!bytes)
		return ot_err_nomem();
	if (!read_at(guest, table, bytes, size))
		size = 0;
	for (uint64_t at = 0; !err && at < size; at += stride) {
		int32_t distance;
		memcpy(&distance, bytes + at, sizeof(distance));
		uint64_t code = table + at + (uint64_t)(int64_t)distance;
		err = add(p, code, code + 2, false, why);
	}
	free(bytes);
	return err;
}

static const char static_key[] = "a static key is patched there";
static const char static_call[] = "a static call is patched there";

#define STATIC_CALL_SITE 8u

/* sizeof(struct jump_entry); without BTF, x86-64's. */
static uint32_t jump_entry_size(const struct vp_guest *guest)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	uint64_t size = btf ? vp_btf_sizeof(btf, "jump_entry") : 0;

	return size >= 8 && size <= 64 ? (uint32_t)size : 16;
}

static struct ot_err *add_core_tables(struct vp_guest *guest, struct vp_places *p)
{
	uint64_t jumps = symbol(guest, "__start___jump_table"),
		 jumps_end = symbol(guest, "__stop___jump_table");
	uint64_t calls = symbol(guest, "__start_static_call_sites"),
		 calls_end = symbol(guest, "__stop_static_call_sites");

	OT_TRY(add_table(guest, p, jumps, jumps_end - jumps, jump_entry_size(guest), static_key));
	return add_table(guest, p, calls, calls_end - calls, STATIC_CALL_SITE, static_call);
}

/* Add the table at struct module's member @table, with as many entries as member @count says. */
static struct ot_err *add_module_table(struct vp_guest *guest, struct vp_places *p, const struct vp_module *m,
				       const char *table, const char *count, uint32_t stride, const char *why)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	uint32_t at_table, at_count, n;
	uint64_t start;

	if (!btf || !vp_btf_member_offset(btf, "module", table, &at_table, NULL) ||
	    !vp_btf_member_offset(btf, "module", count, &at_count, NULL) ||
	    !read_at(guest, m->addr.v + at_table, &start, sizeof(start)) ||
	    !read_at(guest, m->addr.v + at_count, &n, sizeof(n)))
		return NULL;
	return add_table(guest, p, start, (uint64_t)n * stride, stride, why);
}

static struct ot_err *add_modules(struct vp_guest *guest, struct vp_places *p)
{
	const struct vp_modules *modules = vp_guest_modules(guest);
	uint32_t stride = jump_entry_size(guest);

	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct vp_module *m = &modules->list[i];
		OT_TRY(add_module_table(guest, p, m, "jump_entries", "num_jump_entries", stride, static_key));
		OT_TRY(add_module_table(guest, p, m, "static_call_sites", "num_static_call_sites",
					STATIC_CALL_SITE, static_call));
	}
	return NULL;
}

/* Add kprobes' list of the blacklist (kernel/kprobes.c), which includes modules. The section from which it is
 * made is freed after boot. */
static struct ot_err *add_blacklist(struct vp_guest *guest, struct vp_places *p)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	uint64_t head = symbol(guest, "kprobe_blacklist"), node, range[2];
	uint32_t list, start, end;

	if (!head || !btf || !vp_btf_member_offset(btf, "kprobe_blacklist_entry", "list", &list, NULL) ||
	    !vp_btf_member_offset(btf, "kprobe_blacklist_entry", "start_addr", &start, NULL) ||
	    !vp_btf_member_offset(btf, "kprobe_blacklist_entry", "end_addr", &end, NULL) ||
	    !read_at(guest, head, &node, sizeof(node)))
		return NULL;
	for (unsigned i = 0; node != head && i < BLACKLIST_MAX; i++) {
		uint64_t entry = node - list;
		if (!read_at(guest, entry + start, &range[0], sizeof(range[0])) ||
		    !read_at(guest, entry + end, &range[1], sizeof(range[1])) ||
		    !read_at(guest, node, &node, sizeof(node)))
			break;
		OT_TRY(add(p, range[0], range[1], true, "on the kernel's kprobe blacklist"));
	}
	return NULL;
}

static struct ot_err *add_sections(struct vp_guest *guest, struct vp_places *p)
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
		uint64_t start = symbol(guest, sections[i].start), end = symbol(guest, sections[i].end);
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

struct ot_err *vp_places_read(struct vp_guest *guest, struct vp_places *ret)
{
	struct vp_places p = { 0 };
	struct ot_err *err = add_sections(guest, &p);

	if (!err)
		err = add_core_tables(guest, &p);
	if (!err)
		err = add_modules(guest, &p);
	if (!err)
		err = add_blacklist(guest, &p);
	if (err) {
		vp_places_deinit(&p);
		return err;
	}
	if (p.n)
		qsort(p.list, p.n, sizeof(*p.list), by_start);
	for (size_t i = 0; i < p.n; i++) {
		uint64_t before = i ? p.list[i - 1].reach : 0;
		p.list[i].reach = p.list[i].end > before ? p.list[i].end : before;
	}
	*ret = p;
	return NULL;
}

void vp_places_deinit(struct vp_places *p)
{
	free(p->list);
	*p = (struct vp_places){ 0 };
}

/* Why [gva, end) is refused: a place that overlaps it; with @whole, one that refuses whole functions. */
static const char *find(const struct vp_places *p, uint64_t gva, uint64_t end, bool whole)
{
	/* backwards from the last place that begins before the end of the range */
	for (size_t n = OT_COUNT_BEFORE(p->n, i, p->list[i].start < end); n > 0 && p->list[n - 1].reach > gva;
	     n--)
		if (p->list[n - 1].end > gva && (!whole || p->list[n - 1].whole))
			return p->list[n - 1].why;
	return NULL;
}

const char *vp_places_find(const struct vp_places *p, uint64_t gva, uint8_t len)
{
	return find(p, gva, gva + (len ? len : 1), false);
}

const char *vp_places_function(const struct vp_places *p, uint64_t gva)
{
	return find(p, gva, gva + 1, true);
}
