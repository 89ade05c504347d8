/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May a vCPU do an instruction in a single step? Only what touches general, vector and x87 registers, flags
 * and ordinary memory, and where the trap flag that KVM steps by can't be seen, kept or lost. Tables of
 * opcodes say which those are; what is not in them is refused. Capstone gives names for messages, and decides
 * nothing: its versions do not agree on what instructions are.
 */
#ifndef VP_PLANNER_STEPPABLE_H
#define VP_PLANNER_STEPPABLE_H

#include <stdint.h>

#include "base/err.h"

#define VP_STEPPER_NAME 32

struct vp_stepper; /* for one thread */

OT_MUST_CHECK struct ot_err *vp_stepper_create(struct vp_stepper **ret);
void vp_stepper_destroy(struct vp_stepper *stepper);

/** NULL: it may be stepped. Else why not (static). @p ret_name is the instruction's name for messages. */
const char *vp_stepper_refuses(struct vp_stepper *stepper, const uint8_t *bytes, uint8_t len, uint64_t gva,
			       char ret_name[VP_STEPPER_NAME]);

#endif
