/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The service thread in the VMM: creates and checks the engine, serves requests. No thread of the VMM ever
 * waits for it. Also the library's constructor and destructor. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "vmm-probe/hook/internal.h"

/* Changes come in bursts (dozens of slots): the check waits until they settle, but no longer than LATEST_NS
 * after the first. */
#define SETTLE_NS 50000000u
#define LATEST_NS 500000000u
#define AGAIN_NS  500000000u
#define NEVER     UINT64_MAX

struct vp_hook vp_hook = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.gate_lock = PTHREAD_MUTEX_INITIALIZER,
	.kvm = -1,
	.vm = -1,
	.faults = -1,
	.listen_fd = -1,
	.wake = -1,
};

void vp_hook_held_since(uint64_t ns)
{
	uint64_t held = ot_now_ns() - ns, longest = atomic_load(&vp_hook.held_ns);

	while (held > longest && !atomic_compare_exchange_weak(&vp_hook.held_ns, &longest, held))
		;
}

/* --- the engine matches the machine ------------------------------------------------------------------ */

static void say_once(const struct ot_err *err)
{
	static bool said;

	/* BUSY is temporary. */
	if (said || ot_err_code(err) == OT_ERR_BUSY)
		return;
	said = true;
	fprintf(stderr, "outsight: this guest can't be traced: %s\n", ot_err_message(err));
}

struct ot_err *vp_hook_refresh(void)
{
	OT_TRY(vp_hook_probe_host());
	return vp_hook.slots_stale ? vp_hook_ask_slots(false) : NULL;
}

/* Check the machine, and create or destroy the engine accordingly. Returns the time of the next check; NEVER:
 * when woken. */
static uint64_t update_engine(void)
{
	if (!vp_hook.wanted)
		return NEVER;
	struct ot_err *err = vp_hook_refresh();
	pthread_mutex_lock(&vp_hook.lock);
	if (!err && atomic_load(&vp_hook.engine) && vp_hook_changed())
		vp_hook_untrace(VP_GUEST_CHANGED);
	if (!err)
		err = vp_hook_trace();
	pthread_mutex_unlock(&vp_hook.lock);
	uint64_t again = err && ot_err_code(err) == OT_ERR_BUSY ? ot_now_ns() + AGAIN_NS : NEVER;
	if (err)
		say_once(err);
	ot_err_destroy(err);
	return again;
}

/* --- the thread -------------------------------------------------------------------------------------- */

/* While there is no engine, connections are closed at once. */
static void turn_away(int listening)
{
	int sock = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	if (sock >= 0)
		close(sock);
}

/* The time of the check after a change. *first_ns: the first change since the last check; NEVER: this is it.
 */
static uint64_t settled(uint64_t *first_ns)
{
	uint64_t now = ot_now_ns();

	if (*first_ns == NEVER)
		*first_ns = now;
	return now + SETTLE_NS < *first_ns + LATEST_NS ? now + SETTLE_NS : *first_ns + LATEST_NS;
}

/* Neither changes nor connections nor requests, however frequent, postpone the check for ever. */
static void *run_service(void *arg)
{
	struct pollfd fds[3] = { { .fd = vp_hook.wake, .events = POLLIN },
				 { .events = POLLIN },
				 { .events = POLLIN } };
	uint64_t check_ns = 0, first_ns = NEVER, n;

	(void)arg;
	fds[1].fd = vp_hook_control_open();
	for (;;) {
		fds[2].fd = atomic_load(&vp_hook.engine) ? -1 : vp_hook.listen_fd;
		int ready = poll(fds, 3, check_ns == NEVER ? -1 : ot_ms_until(check_ns));
		vp_hook_place_answer();
		if (ot_now_ns() >= check_ns) {
			check_ns = update_engine();
			first_ns = NEVER;
		}
		if (ready > 0 && fds[1].revents)
			vp_hook_control_serve(fds[1].fd);
		if (ready > 0 && fds[2].revents && !atomic_load(&vp_hook.engine))
			turn_away(fds[2].fd);
		if (ready > 0 && fds[0].revents && read(vp_hook.wake, &n, sizeof(n)) > 0)
			check_ns = settled(&first_ns);
	}
	return NULL;
}

void vp_hook_wake(void)
{
	const uint64_t one = 1;

	if (vp_hook.wake >= 0 && write(vp_hook.wake, &one, sizeof(one)) < 0)
		return; /* full: the thread is awake already */
}

void vp_hook_service_start(void)
{
	uint32_t no = 0;
	pthread_attr_t attr;
	pthread_t thread;

	if (!atomic_compare_exchange_strong(&vp_hook.service, &no, 1))
		return;
	vp_hook.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	struct ot_err *err = vp_hook.wake < 0 ? ot_err_os(errno, "eventfd")
					      : ot_thread_start(&thread, &attr, run_service, NULL,
								"starting the service thread");
	pthread_attr_destroy(&attr);
	if (err)
		vp_hook_control_fail(ot_err_errno(err));
	ot_err_destroy(err);
}

/* --- the library's lifetime -------------------------------------------------------------------------- */

/* With LD_PRELOAD the thread starts when the first vCPU runs: the VMM may fork before. */
__attribute__((constructor)) static void loaded(void)
{
	struct ot_err *err = vp_hook_kick_init();

	vp_hook_gate_init();
	vp_hook.preloaded = dlsym(RTLD_DEFAULT, "ioctl") == (void *)vp_hook_ioctl;
	vp_hook_want(!err && vp_hook.preloaded);
	if (err)
		vp_hook_control_fail(EBUSY);
	else if (!vp_hook.preloaded)
		vp_hook_service_start();
	ot_err_destroy(err);
}

/* The VMM exits. The name of the socket remains. */
__attribute__((destructor)) static void unloaded(void)
{
	pthread_mutex_lock(&vp_hook.lock);
	vp_hook_want(false);
	vp_hook_untrace(VP_GUEST_STOPPED);
	pthread_mutex_unlock(&vp_hook.lock);
}
