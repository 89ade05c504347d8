/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a guest: the steps in order, each with its share of the budget; its getters; refreshing modules. */
#include "vmm-probe/guest/guest.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/unlisted.h"

#define VMCOREINFO_BUDGET (2ull << 30)

uint64_t vp_guest_address(const struct vp_symtab *symtab, const char *name)
{
	const struct vp_symbol *sym = vp_symtab_find(symtab, "vmlinux", name);

	return sym ? sym->addr : 0;
}

static struct ot_err *add_line(struct ot_buf *lines, const char *what, struct ot_err *err)
{
	if (!err)
		return NULL;
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE)
		return err;
	ot_buf_printf(lines, "%s: %s\n", what, ot_err_message(err));
	ot_err_destroy(err);
	return lines->failed ? ot_err_nomem() : NULL;
}

struct ot_err *vp_guest_note_missing(struct vp_guest *guest, const char *what, struct ot_err *err)
{
	return add_line(&guest->note, what, err);
}

struct ot_err *vp_guest_warn(struct vp_guest *guest, const char *what, struct ot_err *err)
{
	return add_line(&guest->warning, what, err);
}

void vp_guest_budget_begin(const struct vp_guest *guest, struct vp_budget *budget,
			   const struct vp_reading *first)
{
	vp_budget_begin(budget, first, guest->patient);
}

static void step(const struct vp_guest_opts *opts, const char *what)
{
	if (opts->progress)
		opts->progress(opts->progress_ctx, what);
}

static void symtab_destroy(struct vp_symtab **symtab)
{
	vp_symtab_destroy(*symtab);
}

/* A kernel without data symbols has its page table's address in vmcoreinfo. */
static struct ot_err *root_by_vmcoreinfo(struct vp_guest *guest)
{
	uint64_t budget = VMCOREINFO_BUDGET;
	struct vp_gpa from = vp_gpa(0);

	for (;;) {
		struct vp_vmcoreinfo info;
		struct ot_err *err;

		OT_TRY(vp_vmcoreinfo_find(guest->phys, from, &budget, &info));
		err = vp_kernel_use_root(guest->phys, &guest->kernel, vp_gva(info.init_top_pgt));
		if (!err)
			return NULL;
		ot_err_destroy(err); /* an old copy */
		from = vp_gpa(info.gpa.v + VP_PAGE_SIZE);
	}
}

/* Use the kernel's own page table, which PTI, user mode and exiting processes don't affect. */
static struct ot_err *use_own_root(struct vp_guest *guest, const struct vp_symtab *symtab)
{
	uint64_t pgt = vp_guest_address(symtab, "init_top_pgt");

	if (!pgt)
		pgt = vp_guest_address(symtab, "swapper_pg_dir");
	if (!pgt)
		return ot_err_prefix(root_by_vmcoreinfo(guest), "no symbol init_top_pgt");
	return vp_kernel_use_root(guest->phys, &guest->kernel, vp_gva(pgt));
}

static struct ot_err *add_unlisted(struct vp_guest *guest, const struct vp_image *image,
				   struct vp_symtab *symtab)
{
	size_t added = 0;

	OT_TRY(vp_unlisted_add(image, guest->phys, &guest->kernel.mmu, symtab, &added));
	if (!added)
		return NULL;
	OT_TRY(vp_symtab_finish(symtab));
	return vp_guest_note_missing(
	    guest, "not all variables have symbols",
	    ot_err_new(OT_ERR_NOT_FOUND,
		       "the kernel was built without KALLSYMS_ALL: those that it exports are known "
		       "(--vmlinux FILE or --symbols FILE gives all)"));
}

struct ot_err *vp_guest_read_core(struct vp_guest *guest, const struct vp_guest_opts *opts)
{
	ot_auto(vp_image_deinit) struct vp_image image = { 0 };
	ot_auto(symtab_destroy) struct vp_symtab *symtab = NULL;
	struct vp_kernel *kernel = &guest->kernel;

	step(opts, "locating the kernel");
	OT_TRY(vp_kernel_find(&vp_arch_native, guest->phys, opts->regs, opts->nregs, kernel, &image));
	step(opts, "reading symbols");
	/* The image of a stripped vmlinux is in memory beside its symbols. */
	vp_budget_part(&vp_readings[opts->vmlinux ? VP_READ_VMLINUX : VP_READ_SYMBOLS]);
	OT_TRY(vp_symtab_create(&symtab));
	OT_TRY(vp_symtab_add_range(symtab, VP_SYMTAB_VMLINUX, kernel->base.v, kernel->base.v + kernel->size));
	OT_TRY(vp_guest_core_symbols(guest, opts, &image, symtab));
	OT_TRY(vp_symtab_finish(symtab));
	OT_TRY(add_unlisted(guest, &image, symtab));
	guest->symtab = ot_move(symtab);
	OT_TRY(
	    vp_guest_note_missing(guest, "using a process's page table", use_own_root(guest, guest->symtab)));
	step(opts, "reading types");
	vp_budget_part(&vp_readings[VP_READ_TYPES]);
	return vp_guest_types(guest, &image);
}

static struct ot_err *read_modules(struct vp_guest *guest)
{
	ot_auto(vp_arrivals_deinit) struct vp_arrivals found = { 0 };

	vp_budget_part(&vp_readings[VP_READ_MODULES]);
	OT_TRY(vp_guest_find_modules(guest, true, &found));
	return vp_guest_take_modules(guest, true, &found);
}

static struct ot_err *read_all(struct vp_guest *guest, const struct vp_guest_opts *opts)
{
	OT_TRY(vp_guest_read_core(guest, opts));
	OT_TRY(vp_guest_index_types(guest, guest->btf_data, guest->btf_size));
	step(opts, "reading modules");
	return guest->have_layout ? vp_guest_note_missing(guest, "no modules", read_modules(guest)) : NULL;
}

struct vp_guest *vp_guest_new(const struct vp_guest_opts *opts)
{
	struct vp_guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	guest->phys = opts->phys;
	guest->patient = opts->patient;
	guest->is_still = opts->is_still;
	ot_buf_init(&guest->note);
	ot_buf_init(&guest->warning);
	return guest;
}

struct ot_err *vp_guest_open(const struct vp_guest_opts *opts, struct vp_guest **ret)
{
	struct vp_guest *guest = vp_guest_new(opts);
	struct vp_budget budget;
	struct ot_err *err;

	if (!guest)
		return ot_err_nomem();
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_IMAGE]);
	err = vp_guest_file_set(guest, opts);
	if (!err)
		err = read_all(guest, opts);
	vp_budget_end(&budget);
	if (err) {
		vp_guest_destroy(guest);
		return err;
	}
	*ret = guest;
	return NULL;
}

void vp_guest_destroy(struct vp_guest *guest)
{
	if (!guest)
		return;
	vp_guest_file_deinit(guest);
	vp_symtab_destroy(guest->symtab);
	vp_modules_deinit(&guest->modules);
	vp_btf_destroy(guest->btf);
	free((void *)guest->btf_data);
	free((void *)guest->orc.ip);
	free((void *)guest->orc.orc);
	ot_buf_deinit(&guest->note);
	ot_buf_deinit(&guest->warning);
	free(guest);
}

struct ot_err *vp_guest_read(struct vp_guest *guest, struct vp_gva gva, void *dst, size_t len)
{
	/* The guest runs and may have changed its page tables since the last read. */
	vp_mmu_flush(&guest->kernel.mmu);
	return vp_mmu_read(guest->phys, &guest->kernel.mmu, gva, dst, len);
}

bool vp_guest_try_read(struct vp_guest *guest, uint64_t gva, void *dst, size_t len)
{
	struct ot_err *err = vp_guest_read(guest, vp_gva(gva), dst, len);

	ot_err_destroy(err);
	return !err;
}

struct ot_err *vp_guest_read_once(struct vp_guest *guest, const struct vp_reading *reading, struct vp_gva gva,
				  void *dst, size_t len)
{
	struct vp_budget budget;

	vp_guest_budget_begin(guest, &budget, reading);
	struct ot_err *err = vp_guest_read(guest, gva, dst, len);
	vp_budget_end(&budget);
	return err;
}

struct ot_err *vp_guest_read_u64(struct vp_guest *guest, struct vp_gva gva, uint64_t *ret)
{
	return vp_guest_read(guest, gva, ret, sizeof(*ret));
}

struct ot_err *vp_guest_read_u32(struct vp_guest *guest, struct vp_gva gva, uint32_t *ret)
{
	return vp_guest_read(guest, gva, ret, sizeof(*ret));
}

const struct vp_phys *vp_guest_phys(const struct vp_guest *guest)
{
	return guest->phys;
}

struct vp_mmu *vp_guest_mmu(struct vp_guest *guest)
{
	return &guest->kernel.mmu;
}

const struct vp_kernel *vp_guest_kernel(const struct vp_guest *guest)
{
	return &guest->kernel;
}

const struct vp_symtab *vp_guest_symtab(const struct vp_guest *guest)
{
	return guest->symtab;
}

const struct vp_modules *vp_guest_modules(const struct vp_guest *guest)
{
	return &guest->modules;
}

const struct vp_btf *vp_guest_btf(const struct vp_guest *guest)
{
	return guest->btf;
}

uint64_t vp_guest_kaslr_offset(const struct vp_guest *guest)
{
	return guest->kernel.base.v - VP_KERNEL_LINK_BASE;
}

struct ot_err *vp_guest_symbol(const struct vp_guest *guest, const char *name, struct vp_gva *ret)
{
	if (!vp_guest_find_symbol(guest, name, &ret->v))
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest's kernel has no symbol %s", name);
	return NULL;
}

bool vp_guest_find_symbol(const struct vp_guest *guest, const char *name, uint64_t *ret)
{
	const struct vp_symbol *sym = vp_symtab_find(guest->symtab, "vmlinux", name);

	if (sym)
		*ret = sym->addr;
	return sym != NULL;
}

uint64_t vp_guest_symbol_or_0(const struct vp_guest *guest, const char *name)
{
	uint64_t addr = 0;

	(void)vp_guest_find_symbol(guest, name, &addr);
	return addr;
}

const char *vp_guest_note(const struct vp_guest *guest)
{
	return ot_buf_str(&guest->note);
}

const char *vp_guest_warning(const struct vp_guest *guest)
{
	return ot_buf_str(&guest->warning);
}
