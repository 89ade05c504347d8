/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User addresses of this host's processes as text, for sessions without a guest: the mapped file from /proc,
 * its symbol from its ELF symbol table. The data is kept, so that addresses of a process that has ended still
 * have their names. One thread.
 */
#ifndef VP_SESSION_HOST_SYMBOLS_H
#define VP_SESSION_HOST_SYMBOLS_H

#include "base/map.h"
#include "vmm-probe/session/session.h"

struct vp_host_symbols {
	struct ot_map processes; /* by pid */
	struct ot_map objects;   /* files, by device, inode and path */
};

void vp_host_symbols_init(struct vp_host_symbols *hs);
void vp_host_symbols_deinit(struct vp_host_symbols *hs);

/** Text of @p addr in process @p pid into @p buf, always NUL-terminated: object`symbol+0x12,
 * object`0xaddr, or 0xaddr if no file is mapped there. Also 0xaddr when out of memory, and for processes that
 * may not be inspected. */
void vp_host_symbol(struct vp_host_symbols *hs, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
		    char *buf, size_t size);

#endif
