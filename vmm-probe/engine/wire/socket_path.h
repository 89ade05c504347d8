/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where engines listen when they are not told, and clients look: one socket a VMM. */
#ifndef VP_ENGINE_WIRE_SOCKET_PATH_H
#define VP_ENGINE_WIRE_SOCKET_PATH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define VP_SOCKET_SYSTEM_DIR "/run/outsight"

/** $XDG_RUNTIME_DIR/outsight, else (also where that is another user's) VP_SOCKET_SYSTEM_DIR. LIMIT: longer
 * than @p size, less what a socket's name takes. */
OT_MUST_CHECK struct ot_err *vp_socket_dir(char *ret, size_t size);

/** The same, made (0700) when it is not there. */
OT_MUST_CHECK struct ot_err *vp_socket_dir_make(char *ret, size_t size);

/** DIR/PID.sock of the VMM with that PID. */
OT_MUST_CHECK struct ot_err *vp_socket_path(pid_t pid, char *ret, size_t size);

/** In the directory that libvirt made for a domain, as its QEMU's XDG_CACHE_HOME (DIRECTORY/.cache) tells:
 * the same place in system and session mode, gone with the domain. NOT_FOUND: @p cache_home (NULL: unset) is
 * none such. */
OT_MUST_CHECK struct ot_err *vp_socket_path_libvirt(const char *cache_home, char *ret, size_t size);

/** PERMISSION: which right is missing to look at the VMM with that PID, or to touch it. */
struct ot_err *vp_vmm_forbidden(pid_t pid);

/** Be the only one who changes something in the VMM with that PID, from outside: putting an engine into it,
 * or asking for its vCPUs' registers. Good until *ret_fd is closed everywhere, so also after a kill -9. BUSY:
 * another is; PERMISSION: it takes the right to ptrace the VMM; NOT_FOUND: there is no such process. */
OT_MUST_CHECK struct ot_err *vp_vmm_claim(pid_t pid, int *ret_fd);

#endif
