/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's symbols: core kernel and modules, searched by address or by name. Built once (create, add…,
 * finish), then immutable and usable by any number of threads, until modules that were loaded or unloaded
 * since are added and dropped, and it is finished again.
 */
#ifndef VP_GUEST_SYMTAB_H
#define VP_GUEST_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"

#define VP_SYMTAB_VMLINUX 0 /* the core kernel's module number; its name is "vmlinux" */
#define VP_SYMTAB_MAX     4000000u
#define VP_SYMTAB_MODULES 4096u
#define VP_SYM_NAME_MAX   512

enum vp_sym_flags {
	VP_SYM_PERCPU = 1,   /* an offset in a per-CPU area: the address is __per_cpu_offset[cpu] + addr */
	VP_SYM_ABSOLUTE = 2, /* a number, not an address */
	VP_SYM_DATA = 4,     /* in the core's data section: not a function, whatever its type letter */
};

struct vp_symbol {
	uint64_t addr;
	uint32_t name; /* in the string pool: use vp_symbol_name() */
	uint16_t module;
	char type; /* as in /proc/kallsyms */
	uint8_t flags;
};

struct vp_symtab;

/** ThinLTO names a static function that it uses from another file NAME.llvm.HASH, by a hash of the build.
 * Kernels of 5.13 to 6.10 find and print it as NAME (cleanup_symbol_name() of kernel/kallsyms.c), and BTF has
 * NAME: so do we. Parts (NAME.llvm.HASH.cold) stay parts.
 *
 * Put @p name (@p len bytes, at most VP_SYM_NAME_MAX) into @p ret without a hash of @p digits, and return its
 * length; nothing terminates it. */
size_t vp_symbol_without_hash(char ret[VP_SYM_NAME_MAX], const char *name, size_t len, const char *digits);

OT_MUST_CHECK struct ot_err *vp_symtab_create(struct vp_symtab **ret);
void vp_symtab_destroy(struct vp_symtab *symtab);

/** Add a module (the core kernel, number 0, is there from the start). */
OT_MUST_CHECK struct ot_err *vp_symtab_add_module(struct vp_symtab *symtab, const char *name,
						  uint16_t *ret_module);
/** Add an address range of a module; the last symbol's size and lookups end at its end. */
OT_MUST_CHECK struct ot_err *vp_symtab_add_range(struct vp_symtab *symtab, uint16_t module, uint64_t start,
						 uint64_t end);
/** Add a symbol; @p name is copied, without ThinLTO's hash. LIMIT: more than VP_SYMTAB_MAX. */
OT_MUST_CHECK struct ot_err *vp_symtab_add(struct vp_symtab *symtab, uint64_t addr, char type,
					   uint16_t module, uint8_t flags, const char *name, size_t len);
/** Take out of a table, finished or not, the symbols and ranges of module number @p module (-1: of none), and
 * those of any module in [@p start, @p end). The core kernel's stay. Until it is finished again nothing may
 * be looked up, and afterwards pointers to symbols are invalid; names stay valid. */
void vp_symtab_drop(struct vp_symtab *symtab, int module, uint64_t start, uint64_t end);
/** Sort (symbols of one address stay in the order of addition), index, and flag the core kernel's symbols by
 * __per_cpu_start and __per_cpu_end, _sdata and _edata. Nothing may be added afterwards. */
OT_MUST_CHECK struct ot_err *vp_symtab_finish(struct vp_symtab *symtab);

/* Everything below needs a finished table. Strings live as long as the table, symbols until it changes. */

size_t vp_symtab_count(const struct vp_symtab *symtab);
/** Symbol number @p i, by address; @p i < count. */
const struct vp_symbol *vp_symtab_at(const struct vp_symtab *symtab, size_t i);
const char *vp_symbol_name(const struct vp_symtab *symtab, const struct vp_symbol *sym);
const char *vp_symbol_module(const struct vp_symtab *symtab, const struct vp_symbol *sym);

/** Bytes from the symbol to the next one at another address, or to the end of its range; 0: unknown. */
uint64_t vp_symbol_size(const struct vp_symtab *symtab, const struct vp_symbol *sym);
/** By its type letter (t, T, w, W), unless it has a flag. */
bool vp_symbol_is_function(const struct vp_symbol *sym);

/** The symbol at or before @p gva, in the same range; of several at one address, the first. NULL: @p gva is
 * in no range, or before its range's first symbol. *ret_offset (may be NULL): @p gva minus the symbol's
 * address. */
const struct vp_symbol *vp_symtab_find_addr(const struct vp_symtab *symtab, struct vp_gva gva,
					    uint64_t *ret_offset);

/** The first symbol of this name (NULL: no name), in @p module (a name); NULL: in any, the core kernel first.
 * NULL: none. */
const struct vp_symbol *vp_symtab_find(const struct vp_symtab *symtab, const char *module, const char *name);

/** The number of the module of this name, or -1. */
int vp_symtab_find_module(const struct vp_symtab *symtab, const char *name);

#endif
