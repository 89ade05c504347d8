/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VMM's calls of ioctl(), in any order and with any content, as the hook observes them. KVM is a model here
 * that refuses what KVM refuses: slots that overlap, wrap or are no pages. What must hold after each call:
 *
 *   - RAM as the hook sees it is that of the model: sorted, disjoint, each byte at its host address;
 *   - RAM that an engine may use changes only after the engine was removed;
 *   - vCPUs are within bounds, and the descriptor of each leads to it.
 *
 * machine.c is included, because a machine that is forgotten is none of its functions.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fuzz/hook_ops.h"
#include "tests/fuzz/seed.h"
#include "vmm-probe/hook/machine.c"

#define VM_FD     40000 /* numbers that no descriptor of this process has */
#define KVM_FD    40001
#define VCPUS     12u
#define SLOTS     24u
#define RUN_SIZE  65536u
#define KVM_SPACE 0x10000u /* slots of SMM's view */

/* Video memory and the firmware's shadow, which are no RAM to a kernel. */
#define SHADOW     0xa0000ull
#define SHADOW_END 0x100000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
long __wrap_syscall(long number, long a, long b, long c, long d, long e);
long __real_syscall(long number, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

struct vp_hook vp_hook;

static struct {
	struct kvm_userspace_memory_region slots[SLOTS]; /* of the VM that the hook follows */
	int vcpus[VCPUS];                                /* memfds, which stand for kvm_run */
	const struct hook_op *op;
	int mmap_size;
	unsigned runs;
	bool vms[2], untraced;
	unsigned seen; /* kinds of calls that succeeded, for seeds */
} model;

bool fuzz_seed_reached(void)
{
	return model.seen & 1u << HOOK_CREATE_VCPU && model.seen & 1u << HOOK_REGION;
}

/* --- the parts of the hook that are not here ---------------------------------------------------------- */

void vp_hook_untrace(enum vp_guest_end why)
{
	(void)why;
	model.untraced = true;
}

void vp_hook_kernel_ended(enum vp_guest_end how)
{
	vp_hook_count_state(how);
}

/* No place was given to anybody: nothing is given back. */
void vp_hook_give_place(void)
{
	abort();
}

struct ot_err *vp_hook_ask_place(uint32_t bits, uint64_t size, uint64_t *ret)
{
	(void)bits;
	(void)size;
	(void)ret;
	abort();
}

void vp_hook_wake(void)
{
}

void vp_hook_count_state(enum vp_guest_end how)
{
	if (how != VP_GUEST_RESET && how != VP_GUEST_LOADED)
		abort();
}

void vp_hook_held_since(uint64_t ns)
{
	(void)ns;
}

void vp_hook_service_start(void)
{
}

/* --- RAM, as the model has it --------------------------------------------------------------------------- */

static bool is_ram(const struct kvm_userspace_memory_region *s)
{
	return s->memory_size && !s->flags &&
	       (s->guest_phys_addr < SHADOW || s->guest_phys_addr + s->memory_size > SHADOW_END);
}

/* The host address of a byte of RAM; 0: it is none. */
static uint64_t host_at(uint64_t gpa)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct kvm_userspace_memory_region *s = &model.slots[i];
		if (is_ram(s) && gpa - s->guest_phys_addr < s->memory_size &&
		    (gpa < SHADOW || gpa >= SHADOW_END))
			return s->userspace_addr + (gpa - s->guest_phys_addr);
	}
	return 0;
}

static uint64_t ram_size(void)
{
	uint64_t size = 0;

	for (unsigned i = 0; i < SLOTS; i++) {
		const struct kvm_userspace_memory_region *s = &model.slots[i];
		if (!is_ram(s))
			continue;
		uint64_t end = s->guest_phys_addr + s->memory_size;
		uint64_t from = s->guest_phys_addr > SHADOW ? s->guest_phys_addr : SHADOW;
		uint64_t to = end < SHADOW_END ? end : SHADOW_END;
		size += s->memory_size - (from < to ? to - from : 0);
	}
	return size;
}

static struct vp_ram_range ram[VP_HOOK_SLOTS_MAX];
static uint32_t nram;

/* RAM from QEMU's monitor is not the model's: it may be anything, but in order. */
static void check_ram(void)
{
	uint64_t size = 0;

	nram = vp_hook_ram(ram);
	if (nram > VP_HOOK_SLOTS_MAX)
		abort();
	for (uint32_t i = 0; i < nram; i++) {
		const struct vp_ram_range *r = &ram[i];
		if (!r->size || r->fd_index != -1 || (i && ram[i - 1].gpa > r->gpa))
			abort();
		size += r->size;
		if (vp_hook.live || vp_hook.slots_lost)
			continue;
		if (r->gpa + r->size < r->gpa || (i && ram[i - 1].gpa + ram[i - 1].size > r->gpa) ||
		    host_at(r->gpa) != r->host || host_at(r->gpa + r->size - 1) != r->host + r->size - 1)
			abort();
	}
	if (!vp_hook.live && !vp_hook.slots_lost && size != ram_size())
		abort();
}

/* Would this call take RAM from an engine that has it now? */
static bool takes_from_engine(const struct kvm_userspace_memory_region *old,
			      const struct kvm_userspace_memory_region *new)
{
	return is_ram(old) &&
	       (new->memory_size != old->memory_size || new->userspace_addr != old->userspace_addr ||
		new->guest_phys_addr != old->guest_phys_addr || new->flags &KVM_MEM_LOG_DIRTY_PAGES);
}

/* --- KVM ------------------------------------------------------------------------------------------------ */

static bool overlaps(const struct kvm_userspace_memory_region *new)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct kvm_userspace_memory_region *s = &model.slots[i];
		if (i != new->slot &&
		    s->memory_size &&new->guest_phys_addr < s->guest_phys_addr + s->memory_size &&
		    s->guest_phys_addr < new->guest_phys_addr + new->memory_size)
			return true;
	}
	return false;
}

static int set_slot(const struct kvm_userspace_memory_region *new)
{
	if (!new)
		return -EFAULT;
	if (new->slot >= KVM_SPACE)
		return 0;
	if (new->slot >= SLOTS || (new->guest_phys_addr | new->memory_size | new->userspace_addr) & 4095 ||
	    new->guest_phys_addr + new->memory_size < new->guest_phys_addr ||
	    new->userspace_addr + new->memory_size < new->userspace_addr || overlaps(new))
		return -EINVAL;
	if (takes_from_engine(&model.slots[new->slot], new) && !model.untraced)
		abort(); /* an engine would have written to memory that is another's now */
	model.slots[new->slot] = *new;
	return 0;
}

/* A kick that was ours ends KVM_RUN and is not the VMM's; a run is repeated for it. */
static int run_vcpu(int fd)
{
	struct vp_hook_vcpu *v = vp_hook_vcpu_of(fd);

	if (!v || model.runs >= 64 || !(model.op->a >> model.runs++ & 1))
		return 0;
	v->run->immediate_exit = model.runs & 1 ? 0x80 : 1;
	return -EINTR;
}

/* The hook follows the last one before the first vCPU. */
static int create_vm(void)
{
	unsigned vm = model.op->which & 1;

	if (model.vms[vm])
		return -EMFILE;
	model.vms[vm] = true;
	if (!vp_hook.nvcpus)
		memset(model.slots, 0, sizeof(model.slots));
	return VM_FD + (int)vm;
}

static int answer(int fd, unsigned long request, void *arg)
{
	if (model.op->how & HOOK_FAILS)
		return -EIO;
	switch (request) {
	case KVM_CREATE_VM:
		return create_vm();
	case KVM_CREATE_VCPU:
		return model.op->which % (VCPUS + 1) == VCPUS ? 70000 : model.vcpus[model.op->which % VCPUS];
	case KVM_GET_VCPU_MMAP_SIZE:
		return model.mmap_size;
	case KVM_SET_USER_MEMORY_REGION:
	case _IOW(KVMIO, 0x49, char[160]):
		return fd == vp_hook.vm ? set_slot(arg) : arg ? 0 : -EFAULT;
	case KVM_RUN:
		return run_vcpu(fd);
	case KVM_SET_SREGS:
	case KVM_SET_GUEST_DEBUG:
	case UFFDIO_REGISTER:
		return arg ? 0 : -EFAULT;
	default:
		return 0;
	}
}

/* None of the hook's calls has more arguments. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e)
{
	if (number != SYS_ioctl || !model.op)
		return __real_syscall(number, a, b, c, d, e);
	int ret = answer((int)a, (unsigned long)b, (void *)c);
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/* --- calls ---------------------------------------------------------------------------------------------- */

static int set_region(const struct hook_op *op)
{
	struct {
		struct kvm_userspace_memory_region r;
		char rest[160];
	} u = { .r = { .slot = op->id & 0x1ffff,
		       .flags = op->flags & (KVM_MEM_LOG_DIRTY_PAGES | KVM_MEM_READONLY | 1u << 2),
		       .guest_phys_addr = op->a,
		       .memory_size = op->b,
		       .userspace_addr = op->c } };
	unsigned long request =
	    op->how & HOOK_REGION2 ? _IOW(KVMIO, 0x49, char[160]) : KVM_SET_USER_MEMORY_REGION;

	if (op->how & HOOK_SIGN)
		request |= ~0ul << 32;
	return vp_hook_ioctl(VM_FD + (op->which & 1), request, op->how & HOOK_NULL ? NULL : &u);
}

static void add_found(const struct hook_op *op)
{
	const struct vp_hook_slot slot = { VP_HOOK_SLOT_FOUND + op->id % 64, 0, op->a & ~4095ull,
					   op->b & 0xffffffff000ull, op->c };

	vp_hook.live = true;
	vp_hook_add_slot(&slot);
}

static int set_sregs(const struct hook_op *op, int vcpu)
{
	struct kvm_sregs sregs = { .cs = { .base = op->a, .selector = (uint16_t)op->id }, .cr0 = op->b };

	return vp_hook_ioctl(vcpu, KVM_SET_SREGS, op->how & HOOK_NULL ? NULL : &sregs);
}

static int call(const struct hook_op *op, int vcpu)
{
	struct uffdio_register faults = { .mode = op->flags };
	struct kvm_guest_debug debug = { .control = op->flags };

	switch (op->kind % HOOK_OPS) {
	case HOOK_CREATE_VM:
		return vp_hook_ioctl(KVM_FD, KVM_CREATE_VM, op->a & 1);
	case HOOK_CREATE_VCPU:
		return vp_hook_ioctl(VM_FD + (op->which >> 7 & 1), KVM_CREATE_VCPU, (unsigned long)op->id);
	case HOOK_REGION:
		return set_region(op);
	case HOOK_ENCRYPT:
		return vp_hook_ioctl(VM_FD, KVM_MEMORY_ENCRYPT_OP, &faults);
	case HOOK_FAULTS:
		return vp_hook_ioctl(VM_FD, UFFDIO_REGISTER, op->how & HOOK_NULL ? NULL : &faults);
	case HOOK_DEBUG:
		return vp_hook_ioctl(vcpu, KVM_SET_GUEST_DEBUG, op->how & HOOK_NULL ? NULL : &debug);
	case HOOK_ENGINE_DEBUG:
		return __wrap_ioctl(vcpu, KVM_SET_GUEST_DEBUG, &debug);
	case HOOK_SREGS:
		return set_sregs(op, vcpu);
	case HOOK_RUN:
		return vp_hook_ioctl(vcpu, KVM_RUN, NULL);
	case HOOK_FOUND:
		add_found(op);
		return 0;
	case HOOK_FORGET:
		vp_hook_forget_slots();
		return 0;
	case HOOK_MMAP_SIZE:
		model.mmap_size = (int)(op->id % (RUN_SIZE + 1));
		return 0;
	default:
		return vp_hook_ioctl(op->which & 1 ? vcpu : VM_FD, op->a, &faults);
	}
}

/* --- a machine ------------------------------------------------------------------------------------------ */

static void begin(void)
{
	static bool made;

	for (unsigned i = 0; !made && i < VCPUS; i++) {
		model.vcpus[i] = memfd_create("kvm_run", MFD_CLOEXEC);
		if (model.vcpus[i] < 0 || ftruncate(model.vcpus[i], RUN_SIZE))
			abort();
	}
	if (!made)
		vp_hook_gate_init();
	made = true;
	memset(model.slots, 0, sizeof(model.slots));
	model.mmap_size = 12288;
	memset(model.vms, 0, sizeof(model.vms));
	model.seen = 0;
	vp_hook.kvm = vp_hook.vm = vp_hook.faults = -1;
	vp_hook.kick_signal = 60;
}

static void end(void)
{
	model.op = NULL;
	for (uint32_t i = 0; i < vp_hook.nvcpus; i++) {
		struct vp_hook_vcpu *v = vp_hook.vcpus[i];
		atomic_store(&by_fd[v->fd], NULL);
		munmap(v->run, vp_hook.run_size);
		free(v);
	}
	pthread_mutex_t lock = vp_hook.lock, gate = vp_hook.gate_lock;
	pthread_cond_t changed = vp_hook.gate_changed;
	memset(&vp_hook, 0, sizeof(vp_hook));
	vp_hook.lock = lock;
	vp_hook.gate_lock = gate;
	vp_hook.gate_changed = changed;
}

static void check_vcpus(void)
{
	if (vp_hook.nvcpus > VP_HOOK_VCPUS_MAX)
		abort();
	for (uint32_t i = 0; i < vp_hook.nvcpus; i++) {
		const struct vp_hook_vcpu *v = vp_hook.vcpus[i];
		if (vp_hook_vcpu_of(v->fd) != v || !v->run || (i && vp_hook.vcpus[i - 1]->id > v->id))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hook_op op;

	begin();
	for (; size >= sizeof(op); data += sizeof(op), size -= sizeof(op)) {
		memcpy(&op, data, sizeof(op));
		model.op = &op;
		model.untraced = false;
		model.runs = 0;
		if (call(&op, model.vcpus[op.which % VCPUS]) >= 0)
			model.seen |= 1u << op.kind % HOOK_OPS;
		check_ram();
		check_vcpus();
	}
	end();
	return 0;
}
