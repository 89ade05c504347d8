/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The null architecture's definitions for arch/native.h. */
#ifndef VP_ARCH_NULL_NATIVE_H
#define VP_ARCH_NULL_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/arch/null/linux.h"
#include "vmm-probe/arch/null/paging.h"
#include "vmm-probe/arch/regs.h"

#define vp_native_paging     vp_null_paging
#define VP_PAGING_REGS       VP_REG_ROOT
#define VP_PAGING_LEVELS(n)  ((n) == 0)
#define VP_PAGING_LEVELS_MIN 0
#define VP_DIRECT_MAP_SHIFT  63

static inline bool vp_native_paging_root(const struct vp_regs *regs, struct vp_page_root *ret)
{
	*ret = (struct vp_page_root){ .gpa = regs->v[VP_REG_ROOT] };
	return true;
}

static inline bool vp_native_may_be_64bit(const struct vp_regs *regs)
{
	(void)regs;
	return true;
}

static inline uint8_t vp_native_static_branch(const uint8_t *code, uint64_t left, int64_t distance)
{
	(void)code;
	(void)left;
	(void)distance;
	return 0;
}

static inline bool vp_native_is_fentry(const uint8_t *code)
{
	(void)code;
	return false;
}

static inline bool vp_native_is_breakpoint(const uint8_t *code, uint64_t len)
{
	(void)code;
	(void)len;
	return false;
}

static inline bool vp_native_begins_longer(uint8_t byte)
{
	(void)byte;
	return false;
}

#define VP_DWARF_FP        0u
#define VP_DWARF_SP        1u
#define VP_DWARF_RA        2u
#define VP_SIGNAL_FRAME_FP 0u
#define VP_SIGNAL_FRAME_SP 8u
#define VP_SIGNAL_FRAME_PC 16u

static inline uint8_t vp_native_plt_pushed_at(const uint8_t *expression, size_t len)
{
	(void)expression;
	(void)len;
	return 0;
}

static inline uint64_t vp_native_plt_pushed(uint64_t pc, uint64_t pushed_at)
{
	(void)pc;
	(void)pushed_at;
	return 0;
}

#define VP_VECTOR_WORDS 1

static inline uint64_t vp_native_vector(const struct vp_regs *regs)
{
	(void)regs;
	return 0;
}

static inline uint64_t vp_native_vector_handler(const uint64_t entry[VP_VECTOR_WORDS])
{
	return entry[0];
}

#endif
