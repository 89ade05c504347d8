/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables that a kernel's symbols do not list. Built without KALLSYMS_ALL, they are functions only. But the
 * variables that the kernel exports to modules are in its table of exports, which the modules' loader needs;
 * both ends of its list of modules point to the list's head; and its stack tables are recognised by their
 * shape.
 */
#ifndef VP_GUEST_UNLISTED_H
#define VP_GUEST_UNLISTED_H

#include "base/err.h"
#include "vmm-probe/guest/kernel.h"
#include "vmm-probe/guest/mmu.h"
#include "vmm-probe/guest/symtab.h"

/** If @p symtab, which is finished, lacks a variable that every kernel has, add the symbols of the table of
 * exports in @p image, `modules` and those of the stack tables (__start_orc_unwind_ip …), as far as they are
 * found. *ret_added: how many; unless that is 0, it must be finished again. Errors are LIMIT, NO_MEMORY or
 * GUEST_GONE. */
OT_MUST_CHECK struct ot_err *vp_unlisted_add(const struct vp_image *image, const struct vp_phys *phys,
					     struct vp_mmu *mmu, struct vp_symtab *symtab, size_t *ret_added);

#endif
