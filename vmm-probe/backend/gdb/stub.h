/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gdb stub as its features: threads (a VMM's are its vCPUs), registers, memory, breakpoints, stepping one
 * vCPU while the others are held. Only features that the stub declares are used; without breakpoints, or
 * without stepping a single vCPU, hits could not be counted exactly, and vp_gdb_stub_open() refuses.
 *
 * All functions are for one thread, and, except for vp_gdb_continue() and vp_gdb_wait_stop(), for a target
 * that is stopped. Protocol: GDB's manual, "Remote Protocol"; physical memory: QEMU's "System emulation: GDB
 * usage".
 */
#ifndef VP_BACKEND_GDB_STUB_H
#define VP_BACKEND_GDB_STUB_H

#include "vmm-probe/backend/gdb/packet.h"
#include "vmm-probe/backend/gdb/target.h"
#include "vmm-probe/engine/wire/facts.h"

#define VP_GDB_THREAD_MAX 32
#define VP_GDB_NAME_MAX   256

/* Signal numbers in stop replies: GDB's own, equal to Unix's here. */
#define VP_GDB_SIGINT  2
#define VP_GDB_SIGABRT 6
#define VP_GDB_SIGTRAP 5

struct vp_gdb_stub {
	struct vp_gdb_conn conn;
	char name[VP_GDB_NAME_MAX]; /* its address, for messages */
	struct vp_gdb_target target;
	uint32_t chunk; /* bytes of memory in one request */
	uint32_t nthreads;
	char threads[VP_VCPUS_MAX][VP_GDB_THREAD_MAX]; /* its own names for them; by vCPU */
	bool physical;                                 /* reads are by physical address now */
	bool no_register_write;
	uint32_t stops;  /* stop replies that arrived while another answer was awaited */
	uint32_t lost;   /* sent packets that the stub did not process */
	bool meddled;    /* another client stops and resumes the target: it may run at any moment */
	bool has_fence;  /* see vp_gdb_fence() */
	bool said_debug; /* its monitor: the target is stopped at a breakpoint */
	struct vp_gdb_packet reply, aside;
};

/* Why a target stopped. */
struct vp_gdb_stop {
	int signal;
	uint32_t vcpu; /* VP_VCPUS_MAX: not reported */
};

/** Open the stub on @p fd, whose ownership is taken. The target is stopped then. In any case
 * vp_gdb_stub_close() resumes it. BUSY: no answer; BAD_DATA: not a gdb stub; UNSUPPORTED: a required feature
 * is missing. */
OT_MUST_CHECK struct ot_err *vp_gdb_stub_open(struct vp_gdb_stub *stub, const char *name, int fd);

enum vp_gdb_leave {
	VP_GDB_LET_RUN,
	VP_GDB_LEAVE_STOPPED, /* as it is: another client stopped it */
	VP_GDB_UNHEARD,       /* the connection is unusable; requests are sent without waiting for answers */
};

/** Disconnect. Breakpoints are already removed, or are removed with LET_RUN. */
void vp_gdb_stub_close(struct vp_gdb_stub *stub, enum vp_gdb_leave how);

OT_MUST_CHECK struct ot_err *vp_gdb_read_regs(struct vp_gdb_stub *stub, uint32_t vcpu, struct vp_regs *ret);
/** *ret_done false: this stub does not write registers, or the target may have continued since they were
 * read.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_write_rip(struct vp_gdb_stub *stub, uint32_t vcpu, uint64_t rip,
					      bool *ret_done);

/** Guest memory: physical, or virtual as the vCPU of the last vp_gdb_read_regs() has it mapped. FAULT: not
 * there. */
OT_MUST_CHECK struct ot_err *vp_gdb_read(struct vp_gdb_stub *stub, bool physical, uint64_t addr, void *dst,
					 size_t len);

enum vp_gdb_break {
	VP_GDB_SOFTWARE, /* Z0: the stub chooses how; it may write to the guest */
	VP_GDB_HARDWARE, /* Z1: nothing in memory changes */
};

/** Plant a breakpoint, or take it out. UNSUPPORTED: the stub has none of that kind, or none left. */
OT_MUST_CHECK struct ot_err *vp_gdb_break(struct vp_gdb_stub *stub, enum vp_gdb_break kind, uint64_t gva,
					  bool in);

/** *ret_runs false: the packet was lost, because another client resumed the target; it is stopped again.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_continue(struct vp_gdb_stub *stub, bool *ret_runs);
/** One instruction of one vCPU; the others are held. Returns when it is done, or when the packet was lost. */
OT_MUST_CHECK struct ot_err *vp_gdb_step(struct vp_gdb_stub *stub, uint32_t vcpu);

/** Is @p packet a stop reply? GUEST_GONE: the target has ended. */
OT_MUST_CHECK struct ot_err *vp_gdb_parse_stop(const struct vp_gdb_stub *stub,
					       const struct vp_gdb_packet *packet, bool *ret_is,
					       struct vp_gdb_stop *ret);
/** A target that is stopped without a stop reply is taken to be interrupted. */
OT_MUST_CHECK struct ot_err *vp_gdb_wait_stop(struct vp_gdb_stub *stub, struct vp_gdb_stop *ret);

/** Another client stopped the target: is it still stopped? *ret false: it ran, or hit a breakpoint of ours,
 * for which a stub that waits for a vCont of ours sends no stop reply (QEMU since 8.1); it is stopped now. */
OT_MUST_CHECK struct ot_err *vp_gdb_is_held(struct vp_gdb_stub *stub, bool *ret);

#endif
