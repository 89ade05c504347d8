/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's lifetime in the VMM. It is created for a fixed machine, and destroyed, with all traps removed,
 * before that machine changes: an added vCPU, changed RAM, dirty logging (for migration or savevm). When the
 * machine is stable again the service thread creates another.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/guarded.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hook/internal.h"
#include "vmm-probe/machines/qemu_machine.h"
#include "vmm-probe/machines/ram_ranges.h"

#define TRIES      10u
#define BETWEEN_NS 3000000l
#define SAVED_WITH_TASK                                                                                     \
	"outsight: a task of the guest may be in code of its resident probes: a copy of the guest that is " \
	"saved now may crash when it is loaded\n"

static void kick(void *arg, uint32_t vcpu)
{
	(void)arg;
	vp_hook_kick(vp_hook.vcpus[vcpu]);
}

static pid_t thread(void *arg, uint32_t vcpu)
{
	(void)arg;
	return atomic_load(&vp_hook.vcpus[vcpu]->tid);
}

static bool vmm_debugs(void *arg, uint32_t vcpu)
{
	(void)arg;
	return atomic_load(&vp_hook.vcpus[vcpu]->vmm_debugs);
}

static bool paused(void *arg)
{
	(void)arg;
	return vp_hook_paused();
}

/* --- the machine's state ----------------------------------------------------------------------------- */

static bool any_logged(void)
{
	for (uint32_t i = 0; i < vp_hook.nslots; i++) {
		const struct vp_hook_slot *s = &vp_hook.slots[i];
		/* A display's memory is always logged; only ranges that the engine used are RAM. */
		for (uint32_t k = 0; s->flags & KVM_MEM_LOG_DIRTY_PAGES && k < vp_hook.nram; k++)
			if (vp_hook.ram[k].gpa < s->gpa + s->size &&
			    s->gpa < vp_hook.ram[k].gpa + vp_hook.ram[k].size)
				return true;
	}
	return false;
}

static bool is_write_protected(void)
{
	char path[32], is[32] = "";

	if (vp_hook.faults < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", vp_hook.faults);
	if (readlink(path, is, sizeof(is) - 1) > 0 && !strcmp(is, "anon_inode:[userfaultfd]"))
		return true;
	vp_hook.faults = -1;
	return false;
}

bool vp_hook_changed(void)
{
	return !vp_ram_same(vp_hook.now, vp_hook_ram(vp_hook.now), vp_hook.ram, vp_hook.nram);
}

static struct ot_err *check_machine(void)
{
	if (vp_hook.vm < 0 || !vp_hook.nvcpus)
		return ot_err_new(OT_ERR_BUSY, "the VMM has created no vCPU yet");
	if (vp_hook.confidential)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's memory is encrypted");
	if (vp_hook.slots_lost)
		return ot_err_new(OT_ERR_LIMIT, "the VMM has more than %u memory slots", VP_HOOK_SLOTS_MAX);
	if (any_logged() || is_write_protected())
		return ot_err_new(OT_ERR_BUSY, "the guest is being migrated or saved");
	if (!vp_hook_ram(vp_hook.now))
		return ot_err_new(OT_ERR_BUSY, "the guest has no memory yet");
	return NULL;
}

/* --- the host ---------------------------------------------------------------------------------------- */

/* The probe's timer signal must reach this thread, which blocks all others. */
struct ot_err *vp_hook_probe_host(void)
{
	struct sigaction old;
	sigset_t timer;

	if (vp_hook.probed)
		return NULL;
	if (vp_hook.kvm < 0)
		return ot_err_new(OT_ERR_BUSY, "the VMM has no VM yet");
	sigemptyset(&timer);
	sigaddset(&timer, SIGRTMAX - 1);
	if (sigaction(SIGRTMAX - 1, NULL, &old) || old.sa_handler != SIG_DFL)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the VMM uses signal %d", SIGRTMAX - 1);
	pthread_sigmask(SIG_UNBLOCK, &timer, NULL);
	struct ot_err *err = vp_kvm_host_try(vp_hook.kvm, &vp_hook.host);
	pthread_sigmask(SIG_BLOCK, &timer, NULL);
	sigaction(SIGRTMAX - 1, &old, NULL);
	vp_hook.probed = !err;
	return err;
}

/* --- lifetime ---------------------------------------------------------------------------------------- */

static void close_files(void)
{
	for (uint32_t i = 0; i < vp_hook.nram_fds; i++)
		close(vp_hook.ram_fds[i]);
	vp_hook.nram_fds = 0;
}

static void read_ram(void)
{
	close_files();
	vp_hook.nram = vp_hook_ram(vp_hook.ram);
	vp_hook.nram_fds = vp_ram_files(vp_hook.ram, vp_hook.nram, vp_hook.ram_fds, VP_HOOK_RAM_FDS_MAX);
}

static struct ot_err *create(struct vp_kvm **ret)
{
	struct vp_qemu_machine machine;
	struct kvm_run *runs[VP_HOOK_VCPUS_MAX];
	int fds[VP_HOOK_VCPUS_MAX];

	vp_qemu_machine_read(&machine);
	if (!*machine.name)
		snprintf(machine.name, sizeof(machine.name), "qemu-%d", (int)getpid());
	for (uint32_t i = 0; i < vp_hook.nvcpus; i++) {
		vp_hook.vcpus[i]->index = i;
		fds[i] = vp_hook.vcpus[i]->fd;
		runs[i] = vp_hook.vcpus[i]->run;
	}
	const struct vp_kvm_config config = {
		.name = machine.name,
		.host = vp_hook.host,
		.vm = vp_hook.vm,
		.nvcpus = vp_hook.nvcpus,
		.vcpus = fds,
		.runs = runs,
		.ram = vp_hook.ram,
		.nram = vp_hook.nram,
		.ram_fds = vp_hook.ram_fds,
		.nram_fds = vp_hook.nram_fds,
		.kick = kick,
		.thread = thread,
		.kick_signal = vp_hook.kick_signal,
		.vmm_debugs = vmm_debugs,
		.paused = paused,
		.resident = &vp_hook.resident,
		.place = vp_hook_place,
	};
	return vp_kvm_create(&config, ret);
}

static struct ot_err *serve(struct vp_kvm *kvm)
{
	char path[108];

	if (vp_hook.listen_fd >= 0)
		return vp_engine_serve_fd(vp_kvm_engine(kvm), vp_hook.listen_fd);
	OT_TRY(vp_socket_dir_make(path, sizeof(path)));
	OT_TRY(vp_socket_path(getpid(), path, sizeof(path)));
	return vp_engine_serve(vp_kvm_engine(kvm), path);
}

struct ot_err *vp_hook_trace(void)
{
	struct vp_kvm *kvm;

	if (atomic_load(&vp_hook.engine))
		return NULL;
	OT_TRY(check_machine());
	read_ram();
	OT_TRY(create(&kvm));
	/* Serve only when no vCPU is in the guest without the engine: a session may plant traps at once. */
	atomic_store(&vp_hook.engine, kvm);
	vp_hook_await_engine();
	struct ot_err *err = serve(kvm);
	if (err)
		vp_hook_untrace(VP_GUEST_CHANGED);
	return err;
}

/* A reset, and a load of a state, begin with other memory: the registers with which the vCPU runs next show
 * them. Noted before the gate closes: a vCPU that waits there has passed the check. */
static void changed(void)
{
	uint32_t nothing = 0;

	if (vp_hook.nvcpus)
		atomic_compare_exchange_strong(&vp_hook.vcpus[0]->state, &nothing, VP_HOOK_STATE_CHANGED);
}

/* False: a task of the guest may be in a trampoline. In a guest that runs it leaves that soon. */
static bool try_to_withdraw(struct vp_kvm *kvm)
{
	const struct timespec between = { .tv_nsec = BETWEEN_NS };

	for (unsigned i = 1; !vp_kvm_withdraw(kvm); i++) {
		if (i == TRIES || vp_hook_paused())
			return false;
		vp_hook_open_gate();
		nanosleep(&between, NULL);
		vp_hook_close_gate();
	}
	return true;
}

/* The jumps are out, and the gate is closed. */
static void withdraw(struct vp_kvm *kvm, enum vp_guest_end why)
{
	if (why == VP_GUEST_RESET || why == VP_GUEST_LOADED)
		vp_kvm_resident_free(&vp_hook.resident); /* its kernel is gone, with all tasks */
	if (why != VP_GUEST_STOPPED && !try_to_withdraw(kvm) && why == VP_GUEST_SAVED)
		fputs(SAVED_WITH_TASK, stderr);
}

void vp_hook_untrace(enum vp_guest_end why)
{
	struct vp_kvm *kvm = atomic_load(&vp_hook.engine);

	if (!kvm)
		return;
	if (why == VP_GUEST_CHANGED)
		changed();
	vp_hook_close_gate();
	atomic_store(&vp_hook.engine, NULL);
	vp_engine_guest_ended(vp_kvm_engine(kvm), why);
	vp_kvm_stop(kvm);
	/* The engine requested registers at each exit; a VMM leaves this 0. */
	for (uint32_t i = 0; i < vp_hook.nvcpus; i++)
		vp_hook.vcpus[i]->run->kvm_valid_regs = 0;
	withdraw(kvm, why);
	vp_kvm_destroy(kvm);
	vp_hook_open_gate();
	vp_hook_wake();
}

void vp_hook_kernel_ended(enum vp_guest_end how)
{
	struct vp_kvm *kvm = atomic_load(&vp_hook.engine);

	if (!kvm)
		vp_kvm_resident_free(&vp_hook.resident); /* left by an earlier engine */
	else if (vp_hook.resident.mem)
		vp_hook_untrace(how);
	else
		vp_engine_guest_ended(vp_kvm_engine(kvm), how);
}

/* KVM would refuse the VMM, which may end for that; so the memory goes, whoever is there, and with it the
 * entries that lead there, which an engine that has ended may have left. It is at no place of the machine's
 * own: a guest that puts a device there has chosen it. */
void vp_hook_give_place(void)
{
	vp_hook_untrace(VP_GUEST_CHANGED);
	if (!vp_hook.resident.mem)
		return;
	ot_guarded_on(); /* as an engine has it */
	vp_kvm_resident_unmap(&vp_hook.resident, vp_hook.now, vp_hook_ram(vp_hook.now));
	ot_guarded_off();
	vp_kvm_resident_free(&vp_hook.resident);
}
