/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detecting a host's KVM's behaviour: each try_*() runs a few bytes and checks the exits; no exit in time
 * means "no". */
#include "vmm-probe/backend/kvm/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/kvm/host_internal.h"
#include "vmm-probe/engine/engine.h"

#define KVM_API        12
/* Where an instruction of kernel mode costs more than this, a stock kernel does not boot in useful time. */
#define FAST_INSN_NS   50.0
/* Of a short trampoline, with the two jumps. */
#define RESIDENT_INSNS 8

const char *vp_kvm_int3_name(enum vp_kvm_int3 v)
{
	static const char *const names[] = { "never", "debug-exit", "emulation-failure" };

	return names[v];
}

const char *vp_kvm_inject_name(enum vp_kvm_inject v)
{
	static const char *const names[] = { "never", "rip", "rip+1" };

	return names[v];
}

bool vp_kvm_host_traces(const struct vp_kvm_host *host)
{
	return host->out && host->sync_regs;
}

uint32_t vp_kvm_host_traps(const struct vp_kvm_host *host)
{
	return VP_TRAPS_TEXT | (host->int3 != VP_INT3_NEVER ? VP_TRAPS_INT3 : 0) |
	       (host->step && host->hw ? VP_TRAPS_STEP : 0) | (host->hw ? VP_TRAPS_HW : 0) |
	       (host->hw_user ? VP_TRAPS_USER : 0) | (host->hw_misses ? VP_TRAPS_HW_MISSES : 0);
}

bool vp_kvm_host_good(const struct vp_kvm_host *host, char *why, size_t size)
{
	if (!vp_kvm_host_traces(host))
		snprintf(why, size, "this KVM has no %s, which traps need",
			 host->out ? "synced registers" : "exit for each write to a port");
	else if (!host->user)
		snprintf(why, size, "this KVM executes system calls wrongly: its guests can't run processes");
	else if (host->insn_cost.median <= 0)
		snprintf(why, size, "this KVM is too busy for its speed to be measured");
	else if (host->insn_cost.median > FAST_INSN_NS)
		snprintf(why, size, "this KVM interprets kernel mode, %.0f ns an instruction",
			 host->insn_cost.median);
	else
		return true;
	return false;
}

double vp_kvm_host_resident_ns(const struct vp_kvm_host *host)
{
	return RESIDENT_INSNS * host->insn_cost.median;
}

bool vp_kvm_host_gains(const struct vp_kvm_host *host)
{
	return vp_kvm_host_resident_ns(host) <= host->exit_cost.median;
}

enum vp_kvm_int3 vp_kvm_int3_of_exit(const struct vp_tiny_vm *vm)
{
	const struct kvm_run *run = vm->run;

	if (run->exit_reason == KVM_EXIT_DEBUG && run->debug.arch.exception == 3)
		return VP_INT3_DEBUG_EXIT;
	if (run->exit_reason == KVM_EXIT_INTERNAL_ERROR &&
	    run->emulation_failure.suberror == KVM_INTERNAL_ERROR_EMULATION &&
	    run->emulation_failure.ndata >= 3 &&
	    run->emulation_failure.flags & KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES &&
	    run->emulation_failure.insn_size && run->emulation_failure.insn_bytes[0] == 0xcc)
		return VP_INT3_EMULATION_FAILURE;
	return VP_INT3_NEVER;
}

bool vp_kvm_try_run(struct vp_tiny_vm *vm)
{
	ot_auto_err struct ot_err *err = vp_tiny_vm_run(vm);

	return !err;
}

bool vp_kvm_try_debug(struct vp_tiny_vm *vm, uint32_t control, uint64_t dr0)
{
	ot_auto_err struct ot_err *err = vp_tiny_vm_debug(vm, control, dr0);

	return !err;
}

/* The guest's own int3, returned to it with RIP at @offset after it: does its handler return to the next
 * instruction? */
static struct ot_err *try_inject(struct vp_tiny_vm *vm, unsigned offset, bool *ret)
{
	const uint8_t code[] = { 0xcc, 0xf4 };
	struct kvm_regs regs;

	*ret = false;
	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_SW_BP, 0) || !vp_kvm_try_run(vm) ||
	    vp_kvm_int3_of_exit(vm) == VP_INT3_NEVER)
		return NULL;
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	regs.rip = VP_TINY_CODE + offset;
	OT_TRY(vp_tiny_vm_set_regs(vm, &regs));
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_SW_BP | KVM_GUESTDBG_INJECT_BP, 0) ||
	    !vp_kvm_try_run(vm) || vp_tiny_vm_out_port(vm) != VP_TINY_EXCEPTION + 3)
		return NULL;
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_SW_BP, 0) || !vp_kvm_try_run(vm) ||
	    vm->run->exit_reason != KVM_EXIT_HLT)
		return NULL;
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	*ret = regs.rip == VP_TINY_CODE + 2 && regs.rsp == VP_TINY_STACK;
	return NULL;
}

static struct ot_err *try_int3(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	const uint8_t code[] = { 0xcc, 0xf4 };
	struct kvm_regs regs;
	bool at, behind;

	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_SW_BP, 0) || !vp_kvm_try_run(vm))
		return NULL;
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	if (regs.rip != VP_TINY_CODE)
		return NULL;
	host->int3 = vp_kvm_int3_of_exit(vm);
	if (host->int3 == VP_INT3_NEVER)
		return NULL;
	OT_TRY(try_inject(vm, 0, &at));
	OT_TRY(try_inject(vm, 1, &behind));
	/* Both at once would mean that one of them ran the guest's int3 again. */
	host->inject = at ? VP_INJECT_RIP : behind ? VP_INJECT_RIP_NEXT : VP_INJECT_NEVER;
	return NULL;
}

/* The trap of an entry: the exit is for the port, RIP is at it or after it, and execution continues at the
 * RIP that we set. */
static struct ot_err *try_out(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	const uint8_t code[] = { VP_TRY_OUT, 0xf4, 0xe6, VP_TRY_PORT + 1, 0xf4 };
	struct kvm_regs regs;

	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	if (!vp_kvm_try_run(vm) || vp_tiny_vm_out_port(vm) != VP_TRY_PORT)
		return NULL;
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	if (regs.rip != VP_TINY_CODE && regs.rip != VP_TINY_CODE + 5)
		return NULL;
	if (host->sync_regs) {
		vm->run->s.regs.regs = regs;
		vm->run->s.regs.regs.rip = VP_TINY_CODE + 6;
		vm->run->kvm_dirty_regs = KVM_SYNC_X86_REGS;
	} else {
		regs.rip = VP_TINY_CODE + 6;
		OT_TRY(vp_tiny_vm_set_regs(vm, &regs));
	}
	host->out = vp_kvm_try_run(vm) && vp_tiny_vm_out_port(vm) == VP_TRY_PORT + 1;
	return NULL;
}

static struct ot_err *try_hw(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	const uint8_t code[] = { 0x90, 0x90, 0xf4 };

	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	host->hw = vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_HW_BP, VP_TINY_CODE + 1) && vp_kvm_try_run(vm) &&
		   vm->run->exit_reason == KVM_EXIT_DEBUG && vm->run->debug.arch.exception == 1 &&
		   vm->run->debug.arch.pc == VP_TINY_CODE + 1;
	return NULL;
}

/* Registers are set first: KVM saves the RIP of the moment when stepping is requested. */
static struct ot_err *try_step(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	const uint8_t code[] = { 0x50, 0x90, 0xf4 };
	struct kvm_regs regs;

	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_SINGLESTEP, 0) || !vp_kvm_try_run(vm) ||
	    vm->run->exit_reason != KVM_EXIT_DEBUG)
		return NULL;
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	host->step = regs.rip == VP_TINY_CODE + 1 && regs.rsp == VP_TINY_STACK - 8;
	host->block_irq =
	    host->step && vp_kvm_try_debug(vm, KVM_GUESTDBG_SINGLESTEP | KVM_GUESTDBG_BLOCKIRQ, 0);
	return NULL;
}

struct ot_err *vp_kvm_try_bind(struct vp_tiny_vm *vm, int fd, bool bind)
{
	/* len 0: any width, any value */
	struct kvm_ioeventfd io = { .addr = VP_TRY_PORT, .fd = fd, .flags = KVM_IOEVENTFD_FLAG_PIO };

	if (!bind)
		io.flags |= KVM_IOEVENTFD_FLAG_DEASSIGN;
	return ioctl(vm->vm, KVM_IOEVENTFD, &io) ? ot_err_os(errno, "KVM_IOEVENTFD") : NULL;
}

static struct ot_err *try_ioeventfd(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	const uint8_t code[] = { VP_TRY_OUT, VP_TRY_OUT, VP_TRY_OUT, 0xf4 };
	ot_auto_close int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	eventfd_t n = 0;

	if (fd < 0)
		return ot_err_os(errno, "eventfd");
	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	ot_auto_err struct ot_err *refused = vp_kvm_try_bind(vm, fd, true);
	if (refused)
		return NULL;
	host->ioeventfd =
	    vp_kvm_try_run(vm) && vm->run->exit_reason == KVM_EXIT_HLT && !eventfd_read(fd, &n) && n == 3;
	return vp_kvm_try_bind(vm, fd, false);
}

/* @try in a VM of its own, because a KVM that fails ends in a triple fault. */
static struct ot_err *try_apart(int kvm, struct vp_kvm_host *host,
				struct ot_err *(*try)(struct vp_tiny_vm *, struct vp_kvm_host *))
{
	struct vp_tiny_vm vm;

	OT_TRY(vp_tiny_vm_init(&vm, kvm));
	struct ot_err *err = try(&vm, host);
	vp_tiny_vm_deinit(&vm);
	return err;
}

static struct ot_err *try_all(struct vp_tiny_vm *vm, struct vp_kvm_host *host, bool quick)
{
	OT_TRY(try_out(vm, host));
	OT_TRY(try_int3(vm, host));
	OT_TRY(try_hw(vm, host));
	OT_TRY(try_step(vm, host));
	OT_TRY(try_ioeventfd(vm, host));
	return vp_kvm_host_measure(vm, host, quick);
}

static struct ot_err *open_kvm(const char *path, int *ret)
{
	ot_auto_close int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return ot_err_new(
		    OT_ERR_PERMISSION,
		    "%s: no permission: add yourself to the group that owns it (usermod -aG kvm "
		    "USER, then log in again), or be root",
		    path);
	if (fd < 0)
		return ot_err_new(
		    OT_ERR_NOT_FOUND,
		    "%s: %s: no KVM here (is virtualization on in the firmware, or nested for this VM?)",
		    path, strerror(errno));
	int version = ioctl(fd, KVM_GET_API_VERSION, 0);
	if (version != KVM_API)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s: not KVM's API version %d", path, KVM_API);
	*ret = ot_move_fd(fd);
	return NULL;
}

static struct ot_err *try_device(int kvm, bool quick, struct vp_kvm_host *ret)
{
	struct vp_kvm_host host = { 0 };
	struct vp_tiny_vm vm;

	int max = ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_MAX_VCPUS);
	host.max_vcpus = max > 0 ? (uint32_t)max : 4; /* api.rst: 4 if it reports none */
	int sync = ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_SYNC_REGS);
	host.sync_regs = sync > 0 && sync & KVM_SYNC_X86_REGS && sync & KVM_SYNC_X86_SREGS;
	OT_TRY(vp_tiny_vm_init(&vm, kvm));
	struct ot_err *err = try_all(&vm, &host, quick);
	vp_tiny_vm_deinit(&vm);
	OT_TRY(err);
	if (host.hw)
		OT_TRY(try_apart(kvm, &host, vp_kvm_try_hw_user));
	if (host.hw)
		OT_TRY(try_apart(kvm, &host, vp_kvm_try_hw_irq));
	*ret = host;
	return NULL;
}

struct ot_err *vp_kvm_host_try(int kvm, struct vp_kvm_host *ret)
{
	return try_device(kvm, true, ret);
}

struct ot_err *vp_kvm_host_probe(const char *path, struct vp_kvm_host *ret)
{
	ot_auto_close int kvm = -1;
	struct vp_kvm_host host;

	OT_TRY(open_kvm(path, &kvm));
	OT_TRY(try_device(kvm, false, &host));
	OT_TRY(try_apart(kvm, &host, vp_kvm_try_user));
	*ret = host;
	return NULL;
}
