/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kvm backend: its table of operations, creating and destroying it. */
#include "vmm-probe/backend/kvm/kvm.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/backend.h"

void *vp_kvm_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	const struct vp_kvm *kvm = backend;

	return vp_ram_at(kvm->ram, kvm->config.nram, gpa, ret_len);
}

static uint64_t wanted_regs(const struct vp_plan *plan, const struct vp_kvm_traps *traps)
{
	uint64_t sync = KVM_SYNC_X86_REGS;

	if (plan->profiling || plan->vm_events || plan->ncpcs || plan->nusers)
		return KVM_SYNC_X86_REGS | KVM_SYNC_X86_SREGS;
	for (uint32_t i = 0; i < plan->nsites; i++) {
		sync |= vp_kvm_sync_for(plan->sites[i].regs);
		if (vp_insn_uses_gs(&traps->list[i].insn))
			sync |= KVM_SYNC_X86_SREGS;
	}
	return sync;
}

/* The vCPUs are held. */
static struct ot_err *put_in_force(struct vp_kvm *kvm, struct vp_kvm_traps *from, struct vp_kvm_traps *to)
{
	OT_TRY(vp_kvm_debug_all(kvm, to));
	atomic_store(&kvm->valid_regs, to ? wanted_regs(to->plan, to) : 0);
	atomic_store(&kvm->vm_events, to ? to->plan->vm_events : 0);
	if (!to || !to->sentinels)
		vp_kvm_patching_reset(kvm);
	else if (!from || !from->sentinels)
		vp_kvm_settle_begin(kvm);
	vp_kvm_traps_exchange(kvm, from, to);
	atomic_store(&kvm->traps, to);
	if (to)
		vp_kvm_meters_start(to);
	return NULL;
}

/* Restore the previous state. */
static void put_back(struct vp_kvm *kvm, struct vp_kvm_traps *from, struct vp_kvm_traps *to)
{
	vp_kvm_hold(kvm);
	struct ot_err *err = put_in_force(kvm, from, to);
	ot_err_destroy(err); /* KVM accepted this state before, so it can't refuse it */
	vp_kvm_release(kvm);
}

static struct ot_err *install(void *backend, const struct vp_plan *plan)
{
	struct vp_kvm *kvm = backend;
	struct vp_kvm_traps *old = atomic_load(&kvm->traps), *new = NULL;

	if (plan)
		OT_TRY(vp_kvm_traps_create(kvm, plan, &new));
	vp_kvm_hold(kvm);
	struct ot_err *err = put_in_force(kvm, old, new);
	vp_kvm_release(kvm);
	if (!err && kvm->patching.settling) {
		err = vp_kvm_settle(kvm);
		if (err)
			put_back(kvm, new, old);
	}
	if (!err)
		vp_kvm_keys_settle(kvm);
	vp_kvm_traps_destroy(err ? new : old);
	return err;
}

static void request_sample(void *backend, uint32_t vcpu)
{
	struct vp_kvm *kvm = backend;

	atomic_store(&kvm->vcpus[vcpu].sample, 1);
	kvm->config.kick(kvm->config.arg, vcpu);
}

static bool paused(void *backend)
{
	const struct vp_kvm *kvm = backend;

	return kvm->config.paused && kvm->config.paused(kvm->config.arg);
}

static uint32_t nvcpus(void *backend)
{
	const struct vp_kvm *kvm = backend;

	return kvm->config.nvcpus;
}

static uint32_t trap_kinds(void *backend)
{
	const struct vp_kvm *kvm = backend;

	return vp_kvm_host_traps(&kvm->config.host);
}

/* As measured when the host was tried. A sample's kick costs its vCPU an exit too. A step's cost is known
 * when it has ended (step.c). */
static uint32_t hit_cost_ns(void *backend, const struct vp_site *site)
{
	const struct vp_kvm_host *h = &((const struct vp_kvm *)backend)->config.host;
	double ns = h->exit_cost.median;

	if (site && site->jump && !site->exit)
		return 0; /* some 25 ns of the guest's own time */
	if (site && site->trap == VP_SITE_HW)
		ns = h->hw_cost.median;
	else if (site && site->room < 2)
		ns = h->int3_cost.median;
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static uint32_t thread(void *backend, uint32_t vcpu)
{
	const struct vp_kvm_config *c = &((const struct vp_kvm *)backend)->config;

	return c->thread ? (uint32_t)c->thread(c->arg, vcpu) : 0;
}

static bool exclusive(void *backend, void (*fn)(void *arg), void *arg)
{
	struct vp_kvm *kvm = backend;

	vp_kvm_hold(kvm);
	fn(arg);
	vp_kvm_release(kvm);
	return true;
}

static const struct vp_backend_counters kvm_counters = {
	.slots = vp_kvm_counter_slots,
	.read = vp_kvm_counter_read,
	.cost_ns = vp_kvm_counter_cost_ns,
	.guest_can_raise = true, /* by its own writes to the ports */
};

static const struct vp_backend_traps kvm_traps = {
	.kinds = trap_kinds,
	.patches = vp_kvm_patches,
	.sweep = vp_kvm_sweep,
	.patching = vp_kvm_patching_read,
	.held_ns = vp_kvm_held_ns,
};

static const struct vp_backend_resident kvm_resident = {
	.open = vp_kvm_resident_open,
	.regs = vp_kvm_held_regs,
	.counter = vp_kvm_resident_counter,
};

static const struct vp_backend_vm kvm_vm = {
	.stats = vp_kvm_stats,
	.stat = vp_kvm_vm_stat,
};

static const struct vp_backend_cpc kvm_cpc = {
	.test = vp_kvm_cpc_test,
};

static const struct vp_backend_ops kvm_ops = {
	.name = "kvm",
	.reg = vp_kvm_reg,
	.gpa_to_host = vp_kvm_gpa_to_host,
	.install = install,
	.hit_cost_ns = hit_cost_ns,
	.request_sample = request_sample,
	.snapshot = vp_kvm_snapshot,
	.nvcpus = nvcpus,
	.thread = thread,
	.exclusive = exclusive,
	.has_modules = true,
	.has_processes = true,
	.paused = paused,
	.counters = &kvm_counters,
	.traps = &kvm_traps,
	.resident = &kvm_resident,
	.vm = &kvm_vm,
	.cpc = &kvm_cpc,
};

static struct ot_err *init(struct vp_kvm *kvm)
{
	const struct vp_kvm_config *c = &kvm->config;

	kvm->vcpus = aligned_alloc(64, c->nvcpus * sizeof(*kvm->vcpus));
	kvm->ram = calloc(c->nram + 1u, sizeof(*kvm->ram));
	if (!kvm->vcpus || !kvm->ram) {
		free(kvm->vcpus);
		kvm->vcpus = NULL; /* nothing in it yet */
		return ot_err_nomem();
	}
	for (uint32_t i = 0; i < c->nvcpus; i++)
		kvm->vcpus[i] = (struct vp_kvm_vcpu){ .fd = c->vcpus[i], .run = c->runs[i], .stats_fd = -1 };
	OT_TRY(vp_kvm_redo_create(&kvm->redo));
	memcpy(kvm->ram, c->ram, c->nram * sizeof(*kvm->ram));
	const struct vp_engine_config engine = {
		.ops = &kvm_ops,
		.backend = kvm,
		.guest_name = c->name,
		.ram = kvm->ram,
		.nram = c->nram,
		.ram_fds = c->ram_fds,
		.nram_fds = c->nram_fds,
	};
	return vp_engine_create(&engine, &kvm->engine);
}

struct ot_err *vp_kvm_create(const struct vp_kvm_config *config, struct vp_kvm **ret)
{
	pthread_condattr_t attr;
	struct vp_kvm *kvm;

	if (!config->host.out || !config->host.sync_regs)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this host's KVM has no %s: no probe can be planted",
				  config->host.out ? "synced registers" : "exit for each write to a port");
	kvm = calloc(1, sizeof(*kvm));
	if (!kvm)
		return ot_err_nomem();
	kvm->config = *config;
	kvm->resident = config->resident ? config->resident : &kvm->own;
	vp_kvm_counters_init(kvm);
	pthread_mutex_init(&kvm->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&kvm->changed, &attr);
	pthread_condattr_destroy(&attr);
	struct ot_err *err = init(kvm);
	if (err) {
		vp_kvm_destroy(kvm);
		return err;
	}
	*ret = kvm;
	return NULL;
}

void vp_kvm_stop(struct vp_kvm *kvm)
{
	vp_engine_destroy(kvm->engine);
	kvm->engine = NULL;
}

void vp_kvm_destroy(struct vp_kvm *kvm)
{
	if (!kvm)
		return;
	vp_kvm_stop(kvm);
	vp_kvm_traps_destroy(atomic_load(&kvm->traps));
	vp_kvm_resident_deinit(kvm);
	vp_kvm_counters_deinit(kvm);
	vp_kvm_stats_deinit(kvm);
	pthread_cond_destroy(&kvm->changed);
	pthread_mutex_destroy(&kvm->lock);
	vp_kvm_redo_destroy(kvm->redo);
	free(kvm->vcpus);
	free(kvm->ram);
	free(kvm);
}

struct vp_engine *vp_kvm_engine(struct vp_kvm *kvm)
{
	return kvm->engine;
}
