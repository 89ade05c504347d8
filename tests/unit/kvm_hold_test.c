/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The holder has exclusive use of the guest: vCPU threads that hold at times, and a service thread that
 * holds. And which vCPUs have run since the first sentinels went in. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "vmm-probe/backend/kvm/internal.h"

#define VCPUS  4u
#define ROUNDS 1000u

struct machine {
	struct vp_kvm kvm;
	struct vp_kvm_vcpu vcpus[VCPUS];
	struct kvm_run runs[VCPUS];
	_Atomic uint32_t in_guest;
	_Atomic uint32_t holders;
	_Atomic uint32_t kicked[VCPUS];
	_Atomic bool wrong, end;
	uint64_t holds; /* by whoever holds: no atomic, so ThreadSanitizer sees two at once */
};

struct vcpu {
	struct machine *m;
	uint32_t index;
};

static void kick(void *arg, uint32_t vcpu)
{
	struct machine *m = arg;

	atomic_store(&m->kicked[vcpu], 1);
}

static void as_holder(struct machine *m)
{
	if (atomic_fetch_add(&m->holders, 1) || atomic_load(&m->in_guest))
		atomic_store(&m->wrong, true);
	m->holds++;
	atomic_fetch_sub(&m->holders, 1);
	vp_kvm_release(&m->kvm);
}

/* A guest that exits only when it is kicked, or for a reason of its own. */
static void guest(struct machine *m, uint32_t i, uint32_t round)
{
	uint32_t left = round % 7 ? 50 : 1u << 30;

	atomic_fetch_add(&m->in_guest, 1);
	if (atomic_load(&m->holders))
		atomic_store(&m->wrong, true);
	while (left-- && !atomic_exchange(&m->kicked[i], 0) && !atomic_load(&m->end))
		;
	atomic_fetch_sub(&m->in_guest, 1);
}

static void *run_vcpu(void *arg)
{
	struct vcpu *me = arg;
	struct machine *m = me->m;

	for (uint32_t n = 0; !atomic_load(&m->end); n++) {
		vp_kvm_before(&m->kvm, me->index);
		guest(m, me->index, n);
		if (n % 5 == 0) {
			vp_kvm_hold_as_vcpu(&m->kvm, me->index);
			as_holder(m);
		}
		vp_kvm_after(&m->kvm, me->index, EINTR);
	}
	return NULL;
}

static void init(struct machine *m)
{
	pthread_condattr_t attr;

	m->kvm.config = (struct vp_kvm_config){ .nvcpus = VCPUS, .kick = kick, .arg = m };
	m->kvm.vcpus = m->vcpus;
	for (uint32_t i = 0; i < VCPUS; i++)
		m->vcpus[i].run = &m->runs[i];
	pthread_mutex_init(&m->kvm.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->kvm.changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void test_one_at_a_time(void **state)
{
	static struct machine m;
	struct vcpu vcpus[VCPUS];
	pthread_t threads[VCPUS];
	const struct timespec pause = { .tv_nsec = 20000 };

	(void)state;
	init(&m);
	for (uint32_t i = 0; i < VCPUS; i++) {
		vcpus[i] = (struct vcpu){ &m, i };
		assert_int_equal(pthread_create(&threads[i], NULL, run_vcpu, &vcpus[i]), 0);
	}
	for (uint32_t n = 0; n < ROUNDS && !atomic_load(&m.wrong); n++) {
		vp_kvm_hold(&m.kvm);
		as_holder(&m);
		nanosleep(&pause, NULL);
	}
	/* Held until here at the latest: a vCPU that spins in the guest sees the end. */
	atomic_store(&m.end, true);
	for (uint32_t i = 0; i < VCPUS; i++)
		pthread_join(threads[i], NULL);
	assert_false(atomic_load(&m.wrong));
	assert_true(m.holds > ROUNDS); /* the vCPUs have held, too */
	pthread_cond_destroy(&m.kvm.changed);
	pthread_mutex_destroy(&m.kvm.lock);
}

/* --- a vCPU whose thread gets no CPU --------------------------------------------------------------- */

struct starved {
	struct machine *m;
	sem_t go, done; /* waiting at them takes no CPU time */
};

static void burn(uint64_t ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)(now.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec -
		   (uint64_t)from.tv_nsec <
	       ns);
}

static void *run_starved(void *arg)
{
	struct starved *s = arg;

	vp_kvm_before(&s->m->kvm, 0);
	vp_kvm_after(&s->m->kvm, 0, EINTR);
	sem_post(&s->done);
	sem_wait(&s->go);
	burn(5000000);
	sem_post(&s->done);
	sem_wait(&s->go);
	return NULL;
}

/* The kernel wakes pthread_join() before the thread's CPU clock is gone. */
static void wait_for_end_of_clock(struct vp_kvm_vcpu *v)
{
	struct timespec t;

	while (!clock_gettime(atomic_load(&v->thread_clock), &t))
		sched_yield();
}

/* Time advances, and the vCPU stays at its instruction, which may be between a sentinel and a lock. */
static void test_only_who_ran_is_past(void **state)
{
	static struct machine m;
	struct starved s = { .m = &m };
	pthread_t thread;

	(void)state;
	init(&m);
	sem_init(&s.go, 0, 0);
	sem_init(&s.done, 0, 0);
	m.kvm.config.nvcpus = 1;
	m.vcpus[0].fd = -1;
	vp_kvm_settle_begin(&m.kvm);
	assert_true(vp_kvm_settle_all_ran(&m.kvm)); /* it never came */
	assert_int_equal(pthread_create(&thread, NULL, run_starved, &s), 0);
	sem_wait(&s.done);
	vp_kvm_settle_begin(&m.kvm);
	assert_false(vp_kvm_settle_all_ran(&m.kvm));
	m.runs[0].exit_reason = KVM_EXIT_HLT;
	assert_true(vp_kvm_settle_all_ran(&m.kvm));
	m.runs[0].exit_reason = KVM_EXIT_INTR;
	assert_false(vp_kvm_settle_all_ran(&m.kvm));
	sem_post(&s.go);
	sem_wait(&s.done);
	assert_true(vp_kvm_settle_all_ran(&m.kvm));
	sem_post(&s.go);
	pthread_join(thread, NULL);
	wait_for_end_of_clock(&m.vcpus[0]);
	vp_kvm_settle_begin(&m.kvm);
	assert_true(vp_kvm_settle_all_ran(&m.kvm)); /* its thread has ended */
	pthread_cond_destroy(&m.kvm.changed);
	pthread_mutex_destroy(&m.kvm.lock);
}

/* A task may have waited for the lock all the time that its vCPU ran, and another may have let it go just
 * now. */
static void test_two_quiet_spans(void **state)
{
	static struct machine m;
	static struct vp_kvm_traps none;

	(void)state;
	init(&m);
	m.vcpus[0].fd = m.vcpus[1].fd = -1;
	atomic_store(&m.kvm.traps, &none);
	vp_kvm_settle_begin(&m.kvm);
	assert_true(vp_kvm_settle_check(&m.kvm)); /* no vCPU has come: all have run */
	assert_true(m.kvm.patching.settling);
	/* who was in there before the sentinels leaves: others may have waited for it */
	vp_kvm_at_sentinel(&m.kvm, 0, VP_SENTINEL_LEAVE, 0x1000);
	for (int i = 0; i < 3; i++) {
		assert_true(m.kvm.patching.settling);
		assert_true(vp_kvm_settle_check(&m.kvm));
	}
	assert_false(m.kvm.patching.settling);
	assert_false(vp_kvm_window(&m.kvm.patching));
	/* who is known: until it has left */
	vp_kvm_settle_begin(&m.kvm);
	assert_true(vp_kvm_settle_check(&m.kvm));
	m.kvm.patching.nkeys = 1;
	for (int i = 0; i < 4; i++)
		assert_true(vp_kvm_settle_check(&m.kvm));
	assert_true(m.kvm.patching.settling);
	m.kvm.patching.nkeys = 0;
	assert_true(vp_kvm_settle_check(&m.kvm));
	assert_true(m.kvm.patching.settling);
	assert_true(vp_kvm_settle_check(&m.kvm));
	assert_false(m.kvm.patching.settling);
	pthread_cond_destroy(&m.kvm.changed);
	pthread_mutex_destroy(&m.kvm.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_only_who_ran_is_past),
		cmocka_unit_test(test_two_quiet_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
