/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of a VMM's process: see counters.h. Read at each refresh for each guest, so a few small files
 * each, and no folder. */
#include "cli/top/counters.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define THREADS_MAX 4096u

/* Fields of proc(5)'s stat, by their numbers there. */
enum {
	STAT_MINFLT = 10,
	STAT_MAJFLT = 12,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_STARTTIME = 22,
	STAT_GUEST = 43,
	STAT_FIELDS
};

bool cli_top_read_text(const char *path, char *buf, size_t size)
{
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Fields from the third on; the second is a name in brackets, which may contain anything. False: not such a
 * line. */
static bool parse_stat(const char *text, uint64_t fields[STAT_FIELDS])
{
	const char *p = strrchr(text, ')');
	char *end;

	memset(fields, 0, STAT_FIELDS * sizeof(*fields));
	if (!p || p[1] != ' ' || !p[2])
		return false;
	p += 3; /* after the state */
	for (unsigned i = 4; i < STAT_FIELDS; i++) {
		fields[i] = strtoull(p, &end, 10);
		if (end == p)
			return i > STAT_STARTTIME;
		p = end;
	}
	return true;
}

static bool read_stat(const char *path, uint64_t fields[STAT_FIELDS])
{
	char text[1024];

	return cli_top_read_text(path, text, sizeof(text)) && parse_stat(text, fields);
}

/* --- threads --------------------------------------------------------------------------------------------- */

/* QEMU's threads of vCPUs, if it names its threads (libvirt configures that), and those of other VMMs. */
static bool is_named_vcpu(const char *name)
{
	return !strncmp(name, "CPU ", 4) || !strncmp(name, "vcpu", 4) || !strncmp(name, "fc_vcpu", 7);
}

/* Without names: a thread that has been in a guest, on KVM. */
static bool is_vcpu(const struct cli_top_host *host, pid_t pid, const char *tid)
{
	uint64_t fields[STAT_FIELDS];
	char path[512], name[64];

	snprintf(path, sizeof(path), "%s/%d/task/%.16s/comm", host->proc, (int)pid, tid);
	if (cli_top_read_text(path, name, sizeof(name)) && is_named_vcpu(name))
		return true;
	snprintf(path, sizeof(path), "%s/%d/task/%.16s/stat", host->proc, (int)pid, tid);
	return read_stat(path, fields) && fields[STAT_GUEST];
}

/* The vCPUs' threads, or all if the vCPUs' are unknown. */
static void keep_vcpus(struct cli_top_vmm *v, const bool *vcpu)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nthreads; i++)
		if (vcpu[i])
			v->threads[n++] = v->threads[i];
	v->nthreads = n ? n : v->nthreads;
}

struct ot_err *cli_top_vmm_threads(struct cli_top_vmm *v, const struct cli_top_host *host)
{
	bool vcpu[THREADS_MAX];
	const struct dirent *e;
	char path[256];

	v->nthreads = 0;
	snprintf(path, sizeof(path), "%s/%d/task", host->proc, (int)v->pid);
	ot_auto_dir DIR *dir = opendir(path);
	if (!dir)
		return ot_err_new(OT_ERR_NOT_FOUND, "there is no process %d", (int)v->pid);
	while (v->nthreads < THREADS_MAX && (e = readdir(dir))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		if (!ot_grow(&v->threads, &v->threads_cap, v->nthreads + 1, sizeof(*v->threads)))
			return ot_err_nomem();
		vcpu[v->nthreads] = is_vcpu(host, v->pid, e->d_name);
		v->threads[v->nthreads++] = tid;
	}
	keep_vcpus(v, vcpu);
	return NULL;
}

struct ot_err *cli_top_vmm_init(struct cli_top_vmm *v, const struct cli_top_host *host, pid_t pid)
{
	*v = (struct cli_top_vmm){ .pid = pid };
	struct ot_err *err = cli_top_vmm_threads(v, host);
	if (!err)
		err = cli_top_exits_find(v, host);
	if (err)
		cli_top_vmm_deinit(v);
	return err;
}

void cli_top_vmm_deinit(struct cli_top_vmm *v)
{
	for (size_t i = 0; i < v->nstats; i++)
		close(v->stats[i]);
	free(v->stats);
	free(v->threads);
	free(v->debugfs);
	*v = (struct cli_top_vmm){ 0 };
}

/* --- reading --------------------------------------------------------------------------------------------- */

/* schedstat: time run, time waited, slices; nanoseconds. */
static void read_waits(const struct cli_top_vmm *v, const struct cli_top_host *host,
		       struct cli_top_counters *ret)
{
	unsigned long long ran, waited;
	char path[256], text[128];

	for (size_t i = 0; i < v->nthreads; i++) {
		snprintf(path, sizeof(path), "%s/%d/task/%d/schedstat", host->proc, (int)v->pid,
			 (int)v->threads[i]);
		if (!cli_top_read_text(path, text, sizeof(text)) ||
		    sscanf(text, "%llu %llu", &ran, &waited) != 2)
			continue;
		ret->has_wait = true;
		ret->wait_ns += waited;
	}
}

/* The number after "\nNAME: "; false: there is none. */
static bool take_member(const char *text, const char *name, uint64_t *ret)
{
	const char *p = strstr(text, name);

	if (!p)
		return false;
	*ret = strtoull(p + strlen(name), NULL, 10);
	return true;
}

/* Reading it needs permission to ptrace the process. */
static void read_io(const struct cli_top_vmm *v, const struct cli_top_host *host,
		    struct cli_top_counters *ret)
{
	char path[256], text[512];

	snprintf(path, sizeof(path), "%s/%d/io", host->proc, (int)v->pid);
	ret->has_io = cli_top_read_text(path, text, sizeof(text)) &&
		      take_member(text, "\nread_bytes: ", &ret->read_bytes) &&
		      take_member(text, "\nwrite_bytes: ", &ret->written_bytes);
}

bool cli_top_counters_read(const struct cli_top_vmm *v, const struct cli_top_host *host,
			   struct cli_top_counters *ret)
{
	const uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t fields[STAT_FIELDS];
	char path[256];

	*ret = (struct cli_top_counters){ .at_ns = ot_now_ns() };
	snprintf(path, sizeof(path), "%s/%d/stat", host->proc, (int)v->pid);
	if (!read_stat(path, fields))
		return false;
	ret->began = fields[STAT_STARTTIME];
	ret->cpu_ns = (fields[STAT_UTIME] + fields[STAT_STIME]) * tick_ns;
	ret->faults = fields[STAT_MINFLT] + fields[STAT_MAJFLT];
	read_waits(v, host, ret);
	read_io(v, host, ret);
	cli_top_exits_read(v, ret);
	return true;
}
