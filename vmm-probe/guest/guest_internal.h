/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by guest*.c. */
#ifndef VP_GUEST_GUEST_INTERNAL_H
#define VP_GUEST_GUEST_INTERNAL_H

#include "base/buf.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf_symbols.h"
#include "vmm-probe/guest/guest.h"

struct vp_guest {
	bool patient, is_still; /* see struct vp_guest_opts */
	const struct vp_phys *phys;
	struct vp_kernel kernel;
	struct vp_symtab *symtab;
	struct vp_modules modules;
	uint64_t came; /* modules, since it was opened */
	struct vp_module_layout layout;
	bool have_layout;
	struct vp_btf *btf;
	const uint8_t *btf_data; /* owned, until the types are indexed */
	size_t btf_size;
	struct vp_orc_raw orc; /* a vmlinux's; its memory is owned */
	struct ot_buf note, warning;
	/* What vp_guest_copies() needs when it is first called. guest_copies.c */
	struct vp_guest_file {
		char *vmlinux, *cache_dir; /* owned; NULL: as in struct vp_guest_opts */
		bool use_cache;
		void (*progress)(void *ctx, const char *step);
		void *progress_ctx;
	} file;
	struct vp_copies *copies; /* owned; NULL: not read yet */
};

/* A guest of which nothing has been read; NULL: out of memory. guest.c */
struct vp_guest *vp_guest_new(const struct vp_guest_opts *opts);

/* Remember the file of @p opts, and free it. */
OT_MUST_CHECK struct ot_err *vp_guest_file_set(struct vp_guest *guest, const struct vp_guest_opts *opts);
void vp_guest_file_deinit(struct vp_guest *guest);

/* Add the core kernel's symbols to @p symtab from the files in @p opts, the cache, or RAM. Types and ORC
 * tables of a vmlinux are stored in @p guest. guest_symbols.c */
OT_MUST_CHECK struct ot_err *vp_guest_core_symbols(struct vp_guest *guest, const struct vp_guest_opts *opts,
						   const struct vp_image *image, struct vp_symtab *symtab);

/* Find the types in the image unless they came from a vmlinux: their bytes only. guest_types.c */
OT_MUST_CHECK struct ot_err *vp_guest_types(struct vp_guest *guest, const struct vp_image *image);

/* Read the list of modules at @p head with the guest's layout, which it must have. A walk that meets a change
 * is repeated a few times; ret->torn is set if the last one met one too. @p ret is initialised.
 * guest_modules.c */
OT_MUST_CHECK struct ot_err *vp_guest_walk_modules(struct vp_guest *guest, struct vp_gva head,
						   struct vp_modules *ret);

/*
 * A guest is opened in three steps. The first and the third parse guest memory; each leaves a result that can
 * be passed to another process and checked there. The budget of the whole is in force.
 */

/* The kernel, its symbols, and the bytes of its types. guest.c */
OT_MUST_CHECK struct ot_err *vp_guest_read_core(struct vp_guest *guest, const struct vp_guest_opts *opts);

/* Check the bytes of the types (NULL: there are none) and index a copy of them, and find the modules' layout
 * in it; a note names missing parts. guest_types.c */
OT_MUST_CHECK struct ot_err *vp_guest_index_types(struct vp_guest *guest, const uint8_t *data, size_t size);

/* Modules of a guest, and symbols of those that are new to it: in a table of their own, not finished, in
 * which each has its name. */
struct vp_arrivals {
	struct vp_modules list;
	struct vp_symtab *symbols; /* owned */
};
void vp_arrivals_deinit(struct vp_arrivals *arrivals);

/* Read the list of modules, and the symbols of those that @p guest does not know yet. @p opening: all of them
 * exist from the start, and of a list that changes the part that could be read is taken. *ret is initialised.
 * Errors as vp_guest_modules_update(). guest_modules.c */
OT_MUST_CHECK struct ot_err *vp_guest_find_modules(struct vp_guest *guest, bool opening,
						   struct vp_arrivals *ret);
/* Make them the guest's; the contents of @p found, except its symbols' table, are moved. After an error the
 * modules are unchanged, and the symbols are complete. guest_modules.c */
OT_MUST_CHECK struct ot_err *vp_guest_take_modules(struct vp_guest *guest, bool opening,
						   struct vp_arrivals *found);

/* Address of a core symbol; 0: there is none. */
uint64_t vp_guest_address(const struct vp_symtab *symtab, const char *name);

#endif
