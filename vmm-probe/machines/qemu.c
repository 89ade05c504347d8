/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/machines/qemu.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/backend/tcg/machine.h"
#include "vmm-probe/engine/socket_path.h"

#define CMDLINE_MAX (4u << 20)
#define ENVIRON_MAX (1u << 20)
#define VCPUS_MAX   4096
#define PLUGIN_FILE "liboutsight-tcg.so"

const char *vp_accel_name(enum vp_accel accel)
{
	return accel == VP_ACCEL_KVM ? "kvm" : accel == VP_ACCEL_TCG ? "tcg" : "-";
}

/* --- a command line ------------------------------------------------------------------------------------ */

/* The value of @key in a comma-separated option ("file=/a,,b,socket=/c": a doubled comma is one), its own key
 * for the first item when @key is NULL. False: there is none. */
static bool take_item(const char *option, const char *key, char *ret, size_t size)
{
	char item[4200];

	for (bool first = true; *option; first = false) {
		size_t n = 0;
		for (; *option && (*option != ',' || option[1] == ','); option++) {
			option += *option == ',';
			if (n + 1 < sizeof(item))
				item[n++] = *option;
		}
		item[n] = '\0';
		option += *option == ',';
		size_t len = key ? strlen(key) : 0;
		bool is_it = key ? n > len && !strncmp(item, key, len) && item[len] == '='
				 : first && !strchr(item, '=');
		if (is_it) {
			snprintf(ret, size, "%s", key ? item + len + 1 : item);
			return true;
		}
	}
	return false;
}

static void parse_smp(const char *value, struct vp_qemu *q)
{
	char text[32];
	unsigned long n = 0;

	if (take_item(value, "cpus", text, sizeof(text)) || take_item(value, NULL, text, sizeof(text)))
		n = strtoul(text, NULL, 10);
	q->nvcpus = n <= VCPUS_MAX ? (uint32_t)n : 0;
}

/* "kvm", "tcg,thread=multi"; of "kvm:tcg" the first that works, which can't be told from here. */
static void parse_accel(const char *text, struct vp_qemu *q)
{
	if (strchr(text, ':'))
		q->accel = VP_ACCEL_UNKNOWN;
	else
		q->accel = !strncmp(text, "kvm", 3)   ? VP_ACCEL_KVM
			   : !strncmp(text, "tcg", 3) ? VP_ACCEL_TCG
						      : VP_ACCEL_UNKNOWN;
}

static void parse_plugin(const char *value, struct vp_qemu *q)
{
	char file[PATH_MAX];

	if (!take_item(value, "file", file, sizeof(file)) && !take_item(value, NULL, file, sizeof(file)))
		return;
	const char *base = strrchr(file, '/');
	if (strcmp(base ? base + 1 : file, PLUGIN_FILE) != 0)
		return;
	q->plugin = true;
	take_item(value, "socket", q->socket, sizeof(q->socket));
}

static void parse_option(const char *option, const char *value, struct vp_qemu *q)
{
	char text[64];

	if (!strcmp(option, "smp"))
		parse_smp(value, q);
	else if (!strcmp(option, "uuid"))
		snprintf(q->uuid, sizeof(q->uuid), "%s", value);
	else if (!strcmp(option, "accel"))
		parse_accel(value, q);
	else if ((!strcmp(option, "machine") || !strcmp(option, "M")) &&
		 take_item(value, "accel", text, sizeof(text)))
		parse_accel(text, q);
	else if (!strcmp(option, "plugin"))
		parse_plugin(value, q);
	else if (!strcmp(option, "chardev"))
		q->libvirt |=
		    strstr(value, "id=charmonitor") != NULL; /* libvirt's own monitor, always called so */
}

void vp_qemu_parse(const char *cmdline, size_t len, struct vp_qemu *ret)
{
	struct vp_qemu q = { .nvcpus = 1, .accel = VP_ACCEL_TCG };
	struct vp_tcg_machine machine;
	/* Terminated whatever the process made of its arguments. */
	ot_auto_free char *text = malloc(len + 2);

	if (text) {
		memcpy(text, cmdline, len);
		text[len] = text[len + 1] = '\0';
		vp_tcg_machine_parse(text, len, &machine);
		snprintf(q.name, sizeof(q.name), "%s", machine.name);
	}
	for (const char *arg = text; arg && arg < text + len;) {
		const char *next = arg + strlen(arg) + 1;
		if (*arg == '-') {
			const char *option = arg + (arg[1] == '-' ? 2 : 1);
			if (!strcmp(option, "enable-kvm"))
				q.accel = VP_ACCEL_KVM;
			else if (next < text + len)
				parse_option(option, next, &q);
		}
		arg = next;
	}
	*ret = q;
}

/* --- processes ----------------------------------------------------------------------------------------- */

static bool is_qemu(pid_t pid)
{
	char path[64], exe[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	const char *base = strrchr(exe, '/');
	return base && (!strncmp(base + 1, "qemu-system-", 12) || !strncmp(base + 1, "qemu-kvm", 8));
}

/* What it has of KVM, by descriptors: the truth where they may be read. */
static void count_vcpus(struct vp_qemu *q)
{
	char path[300], is[64];
	const struct dirent *e;
	uint32_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)q->pid);
	ot_auto_dir DIR *dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)q->pid, e->d_name);
		ssize_t len = readlink(path, is, sizeof(is) - 1);
		is[len > 0 ? len : 0] = '\0';
		n += !strncmp(is, "anon_inode:kvm-vcpu:", 20);
	}
	if (n) {
		q->nvcpus = n;
		q->accel = VP_ACCEL_KVM;
	}
}

/* A plugin that was told to use the domain's own directory is found by the environment that libvirt gave it.
 */
static void find_domain_socket(struct vp_qemu *q)
{
	static const char name[] = "XDG_CACHE_HOME=";
	ot_auto_free char *text = NULL;
	char path[64];
	size_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)q->pid);
	ot_auto_err struct ot_err *err = ot_read_file(path, ENVIRON_MAX, &text, &len);
	if (err)
		return;
	for (const char *p = text; p < text + len; p += strlen(p) + 1) {
		if (strncmp(p, name, strlen(name)) != 0)
			continue;
		ot_auto_err struct ot_err *bad =
		    vp_socket_path_libvirt(p + strlen(name), q->socket, sizeof(q->socket));
		if (bad)
			*q->socket = '\0';
		return;
	}
}

static bool read_process(pid_t pid, struct vp_qemu *ret)
{
	ot_auto_free char *cmdline = NULL;
	char path[64];
	size_t len = 0;

	if (!is_qemu(pid))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	ot_auto_err struct ot_err *err = ot_read_file(path, CMDLINE_MAX, &cmdline, &len);
	if (err || !len)
		return false;
	vp_qemu_parse(cmdline, len, ret);
	ret->pid = pid;
	count_vcpus(ret);
	if (ret->plugin && ret->libvirt && !*ret->socket)
		find_domain_socket(ret);
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct vp_qemu *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct ot_err *vp_qemu_list(struct vp_qemu **ret, size_t *ret_count)
{
	ot_auto_dir DIR *dir = opendir("/proc");
	ot_auto_free struct vp_qemu *list = NULL;
	size_t count = 0, cap = 0;
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (pid <= 0)
			continue;
		if (!ot_grow(&list, &cap, count + 1, sizeof(*list)))
			return ot_err_nomem();
		count += read_process(pid, &list[count]);
	}
	if (count)
		qsort(list, count, sizeof(*list), by_pid);
	*ret = ot_move(list);
	*ret_count = count;
	return NULL;
}
