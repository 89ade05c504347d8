/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that represents the guest's vCPUs: it requests their registers when the engine requests samples,
 * and fires for each. While registers are pending it polls for them every few tens of microseconds; else it
 * sleeps.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "vmm-probe/backend/peek/internal.h"

#define MS_NS    1000000ull
#define POLL_NS  20000ull /* between two polls; doubled up to: */
#define POLL_MAX MS_NS
#define ALL_NS   (20 * MS_NS)   /* then every thread is kicked, in case the wrong one was */
#define GIVE_UP  (1000 * MS_NS) /* a paused guest's vCPU does not respond */
#define ALL_MS   1000           /* the wait for the other vCPUs after the first has responded */
#define ASK_MS   100

/* --- one vCPU ------------------------------------------------------------------------------------------ */

static void give_regs(struct vp_peek *peek, const struct vp_peek_vcpu *v)
{
	pthread_mutex_lock(&peek->sampler.lock);
	struct vp_regs *to = peek->sampler.read ? &peek->sampler.read[v - peek->vcpus] : NULL;
	for (unsigned i = 0; to && i < VP_NREGS; i++) {
		to->v[i] = vp_kvm_reg_of(&v->state.regs, &v->state.sregs, (enum vp_reg)i);
		to->valid |= i == VP_K_GS_BASE ? 0 : VP_REG_BIT(i);
	}
	pthread_cond_signal(&peek->sampler.was_read);
	pthread_mutex_unlock(&peek->sampler.lock);
}

static void fire(struct vp_peek *peek, struct vp_peek_vcpu *v)
{
	struct vp_engine *engine = atomic_load(&peek->engine);

	if (!engine)
		return;
	peek->sampler.current = v;
	vp_mmu_flush(&peek->memory.kernel); /* the guest may change its tables at any time */
	vp_engine_sample(engine, (uint32_t)(v - peek->vcpus), v);
	peek->sampler.current = NULL;
}

static void came(struct vp_peek *peek, struct vp_peek_vcpu *v)
{
	atomic_fetch_add(&peek->sampler.answers, 1);
	if (v->state.flags & (KVM_RUN_X86_SMM | KVM_RUN_X86_GUEST_MODE)) {
		atomic_fetch_add(&peek->sampler.dropped, 1);
		return;
	}
	if (v->wants & VP_PEEK_REGS)
		give_regs(peek, v);
	if (v->wants & VP_PEEK_SAMPLE)
		fire(peek, v);
}

static void begin(struct vp_peek *peek, struct vp_peek_vcpu *v, uint32_t wants)
{
	if (!vp_peek_arm(v))
		return;
	v->wants = wants;
	v->armed_ns = ot_now_ns();
	v->all_kicked = false;
	atomic_fetch_add(&peek->sampler.kicks, 1);
	vp_peek_kick(peek, v, false);
}

/* True: its registers are pending. */
static bool step(struct vp_peek *peek, struct vp_peek_vcpu *v)
{
	if (v->armed_ns && vp_peek_take(v))
		came(peek, v);
	if (!v->armed_ns) {
		uint32_t wants = atomic_exchange(&v->wanted, 0);
		if (wants)
			begin(peek, v, wants);
		return v->armed_ns != 0;
	}
	uint64_t waited = ot_now_ns() - v->armed_ns;
	if (waited > GIVE_UP)
		vp_peek_disarm(v);
	else if (waited > ALL_NS && !v->all_kicked) {
		v->all_kicked = true;
		vp_peek_kick(peek, v, true);
	}
	return v->armed_ns != 0;
}

/* --- the thread ----------------------------------------------------------------------------------------- */

static bool step_all(struct vp_peek *peek)
{
	bool any = false;

	for (uint32_t i = 0; i < peek->nvcpus; i++)
		any |= step(peek, &peek->vcpus[i]);
	return any;
}

/* Wait for a request. False: the VMM has ended, which is reported once. */
static bool wait_for_wish(struct vp_peek *peek, bool alive)
{
	struct pollfd p[] = { { .fd = peek->sampler.wake_fd, .events = POLLIN },
			      { .fd = peek->pidfd, .events = POLLIN } };
	uint64_t times;

	while (poll(p, alive ? 2 : 1, -1) < 0 && errno == EINTR)
		;
	if (p[0].revents && read(peek->sampler.wake_fd, &times, sizeof(times)) < 0)
		return alive;
	if (!alive || !p[1].revents)
		return alive;
	struct vp_engine *engine = atomic_load(&peek->engine);
	if (engine)
		vp_engine_guest_ended(engine, VP_GUEST_STOPPED);
	return engine == NULL;
}

static void *run(void *arg)
{
	struct vp_peek *peek = arg;
	struct timespec pause = { .tv_nsec = POLL_NS };
	bool alive = true;

	prctl(PR_SET_TIMERSLACK, 1);
	while (!atomic_load(&peek->sampler.stopping)) {
		if (step_all(peek)) {
			nanosleep(&pause, NULL);
			pause.tv_nsec =
			    pause.tv_nsec * 2 < (long)POLL_MAX ? pause.tv_nsec * 2 : (long)POLL_MAX;
			continue;
		}
		pause.tv_nsec = POLL_NS;
		alive = wait_for_wish(peek, alive);
	}
	for (uint32_t i = 0; i < peek->nvcpus; i++)
		if (peek->vcpus[i].armed_ns)
			vp_peek_disarm(&peek->vcpus[i]);
	return NULL;
}

struct ot_err *vp_peek_sampler_start(struct vp_peek *peek)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&peek->sampler.was_read, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&peek->sampler.lock, NULL);
	peek->sampler.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (peek->sampler.wake_fd < 0)
		return ot_err_os(errno, "eventfd");
	OT_TRY(ot_thread_start(&peek->sampler.thread, NULL, run, peek, "starting the sampler"));
	peek->sampler.running = true;
	return NULL;
}

static void wake(struct vp_peek *peek)
{
	(void)eventfd_write(peek->sampler.wake_fd, 1);
}

void vp_peek_sampler_stop(struct vp_peek *peek)
{
	if (!peek->sampler.running)
		return;
	atomic_store(&peek->sampler.stopping, true);
	wake(peek);
	pthread_join(peek->sampler.thread, NULL);
	peek->sampler.running = false;
}

void vp_peek_want(struct vp_peek *peek, uint32_t vcpu, uint32_t what)
{
	atomic_fetch_or(&peek->vcpus[vcpu].wanted, what);
	wake(peek);
}

static uint32_t count_valid(const struct vp_regs *regs, uint32_t n)
{
	uint32_t valid = 0;

	for (uint32_t i = 0; i < n; i++)
		valid += regs[i].valid != 0;
	return valid;
}

static void want_all(struct vp_peek *peek, const struct vp_regs *read, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!read[i].valid)
			vp_peek_want(peek, i, VP_PEEK_REGS);
}

/* Until all have arrived, or time is over, or none can arrive because none runs. With the lock. */
static void await_regs(struct vp_peek *peek, const struct vp_regs *read, uint32_t n, unsigned wait_ms)
{
	const uint64_t start = ot_now_ns();
	uint64_t asked = start;

	for (;;) {
		uint32_t valid = count_valid(read, n);
		uint64_t now = ot_now_ns();
		if (valid == n || now - start >= wait_ms * MS_NS || (valid && now - start >= ALL_MS * MS_NS))
			return;
		if (now - asked > GIVE_UP + ASK_MS * MS_NS) {
			want_all(peek, read, n);
			asked = now;
		}
		const struct timespec t = ot_timespec(now + ASK_MS * MS_NS);
		if (pthread_cond_timedwait(&peek->sampler.was_read, &peek->sampler.lock, &t) == ETIMEDOUT &&
		    !count_valid(read, n) && vp_peek_is_paused(peek))
			return;
	}
}

uint32_t vp_peek_read(struct vp_peek *peek, struct vp_regs *ret, uint32_t max, unsigned wait_ms)
{
	struct vp_regs read[VP_VCPUS_MAX];
	uint32_t n = peek->nvcpus < max ? peek->nvcpus : max;

	memset(read, 0, sizeof(read));
	pthread_mutex_lock(&peek->sampler.lock);
	peek->sampler.read = read;
	want_all(peek, read, n);
	await_regs(peek, read, n, wait_ms);
	peek->sampler.read = NULL;
	uint32_t valid = count_valid(read, n);
	pthread_mutex_unlock(&peek->sampler.lock);
	memcpy(ret, read, n * sizeof(*ret));
	return valid;
}
