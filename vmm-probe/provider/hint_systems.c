/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other systems' names of probes, for the hint that a description gets which matches nothing. Sources: the
 * manual pages of Solaris, FreeBSD and macOS, section 2, and the lists of static probes in their DTrace
 * guides.
 */
#include "vmm-probe/provider/hint_systems.h"

#include <string.h>

#include "base/compiler.h"

struct renamed {
	const char *theirs, *ours;
};

/* System calls that do the same. What a C library makes of several calls has no entry. */
static const struct renamed calls[] = {
	{ "exece", "execve" },
	{ "rexit", "exit_group" },
	{ "fork1", "fork" },
	{ "forksys", "clone" },
	{ "forkall", "fork" },
	{ "rfork", "clone" },
	{ "posix_spawn", "execve" },
	{ "bsdthread_create", "clone" },
	{ "lwp_create", "clone" },
	{ "thr_new", "clone" },
	{ "lwp_exit", "exit" },
	{ "thr_exit", "exit" },
	{ "lwp_kill", "tgkill" },
	{ "thr_kill", "tgkill" },
	{ "lwp_park", "futex" },
	{ "_umtx_op", "futex" },
	{ "ulock_wait", "futex" },
	{ "psynch_cvwait", "futex" },
	{ "yield", "sched_yield" },
	{ "gtime", "time" },
	{ "open64", "open" },
	{ "openat64", "openat" },
	{ "creat64", "creat" },
	{ "stat64", "newstat" },
	{ "lstat64", "newlstat" },
	{ "fstat64", "newfstat" },
	{ "fstatat", "newfstatat" },
	{ "fstatat64", "newfstatat" },
	{ "statvfs", "statfs" },
	{ "statvfs64", "statfs" },
	{ "fstatvfs", "fstatfs" },
	{ "fstatvfs64", "fstatfs" },
	{ "getdirentries", "getdents64" },
	{ "getdirentries64", "getdents64" },
	{ "pread", "pread64" },
	{ "pwrite", "pwrite64" },
	{ "llseek", "lseek" },
	{ "mmap64", "mmap" },
	{ "memcntl", "madvise" },
	{ "umount2", "umount" },
	{ "unmount", "umount" },
	{ "resolvepath", "readlink" },
	{ "pollsys", "ppoll" },
	{ "kevent", "epoll_wait" },
	{ "so_socket", "socket" },
	{ "so_socketpair", "socketpair" },
	{ "recv", "recvfrom" },
	{ "send", "sendto" },
	{ "sendfilev", "sendfile64" },
	{ "sigaction", "rt_sigaction" },
	{ "lwp_sigmask", "rt_sigprocmask" },
	{ "sigprocmask", "rt_sigprocmask" },
	{ "sigsuspend", "rt_sigsuspend" },
	{ "sigtimedwait", "rt_sigtimedwait" },
	{ "sigpending", "rt_sigpending" },
	{ "sigreturn", "rt_sigreturn" },
	{ "uadmin", "reboot" },
	{ "shmsys", "shmget" },
	{ "semsys", "semop" },
	{ "msgsys", "msgsnd" },
	{ "open_nocancel", "open" },
	{ "openat_nocancel", "openat" },
	{ "close_nocancel", "close" },
	{ "read_nocancel", "read" },
	{ "pread_nocancel", "pread64" },
	{ "readv_nocancel", "readv" },
	{ "write_nocancel", "write" },
	{ "pwrite_nocancel", "pwrite64" },
	{ "writev_nocancel", "writev" },
	{ "select_nocancel", "select" },
	{ "poll_nocancel", "poll" },
	{ "accept_nocancel", "accept" },
	{ "connect_nocancel", "connect" },
	{ "recvfrom_nocancel", "recvfrom" },
	{ "sendto_nocancel", "sendto" },
	{ "fcntl_nocancel", "fcntl" },
};

/* Static probes of the kernel, by the name of the probe. */
static const struct renamed statics[] = {
	{ "interrupt-start", "irq_handler_entry" },
	{ "interrupt-complete", "irq_handler_exit" },
	{ "taskq-enqueue", "workqueue_queue_work" },
	{ "taskq-exec-start", "workqueue_execute_start" },
	{ "taskq-exec-end", "workqueue_execute_end" },
	{ "callout-start", "timer_expire_entry" },
	{ "callout-end", "timer_expire_exit" },
	{ "scsi-transport-dispatch", "scsi_dispatch_cmd_start" },
};

/* Functions of the kernel that do the same; their arguments differ. */
static const struct renamed functions[] = {
	{ "fop_open", "vfs_open" },
	{ "fop_read", "vfs_read" },
	{ "fop_write", "vfs_write" },
	{ "fop_create", "vfs_create" },
	{ "fop_remove", "vfs_unlink" },
	{ "fop_rename", "vfs_rename" },
	{ "fop_mkdir", "vfs_mkdir" },
	{ "fop_rmdir", "vfs_rmdir" },
	{ "fop_readdir", "iterate_dir" },
	{ "fop_getattr", "vfs_getattr" },
	{ "fop_fsync", "vfs_fsync_range" },
	{ "VNOP_OPEN", "vfs_open" },
	{ "VNOP_READ", "vfs_read" },
	{ "VNOP_WRITE", "vfs_write" },
	{ "VNOP_CREATE", "vfs_create" },
	{ "VNOP_REMOVE", "vfs_unlink" },
	{ "pagefault", "handle_mm_fault" },
	{ "vm_fault", "handle_mm_fault" },
	{ "bdev_strategy", "submit_bio_noacct" },
	{ "biodone", "bio_endio" },
	{ "swtch", "__schedule" },
	{ "mi_switch", "__schedule" },
	{ "sotpi_accept", "inet_accept" },
	{ "sotpi_connect", "inet_stream_connect" },
};

static const char *find(const struct renamed *table, size_t n, const char *theirs)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].theirs, theirs))
			return table[i].ours;
	return NULL;
}

/* Those whose probes have a meaning, whatever function of a kernel they fire in. */
static bool is_common(const char *provider)
{
	static const char *const names[] = { "io",       "proc",   "sched", "vminfo", "sysinfo",
					     "lockstat", "fsinfo", "ip",    "tcp",    "udp" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], provider))
			return true;
	return false;
}

bool vp_probe_of_linux(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	const char *name = NULL;

	if (!desc->provider || !desc->function || !desc->name)
		return false;
	*ret = *desc;
	if (!strcmp(desc->provider, "syscall")) {
		name = find(calls, OT_ARRAY_SIZE(calls), desc->function);
		ret->function = name;
	} else if (!strcmp(desc->provider, "sdt")) {
		name = find(statics, OT_ARRAY_SIZE(statics), desc->name);
		ret->name = name;
		ret->module = ret->function = "";
	} else if (!strcmp(desc->provider, "fbt")) {
		name = find(functions, OT_ARRAY_SIZE(functions), desc->function);
		ret->function = name;
		ret->module = "";
	} else if (is_common(desc->provider) && *desc->function) {
		name = desc->name;
		ret->module = ret->function = "";
	}
	return name != NULL;
}
