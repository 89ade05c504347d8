/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of this folder. */
#ifndef VP_BACKEND_DUMP_DUMP_INTERNAL_H
#define VP_BACKEND_DUMP_DUMP_INTERNAL_H

#include "vmm-probe/backend/dump/dump.h"

struct vp_dump {
	int fd;
	uint64_t size;
	struct vp_phys *phys;
	struct vp_regs regs[VP_DUMP_CPUS_MAX];
	size_t nregs;
};

/* Ranges and registers of an ELF core. */
OT_MUST_CHECK struct ot_err *vp_dump_read_elf(struct vp_dump *dump, const char *path);

/* QEMU's note of a CPU, or a PRSTATUS; false if it is too short. */
bool vp_dump_qemu_note(const void *desc, size_t len, struct vp_regs *ret);
bool vp_dump_prstatus(const void *desc, size_t len, struct vp_regs *ret);

#endif
