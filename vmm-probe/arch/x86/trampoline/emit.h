/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the two halves of making a trampoline's instructions: values and jumps (emit.c), and stores to
 * our own memory (emit_data.c). */
#ifndef VP_ARCH_X86_TRAMPOLINE_EMIT_H
#define VP_ARCH_X86_TRAMPOLINE_EMIT_H

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/arch/x86/trampoline/assemble.h"

/* R11 is for addresses and temporary values within an operation. Between RESERVE and PUBLISH it has the
 * record's address, R10 the record's number + 1; RAX is free there and in the operations on words. */
#define VP_EMIT_SCRATCH VP_R11
#define VP_EMIT_NUMBER  VP_R10
#define VP_EMIT_TEMP    VP_RAX
/* At a return, once RAX is used. */
#define VP_EMIT_RESULT  VP_RDI

struct vp_emitter {
	struct vp_assembler a;
	const struct vp_tramp_world *world;
	unsigned pushed; /* registers of the guest that are saved on its stack */
	uint32_t exit;   /* offset of EXIT's instruction; 0: none yet */
	bool has_task;   /* R11 is the running task's address: of a task, it never changes */
	bool moved;      /* at a return: the function's result is in VP_EMIT_RESULT */
	uint64_t at;
	const struct vp_tramp_end *back;
	uint32_t end; /* number of operations: a jump there goes back at once */
	/* Jumps to operations that have no place yet. */
	struct {
		uint32_t jump;
		uint16_t target;
	} pending[2 * VP_TRAMP_OPS_MAX];
	uint32_t npending;
};

/** *ret is the distance to @p to; false: it needs more than 32 bits. */
static inline bool vp_emit_reaches(uint64_t from, uint64_t to, int32_t *ret)
{
	int64_t distance = (int64_t)(to - from);

	*ret = (int32_t)distance;
	return distance == *ret;
}

/** The register of an operation's register. */
enum vp_reg vp_emit_reg(uint8_t reg);
/** The register of the function's argument number @p n. */
enum vp_reg vp_emit_arg(uint8_t n);
/** A jump to an operation, whose place is filled in when it is known. */
void vp_emit_jump_to(struct vp_emitter *e, uint32_t jump, uint16_t target);
/** KEYED. */
void vp_emit_keyed(struct vp_emitter *e, const struct vp_tramp_op *op);
/** COUNT to LQUANTIZE. */
void vp_emit_word(struct vp_emitter *e, const struct vp_tramp_op *op);
/** RESERVE to PUBLISH. */
void vp_emit_record(struct vp_emitter *e, const struct vp_tramp_op *op);

#endif
