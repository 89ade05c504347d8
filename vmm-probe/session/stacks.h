/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stacks a program takes. Rules to unwind them are made only for one that does. */
#ifndef VP_SESSION_STACKS_H
#define VP_SESSION_STACKS_H

#include <stdbool.h>

struct dif_program;

/** Stacks of the guest's programs: ustack(), jstack(), ucaller, ustackdepth. */
bool vp_program_has_user_stacks(const struct dif_program *prog);

/** Stacks that begin in the kernel: the same, whose way to the program's registers may lead through frames of
 * the kernel's, and stack(), caller, stackdepth. */
bool vp_program_has_stacks(const struct dif_program *prog);

#endif
