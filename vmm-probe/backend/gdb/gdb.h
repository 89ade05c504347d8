/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gdb backend: a guest traced through the gdb stub of its VMM, from the operator's process. Any stub with
 * the features of vmm-probe/backend/gdb/stub.h; QEMU's, old or new, TCG or KVM.
 *
 * An engine runs in this process, and one thread acts for all of its vCPUs: only that thread talks to the
 * stub. A hit is a stop reply; the whole guest is stopped from then until the vCPU has been stepped over the
 * site and vCont;c is sent. Other threads call that thread for anything that needs the stub (memory, other
 * sites). We write nothing to the guest; software breakpoints are planted only where the stub implements them
 * without changing memory.
 */
#ifndef VP_BACKEND_GDB_GDB_H
#define VP_BACKEND_GDB_GDB_H

#include "vmm-probe/engine/engine.h"

struct vp_gdb;
struct vp_phys;

/**
 * Connect to the stub at @p where (HOST:PORT, or the path of a UNIX socket) and serve an engine for it in
 * this process. The guest is stopped until no request has been made for some milliseconds. NOT_FOUND, BUSY,
 * BAD_DATA, UNSUPPORTED: no stub, or not a usable one; the guest keeps running.
 */
OT_MUST_CHECK struct ot_err *vp_gdb_open(const char *where, struct vp_gdb **ret);

/** Remove every breakpoint, resume the guest, disconnect. NULL is allowed. */
void vp_gdb_close(struct vp_gdb *gdb);

/** The address of its engine's socket, as vp_client_connect() takes it; borrowed. */
const char *vp_gdb_socket(const struct vp_gdb *gdb);

/** Guest memory; borrowed until close. Each read stops the guest if it runs. */
const struct vp_phys *vp_gdb_phys(const struct vp_gdb *gdb);

/** Costs measured at the start, ns: a request with its answer; a hit, during which the guest is stopped.
 */
void vp_gdb_cost(const struct vp_gdb *gdb, uint64_t *ret_request_ns, uint64_t *ret_hit_ns);

#endif
