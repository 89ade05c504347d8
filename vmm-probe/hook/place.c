/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the memory of resident probes goes in QEMU's VM. The engine's thread asks for a place; our service
 * thread has QEMU's main loop look for one. The engine's thread does not wait for the main loop itself: that
 * may wait for the engine's end.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/hook/internal.h"

#define WAIT_NS   5000000000ull
#define AGAIN_NS  2000000l
#define SLOTS_MIN 64u /* a KVM with fewer needs them for the VMM */

/* The question, and its answer. */
static struct {
	pthread_mutex_t lock;
	bool asked, answered;
	uint64_t number; /* of the question */
	uint32_t bits;
	uint64_t size, gpa;
	struct ot_err *err;
} place = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What was handed out last: the VMM may ask for it at any time. */
static _Atomic uint64_t given_gpa, given_size;
static _Atomic uint32_t given_slot;

/* --- the service thread ------------------------------------------------------------------------------- */

void vp_hook_place_answer(void)
{
	uint64_t gpa = 0;

	pthread_mutex_lock(&place.lock);
	bool asked = place.asked && !place.answered;
	uint32_t bits = place.bits;
	uint64_t size = place.size, number = place.number;
	pthread_mutex_unlock(&place.lock);
	if (!asked)
		return;
	struct ot_err *err = vp_hook_ask_place(bits, size, &gpa);
	pthread_mutex_lock(&place.lock);
	bool late = number != place.number; /* its engine has ended */
	if (!late) {
		place.err = err;
		place.gpa = gpa;
		place.answered = true;
	}
	pthread_mutex_unlock(&place.lock);
	if (late)
		ot_err_destroy(err);
}

/* --- the engine's thread ------------------------------------------------------------------------------ */

static void ask(uint32_t bits, uint64_t size)
{
	pthread_mutex_lock(&place.lock);
	ot_err_destroy(place.err); /* an answer that nobody has waited for */
	place.err = NULL;
	place.asked = true;
	place.answered = false;
	place.number++;
	place.bits = bits;
	place.size = size;
	pthread_mutex_unlock(&place.lock);
	vp_hook_wake();
}

/* False: not yet. */
static bool take_answer(struct ot_err **ret, uint64_t *ret_gpa)
{
	pthread_mutex_lock(&place.lock);
	bool answered = place.answered;
	if (answered) {
		*ret = place.err;
		*ret_gpa = place.gpa;
		place.err = NULL;
		place.asked = false;
	}
	pthread_mutex_unlock(&place.lock);
	return answered;
}

/* The gate closes before the engine ends. */
static struct ot_err *await_answer(uint64_t *ret_gpa)
{
	const struct timespec again = { .tv_nsec = AGAIN_NS };
	uint64_t end = ot_now_ns() + WAIT_NS;
	struct ot_err *err = NULL;

	while (!atomic_load(&vp_hook.gate) && ot_now_ns() < end) {
		if (take_answer(&err, ret_gpa))
			return err;
		nanosleep(&again, NULL);
	}
	return ot_err_new(OT_ERR_BUSY, "QEMU does not say where it has no memory");
}

/* QEMU takes the lowest slot that is free: ours are the last ones. */
static struct ot_err *find_slots(uint32_t *ret)
{
	int n = vp_hook_syscall(vp_hook.vm, KVM_CHECK_EXTENSION, (void *)KVM_CAP_NR_MEMSLOTS);

	if (n < (int)SLOTS_MIN)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this host's KVM has only %d slots of memory", n);
	*ret = (uint32_t)n - 2;
	return NULL;
}

struct ot_err *vp_hook_place(void *arg, uint32_t bits, uint64_t size, uint64_t *ret_gpa, uint32_t *ret_slot)
{
	uint32_t slot;
	uint64_t gpa;

	(void)arg;
	OT_TRY(find_slots(&slot));
	ask(bits, size);
	OT_TRY(await_answer(&gpa));
	atomic_store(&given_slot, slot);
	atomic_store(&given_gpa, gpa);
	atomic_store(&given_size, size);
	*ret_gpa = gpa;
	*ret_slot = slot;
	return NULL;
}

/* --- the VMM's threads -------------------------------------------------------------------------------- */

bool vp_hook_wants_place(uint32_t slot, uint64_t gpa, uint64_t size)
{
	uint64_t given = atomic_load(&given_size), from = atomic_load(&given_gpa);

	if (!given)
		return false;
	return slot - atomic_load(&given_slot) < 2 || (size && gpa < from + given && from < gpa + size);
}
