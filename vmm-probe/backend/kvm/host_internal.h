/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of what this host's KVM can do, shared by the files that make them (host*.c). */
#ifndef VP_KVM_HOST_INTERNAL_H
#define VP_KVM_HOST_INTERNAL_H

#include "vmm-probe/backend/kvm/host.h"
#include "vmm-probe/backend/kvm/tiny_vm.h"

#define VP_TRY_PORT 0x99u /* nothing of a tiny VM uses it otherwise */

/* `3e 3e 3e e6 PORT`: an `out` of five bytes, as it is planted on a fentry nop. */
#define VP_TRY_OUT 0x3e, 0x3e, 0x3e, 0xe6, VP_TRY_PORT

/* Is the last exit that of an int3 at VP_TINY_CODE, and of which kind? */
enum vp_kvm_int3 vp_kvm_int3_of_exit(const struct vp_tiny_vm *vm);

/** vp_tiny_vm_run() and vp_tiny_vm_debug(), which a KVM may get wrong in any way: every error means "no". */
bool vp_kvm_try_run(struct vp_tiny_vm *vm);
bool vp_kvm_try_debug(struct vp_tiny_vm *vm, uint32_t control, uint64_t dr0);

/** Find `user`; `hw_user`. The VM is not used otherwise. */
OT_MUST_CHECK struct ot_err *vp_kvm_try_user(struct vp_tiny_vm *vm, struct vp_kvm_host *host);
OT_MUST_CHECK struct ot_err *vp_kvm_try_hw_user(struct vp_tiny_vm *vm, struct vp_kvm_host *host);
/** Find `hw_misses`, with @p host->hw. */
OT_MUST_CHECK struct ot_err *vp_kvm_try_hw_irq(struct vp_tiny_vm *vm, struct vp_kvm_host *host);

/** Bind VP_TRY_PORT to an eventfd of its own, or (@p bind false) free it again. */
OT_MUST_CHECK struct ot_err *vp_kvm_try_bind(struct vp_tiny_vm *vm, int fd, bool bind);

/** Measure the features that @p host has. @p quick: hits only, once each. */
OT_MUST_CHECK struct ot_err *vp_kvm_host_measure(struct vp_tiny_vm *vm, struct vp_kvm_host *host, bool quick);

#endif
