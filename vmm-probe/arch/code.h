/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's instructions, for the operator's process: the entries and exits of functions, the instructions
 * that a trap covers, their execution elsewhere, and the results of a stretch of code. An architecture has
 * one table of these functions (vp_arch_ops.code).
 *
 * Bytes are the guest's, and so hostile: no function reads beyond the given bytes. Functions keep no state
 * and may be called by any thread; a stepper and an executor are for one thread each.
 */
#ifndef VP_ARCH_CODE_H
#define VP_ARCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/arch/regs.h"

#define VP_INSN_MAX     15u /* bytes of the longest instruction of any architecture here */
#define VP_STEPPER_NAME 32u

struct vp_executor; /* vmm-probe/symbolic/execute.h */
struct vp_stepper;

/* The effect of an instruction on the flow of control. */
enum vp_branch_kind {
	VP_BRANCH_NONE,
	VP_BRANCH_RETURN,
	VP_BRANCH_JUMP,     /* direct, to `target` */
	VP_BRANCH_JUMP_IF,  /* to `target`, on a condition */
	VP_BRANCH_INDIRECT, /* a jump whose target is computed */
	VP_BRANCH_TABLE,    /* … by a jump table: it stays in the function */
	VP_BRANCH_CALL,     /* direct, of `target` */
};

struct vp_branch {
	enum vp_branch_kind kind;
	uint64_t target; /* JUMP, JUMP_IF, CALL */
};

/* How the engine executes the instruction that a trap covers. */
enum vp_emulation {
	VP_EMULATION_NONE, /* it can't: a single step */
	VP_EMULATION_NOP,  /* there is nothing to do */
	VP_EMULATION_INSN,
};

/* An instruction that changes a per-CPU counter of 8 bytes by an amount, as Linux's this_cpu_inc() and
 * this_cpu_add() become one where the compiler knows which counter it is. */
struct vp_increment {
	uint8_t len;      /* of the instruction, bytes */
	bool by_register; /* the amount is that of `reg`, else it is `by` */
	enum vp_reg reg;
	int64_t by;
	uint64_t counter; /* its offset from the base of the per-CPU area */
};

/* An instruction that copies eight bytes between a register and memory. */
struct vp_move {
	bool store; /* to memory */
	enum vp_reg reg;
	enum vp_reg base;     /* the memory's address: this register's value, and … */
	int32_t displacement; /* … so many bytes behind it */
};

/* An operand of an instruction, as an assembler writes it. */
enum vp_asm_kind { VP_ASM_CONST, VP_ASM_REG, VP_ASM_MEMORY };

struct vp_asm_operand {
	enum vp_asm_kind kind;
	uint64_t value;     /* CONST. MEMORY: what is added to the address; a REG has 0 */
	const char *symbol; /* MEMORY: its address is added too; in the text, NULL: none */
	size_t symbol_len;
	bool has_base, has_index; /* of MEMORY */
	enum vp_reg base, index;  /* MEMORY; base is the REG */
	uint8_t scale;            /* the index is shifted by so many bits */
	uint8_t size;             /* REG: bytes of it … */
	uint8_t shift;            /* … from this bit on */
};

struct vp_code_ops {
	/** Bytes of the instruction at @p bytes, of which @p len are available; 0: unknown, or truncated. */
	uint8_t (*length)(const uint8_t *bytes, uint64_t len);

	/** The instruction at @p gva, which has @p len bytes. */
	struct vp_branch (*branch)(const uint8_t *bytes, uint8_t len, uint64_t gva);

	/** The place of the target of the indirect jump at @p gva, which has @p len bytes: a register, or
	 * memory at an address that may be computed of two. False: another place; *ret is unchanged. */
	bool (*jump_operand)(const uint8_t *bytes, uint8_t len, uint64_t gva, struct vp_asm_operand *ret);

	/** Is the instruction, of which @p len bytes are available, such a copy? Else *ret is unchanged. */
	bool (*move)(const uint8_t *bytes, uint64_t len, struct vp_move *ret);

	/** The offset of a function's first effective instruction: behind the mark of a target of indirect
	 * calls, if the function begins with one. */
	uint32_t (*entry)(const uint8_t *bytes, uint64_t len);

	/** Bytes of the breakpoint instruction at @p bytes, which is also the padding behind jumps and
	 * returns; 0: it is another instruction. */
	uint8_t (*breakpoint)(const uint8_t *bytes, uint64_t len);

	/** Offset, from @p from on, of a direct call of @p target or jump to it in the @p len bytes of code
	 * at
	 * @p gva, at any alignment that instructions may have; @p len: there is none. */
	uint64_t (*find_call)(const uint8_t *code, uint64_t len, uint64_t gva, uint64_t from,
			      uint64_t target);

	/** Is the instruction at @p gva, of which @p len bytes are available, such an increment? Else *ret is
	 * unchanged. */
	bool (*increment)(const uint8_t *bytes, uint64_t len, uint64_t gva, struct vp_increment *ret);

	/** Offset, from @p from on, of the first bytes that are one, whether or not an instruction begins
	 * there; @p len: there are none. */
	uint64_t (*find_increment)(const uint8_t *code, uint64_t len, uint64_t gva, uint64_t from,
				   struct vp_increment *ret);

	/* The nop, as an assembler writes it: <sys/sdt.h> puts one at each static probe of a program. */
	uint8_t nop[VP_INSN_MAX], nop_len;

	/** Read the @p len characters at @p text, which may be hostile, as an operand into *ret. NULL, or the
	 * reason why it is not available (static). */
	const char *(*operand)(const char *text, size_t len, struct vp_asm_operand *ret);

	/* --- traps --- */

	/** Bytes that a trap may use at an instruction of @p len bytes that never falls through, of which
	 * @p left follow to the function's end: its own and the padding after it. */
	uint8_t (*room)(const uint8_t *bytes, uint8_t len, uint64_t left);

	/** Bytes that a trap at an instruction of @p len bytes replaces where @p room may be used. */
	uint8_t (*covers)(const uint8_t *bytes, uint8_t len, uint8_t room);

	enum vp_emulation (*emulation)(const uint8_t *bytes, uint8_t len, uint64_t gva);

	struct ot_err *(*stepper_create)(struct vp_stepper **ret);
	void (*stepper_destroy)(struct vp_stepper *stepper); /* NULL: nothing */

	/** The reason why the instruction may not be single-stepped (static); NULL: it may. @p ret_name is
	 * its name for messages. */
	const char *(*stepper_refuses)(struct vp_stepper *stepper, const uint8_t *bytes, uint8_t len,
				       uint64_t gva, char ret_name[VP_STEPPER_NAME]);

	/* --- symbolic execution --- */
	struct ot_err *(*executor_create)(struct vp_executor **ret);
};

struct vp_arch_ops;

/** The table of @p arch. UNSUPPORTED: it has none, so that no probe on the guest's code can be placed. */
OT_MUST_CHECK struct ot_err *vp_arch_code(const struct vp_arch_ops *arch, const struct vp_code_ops **ret);

#endif
