/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the tables of jump entries and of static calls, and finding entries in them. */
#include "vmm-probe/guest/static_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"

#define STATIC_CALL_SITE 8u
#define JUMP_ENTRY       16u
#define KEY_FLAGS        3u /* in the low bits of an entry's key */
#define KEY_INIT         2u /* include/linux/jump_label.h, jump_entry_is_init() */

/* A table's address, and the kind of its entries. */
struct table {
	uint64_t gva, size;
	bool is_jumps;
};

struct reader {
	struct vp_guest *guest;
	struct vp_static_keys *keys;
	size_t jumps_cap, calls_cap;
	uint8_t *bytes; /* the table that is being read */
};

static uint64_t place32(uint64_t at, const uint8_t *p)
{
	int32_t distance;

	memcpy(&distance, p, sizeof(distance));
	return at + (uint64_t)(int64_t)distance;
}

static struct ot_err *reserve(struct reader *r, void *array, size_t *cap, size_t count, size_t elem)
{
	size_t before = *cap;

	if (count >= VP_STATIC_SITES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the guest's tables have more than %u static keys or calls",
				  VP_STATIC_SITES_MAX);
	if (!ot_grow(array, cap, count + 1, elem))
		return ot_err_nomem();
	uint64_t bytes = (*cap - before) * elem;
	struct ot_err *err = vp_budget_take(bytes);
	if (!err)
		r->keys->charged += bytes;
	return err;
}

static struct ot_err *add_jump(struct reader *r, uint64_t at, const uint8_t *p)
{
	struct vp_static_keys *k = r->keys;
	int64_t key;

	OT_TRY(reserve(r, &k->jumps, &r->jumps_cap, k->njumps, sizeof(*k->jumps)));
	memcpy(&key, p + 8, sizeof(key));
	k->jumps[k->njumps++] = (struct vp_jump_entry){
		.code = place32(at, p),
		.target = place32(at + 4, p + 4),
		.key = at + 8 + ((uint64_t)key & ~(uint64_t)KEY_FLAGS),
		.is_init = key & KEY_INIT,
	};
	return NULL;
}

static struct ot_err *add_call(struct reader *r, uint64_t at, const uint8_t *p)
{
	struct vp_static_keys *k = r->keys;

	OT_TRY(reserve(r, &k->calls, &r->calls_cap, k->ncalls, sizeof(*k->calls)));
	k->calls[k->ncalls++] = (struct vp_static_call){
		.addr = place32(at, p),
		.key = place32(at + 4, p + 4) & ~(uint64_t)KEY_FLAGS,
	};
	return NULL;
}

static struct ot_err *add_entries(struct reader *r, const struct table *t)
{
	uint32_t stride = t->is_jumps ? JUMP_ENTRY : STATIC_CALL_SITE;

	if (!vp_guest_try_read(r->guest, t->gva, r->bytes, t->size))
		return NULL;
	for (uint64_t at = 0; at + stride <= t->size; at += stride) {
		if (at / stride % 4096 == 0)
			OT_TRY(vp_budget_check());
		OT_TRY(t->is_jumps ? add_jump(r, t->gva + at, r->bytes + at)
				   : add_call(r, t->gva + at, r->bytes + at));
	}
	return NULL;
}

static struct ot_err *add_table(struct reader *r, const struct table *t)
{
	if (!t->gva || !t->size || t->size > VP_STATIC_TABLE_MAX)
		return NULL;
	OT_TRY(vp_budget_take(t->size));
	r->bytes = malloc(t->size);
	struct ot_err *err = r->bytes ? add_entries(r, t) : ot_err_nomem();
	free(r->bytes);
	vp_budget_give(t->size);
	return err;
}

static struct ot_err *add_core(struct reader *r)
{
	struct table jumps = { .gva = vp_guest_symbol_or_0(r->guest, "__start___jump_table"),
			       .is_jumps = true };
	struct table calls = { .gva = vp_guest_symbol_or_0(r->guest, "__start_static_call_sites") };

	jumps.size = vp_guest_symbol_or_0(r->guest, "__stop___jump_table") - jumps.gva;
	calls.size = vp_guest_symbol_or_0(r->guest, "__stop_static_call_sites") - calls.gva;
	OT_TRY(add_table(r, &jumps));
	return add_table(r, &calls);
}

/* The table at struct module's member @table, with the number of entries in its member @count. */
static struct ot_err *add_of_module(struct reader *r, const struct vp_module *m, const char *table,
				    const char *count, bool is_jumps)
{
	const struct vp_btf *btf = vp_guest_btf(r->guest);
	struct table t = { .is_jumps = is_jumps };
	uint32_t at_table, at_count, n;

	if (!btf || !vp_btf_member_offset(btf, "module", table, &at_table, NULL) ||
	    !vp_btf_member_offset(btf, "module", count, &at_count, NULL) ||
	    !vp_guest_try_read(r->guest, m->addr.v + at_table, &t.gva, sizeof(t.gva)) ||
	    !vp_guest_try_read(r->guest, m->addr.v + at_count, &n, sizeof(n)))
		return NULL;
	t.size = (uint64_t)n * (is_jumps ? JUMP_ENTRY : STATIC_CALL_SITE);
	return add_table(r, &t);
}

static struct ot_err *add_modules(struct reader *r)
{
	const struct vp_modules *modules = vp_guest_modules(r->guest);

	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct vp_module *m = &modules->list[i];
		OT_TRY(vp_budget_check());
		struct ot_err *err = add_of_module(r, m, "jump_entries", "num_jump_entries", true);
		if (!err)
			err = add_of_module(r, m, "static_call_sites", "num_static_call_sites", false);
		if (!err)
			continue;
		if (!vp_modules_guests_fault(err, &err))
			return err;
		r->keys->incomplete = true;
	}
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct vp_jump_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

static int by_address(const void *a, const void *b)
{
	const struct vp_static_call *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_code(const void *a, const void *b, void *jumps)
{
	const struct vp_jump_entry *x = (struct vp_jump_entry *)jumps + *(const uint32_t *)a,
				   *y = (struct vp_jump_entry *)jumps + *(const uint32_t *)b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static struct ot_err *sort(struct vp_static_keys *keys)
{
	uint64_t bytes = keys->njumps * sizeof(*keys->by_code);

	if (keys->ncalls)
		qsort(keys->calls, keys->ncalls, sizeof(*keys->calls), by_address);
	if (!keys->njumps)
		return NULL;
	qsort(keys->jumps, keys->njumps, sizeof(*keys->jumps), by_key);
	OT_TRY(vp_budget_take(bytes));
	keys->charged += bytes;
	keys->by_code = malloc(bytes);
	if (!keys->by_code)
		return ot_err_nomem();
	for (uint32_t i = 0; i < keys->njumps; i++)
		keys->by_code[i] = i;
	qsort_r(keys->by_code, keys->njumps, sizeof(*keys->by_code), by_code, keys->jumps);
	return NULL;
}

struct ot_err *vp_static_keys_read(struct vp_guest *guest, struct vp_static_keys *ret)
{
	struct vp_static_keys keys = { 0 };
	struct reader r = { .guest = guest, .keys = &keys };
	struct ot_err *err = add_core(&r);

	if (!err)
		err = add_modules(&r);
	if (!err)
		err = sort(&keys);
	if (err) {
		vp_static_keys_deinit(&keys);
		return err;
	}
	*ret = keys;
	return NULL;
}

void vp_static_keys_deinit(struct vp_static_keys *keys)
{
	free(keys->jumps);
	free(keys->by_code);
	free(keys->calls);
	vp_budget_give(keys->charged);
	*keys = (struct vp_static_keys){ 0 };
}

const struct vp_jump_entry *vp_static_keys_jumps(const struct vp_static_keys *keys, uint64_t key,
						 size_t *ret_count)
{
	const struct vp_jump_entry *jumps = keys->jumps;
	size_t first = OT_COUNT_BEFORE(keys->njumps, i, jumps[i].key < key);
	size_t end = OT_COUNT_BEFORE(keys->njumps, i, jumps[i].key <= key);

	*ret_count = end - first;
	return end > first ? &jumps[first] : NULL;
}

const struct vp_jump_entry *vp_static_keys_jump(const struct vp_static_keys *keys, uint64_t code)
{
	const struct vp_jump_entry *jumps = keys->jumps;
	size_t i = OT_COUNT_BEFORE(keys->njumps, n, jumps[keys->by_code[n]].code < code);

	return i < keys->njumps && jumps[keys->by_code[i]].code == code ? &jumps[keys->by_code[i]] : NULL;
}

const struct vp_static_call *vp_static_keys_call(const struct vp_static_keys *keys, uint64_t addr)
{
	const struct vp_static_call *calls = keys->calls;
	size_t i = OT_COUNT_BEFORE(keys->ncalls, n, calls[n].addr < addr);

	return i < keys->ncalls && calls[i].addr == addr ? &calls[i] : NULL;
}
