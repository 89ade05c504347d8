/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The default paths of engines' sockets, one a VMM: engines listen there, and clients search there. */
#ifndef VP_ENGINE_WIRE_SOCKET_PATH_H
#define VP_ENGINE_WIRE_SOCKET_PATH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define VP_SOCKET_SYSTEM_DIR "/run/outsight"

/** $XDG_RUNTIME_DIR/outsight, else (also if that is another user's) VP_SOCKET_SYSTEM_DIR. LIMIT: longer than
 * @p size, less the length of a socket's name. */
OT_MUST_CHECK struct ot_err *vp_socket_dir(char *ret, size_t size);

/** The same, created (0700) if it does not exist. PERMISSION: another user owns it or may write to it. */
OT_MUST_CHECK struct ot_err *vp_socket_dir_make(char *ret, size_t size);

/** DIR/PID.sock of the VMM with that PID. */
OT_MUST_CHECK struct ot_err *vp_socket_path(pid_t pid, char *ret, size_t size);

/** In the directory that libvirt made for a domain, which is in its QEMU's XDG_CACHE_HOME (DIRECTORY/.cache):
 * the same place in system and session mode, removed with the domain. NOT_FOUND: @p cache_home (NULL: unset)
 * is not of that form. */
OT_MUST_CHECK struct ot_err *vp_socket_path_libvirt(const char *cache_home, char *ret, size_t size);

/** PERMISSION: names the missing permission to read or ptrace the VMM with that PID. */
struct ot_err *vp_vmm_forbidden(pid_t pid);

/** Be the only process that changes the VMM with that PID from outside: injecting an engine, or sampling its
 * vCPUs' registers. Held until *ret_fd is closed everywhere, so also released by a kill -9. BUSY: another
 * process still holds it after half a second; PERMISSION: it requires permission to ptrace the VMM;
 * NOT_FOUND: there is no such process. */
OT_MUST_CHECK struct ot_err *vp_vmm_claim(pid_t pid, int *ret_fd);

#endif
