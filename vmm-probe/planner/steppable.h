/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May a vCPU execute an instruction in a single step? Only if it uses nothing but general, vector and x87
 * registers, flags and ordinary memory, and if it can't observe, save or clear the trap flag that KVM sets.
 * Tables of opcodes decide that; an instruction that is not in them is refused. Capstone only supplies names
 * for messages, since its releases disagree about what is an instruction.
 */
#ifndef VP_PLANNER_STEPPABLE_H
#define VP_PLANNER_STEPPABLE_H

#include <stdint.h>

#include "base/err.h"

#define VP_STEPPER_NAME 32

struct vp_stepper; /* for one thread */

OT_MUST_CHECK struct ot_err *vp_stepper_create(struct vp_stepper **ret);
void vp_stepper_destroy(struct vp_stepper *stepper);

/** Why the instruction may not be stepped (static); NULL: it may. @p ret_name is its name for messages. */
const char *vp_stepper_refuses(struct vp_stepper *stepper, const uint8_t *bytes, uint8_t len, uint64_t gva,
			       char ret_name[VP_STEPPER_NAME]);

#endif
