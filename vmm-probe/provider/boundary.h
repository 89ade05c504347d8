/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where instructions begin in a function's code, by a linear sweep from its first byte: kernel functions have
 * no data between their instructions. */
#ifndef VP_PROVIDER_BOUNDARY_H
#define VP_PROVIDER_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>

/** Does an instruction of the @p size bytes of code at @p bytes begin at @p offset? @p offset < @p size. */
bool vp_boundary_is(const uint8_t *bytes, uint64_t size, uint64_t offset);

/** Where the last instruction before @p offset begins (*ret_before), and the first one at or after it
 * (*ret_after; @p size: there is none). False: bytes before @p offset are not instructions, and *ret_before
 * is the first such byte. */
bool vp_boundary_near(const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t *ret_before,
		      uint64_t *ret_after);

#endif
