/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols from the operator's files, for guests whose symbols can't be read: an ELF vmlinux (symbols, .BTF,
 * ORC), or a list of symbols (System.map, or a saved /proc/kallsyms). Addresses are relocated to the guest's
 * KASLR base.
 */
#ifndef VP_GUEST_ELF_SYMBOLS_H
#define VP_GUEST_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/symtab.h"
#include "vmm-probe/guest/vmcoreinfo.h"

struct vp_vmlinux {
	uint8_t *btf; /* .BTF, or NULL */
	size_t btf_size;
	/* .orc_unwind_ip and .orc_unwind, or NULL. Entries of orc_ip are relative to their own addresses. */
	uint8_t *orc_ip;
	size_t orc_ip_size;
	uint8_t *orc;
	size_t orc_size;
	uint64_t orc_ip_addr; /* of .orc_unwind_ip in the guest (relocated) */
	uint8_t build_id[VP_BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none */
	bool has_symbols;    /* false: nothing was added to the table */
};

/** Read an ELF vmlinux. Its symbols (from .symtab, or a stripped file's kallsyms) are added to @p symtab,
 * relocated so that the image starts at @p base. BAD_DATA: not an x86-64 vmlinux. */
OT_MUST_CHECK struct ot_err *vp_vmlinux_open(const char *path, struct vp_gva base, struct vp_symtab *symtab,
					     struct vp_vmlinux *ret);
/** The same of the file @p fd, which is closed; @p path names it in messages. -1: it is opened. */
OT_MUST_CHECK struct ot_err *vp_vmlinux_read(const char *path, int fd, struct vp_gva base,
					     struct vp_symtab *symtab, struct vp_vmlinux *ret);
void vp_vmlinux_deinit(struct vp_vmlinux *vmlinux);
/** Check that @p path is an x86-64 vmlinux, by its headers only. Errors as vp_vmlinux_open(). */
OT_MUST_CHECK struct ot_err *vp_vmlinux_check(const char *path);

/** Read a symbol list, relocated so that _text (or else _stext) is at @p base. Lines with a [module] are
 * skipped: the guest's own list of modules is newer. SYNTAX: the message names the line. */
OT_MUST_CHECK struct ot_err *vp_symbols_open(const char *path, struct vp_gva base, struct vp_symtab *symtab);
/** The same of the file @p fd, which is closed; -1: it is opened. */
OT_MUST_CHECK struct ot_err *vp_symbols_read(const char *path, int fd, struct vp_gva base,
					     struct vp_symtab *symtab);

#endif
