/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what an operator calls a guest to its VMM's process and its engine's control socket.
 *
 * Who a VMM is, is the kernel's word: the process that listens (vp_peer_read()), the file that it runs, its
 * uid. What it calls itself is its owner's word, so a name means the guest of the one who has most right to
 * it, see enum vp_rank.
 */
#ifndef VP_HOSTS_LOCATE_H
#define VP_HOSTS_LOCATE_H

#include "base/buf.h"
#include "vmm-probe/hosts/engines.h"
#include "vmm-probe/machines/qemu.h"

/** The control socket of guest @p spec (a name, a PID, a path with a '/'; NULL: the only one running)
 * into @p path. NOT_FOUND says which guests there are; it may be one without an engine. UNSUPPORTED: it has
 * one from its start, which does not answer where it was looked for. */
OT_MUST_CHECK struct ot_err *vp_locate(const char *spec, char *path, size_t size);

/** The VMM's process that @p spec (a name or a PID) means, with an engine or without. NOT_FOUND says which
 * there are, or that two have as much right to the name. */
OT_MUST_CHECK struct ot_err *vp_locate_process(const char *spec, pid_t *ret);

/** How much right a VMM's process has to its guest's name. */
enum vp_rank vp_locate_rank(const struct vp_qemu *vmm);

/** The process of libvirt's domain @p uuid, of several that say so the one with most right to; NULL: none
 * does. */
const struct vp_qemu *vp_locate_domain(const struct vp_qemu *vmms, size_t n, const char *uuid);

/** Where an engine of this VMM could listen, apart by commas, as a message has it. */
void vp_locate_places(const struct vp_qemu *vmm, struct ot_buf *out);

#endif
