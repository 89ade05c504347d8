/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gdb stub as what it offers: threads (a VMM's are its vCPUs), registers, memory, breakpoints, stepping one
 * vCPU while the others are held. Only what the stub says that it has is used; without breakpoints, or
 * without stepping one vCPU alone, nothing could be counted exactly, and vp_gdb_stub_open() refuses.
 *
 * All of it is for one thread, and, but for vp_gdb_continue() and vp_gdb_wait_stop(), for a target that is
 * stopped. Protocol: GDB's manual, "Remote Protocol"; physical memory: QEMU's "System emulation: GDB usage".
 */
#ifndef VP_BACKEND_GDB_STUB_H
#define VP_BACKEND_GDB_STUB_H

#include "vmm-probe/backend/gdb/packet.h"
#include "vmm-probe/backend/gdb/target.h"
#include "vmm-probe/engine/wire/facts.h"

#define VP_GDB_THREAD_MAX 32
#define VP_GDB_NAME_MAX   256

/* As signal numbers come in stop replies: GDB's own, which are these of Unix. */
#define VP_GDB_SIGINT  2
#define VP_GDB_SIGABRT 6
#define VP_GDB_SIGTRAP 5

struct vp_gdb_stub {
	struct vp_gdb_conn conn;
	char name[VP_GDB_NAME_MAX]; /* where it is, for messages */
	struct vp_gdb_target target;
	uint32_t chunk; /* bytes of memory in one request */
	uint32_t nthreads;
	char threads[VP_VCPUS_MAX][VP_GDB_THREAD_MAX]; /* its own names for them; by vCPU */
	bool physical;                                 /* it reads by physical addresses now */
	bool no_register_write;
	uint32_t stops;  /* stop replies that came while another answer was waited for */
	uint32_t lost;   /* packets that went and were not looked at */
	bool meddled;    /* somebody else stops the target, and lets it run: it may run at any moment */
	bool has_fence;  /* see fence() */
	bool said_debug; /* its monitor: the target stands at a breakpoint */
	struct vp_gdb_packet reply, aside;
};

/* Why a target stopped. */
struct vp_gdb_stop {
	int signal;
	uint32_t vcpu; /* which; VP_VCPUS_MAX: it did not say */
};

/** Talk to the stub on @p fd, which is taken over. The target is stopped then. Whatever comes out,
 * vp_gdb_stub_close() lets it run on. BUSY: nobody answers; BAD_DATA: it is no gdb stub; UNSUPPORTED:
 * it can't do what is needed. */
OT_MUST_CHECK struct ot_err *vp_gdb_stub_open(struct vp_gdb_stub *stub, const char *name, int fd);

enum vp_gdb_leave {
	VP_GDB_LET_RUN,
	VP_GDB_LEAVE_STOPPED, /* as it is: somebody else stopped it */
	VP_GDB_UNHEARD,       /* the connection is of no use any more; what may help is sent blindly */
};

/** Hang up. Breakpoints are out already, or, with LET_RUN, go then. */
void vp_gdb_stub_close(struct vp_gdb_stub *stub, enum vp_gdb_leave how);

OT_MUST_CHECK struct ot_err *vp_gdb_read_regs(struct vp_gdb_stub *stub, uint32_t vcpu, struct vp_regs *ret);
/** *ret_done false: this stub does not write registers, or the target may have run on since they were read.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_write_rip(struct vp_gdb_stub *stub, uint32_t vcpu, uint64_t rip,
					      bool *ret_done);

/** Guest memory: physical, or virtual as the vCPU of the last vp_gdb_read_regs() has it mapped. FAULT: not
 * there. */
OT_MUST_CHECK struct ot_err *vp_gdb_read(struct vp_gdb_stub *stub, bool physical, uint64_t addr, void *dst,
					 size_t len);

enum vp_gdb_break {
	VP_GDB_SOFTWARE, /* Z0: how is the stub's business; it may write into the guest */
	VP_GDB_HARDWARE, /* Z1: nothing in memory changes */
};

/** Plant a breakpoint, or take it out. UNSUPPORTED: it has no such, or none left. */
OT_MUST_CHECK struct ot_err *vp_gdb_break(struct vp_gdb_stub *stub, enum vp_gdb_break kind, uint64_t gva,
					  bool in);

/** *ret_runs false: that was lost, as somebody else had let it run before us; it stands still again. */
OT_MUST_CHECK struct ot_err *vp_gdb_continue(struct vp_gdb_stub *stub, bool *ret_runs);
/** One instruction of one vCPU; the others are held. Returns when it is done, or was lost like that. */
OT_MUST_CHECK struct ot_err *vp_gdb_step(struct vp_gdb_stub *stub, uint32_t vcpu);

/** Is @p packet a stop reply? GUEST_GONE: the target has ended. */
OT_MUST_CHECK struct ot_err *vp_gdb_parse_stop(const struct vp_gdb_stub *stub,
					       const struct vp_gdb_packet *packet, bool *ret_is,
					       struct vp_gdb_stop *ret);
/** A target that stands still and does not say so any more is taken for interrupted. */
OT_MUST_CHECK struct ot_err *vp_gdb_wait_stop(struct vp_gdb_stub *stub, struct vp_gdb_stop *ret);

/** The target was stopped by somebody else: is it still? *ret false: it ran on, or came to a breakpoint of
 * ours, for which a stub that waits for a vCont of ours sends no stop reply (QEMU since 8.1); it stands still
 * now. */
OT_MUST_CHECK struct ot_err *vp_gdb_is_held(struct vp_gdb_stub *stub, bool *ret);

#endif
