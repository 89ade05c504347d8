/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's kernel text, as this process reads it: the core kernel's once and whole, because many of its
 * functions are read; modules' function by function. It is a copy, so the bytes that were checked are those
 * that are disassembled, although the guest may patch itself meanwhile.
 */
#ifndef VP_PROVIDER_TEXT_H
#define VP_PROVIDER_TEXT_H

#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/patches.h"

struct vp_guest;
struct vp_text;

/* Source of foreign changes to the text: other sessions' traps. */
struct vp_text_undo {
	/* ret->list is the caller's to free. */
	struct ot_err *(*patches)(void *arg, struct vp_patches *ret);
	void *arg;
};

/** @p undo is copied; NULL: only the guest writes to its text. */
OT_MUST_CHECK struct ot_err *vp_text_create(struct vp_guest *guest, const struct vp_text_undo *undo,
					    struct vp_text **ret);
void vp_text_destroy(struct vp_text *text);

/** @p len bytes at @p gva; *ret is valid until the next call. FAULT: not mapped; LIMIT: over 16 MiB. */
OT_MUST_CHECK struct ot_err *vp_text_read(struct vp_text *text, uint64_t gva, uint64_t len,
					  const uint8_t **ret);

/** The core kernel's text as it was read, and where it begins; NULL and length 0: it could not be read whole.
 */
const uint8_t *vp_text_core(const struct vp_text *text, uint64_t *ret_start, uint64_t *ret_len);

#endif
