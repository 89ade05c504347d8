/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack through code that HotSpot has made, in the process of engine_python.h. */
#ifndef TESTS_UNIT_ENGINE_HOTSPOT_H
#define TESTS_UNIT_ENGINE_HOTSPOT_H

#include "tests/unit/engine_python.h"

#define HEAP        (EF_USER + 0x1800)
#define HEAP_SIZE   0x400u
#define SEGMENTS    (EF_USER + 0x1700)
#define SHIFT       6u
#define SEGMENT(n)  (HEAP + ((uint64_t)(n) << SHIFT))
#define HEAD        16u
#define METHOD      (HEAP + HEAD) /* the piece of a compiled method: four segments */
#define COMPILED(n) (SEGMENT(3) + 0x10 + (n))
#define STUB        (SEGMENT(4) + HEAD)
#define IN_STUB     (SEGMENT(4) + 0x20)
#define INTERPRETER SEGMENT(8)
#define IN_BYTECODE (INTERPRETER + 0x10)
#define ID          0x123456u
#define JAVA_METHOD 0x7f1234567890ull
#define BYTECODE    (JAVA_METHOD - 0x4321)

/* Members of a piece, where no JDK has them. */
enum {
	FRAME_SIZE_AT = 0,
	COMPLETE_AT = 4,
	CODE_AT = 8,
	ID_AT = 16,
	ORIGINAL_AT = 20,
	DEOPT_AT = 24,
	DEOPT_MH_AT = 32,
};

#define WORDS 4u /* of the compiled method's frame */

/* FUNCTION(0), a compiled method, one that is interpreted, the compiled one again, whose frame was extended
 * for the interpreted one, a stub, and a function where the stack ends. */
void eh_make(struct ep *w);
#define FP_INTERPRETED (STACK + 0xa8)
#define FP_STUB        (STACK + 0xf0)

void eh_put32(struct ep *w, uint64_t at, uint32_t value);

#endif
