/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file's notes: its build id, and its statically defined probes (USDT), as <sys/sdt.h> writes them. */
#ifndef VP_GUEST_ELF_NOTES_H
#define VP_GUEST_ELF_NOTES_H

#include "vmm-probe/guest/elf/elf.h"

#define VP_STAPSDT_MAX  65536u /* probes of a file */
#define VP_STAPSDT_DESC 4096u  /* bytes of one's description */

/** Set elf->build_id by its notes; part of vp_elf_read(). */
void vp_elf_read_build_id(struct vp_elf *elf);

/* A probe. Addresses are as the file was linked; the file may have been moved since its notes were written
 * (prelinked), which is allowed for. */
struct vp_stapsdt {
	uint64_t pc;        /* of the nop */
	uint64_t semaphore; /* of the u16 that counts its tracers; 0: it has none */
	const char *provider, *name,
	    *arguments; /* borrowed during the call; the file's bytes, NUL-terminated */
};

/** Call @p each for each probe of the file until it returns false. Without section headers they are searched
 * for behind what is loaded. Returns whether all of them could be read; if not, image->missing lists the
 * missing parts. Above VP_STAPSDT_MAX probes only the first ones are passed, without an error. */
bool vp_elf_stapsdt(struct vp_elf *elf, bool (*each)(void *arg, const struct vp_stapsdt *probe), void *arg);

#endif
