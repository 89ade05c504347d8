/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's own breakpoints, while it patches its text. A kernel puts an int3 over the first byte, has
 * every CPU notice, writes the rest, and then the new first byte (text_poke_bp_batch(),
 * arch/x86/kernel/alternative.c). QEMU drops the translations of written bytes before it stores, not after
 * (notdirty_write(), accel/tcg/cputlb.c). A vCPU that translates in between keeps a block with the int3,
 * which no later store drops. When it executes that block the kernel is done and knows of no int3: "Oops:
 * int3", and the guest ends.
 *
 * It happens without us, but a translation with our callback takes longer. So an int3's byte is checked
 * before it is executed. If it is no int3, all translations are dropped, and the vCPU executes the present
 * bytes. No other byte of such a patch can stay translated: a store follows that drops it.
 *
 * The store may arrive while the block is still being translated. Then QEMU, which reads the bytes again to
 * show them to us, shows the first byte of a longer instruction and says that it has one byte: an int3 too.
 * Not recognised is one in whose place another instruction of one byte stands (a kprobe that was on a push).
 */
#include "vmm-probe/backend/tcg/tcg.h"

#include "base/guarded.h"
#include "vmm-probe/arch/native.h"

/* QEMU 10.2 has renamed it. */
static bool can_drop_translations(void)
{
	return queue_tb_flush || tb_flush;
}

static void drop_translations(struct qemu_cpu *cpu)
{
	if (queue_tb_flush)
		queue_tb_flush(cpu);
	else
		tb_flush(cpu);
}

static bool can_start_over(void)
{
	return qemu_get_cpu && cpu_restore_state && cpu_loop_exit && can_drop_translations();
}

/* Called by translated code: the address it returns to is the instruction's, for QEMU. */
static void on_breakpoint(unsigned int vcpu, void *udata)
{
	uintptr_t in_block = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	struct qemu_cpu *cpu;
	uint8_t byte;

	if (ot_likely(!ot_guarded_read(&byte, udata, sizeof(byte)) || vp_native_is_breakpoint(&byte, 1)))
		return;
	cpu = qemu_get_cpu((int)vcpu);
	/* Before the flush, which may happen at once and discards the instructions' places. */
	if (!cpu || !cpu_restore_state(cpu, in_block))
		return;
	drop_translations(cpu);
	cpu_loop_exit(cpu);
}

void vp_tcg_check_breakpoint(struct qemu_plugin_insn *insn)
{
	void *host = qemu_plugin_insn_haddr(insn);
	uint8_t byte;

	if (!host || qemu_plugin_insn_size(insn) != 1 || qemu_plugin_insn_data(insn, &byte, 1) != 1 ||
	    !(vp_native_is_breakpoint(&byte, 1) || vp_native_begins_longer(byte)) || !can_start_over())
		return;
	/* The registers are part of the state from which it starts over: with R_REGS QEMU has them stored. */
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_breakpoint, QEMU_PLUGIN_CB_R_REGS, host);
}
