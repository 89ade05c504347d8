/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User addresses of this host's processes as text, for sessions without a guest: which file is mapped
 * there by /proc, which symbol of the file by its ELF symbol table. What was read is kept, so that
 * addresses of a process that has ended meanwhile still have their names. One thread.
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
 * object`0xaddr, or 0xaddr of what no file is mapped at. Without memory, and of processes that may not
 * be looked at, it is 0xaddr too. */
void vp_host_symbol(struct vp_host_symbols *hs, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
		    char *buf, size_t size);

#endif
