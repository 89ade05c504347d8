/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols from the operator's files, for guests that hide theirs: an ELF vmlinux (symbols, .BTF, ORC),
 * or a list of symbols (System.map, or a saved /proc/kallsyms). Addresses come out relocated to where
 * the guest's kernel is.
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
	uint8_t
	    *orc_ip; /* .orc_unwind_ip and .orc_unwind, or NULL; entries of ip are relative to their place */
	size_t orc_ip_size;
	uint8_t *orc;
	size_t orc_size;
	uint64_t orc_ip_addr; /* where .orc_unwind_ip lies in the guest (relocated) */
	uint8_t build_id[VP_BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none */
	bool has_symbols;    /* else nothing was added to the table */
};

/** Read an ELF vmlinux. Its symbols (of .symtab, or of a stripped file's own kallsyms) go to @p symtab,
 * moved so that the image starts at @p base. BAD_DATA for what is no x86-64 vmlinux. */
OT_MUST_CHECK struct ot_err *vp_vmlinux_open(const char *path, struct vp_gva base, struct vp_symtab *symtab,
					     struct vp_vmlinux *ret);
void vp_vmlinux_deinit(struct vp_vmlinux *vmlinux);
/** Is it an x86-64 vmlinux at all? As vp_vmlinux_open(), by the file's headers only. */
OT_MUST_CHECK struct ot_err *vp_vmlinux_check(const char *path);

/** Read a symbol list, moved so that _text (or else _stext) is at @p base; lines with a [module] are left
 * out, the guest's own list of modules is newer. SYNTAX names the line. */
OT_MUST_CHECK struct ot_err *vp_symbols_open(const char *path, struct vp_gva base, struct vp_symtab *symtab);

#endif
