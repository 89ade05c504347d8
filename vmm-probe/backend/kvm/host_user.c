/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detecting the behaviour of a host's KVM for code in user mode. Each try is one of a VM of its own, because
 * a KVM that fails ends in a triple fault. */
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/kvm/host_internal.h"

#define RFLAGS_RF (1ull << 16)

/* The basis of processes: iretq to user mode, a system call from there, sysretq, and the next one. */
struct ot_err *vp_kvm_try_user(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	enum { ENTRY = 0x40, USER = 0x80 };
	uint8_t code[USER + 8] = {
		0x6a,
		VP_TINY_USER_SS,
		0x68,
		0,
		0,
		0,
		0, /* push SS; push RSP */
		0x6a,
		0x02,
		0x6a,
		VP_TINY_USER_CS,
		0x68,
		0,
		0,
		0,
		0, /* RFLAGS; CS; RIP */
		0x48,
		0xcf, /* iretq */
		[ENTRY] = 0xe6,
		VP_TRY_PORT,
		0x48,
		0x0f,
		0x07, /* out; sysretq */
		[USER] = 0x0f,
		0x05,
		0x0f,
		0x05,
		0xeb,
		0xfe, /* syscall; syscall; jmp . */
	};
	const uint32_t stack = VP_TINY_STACK - 0x100, user = VP_TINY_CODE + USER;
	unsigned calls = 0;

	memcpy(code + 3, &stack, sizeof(stack));
	memcpy(code + 12, &user, sizeof(user));
	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	ot_auto_err struct ot_err *refused = vp_tiny_vm_set_syscall(vm, VP_TINY_CODE + ENTRY);
	if (refused)
		return NULL;
	while (calls < 2 && vp_kvm_try_run(vm) && vp_tiny_vm_out_port(vm) == VP_TRY_PORT)
		calls++;
	host->user = calls == 2;
	return NULL;
}

/* iretq to user mode, where two instructions and an `out` follow that IOPL allows: the first stops before it
 * executes and, with RF set, doesn't when it is entered again. */
struct ot_err *vp_kvm_try_hw_user(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	enum { USER = 0x40 };
	uint8_t code[USER + 8] = {
		0x6a,
		VP_TINY_USER_SS,
		0x68,
		0,
		0,
		0,
		0, /* push SS; push RSP */
		0x68,
		0x02,
		0x30,
		0,
		0, /* RFLAGS, IOPL 3 */
		0x6a,
		VP_TINY_USER_CS,
		0x68,
		0,
		0,
		0,
		0, /* CS; RIP */
		0x48,
		0xcf, /* iretq */
		[USER] = 0x90,
		0x90,
		0xe6,
		VP_TRY_PORT,
		0xeb,
		0xfe, /* nop; nop; out; jmp . */
	};
	const uint32_t stack = VP_TINY_STACK - 0x100, user = VP_TINY_CODE + USER;
	struct kvm_regs regs;

	memcpy(code + 3, &stack, sizeof(stack));
	memcpy(code + 15, &user, sizeof(user));
	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_HW_BP, user) || !vp_kvm_try_run(vm) ||
	    vm->run->exit_reason != KVM_EXIT_DEBUG || vm->run->debug.arch.exception != 1)
		return NULL;
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	if (regs.rip != user)
		return NULL;
	regs.rflags |= RFLAGS_RF;
	OT_TRY(vp_tiny_vm_set_regs(vm, &regs));
	host->hw_user = vp_kvm_try_run(vm) && vp_tiny_vm_out_port(vm) == VP_TRY_PORT;
	return NULL;
}
