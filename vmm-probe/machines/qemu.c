/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding VMMs: processes, their command lines and environments, and libvirt's PID files. */
#include "vmm-probe/machines/qemu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/utf8.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/machines/process.h"
#include "vmm-probe/machines/qemu_machine.h"

#define CMDLINE_MAX (4u << 20)
#define ENVIRON_MAX (1u << 20)
#define VCPUS_MAX   4096
#define PLUGIN_FILE "liboutsight-tcg.so"
#define MONITOR     "outsight-vmm"
/* The directory in which the system's libvirt, which runs as root, writes NAME.pid for each running
 * domain. */
#define LIBVIRT_DIR "/run/libvirt/qemu"
#define DOMAINS_MAX 4096

const char *vp_accel_name(enum vp_accel accel)
{
	return accel == VP_ACCEL_KVM ? "kvm" : accel == VP_ACCEL_TCG ? "tcg" : "-";
}

/* --- a command line ------------------------------------------------------------------------------------ */

/* The value of @key in a comma-separated option ("file=/a,,b,socket=/c": a doubled comma is one); with @key
 * NULL, the first item if it has no "=". False: there is none. */
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
			const char *value = key ? item + len + 1 : item;
			n = strnlen(value, size - 1);
			memcpy(ret, value, n);
			ret[n] = '\0';
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

/* "kvm", "tcg,thread=multi"; "kvm:tcg" means the first that works, which is unknown here. */
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
	take_item(value, "name", q->name, sizeof(q->name));
}

static void parse_option(const char *option, const char *value, struct vp_qemu *q)
{
	char text[64];

	if (!strcmp(option, "smp"))
		parse_smp(value, q);
	else if (!strcmp(option, "uuid"))
		snprintf(q->uuid, sizeof(q->uuid), "%s", value);
	else if (!strcmp(option, "incoming"))
		q->incoming = true;
	else if (!strcmp(option, "accel"))
		parse_accel(value, q);
	else if ((!strcmp(option, "machine") || !strcmp(option, "M")) &&
		 take_item(value, "accel", text, sizeof(text)))
		parse_accel(text, q);
	else if (!strcmp(option, "plugin"))
		parse_plugin(value, q);
	else if (!strcmp(option, "socket")) /* outsight-vmm's; QEMU has no such option */
		snprintf(q->socket, sizeof(q->socket), "%s", value);
	else if (!strcmp(option, "chardev"))
		q->libvirt |=
		    strstr(value, "id=charmonitor") != NULL; /* libvirt's monitor always has this id */
}

void vp_qemu_parse(const char *cmdline, size_t len, struct vp_qemu *ret)
{
	struct vp_qemu q = { .nvcpus = 1, .accel = VP_ACCEL_TCG };
	struct vp_qemu_machine machine;
	/* A process may have overwritten its arguments, so terminate them. */
	ot_auto_free char *text = malloc(len + 2);

	if (text) {
		memcpy(text, cmdline, len);
		text[len] = text[len + 1] = '\0';
		vp_qemu_machine_parse(text, len, &machine);
		snprintf(q.name, sizeof(q.name), "%s", machine.name);
	}
	const char *option, *value;
	for (const char *p = text; text && vp_qemu_next_option(&p, text + len, &option, &value);) {
		if (!strcmp(option, "enable-kvm"))
			q.accel = VP_ACCEL_KVM;
		else if (value)
			parse_option(option, value, &q);
	}
	/* Names are printed on one line; an engine's name is filtered in the same way. */
	ot_utf8_tame_string(q.name);
	*ret = q;
}

/* --- processes ----------------------------------------------------------------------------------------- */

/* @file: a path, or the beginning of a command line. */
static bool is_vmm(const char *file, bool *ret_monitor)
{
	const char *base = strrchr(file, '/');

	base = base ? base + 1 : file;
	*ret_monitor = !strncmp(base, MONITOR, strlen(MONITOR));
	return *ret_monitor || !strncmp(base, "qemu-system-", 12) || !strncmp(base, "qemu-kvm", 8);
}

/* Is it a VMM's process? *ret_seen: by its executable, which is readable only for processes that may be
 * ptraced; otherwise by its command line. */
static bool recognise(pid_t pid, const char *cmdline, bool *ret_seen, bool *ret_monitor)
{
	char path[64], exe[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	*ret_seen = n >= 0;
	if (n < 0 && errno != EACCES && errno != EPERM)
		return false;
	exe[n > 0 ? n : 0] = '\0';
	return is_vmm(*ret_seen ? exe : cmdline, ret_monitor);
}

/* Count vCPUs by their descriptors, which override the command line if they may be read. */
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

/* The value of @name ("NAME=") in @len bytes of NUL-terminated settings; NULL: none. */
static const char *setting(const char *text, size_t len, const char *name)
{
	for (const char *p = text; p && p < text + len; p += strlen(p) + 1)
		if (!strncmp(p, name, strlen(name)))
			return p + strlen(name);
	return NULL;
}

/* The environment determines where its engine listens: in XDG_RUNTIME_DIR, or, for a plugin with libvirt=on,
 * in the domain's own directory, which contains the XDG_CACHE_HOME that libvirt has set. */
static void read_environment(struct vp_qemu *q)
{
	ot_auto_free char *text = NULL;
	char path[64];
	size_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)q->pid);
	ot_auto_err struct ot_err *err = ot_read_file(path, ENVIRON_MAX, &text, &len);
	if (err)
		return;
	const char *run = setting(text, len, "XDG_RUNTIME_DIR="),
		   *cache = setting(text, len, "XDG_CACHE_HOME=");
	if (run && *run == '/' && strlen(run) < sizeof(q->rundir))
		memcpy(q->rundir, run, strlen(run) + 1);
	if (!q->plugin || !q->libvirt || *q->socket || !cache)
		return;
	ot_auto_err struct ot_err *bad = vp_socket_path_libvirt(cache, q->socket, sizeof(q->socket));
	if (bad)
		*q->socket = '\0';
}

static bool read_process(pid_t pid, struct vp_qemu *ret)
{
	ot_auto_free char *cmdline = NULL;
	struct vp_process process;
	bool seen, monitor;
	char path[64];
	size_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	ot_auto_err struct ot_err *err = ot_read_file(path, CMDLINE_MAX, &cmdline, &len);
	if (err || !len || !recognise(pid, cmdline, &seen, &monitor))
		return false;
	ot_auto_err struct ot_err *gone = vp_process_read(pid, &process);
	if (gone)
		return false;
	vp_qemu_parse(cmdline, len, ret);
	ret->pid = pid;
	ret->inner = process.inner;
	ret->uid = process.uid;
	ret->one_uid = process.one_uid;
	ret->seen = seen;
	ret->monitor = monitor;
	if (monitor)
		ret->accel = VP_ACCEL_KVM;
	count_vcpus(ret);
	if (seen)
		read_environment(ret);
	return true;
}

/* --- libvirt's PID files ------------------------------------------------------------------------------- */

/* Owned by root, and writable by root only. */
static bool is_roots(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* The PID in a PID file of libvirt's; 0: not such a file. */
static pid_t pid_in(int dir, const char *name)
{
	size_t len = strlen(name);
	char text[16] = "";
	struct stat st;

	if (len < 5 || strcmp(name + len - 4, ".pid") != 0)
		return 0;
	ot_auto_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_roots(&st) ||
	    read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	return (pid_t)strtol(text, NULL, 10);
}

/* Set `vouched`. Any process can have a domain's name and UUID on its command line, but only libvirt can
 * write these files. */
static void read_pid_files(struct vp_qemu *list, size_t n)
{
	ot_auto_dir DIR *dir = opendir(LIBVIRT_DIR);
	const struct dirent *e;
	struct stat st;

	if (!dir || fstat(dirfd(dir), &st) || !is_roots(&st))
		return;
	for (unsigned files = 0; files < DOMAINS_MAX && (e = readdir(dir)); files++) {
		pid_t pid = pid_in(dirfd(dir), e->d_name);
		for (size_t i = 0; pid && i < n; i++)
			list[i].vouched |= list[i].pid == pid && list[i].seen;
	}
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
	read_pid_files(list, count);
	*ret = ot_move(list);
	*ret_count = count;
	return NULL;
}
