/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else is connected to a gdb stub of this host: a stub serves one client, and lets others wait. */
#ifndef VP_BACKEND_GDB_TAKEN_H
#define VP_BACKEND_GDB_TAKEN_H

#include <stdbool.h>
#include <stddef.h>

/** Does the stub behind @p fd, our connection to it, serve somebody else? Then @p who, of @p size bytes, is
 * that process
 * ("gdb (PID 4711)"), or "" if it can't be seen from here. False: nobody, or that can't be seen. */
bool vp_gdb_is_taken(int fd, char *who, size_t size);

#endif
