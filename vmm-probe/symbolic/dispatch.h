/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function that does nothing but choose another one by a number: a switch, which compilers without jump
 * tables make a tree of comparisons. It is followed for one number, without being run.
 */
#ifndef VP_SYMBOLIC_DISPATCH_H
#define VP_SYMBOLIC_DISPATCH_H

#include "vmm-probe/symbolic/execute.h"

struct vp_dispatch {
	struct vp_executor *executor;
	void *arg;
	/* Read text at @p gva into @p ret, up to 15 bytes; returns how many there are. */
	unsigned (*text)(void *arg, uint64_t gva, uint8_t ret[15]);
	uint64_t start, size; /* the function */
	uint64_t hook;        /* a call here is a tracer's, which keeps all registers */
	enum vp_reg reg;      /* has the number at the entry */
};

/** The function that is called, or jumped to, for @p number: where the flow first leaves the function. 0:
 * that does not follow from the number alone, or memory has run out. */
uint64_t vp_dispatch_target(const struct vp_dispatch *dispatch, uint64_t number);

#endif
