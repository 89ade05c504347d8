/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMM's ioctl(). Requests other than KVM's are passed on unchanged. The engine's own calls bypass it:
 * this library is linked with --wrap=ioctl.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "vmm-probe/hook/internal.h"

#define CONFIDENTIAL_FLAGS (1u << 2) /* KVM_MEM_GUEST_MEMFD */

/* KVM_SET_USER_MEMORY_REGION2, in linux/kvm.h since 6.8; its first members are those of the older call. */
#define SET_REGION2 _IOW(KVMIO, 0x49, char[160])

OT_EXPORT int ioctl(int fd, unsigned long request, ...) __attribute__((alias("vp_hook_ioctl")));
int __wrap_ioctl(int fd, unsigned long request, ...);

int vp_hook_syscall(int fd, unsigned long request, void *arg)
{
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* --- guest debug ------------------------------------------------------------------------------------- */

int vp_hook_set_debug(struct vp_hook_vcpu *v, uint32_t once)
{
	struct kvm_guest_debug d = v->theirs;

	if (!(d.control & KVM_GUESTDBG_USE_HW_BP))
		d.arch = v->ours.arch;
	d.control |= v->ours.control | once;
	return vp_hook_syscall(v->fd, KVM_SET_GUEST_DEBUG, &d);
}

#define ONCE (KVM_GUESTDBG_INJECT_BP | KVM_GUESTDBG_INJECT_DB)

static int set_debug(struct vp_hook_vcpu *v, struct kvm_guest_debug *which, const struct kvm_guest_debug *new)
{
	struct kvm_guest_debug old;

	pthread_mutex_lock(&v->debug);
	old = *which;
	*which = *new;
	which->control &= ~ONCE;
	int rc = vp_hook_set_debug(v, new->control &ONCE);
	int err = errno;
	if (rc)
		*which = old;
	atomic_store(&v->vmm_debugs, (v->theirs.control & KVM_GUESTDBG_ENABLE) != 0);
	pthread_mutex_unlock(&v->debug);
	errno = err;
	return rc;
}

/* The engine's. */
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct vp_hook_vcpu *v;
	va_list ap;

	va_start(ap, request);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (request != KVM_SET_GUEST_DEBUG || !(v = vp_hook_vcpu_of(fd)))
		return vp_hook_syscall(fd, request, arg);
	const struct kvm_guest_debug *d = arg;
	/* The VMM's debug registers are the VMM's. */
	if (d->control & v->theirs.control & KVM_GUESTDBG_USE_HW_BP) {
		errno = EBUSY;
		return -1;
	}
	return set_debug(v, &v->ours, arg);
}

/* --- resets and loaded states --------------------------------------------------------------------------- */

/* Are these the registers of an x86 CPU after reset? struct kvm_sregs2 has the same layout up to cr0. */
static bool is_reset(const struct kvm_sregs *sregs)
{
	return sregs->cs.selector == 0xf000 && sregs->cs.base == 0xffff0000 && !(sregs->cr0 & 1);
}

/* QEMU resets the machine before it loads a state too, so only the registers with which the vCPU runs
 * count. */
static int set_sregs(struct vp_hook_vcpu *v, unsigned long request, const void *arg)
{
	int rc = vp_hook_syscall(v->fd, request, (void *)(uintptr_t)arg);

	if (!rc && is_reset(arg))
		atomic_store(&v->state, VP_HOOK_STATE_RESET);
	else if (!rc && atomic_load(&v->state) == VP_HOOK_STATE_RESET)
		atomic_store(&v->state, VP_HOOK_STATE_LOADED);
	return rc;
}

/* Only the first vCPU counts: others are also reset by the guest's INIT, and when they are plugged in. */
void vp_hook_new_state(struct vp_hook_vcpu *v)
{
	uint32_t state = atomic_exchange(&v->state, 0);
	enum vp_guest_end how = state == VP_HOOK_STATE_LOADED  ? VP_GUEST_LOADED
				: state == VP_HOOK_STATE_RESET ? VP_GUEST_RESET
							       : VP_GUEST_CHANGED;

	pthread_mutex_lock(&vp_hook.lock);
	if (v == vp_hook.vcpus[0]) {
		vp_hook_count_state(how);
		if (how != VP_GUEST_CHANGED)
			vp_hook_kernel_ended(how);
	}
	pthread_mutex_unlock(&vp_hook.lock);
}

/* --- the machine ------------------------------------------------------------------------------------- */

static int create_vm(int fd, void *type)
{
	int vm = vp_hook_syscall(fd, KVM_CREATE_VM, type);

	if (vm < 0)
		return vm;
	pthread_mutex_lock(&vp_hook.lock);
	/* A VMM may create VMs without vCPUs to probe KVM: the last one before the first vCPU is the
	 * machine. */
	if (!vp_hook.nvcpus) {
		vp_hook.kvm = fd;
		vp_hook.vm = vm;
		vp_hook.nslots = 0;
		vp_hook.confidential = (uintptr_t)type != 0;
	}
	pthread_mutex_unlock(&vp_hook.lock);
	return vm;
}

static int create_vcpu(int fd, void *id)
{
	int vcpu = vp_hook_syscall(fd, KVM_CREATE_VCPU, id);

	if (vcpu < 0)
		return vcpu;
	pthread_mutex_lock(&vp_hook.lock);
	if (fd == vp_hook.vm) {
		/* An engine has a fixed number of vCPUs: nothing would handle this one's hits. */
		vp_hook_untrace(VP_GUEST_CHANGED);
		vp_hook_add_vcpu(vcpu, (uint32_t)(uintptr_t)id);
		vp_hook_wake();
	}
	pthread_mutex_unlock(&vp_hook.lock);
	return vcpu;
}

/* Does the call change guest RAM that the engine uses? Then the traps are removed first. (A dirty log does
 * not contain writes through the host's mapping.) */
static bool takes_ram(const struct kvm_userspace_memory_region *new)
{
	const struct vp_hook_slot *old = vp_hook_find_slot(new->slot);

	if (vp_hook_touches_found(new->guest_phys_addr, new->memory_size))
		return true;
	if (!old || !vp_hook_slot_is_ram(old))
		return false;
	return new->flags &KVM_MEM_LOG_DIRTY_PAGES || new->memory_size != old->size ||
	       new->userspace_addr != old->host || new->guest_phys_addr != old->gpa;
}

static int set_region(int fd, unsigned long request, void *arg)
{
	struct kvm_userspace_memory_region r;

	memcpy(&r, arg, sizeof(r));
	/* Address space 1 is SMM's view of the same memory. */
	if (r.slot >> 16)
		return vp_hook_syscall(fd, request, arg);
	pthread_mutex_lock(&vp_hook.lock);
	bool ours = fd == vp_hook.vm;
	if (ours && vp_hook_wants_place(r.slot, r.guest_phys_addr, r.memory_size))
		vp_hook_give_place();
	if (ours && takes_ram(&r))
		vp_hook_untrace(r.flags & KVM_MEM_LOG_DIRTY_PAGES ? VP_GUEST_SAVED : VP_GUEST_CHANGED);
	int rc = vp_hook_syscall(fd, request, arg);
	int err = errno;
	if (ours && !rc) {
		const struct vp_hook_slot slot = { r.slot, r.flags, r.guest_phys_addr, r.memory_size,
						   r.userspace_addr };
		vp_hook_add_slot(&slot);
		vp_hook.slots_stale = vp_hook.live;
		vp_hook.confidential |= (r.flags & CONFIDENTIAL_FLAGS) != 0;
		vp_hook_wake();
	}
	pthread_mutex_unlock(&vp_hook.lock);
	errno = err;
	return rc;
}

static int vm_ioctl(int fd, unsigned long request, void *arg)
{
	int rc;

	switch (request) {
	case KVM_CREATE_VM:
		return create_vm(fd, arg);
	case KVM_CREATE_VCPU:
		return create_vcpu(fd, arg);
	case KVM_SET_USER_MEMORY_REGION:
	case SET_REGION2:
		return set_region(fd, request, arg);
	case KVM_MEMORY_ENCRYPT_OP:
		rc = vp_hook_syscall(fd, request, arg);
		if (!rc && arg) {
			pthread_mutex_lock(&vp_hook.lock);
			vp_hook_untrace(VP_GUEST_CHANGED);
			vp_hook.confidential = true;
			pthread_mutex_unlock(&vp_hook.lock);
		}
		return rc;
	default:
		return vp_hook_syscall(fd, request, arg);
	}
}

/* A background snapshot: QEMU write-protects RAM through userfaultfd, and saves each page before the first
 * write to it. Our writes would fault too, and traps would be saved. It lasts until the descriptor is
 * closed. */
static int register_faults(int fd, struct uffdio_register *r)
{
	if (!(r->mode & UFFDIO_REGISTER_MODE_WP))
		return vp_hook_syscall(fd, UFFDIO_REGISTER, r);
	pthread_mutex_lock(&vp_hook.lock);
	vp_hook_untrace(VP_GUEST_SAVED);
	int rc = vp_hook_syscall(fd, UFFDIO_REGISTER, r);
	int err = errno;
	if (!rc)
		vp_hook.faults = fd;
	else
		vp_hook_wake();
	pthread_mutex_unlock(&vp_hook.lock);
	errno = err;
	return rc;
}

/* Of these we read the structure at the argument. Without one the kernel answers EFAULT. */
static bool reads_argument(unsigned long request)
{
	return request == KVM_SET_USER_MEMORY_REGION || request == SET_REGION2 ||
	       request == KVM_SET_GUEST_DEBUG;
}

int vp_hook_ioctl(int fd, unsigned long request, ...)
{
	struct vp_hook_vcpu *v;
	va_list ap;

	va_start(ap, request);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	request = (unsigned int)request; /* the kernel uses 32 bits; some callers sign-extend them */
	if (ot_likely(request == KVM_RUN) && (v = vp_hook_vcpu_of(fd)))
		return vp_hook_run(v);
	if (request == UFFDIO_REGISTER && arg)
		return register_faults(fd, arg);
	if (_IOC_TYPE(request) != KVMIO || (!arg && reads_argument(request)))
		return vp_hook_syscall(fd, request, arg);
	if (request == KVM_SET_GUEST_DEBUG && (v = vp_hook_vcpu_of(fd)))
		return set_debug(v, &v->theirs, arg);
	if ((request == KVM_SET_SREGS || request == KVM_SET_SREGS2) && (v = vp_hook_vcpu_of(fd)))
		return set_sregs(v, request, arg);
	return vm_ioctl(fd, request, arg);
}
