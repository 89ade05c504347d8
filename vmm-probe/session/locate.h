/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what an operator calls a guest to its engine's control socket. */
#ifndef VP_SESSION_LOCATE_H
#define VP_SESSION_LOCATE_H

#include "vmm-probe/session/session.h"

/** The control socket of guest @p spec (a name, a PID, a path with a '/'; NULL: the only one running)
 * into @p path. NOT_FOUND says which guests there are. */
OT_MUST_CHECK struct ot_err *vp_locate(const char *spec, char *path, size_t size);

#endif
