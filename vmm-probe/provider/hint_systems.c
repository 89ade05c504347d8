/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other systems' names of probes. Names of the same thing match in a description; names of something similar
 * are suggested for a description that matches nothing. Sources: the manual pages of Solaris, FreeBSD and
 * macOS, section 2, Linux's syscalls(2), and the lists of static probes in their DTrace guides.
 */
#include "vmm-probe/provider/hint_systems.h"

#include <string.h>

#include "base/compiler.h"

/* The similarity of a system call to the other system's: similar effect; also the same result; also the same
 * parameters, up to the last common one. */
enum likeness {
	LIKE,
	RESULT,
	SAME,
};

struct renamed {
	const char *theirs, *ours;
	enum likeness likeness;
};

/* System calls with the same effect. A function that a C library implements by several calls has no entry. */
static const struct renamed calls[] = {
	{ "exece", "execve", SAME },
	/* names in Linux's manual; the kernel's functions of these names are older calls */
	{ "stat", "newstat", SAME },
	{ "lstat", "newlstat", SAME },
	{ "fstat", "newfstat", SAME },
	{ "uname", "newuname", SAME },
	{ "sendfile", "sendfile64", SAME },
	/* names on other systems */
	{ "rexit", "exit_group", SAME },
	{ "sys_exit", "exit_group", SAME },
	{ "fork1", "clone", RESULT },
	{ "forksys", "clone", RESULT },
	{ "forkall", "clone", RESULT },
	{ "rfork", "clone", RESULT },
	{ "posix_spawn", "execve", LIKE },
	{ "bsdthread_create", "clone", LIKE },
	{ "lwp_create", "clone", LIKE },
	{ "thr_new", "clone", LIKE },
	{ "lwp_exit", "exit", LIKE },
	{ "thr_exit", "exit", LIKE },
	{ "lwp_kill", "tgkill", RESULT },
	{ "thr_kill", "tgkill", RESULT },
	{ "lwp_park", "futex", LIKE },
	{ "_umtx_op", "futex", LIKE },
	{ "ulock_wait", "futex", LIKE },
	{ "psynch_cvwait", "futex", LIKE },
	{ "yield", "sched_yield", SAME },
	{ "gtime", "time", SAME },
	{ "open64", "open", SAME },
	{ "openat64", "openat", SAME },
	{ "creat64", "creat", SAME },
	{ "stat64", "newstat", SAME },
	{ "lstat64", "newlstat", SAME },
	{ "fstat64", "newfstat", SAME },
	{ "fstatat", "newfstatat", SAME },
	{ "fstatat64", "newfstatat", SAME },
	{ "statvfs", "statfs", SAME },
	{ "statvfs64", "statfs", SAME },
	{ "fstatvfs", "fstatfs", SAME },
	{ "fstatvfs64", "fstatfs", SAME },
	{ "getdirentries", "getdents64", SAME },
	{ "getdirentries64", "getdents64", SAME },
	{ "pread", "pread64", SAME },
	{ "pwrite", "pwrite64", SAME },
	{ "llseek", "lseek", RESULT },
	{ "mmap64", "mmap", SAME },
	{ "memcntl", "madvise", LIKE },
	{ "umount2", "umount", SAME },
	{ "unmount", "umount", SAME },
	{ "resolvepath", "readlink", LIKE },
	{ "pollsys", "ppoll", LIKE },
	{ "kevent", "epoll_wait", LIKE },
	{ "so_socket", "socket", SAME },
	{ "so_socketpair", "socketpair", LIKE },
	{ "recv", "recvfrom", SAME },
	{ "send", "sendto", SAME },
	{ "sendfilev", "sendfile64", LIKE },
	{ "sigaction", "rt_sigaction", SAME },
	{ "lwp_sigmask", "rt_sigprocmask", RESULT },
	{ "sigprocmask", "rt_sigprocmask", SAME },
	{ "sigsuspend", "rt_sigsuspend", SAME },
	{ "sigtimedwait", "rt_sigtimedwait", SAME },
	{ "sigpending", "rt_sigpending", RESULT },
	{ "sigreturn", "rt_sigreturn", SAME },
	{ "uadmin", "reboot", LIKE },
	{ "shmsys", "shmget", LIKE },
	{ "semsys", "semop", LIKE },
	{ "msgsys", "msgsnd", LIKE },
	{ "open_nocancel", "open", SAME },
	{ "openat_nocancel", "openat", SAME },
	{ "close_nocancel", "close", SAME },
	{ "read_nocancel", "read", SAME },
	{ "pread_nocancel", "pread64", SAME },
	{ "readv_nocancel", "readv", SAME },
	{ "write_nocancel", "write", SAME },
	{ "pwrite_nocancel", "pwrite64", SAME },
	{ "writev_nocancel", "writev", SAME },
	{ "select_nocancel", "select", SAME },
	{ "poll_nocancel", "poll", SAME },
	{ "accept_nocancel", "accept", SAME },
	{ "connect_nocancel", "connect", SAME },
	{ "recvfrom_nocancel", "recvfrom", SAME },
	{ "sendto_nocancel", "sendto", SAME },
	{ "fcntl_nocancel", "fcntl", SAME },
	{ "waitsys", "waitid", SAME },
	{ "__getcwd", "getcwd", SAME },
	{ "sigsendsys", "kill", LIKE },
	{ "fsync_nocancel", "fsync", SAME },
	{ "msync_nocancel", "msync", SAME },
	{ "wait4_nocancel", "wait4", SAME },
	{ "waitid_nocancel", "waitid", SAME },
	{ "recvmsg_nocancel", "recvmsg", SAME },
	{ "sendmsg_nocancel", "sendmsg", SAME },
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

/* Functions of the kernel with the same effect; their arguments differ. */
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
	/* names of older versions of Linux */
	{ "do_fork", "kernel_clone" },
	{ "_do_fork", "kernel_clone" },
	{ "generic_make_request", "submit_bio_noacct" },
};

/* Counters of mib that have 64 bits there. */
static const struct renamed counters[] = {
	{ "ipIfStatsHCInReceives", "ipInReceives", SAME },
	{ "ipIfStatsHCInDelivers", "ipInDelivers", SAME },
	{ "ipIfStatsHCOutRequests", "ipOutRequests", SAME },
	{ "ipIfStatsHCOutForwDatagrams", "ipForwDatagrams", SAME },
	{ "tcpHCInSegs", "tcpInSegs", SAME },
	{ "tcpHCOutSegs", "tcpOutSegs", SAME },
	{ "udpHCInDatagrams", "udpInDatagrams", SAME },
	{ "udpHCOutDatagrams", "udpOutDatagrams", SAME },
};

/* The only function there in which such a probe fires. */
static const struct {
	const char *provider, *function, *name;
} places[] = {
	{ "io", "bdev_strategy", "start" }, { "io", "biodone", "done" },
	{ "proc", "cfork", "create" },      { "proc", "proc_exit", "exit" },
	{ "proc", "lwp_exit", "lwp-exit" }, { "sched", "resume", "on-cpu" },
};

static const struct renamed *find_row(const struct renamed *table, size_t n, const char *theirs)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].theirs, theirs))
			return &table[i];
	return NULL;
}

static const char *find(const struct renamed *table, size_t n, const char *theirs)
{
	const struct renamed *row = find_row(table, n, theirs);

	return row ? row->ours : NULL;
}

/* Those whose probes have the same meaning in every kernel, independent of the function in which they
 * fire. */
static bool is_common(const char *provider)
{
	static const char *const names[] = { "io",       "proc",   "sched", "vminfo", "sysinfo",
					     "lockstat", "fsinfo", "ip",    "tcp",    "udp" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], provider))
			return true;
	return false;
}

/* Functions of system calls had these names before Linux 4.17. */
static bool is_older_call(const char *function)
{
	return !strncmp(function, "sys_", 4) || !strncmp(function, "SyS_", 4);
}

static const char *function_of_linux(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	const char *name = find(functions, OT_ARRAY_SIZE(functions), desc->function);

	if (!name && is_older_call(desc->function)) {
		ret->provider = "syscall";
		name = desc->function + 4;
	}
	ret->function = name;
	ret->module = "";
	return name;
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
		name = function_of_linux(desc, ret);
	} else if (!strcmp(desc->provider, "rawfbt")) {
		name = ret->provider = "fbt";
	} else if (is_common(desc->provider) && *desc->function) {
		name = desc->name;
		ret->module = ret->function = "";
	}
	return name != NULL;
}

/* A return has the result only; an entry, or both, the parameters. */
static bool same_call(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	const struct renamed *row = find_row(calls, OT_ARRAY_SIZE(calls), desc->function);

	if (!row || row->likeness < (strcmp(desc->name, "return") != 0 ? SAME : RESULT))
		return false;
	ret->function = row->ours;
	return true;
}

static bool same_place(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(places); i++) {
		if (strcmp(desc->provider, places[i].provider) != 0 ||
		    strcmp(desc->function, places[i].function) != 0 ||
		    strcmp(desc->name, places[i].name) != 0)
			continue;
		ret->function = "";
		return true;
	}
	return false;
}

bool vp_probe_same_of_linux(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	if (desc->id || !desc->provider || !desc->function || !desc->name)
		return false;
	*ret = *desc;
	if (!strcmp(desc->provider, "syscall"))
		return same_call(desc, ret);
	if (!strcmp(desc->provider, "mib")) {
		ret->name = find(counters, OT_ARRAY_SIZE(counters), desc->name);
		return ret->name;
	}
	/* Oracle's DTrace has the event's system as its module. */
	if (!strcmp(desc->provider, "rawtp")) {
		ret->module = "";
		return *desc->name;
	}
	return same_place(desc, ret);
}
