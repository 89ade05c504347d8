/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locating the kernel image: KASLR base, physical base, identity. It is found through a vCPU's page-table
 * root (any loaded page table maps the kernel; with PTI in user mode, the full table on the preceding page
 * does), or by a bounded scan for vmcoreinfo if no register leads to it.
 */
#ifndef VP_GUEST_KERNEL_H
#define VP_GUEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/mmu.h"
#include "vmm-probe/guest/phys.h"
#include "vmm-probe/guest/vmcoreinfo.h"

#define VP_KERNEL_SIZE_MAX (256ull << 20)
#define VP_BANNER_MAX      512

struct vp_kernel {
	const struct vp_arch_ops *arch;
	struct vp_gva base; /* _text: first mapped address of the image */
	uint64_t size;      /* of the mapped image with its holes, at most VP_KERNEL_SIZE_MAX */
	uint64_t phys_base; /* physical address of arch->kernel_start, modulo 2^64 */
	struct vp_mmu mmu;  /* a root that maps the kernel; init_top_pgt once symbols are known */
	struct vp_gva banner_addr;
	char banner[VP_BANNER_MAX];   /* "Linux version …", without the newline */
	char release[VP_RELEASE_MAX]; /* "6.1.0-56-cloud-amd64" */
	struct vp_gva build_id_addr;  /* of the note; 0: none */
	uint8_t build_id[VP_BUILD_ID_MAX];
	size_t build_id_len;
	uint64_t token_table; /* kallsyms_token_table from vmcoreinfo, else 0 */
	bool unmapped;        /* found by no vCPU's page table: it may be left in RAM from before a reset */
};

/* A copy of the image, with zeros for holes. */
struct vp_image {
	struct vp_gva base;
	uint8_t *data;
	size_t size;
};

/** Find the kernel of a machine of @p arch. @p regs: @p nregs register snapshots of vCPUs; may be none. On
 * success *ret_image is a copy of the whole image, owned by the caller (vp_image_deinit()). NOT_FOUND: the
 * message names the attempts. */
OT_MUST_CHECK struct ot_err *vp_kernel_find(const struct vp_arch_ops *arch, const struct vp_phys *phys,
					    const struct vp_regs *regs, size_t nregs, struct vp_kernel *ret,
					    struct vp_image *ret_image);

/** Switch to the kernel's own page table at virtual address @p init_top_pgt, which PTI, user mode and exiting
 * processes don't affect. BAD_DATA: that table does not map the kernel at the same place. */
OT_MUST_CHECK struct ot_err *vp_kernel_use_root(const struct vp_phys *phys, struct vp_kernel *kernel,
						struct vp_gva init_top_pgt);

/** Replace the banner that was found by a search with the one at @p banner (symbol linux_banner): an image
 * may contain several, from earlier link steps. False: there is none. */
bool vp_kernel_use_banner(const struct vp_image *image, struct vp_gva banner, struct vp_kernel *kernel);

void vp_image_deinit(struct vp_image *image);

/** @p len bytes of the image at @p gva; NULL: not all of them are inside. */
const uint8_t *vp_image_at(const struct vp_image *image, struct vp_gva gva, size_t len);

/** Find the GNU build id in the bytes of a note section; NULL: none. *ret_len is 8 to VP_BUILD_ID_MAX. */
const uint8_t *vp_kernel_build_id_note(const uint8_t *data, size_t size, size_t *ret_len);

#endif
