/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static probes that a description names. As DTrace does, probes have the program's own provider with the
 * process's number behind it: python123, and python$target. A pattern without a number means every process of
 * the guest, or with -p that one.
 */
#ifndef VP_PROVIDER_USDT_MAKE_H
#define VP_PROVIDER_USDT_MAKE_H

#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/usdt_places.h"

/* The provider's data of a probe: its vp_probe.own. */
struct vp_usdt_probe {
	struct vp_batch_process process; /* pid 0: it is a stand-in … */
	uint64_t file;                   /* … of this file (vp_batch_probe.file) */
	bool of_program;                 /* its module is a.out too */
	const char *costly; /* the reason why no pattern raises its semaphore; NULL: one does, or the full
			       name was given */
	struct vp_usdt_place *places;
	uint32_t nplaces;
};

/** Why no pattern raises the semaphore of the probe that has the place; NULL: one does. */
const char *vp_usdt_why_costly(const struct vp_usdt_place *place);

/** As vp_provider.is_named. */
bool vp_usdt_is_named(const struct vp_probes *probes, const char *pattern);

/** As vp_provider.follows. */
bool vp_usdt_follows(const struct vp_probes *probes, const char *pattern);

/** As vp_probes_have_news(). */
OT_MUST_CHECK struct ot_err *vp_usdt_has_news(struct vp_probes *probes, bool *ret);

/** As vp_provider.provide, for a description that names such probes. Called again, it makes those of
 * processes that have begun since. NOT_FOUND, UNSUPPORTED: a process that is given by its number can't be
 * probed, with D's tag. LIMIT: reading takes too much. */
OT_MUST_CHECK struct ot_err *vp_usdt_make(struct vp_probes *probes, const struct dif_probedesc *desc);

#endif
