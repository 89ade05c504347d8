/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance counters of this host's kernel (perf_event_open(2)). Independent of an engine in this process:
 * the operator's process tries them too. */
#ifndef VP_KVM_PERF_H
#define VP_KVM_PERF_H

#include <sys/types.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/cpc.h"

/** Open a counter of @p event, which is valid, for thread @p tid of this process (0: the calling one),
 * stopped: *ret_fd is the caller's. It counts only while the thread runs a guest, where the host's kernel can
 * tell (not for its own, the software events). UNSUPPORTED: this host can't, or does not allow it; the
 * message has the reason and the remedy. OS: no resources. */
OT_MUST_CHECK struct ot_err *vp_kvm_perf_open(const struct vp_cpc_event *event, pid_t tid, int *ret_fd);

/** Could it be opened for the calling thread? Errors as above. */
OT_MUST_CHECK struct ot_err *vp_kvm_perf_try(const struct vp_cpc_event *event);

#endif
