/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Linux guest, read from outside: symbols, types and modules from its RAM and some vCPUs' registers,
 * without further input. Runs in the operator's process; guest bytes are never parsed in a VMM.
 *
 * A struct vp_guest may be used by one thread at a time (its page walker has a cache). Getters return
 * borrowed pointers, valid until vp_guest_destroy().
 */
#ifndef VP_GUEST_GUEST_H
#define VP_GUEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/kernel.h"
#include "vmm-probe/guest/mmu.h"
#include "vmm-probe/guest/modules.h"
#include "vmm-probe/guest/phys.h"
#include "vmm-probe/guest/symtab.h"

struct vp_btf;
struct vp_budget;
struct vp_reading;
struct vp_copies; /* vmm-probe/dwarf/copies.h */
struct vp_guest;

/* The operator's files, opened; -1: there is none. */
struct vp_guest_files {
	int vmlinux, symbols;
};

struct vp_guest_opts {
	const struct vp_phys *phys; /* borrowed, must outlive the guest */
	const struct vp_regs *regs; /* of each vCPU that could be read; may be NULL */
	size_t nregs;
	const char *vmlinux; /* --vmlinux FILE, or NULL */
	const char *symbols; /* --symbols FILE, or NULL */
	/* The two as descriptors, which reading closes; NULL: they are opened by their paths. */
	struct vp_guest_files *files;
	bool use_cache;        /* of what came of files: cache.h */
	const char *cache_dir; /* NULL: ${XDG_CACHE_HOME:-~/.cache}/outsight */
	/* No limit of time: a dump may be large and on a slow disk, a gdb stub is slow. */
	bool patient;
	bool is_still; /* it does not run, like a dump: data that is inconsistent never settles */
	/* Called before each step with its description ("locating the kernel"), or NULL; as long as the guest
	 * is open. */
	void (*progress)(void *ctx, const char *step);
	void *progress_ctx;
	/* Set to true if one of the two files is the cause of a failure, so that retrying is useless; or
	 * NULL. */
	bool *ret_file_fault;
};

/** Find the kernel, its symbols, types and modules, in this process: a session has a child do it
 * (contained.h). A guest without BTF can be opened too: vp_guest_btf() is then NULL and there are no modules
 * (see vp_guest_note()). */
OT_MUST_CHECK struct ot_err *vp_guest_open(const struct vp_guest_opts *opts, struct vp_guest **ret);
void vp_guest_destroy(struct vp_guest *guest);

/** Put a budget into force for reading this guest, as vp_budget_begin() does; no time is too long for one
 * that was opened with `patient`. */
void vp_guest_budget_begin(const struct vp_guest *guest, struct vp_budget *budget,
			   const struct vp_reading *first);

/** Read kernel virtual memory through the kernel's own page table. */
OT_MUST_CHECK struct ot_err *vp_guest_read(struct vp_guest *guest, struct vp_gva gva, void *dst, size_t len);
/** The same where the reason for a failure does not matter. False: unreadable. */
bool vp_guest_try_read(struct vp_guest *guest, uint64_t gva, void *dst, size_t len);
/** The same within a budget of its own: for a read that is a @p reading (of vp_readings) by itself. */
OT_MUST_CHECK struct ot_err *vp_guest_read_once(struct vp_guest *guest, const struct vp_reading *reading,
						struct vp_gva gva, void *dst, size_t len);
OT_MUST_CHECK struct ot_err *vp_guest_read_u64(struct vp_guest *guest, struct vp_gva gva, uint64_t *ret);
OT_MUST_CHECK struct ot_err *vp_guest_read_u32(struct vp_guest *guest, struct vp_gva gva, uint32_t *ret);

const struct vp_phys *vp_guest_phys(const struct vp_guest *guest);
struct vp_mmu *vp_guest_mmu(struct vp_guest *guest);                   /* engines need .root and .levels */
const struct vp_kernel *vp_guest_kernel(const struct vp_guest *guest); /* base, build id, release, banner */
const struct vp_symtab *vp_guest_symtab(const struct vp_guest *guest);
const struct vp_modules *vp_guest_modules(const struct vp_guest *guest);
const struct vp_btf *vp_guest_btf(const struct vp_guest *guest); /* of the core kernel; NULL: none */

#define VP_GUEST_ARRIVALS_MAX 4096u

/** Read the list of modules again, and the symbols of those that came since: their `nth` is above what
 * vp_guest_arrivals() was. Earlier results of getters for modules and symbols (not their names) are then
 * invalid. BUSY: the list keeps changing. LIMIT: more than VP_GUEST_ARRIVALS_MAX came, or the budget is used
 * up. FAULT, BAD_DATA: the guest's bytes. After an error the modules are unchanged. In this process, as
 * vp_guest_open(). */
OT_MUST_CHECK struct ot_err *vp_guest_modules_update(struct vp_guest *guest);
/** Modules that came since the guest was opened. */
uint64_t vp_guest_arrivals(const struct vp_guest *guest);
/** The module whose struct module was at @p addr has gone: a later one at that address is another module. */
void vp_guest_module_gone(struct vp_guest *guest, struct vp_gva addr);

/** KASLR's shift: _text minus its link address (0xffffffff81000000). */
uint64_t vp_guest_kaslr_offset(const struct vp_guest *guest);

/** Address of a core symbol; of a per-CPU symbol, the offset in the area. NOT_FOUND. */
OT_MUST_CHECK struct ot_err *vp_guest_symbol(const struct vp_guest *guest, const char *name,
					     struct vp_gva *ret);
/** The same of a symbol that some kernels lack. False: this one does. */
bool vp_guest_find_symbol(const struct vp_guest *guest, const char *name, uint64_t *ret);
/** The same of a symbol that is not a per-CPU variable, which may be at 0. */
uint64_t vp_guest_symbol_or_0(const struct vp_guest *guest, const char *name);

/* The kernel's raw ORC tables: `ip` contains i32 entries, each relative to its own address (ip_addr + 4 * i);
 * `orc` contains as many of the guest's struct orc_entry. */
struct vp_orc_raw {
	const uint8_t *ip;
	size_t ip_size;
	struct vp_gva ip_addr;
	const uint8_t *orc;
	size_t orc_size;
};
/** The kernel's ORC tables, of its vmlinux or else from its memory; copies, owned by the caller, who free()s
 * @p ret->ip and @p ret->orc. Sizes 0: it has none. */
OT_MUST_CHECK struct ot_err *vp_guest_kernel_orc(struct vp_guest *guest, struct vp_orc_raw *ret);

/** A module's ORC tables, and its BTF (split, based on the kernel's); copies, owned by the caller, who
 * free()s @p ret->ip and @p ret->orc. Size 0: it has none. */
OT_MUST_CHECK struct ot_err *vp_guest_module_orc(struct vp_guest *guest, const struct vp_module *module,
						 struct vp_orc_raw *ret);
OT_MUST_CHECK struct ot_err *vp_guest_module_btf(struct vp_guest *guest, const struct vp_module *module,
						 uint8_t **ret_data, size_t *ret_size);

/** The inlined copies of the core kernel's functions, by the debugging information of the vmlinux that the
 * guest was opened with: read at the first call, by a confined child, or taken from the cache. UNSUPPORTED:
 * there is no such file, or it can't be verified to be this kernel's. Else as vp_confined_run(). */
OT_MUST_CHECK struct ot_err *vp_guest_copies(struct vp_guest *guest, const struct vp_copies **ret);

/** The vmlinux that the guest was opened with; NULL: none. */
const char *vp_guest_vmlinux(const struct vp_guest *guest);

/** The missing parts, although the guest could be opened ("no BTF: …"), a line each; "": none. */
const char *vp_guest_note(const struct vp_guest *guest);

/** Add a line "WHAT: the error" to that and consume @p err (NULL: nothing is missing). Errors of this process
 * (NO_MEMORY) and the guest's end are returned instead. */
OT_MUST_CHECK struct ot_err *vp_guest_note_missing(struct vp_guest *guest, const char *what,
						   struct ot_err *err);

/** The same two for notes about wrong data, not only missing data: -q does not suppress them. */
const char *vp_guest_warning(const struct vp_guest *guest);
OT_MUST_CHECK struct ot_err *vp_guest_warn(struct vp_guest *guest, const char *what, struct ot_err *err);

#endif
