/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A batch on its way into a session, for enabling.c's files only: batch_check.c parses the message and checks
 * it, batch_copy.c copies it, enabling.c links the copy in.
 */
#ifndef VP_ENGINE_SERVICE_ENABLING_H
#define VP_ENGINE_SERVICE_ENABLING_H

#include "vmm-probe/engine/service/engine_session.h"

/* The batch, by its parts. */
struct vp_batch_parts {
	struct vp_batch head;
	const struct vp_batch_probe *probes;
	const struct vp_batch_site *sites;
	const struct vp_batch_ecb *ecbs;
	const struct vp_batch_agent *agent; /* head.nagents of them */
	const void *dof;                    /* head.dof_size bytes */
	const char *strings;
};

/* Is a probe of that kind for the engine's own use? Its sites fire no ECB. */
static inline bool vp_is_own_use(uint32_t kind)
{
	return kind == VP_PROBE_SENTINEL || kind == VP_PROBE_AGENT_CALL;
}

/** The parts of @p batch, @p size bytes; they point into it. BAD_DATA, LIMIT: it is malformed. */
OT_MUST_CHECK struct ot_err *vp_batch_take_apart(const void *batch, size_t size, struct vp_batch_parts *ret);

/** Check probes and ECBs. BAD_DATA, LIMIT, UNSUPPORTED. */
OT_MUST_CHECK struct ot_err *vp_batch_check(const struct vp_engine_session *es,
					    const struct vp_batch_parts *parts);

/** Copy a batch that vp_batch_check() has passed into @p b, all zeroes, which vp_batch_free() frees after an
 * error too. FAULT, BAD_DATA: a site is not in guest memory, or its bytes differ. */
OT_MUST_CHECK struct ot_err *vp_batch_copy(struct vp_engine_session *es, const struct vp_batch_parts *parts,
					   struct vp_enabled_batch *b);

#endif
