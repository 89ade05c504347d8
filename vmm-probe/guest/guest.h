/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Linux guest read from outside: from its RAM and some vCPUs' registers to symbols and types, with
 * nothing given. Runs in the operator's process; a guest's bytes never get parsed in a VMM.
 *
 * One struct vp_guest is for one thread at a time (its page walker has a cache). Getters return
 * borrowed pointers that live until vp_guest_destroy() (the symbol table until vp_guest_refresh()).
 */
#ifndef VP_GUEST_GUEST_H
#define VP_GUEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/regs.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/kernel.h"
#include "vmm-probe/guest/mmu.h"
#include "vmm-probe/guest/modules.h"
#include "vmm-probe/guest/phys.h"
#include "vmm-probe/guest/symtab.h"

struct vp_btf;
struct vp_guest;

struct vp_guest_opts {
	const struct vp_phys *phys; /* borrowed, must outlive the guest */
	const struct vp_regs *regs; /* one for each vCPU that could be read; may be NULL */
	size_t nregs;
	const char *vmlinux; /* --vmlinux FILE, or NULL */
	const char *symbols; /* --symbols FILE, or NULL */
	bool use_cache;
	const char *cache_dir; /* NULL: ${XDG_CACHE_HOME:-~/.cache}/outsight */
	/* Reading may take as long as it takes: a dump, which may be large and on a slow disk, or a stub. */
	bool patient;
	/* Called before each step with what it is ("looking for the kernel"), or NULL. */
	void (*progress)(void *ctx, const char *step);
	void *progress_ctx;
	/* Set to true where it fails by one of the two files, which no other look at the guest cures; or
	 * NULL. */
	bool *ret_file_fault;
};

/** Find the kernel, its symbols, its types and its modules. A guest without BTF opens too: then
 * vp_guest_btf() is NULL and modules are missing (vp_guest_note() says so). */
OT_MUST_CHECK struct ot_err *vp_guest_open(const struct vp_guest_opts *opts, struct vp_guest **ret);
void vp_guest_destroy(struct vp_guest *guest);

/** Read the guest's modules again (some came or went). On failure nothing changes. Symbols got before
 * are invalid after. */
OT_MUST_CHECK struct ot_err *vp_guest_refresh(struct vp_guest *guest);

/** Read kernel virtual memory, by the kernel's own page table. */
OT_MUST_CHECK struct ot_err *vp_guest_read(struct vp_guest *guest, struct vp_gva gva, void *dst, size_t len);
OT_MUST_CHECK struct ot_err *vp_guest_read_u64(struct vp_guest *guest, struct vp_gva gva, uint64_t *ret);
OT_MUST_CHECK struct ot_err *vp_guest_read_u32(struct vp_guest *guest, struct vp_gva gva, uint32_t *ret);

const struct vp_phys *vp_guest_phys(const struct vp_guest *guest);
struct vp_mmu *vp_guest_mmu(struct vp_guest *guest); /* .root and .levels are what engines need */
const struct vp_kernel *vp_guest_kernel(const struct vp_guest *guest); /* base, build id, release, banner */
const struct vp_symtab *vp_guest_symtab(const struct vp_guest *guest);
const struct vp_modules *vp_guest_modules(const struct vp_guest *guest);
const struct vp_btf *vp_guest_btf(const struct vp_guest *guest); /* of the core kernel; NULL: none */

/** KASLR's shift: _text minus its link address (0xffffffff81000000). */
uint64_t vp_guest_kaslr_offset(const struct vp_guest *guest);

/** Address of a core symbol. NOT_FOUND when there is none. Per-CPU symbols: the offset in the area. */
OT_MUST_CHECK struct ot_err *vp_guest_symbol(const struct vp_guest *guest, const char *name,
					     struct vp_gva *ret);

/** Raw bytes, borrowed; NULL and 0 when the guest has none. */
void vp_guest_btf_data(const struct vp_guest *guest, const uint8_t **ret_data, size_t *ret_size);

/* The kernel's ORC tables as they are: `ip` holds i32 entries, each relative to its own place
 * (ip_addr + 4 * i); `orc` holds as many entries of the guest's struct orc_entry. */
struct vp_orc_raw {
	const uint8_t *ip;
	size_t ip_size;
	struct vp_gva ip_addr;
	const uint8_t *orc;
	size_t orc_size;
};
/** Zeroes when there are none. */
void vp_guest_orc(const struct vp_guest *guest, struct vp_orc_raw *ret);

/** The same of a module, and its BTF (split, based on the kernel's); copies, owned by the caller. Size 0
 * when it has none. @p ret->ip and @p ret->orc are to be free()d. */
OT_MUST_CHECK struct ot_err *vp_guest_module_orc(struct vp_guest *guest, const struct vp_module *module,
						 struct vp_orc_raw *ret);
OT_MUST_CHECK struct ot_err *vp_guest_module_btf(struct vp_guest *guest, const struct vp_module *module,
						 uint8_t **ret_data, size_t *ret_size);

/** What is missing though the guest could be opened ("no BTF: …"), a line each; "" when nothing is. */
const char *vp_guest_note(const struct vp_guest *guest);

#endif
