/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VM of one vCPU that runs a few bytes of code: its tables, registers, and time limit. */
#include "vmm-probe/backend/kvm/tiny_vm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PML4       0x1000u
#define PDPT       0x2000u
#define PAGE_DIR   0x3000u
#define IDT        0x4000u
#define HANDLERS   0x5000u
#define GDT        0x6000u
#define MSR_STAR   0xc0000081u
#define MSR_LSTAR  0xc0000082u
#define MSR_SFMASK 0xc0000084u
#define NVECTORS   32u
#define MAX_CPUID  256u
/* glibc has no name for the member of struct sigevent that SIGEV_THREAD_ID reads. */
#define sigev_tid  _sigev_un._tid

static void put64(uint8_t *mem, uint32_t at, uint64_t v)
{
	memcpy(mem + at, &v, sizeof(v));
}

/* Vector N: `out %al, $(EXCEPTION + N)`; `iretq`. Error codes are not popped: no code here returns from those
 * vectors. */
static void write_vector(uint8_t *mem, unsigned n)
{
	uint32_t handler = HANDLERS + n * 16;
	const uint8_t code[] = { 0xe6, (uint8_t)(VP_TINY_EXCEPTION + n), 0x48, 0xcf };

	memcpy(mem + handler, code, sizeof(code));
	/* 64-bit interrupt gate, present, selector 8 */
	put64(mem, IDT + n * 16,
	      (handler & 0xffff) | 8u << 16 | 0x8e00ull << 32 | (uint64_t)(handler >> 16) << 48);
}

static void write_tables(uint8_t *mem)
{
	put64(mem, PML4, PDPT | 7);
	put64(mem, PDPT, PAGE_DIR | 7);
	put64(mem, PAGE_DIR, 0x87); /* 2 MiB from 0, writable, for user mode too */
	put64(mem, GDT + 8, 0x00af9b000000ffffull);
	put64(mem, GDT + 16, 0x00cf93000000ffffull);
	put64(mem, GDT + 24, 0x00cff3000000ffffull); /* user data, then user code: in sysret's order */
	put64(mem, GDT + 32, 0x00affb000000ffffull);
	for (unsigned i = 0; i < NVECTORS; i++)
		write_vector(mem, i);
}

static struct ot_err *set_cpuid(int kvm, int vcpu)
{
	ot_auto_free struct kvm_cpuid2 *cpuid =
	    calloc(1, sizeof(*cpuid) + MAX_CPUID * sizeof(struct kvm_cpuid_entry2));

	if (!cpuid)
		return ot_err_nomem();
	cpuid->nent = MAX_CPUID;
	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid) || ioctl(vcpu, KVM_SET_CPUID2, cpuid))
		return ot_err_os(errno, "KVM: CPUID");
	return NULL;
}

static struct ot_err *enter_long_mode(int vcpu)
{
	const struct kvm_segment code = {
		.limit = ~0u, .selector = 8, .type = 11, .present = 1, .s = 1, .l = 1, .g = 1
	};
	const struct kvm_segment data = {
		.limit = ~0u, .selector = 16, .type = 3, .present = 1, .s = 1, .db = 1, .g = 1
	};
	struct kvm_sregs s;

	if (ioctl(vcpu, KVM_GET_SREGS, &s))
		return ot_err_os(errno, "KVM_GET_SREGS");
	s.cs = code;
	s.ds = s.es = s.fs = s.gs = s.ss = data;
	s.gdt = (struct kvm_dtable){ .base = GDT, .limit = 39 };
	s.idt = (struct kvm_dtable){ .base = IDT, .limit = NVECTORS * 16 - 1 };
	s.cr3 = PML4;
	s.cr4 = 0x20;       /* PAE */
	s.cr0 = 0x80050033; /* PG AM WP NE ET MP PE */
	s.efer = 0x500;     /* LMA LME */
	if (ioctl(vcpu, KVM_SET_SREGS, &s))
		return ot_err_new(OT_ERR_UNSUPPORTED, "this KVM does not run 64-bit guests: %s",
				  strerror(errno));
	return NULL;
}

static struct ot_err *map_memory(struct vp_tiny_vm *vm)
{
	void *mem = mmap(NULL, VP_TINY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return ot_err_nomem();
	vm->mem = mem;
	write_tables(vm->mem);
	struct kvm_userspace_memory_region slot = { .memory_size = VP_TINY_SIZE,
						    .userspace_addr = (uintptr_t)vm->mem };
	if (ioctl(vm->vm, KVM_SET_USER_MEMORY_REGION, &slot))
		return ot_err_os(errno, "KVM_SET_USER_MEMORY_REGION");
	return NULL;
}

static void wake_up(int sig)
{
	(void)sig; /* its arrival is enough: KVM_RUN returns EINTR */
}

/* Periodic, so that a signal between two KVM_RUNs is not the last one. */
static struct ot_err *make_timer(struct vp_tiny_vm *vm)
{
	struct sigaction sa = { .sa_handler = wake_up };
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX - 1 };

	ev.sigev_tid = (pid_t)syscall(SYS_gettid);
	if (sigaction(SIGRTMAX - 1, &sa, NULL) || timer_create(CLOCK_MONOTONIC, &ev, &vm->timer))
		return ot_err_os(errno, "timer");
	vm->has_timer = true;
	return NULL;
}

static struct ot_err *create(struct vp_tiny_vm *vm, int kvm)
{
	int size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);

	vm->vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm->vm < 0 || size < (int)sizeof(struct kvm_run))
		return ot_err_os(errno, "KVM_CREATE_VM");
	OT_TRY(map_memory(vm));
	vm->vcpu = ioctl(vm->vm, KVM_CREATE_VCPU, 0);
	if (vm->vcpu < 0)
		return ot_err_os(errno, "KVM_CREATE_VCPU");
	void *run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->vcpu, 0);
	if (run == MAP_FAILED)
		return ot_err_os(errno, "mapping the vCPU");
	vm->run = run;
	vm->run_size = (size_t)size;
	OT_TRY(set_cpuid(kvm, vm->vcpu));
	OT_TRY(make_timer(vm));
	return enter_long_mode(vm->vcpu);
}

struct ot_err *vp_tiny_vm_init(struct vp_tiny_vm *vm, int kvm)
{
	*vm = (struct vp_tiny_vm){ .vm = -1, .vcpu = -1 };
	struct ot_err *err = create(vm, kvm);
	if (err)
		vp_tiny_vm_deinit(vm);
	return err;
}

void vp_tiny_vm_deinit(struct vp_tiny_vm *vm)
{
	if (vm->has_timer)
		timer_delete(vm->timer);
	if (vm->run)
		munmap(vm->run, vm->run_size);
	ot_cleanup_close(&vm->vcpu);
	ot_cleanup_close(&vm->vm);
	if (vm->mem)
		munmap(vm->mem, VP_TINY_SIZE);
	*vm = (struct vp_tiny_vm){ .vm = -1, .vcpu = -1 };
}

struct ot_err *vp_tiny_vm_load(struct vp_tiny_vm *vm, const void *code, size_t len)
{
	const struct kvm_regs regs = { .rip = VP_TINY_CODE, .rsp = VP_TINY_STACK, .rflags = 2 };
	const struct timespec limit = { .tv_sec = VP_TINY_SECONDS };

	if (len > VP_TINY_CODE_SIZE)
		return ot_err_new(OT_ERR_LIMIT, "code of %zu bytes", len);
	memset(vm->mem + VP_TINY_CODE, 0xf4, VP_TINY_CODE_SIZE); /* hlt */
	memcpy(vm->mem + VP_TINY_CODE, code, len);
	timer_settime(vm->timer, 0, &(const struct itimerspec){ limit, limit }, NULL);
	OT_TRY(vp_tiny_vm_debug(vm, 0, 0));
	return vp_tiny_vm_set_regs(vm, &regs);
}

struct ot_err *vp_tiny_vm_set_syscall(struct vp_tiny_vm *vm, uint64_t entry)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entries[3];
	} msrs = { .head.nmsrs = 3,
		   .entries = { { .index = MSR_STAR, .data = 16ull << 48 | 8ull << 32 },
				{ .index = MSR_LSTAR, .data = entry },
				{ .index = MSR_SFMASK, .data = 0x200 } } };
	struct kvm_sregs s;

	if (ioctl(vm->vcpu, KVM_GET_SREGS, &s))
		return ot_err_os(errno, "KVM_GET_SREGS");
	s.efer |= 1; /* SCE */
	if (ioctl(vm->vcpu, KVM_SET_SREGS, &s) || ioctl(vm->vcpu, KVM_SET_MSRS, &msrs) != 3)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this KVM does not accept an entry point for system calls");
	return NULL;
}

struct ot_err *vp_tiny_vm_debug(struct vp_tiny_vm *vm, uint32_t control, uint64_t dr0)
{
	struct kvm_guest_debug debug = { .control = control };

	if (control)
		debug.control |= KVM_GUESTDBG_ENABLE;
	if (control & KVM_GUESTDBG_USE_HW_BP) {
		debug.arch.debugreg[0] = dr0;
		debug.arch.debugreg[7] = 0x402; /* global, execute; bit 10 is always 1 */
	}
	if (ioctl(vm->vcpu, KVM_SET_GUEST_DEBUG, &debug))
		return ot_err_new(OT_ERR_UNSUPPORTED, "KVM_SET_GUEST_DEBUG 0x%x: %s", debug.control,
				  strerror(errno));
	return NULL;
}

struct ot_err *vp_tiny_vm_run(struct vp_tiny_vm *vm)
{
	int rc;

	do
		rc = ioctl(vm->vcpu, KVM_RUN, 0);
	while (rc < 0 && errno == EAGAIN);
	if (!rc)
		return NULL;
	if (errno == EINTR)
		return ot_err_new(OT_ERR_BUSY, "the VM did not exit within %d s", VP_TINY_SECONDS);
	return ot_err_os(errno, "KVM_RUN");
}

struct ot_err *vp_tiny_vm_regs(struct vp_tiny_vm *vm, struct kvm_regs *ret)
{
	return ioctl(vm->vcpu, KVM_GET_REGS, ret) ? ot_err_os(errno, "KVM_GET_REGS") : NULL;
}

struct ot_err *vp_tiny_vm_set_regs(struct vp_tiny_vm *vm, const struct kvm_regs *regs)
{
	return ioctl(vm->vcpu, KVM_SET_REGS, regs) ? ot_err_os(errno, "KVM_SET_REGS") : NULL;
}

int vp_tiny_vm_out_port(const struct vp_tiny_vm *vm)
{
	if (vm->run->exit_reason != KVM_EXIT_IO || vm->run->io.direction != KVM_EXIT_IO_OUT)
		return -1;
	return vm->run->io.port;
}
