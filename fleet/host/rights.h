/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host allows a program to do: before anything of it is enabled. */
#ifndef FLEET_HOST_RIGHTS_H
#define FLEET_HOST_RIGHTS_H

#include "consumer/compile.h"
#include "fleet/host/worker.h"

/* What a clause does that not everybody may; NULL: nothing of that kind. Names of D's: "copyin", "stop". */
struct fl_deeds {
	const char *destructive; /* it changes a guest */
	const char *user_memory; /* it reads a process's memory */
	const char *of_operator; /* it acts on the operator's machine: never over a fleet */
};

void fl_deeds_of(const struct dif_clause *clause, struct fl_deeds *ret);

/** May the clauses from number @p first on, those that a host enables (clauses.h), be enabled? @p rights
 * NULL: this user's. UNSUPPORTED: over a fleet they never may. PERMISSION: not here. The text says which
 * clause, and what to do. */
OT_MUST_CHECK struct ot_err *fl_rights_check(const struct fl_rights *rights, const struct con_texts *texts,
					     const struct con_compilation *c, uint32_t first,
					     struct vp_session *s);

/** Options that are limited: of cost and time, and -w where it is not allowed. Once the texts are compiled:
 * they set options too. */
void fl_rights_limit(const struct fl_rights *rights, struct dif_options *opts);

#endif
