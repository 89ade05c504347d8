/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outsight-vmm: runs a guest in the monitor, with an engine that `outsight -g NAME` finds. It is a separate
 * process, so that the guest keeps running if the tracer dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "vmm-probe/backend/kvm/kvm.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/monitor/monitor.h"

#define DEFAULT_MIB 512u
#define DRAIN_MS    2000 /* wait for sessions to fetch their data at the end */

struct options {
	struct vp_mon_config vm;
	const char *name, *socket, *console;
	bool help;
	/* the defaults of name and socket */
	char own_name[32], own_socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static void usage(FILE *fp)
{
	fputs("Usage: outsight-vmm --kernel FILE [options]\n\n"
	      "\t--kernel FILE    bzImage, or 64-bit ELF file with or without a PVH entry\n"
	      "\t--initrd FILE    its initial RAM disk\n"
	      "\t--append TEXT    its command line\n"
	      "\t--memory MIB     memory (512)\n"
	      "\t--smp N          vCPUs (1)\n"
	      "\t--name NAME      its name for -g (vmm-PID)\n"
	      "\t--socket PATH    the engine's socket, instead of the one that `outsight guests` finds;\n"
	      "\t                 none: it can't be traced\n"
	      "\t--console FILE   write COM1's output to FILE, instead of using stdin and stdout\n",
	      fp);
}

static bool number(const char *option, const char *text, uint64_t max, uint64_t *ret)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (end == text || *end || !n || n > max) {
		fprintf(stderr, "outsight-vmm: %s \"%s\": a number from 1 to %llu is needed\n", option, text,
			(unsigned long long)max);
		return false;
	}
	*ret = n;
	return true;
}

static bool parse(int argc, char **argv, struct options *o)
{
	enum { KERNEL = 256, INITRD, APPEND, MEMORY, SMP, NAME, SOCKET, CONSOLE, HELP };
	static const struct option longs[] = {
		{ "kernel", required_argument, NULL, KERNEL },
		{ "initrd", required_argument, NULL, INITRD },
		{ "append", required_argument, NULL, APPEND },
		{ "memory", required_argument, NULL, MEMORY },
		{ "smp", required_argument, NULL, SMP },
		{ "name", required_argument, NULL, NAME },
		{ "socket", required_argument, NULL, SOCKET },
		{ "console", required_argument, NULL, CONSOLE },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t mib = DEFAULT_MIB, smp = 1;
	bool ok = true;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		switch (c) {
		case KERNEL:
			o->vm.kernel = optarg;
			break;
		case INITRD:
			o->vm.initrd = optarg;
			break;
		case APPEND:
			o->vm.append = optarg;
			break;
		case MEMORY:
			ok &= number("--memory", optarg, 1u << 20, &mib);
			break;
		case SMP:
			ok &= number("--smp", optarg, VP_MON_MAX_VCPUS, &smp);
			break;
		case NAME:
			o->name = optarg;
			break;
		case SOCKET:
			o->socket = optarg;
			break;
		case CONSOLE:
			o->console = optarg;
			break;
		case HELP:
			o->help = true;
			return true;
		default:
			ok = false;
			break;
		}
	o->vm.mem_bytes = mib << 20;
	o->vm.nvcpus = (uint32_t)smp;
	return ok && o->vm.kernel && optind == argc;
}

static struct ot_err *open_console(struct options *o)
{
	o->vm.console_in = 0;
	o->vm.console_out = 1;
	if (!o->console)
		return NULL;
	o->vm.console_in = -1;
	o->vm.console_out = open(o->console, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return o->vm.console_out < 0 ? ot_err_os(errno, "console %s", o->console) : NULL;
}

/* --- the engine ------------------------------------------------------------------------------ */

/* Connects hooks and backend: the hooks need the backend, which is created after the monitor with the
 * hooks. */
struct glue {
	struct vp_mon *mon;
	struct vp_kvm *kvm;
	int ram_fd; /* pointed to by the backend's configuration */
};

static void before(void *arg, uint32_t vcpu)
{
	struct glue *g = arg;

	if (g->kvm)
		vp_kvm_before(g->kvm, vcpu);
}

static bool after(void *arg, uint32_t vcpu, int err)
{
	struct glue *g = arg;

	return g->kvm && vp_kvm_after(g->kvm, vcpu, err);
}

static void leave(void *arg, uint32_t vcpu)
{
	const struct glue *g = arg;

	if (g->kvm)
		vp_kvm_leave(g->kvm, vcpu);
}

static void kick(void *arg, uint32_t vcpu)
{
	const struct glue *g = arg;

	vp_mon_kick(g->mon, vcpu);
}

static pid_t thread(void *arg, uint32_t vcpu)
{
	const struct glue *g = arg;

	return __atomic_load_n(&vp_mon_vcpu(g->mon, vcpu)->tid, __ATOMIC_ACQUIRE);
}

static struct ot_err *start_engine(struct glue *g, const struct options *o)
{
	struct vp_ram_range ram[2] = { 0 };
	int fds[VP_MON_MAX_VCPUS];
	struct kvm_run *runs[VP_MON_MAX_VCPUS];
	uint32_t nram;
	const struct vp_mon_ram *r = vp_mon_ram(g->mon, &nram);
	struct vp_kvm_config c = { .name = o->name,
				   .vm = vp_mon_vm_fd(g->mon),
				   .nvcpus = o->vm.nvcpus,
				   .vcpus = fds,
				   .runs = runs,
				   .ram = ram,
				   .nram = nram,
				   .ram_fds = &g->ram_fd,
				   .nram_fds = 1,
				   .spare_gpa = vp_mon_spare_gpa(g->mon),
				   .spare_slot = nram,
				   .kick = kick,
				   .thread = thread,
				   .kick_signal = vp_mon_kick_signal(),
				   .arg = g };

	g->ram_fd = vp_mon_ram_fd(g->mon);
	for (uint32_t i = 0; i < nram; i++)
		ram[i] = (struct vp_ram_range){ .gpa = r[i].gpa,
						.size = r[i].size,
						.host = (uintptr_t)r[i].host,
						.offset = r[i].offset };
	for (uint32_t i = 0; i < c.nvcpus; i++) {
		fds[i] = vp_mon_vcpu(g->mon, i)->fd;
		runs[i] = vp_mon_vcpu(g->mon, i)->run;
	}
	OT_TRY(vp_kvm_host_probe("/dev/kvm", &c.host));
	if (!c.host.user && vp_mon_is_bzimage(g->mon))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "%s can't run here: this KVM executes system calls wrongly, so its guests "
				  "can't run processes "
				  "(`outsight doctor`)",
				  o->vm.kernel);
	OT_TRY(vp_kvm_create(&c, &g->kvm));
	return vp_engine_serve(vp_kvm_engine(g->kvm), o->socket);
}

/* --- running --------------------------------------------------------------------------------- */

/* SIGTERM and SIGINT, which are blocked in all threads; one thread waits for them. */
static sigset_t ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return set;
}

static void *await_signal(void *arg)
{
	sigset_t set = ending_signals();
	int sig;

	sigwait(&set, &sig);
	vp_mon_stop(arg);
	return NULL;
}

static struct ot_err *run_until_signal(struct vp_mon *mon, enum vp_mon_end *ret_end)
{
	pthread_t waiter;
	int rc = pthread_create(&waiter, NULL, await_signal, mon);

	if (rc)
		return ot_err_os(rc, "a thread for signals");
	struct ot_err *err = vp_mon_run(mon, ret_end);
	pthread_kill(waiter, SIGINT); /* it may still be waiting */
	pthread_join(waiter, NULL);
	return err;
}

static const char *end_text(enum vp_mon_end end)
{
	switch (end) {
	case VP_MON_TRIPLE_FAULT:
		return "the guest had a triple fault";
	case VP_MON_RESET:
		return "the guest requested a reset";
	case VP_MON_STOPPED:
		return "stopped";
	default:
		return NULL;
	}
}

/* The guest has ended: report it to the sessions, and wait until they have fetched their data. */
static void end_sessions(struct vp_engine *engine, enum vp_mon_end end)
{
	static const enum vp_guest_end how[] = {
		[VP_MON_POWERED_OFF] = VP_GUEST_POWERED_OFF,
		[VP_MON_RESET] = VP_GUEST_RESET,
		[VP_MON_TRIPLE_FAULT] = VP_GUEST_TRIPLE_FAULT,
		[VP_MON_STOPPED] = VP_GUEST_STOPPED,
		[VP_MON_FAILED] = VP_GUEST_FAILED,
	};

	vp_engine_guest_ended(engine, how[end]);
	vp_engine_wait_drained(engine, DRAIN_MS);
}

static struct ot_err *set_defaults(struct options *o)
{
	if (!o->name) {
		snprintf(o->own_name, sizeof(o->own_name), "vmm-%d", (int)getpid());
		o->name = o->own_name;
	}
	if (o->socket)
		return NULL;
	OT_TRY(vp_socket_dir_make(o->own_socket, sizeof(o->own_socket)));
	OT_TRY(vp_socket_path(getpid(), o->own_socket, sizeof(o->own_socket)));
	o->socket = o->own_socket;
	return NULL;
}

static struct ot_err *run(struct options *o, enum vp_mon_end *ret_end)
{
	struct glue g = { 0 };

	OT_TRY(set_defaults(o));
	o->vm.hooks = (struct vp_mon_hooks){ &g, before, after, leave };
	OT_TRY(open_console(o));
	const sigset_t ending = ending_signals();
	pthread_sigmask(SIG_BLOCK, &ending, NULL);
	OT_TRY(vp_mon_create(&o->vm, &g.mon));
	struct ot_err *err = strcmp(o->socket, "none") ? start_engine(&g, o) : NULL;
	if (!err) {
		err = run_until_signal(g.mon, ret_end);
		if (g.kvm)
			end_sessions(vp_kvm_engine(g.kvm), *ret_end);
	}
	vp_kvm_destroy(g.kvm);
	vp_mon_destroy(g.mon);
	return err;
}

/* Only if it does not block: stderr may go to the reader of the console, which may have stopped reading. */
static void say(const char *text)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) > 0)
		fprintf(stderr, "outsight-vmm: %s\n", text);
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	enum vp_mon_end end = VP_MON_FAILED;

	if (!parse(argc, argv, &o)) {
		usage(stderr);
		return 2;
	}
	if (o.help) {
		usage(stdout);
		return 0;
	}
	struct ot_err *err = run(&o, &end);
	if (err) {
		say(ot_err_message(err));
		ot_err_destroy(err);
		return 1;
	}
	if (end_text(end))
		say(end_text(end));
	return end == VP_MON_TRIPLE_FAULT;
}
