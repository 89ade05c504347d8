/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fake backend's vCPUs, plans and counters. */
#include "vmm-probe/backend/fake/fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "vmm-probe/backend/fake/internal.h"

/* --- the ops table ----------------------------------------------------------------------------- */

static uint64_t fake_reg(void *backend, void *ctx, enum vp_reg reg)
{
	(void)backend;
	return ((const struct vp_fake_vcpu *)ctx)->regs.v[reg];
}

static void *fake_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	struct vp_fake *fake = backend;

	if (gpa >= fake->config.ram_size)
		return NULL;
	*ret_len = fake->config.ram_size - gpa;
	return fake->ram + gpa;
}

static struct ot_err *fake_install(void *backend, const struct vp_plan *plan)
{
	struct vp_fake *fake = backend;

	if (__atomic_load_n(&fake->busy, __ATOMIC_RELAXED))
		return ot_err_new(OT_ERR_BUSY, "the guest is paused");
	if (fake->fail_install && --fake->fail_install == 0)
		return ot_err_new(OT_ERR_OS, "injected failure");
	pthread_rwlock_wrlock(&fake->lock);
	fake->plan = plan;
	pthread_rwlock_unlock(&fake->lock);
	return NULL;
}

static bool fake_exclusive(void *backend, void (*fn)(void *arg), void *arg)
{
	struct vp_fake *fake = backend;

	if (__atomic_load_n(&fake->unstoppable, __ATOMIC_RELAXED))
		return false;
	pthread_rwlock_wrlock(&fake->lock);
	fn(arg);
	pthread_rwlock_unlock(&fake->lock);
	return true;
}

static uint32_t fake_counter_slots(void *backend)
{
	return ((struct vp_fake *)backend)->config.counter_slots;
}

static uint64_t fake_counter_read(void *backend, uint32_t slot, uint32_t vcpu)
{
	struct vp_fake *fake = backend;

	return __atomic_load_n(&fake->vcpus[vcpu].counters[slot], __ATOMIC_RELAXED);
}

static uint64_t fake_counter_cost_ns(void *backend, uint32_t slot)
{
	struct vp_fake *fake = backend;
	uint64_t counted = 0;

	for (uint32_t i = 0; i < fake->config.nvcpus; i++)
		counted += fake_counter_read(backend, slot, i);
	return counted * fake->config.counter_cost_ns;
}

static uint32_t fake_hit_cost_ns(void *backend, const struct vp_site *site)
{
	(void)site;
	return ((struct vp_fake *)backend)->config.hit_cost_ns;
}

static void fake_request_sample(void *backend, uint32_t vcpu)
{
	struct vp_fake *fake = backend;

	__atomic_store_n(&fake->vcpus[vcpu].sample_wanted, 1, __ATOMIC_RELEASE);
}

static uint32_t fake_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	struct vp_fake *fake = backend;
	uint32_t n = fake->config.nvcpus < max ? fake->config.nvcpus : max;

	for (uint32_t i = 0; i < n; i++)
		regs[i] = fake->vcpus[i].regs;
	return n;
}

static uint32_t fake_nvcpus(void *backend)
{
	return ((struct vp_fake *)backend)->config.nvcpus;
}

static uint32_t fake_vm_stats(void *backend, char (*names)[VP_VM_STAT_NAME], uint32_t max)
{
	(void)backend;
	if (max)
		strncpy(names[0], "ticks", VP_VM_STAT_NAME - 1);
	return max ? 1 : 0;
}

static uint64_t fake_vm_stat(void *backend, uint32_t vcpu, uint32_t index)
{
	const struct vp_fake *fake = backend;

	return index ? 0 : __atomic_load_n(&fake->vcpus[vcpu].ticks, __ATOMIC_RELAXED);
}

static const struct vp_backend_counters fake_counters = {
	.slots = fake_counter_slots,
	.read = fake_counter_read,
	.cost_ns = fake_counter_cost_ns,
	.guest_can_raise = true,
};

static const struct vp_backend_vm fake_vm = {
	.stats = fake_vm_stats,
	.stat = fake_vm_stat,
};

static struct ot_err *fake_cpc_test(void *backend, const struct vp_cpc_event *event)
{
	(void)backend;
	return event->type != PERF_TYPE_HW_CACHE
		   ? NULL
		   : ot_err_new(OT_ERR_UNSUPPORTED, "the fake has no cache whose misses it could count");
}

static const struct vp_backend_cpc fake_cpc = {
	.test = fake_cpc_test,
};

static struct ot_err *fake_resident_open(void *backend, const struct vp_resident_kernel *kernel,
					 struct vp_resident_room *ret)
{
	const struct vp_fake *fake = backend;

	(void)kernel;
	if (!fake->config.room)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the fake has no room for them");
	*ret = *fake->config.room;
	return NULL;
}

static uint32_t fake_resident_regs(void *backend, struct vp_regs *regs, uint32_t max)
{
	return fake_snapshot(backend, regs, max);
}

static bool fake_resident_counter(void *backend, uint32_t vcpu, uint64_t *ret)
{
	(void)backend;
	*ret = vp_fake_counter(vcpu, ot_now_ns());
	return true;
}

static const struct vp_backend_resident fake_resident = {
	.open = fake_resident_open,
	.regs = fake_resident_regs,
	.counter = fake_resident_counter,
};

static const struct vp_backend_ops fake_ops = {
	.name = "fake",
	.reg = fake_reg,
	.gpa_to_host = fake_gpa_to_host,
	.install = fake_install,
	.hit_cost_ns = fake_hit_cost_ns,
	.has_processes = true,
	.exclusive = fake_exclusive,
	.request_sample = fake_request_sample,
	.snapshot = fake_snapshot,
	.nvcpus = fake_nvcpus,
	.counters = &fake_counters,
	.resident = &fake_resident,
	.vm = &fake_vm,
	.cpc = &fake_cpc,
};

/* --- life ---------------------------------------------------------------------------------------- */

static struct ot_err *init(struct vp_fake *fake)
{
	const struct vp_fake_config *c = &fake->config;
	struct vp_engine_config config = {
		.ops = &fake->ops,
		.backend = fake,
		.guest_name = "fake",
		.guest_id = 7,
	};

	/* mmap: untouched pages cost nothing. */
	void *ram = mmap(NULL, c->ram_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ram == MAP_FAILED)
		return ot_err_nomem();
	fake->ram = ram;
	fake->vcpus = calloc(c->nvcpus, sizeof(*fake->vcpus));
	if (!fake->vcpus)
		return ot_err_nomem();
	for (uint32_t i = 0; i < c->nvcpus; i++) {
		fake->vcpus[i].counters = calloc(c->counter_slots + 1u, sizeof(uint64_t));
		if (!fake->vcpus[i].counters)
			return ot_err_nomem();
	}
	return vp_engine_create(&config, &fake->engine);
}

struct ot_err *vp_fake_create(const struct vp_fake_config *config, struct vp_fake **ret)
{
	struct vp_fake *fake = calloc(1, sizeof(*fake));

	if (!fake)
		return ot_err_nomem();
	fake->config = *config;
	fake->ops = fake_ops;
	if (!config->can_profile) {
		fake->ops.request_sample = NULL;
		fake->ops.vm = NULL;
	}
	if (!config->can_count)
		fake->ops.cpc = NULL;
	fake->next_page = VP_FAKE_PAGE; /* guest physical 0 is not allocated */
	pthread_rwlockattr_t attr;
	pthread_rwlockattr_init(&attr);
	/* vCPUs that hit without pause must not keep install() out. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&fake->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	struct ot_err *err = init(fake);
	if (err) {
		vp_fake_destroy(fake);
		return err;
	}
	*ret = fake;
	return NULL;
}

void vp_fake_destroy_engine(struct vp_fake *fake)
{
	vp_engine_destroy(fake->engine);
	fake->engine = NULL;
}

void vp_fake_destroy(struct vp_fake *fake)
{
	if (!fake)
		return;
	vp_fake_destroy_engine(fake);
	for (uint32_t i = 0; fake->vcpus && i < fake->config.nvcpus; i++)
		free(fake->vcpus[i].counters);
	free(fake->vcpus);
	if (fake->ram)
		munmap(fake->ram, fake->config.ram_size);
	pthread_rwlock_destroy(&fake->lock);
	free(fake);
}

void vp_fake_set_layouts(struct vp_fake *fake, const struct vp_backend_ram *layouts)
{
	fake->ops.ram = layouts;
}

struct vp_engine *vp_fake_engine(struct vp_fake *fake)
{
	return fake->engine;
}

/* --- running ---------------------------------------------------------------------------------------- */

void vp_fake_set_reg(struct vp_fake *fake, uint32_t vcpu, enum vp_reg reg, uint64_t value)
{
	fake->vcpus[vcpu].regs.v[reg] = value;
	fake->vcpus[vcpu].regs.valid |= VP_REG_BIT(reg);
}

const struct vp_site *vp_fake_site(struct vp_fake *fake, uint64_t gva)
{
	for (uint32_t i = 0; fake->plan && i < fake->plan->nsites + fake->plan->nusers; i++)
		if (fake->plan->sites[i].gva == gva)
			return &fake->plan->sites[i];
	return NULL;
}

void *vp_fake_ctx(struct vp_fake *fake, uint32_t vcpu)
{
	return &fake->vcpus[vcpu];
}

static void count(struct vp_fake_vcpu *vcpu, const struct vp_site *site)
{
	for (uint32_t i = 0; i < site->ncounters; i++)
		__atomic_add_fetch(&vcpu->counters[site->counters[i]], 1, __ATOMIC_RELAXED);
}

bool vp_fake_hit(struct vp_fake *fake, uint32_t vcpu, uint64_t gva)
{
	pthread_rwlock_rdlock(&fake->lock);
	const struct vp_site *site = vp_fake_site(fake, gva);
	if (site) {
		count(&fake->vcpus[vcpu], site);
		if (site->necbs || site->agent || site->sentinel)
			vp_engine_hit(fake->engine, vcpu, site, &fake->vcpus[vcpu]);
	}
	pthread_rwlock_unlock(&fake->lock);
	return site != NULL;
}

void vp_fake_set_ticks(struct vp_fake *fake, uint32_t vcpu, uint64_t value)
{
	__atomic_store_n(&fake->vcpus[vcpu].ticks, value, __ATOMIC_RELAXED);
}

bool vp_fake_overflow(struct vp_fake *fake, uint32_t vcpu, uint32_t i, uint64_t missed)
{
	pthread_rwlock_rdlock(&fake->lock);
	bool is = fake->plan && i < fake->plan->ncpcs;
	if (is)
		vp_engine_overflow(fake->engine, vcpu, &fake->plan->cpcs[i], missed, &fake->vcpus[vcpu]);
	pthread_rwlock_unlock(&fake->lock);
	return is;
}

uint32_t vp_fake_vm_events(struct vp_fake *fake)
{
	pthread_rwlock_rdlock(&fake->lock);
	uint32_t events = fake->plan ? fake->plan->vm_events : 0;
	pthread_rwlock_unlock(&fake->lock);
	return events;
}

bool vp_fake_sample(struct vp_fake *fake, uint32_t vcpu)
{
	if (!__atomic_exchange_n(&fake->vcpus[vcpu].sample_wanted, 0, __ATOMIC_ACQ_REL))
		return false;
	vp_engine_sample(fake->engine, vcpu, &fake->vcpus[vcpu]);
	return true;
}

/* --- injection ----------------------------------------------------------------------------------------- */

void vp_fake_set_busy(struct vp_fake *fake, bool busy)
{
	__atomic_store_n(&fake->busy, busy, __ATOMIC_RELAXED);
}

void vp_fake_set_unstoppable(struct vp_fake *fake, bool unstoppable)
{
	__atomic_store_n(&fake->unstoppable, unstoppable, __ATOMIC_RELAXED);
}

void vp_fake_fail_install(struct vp_fake *fake, unsigned n)
{
	fake->fail_install = n;
}

uint32_t vp_fake_sites(struct vp_fake *fake)
{
	pthread_rwlock_rdlock(&fake->lock);
	uint32_t n = fake->plan ? fake->plan->nsites : 0;
	pthread_rwlock_unlock(&fake->lock);
	return n;
}
