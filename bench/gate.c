/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turning a site's callback on and off in the middle of a run, without QEMU translating anything again. This
 * is the product's plugin, but linked so that two of its calls of QEMU come here:
 *
 *   a callback of a site becomes two, each behind a test of a word that translated code has for its vCPU: an
 * empty one in mode 1, the site's own in mode 2, and in mode 0 neither is called; a site that is only counted
 * changes the mode when it is passed.
 *
 * So a guest's program times a loop in each mode in turn, slices that are far shorter than the time for which
 * anything else gets the CPU, on the same translated code. bench/gated.py has the rest.
 */
#include "vmm-probe/backend/tcg/qemu_api.h"

#include <pthread.h>

enum { NOTHING, EMPTY, SITE, MODES };

static struct qemu_plugin_u64 mode;

void __wrap_qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_vcpu_udata_cb cb,
						   enum qemu_plugin_cb_flags flags, void *udata);
void __wrap_qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
								enum qemu_plugin_op op,
								struct qemu_plugin_u64 entry, uint64_t imm);
void VP_QEMU_WEAK __real_qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
								qemu_vcpu_udata_cb cb,
								enum qemu_plugin_cb_flags flags, void *udata);
void VP_QEMU_WEAK __real_qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
									     enum qemu_plugin_op op,
									     struct qemu_plugin_u64 entry,
									     uint64_t imm);

static void make_mode(void)
{
	mode.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
}

static void begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_mode);
}

static void on_nothing(unsigned int vcpu, void *udata)
{
	(void)vcpu;
	(void)udata;
}

static void on_marker(unsigned int vcpu, void *udata)
{
	(void)udata;
	qemu_plugin_u64_set(mode, vcpu, (qemu_plugin_u64_get(mode, vcpu) + 1) % MODES);
}

void __wrap_qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_vcpu_udata_cb cb,
						   enum qemu_plugin_cb_flags flags, void *udata)
{
	begin();
	/* The guest's breakpoints are none of the sites. */
	if (flags == QEMU_PLUGIN_CB_NO_REGS) {
		__real_qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, flags, udata);
		return;
	}
	qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_nothing, flags, QEMU_PLUGIN_COND_EQ, mode, EMPTY,
						    udata);
	qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, cb, flags, QEMU_PLUGIN_COND_EQ, mode, SITE, udata);
}

void __wrap_qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
								enum qemu_plugin_op op,
								struct qemu_plugin_u64 entry, uint64_t imm)
{
	begin();
	__real_qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_PLUGIN_CB_NO_REGS, NULL);
	__real_qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, op, entry, imm);
}
