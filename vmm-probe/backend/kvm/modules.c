/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU that loads or unloads a module of the guest stays out until the event has been handled. */
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/wire/protocol.h"

#define PAUSE_NS 200000l

void vp_kvm_at_module(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t module)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t end = ot_now_ns() + VP_MODULES_HOLD_NS;
	uint64_t number = vp_engine_module(kvm->engine, kind, module);

	atomic_store(&kvm->vcpus[vcpu].running, 0);
	while (!vp_engine_module_done(kvm->engine, number) && ot_now_ns() < end)
		nanosleep(&pause, NULL);
	vp_kvm_come_in(kvm, vcpu);
}
