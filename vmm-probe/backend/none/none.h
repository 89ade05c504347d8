/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backend of no guest: the host engine in the operator's process, on which BEGIN, END and tick
 * fire. One vCPU, 0, that is never in a guest; no sites. Built-ins are this process's own, and
 * execname is "dtrace", as scripts expect.
 */
#ifndef VP_BACKEND_NONE_NONE_H
#define VP_BACKEND_NONE_NONE_H

#include "vmm-probe/engine/engine.h"

struct vp_guest;

/**
 * Create a host engine. With @p guest (borrowed until the engine is destroyed), BEGIN and tick can read that
 * guest's kernel memory; NULL: guest addresses are invalid.
 */
OT_MUST_CHECK struct ot_err *vp_none_engine_create(struct vp_guest *guest, struct vp_engine **ret);

#endif
