/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes that fire at an event of a vCPU (VP_VM_EVENT()). service/vm.c builds the table. */
#ifndef VP_ENGINE_HIT_VM_EVENT_H
#define VP_ENGINE_HIT_VM_EVENT_H

#include "vmm-probe/engine/hit/hit_session.h"

struct vp_vm_entry {
	uint32_t event;
	struct vp_engine_session *es;
	const struct vp_enabled_probe *probe;
};

/* Sorted by event. Rebuilt at each change, immutable while in force. */
struct vp_vm_table {
	uint32_t n;
	struct vp_vm_entry entries[];
};

#endif
