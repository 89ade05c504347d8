/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of a file, by address; and the beginnings of functions without symbols. */
#ifndef VP_GUEST_ELF_SYMBOLS_H
#define VP_GUEST_ELF_SYMBOLS_H

#include "vmm-probe/guest/elf/elf.h"

#define VP_ELF_SYMBOLS_MAX (1u << 20)  /* of a file */
#define VP_ELF_NAMES_MAX   (64u << 20) /* bytes, of a file */
#define VP_ELF_NAME_MAX    1024u /* bytes of a name, with its NUL; symbols with longer ones are left out */

struct vp_elf_symbol {
	uint64_t addr, size; /* addr as linked; size 0: unknown */
	uint32_t name;       /* offset in names */
	bool local;
	uint8_t type; /* STT_FUNC, STT_OBJECT … */
};

struct vp_elf_symbols {
	struct vp_elf_symbol
	    *items; /* owned; by address; of those at one, the global one with the plainest name first */
	size_t count, cap;
	char *names; /* owned */
	size_t names_len, names_cap;
};

/** Add the functions and objects of one table of the file; those whose page is missing are left out. LIMIT:
 * the file has too many. */
OT_MUST_CHECK struct ot_err *vp_elf_symbols_add(struct vp_elf *elf, const struct vp_elf_table *table,
						enum vp_part symbols, enum vp_part strings,
						struct vp_elf_symbols *ret);
/** Once, after all were added: sort them. */
void vp_elf_symbols_finish(struct vp_elf_symbols *symbols);
void vp_elf_symbols_deinit(struct vp_elf_symbols *symbols);

/** All of a file: .symtab's and .dynsym's, finished. The caller deinits *ret after success. */
OT_MUST_CHECK struct ot_err *vp_elf_symbols_read(struct vp_elf *elf, struct vp_elf_symbols *ret);

/** The symbol at or before @p addr that covers it; of several the innermost. NULL: none. Borrowed. */
const struct vp_elf_symbol *vp_elf_symbols_find(const struct vp_elf_symbols *symbols, uint64_t addr);
const char *vp_elf_symbol_name(const struct vp_elf_symbols *symbols, const struct vp_elf_symbol *symbol);

/** The function [*ret_start, *ret_end) around @p addr by the table of .eh_frame_hdr, which stripping leaves.
 * False: there is none, or the table is not there. */
OT_MUST_CHECK bool vp_elf_function_at(struct vp_elf *elf, uint64_t addr, uint64_t *ret_start,
				      uint64_t *ret_end);

#endif
