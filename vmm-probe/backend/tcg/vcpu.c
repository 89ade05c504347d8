/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of vCPUs. QEMU lets a thread read those of its own vCPU only, so the registers that
 * another thread may need of a halted vCPU are saved when it halts. One word, `where`, changed by
 * compare-and-swap, grants the vCPU's registers to its own thread or to the timer's.
 */
#include "base/clock.h"
#include "vmm-probe/backend/tcg/cpu_state.h"
#include "vmm-probe/backend/tcg/tcg.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SNAPSHOT_NS 200000000u
#define PAUSE_NS    500000l
/* A vCPU in 32-bit code is not read: the API then returns half of its registers. */
#define TRIALS_MAX  100

enum { SNAPSHOT_NONE, SNAPSHOT_WANTED, SNAPSHOT_WRITING };

static void find_handles(struct vp_tcg_vcpu *v)
{
	struct vp_garray *regs = qemu_plugin_get_registers();
	unsigned int step;

	if (!regs)
		return;
	step = g_array_get_element_size(regs);
	for (unsigned int i = 0; step >= sizeof(struct qemu_plugin_reg_descriptor) && i < regs->len; i++) {
		struct qemu_plugin_reg_descriptor d;
		memcpy(&d, regs->data + (size_t)i * step, sizeof(d));
		for (unsigned int r = 0; r < VP_NREGS; r++) {
			if (vp_reg_names[r] && !v->handles[r] && strcmp(d.name, vp_reg_names[r]) == 0)
				v->handles[r] = d.handle;
		}
	}
	g_array_free(regs, 1);
}

struct vp_tcg_vcpu *vp_tcg_vcpu_create(void)
{
	struct vp_tcg_vcpu *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->buf = g_byte_array_sized_new(64);
	if (!v->buf) {
		free(v);
		return NULL;
	}
	v->tid = gettid();
	find_handles(v);
	return v;
}

void vp_tcg_vcpu_add(unsigned int vcpu)
{
	if (vcpu >= VP_VCPUS_MAX || atomic_load(&vp_tcg.vcpus[vcpu]))
		return;
	/* Released with everything in it: other threads find it by this pointer. */
	atomic_store_explicit(&vp_tcg.vcpus[vcpu], vp_tcg_vcpu_create(), memory_order_release);
}

struct vp_tcg_vcpu *vp_tcg_vcpu_get(unsigned int vcpu)
{
	return vcpu < VP_VCPUS_MAX ? atomic_load_explicit(&vp_tcg.vcpus[vcpu], memory_order_acquire) : NULL;
}

uint64_t vp_tcg_reg(struct vp_tcg_vcpu *v, enum vp_reg reg)
{
	uint64_t value = 0;
	unsigned int n;

	if (v->regs.valid & VP_REG_BIT(reg))
		return v->regs.v[reg];
	if (v->current && reg < VP_NREGS_GENERAL)
		return v->current[reg];
	/* Another thread's vCPU has only its saved registers: QEMU aborts on such a read. */
	if (!v->handles[reg] || atomic_load_explicit(&v->where, memory_order_relaxed) != VP_TCG_RUNS)
		return 0;
	v->buf->len = 0; /* keeps its memory: nothing is allocated */
	qemu_plugin_read_register(v->handles[reg], v->buf);
	n = v->buf->len;
	if (!n || n > sizeof(value))
		return 0;
	memcpy(&value, v->buf->data, n);
	v->regs.v[reg] = value;
	v->regs.valid |= VP_REG_BIT(reg);
	return value;
}

void vp_tcg_try_state(struct vp_tcg_vcpu *v, const uint64_t *state)
{
	uint64_t regs[VP_NREGS_GENERAL];

	if (v->state || v->trials == TRIALS_MAX)
		return;
	v->trials++;
	v->regs.valid = 0;
	for (unsigned int i = 0; i < VP_NREGS_GENERAL; i++)
		regs[i] = vp_tcg_reg(v, (enum vp_reg)i);
	if (vp_tcg_state_is(state, regs))
		v->state = state;
}

static void read_all(struct vp_tcg_vcpu *v)
{
	v->regs.valid = 0;
	for (unsigned int r = 0; r < VP_NREGS; r++)
		vp_tcg_reg(v, (enum vp_reg)r);
}

/* --- entering the engine ------------------------------------------------------------------ */

struct vp_engine *vp_tcg_enter(struct vp_tcg_vcpu *v)
{
	struct vp_engine *engine;

	/* The store must be visible before the load; the end ensures that order with
	 * membarrier(2), so that a hit need not. */
	atomic_store_explicit(&v->in_engine, true, memory_order_relaxed);
	OT_BARRIER();
	engine = atomic_load_explicit(&vp_tcg.engine, memory_order_acquire);
	if (ot_unlikely(!engine))
		vp_tcg_leave(v);
	return engine;
}

void vp_tcg_leave(struct vp_tcg_vcpu *v)
{
	atomic_store_explicit(&v->in_engine, false, memory_order_release);
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = PAUSE_NS };

	nanosleep(&t, NULL);
}

void vp_tcg_wait_left(void)
{
	uint64_t deadline = ot_now_ns() + 1000000000u;

	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	for (unsigned int i = 0; i < VP_VCPUS_MAX; i++) {
		struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(i);

		while (v && atomic_load_explicit(&v->in_engine, memory_order_acquire) &&
		       ot_now_ns() < deadline)
			nap();
	}
	while (atomic_load(&vp_tcg.translating) && ot_now_ns() < deadline)
		nap();
}

/* --- samples ------------------------------------------------------------------------------ */

static void sample_here(unsigned int vcpu, struct vp_tcg_vcpu *v)
{
	struct vp_engine *engine;

	qemu_plugin_u64_set(vp_tcg.sample, vcpu, 0);
	engine = vp_tcg_enter(v);
	if (!engine)
		return;
	v->regs.valid = 0;
	vp_engine_sample(engine, vcpu, v);
	vp_tcg_leave(v);
}

/* At the beginning of a block, where QEMU's rip is exact. */
void vp_tcg_on_sample(unsigned int vcpu, void *udata)
{
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);

	(void)udata;
	if (!v)
		return;
	vp_tcg_is_here(v);
	sample_here(vcpu, v);
}

bool vp_tcg_paused(void *backend)
{
	(void)backend;
	return runstate_is_running && !runstate_is_running();
}

static bool claim_halted(struct vp_tcg_vcpu *v)
{
	uint32_t halted = VP_TCG_HALTED;

	return atomic_compare_exchange_strong(&v->where, &halted, VP_TCG_SAMPLED);
}

static void release_halted(struct vp_tcg_vcpu *v)
{
	atomic_store_explicit(&v->where, VP_TCG_HALTED, memory_order_release);
}

void vp_tcg_request_sample(void *backend, uint32_t vcpu)
{
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);
	struct vp_engine *engine;

	(void)backend;
	/* The vCPUs of a stopped guest appear halted. */
	if (!v || vp_tcg_paused(NULL))
		return;
	if (!claim_halted(v)) {
		qemu_plugin_u64_set(vp_tcg.sample, vcpu, 1);
		return;
	}
	/* Its own thread can't enter the engine before it is released. */
	engine = vp_tcg_enter(v);
	if (engine) {
		vp_engine_sample(engine, vcpu, v);
		vp_tcg_leave(v);
	}
	release_halted(v);
}

void vp_tcg_visit(unsigned int vcpu, struct vp_tcg_vcpu *v)
{
	struct vp_engine *engine;

	if (ot_likely(!atomic_load_explicit(&v->visit, memory_order_relaxed)))
		return;
	atomic_store(&v->visit, false);
	engine = vp_tcg_enter(v);
	if (!engine)
		return;
	v->regs.valid = 0;
	vp_engine_visit(engine, vcpu);
	vp_tcg_leave(v);
}

/* A vCPU reaches a poll point at each return from the kernel: a visit needs no more, at no cost to the guest.
 */
void vp_tcg_request_visit(void *backend, uint32_t vcpu)
{
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);
	struct vp_engine *engine;

	(void)backend;
	if (!v)
		return;
	if (!claim_halted(v)) {
		atomic_store(&v->visit, true);
		qemu_plugin_u64_set(vp_tcg.poll, vcpu, 1);
		return;
	}
	engine = vp_tcg_enter(v);
	if (engine) {
		vp_engine_visit(engine, vcpu);
		vp_tcg_leave(v);
	}
	release_halted(v);
}

void vp_tcg_on_idle(unsigned int vcpu)
{
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);

	if (!v)
		return;
	vp_tcg_is_here(v);
	if (qemu_plugin_u64_get(vp_tcg.sample, vcpu))
		sample_here(vcpu, v);
	read_all(v);
	atomic_store_explicit(&v->where, VP_TCG_HALTED, memory_order_release);
}

void vp_tcg_take_back(struct vp_tcg_vcpu *v)
{
	uint32_t halted = VP_TCG_HALTED;

	/* Waits for a sample that is being taken, which is bounded by the engine's fuel. */
	while (!atomic_compare_exchange_strong(&v->where, &halted, VP_TCG_RUNS) && halted == VP_TCG_SAMPLED) {
		halted = VP_TCG_HALTED;
		sched_yield();
	}
}

/* --- snapshots ---------------------------------------------------------------------------- */

void vp_tcg_answer_snapshot(struct vp_tcg_vcpu *v, uint64_t rip)
{
	uint32_t wanted = SNAPSHOT_WANTED;

	if (!atomic_compare_exchange_strong(&v->snapshot_wanted, &wanted, SNAPSHOT_WRITING))
		return;
	read_all(v);
	v->snapshot = v->regs;
	if (rip)
		v->snapshot.v[VP_REG_PC] = rip; /* QEMU's own is that of the block's beginning */
	atomic_store_explicit(&v->snapshot_wanted, SNAPSHOT_NONE, memory_order_release);
}

/* True when @ret was filled; @last: the request is withdrawn. */
static bool collect(struct vp_tcg_vcpu *v, struct vp_regs *ret, bool last)
{
	uint32_t wanted = SNAPSHOT_WANTED;

	if (claim_halted(v)) {
		*ret = v->regs;
		release_halted(v);
		atomic_compare_exchange_strong(&v->snapshot_wanted, &wanted, SNAPSHOT_NONE);
		return true;
	}
	if (atomic_load_explicit(&v->snapshot_wanted, memory_order_acquire) == SNAPSHOT_NONE) {
		*ret = v->snapshot;
		return true;
	}
	if (!last || atomic_compare_exchange_strong(&v->snapshot_wanted, &wanted, SNAPSHOT_NONE))
		return false;
	while (atomic_load_explicit(&v->snapshot_wanted, memory_order_acquire) != SNAPSHOT_NONE)
		sched_yield();
	*ret = v->snapshot;
	return true;
}

uint32_t vp_tcg_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	uint64_t deadline = ot_now_ns() + SNAPSHOT_NS;
	bool have[VP_VCPUS_MAX] = { false };
	uint32_t filled = 0, missing;

	(void)backend;
	if (max > vp_tcg.nvcpus)
		max = vp_tcg.nvcpus;
	for (uint32_t i = 0; i < max; i++) {
		struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(i);

		regs[i].valid = 0;
		if (v)
			atomic_store(&v->snapshot_wanted, SNAPSHOT_WANTED);
	}
	do {
		bool last = ot_now_ns() >= deadline;

		vp_tcg_raise_poll();
		missing = 0;
		for (uint32_t i = 0; i < max; i++) {
			struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(i);

			if (!v || have[i])
				continue;
			have[i] = collect(v, &regs[i], last);
			filled += have[i];
			missing += !have[i];
		}
		if (last)
			break;
		if (missing)
			nap();
	} while (missing);
	return filled;
}
