/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbolic execution of single instructions, as capstone decodes them. */
#ifndef VP_ARCH_X86_CODE_EXECUTE_H
#define VP_ARCH_X86_CODE_EXECUTE_H

#include "vmm-probe/symbolic/execute.h"

/** UNSUPPORTED: this libcapstone was built without x86. */
OT_MUST_CHECK struct ot_err *vp_x86_executor_create(struct vp_executor **ret);

#endif
