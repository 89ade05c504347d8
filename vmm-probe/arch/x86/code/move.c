/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mov` of eight bytes between a register and the memory at another one: REX.W, opcode, ModRM, maybe SIB,
 * displacement (Intel's Software Developer's Manual, volume 2, "Instruction Format"). */
#include "vmm-probe/arch/x86/code/move.h"

#include <string.h>

#define REX_W   0x48u /* … and three bits that extend registers */
#define REX_R   0x4u
#define REX_X   0x2u
#define REX_B   0x1u
#define STORE   0x89u
#define LOAD    0x8bu
#define HAS_SIB 4u
#define NO_BASE 5u /* with mod 0 */

bool vp_x86_move(const uint8_t *bytes, uint64_t len, struct vp_move *ret)
{
	unsigned at = 3, mod, rm, size;
	int32_t displacement = 0;
	uint8_t rex;

	if (len < at || (bytes[0] & 0xf8) != REX_W || (bytes[1] != STORE && bytes[1] != LOAD))
		return false;
	rex = bytes[0];
	mod = bytes[2] >> 6;
	rm = bytes[2] & 7;
	if (mod == 3)
		return false;
	if (rm == HAS_SIB) {
		/* No index: 4, which with REX.X is r12. */
		if (len <= at || ((bytes[at] >> 3) & 7) != HAS_SIB || rex & REX_X)
			return false;
		rm = bytes[at++] & 7;
	}
	if (!mod && rm == NO_BASE)
		return false;
	size = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (len - at < size)
		return false;
	if (size == 1)
		displacement = (bytes[at] ^ 0x80) - 0x80;
	else if (size)
		memcpy(&displacement, bytes + at, sizeof(displacement));
	*ret = (struct vp_move){ .store = bytes[1] == STORE,
				 .reg = (enum vp_reg)((bytes[2] >> 3 & 7) | (rex & REX_R ? 8u : 0)),
				 .base = (enum vp_reg)(rm | (rex & REX_B ? 8u : 0)),
				 .displacement = displacement };
	return true;
}
