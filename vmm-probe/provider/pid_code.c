/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a process's code, and makes sites of it. */
#include "vmm-probe/provider/pid_code.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"

#define PAGE VP_IMAGE_PAGE

static bool make_room(struct vp_pid_piece *piece, uint64_t size)
{
	if (size <= piece->cap)
		return true;
	uint8_t *grown = realloc(piece->bytes, size);

	if (!grown)
		return false;
	piece->bytes = grown;
	piece->cap = size;
	return true;
}

struct ot_err *vp_pid_code_read(struct vp_pid_code *code, uint64_t addr, uint64_t size,
				struct vp_pid_piece *piece)
{
	uint64_t left = 0, gva = vp_pid_object_gva(code->process, code->object, addr, &left);

	if (size > VP_PID_PIECE_MAX)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it is larger than %u MiB", VP_PID_PIECE_MAX >> 20);
	if (!gva || size > left)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the process has part of it not mapped as code");
	if (!make_room(piece, size))
		return ot_err_nomem();
	piece->addr = addr;
	piece->size = size;
	piece->gva = gva;
	piece->have = 0;
	while (piece->have < size) {
		uint64_t at = addr + piece->have, n = PAGE - at % PAGE;

		n = n < size - piece->have ? n : size - piece->have;
		if (!vp_pid_object_text(code->object, at, piece->bytes + piece->have, n))
			break;
		piece->have += n;
	}
	return vp_budget_check();
}

void vp_pid_piece_deinit(struct vp_pid_piece *piece)
{
	free(piece->bytes);
	*piece = (struct vp_pid_piece){ 0 };
}

struct ot_err *vp_pid_piece_check(const struct vp_pid_code *code, const struct vp_pid_piece *piece)
{
	if (piece->have == piece->size)
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "its code from 0x%llx of %s on is not in the guest's memory: let it run once, or "
			  "read the file in the guest (`cat FILE >/dev/null`), and try again",
			  (unsigned long long)(piece->addr + piece->have), code->object->name);
}

/* --- sites -------------------------------------------------------------------------------------------- */

/* The process's byte at @p gva; false: its page is not in memory. */
static bool process_byte(struct vp_pid_code *code, uint64_t gva, uint8_t *ret)
{
	uint64_t page = gva / PAGE * PAGE;

	if (code->page_gva != (page | 1)) {
		struct ot_err *err = vp_guest_process_read(code->processes->ps, &code->process->maps.process,
							   vp_gva(page), code->page, PAGE);

		ot_err_destroy(err);
		code->page_there = !err;
		code->page_gva = page | 1;
	}
	*ret = code->page[gva % PAGE];
	return code->page_there;
}

/* Would an engine accept the process's code as the site? A breakpoint after the instruction does not prevent
 * that. A missing page will be the file's. */
static bool is_as_in_file(struct vp_pid_code *code, const struct vp_batch_site *site)
{
	for (uint32_t i = 0; i < site->room; i++) {
		uint8_t byte;

		if (!process_byte(code, site->gva + i, &byte) || byte == site->bytes[i])
			continue;
		if (i < site->length || !code->ops->breakpoint(&byte, 1))
			return false;
	}
	return true;
}

struct ot_err *vp_pid_code_site(struct vp_pid_code *code, const struct vp_pid_piece *piece, uint64_t function,
				uint64_t at, struct vp_batch_site *ret)
{
	uint64_t gva = piece->gva + at, left = piece->have - at, in_page = PAGE - gva % PAGE;
	uint8_t length = code->ops->length(piece->bytes + at, left);
	unsigned long long offset = gva - function;

	if (!length)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the bytes at +0x%llx are no known instruction",
				  offset);
	if (code->ops->breakpoint(piece->bytes + at, left))
		return ot_err_new(OT_ERR_UNSUPPORTED, "a breakpoint of the program's own is at +0x%llx",
				  offset);
	/* The bytes after it, within the page, distinguish it from others. */
	left = left < sizeof(ret->bytes) ? left : sizeof(ret->bytes);
	left = left < in_page ? left : in_page;
	*ret = (struct vp_batch_site){
		.gva = gva,
		.offset = (uint32_t)offset,
		.length = length,
		.room = (uint8_t)(left > length ? left : length),
	};
	memcpy(ret->bytes, piece->bytes + at, ret->room);
	if (is_as_in_file(code, ret))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "the process has other bytes at +0x%llx than its file: a breakpoint of the guest's "
			  "own (a debugger's, a uprobe's) hides the instruction",
			  offset);
}
