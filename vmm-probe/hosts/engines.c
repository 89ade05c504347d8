/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listing the engines: one socket a VMM, PID.sock, in the directory of the user or of the system, and at the
 * paths in VMMs' command lines. The kernel reports the process of a socket; one time-out covers all engines
 * that do not answer.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hosts/engines.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/machines/qemu.h"

/* The time-out of all engines together, for all lists that a thread makes in RENEW_NS; each list has some. */
#define PATIENCE_NS 1000000000ull
#define LEAST_NS    100000000ull
#define RENEW_NS    10000000000ull
/* A socket that is bound and does not listen yet appears stale, so younger ones are kept. */
#define NEW_SECONDS 10
#define ENGINES_MAX 4096
#define PID_DIGITS  10

struct engine {
	struct vp_client client;
	struct vp_guest_info info;
	bool waiting;
};

struct engines {
	struct engine **items;
	size_t count, cap;
	const struct vp_qemu *vmms;
	size_t nvmms;
};

static const struct vp_qemu *vmm_of(const struct engines *all, pid_t pid)
{
	for (size_t i = 0; i < all->nvmms; i++)
		if (all->vmms[i].pid == pid && all->vmms[i].seen)
			return &all->vmms[i];
	return NULL;
}

static bool has_pid(const struct engines *all, uint32_t pid)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i]->info.pid == pid)
			return true;
	return false;
}

/* --- identity ------------------------------------------------------------------------------------------ */

/* The facts known before the engine's HELLO. */
static void introduce(struct engine *e, const struct vp_qemu *vmm)
{
	const struct vp_client *c = &e->client;

	e->info = (struct vp_guest_info){
		.pid = c->pid,
		.uid = c->uid,
		.rank = vmm                   ? vp_locate_rank(vmm)
			: c->uid == geteuid() ? VP_RANK_OWN
					      : VP_RANK_PID,
		.trouble = "its engine did not answer within a second",
		.nvcpus = vmm ? vmm->nvcpus : 0,
	};
	memcpy(e->info.socket, c->path, sizeof(e->info.socket));
	if (vmm && *vmm->name)
		memcpy(e->info.name, vmm->name, sizeof(e->info.name));
	else
		snprintf(e->info.name, sizeof(e->info.name), "%s-%u", vmm && !vmm->monitor ? "qemu" : "vmm",
			 c->pid);
	snprintf(e->info.backend, sizeof(e->info.backend), "%s", vmm && vmm->plugin ? "tcg" : "kvm");
}

static void take_answer(struct engine *e)
{
	const struct vp_client *c = &e->client;

	*e->info.trouble = '\0';
	e->info.nvcpus = c->nvcpus;
	e->info.nsessions = c->nsessions;
	e->info.held_ns = c->held_ns;
	e->info.paused = c->paused;
	memcpy(e->info.name, c->guest_name, sizeof(e->info.name));
	memcpy(e->info.backend, c->backend, sizeof(e->info.backend));
}

static void destroy(struct engine *e)
{
	vp_client_close(&e->client);
	free(e);
}

/* Connect to @path, and send HELLO if the listener is trusted and, unless @expected is 0, that process. An
 * engine that can't be reached is skipped: another user's, or dead. *ret_dead: nothing listens there. */
static struct ot_err *add(struct engines *all, const char *path, pid_t expected, bool *ret_dead)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e || !ot_grow(&all->items, &all->cap, all->count + 1, sizeof(struct engine *))) {
		free(e);
		return ot_err_nomem();
	}
	ot_auto_err struct ot_err *err = vp_client_dial(&e->client, path);
	*ret_dead = err && ot_err_code(err) == OT_ERR_NOT_FOUND;
	const struct vp_client *c = &e->client;
	if (err || (expected && c->pid != (uint32_t)expected) || has_pid(all, c->pid) ||
	    all->count == ENGINES_MAX) {
		destroy(e);
		return NULL;
	}
	introduce(e, vmm_of(all, (pid_t)c->pid));
	ot_auto_err struct ot_err *unsaid = vp_client_greet(&e->client);
	e->waiting = !unsaid;
	all->items[all->count++] = e;
	return NULL;
}

/* --- stale sockets ---------------------------------------------------------------------------------- */

/* The process of a socket of this name; 0: not one of ours. */
static pid_t pid_of_name(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits <= PID_DIGITS && !strcmp(name + digits, ".sock")
		   ? (pid_t)strtol(name, NULL, 10)
		   : 0;
}

/* Nothing listens at @name. Remove it if it is ours, not new, and its process has ended. */
static void sweep(int dir, const char *name)
{
	pid_t pid = pid_of_name(name);
	struct stat st;

	if (pid <= 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISSOCK(st.st_mode) ||
	    st.st_uid != geteuid() || time(NULL) - st.st_ctime < NEW_SECONDS)
		return;
	if (kill(pid, 0) && errno == ESRCH)
		unlinkat(dir, name, 0);
}

/* --- finding engines ---------------------------------------------------------------------------------- */

static bool is_socket_name(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 5 && !strcmp(name + len - 5, ".sock");
}

/* The sockets of one directory. */
static struct ot_err *scan_dir(const char *dir_path, struct engines *all)
{
	ot_auto_dir DIR *dir = opendir(dir_path);
	struct dirent *e;

	if (!dir)
		return NULL;
	while ((e = readdir(dir))) {
		char path[PATH_MAX];
		bool dead = false;

		if (!is_socket_name(e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir_path, e->d_name);
		OT_TRY(add(all, path, 0, &dead));
		if (dead)
			sweep(dirfd(dir), e->d_name);
	}
	return NULL;
}

/* Engines with a path of their own, or started with other directories: their VMMs' command lines and
 * environments have it. A listener there that is another process is not used. */
static struct ot_err *ask_processes(struct engines *all)
{
	char path[sizeof(all->vmms->rundir) + 32];
	bool dead;

	for (size_t i = 0; i < all->nvmms; i++) {
		const struct vp_qemu *q = &all->vmms[i];
		if (!q->seen || has_pid(all, (uint32_t)q->pid))
			continue;
		if (*q->socket == '/')
			OT_TRY(add(all, q->socket, q->pid, &dead));
		snprintf(path, sizeof(path), "%s/outsight/%d.sock", q->rundir, (int)q->inner);
		size_t before = all->count;
		if (*q->rundir && !has_pid(all, (uint32_t)q->pid))
			OT_TRY(add(all, path, q->pid, &dead));
		if (all->count > before)
			all->items[before]->info.far = true;
	}
	return NULL;
}

/* --- querying them ------------------------------------------------------------------------------------- */

static void hear(struct engine *e)
{
	ot_auto_err struct ot_err *err = vp_client_greeted(&e->client);

	e->waiting = false;
	if (!err)
		take_answer(e);
	else if (ot_err_code(err) == OT_ERR_GUEST_GONE)
		e->info.pid = 0; /* it closed the connection: no engine at present */
	else
		snprintf(e->info.trouble, sizeof(e->info.trouble), "%s", ot_err_message(err));
}

/* How long engines are waited for now; the caller adds the time taken to *ret_spent. */
static uint64_t patience(uint64_t now, uint64_t **ret_spent)
{
	static _Thread_local uint64_t spent_ns, renewed_ns;

	if (now - renewed_ns > RENEW_NS) {
		renewed_ns = now;
		spent_ns = 0;
	}
	*ret_spent = &spent_ns;
	return spent_ns + LEAST_NS < PATIENCE_NS ? PATIENCE_NS - spent_ns : LEAST_NS;
}

/* Wait until all have answered, or for the common time-out. A slow engine is still found when it is attached
 * by name. */
static struct ot_err *hear_all(struct engines *all)
{
	ot_auto_free struct pollfd *fds = calloc(all->count + 1, sizeof(*fds));
	uint64_t start = ot_now_ns(), *spent_ns, left = patience(start, &spent_ns);

	if (!fds)
		return ot_err_nomem();
	for (;;) {
		size_t waiting = 0;
		for (size_t i = 0; i < all->count; i++) {
			fds[i] =
			    (struct pollfd){ .fd = all->items[i]->waiting ? all->items[i]->client.sock : -1,
					     .events = POLLIN };
			waiting += all->items[i]->waiting;
		}
		if (!waiting || poll(fds, all->count, ot_ms_until(start + left)) <= 0)
			break;
		for (size_t i = 0; i < all->count; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				hear(all->items[i]);
	}
	*spent_ns += ot_now_ns() - start;
	return NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct vp_guest_info *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct ot_err *collect(struct engines *all)
{
	char dir[PATH_MAX];

	OT_TRY(vp_socket_dir(dir, sizeof(dir)));
	OT_TRY(scan_dir(dir, all));
	if (strcmp(dir, VP_SOCKET_SYSTEM_DIR) != 0)
		OT_TRY(scan_dir(VP_SOCKET_SYSTEM_DIR, all));
	OT_TRY(ask_processes(all));
	return hear_all(all);
}

struct ot_err *vp_guests_list(struct vp_guest_info **ret, size_t *ret_count)
{
	ot_auto_free struct vp_qemu *vmms = NULL;
	struct engines all = { 0 };
	size_t n = 0;

	OT_TRY(vp_qemu_list(&vmms, &all.nvmms));
	all.vmms = vmms;
	struct ot_err *err = collect(&all);
	struct vp_guest_info *list = err ? NULL : calloc(all.count + 1, sizeof(*list));
	for (size_t i = 0; i < all.count; i++) {
		if (list && all.items[i]->info.pid)
			list[n++] = all.items[i]->info;
		destroy(all.items[i]);
	}
	free(all.items);
	if (!list)
		return err ? err : ot_err_nomem();
	qsort(list, n, sizeof(*list), by_pid);
	*ret = list;
	*ret_count = n;
	return NULL;
}
