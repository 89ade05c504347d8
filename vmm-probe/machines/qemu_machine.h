/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QEMU's command line says of the machine it runs. */
#ifndef VP_MACHINES_QEMU_MACHINE_H
#define VP_MACHINES_QEMU_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/engine/wire/facts.h"

struct vp_tcg_machine {
	char type[64];            /* "q35", "pc", "pc-i440fx-9.2", …; "pc" when none was named */
	char name[VP_GUEST_NAME]; /* of -name; "" */
	uint64_t max_below_4g;    /* -machine max-ram-below-4g=; 0 */
};
/** Take it from @p len bytes of NUL-terminated arguments, with a NUL behind them in any case. Of an option
 * given twice the last counts. */
void vp_tcg_machine_parse(const char *cmdline, size_t len, struct vp_tcg_machine *ret);
/** The same from this process's own command line. */
void vp_tcg_machine_read(struct vp_tcg_machine *ret);

/** How many of @p size bytes of RAM lie from address 0 up; the rest begins at 4 GiB. */
uint64_t vp_tcg_ram_low(const struct vp_tcg_machine *machine, uint64_t size);

#endif
