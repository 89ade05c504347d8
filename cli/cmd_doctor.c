/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways in which guests can be traced on this host, by trying them, and the changes that would allow more.
 * A line for each way; with -v also KVM's behaviour at a probe and its cost, for developers of Outsight.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "cli/commands.h"
#include "consumer/messages.h"
#include "vmm-probe/backend/kvm/host.h"
#include "vmm-probe/backend/kvm/perf.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hosts/engine_files.h"
#include "vmm-probe/hosts/machines.h"
#include "vmm-probe/launch/launch.h"

static const char *yes_no(bool v)
{
	return v ? "yes" : "no";
}

static void print_cost(const char *what, const struct vp_kvm_cost *c)
{
	if (c->median > 0)
		printf("        %-34s %9.1f us  (%.1f to %.1f)\n", what, c->median / 1e3, c->min / 1e3,
		       c->max / 1e3);
}

static void print_advice(const struct vp_kvm_host *h)
{
	char lack[160];

	if (!vp_kvm_host_good(h, lack, sizeof(lack)))
		printf("        %s: stock kernels run under QEMU's translator (run --vmm qemu)%s\n", lack,
		       vp_kvm_host_traces(h) ? ", small guests are fine (run --vmm builtin)" : "");
	if (h->int3 == VP_INT3_NEVER)
		puts("        int3 never causes an exit and is not used; addresses with only one free byte "
		     "can't be probed");
	else if (h->inject == VP_INJECT_NEVER)
		puts("        a guest's own int3 can't be injected back into it: guests that debug or patch "
		     "themselves "
		     "would crash");
	if (!h->step)
		puts("        no single steps: instructions that can't be emulated can't be "
		     "probed");
	if (!h->hw)
		puts("        no debug registers: -x trap=hw is not available");
	if (!h->hw_user)
		puts("        no debug registers in user mode: no probes in processes of guests on KVM");
	if (h->hw_misses)
		puts("        a debug register misses an instruction before which an interrupt came: counts "
		     "of "
		     "probes "
		     "that take one may be short");
	if (!h->ioeventfd)
		puts("        no ioeventfd: clauses that only count cost as much as others");
}

/* A missing feature, with its remedy. */
static void print_missing(const char *what, struct ot_err *err)
{
	printf("%-7s no: %s\n", what, ot_err_message(err));
	ot_err_destroy(err);
}

static void print_resident(const struct vp_kvm_host *h)
{
	printf("        resident probes (-x inject=on): some %.0f ns a hit, an exit takes %.0f ns: %s\n",
	       vp_kvm_host_resident_ns(h), h->exit_cost.median,
	       vp_kvm_host_gains(h) ? "cheaper" : "they stay off here");
}

static void print_host(const struct vp_kvm_host *h)
{
	printf("kvm     int3=%s, inject=%s, hw=%s, step=%s, ioeventfd=%s, out=%s, sync_regs=%s, blockirq=%s, "
	       "user=%s, hw_user=%s, hw_misses=%s, vcpus=%u\n",
	       vp_kvm_int3_name(h->int3), vp_kvm_inject_name(h->inject), yes_no(h->hw), yes_no(h->step),
	       yes_no(h->ioeventfd), yes_no(h->out), yes_no(h->sync_regs), yes_no(h->block_irq),
	       yes_no(h->user), yes_no(h->hw_user), yes_no(h->hw_misses), h->max_vcpus);
	printf("        %-34s %9.1f ns  (%.1f to %.1f)\n", "an instruction of kernel mode",
	       h->insn_cost.median, h->insn_cost.min, h->insn_cost.max);
	print_cost("a hit: out, exit and return", &h->exit_cost);
	print_cost("a hit that KVM counts (ioeventfd)", &h->ioeventfd_cost);
	print_cost("a hit: int3, and the step over it", &h->int3_cost);
	print_cost("a hit: debug register, and the step over it", &h->hw_cost);
	print_cost("a step", &h->step_cost);
	print_resident(h);
	print_advice(h);
}

/* --- KVM and QEMU ------------------------------------------------------------------------------------- */

enum kvm_use { KVM_NOTHING, KVM_SMALL_GUESTS, KVM_ALL };

static enum kvm_use check_kvm(bool verbose)
{
	struct vp_kvm_host h;
	char lack[160];
	struct ot_err *err = vp_kvm_host_probe("/dev/kvm", &h);

	if (err) {
		print_missing("kvm", err);
		return KVM_NOTHING;
	}
	bool good = vp_kvm_host_good(&h, lack, sizeof(lack)), traces = vp_kvm_host_traces(&h);
	if (good)
		puts("kvm     yes: guests on KVM can be traced at their own speed");
	else if (traces)
		printf("kvm     for small guests: %s\n", lack);
	else
		printf("kvm     no: %s\n", lack);
	if (verbose)
		print_host(&h);
	return good ? KVM_ALL : traces ? KVM_SMALL_GUESTS : KVM_NOTHING;
}

/* Whether guests under QEMU's translator can be traced here. */
static bool check_tcg(void)
{
	struct ot_err *err = vp_launch_check(NULL);

	if (err) {
		print_missing("tcg", err);
		return false;
	}
	puts("tcg     yes: QEMU and its plugin are here");
	return true;
}

/* --- guests that run ---------------------------------------------------------------------------------- */

#define CAP_SYS_PTRACE_BIT 19

static long read_number(const char *path, long otherwise)
{
	char *text;
	size_t len;
	struct ot_err *err = ot_read_file(path, 64, &text, &len);

	if (err) {
		ot_err_destroy(err);
		return otherwise;
	}
	long n = strtol(text, NULL, 10);
	free(text);
	return n;
}

/* The right to trace any process. */
static bool may_trace_all(void)
{
	static const char field[] = "\nCapEff:";
	ot_auto_free char *text = NULL;
	size_t len;
	ot_auto_err struct ot_err *err = ot_read_file("/proc/self/status", 1 << 16, &text, &len);
	const char *at = err ? NULL : strstr(text, field);

	return at && strtoull(at + sizeof(field) - 1, NULL, 16) >> CAP_SYS_PTRACE_BIT & 1;
}

enum reach { REACH_NONE, REACH_OWN, REACH_ALL };

/* The users whose processes can be injected into and read. @why: the obstacles. */
static enum reach reach_of(char *why, size_t size)
{
	long scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 0); /* no Yama: as with 0 */

	*why = '\0';
	if (scope >= 3) {
		snprintf(why, size,
			 "kernel.yama.ptrace_scope=%ld forbids tracing any process, until a reboot", scope);
		return REACH_NONE;
	}
	if (may_trace_all())
		return REACH_ALL;
	if (scope > 0) {
		snprintf(why, size,
			 "kernel.yama.ptrace_scope=%ld allows that to root only: use sudo, or set it to 0",
			 scope);
		return REACH_NONE;
	}
	snprintf(why, size, "only those of this user, not libvirt's: sudo reaches all");
	return REACH_OWN;
}

static void print_reach(const char *what, enum reach reach, const char *can, const char *why)
{
	if (reach == REACH_NONE)
		printf("%-7s no: %s\n", what, why);
	else
		printf("%-7s yes: %s%s%s\n", what, can, reach == REACH_OWN ? "; " : "",
		       reach == REACH_OWN ? why : "");
}

/* Injection into a running QEMU with KVM, and external sampling of it. */
static void check_reach(bool has_kvm)
{
	char library[PATH_MAX], why[160];
	enum reach reach = reach_of(why, sizeof(why));
	struct ot_err *err = vp_hook_file(library, sizeof(library));

	if (!has_kvm) {
		ot_err_destroy(err);
		err = ot_err_new(OT_ERR_UNSUPPORTED,
				 "it is for guests on KVM, and those can't be traced here: see kvm");
	}
	if (err)
		print_missing("attach", err);
	else
		print_reach("attach", reach,
			    "-g injects the engine into a running QEMU on KVM, `outsight guests` lists them",
			    why);
	/* for each user with permission to open it */
	if (access("/sys/module/kvm", F_OK) && access("/dev/kvm", F_OK))
		puts("peek    no: it is for guests on KVM, and there is no KVM here");
	else
		print_reach("peek", reach, "-g peek:GUEST samples a VMM on KVM from outside", why);
}

/* Counters for guests on KVM, by this user's rights. */
static void check_cpc(bool has_kvm)
{
	const struct vp_cpc_event cycles = { .type = PERF_TYPE_HARDWARE,
					     .config = PERF_COUNT_HW_CPU_CYCLES,
					     .period = VP_CPC_MOST };
	struct ot_err *err =
	    has_kvm ? vp_kvm_perf_try(&cycles)
		    : ot_err_new(OT_ERR_UNSUPPORTED,
				 "it is for guests on KVM, and those can't be traced here: see kvm");

	if (err)
		print_missing("cpc", err);
	else
		puts("cpc     yes: performance counters of this CPU can be probes of guests on KVM");
}

static void check_libvirt(void)
{
	struct vp_libvirt *lv[VP_LIBVIRT_USUAL];
	size_t n = 0;
	struct ot_err *err = vp_libvirt_open_usual(NULL, lv, &n);

	if (!err && !n) { /* libvirt's own reason */
		err = vp_libvirt_open(NULL, false, &lv[0]);
		n = !err;
	}
	if (err && ot_err_code(err) == OT_ERR_NOT_FOUND)
		err = ot_err_prefix(err, "no daemon answers (virtqemud or libvirtd)");
	if (err)
		print_missing("libvirt", err);
	for (size_t i = 0; i < n; i++) {
		ot_auto_free struct vp_domain *domains = NULL;
		size_t count = 0;
		err = vp_libvirt_list(lv[i], &domains, &count);
		if (err)
			print_missing("libvirt", err);
		else
			printf("libvirt yes: %s answers, %zu domain%s\n", vp_libvirt_uri(lv[i]), count,
			       count == 1 ? "" : "s");
		vp_libvirt_close(lv[i]);
	}
}

/* The folders of the engines' sockets. */
static void check_sockets(void)
{
	char dir[108];
	struct ot_err *err = vp_socket_dir_make(dir, sizeof(dir));

	if (!err && access(dir, W_OK | X_OK))
		err = ot_err_new(OT_ERR_PERMISSION, "%s can't be written to", dir);
	if (err) {
		print_missing("sockets", err);
		puts("        be root, or set XDG_RUNTIME_DIR to a directory of your own for VMM and "
		     "outsight");
		return;
	}
	printf("sockets yes: %s\n", dir);
}

/* The log of sessions. */
static void check_log(void)
{
	puts(ot_log_listens() ? "log     yes: sessions are recorded in the system's log"
			      : "log     no: no logger listens at /dev/log: only a guest's VMM records who "
				"traced it, `outsight guests -v`");
}

/* --- the verb ----------------------------------------------------------------------------------------- */

static int usage(void)
{
	fputs("Usage: outsight doctor [-v]\n\n"
	      "\tattach   inject the engine into a running QEMU on KVM: -g GUEST, outsight attach\n"
	      "\tpeek     sample a VMM on KVM from outside: -g peek:GUEST\n"
	      "\tlibvirt  name guests by their domains\n"
	      "\tkvm      probes in guests on KVM\n"
	      "\tcpc      probes on the CPU's performance counters, in guests on KVM\n"
	      "\ttcg      probes in guests under QEMU's TCG, by our plugin\n"
	      "\tsockets  directories for the engines' control sockets\n"
	      "\tlog      the system log, which records sessions\n"
	      "\trun      the VMM in which `outsight run` boots a guest\n\n"
	      "Each is tested. For each failure the reason and a remedy are printed.\n"
	      "-v also prints the behaviour of this host's KVM at a probe, and its cost.\n"
	      "The exit status is 0 when guests can be traced in at least one way.\n",
	      stdout);
	return CON_EXIT_OK;
}

int cli_cmd_doctor(int argc, char **argv)
{
	static const char *const options[] = { "--verbose", "-v", "--help", NULL };
	bool verbose = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return usage();
		if (strcmp(argv[i], "-v") != 0 && strcmp(argv[i], "--verbose") != 0)
			return cli_verb_misused("doctor", options, argv[i]);
		verbose = true;
	}
	enum kvm_use kvm = check_kvm(verbose);
	bool tcg = check_tcg();

	check_reach(kvm != KVM_NOTHING);
	check_cpc(kvm != KVM_NOTHING);
	check_libvirt();
	check_sockets();
	check_log();
	printf("run     %s\n", kvm == KVM_ALL
				   ? "guests that are booted with a kernel run on KVM, others under QEMU's "
				     "translator"
			       : tcg ? "guests run under QEMU's translator"
			       : kvm ? "guests run on KVM, small ones only: no QEMU is usable"
				     : "no guest can be traced here");
	return kvm || tcg ? CON_EXIT_OK : CON_EXIT_ERROR;
}
