/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is code a return thunk? It returns at once, and looks at no register but the stack pointer: then it does
 * not matter what it is called, as no argument is handed to it.
 *
 * Libc only. Any thread.
 */
#ifndef VP_ARCH_RETURN_THUNK_H
#define VP_ARCH_RETURN_THUNK_H

#include <stdbool.h>
#include <stdint.h>

#define VP_THUNK_BYTES 16u /* that are looked at */

enum vp_thunk {
	VP_THUNK_NONE,    /* it does something else */
	VP_THUNK_RETURNS, /* it is one */
	VP_THUNK_GOES_ON, /* it is, if what is at *ret_next is */
	VP_THUNK_CALLS,   /* … if that drops the address of its call, and returns */
};

/** What the code at @p at does, of which @p code are the first bytes. @p called: after VP_THUNK_CALLS. */
enum vp_thunk vp_return_thunk(const uint8_t code[VP_THUNK_BYTES], uint64_t at, bool called,
			      uint64_t *ret_next);

#endif
