/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calling functions of the QEMU that this is loaded into, on its main loop. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "vmm-probe/machines/qemu_ask.h"

/* The functions' types, as QEMU declares them. */
struct api {
	char *(*hmp)(const char *line, bool has_cpu, int64_t cpu, void **err);
	void (*schedule)(void *ctx, void (*cb)(void *), void *opaque, const char *name);
	void *(*context)(void);
	void (*error_free)(void *err);
	void (*free)(void *p);
	/* of vp_qemu_hold(): */
	void *(*region_at)(void *host, uint64_t *offset);
	void (*ref)(void *region);
	void (*unref)(void *region);
};

/* The question to the main loop. Static, because the main loop may answer after the time-out. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t done_changed;
	struct api api; /* constant once `known`: an earlier call may still use it */
	bool known;
	void (*fn)(void);
	bool scheduled;           /* the main loop will call it */
	uint64_t asked, answered; /* questions so far; of these, the ones before the last call began */
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER, .done_changed = PTHREAD_COND_INITIALIZER };

static bool find(void *to, const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	memcpy(to, &f, sizeof(f));
	return f != NULL;
}

static bool find_api(struct api *api)
{
	return find(&api->hmp, "qmp_human_monitor_command") &&
	       find(&api->schedule, "aio_bh_schedule_oneshot_full") &&
	       find(&api->context, "qemu_get_aio_context") && find(&api->error_free, "error_free") &&
	       find(&api->free, "g_free");
}

static bool find_holds(struct api *api)
{
	return find(&api->region_at, "memory_region_from_host") && find(&api->ref, "memory_region_ref") &&
	       find(&api->unref, "memory_region_unref");
}

bool vp_qemu_can_ask(void)
{
	struct api api;

	return find_api(&api);
}

bool vp_qemu_can_hold(void)
{
	struct api api;

	return find_holds(&api);
}

/* --- on QEMU's main loop ----------------------------------------------------------------------------- */

char *vp_qemu_monitor(const char *line)
{
	void *err = NULL;
	char *text = asked.api.hmp(line, false, 0, &err);

	if (err)
		asked.api.error_free(err);
	return err ? NULL : text;
}

void vp_qemu_free(char *text)
{
	asked.api.free(text);
}

bool vp_qemu_host_of(uint64_t gpa, uint64_t *ret)
{
	static const char is[] = " is 0x";
	char line[64];

	snprintf(line, sizeof(line), "gpa2hva 0x%llx", (unsigned long long)gpa);
	char *text = vp_qemu_monitor(line);
	const char *p = text ? strstr(text, is) : NULL;
	char *end = NULL;
	if (p)
		*ret = strtoull(p + strlen(is), &end, 16);
	bool ok = end && end != p + strlen(is);
	vp_qemu_free(text);
	return ok;
}

void *vp_qemu_hold(uint64_t host)
{
	uint64_t offset;
	void *region = asked.api.region_at((void *)(uintptr_t)host, &offset);

	if (region)
		asked.api.ref(region);
	return region;
}

void vp_qemu_let_go(void *block)
{
	asked.api.unref(block);
}

static void on_main_loop(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&asked.lock);
	uint64_t number = asked.asked;
	void (*fn)(void) = asked.fn;
	asked.scheduled = false;
	pthread_mutex_unlock(&asked.lock);
	fn();
	pthread_mutex_lock(&asked.lock);
	asked.answered = number;
	pthread_cond_broadcast(&asked.done_changed);
	pthread_mutex_unlock(&asked.lock);
}

/* --- on our thread ----------------------------------------------------------------------------------- */

/* With the lock. What vp_qemu_hold() needs may be missing. */
static bool knows_api(void)
{
	if (!asked.known && find_api(&asked.api)) {
		(void)find_holds(&asked.api);
		asked.known = true;
	}
	return asked.known;
}

bool vp_qemu_ask(void (*fn)(void), uint64_t wait_ns)
{
	const struct timespec until = ot_timespec(ot_now_ns() + wait_ns);

	pthread_mutex_lock(&asked.lock);
	uint64_t number = ++asked.asked;
	int rc = knows_api() ? 0 : -1;
	if (!rc && !asked.scheduled) {
		asked.fn = fn;
		asked.scheduled = true;
		asked.api.schedule(asked.api.context(), on_main_loop, NULL, "outsight");
	}
	while (asked.answered < number && !rc)
		rc = pthread_cond_clockwait(&asked.done_changed, &asked.lock, CLOCK_MONOTONIC, &until);
	bool answered = asked.answered >= number;
	pthread_mutex_unlock(&asked.lock);
	return answered;
}
