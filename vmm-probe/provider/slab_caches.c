/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's list of slab caches (mm/slab_common.c). Each word of it is the guest's: the walk has a bound,
 * ends at unreadable memory, and takes only names. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/members.h"

#define CACHES_MAX 1024u /* Debian's kernels have 200 */
#define CACHE_NAME 64u

struct walk {
	struct vp_probes *probes;
	struct vp_guest *guest;
	uint32_t name_at, list_at; /* of struct kmem_cache */
	struct ot_buf members;
};

/* False: unreadable. Hundreds of reads in a row: the page walker's cache is emptied once, before the first.
 */
static bool read_at(struct walk *w, uint64_t gva, void *dst, size_t len)
{
	struct ot_err *err =
	    vp_mmu_read(vp_guest_phys(w->guest), vp_guest_mmu(w->guest), vp_gva(gva), dst, len);
	bool ok = !err;

	ot_err_destroy(err);
	return ok;
}

/* False: it is unnamed. */
static bool read_name(struct walk *w, uint64_t cache, char ret[CACHE_NAME])
{
	uint64_t text;

	if (!read_at(w, cache + w->name_at, &text, sizeof(text)))
		return false;
	bool ok = read_at(w, text, ret, CACHE_NAME) && *ret && memchr(ret, 0, CACHE_NAME);
	for (char *p = ret; ok && *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
			*p = '_';
	return ok;
}

static struct ot_err *add(struct walk *w, uint64_t cache, const char *name)
{
	char value[24];

	snprintf(value, sizeof(value), "0x%llx", (unsigned long long)cache);
	const struct vp_member m = {
		.name = vp_probes_strdup(w->probes, name),
		.value = vp_probes_strdup(w->probes, value),
	};
	if (!m.name || !m.value)
		return ot_err_nomem();
	ot_buf_append(&w->members, &m, sizeof(m));
	return w->members.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *walk(struct walk *w, uint64_t head)
{
	uint64_t at = head;
	char name[CACHE_NAME];

	for (unsigned i = 0; i < CACHES_MAX && read_at(w, at, &at, sizeof(at)) && at != head; i++) {
		OT_TRY(vp_budget_check());
		if (read_name(w, at - w->list_at, name))
			OT_TRY(add(w, at - w->list_at, name));
	}
	return NULL;
}

struct ot_err *vp_members_slab_caches(struct vp_probes *probes, struct vp_members *ret)
{
	struct walk w = { .probes = probes, .guest = vp_probes_guest(probes) };
	const struct vp_symbol *head = vp_symtab_find(vp_guest_symtab(w.guest), "vmlinux", "slab_caches");
	const struct vp_btf *btf = vp_guest_btf(w.guest);
	struct vp_budget budget;

	*ret = (struct vp_members){ 0 };
	if (!head || !btf || !vp_btf_member_offset(btf, "kmem_cache", "name", &w.name_at, NULL) ||
	    !vp_btf_member_offset(btf, "kmem_cache", "list", &w.list_at, NULL))
		return NULL;
	ot_buf_init(&w.members);
	vp_guest_budget_begin(w.guest, &budget, &vp_readings[VP_READ_LISTS]);
	vp_mmu_flush(vp_guest_mmu(w.guest));
	struct ot_err *err = walk(&w, head->addr);
	vp_budget_end(&budget);
	if (!err) {
		ret->count = w.members.len / sizeof(*ret->list);
		ret->list = vp_probes_alloc(probes, w.members.len + 1);
		if (!ret->list)
			err = ot_err_nomem();
		else if (ret->count)
			memcpy(ret->list, w.members.data, w.members.len);
	}
	ot_buf_deinit(&w.members);
	return err;
}
