/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of guest*.c share. */
#ifndef VP_GUEST_GUEST_INTERNAL_H
#define VP_GUEST_GUEST_INTERNAL_H

#include "base/buf.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf_symbols.h"
#include "vmm-probe/guest/guest.h"

/* By the clock on the wall: reading a guest takes at most 10 s. */
#define VP_GUEST_OPEN_MS   8000u
#define VP_GUEST_STACKS_MS 2000u

struct vp_guest {
	bool patient; /* see struct vp_guest_opts */
	const struct vp_phys *phys;
	struct vp_kernel kernel;
	struct vp_symtab *symtab;
	struct vp_modules modules;
	struct vp_module_layout layout;
	bool have_layout;
	struct vp_btf *btf;
	const uint8_t *btf_data; /* ours */
	size_t btf_size;
	struct vp_orc_raw orc; /* its memory is ours */
	struct ot_buf note;
};

/* Take note of what is missing, and go on: eats @p err. Errors of this process come back. */
OT_MUST_CHECK struct ot_err *vp_guest_note_missing(struct vp_guest *guest, const char *what,
						   struct ot_err *err);

/* Put a budget into force for a look at this guest; @p wall_ms holds for those that are alive and near. */
void vp_guest_budget_begin(const struct vp_guest *guest, struct vp_budget *budget, uint32_t wall_ms);

/* Add the core kernel's symbols to @p symtab from where opts say, or the cache, or RAM. Types and stack
 * tables that come with a vmlinux go to @p guest. guest_symbols.c */
OT_MUST_CHECK struct ot_err *vp_guest_core_symbols(struct vp_guest *guest, const struct vp_guest_opts *opts,
						   const struct vp_image *image, struct vp_symtab *symtab);

/* BTF and ORC tables from the image, unless a vmlinux brought them. guest_types.c */
OT_MUST_CHECK struct ot_err *vp_guest_types(struct vp_guest *guest, const struct vp_image *image);

/* Address of a core symbol, 0 when there is none. */
uint64_t vp_guest_address(const struct vp_symtab *symtab, const char *name);

#endif
