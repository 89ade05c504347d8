/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting a VMM as a child, by fork: between it and exec only async-signal-safe calls. */
#include "vmm-probe/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/installed.h"
#include "base/io.h"
#include "base/thread.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hosts/engine_files.h"
#include "vmm-probe/launch/tail.h"

#define QEMU_MIN     10
#define ARGS_MAX     512
#define ANSWER_S     30u
#define STOP_MS      5000
#define STEP_MS      10
#define PANIC_MAX    256
#define SAID_MAX     1500 /* of QEMU's output, in an error */
#define MONITOR_FILE "outsight-vmm"
#define VERSION_SIZE 4096

struct vp_launched {
	pid_t pid; /* 0: none, or waited for */
	int pidfd;
	int log;                 /* memfd with QEMU's output */
	struct vp_tail *console; /* NULL: it goes elsewhere */
	const char *what;        /* for messages: "QEMU" */
	char socket[108];
};

/* --- children ----------------------------------------------------------------------------- */

/* In the child: exec, or the reason why not through @status. */
static OT_NORETURN void run_child(char *const *argv, int out, int status, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), err;

	/* A group of its own: Ctrl-C in the terminal is for the tracer, which then stops the guest. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ot_signals_unblock();
	if (getppid() != parent)
		_exit(127);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
		execvp(argv[0], argv);
	err = errno;
	if (write(status, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* Start @argv with its output in @out. */
static struct ot_err *start_child(char *const *argv, int out, pid_t *ret)
{
	ot_auto_close int status_read = -1, status_write = -1;
	pid_t parent = getpid(), pid;
	int pipes[2], failed = 0;
	ssize_t n;

	if (pipe2(pipes, O_CLOEXEC))
		return ot_err_os(errno, "pipe");
	status_read = pipes[0];
	status_write = pipes[1];
	pid = fork();
	if (pid < 0)
		return ot_err_os(errno, "fork");
	if (pid == 0)
		run_child(argv, out, status_write, parent);
	close(ot_move_fd(status_write));
	do
		n = read(status_read, &failed, sizeof(failed));
	while (n < 0 && errno == EINTR);
	if (n == 0) {
		*ret = pid;
		return NULL;
	}
	waitpid(pid, NULL, 0);
	if (failed == ENOENT)
		return ot_err_new(OT_ERR_NOT_FOUND,
				  "%s is not installed (Debian: apt install qemu-system-x86)", argv[0]);
	return ot_err_os(failed, "%s can't be run", argv[0]);
}

/* Everything in @fd so far, at most @size - 1 bytes from its end, without the last newline. */
static void read_output(int fd, char *buf, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	off_t from = end > (off_t)size - 1 ? end - ((off_t)size - 1) : 0;
	ssize_t n = pread(fd, buf, size - 1, from);

	if (n < 0)
		n = 0;
	while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == ' '))
		n--;
	buf[n] = '\0';
}

/* --- before the guest --------------------------------------------------------------------- */

static struct ot_err *check_version(const char *qemu)
{
	ot_auto_close int out = memfd_create("qemu-version", MFD_CLOEXEC);
	/* other programs have versions too, and licences of a version */
	static const char says[] = "QEMU emulator version ";
	char *argv[] = { (char *)qemu, (char *)"--version", NULL };
	char text[VERSION_SIZE];
	const char *number;
	pid_t pid = 0;

	if (out < 0)
		return ot_err_os(errno, "memfd_create");
	OT_TRY(start_child(argv, out, &pid));
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	read_output(out, text, sizeof(text));
	number = strstr(text, says);
	if (!number)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s is no QEMU: its --version prints \"%.*s\"", qemu,
				  (int)strcspn(text, "\n"), text);
	number += strlen(says);
	if (strtol(number, NULL, 10) < QEMU_MIN)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "%s is QEMU %.*s, and its plugins can't read registers: QEMU %d or later is needed "
		    "(Debian 12: apt install -t bookworm-backports qemu-system-x86)",
		    qemu, (int)strcspn(number, " \n("), number, QEMU_MIN);
	return NULL;
}

static struct ot_err *check_file(const char *what, const char *path)
{
	if (path && access(path, R_OK))
		return errno == ENOENT ? ot_err_new(OT_ERR_NOT_FOUND, "there is no %s %s", what, path)
				       : ot_err_os(errno, "%s %s can't be read", what, path);
	return NULL;
}

/* --- QEMU's arguments --------------------------------------------------------------------- */

struct args {
	struct ot_arena *arena;
	char *v[ARGS_MAX];
	size_t n;
	bool failed; /* no memory, or too many */
};

static void add(struct args *args, const char *value)
{
	char *copy = args->n + 1 < ARGS_MAX && value ? ot_arena_strdup(args->arena, value) : NULL;

	if (copy)
		args->v[args->n++] = copy;
	else
		args->failed = true;
}

static void add2(struct args *args, const char *option, const char *value)
{
	add(args, option);
	add(args, value);
}

/* In QEMU's options a comma is written twice. */
static const char *escape(struct args *args, const char *s)
{
	struct ot_buf buf;
	char *ret;

	ot_buf_init(&buf);
	for (; *s; s++) {
		if (*s == ',')
			ot_buf_putc(&buf, ',');
		ot_buf_putc(&buf, *s);
	}
	ret = ot_arena_strdup(args->arena, ot_buf_str(&buf));
	if (buf.failed || !ret)
		args->failed = true;
	ot_buf_deinit(&buf);
	return ret ? ret : "";
}

/* QEMU's own options may use the serial port otherwise. */
static bool has_own_console(const struct vp_launch_opts *opts)
{
	for (size_t i = 0; i < opts->nextra; i++)
		if (!strcmp(opts->extra[i], "-serial") || !strcmp(opts->extra[i], "--serial") ||
		    !strcmp(opts->extra[i], "-nographic") || !strcmp(opts->extra[i], "--nographic"))
			return true;
	return false;
}

static void add_console(struct args *args, const char *serial)
{
	const char *path = serial;

	if (!serial)
		return;
	/* QEMU's own stderr goes into our log. */
	if (strcmp(serial, "-") == 0)
		path = ot_arena_printf(args->arena, "/proc/%d/fd/2", (int)getpid());
	add2(args, "-chardev",
	     ot_arena_printf(args->arena, "file,id=outsight-console,append=on,path=%s",
			     path ? escape(args, path) : ""));
	add2(args, "-serial", "chardev:outsight-console");
}

static void add_kernel(struct args *args, const struct vp_launch_opts *opts)
{
	if (!opts->kernel)
		return;
	add2(args, "-kernel", opts->kernel);
	/* A kernel that a busy host delays considers its timer broken, and panics. */
	add2(args, "-append", opts->append ? opts->append : "console=ttyS0 panic=-1 no_timer_check");
	if (opts->initrd)
		add2(args, "-initrd", opts->initrd);
}

static void make_args(struct args *args, const char *qemu, const char *plugin,
		      const struct vp_launch_opts *opts, const char *console)
{
	unsigned int mem = opts->mem_mib ? opts->mem_mib : 512;
	const char *name =
	    opts->name ? opts->name : ot_arena_printf(args->arena, "outsight-%d", (int)getpid());

	name = name ? escape(args, name) : "";
	add(args, qemu);
	add2(args, "-accel", "tcg,thread=multi");
	add2(args, "-machine", "q35,memory-backend=outsight-ram");
	add2(args, "-object",
	     ot_arena_printf(args->arena, "memory-backend-memfd,id=outsight-ram,size=%uM,share=on", mem));
	add2(args, "-m", ot_arena_printf(args->arena, "%uM", mem));
	add2(args, "-smp", ot_arena_printf(args->arena, "%u", opts->smp ? opts->smp : 1));
	add2(args, "-cpu", opts->cpu ? opts->cpu : "max");
	add2(args, "-name", name);
	add2(args, "-display", "none");
	add(args, "-nodefaults");
	add(args, "-no-reboot");
	add2(args, "-plugin", ot_arena_printf(args->arena, "file=%s,name=%s", escape(args, plugin), name));
	add_console(args, console);
	add_kernel(args, opts);
	for (size_t i = 0; i < opts->nextra; i++)
		add(args, opts->extra[i]);
}

/* --- the guest's life --------------------------------------------------------------------- */

static bool ended(struct vp_launched *vm, int timeout_ms)
{
	struct pollfd p = { .fd = vm->pidfd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

bool vp_launched_panic(struct vp_launched *vm, char *buf, size_t size)
{
	return vm->console && vp_tail_find(vm->console, "Kernel panic - ", buf, size);
}

static struct ot_err *panicked(struct vp_launched *vm)
{
	char line[PANIC_MAX];

	return vp_launched_panic(vm, line, sizeof(line))
		   ? ot_err_new(OT_ERR_GUEST_GONE, "the guest's kernel did not come up: %s", line)
		   : NULL;
}

/* A VMM that has printed nothing, by its exit status. */
static struct ot_err *gone_silently(const struct vp_launched *vm)
{
	siginfo_t info = { 0 };

	/* It is waited for once more when it is destroyed. */
	if (waitid(P_PID, (id_t)vm->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return ot_err_new(OT_ERR_GUEST_GONE, "%s ended", vm->what);
	if (info.si_code != CLD_EXITED)
		return ot_err_new(OT_ERR_GUEST_GONE, "%s was ended by signal %d (%s)", vm->what,
				  info.si_status, strsignal(info.si_status));
	if (info.si_status)
		return ot_err_new(OT_ERR_GUEST_GONE, "%s ended with status %d and printed no reason",
				  vm->what, info.si_status);
	return ot_err_new(OT_ERR_GUEST_GONE, "the guest powered off or was reset before it could be traced");
}

static struct ot_err *gone(struct vp_launched *vm)
{
	char said[SAID_MAX];
	struct ot_err *err;

	read_output(vm->log, said, sizeof(said));
	if (*said)
		return ot_err_new(OT_ERR_GUEST_GONE, "%s ended: %s", vm->what, said);
	err = panicked(vm);
	return err ? err : gone_silently(vm);
}

struct ot_err *vp_launched_trouble(struct vp_launched *vm, int wait_ms)
{
	return ended(vm, wait_ms) ? gone(vm) : panicked(vm);
}

/* Wait until the engine answers. */
static struct ot_err *wait_engine(struct vp_launched *vm, const struct vp_launch_opts *opts)
{
	uint64_t deadline = ot_now_ns() + ANSWER_S * 1000000000ull;

	for (;;) {
		struct vp_client client;
		struct ot_err *err = vp_client_connect(&client, vm->socket);

		if (!err) {
			vp_client_close(&client);
			return NULL;
		}
		/* Nothing listens yet; waiting helps with no other error. */
		if (ot_err_code(err) != OT_ERR_NOT_FOUND)
			return err;
		ot_err_destroy(err);
		if (ended(vm, STEP_MS))
			return gone(vm);
		if (opts->go_on && !opts->go_on(opts->arg))
			return ot_err_new(OT_ERR_BUSY, "interrupted");
		if (ot_now_ns() > deadline) {
			char said[SAID_MAX];

			read_output(vm->log, said, sizeof(said));
			return ot_err_new(OT_ERR_BUSY, "no answer from the engine in %s within %u s%s%s",
					  vm->what, ANSWER_S, *said ? ": " : "", said);
		}
	}
}

static const char *qemu_binary(const char *qemu)
{
	if (!qemu)
		qemu = getenv("OUTSIGHT_QEMU");
	return qemu && *qemu ? qemu : "qemu-system-x86_64";
}

struct ot_err *vp_launch_check(const char *qemu)
{
	char plugin[PATH_MAX];

	OT_TRY(check_version(qemu_binary(qemu)));
	return vp_plugin_file(plugin, sizeof(plugin));
}

static void make_monitor_args(struct args *args, const struct vp_launch_opts *opts, const char *console)
{
	char monitor[PATH_MAX];

	if (!console)
		console = "/dev/null";
	add(args, ot_installed_program(MONITOR_FILE, monitor, sizeof(monitor)) ? monitor : NULL);
	add2(args, "--kernel", opts->kernel);
	if (opts->initrd)
		add2(args, "--initrd", opts->initrd);
	add2(args, "--append", opts->append ? opts->append : "console=ttyS0 panic=-1");
	add2(args, "--memory", ot_arena_printf(args->arena, "%u", opts->mem_mib ? opts->mem_mib : 512));
	add2(args, "--smp", ot_arena_printf(args->arena, "%u", opts->smp ? opts->smp : 1));
	add2(args, "--name",
	     opts->name ? opts->name : ot_arena_printf(args->arena, "outsight-%d", (int)getpid()));
	add2(args, "--console",
	     strcmp(console, "-") ? console : ot_arena_printf(args->arena, "/proc/%d/fd/2", (int)getpid()));
}

/* @console: a file, "-", or NULL. */
static struct ot_err *prepare(struct args *args, const struct vp_launch_opts *opts, const char *console)
{
	const char *qemu = qemu_binary(opts->qemu);
	char plugin[PATH_MAX];

	OT_TRY(check_file("kernel", opts->kernel));
	OT_TRY(check_file("initrd", opts->initrd));
	if (opts->builtin) {
		if (!opts->kernel || opts->nextra || opts->cpu)
			return ot_err_new(OT_ERR_UNSUPPORTED, "the builtin monitor boots a kernel, and %s",
					  opts->kernel ? "no options of QEMU's" : "none was given");
		make_monitor_args(args, opts, console);
	} else {
		OT_TRY(check_version(qemu));
		OT_TRY(vp_plugin_file(plugin, sizeof(plugin)));
		make_args(args, qemu, plugin, opts, console);
	}
	if (args->failed)
		return ot_err_new(OT_ERR_LIMIT, "more than %d arguments for the VMM, or no memory", ARGS_MAX);
	return NULL;
}

static struct ot_err *start_vmm(struct vp_launched *vm, struct ot_arena *arena,
				const struct vp_launch_opts *opts)
{
	struct args *args = ot_arena_new(arena, struct args);

	if (!args)
		return ot_err_nomem();
	args->arena = arena;
	if (!opts->serial && !has_own_console(opts))
		OT_TRY(vp_tail_create(&vm->console));
	OT_TRY(prepare(args, opts, vm->console ? vp_tail_path(vm->console) : opts->serial));
	vm->what = opts->builtin ? "the monitor" : "QEMU";
	vm->log = memfd_create("vmm-log", MFD_CLOEXEC);
	if (vm->log < 0)
		return ot_err_os(errno, "memfd_create");
	OT_TRY(start_child(args->v, vm->log, &vm->pid));
	vm->pidfd = (int)syscall(SYS_pidfd_open, vm->pid, 0);
	if (vm->pidfd < 0)
		return ot_err_os(errno, "pidfd_open");
	OT_TRY(vp_socket_path(vm->pid, vm->socket, sizeof(vm->socket)));
	return wait_engine(vm, opts);
}

struct ot_err *vp_launch(const struct vp_launch_opts *opts, struct vp_launched **ret)
{
	struct vp_launched *vm = calloc(1, sizeof(*vm));
	struct ot_arena arena;
	struct ot_err *err;

	if (!vm)
		return ot_err_nomem();
	vm->pidfd = -1;
	vm->log = -1;
	ot_arena_init(&arena);
	err = start_vmm(vm, &arena, opts);
	ot_arena_deinit(&arena);
	if (err) {
		vp_launched_destroy(vm);
		return err;
	}
	*ret = vm;
	return NULL;
}

void vp_launched_destroy(struct vp_launched *vm)
{
	if (!vm)
		return;
	if (vm->pid) {
		kill(vm->pid, vm->pidfd < 0 ? SIGKILL : SIGTERM);
		if (vm->pidfd >= 0 && !ended(vm, STOP_MS))
			kill(vm->pid, SIGKILL);
		while (waitpid(vm->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (vm->pidfd >= 0)
		close(vm->pidfd);
	if (vm->log >= 0)
		close(vm->log);
	if (*vm->socket) /* left behind by a killed VMM */
		unlink(vm->socket);
	vp_tail_destroy(vm->console);
	free(vm);
}

const char *vp_launched_socket(const struct vp_launched *vm)
{
	return vm->socket;
}

int vp_launched_fd(const struct vp_launched *vm)
{
	return vm->pidfd;
}
