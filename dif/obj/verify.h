/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verifier: programs that it accepts can be evaluated safely. The rules are in verify.c and
 * verify_program.c. */
#ifndef DIF_OBJ_VERIFY_H
#define DIF_OBJ_VERIFY_H

#include "dif/obj/program.h"

/** Check one object against rules 1 to 22, and set obj->destructive. BAD_DATA: "rule N at instruction I:
 * …". */
OT_MUST_CHECK struct ot_err *dif_verify(struct dif_object *obj);

/** 1 + the number of the highest register that the code of @p obj names, which need not be checked yet. */
unsigned dif_object_registers(const struct dif_object *obj);

/** Check all objects of a program, that they agree about variables, and its actions (rules 31 to 45). */
OT_MUST_CHECK struct ot_err *dif_program_verify(struct dif_program *prog);

#endif
