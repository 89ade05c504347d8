/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory layout of a QEMU whose KVM_SET_USER_MEMORY_REGION calls were made before the injection, queried
 * from its monitor: `info mtree -f` and `gpa2hva`, through the functions that QEMU exports for its modules.
 * They are called in a bottom half on its main loop, with its big lock held; no monitor need be configured.
 *
 * Sources: QEMU's include/block/aio.h (aio_bh_schedule_oneshot_full, since 6.1), qapi/misc.json
 * (human-monitor-command), and what these commands print.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc_map.h"
#include "vmm-probe/hook/internal.h"

#define ANSWER_NS 10000000000ull /* wait for a busy main loop */

/* The functions' types, as QEMU declares them. */
struct api {
	char *(*hmp)(const char *line, bool has_cpu, int64_t cpu, void **err);
	void (*schedule)(void *ctx, void (*cb)(void *), void *opaque, const char *name);
	void *(*context)(void);
	void (*error_free)(void *err);
	void (*free)(void *p);
};

/* The request to the main loop; one at a time. Static, because the main loop may answer after our
 * time-out. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t done_changed;
	struct api api;
	bool first; /* ioctl() was not redirected before */
	bool pending, done;
	const char *trouble; /* NULL: the slots were read */
	uint16_t port;       /* a trap port on which there is a device; 0: none */
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

bool vp_hook_is_qemu(void)
{
	struct api api;

	return find_api(&api);
}

bool vp_hook_paused(void)
{
	bool (*runs)(void);

	return find(&runs, "runstate_is_running") && !runs();
}

/* --- on QEMU's main loop ----------------------------------------------------------------------------- */

/* The output of a monitor command; NULL: an error. The caller frees it with api.free. */
static char *monitor(const char *line)
{
	void *err = NULL;
	char *text = asked.api.hmp(line, false, 0, &err);

	if (err)
		asked.api.error_free(err);
	return err ? NULL : text;
}

static bool host_of(uint64_t gpa, uint64_t *ret)
{
	static const char is[] = " is 0x";
	char line[64];

	snprintf(line, sizeof(line), "gpa2hva 0x%llx", (unsigned long long)gpa);
	char *text = monitor(line);
	const char *p = text ? strstr(text, is) : NULL;
	char *end = NULL;
	if (p)
		*ret = strtoull(p + strlen(is), &end, 16);
	bool ok = end && end != p + strlen(is);
	asked.api.free(text);
	return ok;
}

/* The NAME in a line "  START-END (prio N, KIND): NAME …"; NULL: another kind of line. */
static const char *view_line(const char *line, const char *kind, uint64_t *start, uint64_t *end, long *prio)
{
	const char *p = line + strspn(line, " ");
	char behind[16], *at;
	int n = snprintf(behind, sizeof(behind), ", %s):", kind);

	if (p == line || !ot_take_number(&p, 16, '-', start) || !ot_take_number(&p, 16, ' ', end) ||
	    strncmp(p, "(prio ", 6) != 0)
		return NULL;
	*prio = strtol(p + 6, &at, 10);
	if (at == p + 6 || strncmp(at, behind, (size_t)n) != 0)
		return NULL;
	return at + n + strspn(at + n, " ");
}

/* Is it a line of RAM? Boards map RAM with priority 0, device memory has 1. */
static bool ram_line(const char *line, uint64_t *start, uint64_t *end)
{
	long prio;

	if (!view_line(line, "ram", start, end, &prio) || prio || *end < *start)
		return false;
	++*end; /* QEMU prints the last byte's address */
	return true;
}

/* Read the RAM of address space "memory": the lines from its name to the next flat view. Repetitions under
 * another name are skipped. */
static const char *read_view(const char *text)
{
	uint32_t number = VP_HOOK_SLOT_FOUND;
	const char *p = strstr(text, " AS \"memory\"");
	uint64_t start, end, host;

	for (p = p ? strchr(p, '\n') : NULL; p && strncmp(p + 1, "FlatView", 8) != 0;
	     p = strchr(p + 1, '\n')) {
		if (!ram_line(p + 1, &start, &end) || vp_hook_touches_found(start, end - start))
			continue;
		if (!host_of(start, &host))
			return "its monitor reports no host address of guest memory";
		const struct vp_hook_slot slot = { number++, 0, start, end - start, host };
		vp_hook_add_slot(&slot);
	}
	return number == VP_HOOK_SLOT_FOUND ? "its monitor lists no RAM" : NULL;
}

/* Is it a line of a device? Ports without one have the name of the address space itself. */
static bool device_line(const char *line, uint64_t *start, uint64_t *end)
{
	long prio;
	const char *name = view_line(line, "i/o", start, end, &prio);

	return name && strncmp(name, "io\n", 3) != 0 && strncmp(name, "io @", 4) != 0;
}

/* A trap port that a device of the machine uses; 0: none. */
static uint16_t taken_port(const char *text)
{
	const char *p = strstr(text, " AS \"I/O\"");
	uint64_t start, end;

	for (p = p ? strchr(p, '\n') : NULL; p && strncmp(p + 1, "FlatView", 8) != 0;
	     p = strchr(p + 1, '\n')) {
		if (!device_line(p + 1, &start, &end))
			continue;
		for (uint32_t i = 0; vp_kvm_port(i); i++)
			if (vp_kvm_port(i) >= start && vp_kvm_port(i) <= end)
				return vp_kvm_port(i);
	}
	return 0;
}

static bool has_word(const char *line, const char *const *words)
{
	char *text = monitor(line);
	bool found = false;

	for (; text && *words; words++)
		found |= strstr(text, *words) != NULL;
	asked.api.free(text);
	return found;
}

static bool is_migrating(void)
{
	static const char *const words[] = { "tatus: active", "tatus: setup", "tatus: device",
					     "tatus: pre-switchover", NULL };

	return has_word("info migrate", words);
}

/* Is a debugger connected to its gdbstub? What that has requested of KVM can't be read back and would be
 * lost. The line of its chardev is "gdb: filename=ADDRESS", or "…=disconnected:ADDRESS" without a client. */
static bool is_debugged(void)
{
	static const char *const words[] = { "gdb: filename=tcp:", "gdb: filename=unix:",
					     "gdb: filename=pty:", "gdb: filename=stdio", NULL };

	return has_word("info chardev", words);
}

/* With QEMU's big lock held, so no slot changes meanwhile. NULL, or what is wrong. */
static const char *read_slots(bool first)
{
	if (is_migrating())
		return "the guest is being migrated or saved";
	if (first && is_debugged())
		return "a debugger is connected to its gdbstub: disconnect it first";
	char *view = monitor("info mtree -f");
	if (!view)
		return "its monitor has no `info mtree`";
	pthread_mutex_lock(&vp_hook.lock);
	vp_hook_forget_slots();
	const char *trouble = read_view(view);
	asked.port = taken_port(view);
	pthread_mutex_unlock(&vp_hook.lock);
	asked.api.free(view);
	return trouble;
}

static void on_main_loop(void *arg)
{
	/* The big lock is held here: a vCPU that exits to QEMU waits for it. */
	uint64_t start = ot_now_ns();

	(void)arg;
	pthread_mutex_lock(&asked.lock);
	bool first = asked.first;
	pthread_mutex_unlock(&asked.lock);
	const char *trouble = read_slots(first);
	vp_hook_held_since(start);
	pthread_mutex_lock(&asked.lock);
	asked.trouble = trouble;
	asked.done = true;
	asked.pending = false;
	pthread_cond_broadcast(&asked.done_changed);
	pthread_mutex_unlock(&asked.lock);
}

/* --- on our thread ----------------------------------------------------------------------------------- */

struct ot_err *vp_hook_ask_slots(bool first)
{
	const struct timespec until = ot_timespec(ot_now_ns() + ANSWER_NS);

	if (!find_api(&asked.api))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this VMM is not a QEMU whose memory layout can be queried");
	pthread_mutex_lock(&asked.lock);
	asked.done = false;
	asked.first = first; /* also if a request that has timed out is still pending: it answers this one */
	if (!asked.pending) {
		asked.pending = true;
		asked.api.schedule(asked.api.context(), on_main_loop, NULL, "outsight");
	}
	int rc = 0;
	while (!asked.done && !rc)
		rc = pthread_cond_clockwait(&asked.done_changed, &asked.lock, CLOCK_MONOTONIC, &until);
	const char *trouble = asked.done ? asked.trouble : "its main loop does not answer";
	uint16_t port = trouble ? 0 : asked.port;
	pthread_mutex_unlock(&asked.lock);
	if (port)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "QEMU: its machine has a device on I/O port 0x%x, which traps use", port);
	return trouble ? ot_err_new(OT_ERR_BUSY, "QEMU: %s", trouble) : NULL;
}
