/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers of contained readers: blocks without pointers, written by the child and parsed by its parent.
 * Taking one checks everything: an answer is as hostile as the guest.
 */
#ifndef VP_GUEST_CONTAINED_INTERNAL_H
#define VP_GUEST_CONTAINED_INTERNAL_H

#include "base/buf.h"
#include "vmm-probe/guest/guest_internal.h"

/* --- symbols --------------------------------------------------------------------------------------------- */

/* A symbol, or with `is_name` set only a string. Names stand one behind the other, in this order, each with a
 * NUL that is not counted. */
struct vp_answer_symbol {
	uint64_t addr;
	uint32_t len;    /* of its name */
	uint16_t module; /* by its number in the answer; 0: the core kernel */
	uint8_t type, flags;
};

/* Symbols and their names in an answer. */
struct vp_answer_symbols {
	const struct vp_answer_symbol *symbols;
	const char *names;
	uint64_t count, names_size;
};

/* Append records, and then names, of the symbols of @p symtab. *ret_size: bytes of the names. */
void vp_answer_put_symbols(const struct vp_symtab *symtab, struct ot_buf *out, uint64_t *ret_names_size);

/* Add them to @p symtab, whose module number @p numbers[i] is the answer's i; of @p nmodules. BAD_DATA: a
 * name or a number is out of bounds. Other errors as vp_symtab_add(). */
OT_MUST_CHECK struct ot_err *vp_answer_take_symbols(const struct vp_answer_symbols *answer,
						    const uint16_t *numbers, size_t nmodules,
						    struct vp_symtab *symtab);

/* --- the core kernel: vp_guest_read_core() --------------------------------------------------------------- */

void vp_answer_put_core(const struct vp_guest *guest, struct ot_buf *out);

/* Fill in the same members as vp_guest_read_core(), except the bytes of the types: they stay in @p data
 * (*ret_btf NULL: there are none). A budget is in force. BAD_DATA: not an answer; the guest is to be
 * destroyed. */
OT_MUST_CHECK struct ot_err *vp_answer_take_core(const void *data, size_t len, struct vp_guest *guest,
						 const uint8_t **ret_btf, size_t *ret_btf_size);

/* --- modules: vp_guest_find_modules() -------------------------------------------------------------------- */

void vp_answer_put_modules(const struct vp_arrivals *found, struct ot_buf *out);

/* *ret, initialised, becomes the result of vp_guest_find_modules(); it must be freed also after an error. A
 * budget is in force. BAD_DATA: not an answer. */
OT_MUST_CHECK struct ot_err *vp_answer_take_modules(const void *data, size_t len, struct vp_arrivals *ret);

#endif
