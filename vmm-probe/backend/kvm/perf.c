/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance counters of the host, by perf_event_open(2). */
#include "vmm-probe/backend/kvm/perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static int open_event(const struct vp_cpc_event *event, pid_t tid)
{
	/* A sample of nothing: its record in the ring is the overflow. The modes of software events would be
	 * those of the host's code. */
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.sample_period = event->period,
		.disabled = 1,
		.exclude_host = 1,
		.exclude_user = event->type != PERF_TYPE_SOFTWARE && event->mode == VP_CPC_KERNEL,
		.exclude_kernel = event->type != PERF_TYPE_SOFTWARE && event->mode == VP_CPC_USER,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Has this host any counter of its CPU's? */
static bool has_pmu(void)
{
	const struct vp_cpc_event cycles = { .type = PERF_TYPE_HARDWARE,
					     .config = PERF_COUNT_HW_CPU_CYCLES,
					     .period = VP_CPC_MOST,
					     .mode = VP_CPC_USER };
	ot_auto_close int fd = open_event(&cycles, 0);

	return fd >= 0 || errno != ENOENT;
}

static struct ot_err *not_allowed(int error)
{
	ot_auto_free char *text = NULL;
	size_t len = 0;
	ot_auto_err struct ot_err *unknown = ot_read_file(PARANOID, 64, &text, &len);

	if (!unknown)
		text[strcspn(text, "\n")] = '\0';
	return ot_err_new(
	    OT_ERR_UNSUPPORTED,
	    "perf_event_open: %s for uid %u: set kernel.perf_event_paranoid, which is %s, to 1, or give "
	    "the VMM CAP_PERFMON%s",
	    strerror(error), (unsigned)geteuid(), unknown ? "unknown" : text,
	    error == EPERM ? "; or its seccomp filter forbids it" : "");
}

static struct ot_err *why_not(const struct vp_cpc_event *event, int error)
{
	const char *text = strerror(error);

	switch (error) {
	case EACCES:
	case EPERM:
		return not_allowed(error);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (event->type == PERF_TYPE_SOFTWARE || has_pmu())
			break;
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "this host's kernel sees no performance counters of its CPU (perf_event_open: %s): "
		    "if it is a virtual machine, give it a virtual PMU; cpu_clock needs none",
		    text);
	case ENOSYS:
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "this host's kernel has no perf_event_open, or the VMM's seccomp filter hides it");
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return ot_err_os(error, "perf_event_open");
	default:
		break;
	}
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "this host's CPU or kernel does not count this event: perf_event_open: %s", text);
}

struct ot_err *vp_kvm_perf_open(const struct vp_cpc_event *event, pid_t tid, int *ret_fd)
{
	int fd = open_event(event, tid);

	if (fd < 0)
		return why_not(event, errno);
	*ret_fd = fd;
	return NULL;
}

struct ot_err *vp_kvm_perf_try(const struct vp_cpc_event *event)
{
	ot_auto_close int fd = -1;

	return vp_kvm_perf_open(event, 0, &fd);
}
