/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A dump of a guest: a raw image of RAM, or an ELF core (QEMU's dump-guest-memory, /proc/vmcore), and the
 * registers of one or more vCPUs: those in the core, or QEMU's `info registers` text for a raw image.
 */
#ifndef VP_BACKEND_DUMP_DUMP_H
#define VP_BACKEND_DUMP_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/phys.h"

#define VP_DUMP_CPUS_MAX 256

struct vp_dump;

struct vp_dump_opts {
	const char *path;
	const char *registers; /* file with text as QEMU's `info registers` prints it, or NULL */
	/* Raw images above this size continue at 4 GiB after this many bytes (QEMU: 2 GiB on q35 if RAM is
	 * larger than 2.75 GiB, 3 GiB on pc if larger than 3.5); 0: the image's offsets are the physical
	 * addresses. */
	uint64_t low_size;
};

/** Open. BAD_DATA for a truncated or foreign file, UNSUPPORTED for other formats (the message explains how to
 * convert them). */
OT_MUST_CHECK struct ot_err *vp_dump_open(const struct vp_dump_opts *opts, struct vp_dump **ret);
void vp_dump_close(struct vp_dump *dump);

/* Borrowed until vp_dump_close(). */
const struct vp_phys *vp_dump_phys(const struct vp_dump *dump);
const struct vp_regs *vp_dump_regs(const struct vp_dump *dump, size_t *ret_count); /* count may be 0 */

/** Parse NAME=HEX pairs as `info registers` prints them; `text` of @p len bytes. NOT_FOUND if none of
 * them is a register. */
OT_MUST_CHECK struct ot_err *vp_dump_parse_registers(const char *text, size_t len, struct vp_regs *ret);

#endif
