/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planting breakpoints. Hardware ones first: they change no memory, and TCG has an unlimited number. If a
 * stub has too few, software breakpoints are used, provided that it implements them without writing to the
 * guest, which is checked before the guest resumes: a kernel that finds an int3 where it patches its own text
 * crashes.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/backend/gdb/internal.h"

static int by_gva(const void *a, const void *b)
{
	const struct vp_gdb_planted *x = a, *y = b;

	return (x->gva > y->gva) - (x->gva < y->gva);
}

struct vp_gdb_planted *vp_gdb_planted_at(struct vp_gdb *gdb, uint64_t gva)
{
	const struct vp_gdb_planted key = { .gva = gva };

	return gdb->nplanted ? bsearch(&key, gdb->planted, gdb->nplanted, sizeof(key), by_gva) : NULL;
}

static struct ot_err *check_text(struct vp_gdb *gdb, const struct vp_site *site, size_t nhardware)
{
	uint8_t bytes[sizeof(site->bytes)];
	uint64_t gpa = site->host - (uint64_t)(uintptr_t)gdb->service.mem;

	OT_TRY(vp_gdb_read(&gdb->stub, true, gpa, bytes, site->length));
	if (!memcmp(bytes, site->bytes, site->length))
		return NULL;
	return ot_err_new(OT_ERR_LIMIT,
			  "the gdb stub at %s has %zu breakpoints that do not change the guest's memory, and "
			  "more places are needed",
			  gdb->stub.name, nhardware);
}

static struct ot_err *put_in(struct vp_gdb *gdb, struct vp_gdb_planted *p, size_t nhardware)
{
	p->kind = VP_GDB_HARDWARE;
	struct ot_err *err = vp_gdb_break(&gdb->stub, p->kind, p->gva, true);
	if (!err || ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	ot_err_destroy(err);
	p->kind = VP_GDB_SOFTWARE;
	OT_TRY(vp_gdb_break(&gdb->stub, p->kind, p->gva, true));
	err = check_text(gdb, p->site, nhardware);
	if (err)
		ot_err_destroy(vp_gdb_break(&gdb->stub, p->kind, p->gva, false));
	return err;
}

/* The new ones are inserted before the old ones are removed: after an error the old ones are still in force.
 */
static struct ot_err *put_all(struct vp_gdb *gdb, struct vp_gdb_planted *list, size_t n)
{
	size_t nhardware = 0;

	for (size_t i = 0; i < n; i++) {
		const struct vp_gdb_planted *old = vp_gdb_planted_at(gdb, list[i].gva);
		struct ot_err *err = NULL;
		if (old)
			list[i].kind = old->kind;
		else
			err = put_in(gdb, &list[i], nhardware);
		nhardware += !err && list[i].kind == VP_GDB_HARDWARE;
		if (!err)
			continue;
		while (i--)
			if (!vp_gdb_planted_at(gdb, list[i].gva))
				ot_err_destroy(vp_gdb_break(&gdb->stub, list[i].kind, list[i].gva, false));
		return err;
	}
	return NULL;
}

static void take_out_others(struct vp_gdb *gdb, const struct vp_gdb_planted *list, size_t n)
{
	for (size_t i = 0; i < gdb->nplanted; i++) {
		const struct vp_gdb_planted *p = &gdb->planted[i];
		/* a breakpoint that the stub refuses to remove stops the guest in vain from now on; nothing
		 * more can be done */
		if (!n || !bsearch(p, list, n, sizeof(*p), by_gva))
			ot_err_destroy(vp_gdb_break(&gdb->stub, p->kind, p->gva, false));
	}
}

struct ot_err *vp_gdb_plant(struct vp_gdb *gdb, const struct vp_plan *plan)
{
	size_t n = plan ? plan->nsites : 0;
	struct vp_gdb_planted *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return ot_err_nomem();
	for (size_t i = 0; i < n; i++)
		list[i] = (struct vp_gdb_planted){ .gva = plan->sites[i].gva, .site = &plan->sites[i] };
	qsort(list, n, sizeof(*list), by_gva);
	struct ot_err *err = put_all(gdb, list, n);
	if (err) {
		free(list);
		return err;
	}
	take_out_others(gdb, list, n);
	free(gdb->planted);
	gdb->planted = list;
	gdb->nplanted = n;
	return NULL;
}
