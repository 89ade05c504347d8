/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this host can do for tracing, by trying it, and what to change so that it can do more. A finding is
 * one line of "name=value" words, then lines for people.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "vmm-probe/backend/kvm/host.h"
#include "vmm-probe/engine/socket_path.h"
#include "vmm-probe/session/launch.h"

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
		printf("        %s: stock kernels go to QEMU's translator (run --vmm qemu)%s\n", lack,
		       vp_kvm_host_traces(h) ? ", small guests are fine (run --vmm builtin)" : "");
	if (h->int3 == VP_INT3_NEVER)
		puts("        int3 never comes back: none is planted; places where only one byte is free "
		     "can't be "
		     "probed");
	else if (h->inject == VP_INJECT_NEVER)
		puts("        a guest's own int3 can't be given back to it: guests that debug or patch "
		     "themselves "
		     "would not live");
	if (!h->step)
		puts("        no single steps: instructions that can't be done in the guest's place can't be "
		     "probed");
	if (!h->hw)
		puts("        no debug registers: -x trap=hw can't be had");
	if (!h->ioeventfd)
		puts("        no ioeventfd: clauses that only count cost as much as others");
}

/* A finding that is not there, with what to do about it. */
static void print_missing(const char *what, struct ot_err *err)
{
	printf("%-7s no: %s\n", what, ot_err_message(err));
	ot_err_destroy(err);
}

static void print_host(const struct vp_kvm_host *h)
{
	printf("kvm     int3=%s, inject=%s, hw=%s, step=%s, ioeventfd=%s, out=%s, sync_regs=%s, blockirq=%s, "
	       "user=%s, vcpus=%u\n",
	       vp_kvm_int3_name(h->int3), vp_kvm_inject_name(h->inject), yes_no(h->hw), yes_no(h->step),
	       yes_no(h->ioeventfd), yes_no(h->out), yes_no(h->sync_regs), yes_no(h->block_irq),
	       yes_no(h->user), h->max_vcpus);
	printf("        %-34s %9.1f ns  (%.1f to %.1f)\n", "an instruction of kernel mode",
	       h->insn_cost.median, h->insn_cost.min, h->insn_cost.max);
	print_cost("a hit: out, to us and back", &h->exit_cost);
	print_cost("a hit that KVM counts (ioeventfd)", &h->ioeventfd_cost);
	print_cost("a hit: int3, and over it", &h->int3_cost);
	print_cost("a hit: debug register, and over it", &h->hw_cost);
	print_cost("a step", &h->step_cost);
	print_advice(h);
}

enum kvm_use { KVM_NOTHING, KVM_SMALL_GUESTS, KVM_ALL };

static enum kvm_use check_kvm(void)
{
	struct vp_kvm_host h;
	char lack[160];
	struct ot_err *err = vp_kvm_host_probe("/dev/kvm", &h);

	if (err) {
		print_missing("kvm", err);
		return KVM_NOTHING;
	}
	print_host(&h);
	if (vp_kvm_host_good(&h, lack, sizeof(lack)))
		return KVM_ALL;
	return vp_kvm_host_traces(&h) ? KVM_SMALL_GUESTS : KVM_NOTHING;
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

/* Where engines listen and clients look. */
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

/* Guest RAM that is no memfd is read through /proc/PID/mem, which needs the right to trace. */
static void check_ptrace(void)
{
	char *text;
	size_t len;
	struct ot_err *err = ot_read_file("/proc/sys/kernel/yama/ptrace_scope", 16, &text, &len);

	if (err) { /* no Yama: as with 0 */
		ot_err_destroy(err);
		return;
	}
	if (strtol(text, NULL, 10) > 0 && geteuid() != 0)
		printf("ptrace  scope=%ld: guests whose RAM is no shared memfd can be attached by root only "
		       "(or: sysctl kernel.yama.ptrace_scope=0)\n",
		       strtol(text, NULL, 10));
	free(text);
}

int cli_cmd_doctor(int argc, char **argv)
{
	if (argc > 1) {
		bool help = !strcmp(argv[1], "--help");
		fputs("Usage: outsight doctor\n\n"
		      "Tries out what this host can do for tracing guests, and says what to change.\n"
		      "The exit status is 0 when guests can be traced in at least one way.\n",
		      help ? stdout : stderr);
		return help ? CLI_EXIT_OK : CLI_EXIT_USAGE;
	}
	enum kvm_use kvm = check_kvm();
	bool tcg = check_tcg();

	check_sockets();
	check_ptrace();
	printf("run     %s\n", kvm == KVM_ALL
				   ? "guests that are booted with a kernel run on KVM, others under QEMU's "
				     "translator"
			       : tcg ? "guests run under QEMU's translator"
			       : kvm ? "guests run on KVM, for there is nothing else: small ones only"
				     : "no guest can be traced here");
	return kvm || tcg ? CLI_EXIT_OK : CLI_EXIT_ERROR;
}
