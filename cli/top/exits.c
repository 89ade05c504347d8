/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's counts of a guest's exits. QEMU holds descriptors of its vCPUs' statistics (KVM_GET_STATS_FD,
 * api.rst 4.134); a process that may ptrace it gets the same ones by pidfd_getfd(2), and reads without a call
 * of QEMU's. Else debugfs has them, if it is mounted: a folder PID-FD for each guest, with a file for each
 * count.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/top/counters.h"
#include "vmm-probe/engine/wire/vmm.h"

#define NAME_OF(id, name) name,
static const char *const names[CLI_TOP_NEXITS] = { CLI_TOP_EXITS(NAME_OF) };
#undef NAME_OF

/* --- descriptors ----------------------------------------------------------------------------------------- */

static void close_stats(struct cli_top_vmm *v)
{
	for (size_t i = 0; i < v->nstats; i++)
		close(v->stats[i]);
	v->nstats = 0;
}

/* "anon_inode:kvm-vcpu-stats:3" */
static bool is_stats(const struct cli_top_host *host, pid_t pid, const char *fd)
{
	static const char name[] = "anon_inode:kvm-vcpu-stats:";
	char path[512], link[64];

	snprintf(path, sizeof(path), "%s/%d/fd/%.16s", host->proc, (int)pid, fd);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	return n >= (ssize_t)sizeof(name) - 1 && !memcmp(link, name, sizeof(name) - 1);
}

static struct ot_err *add_stats(struct cli_top_vmm *v, int pidfd, int theirs, bool *ret_missed)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0);

	if (fd < 0) {
		*ret_missed = true;
		return NULL;
	}
	if (!ot_grow(&v->stats, &v->stats_cap, v->nstats + 1, sizeof(*v->stats))) {
		close(fd);
		return ot_err_nomem();
	}
	v->stats[v->nstats++] = fd;
	return NULL;
}

/* All of them or none: counts of some vCPUs are not the guest's. */
static struct ot_err *find_stats(struct cli_top_vmm *v, const struct cli_top_host *host)
{
	bool missed = false;
	char path[256];
	const struct dirent *e;

	snprintf(path, sizeof(path), "%s/%d/fd", host->proc, (int)v->pid);
	ot_auto_dir DIR *dir = opendir(path);
	ot_auto_close int pidfd = dir ? (int)syscall(SYS_pidfd_open, v->pid, 0) : -1;
	while (dir && pidfd >= 0 && (e = readdir(dir)))
		if (*e->d_name != '.' && is_stats(host, v->pid, e->d_name))
			OT_TRY(add_stats(v, pidfd, atoi(e->d_name), &missed));
	if (missed)
		close_stats(v);
	return NULL;
}

static struct ot_err *find_offsets(struct cli_top_vmm *v)
{
	ot_auto_free struct vp_kvm_stat *all = calloc(VP_VM_STATS_MAX, sizeof(*all));

	if (!all)
		return ot_err_nomem();
	uint32_t n = v->nstats ? vp_kvm_stats_list(v->stats[0], all, VP_VM_STATS_MAX) : 0;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < CLI_TOP_NEXITS; k++)
			if (!strcmp(all[i].name, names[k]))
				v->offsets[k] = all[i];
	if (!*v->offsets[CLI_TOP_EXIT_all].name)
		close_stats(v);
	return NULL;
}

/* --- debugfs --------------------------------------------------------------------------------------------- */

static struct ot_err *find_debugfs(struct cli_top_vmm *v, const struct cli_top_host *host)
{
	const struct dirent *e;
	char *end;

	ot_auto_dir DIR *dir = opendir(host->kvm);
	while (dir && !v->debugfs && (e = readdir(dir))) {
		struct ot_buf path;

		if (strtol(e->d_name, &end, 10) != v->pid || *end != '-')
			continue;
		ot_buf_init(&path);
		ot_buf_printf(&path, "%s/%s", host->kvm, e->d_name);
		v->debugfs = ot_buf_take(&path);
		if (!v->debugfs)
			return ot_err_nomem();
	}
	return NULL;
}

struct ot_err *cli_top_exits_find(struct cli_top_vmm *v, const struct cli_top_host *host)
{
	OT_TRY(find_stats(v, host));
	OT_TRY(find_offsets(v));
	return v->nstats ? NULL : find_debugfs(v, host);
}

/* --- reading --------------------------------------------------------------------------------------------- */

static bool read_debugfs(const struct cli_top_vmm *v, const char *name, uint64_t *ret)
{
	char path[512], text[64];

	snprintf(path, sizeof(path), "%s/%s", v->debugfs, name);
	if (!cli_top_read_text(path, text, sizeof(text)))
		return false;
	*ret = strtoull(text, NULL, 10);
	return true;
}

void cli_top_exits_read(const struct cli_top_vmm *v, struct cli_top_counters *ret)
{
	for (unsigned k = 0; k < CLI_TOP_NEXITS; k++) {
		bool known =
		    v->nstats ? *v->offsets[k].name : v->debugfs && read_debugfs(v, names[k], &ret->exits[k]);

		for (size_t i = 0; v->nstats && known && i < v->nstats; i++)
			ret->exits[k] += vp_kvm_stat_read(v->stats[i], &v->offsets[k]);
		ret->exits_known |= known ? 1u << k : 0;
	}
}
