/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operands of instructions as expressions. */
#ifndef VP_PROVIDER_OPERAND_H
#define VP_PROVIDER_OPERAND_H

#include "vmm-probe/arch/code.h"
#include "vmm-probe/symbolic/expr.h"

/** The value of @p op before its instruction runs in a process: of memory, @p size bytes, to whose address
 * @p symbol is added. NULL: as the constructors of expr.h. */
const struct vp_expr *vp_operand_value(struct vp_exprs *exprs, const struct vp_asm_operand *op,
				       uint64_t symbol, uint32_t size);

#endif
