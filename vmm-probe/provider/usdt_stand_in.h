/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins of static probes: what a process of a known file has before its own probes are made. They are
 * the file's, at the offsets of its notes, and fire in every process whose own probe is not enabled
 * (vp_batch_probe.stands_in). One is made with the first probe of its name in any process.
 */
#ifndef VP_PROVIDER_USDT_STAND_IN_H
#define VP_PROVIDER_USDT_STAND_IN_H

#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/usdt_places.h"

/** Make the stand-in of a probe whose @p count places are @p places, in @p object of reader->process, once of
 * each file. None is made where this kernel or guest can't have sites in files, or a place is refused. @p
 * module: the registry's copy of the object's name. LIMIT: the caller's budget. */
OT_MUST_CHECK struct ot_err *vp_usdt_stand_in(struct vp_probes *probes, const struct vp_usdt_reader *reader,
					      struct vp_pid_object *object, const char *module,
					      const struct vp_usdt_place *places, size_t count);

#endif
