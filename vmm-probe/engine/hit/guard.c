/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timing some of a vCPU's firings; service/guard.c documents which, and why. Hit path. */
#include "vmm-probe/engine/hit/guard.h"

#define TIMED_NS  250000 /* two timed hits of a vCPU should be this far apart */
#define EVERY_MAX 4096
#define OUTLIER   16 /* a firing that took so many times the mean is taken for preempted */

/* Time this one, and choose the next: in `every` hits on average. */
uint64_t vp_guard_next(struct vp_vcpu *me)
{
	uint64_t now = vp_now(), passed = now - me->timed_at_ns;

	if (passed < TIMED_NS / 2 && me->every < EVERY_MAX)
		me->every *= 2;
	else if (passed > TIMED_NS * 2 && me->every > 1)
		me->every /= 2;
	me->timed_at_ns = now;
	me->random ^= me->random << 13;
	me->random ^= me->random >> 17;
	me->random ^= me->random << 5;
	me->until_timed = 1 + me->random % (2 * me->every - 1);
	return now;
}

static void add_timed(struct vp_load *load, uint64_t ns)
{
	if (load->timed >= VP_TIMED_FEW && ns > OUTLIER * (load->timed_ns / load->timed + 1))
		return;
	vp_load_add(&load->timed_ns, ns);
	vp_load_add(&load->timed, 1);
}

/* chill()'s wait is intended, and has a limit of its own, so it is not counted. */
void vp_guard_timed(struct vp_vcpu_session *v, const struct vp_ecb *ecb, uint64_t *clock)
{
	uint64_t waited = v->waited_ns;

	vp_fire_ecb(v, ecb);
	uint64_t now = vp_now(), ns = now - *clock;
	waited = v->waited_ns - waited;
	ns = ns > waited ? ns - waited : 0;
	*clock = now;
	add_timed(&ecb->loads[(size_t)v->vcpu * ecb->load_stride], ns);
	add_timed(&v->load, ns);
}
