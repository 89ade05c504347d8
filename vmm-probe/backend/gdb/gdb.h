/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gdb backend: a guest traced through the gdb stub of its VMM, from the operator's process. Any stub that
 * has what vmm-probe/backend/gdb/stub.h needs; QEMU's, old or new, TCG or KVM.
 *
 * An engine of its own runs here, and one thread is all of its vCPUs: it alone talks to the stub. A hit is a
 * stop reply; the whole guest stands still from there until the vCPU that came is over the site and
 * vCont;c is sent. Whoever else wants something of the stub (memory, other sites) asks that thread.
 * Nothing is written into the guest by us; software breakpoints are planted only where the stub does
 * that without changing memory.
 */
#ifndef VP_BACKEND_GDB_GDB_H
#define VP_BACKEND_GDB_GDB_H

#include "vmm-probe/engine/engine.h"

struct vp_gdb;
struct vp_phys;

/**
 * Connect to the stub at @p where (HOST:PORT, or the path of a UNIX socket) and serve an engine for it in
 * this process. The guest stands still until nobody has asked for anything for some milliseconds. NOT_FOUND,
 * BUSY, BAD_DATA, UNSUPPORTED: who is or is not there; the guest runs on.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_open(const char *where, struct vp_gdb **ret);

/** Take every breakpoint out, let the guest run, hang up. NULL is fine. */
void vp_gdb_close(struct vp_gdb *gdb);

/** The address of its engine's socket, as vp_client_connect() takes it; borrowed. */
const char *vp_gdb_socket(const struct vp_gdb *gdb);

/** Guest memory; borrowed until close. Each read stops the guest if it runs. */
const struct vp_phys *vp_gdb_phys(const struct vp_gdb *gdb);

/** What was measured at the start, in ns: a request and its answer; a hit, for which the guest stands still.
 */
void vp_gdb_cost(const struct vp_gdb *gdb, uint64_t *ret_request_ns, uint64_t *ret_hit_ns);

#endif
