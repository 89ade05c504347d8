/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest, or a file about one, may hold. The first byte says what the rest is: an image of a kernel
 * (kallsyms), a page of vmcoreinfo, text of registers, a dump, a vmlinux, a list of symbols.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/guest/elf_symbols.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/kallsyms.h"

#define BASE 0xffffffff92000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void kallsyms(const uint8_t *data, size_t size)
{
	/* In memory of its own, so that each step over the end shows. */
	struct vp_image image = { vp_gva(BASE), malloc(size ? size : 1), size };
	struct vp_kallsyms ks = { 0 };
	struct ot_err *err;

	memcpy(image.data, data, size);
	err = vp_kallsyms_decode(&image, 0, &ks);
	for (size_t i = 0; i < ks.count; i++) {
		if (strlen(ks.names + ks.syms[i].name) > VP_KALLSYMS_NAME_MAX)
			abort();
	}
	ot_err_destroy(err);
	vp_kallsyms_deinit(&ks);
	vp_image_deinit(&image);
}

static void dump(const char *path)
{
	struct vp_dump_opts opts = { .path = path };
	struct vp_guest_opts guest_opts = { 0 };
	struct vp_guest *guest = NULL;
	struct vp_dump *ret = NULL;
	struct ot_err *err = vp_dump_open(&opts, &ret);

	if (!err) {
		guest_opts.phys = vp_dump_phys(ret);
		guest_opts.regs = vp_dump_regs(ret, &guest_opts.nregs);
		err = vp_guest_open(&guest_opts, &guest);
	}
	ot_err_destroy(err);
	vp_guest_destroy(guest);
	vp_dump_close(ret);
}

static void symbols(const char *path, bool vmlinux)
{
	struct vp_vmlinux v = { 0 };
	struct vp_symtab *symtab;
	struct ot_err *err = vp_symtab_create(&symtab);

	if (err) {
		ot_err_destroy(err);
		return;
	}
	err = vmlinux ? vp_vmlinux_open(path, vp_gva(BASE), symtab, &v)
		      : vp_symbols_open(path, vp_gva(BASE), symtab);
	if (!err)
		err = vp_symtab_finish(symtab);
	for (size_t i = 0; !err && i < vp_symtab_count(symtab); i++) {
		const struct vp_symbol *sym = vp_symtab_at(symtab, i);

		if (!vp_symtab_find(symtab, NULL, vp_symbol_name(symtab, sym)))
			abort();
		(void)vp_symbol_size(symtab, sym);
	}
	ot_err_destroy(err);
	vp_vmlinux_deinit(&v);
	vp_symtab_destroy(symtab);
}

static void file(uint8_t kind, const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	char path[64];
	struct ot_err *err;

	if (fd < 0)
		return;
	err = ot_write_all(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!err && kind == 3)
		dump(path);
	else if (!err)
		symbols(path, kind == 4);
	ot_err_destroy(err);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vp_vmcoreinfo info;
	struct vp_regs regs;
	uint8_t kind;

	if (!size)
		return 0;
	kind = *data++ % 6;
	size--;
	switch (kind) {
	case 0:
		kallsyms(data, size);
		break;
	case 1:
		ot_err_destroy(vp_vmcoreinfo_parse((const char *)data, size, &info));
		break;
	case 2:
		ot_err_destroy(vp_dump_parse_registers((const char *)data, size, &regs));
		break;
	default:
		file(kind, data, size);
	}
	return 0;
}
