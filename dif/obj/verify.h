/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verifier: what it passes can be run. Rules are numbered in verify.c. */
#ifndef DIF_OBJ_VERIFY_H
#define DIF_OBJ_VERIFY_H

#include "dif/obj/program.h"

/** Check one object against every rule; BAD_DATA says "rule N at instruction I: …".
 * Sets obj->destructive. */
OT_MUST_CHECK struct ot_err *dif_verify(struct dif_object *obj);

/** Check all objects of a program, that variables agree between objects, and the order and
 * shape of actions (tuples, speculation, commit). */
OT_MUST_CHECK struct ot_err *dif_program_verify(struct dif_program *prog);

#endif
