/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of a synthetic guest (guest_fixture.h). */
#ifndef TESTS_PROVIDER_FIXTURE_H
#define TESTS_PROVIDER_FIXTURE_H

#include "guest_fixture.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/registry.h"

struct world {
	struct guest_fixture g;
	struct vp_guest *guest;
	struct vp_probes *probes; /* NULL until the test makes them */
};

/* With a guest that the test writes into before world_open(). */
struct world *world_create(const struct ks_layout *layout);
void world_open(struct world *w);

/* cmocka's teardown of a world. */
int world_destroy(void **state);

/* For vp_probes_match(): *(const struct vp_probe **)@arg is the last probe. */
bool remember(void *arg, const struct vp_probe *probe);

#endif
