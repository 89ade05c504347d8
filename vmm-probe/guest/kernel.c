/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locating the kernel image by page tables or by vmcoreinfo; its banner and its build id. */
#include "vmm-probe/guest/kernel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"

#define BANNER      "Linux version "
#define HOLE_MAX    (16ull << 20) /* a larger hole ends the image (freed init memory leaves small ones) */
#define SCAN_BUDGET (16ull << 30)
#define COPIES_MAX  16
#define VDSO_PAGES  4
#define ROOTS_MAX   8 /* each vCPU may run another process; any process's table maps the kernel */

void vp_image_deinit(struct vp_image *image)
{
	vp_budget_give(image->data ? image->size : 0);
	free(image->data);
	image->data = NULL;
	image->size = 0;
}

const uint8_t *vp_image_at(const struct vp_image *image, struct vp_gva gva, size_t len)
{
	uint64_t at = gva.v - image->base.v;

	if (gva.v < image->base.v || at > image->size || len > image->size - at)
		return NULL;
	return image->data + at;
}

const uint8_t *vp_kernel_build_id_note(const uint8_t *data, size_t size, size_t *ret_len)
{
	/* An ELF note: name size, descriptor size, type 3 (build id), the name. */
	static const uint8_t tail[] = { 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	const uint8_t *at = data, *end = data + size;

	while ((at = memmem(at, (size_t)(end - at), tail, sizeof(tail))) != NULL) {
		uint32_t head[2];

		if (at - data >= (ptrdiff_t)sizeof(head)) {
			memcpy(head, at - sizeof(head), sizeof(head));
			if (head[0] == 4 && head[1] >= 8 && head[1] <= VP_BUILD_ID_MAX &&
			    head[1] <= (size_t)(end - at) - sizeof(tail)) {
				*ret_len = head[1];
				return at + sizeof(tail);
			}
		}
		at++;
	}
	return NULL;
}

/* The vDSOs are ELF files inside the image, with their own build ids. */
static bool inside_vdso(const struct vp_image *image, const uint8_t *at)
{
	size_t page = (size_t)(at - image->data) & VP_PAGE_MASK;

	for (int back = 0; back < VDSO_PAGES; back++, page -= VP_PAGE_SIZE) {
		if (memcmp(image->data + page, "\177ELF", 4) == 0)
			return true;
		if (!page)
			break;
	}
	return false;
}

static void find_build_id(const struct vp_image *image, struct vp_kernel *kernel)
{
	const uint8_t *at = image->data, *end = image->data + image->size;
	size_t len = 0;

	while (at && (at = vp_kernel_build_id_note(at, (size_t)(end - at), &len)) != NULL) {
		if (!inside_vdso(image, at)) {
			memcpy(kernel->build_id, at, len);
			kernel->build_id_len = len;
			kernel->build_id_addr = vp_gva(image->base.v + (uint64_t)(at - image->data));
			return;
		}
	}
}

/* "Linux version 6.1.0-56-cloud-amd64 (…": the third word is the release. */
static bool parse_banner(const uint8_t *at, size_t left, struct vp_kernel *kernel)
{
	size_t len = 0, release = sizeof(BANNER) - 1;

	while (len < left && len < VP_BANNER_MAX - 1 && isprint(at[len]))
		len++;
	if (len <= release || !isdigit(at[release]))
		return false;
	memcpy(kernel->banner, at, len);
	kernel->banner[len] = '\0';
	len = strcspn(kernel->banner + release, " ");
	len = len < VP_RELEASE_MAX ? len : VP_RELEASE_MAX - 1;
	memcpy(kernel->release, kernel->banner + release, len);
	kernel->release[len] = '\0';
	return true;
}

static bool find_banner(const struct vp_image *image, struct vp_kernel *kernel)
{
	const uint8_t *at = image->data, *end = image->data + image->size;

	while ((at = memmem(at, (size_t)(end - at), BANNER, sizeof(BANNER) - 1)) != NULL) {
		if (parse_banner(at, (size_t)(end - at), kernel)) {
			kernel->banner_addr = vp_gva(image->base.v + (uint64_t)(at - image->data));
			return true;
		}
		at++;
	}
	return false;
}

bool vp_kernel_use_banner(const struct vp_image *image, struct vp_gva banner, struct vp_kernel *kernel)
{
	const uint8_t *at = vp_image_at(image, banner, sizeof(BANNER) - 1);

	if (!at || memcmp(at, BANNER, sizeof(BANNER) - 1) != 0 ||
	    !parse_banner(at, (size_t)(image->data + image->size - at), kernel))
		return false;
	kernel->banner_addr = banner;
	return true;
}

/* The extent of the image: from the first mapped range on, across small holes. */
static struct ot_err *find_extent(const struct vp_phys *phys, struct vp_kernel *kernel,
				  struct vp_gva *ret_base, uint64_t *ret_size)
{
	struct vp_gva end = vp_gva(kernel->arch->kernel_end), base, start, stop;
	struct vp_mmu *mmu = &kernel->mmu;

	OT_TRY(vp_mmu_next_mapped(phys, mmu, vp_gva(kernel->arch->kernel_start), end, &base, &stop));
	for (;;) {
		struct vp_gva limit = vp_gva(stop.v + HOLE_MAX < end.v ? stop.v + HOLE_MAX : end.v);
		struct ot_err *err;

		if (stop.v >= end.v || stop.v - base.v >= VP_KERNEL_SIZE_MAX)
			break;
		err = vp_mmu_next_mapped(phys, mmu, stop, limit, &start, &stop);
		if (err && ot_err_code(err) == OT_ERR_NOT_FOUND) {
			ot_err_destroy(err);
			break;
		}
		OT_TRY(err);
	}
	*ret_base = base;
	*ret_size = stop.v - base.v < VP_KERNEL_SIZE_MAX ? stop.v - base.v : VP_KERNEL_SIZE_MAX;
	return NULL;
}

/* Copy every mapped range; memory that can't be read stays zero (it may have been freed meanwhile). */
static struct ot_err *copy_image(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_image *image)
{
	struct vp_gva at = image->base, end = vp_gva(image->base.v + image->size);

	while (at.v < end.v) {
		struct vp_gva start, stop;
		struct ot_err *err = vp_mmu_next_mapped(phys, mmu, at, end, &start, &stop);

		if (!err)
			err = vp_mmu_read(phys, mmu, start, image->data + (start.v - image->base.v),
					  stop.v - start.v);
		else
			stop = end;
		if (err && (ot_err_code(err) == OT_ERR_FAULT || ot_err_code(err) == OT_ERR_NOT_FOUND)) {
			ot_err_destroy(err);
			err = NULL;
		}
		OT_TRY(err);
		OT_TRY(vp_budget_check());
		at = stop;
	}
	return NULL;
}

/*
 * Linux frees the gap between its text and its constants, which are aligned, and leaves it mapped
 * (free_kernel_image_pages(), arch/x86/mm/init.c; arch/x86/kernel/vmlinux.lds.S). Its pages have been reused:
 * they may contain modules and programs with build-id notes, or logs with banners, before the kernel's own.
 * So the gap is zeroed.
 */
static void blank_gap(const struct vp_phys *phys, struct vp_kernel *kernel, struct vp_image *image)
{
	uint64_t base = image->base.v, at = base, align = kernel->arch->constants_align, end;

	while (at < base + image->size && vp_mmu_is_executable(phys, &kernel->mmu, vp_gva(at)))
		at += VP_PAGE_SIZE;
	end = (at + align - 1) & ~(align - 1);
	if (at > base && end < base + image->size)
		memset(image->data + (at - base), 0, end - at);
}

/* Locate the kernel through one page table. NOT_FOUND or FAULT: the table does not map a kernel. */
static struct ot_err *try_root(const struct vp_phys *phys, struct vp_gpa root, unsigned int levels,
			       struct vp_kernel *kernel, struct vp_image *ret_image)
{
	ot_auto(vp_image_deinit) struct vp_image image = { 0 };
	const struct vp_arch_ops *arch = kernel->arch;
	struct vp_gpa gpa;
	uint64_t size;

	memset(kernel, 0, sizeof(*kernel));
	kernel->arch = arch;
	vp_mmu_init(&kernel->mmu, kernel->arch->paging, root, levels);
	OT_TRY(find_extent(phys, kernel, &image.base, &size));
	OT_TRY(vp_budget_take(size));
	image.size = size;
	image.data = calloc(1, size);
	if (!image.data)
		return ot_err_nomem();
	OT_TRY(copy_image(phys, &kernel->mmu, &image));
	blank_gap(phys, kernel, &image);
	if (!find_banner(&image, kernel))
		return ot_err_new(OT_ERR_NOT_FOUND, "no \"" BANNER "\" at 0x%llx + %llu MiB",
				  (unsigned long long)image.base.v, (unsigned long long)(size >> 20));
	/* A process may have ended meanwhile, and its table with it: then the copy has holes. */
	vp_mmu_flush(&kernel->mmu);
	OT_TRY(vp_mmu_translate(phys, &kernel->mmu, kernel->banner_addr, &gpa, NULL));
	kernel->base = image.base;
	kernel->size = size;
	kernel->phys_base = gpa.v - (kernel->banner_addr.v - kernel->arch->kernel_start);
	*ret_image = image;
	image.data = NULL;
	return NULL;
}

/* Is the outcome final, that is, success or an error that another root would not change? @p err is stored in
 * *why, for the message if no root succeeds. */
static bool settled(struct ot_err *err, struct ot_err **why)
{
	ot_err_destroy(*why);
	*why = err;
	return !err || (ot_err_code(err) != OT_ERR_NOT_FOUND && ot_err_code(err) != OT_ERR_FAULT);
}

static bool try_table(const struct vp_phys *phys, uint64_t root, unsigned int levels,
		      struct vp_kernel *kernel, struct vp_image *image, struct ot_err **why)
{
	uint64_t full = root & ~kernel->arch->user_root;

	/* With PTI, a user table maps only the entry code. */
	if (full != root && settled(try_root(phys, vp_gpa(full), levels, kernel, image), why))
		return true;
	return settled(try_root(phys, vp_gpa(root), levels, kernel, image), why);
}

/* Do these registers have another page table than all before them? */
static bool is_new_root(const struct vp_arch_ops *arch, const struct vp_regs *regs, size_t at,
			const struct vp_page_root *root)
{
	struct vp_page_root before;

	for (size_t i = 0; i < at; i++)
		if (arch->page_root(&regs[i], &before) && before.gpa == root->gpa &&
		    before.levels == root->levels)
			return false;
	return true;
}

/* Try the vCPUs' page tables, each once: a failed attempt may copy a whole image. */
static bool try_registers(const struct vp_phys *phys, const struct vp_regs *regs, size_t nregs,
			  struct vp_kernel *kernel, struct vp_image *image, struct ot_err **why)
{
	const struct vp_arch_ops *arch = kernel->arch;
	struct vp_page_root root;
	int roots = 0;

	for (size_t i = 0; i < nregs && roots < ROOTS_MAX; i++) {
		if (!arch->page_root(&regs[i], &root) || !is_new_root(arch, regs, i, &root))
			continue;
		roots++;
		if (try_table(phys, root.gpa, root.levels ? root.levels : arch->levels[0], kernel, image,
			      why))
			return true;
		if (!root.levels && arch->levels[1] &&
		    try_table(phys, root.gpa, arch->levels[1], kernel, image, why))
			return true;
	}
	return false;
}

/* Try each copy of vmcoreinfo in RAM until one leads to the kernel that it describes. */
static struct ot_err *try_vmcoreinfo(const struct vp_phys *phys, struct vp_kernel *kernel,
				     struct vp_image *image)
{
	ot_auto_err struct ot_err *why = NULL;
	uint64_t budget = SCAN_BUDGET;
	struct vp_gpa from = vp_gpa(0);

	for (int copies = 0; copies < COPIES_MAX; copies++) {
		struct vp_vmcoreinfo info;
		uint64_t root;

		OT_TRY(vp_vmcoreinfo_find(phys, from, &budget, &info));
		from = vp_gpa(info.gpa.v + VP_PAGE_SIZE);
		if (info.sme_mask)
			return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's memory is encrypted (SEV)");
		if (!info.init_top_pgt || !info.have_phys_base)
			continue;
		root = info.init_top_pgt - kernel->arch->kernel_start + info.phys_base;
		if (!settled(try_root(phys, vp_gpa(root), kernel->arch->levels[info.l5], kernel, image),
			     &why))
			continue;
		if (why)
			return ot_move(why);
		if (strcmp(info.release, kernel->release) == 0) {
			kernel->token_table = info.kallsyms_token_table;
			kernel->unmapped = true;
			return NULL;
		}
		vp_image_deinit(image); /* an older kernel's page, whose root happens to map this kernel */
	}
	return ot_err_new(OT_ERR_NOT_FOUND, "none of %d vmcoreinfo pages leads to a kernel", COPIES_MAX);
}

struct ot_err *vp_kernel_find(const struct vp_arch_ops *arch, const struct vp_phys *phys,
			      const struct vp_regs *regs, size_t nregs, struct vp_kernel *ret,
			      struct vp_image *ret_image)
{
	ot_auto_free struct vp_kernel *kernel = calloc(1, sizeof(*kernel));
	struct vp_image image = { 0 };
	struct ot_err *why = NULL;

	if (!kernel)
		return ot_err_nomem();
	kernel->arch = arch;
	if (!try_registers(phys, regs, nregs, kernel, &image, &why)) {
		ot_auto_err struct ot_err *tables = why;

		why = try_vmcoreinfo(phys, kernel, &image);
		if (why)
			return ot_err_prefix(
			    why,
			    "no Linux kernel found in the guest (is it still booting? is the "
			    "image whole?): by page tables: %s; by vmcoreinfo",
			    tables ? ot_err_message(tables) : "no CR3 known");
	}
	OT_TRY(why);
	find_build_id(&image, kernel);
	*ret = *kernel;
	*ret_image = image;
	return NULL;
}

struct ot_err *vp_kernel_use_root(const struct vp_phys *phys, struct vp_kernel *kernel,
				  struct vp_gva init_top_pgt)
{
	char banner[VP_BANNER_MAX];
	size_t len = strlen(kernel->banner);
	struct vp_mmu mmu;
	/* Not by the table in use: the process whose it is may have ended. */
	struct vp_gpa root = vp_gpa(kernel->phys_base + (init_top_pgt.v - kernel->arch->kernel_start));

	if (root.v & ~VP_PAGE_MASK)
		return ot_err_new(OT_ERR_BAD_DATA, "init_top_pgt at 0x%llx is not a page table",
				  (unsigned long long)init_top_pgt.v);
	vp_mmu_init(&mmu, kernel->mmu.paging, root, kernel->mmu.levels);
	OT_TRY(vp_mmu_read(phys, &mmu, kernel->banner_addr, banner, len));
	if (memcmp(banner, kernel->banner, len) != 0)
		return ot_err_new(OT_ERR_BAD_DATA, "init_top_pgt at 0x%llx doesn't map the kernel",
				  (unsigned long long)init_top_pgt.v);
	kernel->mmu = mmu;
	return NULL;
}
