/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choosing between our own monitor on KVM and QEMU's translator for a guest to be started. */
#include "vmm-probe/launch/choose.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/kvm/host.h"

#define MARK_AT 0x202 /* of a bzImage's header */

/* The first requested option that only QEMU has; NULL: none. */
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
		snprintf(why, size, "kvm: traps exit to the host and kernel mode is fast here");
		return true;
	}
	bool last = vp_kvm_host_traces(&host) && !has_qemu(opts);
	snprintf(why, size, last ? "kvm: there is no QEMU with the plugin here, but %s" : "tcg: %s", lack);
	return last;
}

/* A bzImage is a whole kernel with processes; an ELF file may be anything. */
static bool is_bzimage(const char *path)
{
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char mark[4];

	return fd >= 0 && pread(fd, mark, sizeof(mark), MARK_AT) == sizeof(mark) &&
	       !memcmp(mark, "HdrS", sizeof(mark));
}

/* Reported now, not after a boot that never completes. A slow KVM is accepted. */
static struct ot_err *check_kvm(const struct vp_launch_opts *opts)
{
	struct vp_kvm_host host;
	char lack[160] = "";

	if (!opts->kernel || !is_bzimage(opts->kernel))
		return NULL;
	OT_TRY(vp_kvm_host_probe("/dev/kvm", &host));
	if (vp_kvm_host_good(&host, lack, sizeof(lack)) || (host.user && vp_kvm_host_traces(&host)))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "%s can't run in the builtin monitor here: %s. Leave -vmm builtin out: QEMU "
			  "translates it; see `outsight doctor`",
			  opts->kernel, lack);
}

struct ot_err *vp_launch_choose(enum vp_vmm asked, struct vp_launch_opts *opts, char *why, size_t size)
{
	if (asked == VP_VMM_AUTO) {
		opts->builtin = best_is_kvm(opts, why, size);
		return NULL;
	}
	opts->builtin = asked == VP_VMM_BUILTIN;
	snprintf(why, size, "%s, as requested", opts->builtin ? "kvm" : "tcg");
	return opts->builtin ? check_kvm(opts) : NULL;
}
