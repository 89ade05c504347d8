/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols from the operator's files, for guests that hide theirs: an ELF vmlinux (symbols, .BTF, ORC),
 * or a list of symbols (System.map, or a saved /proc/kallsyms). Addresses come out relocated to where
 * the guest's kernel is.
 */
#ifndef VP_GUEST_ELF_SYMBOLS_H
#define VP_GUEST_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/symtab.h"

struct vp_vmlinux {
	uint8_t *btf; /* .BTF, or NULL */
	size_t btf_size;
	uint8_t
	    *orc_ip; /* .orc_unwind_ip and .orc_unwind, or NULL; entries of ip are relative to its place */
	size_t orc_ip_size;
	uint8_t *orc;
	size_t orc_size;
	uint64_t orc_ip_addr; /* where .orc_unwind_ip lies in the guest (relocated) */
	uint8_t build_id[32];
	size_t build_id_len;
};

/** Read an ELF vmlinux; its symbols go to @p symtab, moved so that _text is at @p base. */
OT_MUST_CHECK struct ot_err *vp_vmlinux_open(const char *path, struct vp_gva base, struct vp_symtab *symtab,
					     struct vp_vmlinux *ret);
void vp_vmlinux_deinit(struct vp_vmlinux *vmlinux);

/** Read a symbol list, moved so that _text (or _stext) fits @p base; lines with a [module] are taken as
 * they are when the list is already in place, and left out otherwise. SYNTAX names the line. */
OT_MUST_CHECK struct ot_err *vp_symbols_open(const char *path, struct vp_gva base, struct vp_symtab *symtab);

#endif
