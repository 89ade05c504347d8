/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checking whether a process can be entered, from outside only. A process that is not recognised is
 * refused. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/inject/internal.h"
#include "vmm-probe/machines/qemu_machine.h"

/* The alternative for a VMM into which nothing may be injected; takes its PID. */
#define EXTERNALLY "; -g peek:%d samples it externally"

#define FILE_MAX (4u << 20)

/* --- /proc/PID --------------------------------------------------------------------------------------- */

/* Read /proc/PID/NAME; the caller owns *ret. */
static struct ot_err *read_proc(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	struct ot_err *err = ot_read_file(path, FILE_MAX, ret, ret_len);
	if (err && (ot_err_errno(err) == ENOENT || ot_err_errno(err) == ESRCH)) {
		ot_err_destroy(err);
		return ot_err_new(OT_ERR_NOT_FOUND, "there is no process %d", (int)pid);
	}
	return err;
}

/* The value after "\nNAME:\t"; "": none. */
static const char *field(const char *status, const char *name)
{
	const char *p = strstr(status, name);

	return p ? p + strlen(name) + strspn(p + strlen(name), " \t") : "";
}

/* The first number there; 0: none. */
static unsigned long number(const char *status, const char *name)
{
	return strtoul(field(status, name), NULL, 10);
}

static struct ot_err *check_status(pid_t pid, const char *status, bool qemu)
{
	int tracer = (int)number(status, "\nTracerPid:");
	char state = *field(status, "\nState:");

	if (state == 'Z' || state == 'X')
		return ot_err_new(OT_ERR_NOT_FOUND, "process %d has ended", (int)pid);
	if (tracer)
		return ot_err_new(OT_ERR_BUSY, "process %d is being traced by process %d (a debugger?)",
				  (int)pid, tracer);
	if (state == 'T' || state == 't')
		return ot_err_new(OT_ERR_BUSY, "process %d is stopped: SIGCONT resumes it", (int)pid);
	/* QEMU's filter is a deny-list; others are allow-lists. */
	if (number(status, "\nSeccomp:") == 2 && !qemu)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "process %d has its own seccomp filter, which may kill it for system calls "
				  "of the injected library" EXTERNALLY,
				  (int)pid, (int)pid);
	if (strstr(field(status, "\nx86_Thread_features:"), "shstk") &&
	    strcspn(field(status, "\nx86_Thread_features:"), "\n") >= 5)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "process %d has a shadow stack: no call can be injected" EXTERNALLY,
				  (int)pid, (int)pid);
	return NULL;
}

static struct ot_err *read_exe(pid_t pid, char *ret, size_t size)
{
	unsigned char ident[5];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, ret, size - 1);
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ret[n > 0 ? n : 0] = '\0';
	if (n < 0 || fd < 0)
		return ot_err_os(errno, "%s", path);
	if (read(fd, ident, sizeof(ident)) == sizeof(ident) && ident[4] == 2)
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "process %d is not a 64-bit program: only 64-bit QEMU can be entered", (int)pid);
}

/* Count vCPUs by their descriptors, and detect SEV. */
static struct ot_err *read_descriptors(pid_t pid, unsigned *ret_nvcpus, bool *ret_sev)
{
	char path[300], is[64];
	const struct dirent *e;

	*ret_nvcpus = 0;
	*ret_sev = false;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	ot_auto_dir DIR *dir = opendir(path);
	if (!dir)
		return ot_err_os(errno, "%s", path);
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)pid, e->d_name);
		ssize_t n = readlink(path, is, sizeof(is) - 1);
		is[n > 0 ? n : 0] = '\0';
		*ret_nvcpus += !strncmp(is, "anon_inode:kvm-vcpu:", 20);
		*ret_sev |= !strncmp(is, "/dev/sev", 8);
	}
	return NULL;
}

static bool is_qemu(const char *exe)
{
	const char *base = strrchr(exe, '/');

	base = base ? base + 1 : exe;
	return !strncmp(base, "qemu-system-", 12) || !strncmp(base, "qemu-kvm", 8);
}

/* Read an enforced profile: AppArmor's "NAME (enforce)", or an SELinux context. */
static void read_confined(pid_t pid, char *ret, size_t size)
{
	ot_auto_free char *text = NULL;
	size_t len = 0;
	ot_auto_err struct ot_err *err = read_proc(pid, "attr/current", &text, &len);

	*ret = '\0';
	if (err || !text || !strcmp(text, "unconfined\n") ||
	    !(strstr(text, "enforce") || strstr(text, "svirt")))
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(ret, size, "%s", text);
}

/* --- the whole --------------------------------------------------------------------------------------- */

static struct ot_err *check_guest(pid_t pid, struct vp_target *t, bool qemu)
{
	ot_auto_free char *cmdline = NULL;
	struct vp_qemu_machine machine;
	size_t len = 0;
	bool sev;

	OT_TRY(read_descriptors(pid, &t->nvcpus, &sev));
	if (!t->nvcpus)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  qemu ? "process %d runs its guest without KVM: start it with the plugin "
					 "liboutsight-tcg.so"
				       : "process %d runs no guest with KVM",
				  (int)pid);
	if (!qemu)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "process %d (%s) is not QEMU: no other VMM can be entered" EXTERNALLY,
				  (int)pid, t->exe, (int)pid);
	OT_TRY(read_proc(pid, "cmdline", &cmdline, &len));
	vp_qemu_machine_parse(cmdline, len, &machine);
	if (sev || machine.confidential)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the memory of process %d's guest is encrypted",
				  (int)pid);
	snprintf(t->name, sizeof(t->name), "%s", machine.name);
	return NULL;
}

/* Find the addresses for the call: dlopen(), and libc's instructions that call rt_sigreturn(2). */
static struct ot_err *find_calls(struct vp_target *t)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	struct ot_err *err = vp_remote_find(t->pid, "/libc.so.6", 0, &t->libc);

	if (err && ot_err_code(err) == OT_ERR_NOT_FOUND) {
		ot_err_destroy(err);
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "process %d is linked statically, or with another libc: nothing can be "
				  "loaded into it" EXTERNALLY,
				  (int)t->pid, (int)t->pid);
	}
	OT_TRY(err);
	err = vp_remote_symbol(t->pid, &t->libc, "dlopen", &t->dlopen);
	if (err) {
		/* before glibc 2.34 */
		ot_err_destroy(err);
		OT_TRY(vp_remote_symbol(t->pid, &t->libc, "__libc_dlopen_mode", &t->dlopen));
	}
	return vp_remote_code(t->pid, &t->libc, sigreturn, sizeof(sigreturn), &t->restorer);
}

static struct ot_err *open_handles(struct vp_target *t)
{
	char path[64];

	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	if (t->pidfd < 0)
		return ot_err_os(errno, "pidfd_open of process %d", (int)t->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	return t->mem < 0 ? ot_err_os(errno, "%s", path) : NULL;
}

static struct ot_err *check_target(struct vp_target *t)
{
	ot_auto_free char *status = NULL;
	size_t len = 0;

	OT_TRY(read_proc(t->pid, "status", &status, &len));
	t->uid = (uid_t)number(status, "\nUid:");
	OT_TRY(read_exe(t->pid, t->exe, sizeof(t->exe)));
	OT_TRY(check_status(t->pid, status, is_qemu(t->exe)));
	OT_TRY(check_guest(t->pid, t, is_qemu(t->exe)));
	read_confined(t->pid, t->confined, sizeof(t->confined));
	OT_TRY(find_calls(t));
	return open_handles(t);
}

struct ot_err *vp_target_open(pid_t pid, struct vp_target *ret)
{
	*ret = (struct vp_target){ .pid = pid, .pidfd = -1, .mem = -1 };
	struct ot_err *err = check_target(ret);
	if (!err)
		return NULL;
	vp_target_close(ret);
	if (ot_err_code(err) != OT_ERR_PERMISSION)
		return err;
	ot_err_destroy(err);
	return vp_vmm_forbidden(pid);
}

void vp_target_close(struct vp_target *t)
{
	ot_cleanup_close(&t->pidfd);
	ot_cleanup_close(&t->mem);
	t->pidfd = t->mem = -1;
}

/* --- all of them ------------------------------------------------------------------------------------- */

size_t vp_inject_list(pid_t *ret, size_t max)
{
	ot_auto_dir DIR *dir = opendir("/proc");
	const struct dirent *e;
	struct vp_mapped m;
	size_t n = 0;

	while (dir && n < max && (e = readdir(dir))) {
		pid_t p = (pid_t)strtol(e->d_name, NULL, 10);
		if (p <= 0)
			continue;
		ot_auto_err struct ot_err *err = vp_remote_find(p, "/" VP_HOOK_LIBRARY, 0, &m);
		if (!err)
			ret[n++] = p;
	}
	return n;
}
