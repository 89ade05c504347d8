/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sweeping a function's code. */
#include "vmm-probe/provider/boundary.h"

#include "vmm-probe/arch/arch.h"

bool vp_boundary_near(const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t *ret_before,
		      uint64_t *ret_after)
{
	const struct vp_code_ops *code = vp_arch_native.code;
	uint64_t at = 0;

	*ret_before = 0;
	while (code && at < offset) {
		*ret_before = at;
		/* padding, and the bytes behind jumps and returns against speculation */
		uint8_t len = code->breakpoint(bytes + at, size - at);
		if (!len)
			len = code->length(bytes + at, size - at);
		if (!len)
			return false;
		at += len;
	}
	*ret_after = at;
	return code != NULL;
}

bool vp_boundary_is(const uint8_t *code, uint64_t size, uint64_t offset)
{
	uint64_t before, after;

	return vp_boundary_near(code, size, offset, &before, &after) && after == offset;
}
