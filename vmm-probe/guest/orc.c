/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building the table of unwind rules from ORC entries. */
#include "vmm-probe/guest/orc.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest_internal.h"

#define ENTRY_SIZE  6
#define ENTRIES_MAX (16u << 20)

struct rule {
	uint64_t addr;
	struct vp_orc_rule rule;
};

/* The rules of one range, in order. */
struct chunk {
	uint64_t start, end;
	size_t first, count;
};

struct vp_orc_builder {
	struct vp_orc_layout layout;
	struct rule *rules;
	size_t count, cap;
	struct chunk *chunks;
	size_t nchunks, chunks_cap;
};

/* NULL: out of memory. */
static struct vp_orc_builder *new_builder(const struct vp_orc_layout *layout)
{
	struct vp_orc_builder *b = calloc(1, sizeof(*b));

	if (b)
		b->layout = *layout;
	return b;
}

struct ot_err *vp_orc_builder_create(const struct vp_orc_layout *layout, struct vp_orc_builder **ret)
{
	struct vp_orc_builder *b = new_builder(layout);

	if (!b)
		return ot_err_nomem();
	*ret = b;
	return NULL;
}

void vp_orc_builder_destroy(struct vp_orc_builder *b)
{
	if (!b)
		return;
	free(b->rules);
	free(b->chunks);
	free(b);
}

static struct vp_orc_rule decode(const struct vp_orc_layout *l, const uint8_t *entry)
{
	struct vp_orc_rule r = { 0 };
	uint16_t flags;

	memcpy(&r.sp_offset, entry, 2);
	memcpy(&r.bp_offset, entry + 2, 2);
	memcpy(&flags, entry + 4, 2);

	unsigned type = flags >> l->type_shift & ((1u << l->type_bits) - 1);
	bool end = l->end_shift != 0xff && (flags >> l->end_shift & 1);

	r.sp_base = l->sp_bases[flags >> l->sp_reg_shift & 15];
	r.bp_base = l->bp_bases[flags >> l->bp_reg_shift & 15];
	if (type == l->type_end || (end && r.sp_base == VP_ORC_UNDEFINED))
		return (struct vp_orc_rule){ .sp_base = VP_ORC_END };
	if (type == l->type_call)
		r.type = VP_ORC_CALL;
	else if (type == l->type_regs)
		r.type = VP_ORC_REGS;
	else if (type == l->type_partial)
		r.type = VP_ORC_REGS_PARTIAL;
	else
		r.sp_base = VP_ORC_UNDEFINED;
	return r.sp_base == VP_ORC_UNDEFINED ? (struct vp_orc_rule){ 0 } : r;
}

/* By address; at equal addresses "undefined" comes first, so that the other rule wins: weak functions that
 * the linker discarded leave undefined entries at the addresses of others. */
static int compare(const void *a, const void *b)
{
	const struct rule *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->rule.sp_base != VP_ORC_UNDEFINED) - (y->rule.sp_base != VP_ORC_UNDEFINED);
}

static void sort(struct rule *rules, size_t n)
{
	/* The kernel's own table is usually sorted at build time. */
	for (size_t i = 1; i < n; i++) {
		if (compare(&rules[i - 1], &rules[i]) > 0) {
			qsort(rules, n, sizeof(*rules), compare);
			return;
		}
	}
}

static bool overlaps(const struct vp_orc_builder *b, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < b->nchunks; i++)
		if (start < b->chunks[i].end && b->chunks[i].start < end)
			return true;
	return false;
}

static struct ot_err *check(const struct vp_orc_builder *b, const struct vp_orc_raw *raw, uint64_t start,
			    uint64_t end, size_t *ret_count)
{
	size_t n = raw->ip_size / 4;

	if (raw->ip_size % 4 || raw->orc_size % ENTRY_SIZE || raw->orc_size / ENTRY_SIZE != n)
		return ot_err_new(OT_ERR_BAD_DATA, "ORC: %zu bytes of addresses, %zu bytes of entries",
				  raw->ip_size, raw->orc_size);
	if (start >= end)
		return ot_err_new(OT_ERR_BAD_DATA, "ORC: an empty range");
	if (n > ENTRIES_MAX || b->count + n + 1 > ENTRIES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "ORC: more than %u entries", ENTRIES_MAX);
	*ret_count = n;
	return NULL;
}

struct ot_err *vp_orc_builder_add(struct vp_orc_builder *b, const struct vp_orc_raw *raw, uint64_t start,
				  uint64_t end)
{
	size_t n = 0, first = b->count;

	OT_TRY(check(b, raw, start, end, &n));
	if (overlaps(b, start, end))
		return NULL;
	OT_TRY(vp_budget_check());
	OT_TRY(vp_budget_take((n + 1) * sizeof(*b->rules)));
	if (!ot_grow(&b->rules, &b->cap, b->count + n + 1, sizeof(*b->rules)) ||
	    !ot_grow(&b->chunks, &b->chunks_cap, b->nchunks + 1, sizeof(*b->chunks)))
		return ot_err_nomem();
	for (size_t i = 0; i < n; i++) {
		int32_t rel;
		uint64_t addr;

		memcpy(&rel, raw->ip + 4 * i, 4);
		addr = raw->ip_addr.v + 4 * i + (uint64_t)(int64_t)rel;
		if (addr >= start && addr < end)
			b->rules[b->count++] =
			    (struct rule){ addr, decode(&b->layout, raw->orc + ENTRY_SIZE * i) };
	}
	if (b->count == first)
		return NULL;
	sort(b->rules + first, b->count - first);
	b->rules[b->count++] = (struct rule){ .addr = end };
	b->chunks[b->nchunks++] = (struct chunk){ start, end, first, b->count - first };
	return NULL;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Copy the last rule of each address, unless it equals the preceding rule. */
static size_t thin_out(const struct vp_orc_builder *b, struct rule *out)
{
	size_t n = 0;

	for (size_t c = 0; c < b->nchunks; c++) {
		const struct chunk *chunk = &b->chunks[c];

		for (size_t i = chunk->first; i < chunk->first + chunk->count; i++) {
			const struct rule *r = &b->rules[i];

			if (n && out[n - 1].addr == r->addr)
				n--;
			if (!n || memcmp(&out[n - 1].rule, &r->rule, sizeof(r->rule)) != 0)
				out[n++] = *r;
		}
	}
	return n;
}

struct ot_err *vp_orc_builder_finish(struct vp_orc_builder *b, struct ot_buf *out)
{
	struct vp_orc_header header = { .magic = VP_ORC_MAGIC };
	struct rule *rules;
	size_t n;

	OT_TRY(vp_budget_take((b->count + 1) * 2 * sizeof(*rules)));
	rules = malloc((b->count + 1) * sizeof(*rules));
	if (!rules)
		return ot_err_nomem();
	if (b->nchunks)
		qsort(b->chunks, b->nchunks, sizeof(*b->chunks), compare_chunks);
	n = thin_out(b, rules);
	header.nentries = (uint32_t)n;
	ot_buf_append(out, &header, sizeof(header));
	for (size_t i = 0; i < n; i++)
		ot_buf_append(out, &rules[i].addr, sizeof(rules[i].addr));
	for (size_t i = 0; i < n; i++)
		ot_buf_append(out, &rules[i].rule, sizeof(rules[i].rule));
	free(rules);
	return out->failed ? ot_err_nomem() : NULL;
}

/* A module's table that is unreadable or invalid is left out: stacks end early in that module. */
static struct ot_err *add_module(struct vp_orc_builder *b, struct vp_guest *guest,
				 const struct vp_module *module)
{
	struct vp_orc_raw raw = { 0 };
	struct ot_err *err = vp_guest_module_orc(guest, module, &raw);

	for (size_t i = 0; !err && raw.ip_size && i < module->nranges; i++)
		err = vp_orc_builder_add(b, &raw, module->ranges[i].start, module->ranges[i].end);
	vp_budget_give(raw.ip_size + raw.orc_size);
	free((void *)raw.ip);
	free((void *)raw.orc);
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *fill(struct vp_orc_builder *b, struct vp_guest *guest, const struct vp_orc_raw *raw)
{
	const struct vp_kernel *k = vp_guest_kernel(guest);
	const struct vp_modules *modules = vp_guest_modules(guest);

	OT_TRY(vp_orc_builder_add(b, raw, k->base.v, k->base.v + k->size));
	for (size_t i = 0; modules && i < modules->count; i++)
		if (modules->list[i].live)
			OT_TRY(add_module(b, guest, &modules->list[i]));
	return NULL;
}

static struct ot_err *build(struct vp_guest *guest, const struct vp_orc_raw *raw, struct ot_buf *out)
{
	struct vp_orc_layout layout;
	struct vp_orc_builder *b;
	struct ot_err *err;

	if (!raw->ip_size || !raw->orc_size)
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest's kernel has no ORC tables");
	OT_TRY(vp_orc_layout(vp_guest_btf(guest), raw, &layout));
	b = new_builder(&layout);
	if (!b)
		return ot_err_nomem();
	err = fill(b, guest, raw);
	if (!err)
		err = vp_orc_builder_finish(b, out);
	vp_orc_builder_destroy(b);
	return err;
}

static struct ot_err *make_table(struct vp_guest *guest, struct ot_buf *out)
{
	struct vp_orc_raw raw = { 0 };

	if (!vp_arch_native.has_orc)
		return ot_err_new(OT_ERR_NOT_FOUND, "guests of this architecture have no ORC tables");
	OT_TRY(vp_guest_kernel_orc(guest, &raw));
	struct ot_err *err = build(guest, &raw, out);
	free((void *)raw.ip);
	free((void *)raw.orc);
	return err;
}

struct ot_err *vp_orc_table(struct vp_guest *guest, struct ot_buf *out)
{
	struct vp_budget budget;
	struct ot_err *err;

	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_STACKS]);
	err = make_table(guest, out);
	vp_budget_end(&budget);
	return err;
}
