/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm: events that only the host sees. vm::REASON:exit and vm:::entry around each run of a vCPU, vm::pio and
 * vm::mmio for the VMM's emulation that follows, vm::NAME:stat for KVM's own statistics. The reasons are
 * those of KVM's API (KVM_EXIT_*, api.rst); `probe` is an exit caused by a hit of a probe of ours.
 */
#include <linux/kvm.h>
#include <string.h>

#include "base/units.h"
#include "vmm-probe/provider/providers.h"

static const struct {
	const char *name;
	uint32_t reason;
} reasons[] = {
	{ "unknown", KVM_EXIT_UNKNOWN },
	{ "exception", KVM_EXIT_EXCEPTION },
	{ "io", KVM_EXIT_IO },
	{ "hypercall", KVM_EXIT_HYPERCALL },
	{ "debug", KVM_EXIT_DEBUG },
	{ "hlt", KVM_EXIT_HLT },
	{ "mmio", KVM_EXIT_MMIO },
	{ "irq-window-open", KVM_EXIT_IRQ_WINDOW_OPEN },
	{ "shutdown", KVM_EXIT_SHUTDOWN },
	{ "fail-entry", KVM_EXIT_FAIL_ENTRY },
	{ "intr", KVM_EXIT_INTR },
	{ "set-tpr", KVM_EXIT_SET_TPR },
	{ "tpr-access", KVM_EXIT_TPR_ACCESS },
	{ "nmi", KVM_EXIT_NMI },
	{ "internal-error", KVM_EXIT_INTERNAL_ERROR },
	{ "system-event", KVM_EXIT_SYSTEM_EVENT },
	{ "ioapic-eoi", KVM_EXIT_IOAPIC_EOI },
	{ "hyperv", KVM_EXIT_HYPERV },
	{ "rdmsr", KVM_EXIT_X86_RDMSR },
	{ "wrmsr", KVM_EXIT_X86_WRMSR },
	{ "dirty-ring-full", KVM_EXIT_DIRTY_RING_FULL },
	{ "ap-reset-hold", KVM_EXIT_AP_RESET_HOLD },
	{ "bus-lock", KVM_EXIT_X86_BUS_LOCK },
	{ "probe", VP_VM_HIT },
};

static const struct {
	const char *function, *name;
	enum vp_vm_kind kind;
} others[] = {
	{ "", "entry", VP_VM_ENTRY },   { "pio", "in", VP_VM_IN },        { "pio", "out", VP_VM_OUT },
	{ "mmio", "read", VP_VM_READ }, { "mmio", "write", VP_VM_WRITE },
};

/* A probe's own is its VP_VM_EVENT(). */
static struct ot_err *add(struct vp_probes *probes, const char *function, const char *name, uint32_t event,
			  const char *refused)
{
	uint32_t *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_VM,
		.args = VP_ARGS_NONE,
		.module = "",
		.function = function,
		.name = name,
		.own = own,
		.refused = refused,
	};

	if (!own)
		return ot_err_nomem();
	*own = event;
	return vp_probes_add(probes, &vp_provider_vm, &probe);
}

static bool is_word(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
}

struct ot_err *vp_probes_add_vm(struct vp_probes *probes, char (*stats)[VP_VM_STAT_NAME], uint32_t n,
				const char *refused)
{
	refused = refused ? vp_probes_strdup(probes, refused) : NULL;
	for (size_t i = 0; i < OT_ARRAY_SIZE(reasons); i++)
		OT_TRY(add(probes, reasons[i].name, "exit", VP_VM_EVENT(VP_VM_EXIT, reasons[i].reason),
			   refused));
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++)
		OT_TRY(
		    add(probes, others[i].function, others[i].name, VP_VM_EVENT(others[i].kind, 0), refused));
	for (uint32_t i = 0; i < n; i++) {
		if (!is_word(stats[i]))
			continue;
		const char *name = vp_probes_strdup(probes, stats[i]);
		if (!name)
			return ot_err_nomem();
		OT_TRY(add(probes, name, "stat", VP_VM_EVENT(VP_VM_STAT, i), refused));
	}
	return NULL;
}

/* vp_probes_add_vm() publishes them, once an engine is known. */
static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	(void)probes;
	(void)self;
	return NULL;
}

static void fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	const uint32_t *own = probe->own;

	bp->event = *own;
	bp->interval_ns = *own >> 16 == VP_VM_STAT ? OT_NS_PER_SEC : 0;
}

const struct vp_provider vp_provider_vm = {
	.name = "vm",
	.needs_guest = true,
	.publish = publish,
	.fill = fill,
};
