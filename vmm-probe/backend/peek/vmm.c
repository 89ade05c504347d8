/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recognising a VMM: its program, its vCPUs by their descriptors, their threads, and the signal with which it
 * kicks them. An unknown one is refused: a signal without a handler would kill it. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/backend/peek/internal.h"
#include "vmm-probe/machines/qemu_machine.h"

#define FILE_MAX   (4u << 20)
#define PAGE       4096 /* struct kvm_run lies in the first */
#define KVM_DEVICE makedev(10, 232)
/* glibc and musl keep the first two real-time signals, musl one more, and catch them. */
#define RT_FIRST   34
#define RT_LAST    40

/* By the names of their programs. All set kvm_run.immediate_exit in the handler or recognise the signal when
 * KVM_RUN fails with EINTR, and enter again. */
static const struct {
	const char *exe;
	int kick; /* 0: the first real-time signal that it catches */
	/* prefix of the names of vCPUs' threads; NULL: those that do not block the kick */
	const char *threads;
} known[] = {
	{ "qemu-system-", SIGUSR1, NULL },
	{ "qemu-kvm", SIGUSR1, NULL },
	{ "firecracker", 0, "fc_vcpu" },
	{ "cloud-hypervisor", 0, "vcpu" },
};

/* --- /proc/PID --------------------------------------------------------------------------------------- */

static struct ot_err *proc_error(const struct vp_peek *peek, int e, const char *what)
{
	if (e == ENOENT || e == ESRCH)
		return ot_err_new(OT_ERR_NOT_FOUND, "there is no process %d", (int)peek->pid);
	if (e == EACCES || e == EPERM)
		return ot_err_new(OT_ERR_PERMISSION,
				  "process %d may not be accessed: this requires its owner's uid and "
				  "kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE (root)",
				  (int)peek->pid);
	return ot_err_os(e, "%s of process %d", what, (int)peek->pid);
}

struct ot_err *vp_peek_proc(const struct vp_peek *peek, const char *name, char **ret, size_t *ret_len)
{
	char path[320];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)peek->pid, name);
	struct ot_err *err = ot_read_file(path, FILE_MAX, ret, ret_len);
	if (!err || !ot_err_errno(err))
		return err;
	int e = ot_err_errno(err);
	ot_err_destroy(err);
	return proc_error(peek, e, name);
}

bool vp_peek_alive(const struct vp_peek *peek)
{
	struct pollfd p = { .fd = peek->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* The number after "\nNAME:\t", hexadecimal as masks of signals are; false: there is none. */
static bool mask_of(const char *status, const char *name, uint64_t *ret)
{
	const char *p = strstr(status, name);

	if (!p)
		return false;
	*ret = strtoull(p + strlen(name), NULL, 16);
	return true;
}

static bool has(uint64_t mask, int signal)
{
	return mask >> (signal - 1) & 1;
}

/* --- the process --------------------------------------------------------------------------------------- */

static struct ot_err *recognise(struct vp_peek *peek, const char **ret_threads)
{
	char path[64], exe[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)peek->pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	if (n < 0)
		return proc_error(peek, errno, "exe");
	exe[n] = '\0';
	const char *base = strrchr(exe, '/');
	base = base ? base + 1 : exe;
	for (size_t i = 0; i < OT_ARRAY_SIZE(known); i++) {
		if (strncmp(base, known[i].exe, strlen(known[i].exe)) != 0)
			continue;
		peek->kick = known[i].kick;
		*ret_threads = known[i].threads;
		return NULL;
	}
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "process %d (%s) is not a VMM whose kick is known: QEMU, Firecracker and "
			  "cloud-hypervisor are",
			  (int)peek->pid, exe);
}

static struct ot_err *check_kick(struct vp_peek *peek)
{
	ot_auto_free char *status = NULL;
	uint64_t caught;
	size_t len;

	OT_TRY(vp_peek_proc(peek, "status", &status, &len));
	if (!mask_of(status, "\nSigCgt:", &caught))
		return ot_err_new(OT_ERR_BAD_DATA, "process %d has no masks of signals", (int)peek->pid);
	for (int s = RT_FIRST; !peek->kick && s <= RT_LAST; s++)
		if (has(caught, s))
			peek->kick = s;
	if (peek->kick && has(caught, peek->kick))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED, "process %d handles no signal that kicks vCPUs",
			  (int)peek->pid);
}

/* Name the guest as an engine in the VMM would. */
static void name_it(struct vp_peek *peek, bool is_qemu)
{
	ot_auto_free char *cmdline = NULL;
	struct vp_qemu_machine machine = { 0 };
	size_t len = 0;
	ot_auto_err struct ot_err *err = vp_peek_proc(peek, "cmdline", &cmdline, &len);

	if (!err)
		vp_qemu_machine_parse(cmdline, len, &machine);
	if (*machine.name)
		memcpy(peek->name, machine.name, sizeof(peek->name));
	else
		snprintf(peek->name, sizeof(peek->name), "%s-%d", is_qemu ? "qemu" : "vmm", (int)peek->pid);
}

/* --- vCPUs --------------------------------------------------------------------------------------------- */

static struct ot_err *get_fd(const struct vp_peek *peek, int theirs, int *ret)
{
	*ret = (int)syscall(SYS_pidfd_getfd, peek->pidfd, theirs, 0);
	return *ret < 0 ? proc_error(peek, errno, "a descriptor") : NULL;
}

static struct ot_err *add_vcpu(struct vp_peek *peek, size_t *cap, int id, int theirs)
{
	ot_auto_close int fd = -1;

	if (peek->nvcpus == VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %d vCPUs", VP_VCPUS_MAX);
	for (uint32_t i = 0; i < peek->nvcpus; i++)
		if (peek->vcpus[i].id == id)
			return ot_err_new(OT_ERR_UNSUPPORTED, "process %d runs more than one guest",
					  (int)peek->pid);
	OT_TRY(get_fd(peek, theirs, &fd));
	void *run = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (run == MAP_FAILED)
		return ot_err_os(errno, "mapping vCPU %d's kvm_run", id);
	if (!ot_grow(&peek->vcpus, cap, peek->nvcpus + 1, sizeof(*peek->vcpus))) {
		munmap(run, PAGE);
		return ot_err_nomem();
	}
	struct vp_peek_vcpu *v = &peek->vcpus[peek->nvcpus++];
	memset(v, 0, sizeof(*v));
	v->id = id;
	v->stats_fd = -1;
	v->run = run;
	return NULL;
}

static void add_stats(struct vp_peek *peek, int id, int theirs)
{
	for (uint32_t i = 0; i < peek->nvcpus; i++) {
		struct vp_peek_vcpu *v = &peek->vcpus[i];
		if (v->id != id || v->stats_fd >= 0)
			continue;
		ot_auto_err struct ot_err *err = get_fd(peek, theirs, &v->stats_fd);
		if (err)
			v->stats_fd = -1;
	}
}

/* Names in /proc that are numbers; 0 of others. */
static int number(const char *name)
{
	return (int)strtol(name, NULL, 10);
}

/* "anon_inode:kvm-vcpu:3" */
static bool is_named(const char *link, const char *kind, int *ret_id)
{
	char *end;
	size_t n = strlen(kind);

	if (strncmp(link, "anon_inode:", 11) != 0 || strncmp(link + 11, kind, n) != 0)
		return false;
	long id = strtol(link + 11 + n, &end, 10);
	if (end == link + 11 + n || *end || id < 0 || id > INT32_MAX)
		return false;
	*ret_id = (int)id;
	return true;
}

/* @stats: the descriptors of vCPUs' statistics; else those of vCPUs. */
static struct ot_err *each_descriptor(struct vp_peek *peek, bool stats, size_t *cap, bool *ret_sev)
{
	char path[320], link[64];
	const struct dirent *e;
	int id;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)peek->pid);
	ot_auto_dir DIR *dir = opendir(path);
	if (!dir)
		return proc_error(peek, errno, "fd");
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)peek->pid, e->d_name);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		*ret_sev |= !strncmp(link, "/dev/sev", 8);
		if (stats && is_named(link, "kvm-vcpu-stats:", &id))
			add_stats(peek, id, number(e->d_name));
		else if (!stats && is_named(link, "kvm-vcpu:", &id))
			OT_TRY(add_vcpu(peek, cap, id, number(e->d_name)));
	}
	return NULL;
}

static int by_id(const void *a, const void *b)
{
	const struct vp_peek_vcpu *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* By the part of each that is mapped from its file's first byte on. */
static unsigned count_libraries(const char *maps)
{
	static const char name[] = "/liboutsight-kvm.so";
	unsigned n = 0;

	for (const char *p = strstr(maps, name); p; p = strstr(p + 1, name)) {
		const char *line = p;
		while (line > maps && line[-1] != '\n')
			line--;
		const char *offset = strchr(line, ' ');
		offset = offset ? strchr(offset + 1, ' ') : NULL;
		n += offset && !strncmp(offset, " 00000000 ", 10);
	}
	return n;
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
		n++;
	return n;
}

/* Keep those that are mapped more than @often. */
static void keep_mapped(struct vp_peek *peek, unsigned often)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < peek->nvcpus; i++) {
		struct vp_peek_vcpu *v = &peek->vcpus[i];
		if (v->mapped > often)
			peek->vcpus[n++] = *v;
		else
			munmap(v->run, PAGE);
	}
	peek->nvcpus = n;
}

/* VMMs map a vCPU's kvm_run before they run it. QEMU keeps the descriptor of an unplugged vCPU
 * (kvm_park_vcpu()), without a mapping and without a thread: there is nothing to sample. */
static struct ot_err *leave_out_parked(struct vp_peek *peek)
{
	ot_auto_free char *maps = NULL;
	char name[48];
	size_t len;

	OT_TRY(vp_peek_proc(peek, "maps", &maps, &len));
	for (uint32_t i = 0; i < peek->nvcpus; i++) {
		snprintf(name, sizeof(name), " anon_inode:kvm-vcpu:%d\n", peek->vcpus[i].id);
		peek->vcpus[i].mapped = count(maps, name);
	}
	keep_mapped(peek, 0);
	/* Of a dormant engine's library, which maps all vCPUs too, the parked ones included. */
	peek->libraries = count_libraries(maps);
	return NULL;
}

static struct ot_err *find_vcpus(struct vp_peek *peek)
{
	bool sev = false;
	size_t cap = 0;

	OT_TRY(each_descriptor(peek, false, &cap, &sev));
	OT_TRY(leave_out_parked(peek));
	if (!peek->nvcpus)
		return ot_err_new(OT_ERR_UNSUPPORTED, "process %d runs no guest on KVM", (int)peek->pid);
	if (sev)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the memory of process %d's guest is encrypted",
				  (int)peek->pid);
	qsort(peek->vcpus, peek->nvcpus, sizeof(*peek->vcpus), by_id);
	OT_TRY(each_descriptor(peek, true, &cap, &sev));
	peek->nstats = vp_kvm_stats_list(peek->vcpus[0].stats_fd, peek->stats, VP_VM_STATS_MAX);
	return NULL;
}

/* From the VMM's own descriptors, because the device of that name here may be another, or inaccessible. */
struct ot_err *vp_peek_kvm(const struct vp_peek *peek, int *ret_fd)
{
	char path[320];
	const struct dirent *e;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)peek->pid);
	ot_auto_dir DIR *dir = opendir(path);
	if (!dir)
		return proc_error(peek, errno, "fd");
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)peek->pid, e->d_name);
		/* By its number: in the VMM's own mount namespace, or seen from a chroot, it has another
		 * name. */
		if (!stat(path, &st) && S_ISCHR(st.st_mode) && st.st_rdev == KVM_DEVICE)
			return get_fd(peek, number(e->d_name), ret_fd);
	}
	return ot_err_new(OT_ERR_NOT_FOUND, "process %d has closed /dev/kvm", (int)peek->pid);
}

/* --- their threads -------------------------------------------------------------------------------------- */

static struct ot_err *is_vcpu_thread(const struct vp_peek *peek, const char *tid, const char *prefix,
				     bool *ret)
{
	ot_auto_free char *text = NULL;
	char name[64];
	uint64_t blocked;
	size_t len;

	snprintf(name, sizeof(name), "task/%.20s/%s", tid, prefix ? "comm" : "status");
	OT_TRY(vp_peek_proc(peek, name, &text, &len));
	*ret = prefix ? !strncmp(text, prefix, strlen(prefix))
		      : mask_of(text, "\nSigBlk:", &blocked) && !has(blocked, peek->kick);
	return NULL;
}

static int by_tid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* VMMs create their vCPUs' threads in order. If a thread is not the assumed vCPU's, its registers do not
 * arrive, and then all are kicked (sampler.c). */
static void pair(struct vp_peek *peek)
{
	qsort(peek->threads, peek->nthreads, sizeof(*peek->threads), by_tid);
	for (uint32_t i = 0; peek->nthreads == peek->nvcpus && i < peek->nvcpus; i++)
		peek->vcpus[i].tid = peek->threads[i];
}

static struct ot_err *find_threads(struct vp_peek *peek, const char *prefix)
{
	const struct dirent *e;
	size_t cap = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)peek->pid);
	ot_auto_dir DIR *dir = opendir(path);
	if (!dir)
		return proc_error(peek, errno, "task");
	while ((e = readdir(dir))) {
		bool is = false;
		if (*e->d_name == '.')
			continue;
		ot_auto_err struct ot_err *err = is_vcpu_thread(peek, e->d_name, prefix, &is);
		if (err || !is) /* it may have ended */
			continue;
		if (!ot_grow(&peek->threads, &cap, peek->nthreads + 1, sizeof(*peek->threads)))
			return ot_err_nomem();
		peek->threads[peek->nthreads++] = number(e->d_name);
	}
	if (peek->nthreads < peek->nvcpus)
		keep_mapped(peek, peek->libraries);
	if (peek->nthreads < peek->nvcpus)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "process %d has %u vCPUs and %u threads that would run them",
				  (int)peek->pid, peek->nvcpus, peek->nthreads);
	pair(peek);
	return NULL;
}

/* /proc/PID/task/TID/syscall: "NUMBER ARGUMENT ARGUMENT …", or "running" if that is not known. */
static bool waits_elsewhere(const struct vp_peek *peek, pid_t tid)
{
	ot_auto_free char *text = NULL;
	char name[64], *end;
	size_t len;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	ot_auto_err struct ot_err *err = vp_peek_proc(peek, name, &text, &len);
	if (err)
		return false;
	long nr = strtol(text, &end, 10);
	const char *request = end != text && *end == ' ' ? strchr(end + 1, ' ') : NULL;
	return request && (nr != SYS_ioctl || (unsigned)strtoul(request, NULL, 16) != KVM_RUN);
}

bool vp_peek_is_paused(const struct vp_peek *peek)
{
	for (uint32_t i = 0; i < peek->nthreads; i++)
		if (!waits_elsewhere(peek, peek->threads[i]))
			return false;
	return true;
}

struct ot_err *vp_peek_find(struct vp_peek *peek)
{
	const char *threads = NULL;

	peek->pidfd = (int)syscall(SYS_pidfd_open, peek->pid, 0);
	if (peek->pidfd < 0)
		return proc_error(peek, errno, "pidfd");
	OT_TRY(find_vcpus(peek));
	OT_TRY(recognise(peek, &threads));
	OT_TRY(check_kick(peek));
	name_it(peek, !threads);
	return find_threads(peek, threads);
}
