/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handling a vCPU's exits, on the vCPU's thread. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm-probe/monitor/internal.h"

#define I8042_COMMAND 0x64u
#define I8042_RESET   0xfeu
#define RESET_CONTROL 0xcf9u
#define CMOS_INDEX    0x70u
#define CMOS_DATA     0x71u
#define SLP_EN        (1u << 13)
#define SCI_EN        1u

static uint32_t port_read(struct vp_mon *mon, uint16_t port)
{
	if (port >= VP_MON_COM1 && port < VP_MON_COM1 + 8)
		return vp_mon_serial_read(&mon->serial, port - VP_MON_COM1);
	if (port == VP_MON_PM_EVENT)
		return 0; /* no event is ever pending */
	if (port == VP_MON_PM_EVENT + 2)
		return mon->pm_enabled; /* kernels read back their writes */
	if (port == VP_MON_PM_CONTROL)
		return SCI_EN;
	/* "No update in progress": kernels wait for that even if ACPI declares that there is no clock. */
	if (port == CMOS_INDEX || port == CMOS_DATA)
		return 0;
	return ~0u;
}

static void port_write(struct vp_mon *mon, uint16_t port, uint32_t value)
{
	if (port >= VP_MON_COM1 && port < VP_MON_COM1 + 8)
		vp_mon_serial_write(&mon->serial, port - VP_MON_COM1, (uint8_t)value);
	else if (port == VP_MON_PM_EVENT + 2)
		mon->pm_enabled = (uint16_t)value;
	else if (port == VP_MON_PM_CONTROL && value & SLP_EN)
		vp_mon_end(mon, VP_MON_POWERED_OFF);
	else if ((port == I8042_COMMAND && (uint8_t)value == I8042_RESET) ||
		 (port == RESET_CONTROL && value & 4))
		vp_mon_end(mon, VP_MON_RESET);
}

static void handle_io(struct vp_mon *mon, struct kvm_run *run)
{
	uint8_t *data = (uint8_t *)run + run->io.data_offset;

	for (uint32_t i = 0; i < run->io.count; i++, data += run->io.size) {
		uint32_t v = 0;
		if (run->io.direction == KVM_EXIT_IO_OUT) {
			memcpy(&v, data, run->io.size);
			port_write(mon, run->io.port, v);
		} else {
			v = port_read(mon, run->io.port);
			memcpy(data, &v, run->io.size);
		}
	}
}

static struct ot_err *failed(const struct vp_mon *mon, uint32_t vcpu, const char *what, uint64_t number)
{
	const struct vp_mon_vcpu *v = &mon->vcpus[vcpu];
	struct kvm_regs regs = { 0 };

	if (ioctl(v->fd, KVM_GET_REGS, &regs))
		regs.rip = 0;
	return ot_err_new(OT_ERR_GUEST_GONE, "vCPU %u at 0x%llx: %s 0x%llx", vcpu,
			  (unsigned long long)regs.rip, what, (unsigned long long)number);
}

static struct ot_err *handle_internal_error(struct vp_mon *mon, uint32_t vcpu)
{
	struct kvm_run *run = mon->vcpus[vcpu].run;

	if (run->internal.suberror != KVM_INTERNAL_ERROR_EMULATION)
		return failed(mon, vcpu, "KVM internal error, suberror", run->internal.suberror);
	if (vp_mon_do_refused(mon, vcpu))
		return NULL;
	uint64_t bytes = 0;
	if (run->emulation_failure.flags & KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES)
		for (unsigned i = 0; i < 8; i++)
			bytes = bytes << 8 | run->emulation_failure.insn_bytes[i];
	return failed(mon, vcpu, "this KVM can't emulate the instruction", bytes);
}

struct ot_err *vp_mon_handle_exit(struct vp_mon *mon, uint32_t vcpu)
{
	struct kvm_run *run = mon->vcpus[vcpu].run;

	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		handle_io(mon, run);
		return NULL;
	case KVM_EXIT_MMIO: /* no device */
		if (!run->mmio.is_write)
			memset(run->mmio.data, 0xff, sizeof(run->mmio.data));
		return NULL;
	case KVM_EXIT_INTR:
	case KVM_EXIT_HLT: /* unexpected with the in-kernel irqchip; harmless */
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		return NULL;
	case KVM_EXIT_SHUTDOWN:
		vp_mon_end(mon, VP_MON_TRIPLE_FAULT);
		return NULL;
	case KVM_EXIT_SYSTEM_EVENT:
		vp_mon_end(mon, run->system_event.type == KVM_SYSTEM_EVENT_SHUTDOWN ? VP_MON_POWERED_OFF
										    : VP_MON_RESET);
		return NULL;
	case KVM_EXIT_INTERNAL_ERROR:
		return handle_internal_error(mon, vcpu);
	case KVM_EXIT_FAIL_ENTRY:
		return failed(mon, vcpu, "the CPU refused to enter the guest, reason",
			      run->fail_entry.hardware_entry_failure_reason);
	default:
		return failed(mon, vcpu, "unknown exit reason", run->exit_reason);
	}
}
