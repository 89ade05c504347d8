/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolving an operator's name for a guest to its VMM's process and its engine's control socket.
 *
 * A VMM is identified by facts from the kernel: the process that listens (vp_peer_read()), the file that it
 * executes, its uid. Its name is chosen by its owner, so a name is resolved to the guest of the owner with
 * the highest rank, see enum vp_rank.
 */
#ifndef VP_HOSTS_LOCATE_H
#define VP_HOSTS_LOCATE_H

#include "base/buf.h"
#include "vmm-probe/hosts/engines.h"
#include "vmm-probe/machines/qemu.h"

/** The control socket of guest @p spec (a name, a PID, a path with a '/'; NULL: the only one running) into @p
 * path. NOT_FOUND lists the existing guests; it may be one without an engine. UNSUPPORTED: it was started
 * with one, which does not answer at any of its places. */
OT_MUST_CHECK struct ot_err *vp_locate(const char *spec, char *path, size_t size);

/** The VMM's process of @p spec (a name or a PID), with an engine or without. NOT_FOUND lists the existing
 * guests, or reports that two of the same rank have the name. */
OT_MUST_CHECK struct ot_err *vp_locate_process(const char *spec, pid_t *ret);

/** The rank of a VMM's process for its guest's name. */
enum vp_rank vp_locate_rank(const struct vp_qemu *vmm);

/** The process of libvirt's domain @p uuid, of several that claim it the one with the highest rank; NULL:
 * none. */
const struct vp_qemu *vp_locate_domain(const struct vp_qemu *vmms, size_t n, const char *uuid);

/** The places where an engine of this VMM could listen, separated by commas, for messages. */
void vp_locate_places(const struct vp_qemu *vmm, struct ot_buf *out);

#endif
