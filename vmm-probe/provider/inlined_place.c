/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Substitutes of places that a kernel lacks: text for text, before it is compiled. */
#include "vmm-probe/provider/inlined_place.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static const struct {
	const char *function, *substitute;
} places[] = {
	/* net/ipv4/ip_output.c, net/ipv6/ip6_output.c: without netfilter, nothing takes their addresses. */
	{ "ip_finish_output", "ip_finish_output2" },
	{ "ip6_finish_output", "ip6_finish_output2" },
	/* kernel/locking/qspinlock.c, which has the first name with CONFIG_PARAVIRT_SPINLOCKS only */
	{ "native_queued_spin_lock_slowpath", "queued_spin_lock_slowpath" },
};

/* How a description has it: `fbt::NAME:`. */
#define PLACE_MAX 64

static const char *find(const char *text, size_t len, const char *place)
{
	return memmem(text, len, place, strlen(place));
}

static bool replace(struct ot_arena *arena, struct vp_text_part *text, const char *place, const char *by)
{
	const char *end = text->text + text->len, *at = text->text, *found;
	struct ot_buf out;

	ot_buf_init(&out);
	while ((found = find(at, (size_t)(end - at), place))) {
		ot_buf_append(&out, at, (size_t)(found - at));
		ot_buf_append(&out, by, strlen(by));
		at = found + strlen(place);
	}
	ot_buf_append(&out, at, (size_t)(end - at));
	text->len = out.len;
	text->text = out.failed ? NULL : ot_arena_strndup(arena, (const char *)out.data, out.len);
	ot_buf_deinit(&out);
	return text->text != NULL;
}

bool vp_inlined_places(const struct vp_symtab *symtab, struct ot_arena *arena,
		       const struct vp_text_part *text, struct vp_text_part *ret)
{
	char place[PLACE_MAX], by[PLACE_MAX];

	*ret = *text;
	for (size_t i = 0; i < OT_ARRAY_SIZE(places) && ret->text; i++) {
		snprintf(place, sizeof(place), "fbt::%s:", places[i].function);
		snprintf(by, sizeof(by), "fbt::%s:", places[i].substitute);
		if (!find(ret->text, ret->len, place) || vp_symtab_find(symtab, NULL, places[i].function) ||
		    !vp_symtab_find(symtab, NULL, places[i].substitute))
			continue;
		if (!replace(arena, ret, place, by))
			return false;
	}
	return true;
}
