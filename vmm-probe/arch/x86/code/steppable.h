/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May a vCPU execute an instruction in a single step? Only if it uses nothing but general, vector and x87
 * registers, flags and ordinary memory, and if it can't observe, save or clear the trap flag that KVM sets.
 * Tables of opcodes decide that; an instruction that is not in them is refused. Capstone only supplies names
 * for messages, since its releases disagree about what is an instruction.
 */
#ifndef VP_ARCH_X86_CODE_STEPPABLE_H
#define VP_ARCH_X86_CODE_STEPPABLE_H

#include "vmm-probe/arch/code.h"

OT_MUST_CHECK struct ot_err *vp_x86_stepper_create(struct vp_stepper **ret);
void vp_x86_stepper_destroy(struct vp_stepper *stepper);

/** The reason why the instruction may not be stepped (static); NULL: it may. @p ret_name is its name for
 * messages. */
const char *vp_x86_stepper_refuses(struct vp_stepper *stepper, const uint8_t *bytes, uint8_t len,
				   uint64_t gva, char ret_name[VP_STEPPER_NAME]);

#endif
