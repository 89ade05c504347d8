/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tables of code that it patches by itself: the branches on static keys (jump entries) and the
 * static calls, in the core kernel and in its modules.
 *
 * struct jump_entry { s32 code, target; long key } (include/linux/jump_label.h; relative on x86-64
 * since 4.19) and struct static_call_site { s32 addr, key } (include/linux/static_call_types.h) contain
 * distances from their own members. The tables are a hostile guest's bytes: nothing here guarantees that
 * there is code at an address.
 */
#ifndef VP_GUEST_STATIC_KEYS_H
#define VP_GUEST_STATIC_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vp_guest;

/* A branch on a static key: a nop at `code`, or a jump from there to `target`. */
struct vp_jump_entry {
	uint64_t code, target;
	uint64_t key; /* address of the struct static_key */
	bool is_init; /* in initialisation code, which may be gone */
};

struct vp_static_call {
	uint64_t addr; /* of the call or jump instruction */
	uint64_t key;  /* address of the struct static_call_key */
};

struct vp_static_keys {
	struct vp_jump_entry *jumps; /* by key, then by code */
	uint32_t *by_code;           /* their indices, by code */
	size_t njumps;
	struct vp_static_call *calls; /* by address */
	size_t ncalls;
	bool incomplete;  /* a module's tables are too long: they are left out */
	uint64_t charged; /* to the budget; returned by vp_static_keys_deinit() */
};

#define VP_STATIC_TABLE_MAX (16u << 20) /* bytes of one table; Debian's kernels have 0.2 million */
#define VP_STATIC_SITES_MAX (1u << 19)  /* entries of all tables of a kind; Debian's kernels have 10,000 */

/**
 * Read the tables of the core kernel and of all modules that the guest was seen to have, within the budget in
 * force. A table that can't be read is left out: its kernel lacks it, or the guest is hostile or changing.
 * LIMIT: the core kernel's have more entries than VP_STATIC_SITES_MAX, or the budget is used up. *ret is
 * owned by the caller (vp_static_keys_deinit(), with the same budget in force or none).
 */
OT_MUST_CHECK struct ot_err *vp_static_keys_read(struct vp_guest *guest, struct vp_static_keys *ret);
void vp_static_keys_deinit(struct vp_static_keys *keys);

/** The entries of the key at @p key: *ret_count of them, from the one returned on (NULL if there are none).
 */
const struct vp_jump_entry *vp_static_keys_jumps(const struct vp_static_keys *keys, uint64_t key,
						 size_t *ret_count);

/** The entry whose instruction is at @p code; NULL: none. */
const struct vp_jump_entry *vp_static_keys_jump(const struct vp_static_keys *keys, uint64_t code);

/** The static call made by the instruction at @p addr; NULL: none. */
const struct vp_static_call *vp_static_keys_call(const struct vp_static_keys *keys, uint64_t addr);

#endif
