/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of a synthetic guest. */
#include "provider_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct world *world_create(const struct ks_layout *layout)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	guest_fixture_init(&w->g, layout, 4);
	return w;
}

void world_open(struct world *w)
{
	struct vp_regs regs = guest_regs(&w->g, GUEST_CR3);
	struct vp_guest_opts opts = { .phys = w->g.phys, .regs = &regs, .nregs = 1 };

	assert_ok(vp_guest_open(&opts, &w->guest));
}

int world_destroy(void **state)
{
	struct world *w = *state;

	vp_probes_destroy(w->probes);
	vp_guest_destroy(w->guest);
	guest_fixture_deinit(&w->g);
	free(w);
	return 0;
}

bool remember(void *arg, const struct vp_probe *probe)
{
	*(const struct vp_probe **)arg = probe;
	return true;
}
