/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of a guest. Virtual and physical addresses are different types, so that confusing them is a
 * compile error; host addresses are plain pointers.
 */
#ifndef VP_GUEST_ADDR_H
#define VP_GUEST_ADDR_H

#include <stdint.h>

#define VP_PAGE_SIZE 4096u
#define VP_PAGE_MASK (~(uint64_t)(VP_PAGE_SIZE - 1))

/* Guest virtual, in the address space of the page table that it is used with. */
struct vp_gva {
	uint64_t v;
};

/* Guest physical. */
struct vp_gpa {
	uint64_t v;
};

static inline struct vp_gva vp_gva(uint64_t v)
{
	return (struct vp_gva){ v };
}

static inline struct vp_gpa vp_gpa(uint64_t v)
{
	return (struct vp_gpa){ v };
}

#endif
