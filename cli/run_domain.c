/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `outsight run --domain`: a libvirt domain started and traced from its boot. */
#include "cli/run_domain.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/compiling.h"
#include "cli/signals.h"
#include "cli/trace.h"
#include "consumer/messages.h"
#include "vmm-probe/launch/domain.h"

static int usage(void)
{
	fputs("Usage: outsight run --libvirt XML [-c URI] [-- dtrace options]\n\n"
	      "\tstart a transient domain from its XML, made traceable;\n"
	      "\twith a -- it ends with the trace, without one it runs on\n",
	      stderr);
	return CON_EXIT_USAGE;
}

static bool is_alive(void *arg)
{
	struct pollfd pfd = { .fd = vp_domain_vm_fd(arg), .events = POLLIN };

	return poll(&pfd, 1, 0) == 0;
}

/* Only libvirt has its QEMU's messages. */
static struct ot_err *trouble(void *arg, int wait_ms)
{
	struct pollfd pfd = { .fd = vp_domain_vm_fd(arg), .events = POLLIN };

	return poll(&pfd, 1, wait_ms) > 0
		   ? ot_err_new(OT_ERR_GUEST_GONE, "domain %s has ended: see libvirt's log of it",
				vp_domain_vm_name(arg))
		   : NULL;
}

static int start_only(const struct vp_domain_opts *opts)
{
	struct vp_domain_vm *vm;
	struct ot_err *err = vp_domain_launch(opts, &vm);

	if (err)
		return con_fail(err, NULL);
	printf("domain %s runs: outsight -g %s\n", vp_domain_vm_name(vm), vp_domain_vm_name(vm));
	vp_domain_vm_destroy(vm);
	return CON_EXIT_OK;
}

static int start_and_trace(const struct vp_domain_opts *opts, struct cli_invocation *inv)
{
	struct cli_booted booted = { .alive = is_alive, .trouble = trouble };
	struct vp_domain_vm *vm;

	cli_signals_hold(); /* the domain ends in order, at any signal */
	con_progress(NULL, "starting the domain");
	struct ot_err *err = vp_domain_launch(opts, &vm);
	con_progress(NULL, NULL);
	if (err)
		return con_fail(err, NULL);
	booted.socket = vp_domain_vm_socket(vm);
	booted.arg = vm;
	int status = cli_trace(inv, &booted);
	vp_domain_vm_destroy(vm);
	return status;
}

int cli_run_domain(int argc, char **argv)
{
	struct vp_domain_opts opts = { 0 };
	struct cli_invocation inv;
	int i = 2;

	if (argc > i && *argv[i] != '-')
		opts.xml = argv[i++];
	if (argc > i + 1 && (!strcmp(argv[i], "-c") || !strcmp(argv[i], "--connect"))) {
		opts.uri = argv[i + 1];
		i += 2;
	}
	if (!opts.xml || (argc > i && strcmp(argv[i], "--") != 0))
		return usage();
	if (argc == i)
		return start_only(&opts);
	opts.with_us = true;
	argv[i] = argv[0];
	int status = cli_options_parse(&inv, argc - i, argv + i);
	if (status == CLI_GO_ON && inv.guests.count) {
		con_error("run: -g can't be used: the guest is the one that is started");
		status = CON_EXIT_USAGE;
	}
	if (status == CLI_GO_ON)
		status = cli_check(&inv);
	if (status == CLI_GO_ON)
		status = start_and_trace(&opts, &inv);
	cli_options_deinit(&inv);
	return status;
}
