/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which guests one compilation of a program serves. */
#include "vmm-probe/session/kernels.h"

#include <stdio.h>
#include <string.h>

#include "vmm-probe/session/internal.h"

/* Without a build id a kernel can't be identified; without a kernel nothing needs to be identified. */
static bool is_one_build(const struct vp_guest_link *a, const struct vp_guest_link *b)
{
	if (!a->guest || !b->guest)
		return !a->guest && !b->guest;
	const struct vp_kernel *x = vp_guest_kernel(a->guest), *y = vp_guest_kernel(b->guest);

	return x->build_id_len && x->build_id_len == y->build_id_len &&
	       !memcmp(x->build_id, y->build_id, x->build_id_len);
}

static bool is_one_place(const struct vp_guest_link *a, const struct vp_guest_link *b)
{
	return !a->guest || vp_guest_kaslr_offset(a->guest) == vp_guest_kaslr_offset(b->guest);
}

static uint32_t kernel_of(const struct vp_session *s, uint32_t guest)
{
	const struct vp_session_kernels *k = &s->kernels;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct vp_guest_link *first = s->links.items[k->items[i].first];

		if (is_one_build(first, s->links.items[guest]) &&
		    (!k->by_address || is_one_place(first, s->links.items[guest])))
			return i;
	}
	return k->n;
}

static void add(struct vp_session *s, uint32_t first)
{
	struct vp_session_kernel *k = &s->kernels.items[s->kernels.n];

	*k = (struct vp_session_kernel){ .session = s, .number = s->kernels.n++, .first = first };
	vp_world_init(k);
}

void vp_kernels_group(struct vp_session *s)
{
	s->kernels.n = 0;
	for (uint32_t i = 0; i < s->links.n; i++) {
		s->kernels.of[i] = kernel_of(s, i);
		if (s->kernels.of[i] == s->kernels.n)
			add(s, i);
	}
	if (!s->links.n)
		add(s, 0);
}

bool vp_kernels_add(struct vp_session *s, uint32_t guest)
{
	s->kernels.of[guest] = kernel_of(s, guest);
	bool is_new = s->kernels.of[guest] == s->kernels.n;

	if (is_new)
		add(s, guest);
	return is_new;
}

uint32_t vp_session_nkernels(const struct vp_session *s)
{
	return s->kernels.n;
}

const struct dif_world *vp_session_world(struct vp_session *s, uint32_t kernel)
{
	return &s->kernels.items[kernel].world;
}

void vp_session_kernel_name(const struct vp_session *s, uint32_t kernel, char *buf, size_t size)
{
	const struct vp_guest_link *link = s->links.n ? s->links.items[s->kernels.items[kernel].first] : NULL;

	if (link && link->guest && *vp_guest_kernel(link->guest)->release)
		snprintf(buf, size, "%s (%s)", link->client.guest_name,
			 vp_guest_kernel(link->guest)->release);
	else
		snprintf(buf, size, "%s", link ? link->client.guest_name : "");
}

bool vp_session_split_kernels(struct vp_session *s)
{
	uint32_t before = s->kernels.n;
	bool used = false;

	for (uint32_t i = 0; i < s->kernels.n; i++)
		used |= s->kernels.items[i].used_address;
	if (!used || s->kernels.by_address)
		return false;
	s->kernels.by_address = true;
	vp_kernels_group(s);
	return s->kernels.n != before;
}
