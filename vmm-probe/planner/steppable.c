/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may be single-stepped. */
#include "vmm-probe/planner/steppable.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

struct vp_stepper {
	csh handle;
	cs_insn *insn;
};

struct ot_err *vp_stepper_create(struct vp_stepper **ret)
{
	struct vp_stepper *s = calloc(1, sizeof(*s));

	if (!s)
		return ot_err_nomem();
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &s->handle) != CS_ERR_OK) {
		free(s);
		return ot_err_new(OT_ERR_UNSUPPORTED, "this capstone has no x86");
	}
	/* Groups and operands; only few instructions come here, so its price does not matter. */
	if (cs_option(s->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		s->insn = cs_malloc(s->handle);
	if (!s->insn) {
		vp_stepper_destroy(s);
		return ot_err_nomem();
	}
	*ret = s;
	return NULL;
}

void vp_stepper_destroy(struct vp_stepper *s)
{
	if (!s)
		return;
	if (s->insn)
		cs_free(s->insn, 1);
	cs_close(&s->handle);
	free(s);
}

/* They read or write the trap flag, or put it off past the instruction: a step would leak or be lost. */
static bool hides_trap_flag(const cs_insn *i)
{
	switch (i->id) {
	case X86_INS_PUSHF:
	case X86_INS_PUSHFD:
	case X86_INS_PUSHFQ:
	case X86_INS_POPF:
	case X86_INS_POPFD:
	case X86_INS_POPFQ:
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_SYSEXIT:
	case X86_INS_SYSRET:
	case X86_INS_LSS:
	case X86_INS_STI:
	case X86_INS_CLI:
		return true;
	default:
		return false;
	}
}

/* They end functions that are not meant to go on, or are the processor's business with its system. */
static bool is_system(const cs_insn *i)
{
	switch (i->id) {
	case X86_INS_UD2:
	case X86_INS_UD2B:
	case X86_INS_CPUID:
	case X86_INS_RDMSR:
	case X86_INS_WRMSR:
	case X86_INS_RDTSC:
	case X86_INS_RDTSCP:
	case X86_INS_RDPMC:
	case X86_INS_XGETBV:
	case X86_INS_XSETBV:
	case X86_INS_HLT:
	case X86_INS_MONITOR:
	case X86_INS_MWAIT:
	case X86_INS_PAUSE:
	case X86_INS_SWAPGS:
	case X86_INS_INVLPG:
	case X86_INS_INVPCID:
	case X86_INS_INVD:
	case X86_INS_WBINVD:
	case X86_INS_CLAC:
	case X86_INS_STAC:
	case X86_INS_CLTS:
	case X86_INS_SGDT:
	case X86_INS_SIDT:
	case X86_INS_SLDT:
	case X86_INS_STR:
	case X86_INS_SMSW:
	case X86_INS_LGDT:
	case X86_INS_LIDT:
	case X86_INS_LLDT:
	case X86_INS_LTR:
	case X86_INS_LMSW:
	case X86_INS_LAR:
	case X86_INS_LSL:
	case X86_INS_VERR:
	case X86_INS_VERW:
	case X86_INS_LDS:
	case X86_INS_LES:
	case X86_INS_LFS:
	case X86_INS_LGS:
	case X86_INS_LCALL:
	case X86_INS_LJMP:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_FXSAVE:
	case X86_INS_FXSAVE64:
	case X86_INS_FXRSTOR:
	case X86_INS_FXRSTOR64:
	case X86_INS_XSAVE:
	case X86_INS_XSAVE64:
	case X86_INS_XSAVEC:
	case X86_INS_XSAVEC64:
	case X86_INS_XSAVEOPT:
	case X86_INS_XSAVEOPT64:
	case X86_INS_XSAVES:
	case X86_INS_XSAVES64:
	case X86_INS_XRSTOR:
	case X86_INS_XRSTOR64:
	case X86_INS_XRSTORS:
	case X86_INS_XRSTORS64:
		return true;
	default:
		return false;
	}
}

static bool is_port(const cs_insn *i)
{
	switch (i->id) {
	case X86_INS_IN:
	case X86_INS_OUT:
	case X86_INS_INSB:
	case X86_INS_INSW:
	case X86_INS_INSD:
	case X86_INS_OUTSB:
	case X86_INS_OUTSW:
	case X86_INS_OUTSD:
		return true;
	default:
		return false;
	}
}

static bool in_group(const cs_insn *i, uint8_t group)
{
	for (unsigned k = 0; k < i->detail->groups_count; k++)
		if (i->detail->groups[k] == group)
			return true;
	return false;
}

/* Control, debug and segment registers. FS and GS as part of an address are no operands. */
static bool has_system_register(const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;

	for (unsigned k = 0; k < x->op_count; k++) {
		unsigned r = x->operands[k].reg;

		if (x->operands[k].type != X86_OP_REG)
			continue;
		if ((r >= X86_REG_CR0 && r <= X86_REG_CR15) || (r >= X86_REG_DR0 && r <= X86_REG_DR15))
			return true;
		if (r == X86_REG_CS || r == X86_REG_DS || r == X86_REG_ES || r == X86_REG_FS ||
		    r == X86_REG_GS || r == X86_REG_SS)
			return true;
	}
	return false;
}

static const char *refuses(const cs_insn *i)
{
	uint8_t prefix = i->detail->x86.prefix[0];

	if (hides_trap_flag(i))
		return "not emulated, and a single step would show in the flags it handles";
	if (has_system_register(i))
		return "it handles a segment, control or debug register";
	if (is_port(i))
		return "port input and output";
	if (is_system(i) || in_group(i, X86_GRP_PRIVILEGE) || in_group(i, X86_GRP_INT) ||
	    in_group(i, X86_GRP_IRET) || in_group(i, X86_GRP_VM) || in_group(i, X86_GRP_RTM) ||
	    in_group(i, X86_GRP_FSGSBASE))
		return "a system instruction";
	if (prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE)
		return "repeated, and a single step is but one turn of it";
	/* The kernel takes lock prefixes out and puts them back as its number of CPUs goes to one and up. */
	if (prefix == X86_PREFIX_LOCK)
		return "not emulated, and the kernel may patch its lock prefix";
	return NULL;
}

const char *vp_stepper_refuses(struct vp_stepper *s, const uint8_t *bytes, uint8_t len, uint64_t gva,
			       char ret_name[VP_STEPPER_NAME])
{
	const uint8_t *p = bytes;
	size_t left = len;

	if (!cs_disasm_iter(s->handle, &p, &left, &gva, s->insn) || s->insn->size != len) {
		snprintf(ret_name, VP_STEPPER_NAME, "%02x %02x", bytes[0], len > 1 ? bytes[1] : 0);
		return "an unknown instruction";
	}
	snprintf(ret_name, VP_STEPPER_NAME, "%s", s->insn->mnemonic);
	return refuses(s->insn);
}
