/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The systems of tracepoints. A struct tracepoint has a name but no system; its trace event has both, and a
 * pointer to the tracepoint (struct trace_event_call, include/linux/trace_events.h). All trace events are in
 * one list (symbol ftrace_events, kernel/trace/trace_events.c); member offsets come from BTF.
 */
#ifndef VP_GUEST_TRACE_SYSTEMS_H
#define VP_GUEST_TRACE_SYSTEMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vp_guest;

struct vp_trace_system {
	uint64_t tracepoint; /* address of the struct tracepoint */
	uint32_t name;       /* offset in `names` */
};

struct vp_trace_systems {
	struct vp_trace_system *list; /* by tracepoint; of several events of one tracepoint, one */
	size_t count;
	char *names;
};

/** Read the guest's list of trace events, within the budget in force. What is read before a fault in the list
 * is kept; *ret is empty if the guest has no such list. Errors are those of this process. *ret is owned by
 * the caller (vp_trace_systems_deinit()). */
OT_MUST_CHECK struct ot_err *vp_trace_systems_read(struct vp_guest *guest, struct vp_trace_systems *ret);
void vp_trace_systems_deinit(struct vp_trace_systems *systems);

/** The system ("sched") of the tracepoint at @p tracepoint, owned by @p systems; "": it has no trace event.
 * Letters, digits, "_" and "-" only, at most 47. */
const char *vp_trace_systems_find(const struct vp_trace_systems *systems, uint64_t tracepoint);

#endif
