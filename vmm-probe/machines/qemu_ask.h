/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking the QEMU whose process this is in: by the functions that it exports for its own modules, called in a
 * bottom half on its main loop, with its big lock held. No monitor need be configured. A QEMU that was built
 * without modules, which no distribution does, exports none.
 *
 * Sources: QEMU's include/block/aio.h (aio_bh_schedule_oneshot_full, since 6.1), include/exec/memory.h,
 * qapi/misc.json (human-monitor-command), and the output of these commands.
 */
#ifndef VP_MACHINES_QEMU_ASK_H
#define VP_MACHINES_QEMU_ASK_H

#include <stdbool.h>
#include <stdint.h>

/** Does this process export the functions needed below? Any thread. */
bool vp_qemu_can_ask(void);
/** … and those for vp_qemu_hold()? */
bool vp_qemu_can_hold(void);

/** Have QEMU's main loop call @p fn, and wait @p wait_ns for it to return. False: it has not by then, and may
 * be called later; questions that wait are answered by one call. Always the same @p fn, and one thread at a
 * time, which is not the main loop's and has not QEMU's lock. */
bool vp_qemu_ask(void (*fn)(void), uint64_t wait_ns);

/* For that function: */

/** The output of a monitor command, for vp_qemu_free(); NULL: an error. */
char *vp_qemu_monitor(const char *line);
void vp_qemu_free(char *text);
/** The host address of guest physical @p gpa. False: there is no RAM. */
bool vp_qemu_host_of(uint64_t gpa, uint64_t *ret);

/** Keep the memory block that is at address @p host of this process from being unmapped, as QEMU's own users
 * of it do, even if the machine drops it: the block, for vp_qemu_let_go(). NULL: no block. */
void *vp_qemu_hold(uint64_t host);
void vp_qemu_let_go(void *block);

#endif
