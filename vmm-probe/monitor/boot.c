/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment in which a kernel starts: memory map, command line, addresses of initrd and ACPI tables,
 * and vCPU 0 in the state that the boot protocol requires. 64-bit: boot.rst, "64-bit BOOT PROTOCOL", with the
 * zero page of zero-page.rst. PVH: Xen's pvh.pandoc.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm-probe/monitor/internal.h"

#define E820_RAM      1u
#define E820_RESERVED 2u
#define MAX_RANGES    4u
#define PVH_MAGIC     0x336ec578u

/* Offsets in the zero page. */
#define ZP_RSDP        0x070u
#define ZP_E820_COUNT  0x1e8u
#define ZP_BOOT_FLAG   0x1feu
#define ZP_MAGIC       0x202u
#define ZP_VERSION     0x206u
#define ZP_LOADER      0x210u
#define ZP_INITRD      0x218u
#define ZP_INITRD_SIZE 0x21cu
#define ZP_CMDLINE     0x228u
#define ZP_ALIGNMENT   0x230u
#define ZP_E820        0x2d0u
#define UNKNOWN_LOADER 0xffu
#define HDRS           0x53726448u /* "HdrS" */

struct range {
	uint64_t at, size;
	uint32_t type;
};

static void put(uint8_t *page, uint32_t at, uint64_t v, size_t len)
{
	memcpy(page + at, &v, len);
}

static unsigned memory_map(const struct vp_mon *mon, struct range *ret)
{
	ret[0] = (struct range){ 0, VP_MON_EBDA, E820_RAM };
	ret[1] = (struct range){ VP_MON_EBDA, VP_MON_KERNEL - VP_MON_EBDA, E820_RESERVED };
	ret[2] = (struct range){ VP_MON_KERNEL, mon->ram[0].size - VP_MON_KERNEL, E820_RAM };
	if (mon->nram > 1)
		ret[3] = (struct range){ mon->ram[1].gpa, mon->ram[1].size, E820_RAM };
	return 2 + mon->nram;
}

static void write_zero_page(struct vp_mon *mon)
{
	uint8_t *zp = mon->ram[0].host + VP_MON_ZERO_PAGE;
	struct range map[MAX_RANGES];
	unsigned n = memory_map(mon, map);

	put(zp, ZP_RSDP, VP_MON_ACPI, 8);
	put(zp, ZP_E820_COUNT, n, 1);
	for (unsigned i = 0; i < n; i++) {
		put(zp, ZP_E820 + i * 20, map[i].at, 8);
		put(zp, ZP_E820 + i * 20 + 8, map[i].size, 8);
		put(zp, ZP_E820 + i * 20 + 16, map[i].type, 4);
	}
	/* An ELF kernel has no setup header: set the fields that it reads. */
	put(zp, ZP_BOOT_FLAG, 0xaa55, 2);
	put(zp, ZP_MAGIC, HDRS, 4);
	if (!zp[ZP_VERSION + 1]) {
		put(zp, ZP_VERSION, 0x20c, 2);
		put(zp, ZP_ALIGNMENT, 0x1000000, 4);
	}
	put(zp, ZP_LOADER, UNKNOWN_LOADER, 1);
	put(zp, ZP_CMDLINE, VP_MON_CMDLINE, 4);
	put(zp, ZP_INITRD, mon->initrd, 4); /* always below 4 GiB */
	put(zp, ZP_INITRD_SIZE, mon->initrd_size, 4);
}

/* struct hvm_start_info, then one module (the initrd), then the memory map */
static void write_start_info(struct vp_mon *mon)
{
	uint8_t *info = mon->ram[0].host + VP_MON_PVH_INFO;
	const uint32_t module = 0x40, table = 0x80;
	struct range map[MAX_RANGES];
	unsigned n = memory_map(mon, map);

	put(info, 0, PVH_MAGIC, 4);
	put(info, 4, 1, 4); /* version: with a memory map */
	put(info, 12, mon->initrd_size ? 1 : 0, 4);
	put(info, 16, VP_MON_PVH_INFO + module, 8);
	put(info, 24, VP_MON_CMDLINE, 8);
	put(info, 32, VP_MON_ACPI, 8);
	put(info, 40, VP_MON_PVH_INFO + table, 8);
	put(info, 48, n, 4);
	put(info, module, mon->initrd, 8);
	put(info, module + 8, mon->initrd_size, 8);
	for (unsigned i = 0; i < n; i++) {
		put(info, table + i * 24, map[i].at, 8);
		put(info, table + i * 24 + 8, map[i].size, 8);
		put(info, table + i * 24 + 16, map[i].type, 4);
	}
}

/* An identity mapping of 4 GiB with pages of 2 MiB: PML4, PDPT, four page directories. */
static void write_page_tables(struct vp_mon *mon)
{
	uint8_t *pt = mon->ram[0].host + VP_MON_PAGE_TABLE;

	put(pt, 0, (VP_MON_PAGE_TABLE + 0x1000) | 3, 8);
	for (unsigned i = 0; i < 4; i++)
		put(pt, 0x1000 + i * 8, (VP_MON_PAGE_TABLE + 0x2000 + i * 0x1000) | 3, 8);
	for (unsigned i = 0; i < 4 * 512; i++)
		put(pt, 0x2000 + i * 8, (uint64_t)i << 21 | 0x83, 8);
}

static void write_gdt(struct vp_mon *mon)
{
	uint8_t *gdt = mon->ram[0].host + VP_MON_GDT;

	/* The selectors in boot.rst: 0x10 code, 0x18 data. */
	put(gdt, 0x10, mon->entry.pvh ? 0x00cf9b000000ffff : 0x00af9b000000ffff, 8);
	put(gdt, 0x18, 0x00cf93000000ffff, 8);
}

struct ot_err *vp_mon_boot_tables(struct vp_mon *mon)
{
	const char *append = mon->config.append ? mon->config.append : "";
	size_t len = strlen(append);

	if (len >= VP_MON_CMDLINE_SIZE)
		return ot_err_new(OT_ERR_LIMIT, "the kernel's command line has %zu bytes; the limit is %u",
				  len, VP_MON_CMDLINE_SIZE - 1);
	memcpy(mon->ram[0].host + VP_MON_CMDLINE, append, len + 1);
	write_gdt(mon);
	if (mon->entry.pvh) {
		write_start_info(mon);
	} else {
		write_page_tables(mon);
		write_zero_page(mon);
	}
	return vp_mon_acpi_write(mon);
}

struct ot_err *vp_mon_boot_vcpu(struct vp_mon *mon)
{
	const bool pvh = mon->entry.pvh;
	struct kvm_segment code = {
		.limit = ~0u, .selector = 0x10, .type = 11, .present = 1, .s = 1, .g = 1
	};
	struct kvm_segment data = {
		.limit = ~0u, .selector = 0x18, .type = 3, .present = 1, .s = 1, .db = 1, .g = 1
	};
	struct kvm_regs regs = { .rip = mon->entry.rip, .rflags = 2, .rsp = VP_MON_STACK };
	struct kvm_sregs s;
	int fd = mon->vcpus[0].fd;

	if (ioctl(fd, KVM_GET_SREGS, &s))
		return ot_err_os(errno, "KVM_GET_SREGS");
	code.l = !pvh;
	code.db = pvh;
	s.cs = code;
	s.ds = s.es = s.fs = s.gs = s.ss = data;
	s.gdt = (struct kvm_dtable){ .base = VP_MON_GDT, .limit = 0x1f };
	s.cr0 = pvh ? 0x11 : 0x80000011; /* PE ET, PG */
	s.cr4 = pvh ? 0 : 0x20;          /* PAE */
	s.cr3 = pvh ? 0 : VP_MON_PAGE_TABLE;
	s.efer = pvh ? 0 : 0x500; /* LME LMA */
	regs.rbx = pvh ? VP_MON_PVH_INFO : 0;
	regs.rsi = pvh ? 0 : VP_MON_ZERO_PAGE;
	if (ioctl(fd, KVM_SET_SREGS, &s) || ioctl(fd, KVM_SET_REGS, &regs))
		return ot_err_os(errno, "the first vCPU's registers");
	return NULL;
}
