/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine type and name on QEMU's command line, and the RAM layout that follows from them. */
#ifndef VP_MACHINES_QEMU_MACHINE_H
#define VP_MACHINES_QEMU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/engine/wire/facts.h"

struct vp_qemu_machine {
	char type[64];            /* "q35", "pc", "pc-i440fx-9.2", …; "pc" if none is given */
	char name[VP_GUEST_NAME]; /* of -name; "" */
	uint64_t max_below_4g;    /* -machine max-ram-below-4g= in bytes; 0: not given */
	bool several_memories;    /* of several backends: of NUMA nodes, or of devices that are memory */
	bool confidential;        /* an object that encrypts guest memory is given; nothing else shows that */
};
/** The next option from @p *p on, which is behind it afterwards, in NUL-terminated arguments up to @p end,
 * which a further NUL must follow: its name without dashes, and the argument behind it, NULL at the end. That
 * argument is skipped where it is certainly the option's value; otherwise it may be the next option. False:
 * there is no other option.
 */
bool vp_qemu_next_option(const char **p, const char *end, const char **ret_option, const char **ret_value);

/** Parse @p len bytes of NUL-terminated arguments, which a further NUL must follow. The last of repeated
 * options counts. */
void vp_qemu_machine_parse(const char *cmdline, size_t len, struct vp_qemu_machine *ret);
/** The same from this process's own command line. */
void vp_qemu_machine_read(struct vp_qemu_machine *ret);

/** The number of bytes of RAM from address 0 on, of @p size in total; the rest begins at 4 GiB. */
uint64_t vp_qemu_ram_low(const struct vp_qemu_machine *machine, uint64_t size);

#endif
