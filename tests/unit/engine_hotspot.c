/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing pieces of code, and a stack through them. */
#include "tests/unit/engine_hotspot.h"

static struct vp_hotspot layout(void)
{
	return (struct vp_hotspot){
		.heaps = { { 0x1000, 0x2000, 0x1000, 4, 0 }, { HEAP, HEAP + HEAP_SIZE, SEGMENTS, SHIFT, 0 } },
		.interpreter_start = INTERPRETER,
		.interpreter_end = INTERPRETER + 0x40,
		.nheaps = 2,
		.block_head = HEAD,
		.blob_code = CODE_AT,
		.blob_frame_size = FRAME_SIZE_AT,
		.blob_frame_complete = COMPLETE_AT,
		.nmethod_id = ID_AT,
		.nmethod_deopt = DEOPT_AT,
		.nmethod_deopt_mh = DEOPT_MH_AT,
		.nmethod_original_pc = ORIGINAL_AT,
		.frame_caller = -8,
		.frame_method = -24,
		.frame_bytecode = -64,
	};
}

void eh_put32(struct ep *w, uint64_t at, uint32_t value)
{
	ep_put_bytes(w, at, &value, sizeof(value));
}

void eh_make(struct ep *w)
{
	static const uint8_t segments[16] = { 0, 1, 1, 3, 0, 0xff, 0xff, 0xff, 0 };

	w->sent->runtime = (struct vp_runtime){ .kind = VP_RUNTIME_HOTSPOT, .hotspot = layout() };
	ep_put_bytes(w, SEGMENTS, segments, sizeof(segments));
	eh_put32(w, METHOD + FRAME_SIZE_AT, WORDS);
	eh_put32(w, METHOD + COMPLETE_AT, 8);
	ep_put(w, METHOD + CODE_AT, SEGMENT(2));
	eh_put32(w, METHOD + ID_AT, ID);
	eh_put32(w, STUB + FRAME_SIZE_AT, 0);
	ep_put(w, STACK + 0x38, COMPILED(0));
	ep_put(w, STACK + 0x50, FP_INTERPRETED);
	ep_put(w, STACK + 0x58, IN_BYTECODE);
	ep_put(w, FP_INTERPRETED - 8, STACK + 0xc8);
	ep_put(w, FP_INTERPRETED - 24, JAVA_METHOD);
	ep_put(w, FP_INTERPRETED - 64, BYTECODE);
	ep_put(w, FP_INTERPRETED, 0x1234);
	ep_put(w, FP_INTERPRETED + 8, COMPILED(8));
	ep_put(w, STACK + 0xd8, FP_STUB);
	ep_put(w, STACK + 0xe0, IN_STUB);
	ep_put(w, FP_STUB, 0x5678);
	ep_put(w, FP_STUB + 8, IN(4));
}
