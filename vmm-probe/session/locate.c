/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where engines listen: one socket a VMM, PID.sock, in the directory of the user or of the
 * system. A socket that nobody serves any more is not a guest.
 */
#include "vmm-probe/session/locate.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/engine/socket_path.h"
#include "vmm-probe/machines/qemu.h"
#include "vmm-probe/session/client.h"
#include "vmm-probe/session/machines.h"

static bool is_socket_name(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 5 && !strcmp(name + len - 5, ".sock");
}

static struct ot_err *ask(const char *path, struct vp_guest_info *info)
{
	struct vp_client client;

	OT_TRY(vp_client_connect(&client, path));
	*info = (struct vp_guest_info){
		.pid = client.pid,
		.nvcpus = client.nvcpus,
		.nsessions = client.nsessions,
		.held_ns = client.held_ns,
		.paused = client.paused,
	};
	memcpy(info->name, client.guest_name, sizeof(info->name));
	memcpy(info->backend, client.backend, sizeof(info->backend));
	memcpy(info->socket, client.path, sizeof(info->socket));
	vp_client_close(&client);
	return NULL;
}

struct list {
	struct vp_guest_info *items;
	size_t count, cap;
};

/* One that can't be asked is left out, as it is of somebody else or dead. */
static struct ot_err *add(struct list *list, const char *path)
{
	struct vp_guest_info info;
	ot_auto_err struct ot_err *err = ask(path, &info);

	if (err)
		return NULL;
	if (!ot_grow(&list->items, &list->cap, list->count + 1, sizeof(info)))
		return ot_err_nomem();
	list->items[list->count++] = info;
	return NULL;
}

/* The sockets of one directory. */
static struct ot_err *scan_dir(const char *dir_path, struct list *list)
{
	ot_auto_dir DIR *dir = opendir(dir_path);
	struct dirent *e;

	if (!dir)
		return NULL;
	while ((e = readdir(dir))) {
		char path[PATH_MAX];

		if (!is_socket_name(e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir_path, e->d_name);
		OT_TRY(add(list, path));
	}
	return NULL;
}

static bool has_pid(const struct list *list, uint32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid)
			return true;
	return false;
}

/* Engines that were told to listen elsewhere: their QEMUs' command lines say where. */
static struct ot_err *ask_processes(struct list *list)
{
	ot_auto_free struct vp_qemu *qemus = NULL;
	size_t n = 0;

	OT_TRY(vp_qemu_list(&qemus, &n));
	for (size_t i = 0; i < n; i++)
		if (*qemus[i].socket && !has_pid(list, (uint32_t)qemus[i].pid))
			OT_TRY(add(list, qemus[i].socket));
	return NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct vp_guest_info *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct ot_err *vp_guests_list(struct vp_guest_info **ret, size_t *ret_count)
{
	struct list list = { 0 };
	char dir[PATH_MAX];
	struct ot_err *err = vp_socket_dir(dir, sizeof(dir));

	if (!err)
		err = scan_dir(dir, &list);
	if (!err && strcmp(dir, VP_SOCKET_SYSTEM_DIR) != 0)
		err = scan_dir(VP_SOCKET_SYSTEM_DIR, &list);
	if (!err)
		err = ask_processes(&list);
	if (err) {
		free(list.items);
		return err;
	}
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), by_pid);
	*ret = list.items;
	*ret_count = list.count;
	return NULL;
}

/* The guests' names, for a message. */
static void name_all(const struct vp_guest_info *guests, size_t count, struct ot_buf *out)
{
	for (size_t i = 0; i < count; i++)
		ot_buf_printf(out, "%s%s (PID %u)", i ? ", " : "", guests[i].name, guests[i].pid);
}

static struct ot_err *only_one(const struct vp_guest_info *guests, size_t count, char *path, size_t size)
{
	if (count == 0)
		return ot_err_new(
		    OT_ERR_NOT_FOUND,
		    "no guest is running here that can be traced: start one with `outsight run`, or "
		    "QEMU with the plugin liboutsight-tcg.so, or use -g none");
	if (count > 1) {
		struct ot_buf names;
		ot_buf_init(&names);
		name_all(guests, count, &names);
		struct ot_err *err = ot_err_new(
		    OT_ERR_NOT_FOUND, "several guests are running: pick one with -g: %s", ot_buf_str(&names));
		ot_buf_deinit(&names);
		return err;
	}
	snprintf(path, size, "%s", guests[0].socket);
	return NULL;
}

/* Is it worth asking libvirt about a guest of this name, or with this PID? */
static bool may_be_domain(const char *name, uint32_t pid)
{
	ot_auto_free struct vp_qemu *qemus = NULL;
	size_t n = 0;
	ot_auto_err struct ot_err *err = vp_qemu_list(&qemus, &n);

	for (size_t i = 0; !err && i < n; i++)
		if (pid ? (uint32_t)qemus[i].pid == pid : !strcmp(qemus[i].name, name))
			return qemus[i].libvirt;
	return !pid;
}

static bool is_guest(const struct vp_guest_info *g, const char *spec, unsigned long pid)
{
	return !strcmp(g->name, spec) || (pid && g->pid == pid);
}

static struct ot_err *by_name(const struct vp_guest_info *guests, size_t count, const char *spec, char *path,
			      size_t size)
{
	char *end;
	unsigned long pid = strtoul(spec, &end, 10);
	const struct vp_guest_info *found = NULL;

	if (*end)
		pid = 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_guest(&guests[i], spec, pid))
			continue;
		if (found)
			return ot_err_new(OT_ERR_NOT_FOUND,
					  "two guests are called %s: pick one by PID, %u or %u", spec,
					  found->pid, guests[i].pid);
		found = &guests[i];
	}
	if ((found || !pid) && may_be_domain(spec, found ? found->pid : 0))
		OT_TRY(vp_domain_not_running(found ? found->name : spec));
	if (found) {
		snprintf(path, size, "%s", found->socket);
		return NULL;
	}
	struct ot_buf names;
	ot_buf_init(&names);
	name_all(guests, count, &names);
	struct ot_err *err =
	    ot_err_new(OT_ERR_NOT_FOUND, "no guest %s is running here%s%s", spec,
		       count ? "; there are: " : "; see `outsight guests`", ot_buf_str(&names));
	ot_buf_deinit(&names);
	return err;
}

struct ot_err *vp_locate(const char *spec, char *path, size_t size)
{
	ot_auto_free struct vp_guest_info *guests = NULL;
	size_t count = 0;

	if (spec && strchr(spec, '/')) {
		snprintf(path, size, "%s", spec);
		return NULL;
	}
	OT_TRY(vp_guests_list(&guests, &count));
	return spec ? by_name(guests, count, spec, path, size) : only_one(guests, count, path, size);
}
