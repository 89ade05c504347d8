/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/session/choose.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/kvm/host.h"

/* What only QEMU has, among what was asked for; NULL: nothing. */
static const char *needs_qemu(const struct vp_launch_opts *opts)
{
	if (!opts->kernel)
		return "no kernel was given";
	if (opts->qemu)
		return "a QEMU was given";
	if (opts->cpu)
		return "a CPU model was given";
	return opts->nextra ? "options of QEMU's were given" : NULL;
}

static bool has_qemu(const struct vp_launch_opts *opts)
{
	ot_auto_err struct ot_err *err = vp_launch_check(opts->qemu);

	return !err;
}

static bool best_is_kvm(const struct vp_launch_opts *opts, char *why, size_t size)
{
	struct vp_kvm_host host;
	char lack[160] = "";
	const char *qemu = needs_qemu(opts);

	if (qemu) {
		snprintf(why, size, "tcg: %s", qemu);
		return false;
	}
	ot_auto_err struct ot_err *err = vp_kvm_host_probe("/dev/kvm", &host);
	if (err) {
		snprintf(why, size, "tcg: %s", ot_err_message(err));
		return false;
	}
	if (vp_kvm_host_good(&host, lack, sizeof(lack))) {
		snprintf(why, size, "kvm: traps come back and kernel mode is fast here");
		return true;
	}
	bool last = vp_kvm_host_traces(&host) && !has_qemu(opts);
	snprintf(why, size, last ? "kvm: there is no QEMU with the plugin here, but %s" : "tcg: %s", lack);
	return last;
}

void vp_launch_choose(enum vp_vmm asked, struct vp_launch_opts *opts, char *why, size_t size)
{
	if (asked == VP_VMM_AUTO) {
		opts->builtin = best_is_kvm(opts, why, size);
		return;
	}
	opts->builtin = asked == VP_VMM_BUILTIN;
	snprintf(why, size, "%s, as was asked for", opts->builtin ? "kvm" : "tcg");
}
