/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this host can do for tracing, by trying it, and what to change so that it can do more. A finding is
 * one line of "name=value" words, then lines for people.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/messages.h"
#include "vmm-probe/backend/kvm/host.h"
#include "vmm-probe/session/launch.h"

/* Where an instruction of kernel mode costs more than this, a stock kernel does not boot in useful time. */
#define FAST_INSN_NS 50.0

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
	if (!h->out || !h->sync_regs)
		puts("        no probe can be planted: this KVM has no synced registers or loses exits");
	if (h->int3 == VP_INT3_NEVER)
		puts("        int3 does not come back: none will be planted; functions that only an int3 "
		     "fits are left out");
	if (h->insn_cost.median > FAST_INSN_NS)
		puts("        it interprets kernel mode: right for small guests; stock kernels go to QEMU's "
		     "translator");
	if (!h->ioeventfd)
		puts("        no ioeventfd: clauses that only count cost as much as others");
}

/* Whether guests on KVM can be traced here. */
static bool print_kvm(void)
{
	struct vp_kvm_host h;
	struct ot_err *err = vp_kvm_host_probe("/dev/kvm", &h);

	if (err) {
		printf("kvm     no: %s\n", ot_err_message(err));
		ot_err_destroy(err);
		return false;
	}
	printf("kvm     int3=%s, inject=%s, hw=%s, step=%s, ioeventfd=%s, out=%s, sync_regs=%s, blockirq=%s, "
	       "user=%s, vcpus=%u\n",
	       vp_kvm_int3_name(h.int3), vp_kvm_inject_name(h.inject), yes_no(h.hw), yes_no(h.step),
	       yes_no(h.ioeventfd), yes_no(h.out), yes_no(h.sync_regs), yes_no(h.block_irq), yes_no(h.user), h.max_vcpus);
	printf("        %-34s %9.1f ns  (%.1f to %.1f)\n", "an instruction of kernel mode",
	       h.insn_cost.median, h.insn_cost.min, h.insn_cost.max);
	print_cost("a hit: out, to us and back", &h.exit_cost);
	print_cost("a hit that KVM counts (ioeventfd)", &h.ioeventfd_cost);
	print_cost("a hit: int3, and over it", &h.int3_cost);
	print_cost("a hit: debug register, and over it", &h.hw_cost);
	print_cost("a step", &h.step_cost);
	print_advice(&h);
	return h.out && h.sync_regs;
}

/* Whether guests under QEMU's translator can be. */
static bool print_tcg(void)
{
	struct ot_err *err = vp_launch_check(NULL);

	if (err)
		printf("tcg     no: %s\n", ot_err_message(err));
	else
		puts("tcg     yes: QEMU and its plugin are here");
	ot_err_destroy(err);
	return !err;
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
	bool kvm = print_kvm(), tcg = print_tcg();

	if (!kvm && !tcg)
		puts("        no guest can be traced here");
	return kvm || tcg ? CLI_EXIT_OK : CLI_EXIT_ERROR;
}
