/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of this folder. */
#ifndef VP_ATTACH_INTERNAL_H
#define VP_ATTACH_INTERNAL_H

#include "vmm-probe/attach/link.h"

/** The source whose prefix @p name has, *ret_where the rest of the name; NULL: none. */
const struct vp_source_ops *vp_source_find(const char *name, const char **ret_where);

/* The source of guests without an engine. */
extern const struct vp_source_ops vp_peek_source;

/* link.c */
void vp_links_progress(const struct vp_links *links, const char *what);
/** BUSY: the guest of that VMM is attached already. */
OT_MUST_CHECK struct ot_err *vp_links_check_once(const struct vp_links *links, pid_t pid);
OT_MUST_CHECK struct ot_err *vp_link_create(struct vp_guest_link **ret);
/** Reset the link to its initial state, except link->file_fault. */
void vp_link_reset(struct vp_guest_link *link);
void vp_source_close(struct vp_source *source);
/** The client is connected to an engine: record the number of replacements of its guest's state until now. */
void vp_link_note_states(struct vp_guest_link *link);

/* kernel.c */
/** Find and read the kernel in @p phys, by registers from the client, or from the source if it has no
 * engine. */
OT_MUST_CHECK struct ot_err *vp_link_read(const struct vp_links *links, struct vp_guest_link *link,
					  const struct vp_phys *phys);

/* running.c */
/** BUSY, and link->starts: the kernel does not run, or is still starting. @p regs as they were when it was
 * searched for.
 * @p from_boot: it suffices that it can be traced at all. Takes a second at most. */
OT_MUST_CHECK struct ot_err *vp_link_check_running(struct vp_guest_link *link, const struct vp_regs *regs,
						   size_t nregs, bool from_boot);

/* attach.c */
/** Connect to the engine that listens at @p path, and read its guest. */
OT_MUST_CHECK struct ot_err *vp_link_attach_engine(const struct vp_links *links, struct vp_guest_link *link,
						   const char *path);

/* source.c */
/** Open @p where of a source, and read its guest. If the kernel can't be read and the source permits that,
 * link->unread is the reason and link->guest is NULL. Errors are those of open() and of reading a kernel. */
OT_MUST_CHECK struct ot_err *vp_link_attach_source(const struct vp_links *links, struct vp_guest_link *link,
						   const struct vp_source_ops *ops, const char *where);

/* absent.c: guests in whose VMM there is no engine */
/** *ret_unknown: no guest that runs here is called @p name. */
OT_MUST_CHECK struct ot_err *vp_absent_attach(const struct vp_links *links, struct vp_guest_link *link,
					      const char *name, bool *ret_unknown);

#endif
