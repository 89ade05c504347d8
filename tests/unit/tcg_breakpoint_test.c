/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/backend/tcg/breakpoint.c with a QEMU of this file's: which instructions are checked before they
 * are executed, and what happens where the breakpoint has gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/backend/tcg/tcg.h"

#define INT3 0xcc
#define PUSH 0x55

/* As QEMU has decoded it, and the guest's memory there now, which is what it shows to a plugin. */
struct qemu_plugin_insn {
	size_t size;
	uint8_t now[5];
	bool outside; /* of RAM */
	qemu_vcpu_udata_cb callback;
	enum qemu_plugin_cb_flags flags;
	void *udata;
};

struct qemu_cpu {
	bool restored, left;
	unsigned flushes;
};

static struct qemu_cpu cpu;
static jmp_buf next_block;

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
	return insn->outside ? NULL : (void *)(uintptr_t)insn->now;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len)
{
	len = len < insn->size ? len : insn->size;
	memcpy(dest, insn->now, len);
	return len;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_vcpu_udata_cb cb,
					    enum qemu_plugin_cb_flags flags, void *udata)
{
	insn->callback = cb;
	insn->flags = flags;
	insn->udata = udata;
}

struct qemu_cpu *qemu_get_cpu(int index)
{
	return index ? NULL : &cpu;
}

bool cpu_restore_state(struct qemu_cpu *c, uintptr_t host_pc)
{
	c->restored = host_pc != 0;
	return c->restored;
}

void tb_flush(struct qemu_cpu *c)
{
	assert_true(c->restored);
	c->flushes++;
}

void cpu_loop_exit(struct qemu_cpu *c)
{
	c->left = true;
	longjmp(next_block, 1);
}

static void translate(struct qemu_plugin_insn *insn)
{
	memset(&cpu, 0, sizeof(cpu));
	vp_tcg_check_breakpoint(insn);
}

/* Does it go on to the instruction, or start over? */
static bool executes(struct qemu_plugin_insn *insn)
{
	if (setjmp(next_block))
		return false;
	insn->callback(0, insn->udata);
	return true;
}

static void test_there(void **state)
{
	struct qemu_plugin_insn insn = { .size = 1, .now = { INT3 } };

	(void)state;
	translate(&insn);
	assert_non_null(insn.callback);
	assert_true(executes(&insn));
	assert_int_equal(cpu.flushes, 0);
}

static void test_gone_behind_translation(void **state)
{
	struct qemu_plugin_insn insn = { .size = 1, .now = { INT3 } };

	(void)state;
	translate(&insn);
	insn.now[0] = PUSH;
	assert_false(executes(&insn));
	assert_true(cpu.left);
	assert_int_equal(cpu.flushes, 1);
	/* It starts over from the registers that the block has left. */
	assert_int_equal(insn.flags, QEMU_PLUGIN_CB_R_REGS);
}

/* QEMU has decoded the int3, and shows what was stored then. */
static void test_gone_while_translated(void **state)
{
	static const uint8_t stored[][2] = {
		{ 0x0f, 0x1f }, { 0x66, 0x90 }, { 0xe8, 0 }, { 0xe9, 0 }, { 0xeb, 0 }
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(stored); i++) {
		struct qemu_plugin_insn insn = { .size = 1, .now = { stored[i][0], stored[i][1] } };

		translate(&insn);
		assert_non_null(insn.callback);
		assert_false(executes(&insn));
		assert_int_equal(cpu.flushes, 1);
		/* translated once more, it is what it is */
		struct qemu_plugin_insn whole = { .size = 5, .now = { stored[i][0], stored[i][1] } };
		translate(&whole);
		assert_null(whole.callback);
	}
}

/* Starting over at what is no breakpoint would never end. */
static void test_others(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		struct qemu_plugin_insn insn = { .size = 1, .now = { (uint8_t)byte } };

		if (byte == INT3 || byte == 0x0f || byte == 0x66 || byte == 0xe8 || byte == 0xe9 ||
		    byte == 0xeb)
			continue;
		translate(&insn);
		assert_null(insn.callback);
	}
	struct qemu_plugin_insn outside = { .size = 1, .now = { INT3 }, .outside = true };
	translate(&outside);
	assert_null(outside.callback);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there),
		cmocka_unit_test(test_gone_behind_translation),
		cmocka_unit_test(test_gone_while_translated),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
