/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's loaded modules, read by walking its list. Layouts come from BTF; members are optional by
 * presence.
 */
#ifndef VP_GUEST_MODULES_H
#define VP_GUEST_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/mmu.h"
#include "vmm-probe/guest/phys.h"
#include "vmm-probe/guest/symtab.h"

#define VP_MODULE_NAME_MAX   64
#define VP_MODULE_RANGES_MAX 16
#define VP_MODULE_STRUCT_MAX 16384u /* of struct module */
#define VP_MODULE_SIZE_MAX   (256ull << 20)
#define VP_MODULES_TOTAL_MAX (1ull << 30)  /* all modules together: the size of their address range */
#define VP_MODULE_BTF_MAX    (64ull << 20) /* BTF of all modules together */

/* Offsets in the guest's structures; VP_MODULE_NONE: this kernel has no such member. One struct with many
 * fields: a table of constants, each found and used on its own. */
#define VP_MODULE_NONE UINT32_MAX

struct vp_module_layout {
	uint32_t list, name, name_size, state;
	uint32_t kallsyms,
	    core_kallsyms; /* a pointer to struct mod_kallsyms; one without initialisation code */
	uint32_t mem, mem_count, mem_stride, mem_base, mem_size; /* struct module_memory[] */
	uint32_t core_base, core_size, init_base, init_size;     /* before it, core_layout and init_layout */
	uint32_t percpu, percpu_size;
	uint32_t btf_data, btf_data_size;
	uint32_t num_orcs, orc_unwind_ip, orc_unwind;
	uint32_t ks_symtab, ks_num_symtab, ks_strtab, ks_typetab; /* struct mod_kallsyms */
	/* Exported symbols, whose type /proc/kallsyms prints in upper case; struct kernel_symbol. */
	uint32_t syms, num_syms, export_name, export_stride;
	/* struct btf_module and struct btf: the kernel's list of modules' types. */
	uint32_t bm_list, bm_btf, bm_module, btf_blob, btf_blob_size;
};

struct vp_module_range {
	uint64_t start, end;
};

struct vp_module {
	char name[VP_MODULE_NAME_MAX];
	struct vp_gva addr; /* of struct module */
	bool live;          /* MODULE_STATE_LIVE: neither coming nor going */
	bool formed;  /* … or coming: its initialisation may still run, but text and tables are complete */
	uint64_t nth; /* 0: it was there when the guest was opened; else the n-th that came since */
	struct vp_module_range ranges[VP_MODULE_RANGES_MAX]; /* non-empty ones */
	size_t nranges;
	uint64_t percpu, percpu_size;
	struct vp_gva btf_data; /* in the module's or the kernel's memory; 0: none */
	uint64_t btf_size;
	struct vp_gva orc_ip, orc_unwind; /* 0: none */
	uint64_t num_orcs;
};

struct vp_modules {
	struct vp_module *list; /* in the guest's order, newest first */
	size_t count;
	size_t skipped; /* unreadable or invalid (being loaded, or hostile) */
	bool torn;      /* the walk ended early: the list was changing, or is hostile */
};

struct vp_btf;

/** Offsets from the kernel's BTF. NOT_FOUND: an indispensable member is missing. */
OT_MUST_CHECK struct ot_err *vp_module_layout_from_btf(const struct vp_btf *btf,
						       struct vp_module_layout *ret);

/** Walk the list whose head (symbol `modules`) is at @p head. Modules are skipped that would exceed
 * VP_MODULES_TOTAL_MAX bytes. */
OT_MUST_CHECK struct ot_err *vp_modules_read(const struct vp_phys *phys, struct vp_mmu *mmu,
					     struct vp_gva head, const struct vp_module_layout *layout,
					     struct vp_modules *ret);
/** Fill in the location of the modules' types from the list at @p head (symbol `btf_modules`, since 5.11). */
OT_MUST_CHECK struct ot_err *vp_modules_read_btf(const struct vp_phys *phys, struct vp_mmu *mmu,
						 struct vp_gva head, const struct vp_module_layout *layout,
						 struct vp_modules *modules);
void vp_modules_deinit(struct vp_modules *modules);

/** Is @p err, of reading one module, the fault of guest bytes? That includes LIMIT, as long as the budget in
 * force has time for others. Then it is destroyed, and *ret_err is NULL; else *ret_err is @p err. */
bool vp_modules_guests_fault(struct ot_err *err, struct ot_err **ret_err);

/** Bytes from @p addr to the end of the module's range that contains it; 0: none does. */
uint64_t vp_module_room(const struct vp_module *module, uint64_t addr);

/** Add a module, its ranges and its symbols to @p symtab, as /proc/kallsyms lists them once it is live. A
 * module whose tables can't be read, or exceed the budget's memory, is added without symbols and counted in
 * *skipped. Errors are of this process only (memory, the budget's time, or its memory for @p symtab), or
 * GUEST_GONE. */
OT_MUST_CHECK struct ot_err *vp_module_add_symbols(const struct vp_phys *phys, struct vp_mmu *mmu,
						   const struct vp_module_layout *layout,
						   const struct vp_module *module, struct vp_symtab *symtab,
						   size_t *skipped);

#endif
