/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another client of a gdb stub on this host: a stub serves one client, and the others wait. */
#ifndef VP_BACKEND_GDB_TAKEN_H
#define VP_BACKEND_GDB_TAKEN_H

#include <stdbool.h>
#include <stddef.h>

/** Does the stub at the other end of @p fd, our connection, serve another client? Then @p who, of @p size
 * bytes, is that process ("gdb (PID 4711)"), or "" if it is not visible from here. False: no, or not visible.
 */
bool vp_gdb_is_taken(int fd, char *who, size_t size);

#endif
