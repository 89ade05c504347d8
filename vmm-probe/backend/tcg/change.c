/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changing the plan while the guest runs. At a plugin's reset QEMU drops the plugin's callbacks and all
 * translations, and then translates every block again, by the new plan. A reset may only be requested on a
 * vCPU thread: from any other, QEMU drops the callbacks and flushes nothing. So the service thread records
 * its request, and the first vCPU thread that reaches a poll point, or wakes from a halt, takes it.
 *
 * To wake sleeping vCPUs, a paused guest's too, an event of the API that never occurs in system emulation (a
 * user-mode system call) is registered and unregistered: QEMU then queues work on each vCPU thread.
 *
 * The last step of a reset runs while no vCPU does: it exchanges the plan in force, so that afterwards no
 * vCPU is in, or can enter, a site of the old one.
 */
#include "base/clock.h"
#include "vmm-probe/backend/tcg/cpu_state.h"
#include "vmm-probe/backend/tcg/tcg.h"
#include "vmm-probe/engine/wire/protocol.h"

#include <errno.h>
#include <time.h>

#define TAKE_NS     2000000000ull /* how long a vCPU thread may take to take a change */
#define STEP_NS     2000000ull    /* between two reminders, at first */
#define STEP_MAX_NS 50000000ll
#define MODULE_NS   200000l /* between two checks whether a module's event is done */

void vp_tcg_raise_poll(void)
{
	for (unsigned int i = 0; i < VP_VCPUS_MAX; i++) {
		if (vp_tcg_vcpu_get(i))
			qemu_plugin_u64_set(vp_tcg.poll, i, 1);
	}
}

/* Runs while no vCPU does. */
void vp_tcg_on_reset(void)
{
	pthread_mutex_lock(&vp_tcg.lock);
	atomic_store(&vp_tcg.index, vp_tcg.pending);
	vp_tcg.pending = NULL;
	/* Samples requested under the previous plan are too late now. */
	for (unsigned int i = 0; i < VP_VCPUS_MAX; i++) {
		if (vp_tcg_vcpu_get(i))
			qemu_plugin_u64_set(vp_tcg.sample, i, 0);
	}
	vp_tcg_register_callbacks();
	atomic_store(&vp_tcg.state, VP_TCG_QUIET);
	pthread_cond_broadcast(&vp_tcg.changed);
	pthread_mutex_unlock(&vp_tcg.lock);
}

/* @held: on a vCPU that waits at a module. Only such a vCPU takes the change then: the reset is in force
 * before its next block, while after a reset by another vCPU it may still run a few old ones. */
static void take_change(bool held)
{
	bool mine;

	if (ot_unlikely(!held && atomic_load_explicit(&vp_tcg.held, memory_order_relaxed)))
		return;

	if (ot_likely(atomic_load_explicit(&vp_tcg.state, memory_order_relaxed) != VP_TCG_REQUESTED))
		return;
	pthread_mutex_lock(&vp_tcg.lock);
	mine = atomic_load(&vp_tcg.state) == VP_TCG_REQUESTED && !vp_tcg.exiting;
	if (mine)
		atomic_store(&vp_tcg.state, VP_TCG_RESETTING);
	pthread_mutex_unlock(&vp_tcg.lock);
	if (mine)
		vp_tcg_reset();
}

/* A change needs this vCPU to leave its block. It may be another change, or another vCPU that waits may take
 * it: then the module's sites follow as soon as they can. */
void vp_tcg_wait_module(struct vp_tcg_vcpu *v, uint64_t number)
{
	const struct timespec pause = { .tv_nsec = MODULE_NS };
	uint64_t end = ot_now_ns() + VP_MODULES_HOLD_NS;
	bool waits = true;

	atomic_fetch_add(&vp_tcg.held, 1);
	while (waits && atomic_load(&vp_tcg.state) == VP_TCG_QUIET && ot_now_ns() < end) {
		struct vp_engine *engine = vp_tcg_enter(v);
		waits = engine && !vp_engine_module_done(engine, number);
		if (engine)
			vp_tcg_leave(v);
		if (waits)
			nanosleep(&pause, NULL);
	}
	take_change(true);
	atomic_fetch_sub(&vp_tcg.held, 1);
}

void vp_tcg_on_poll(unsigned int vcpu, void *udata)
{
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);

	if (!v)
		return;
	vp_tcg_is_here(v);
	/* Before the checks: a request from here on sets it again. */
	qemu_plugin_u64_set(vp_tcg.poll, vcpu, 0);
	vp_tcg_answer_snapshot(v, (uintptr_t)udata);
	vp_tcg_visit(vcpu, v);
	take_change(false);
}

VP_TCG_ENTRY(vp_tcg_on_poll_point, vp_tcg_on_poll_with);
void vp_tcg_on_poll_with(unsigned int vcpu, void *udata, const uint64_t *state);

void vp_tcg_on_poll_with(unsigned int vcpu, void *udata, const uint64_t *state)
{
	struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);

	if (!v)
		return;
	vp_tcg_is_here(v);
	vp_tcg_try_state(v, state);
	vp_tcg_on_poll(vcpu, udata);
}

/* With the lock held. */
static void wait_changed(uint64_t until_ns)
{
	struct timespec t = ot_timespec(until_ns);

	pthread_cond_timedwait(&vp_tcg.changed, &vp_tcg.lock, &t);
}

/* With the lock held and a change requested; without one when it returns. */
static struct ot_err *wait_for_reset(void)
{
	uint64_t start = ot_now_ns(), step = STEP_NS;

	while (atomic_load(&vp_tcg.state) != VP_TCG_QUIET && !vp_tcg.exiting) {
		/* Once a vCPU thread has taken it, the reset follows: it waits only for the vCPUs to leave
		 * their blocks. */
		if (atomic_load(&vp_tcg.state) == VP_TCG_REQUESTED) {
			if (ot_now_ns() - start > TAKE_NS) {
				atomic_store(&vp_tcg.state, VP_TCG_QUIET);
				return ot_err_new(OT_ERR_BUSY,
						  "no vCPU of the guest took the change within "
						  "%llu s: each runs without an interrupt or a system call",
						  TAKE_NS / 1000000000u);
			}
			pthread_mutex_unlock(&vp_tcg.lock);
			vp_tcg_raise_poll();
			vp_tcg_kick();
			pthread_mutex_lock(&vp_tcg.lock);
			if (atomic_load(&vp_tcg.state) == VP_TCG_QUIET)
				break;
		}
		wait_changed(ot_now_ns() + step);
		if (step < STEP_MAX_NS)
			step *= 2;
	}
	return NULL;
}

struct ot_err *vp_tcg_install(void *backend, const struct vp_plan *plan)
{
	struct vp_tcg_index *index = NULL, *old = atomic_load(&vp_tcg.index);
	struct ot_err *err = NULL;

	(void)backend;
	if (plan) {
		OT_TRY(vp_tcg_counters_reserve(plan->ncounters));
		OT_TRY(vp_tcg_index_create(plan, &index));
	}
	pthread_mutex_lock(&vp_tcg.lock);
	if (!vp_tcg.translated) {
		/* The first block takes the lock: it will be translated by this plan. */
		atomic_store(&vp_tcg.index, index);
	} else if (!vp_tcg.exiting) {
		vp_tcg.pending = index;
		atomic_store(&vp_tcg.state, VP_TCG_REQUESTED);
		err = wait_for_reset();
	}
	/* At the end of QEMU the old plan stays, but no vCPU gets from its sites into the engine. */
	if (vp_tcg.exiting)
		old = NULL;
	pthread_mutex_unlock(&vp_tcg.lock);
	vp_tcg_index_destroy(err ? index : old);
	return err;
}
