/* SPDX-License-Identifier: GPL-2.0-or-later */
/* If a program prints `guest`, the name of a host's guest gets the host's name before it: h1/web01 and
 * h2/web01 are two guests. */
#include <stdio.h>
#include <string.h>

#include "fleet/operator/internal.h"

/* Is it the variable, and nothing else? The host computes expressions of it. */
static bool is_guest(const struct dif_action *a)
{
	const struct dif_object *o = a->object;

	return o && o->text_len == 2 && dif_insn_op(o->text[0]) == DIF_OP_ldgs &&
	       dif_insn_idx(o->text[0]) == DIF_VAR_guest && o->ret.kind == DIF_TYPE_STRING;
}

static bool any(const struct vp_enabled *ecb, const struct dif_rec *recs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_guest(&ecb->clause->actions[recs[i].action]))
			return true;
	return false;
}

static void put_name(const char *name, uint8_t *at, uint32_t size)
{
	size_t len = strnlen(name, size);

	memset(at, 0, size);
	memcpy(at, name, len);
}

struct ot_err *fl_host_qualify(struct fl_host *h, const struct vp_enabled *ecb, const struct dif_rec *recs,
			       uint32_t n, struct fl_bytes *data)
{
	struct ot_buf *copy = &h->fleet->qualified;
	const char *name = h->there[(ecb->guest - FL_GUEST_BASE) % VP_GUESTS_MAX].name;

	/* a merger's sums already have it */
	if (h->merger || !any(ecb, recs, n))
		return NULL;
	ot_buf_clear(copy);
	ot_buf_append(copy, data->data, data->len);
	if (copy->failed)
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++)
		if (is_guest(&ecb->clause->actions[recs[i].action]))
			put_name(name, (uint8_t *)copy->data + recs[i].offset, recs[i].size);
	data->data = (const uint8_t *)copy->data;
	return NULL;
}
