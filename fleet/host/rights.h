/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks what a program does against the host's rules, before any of it is enabled. */
#ifndef FLEET_HOST_RIGHTS_H
#define FLEET_HOST_RIGHTS_H

#include "consumer/compile.h"
#include "fleet/host/worker.h"

/* An action that needs a right; NULL: none. By D's name: "copyin", "stop". */
struct fl_deeds {
	const char *destructive; /* it changes a guest */
	const char *user_memory; /* it reads a process's memory */
	const char *of_operator; /* it acts on the operator's machine: never over a fleet */
};

void fl_deeds_of(const struct dif_clause *clause, struct fl_deeds *ret);

/** May the clauses from number @p first on that a host enables (clauses.h) be enabled? @p rights NULL: those
 * of this user. UNSUPPORTED: never over a fleet. PERMISSION: not on this host. The text names the clause and
 * a remedy. */
OT_MUST_CHECK struct ot_err *fl_rights_check(const struct fl_rights *rights, const struct con_texts *texts,
					     const struct con_compilation *c, uint32_t first,
					     struct vp_session *s);

/** Limit the options of cost and time, and -w where it is not allowed. After the texts are compiled, because
 * they set options too. */
void fl_rights_limit(const struct fl_rights *rights, struct dif_options *opts);

#endif
