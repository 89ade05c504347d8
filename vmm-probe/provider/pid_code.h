/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a process, read piece by piece from the file, because an engine finds the places of probes by
 * these bytes, and compared with the process's own memory. Within the budget that the caller has put into
 * force.
 */
#ifndef VP_PROVIDER_PID_CODE_H
#define VP_PROVIDER_PID_CODE_H

#include "vmm-probe/arch/code.h"
#include "vmm-probe/provider/pid_process.h"

#define VP_PID_PIECE_MAX (4u << 20) /* bytes of a function, and of any other piece */

/* One object's. Zero but for the first five, of which four are borrowed. */
struct vp_pid_code {
	const struct vp_code_ops *ops;
	struct vp_pid_processes *processes;
	struct vp_pid_process *process;
	struct vp_pid_object *object;
	bool of_file; /* its sites are to be the file's, wherever a process has mapped it */
	/* The page of the process's memory that was compared last. */
	uint8_t page[VP_IMAGE_PAGE];
	uint64_t page_gva; /* | 1; 0: none was */
	bool page_there;
};

/* A piece of it. */
struct vp_pid_piece {
	uint64_t addr, size; /* addr as linked */
	uint64_t gva;        /* in the process */
	uint8_t *bytes;      /* owned */
	uint64_t have;       /* the number of bytes from the beginning on that are in the guest's memory */
	uint64_t cap;
};

/** Read the piece [@p addr, @p addr + @p size), as linked, into *piece, whose memory is reused. UNSUPPORTED:
 * it is too large, or the process has not mapped it as code. */
OT_MUST_CHECK struct ot_err *vp_pid_code_read(struct vp_pid_code *code, uint64_t addr, uint64_t size,
					      struct vp_pid_piece *piece);
void vp_pid_piece_deinit(struct vp_pid_piece *piece);

/** The site of the instruction at @p at, which is below piece->have, of the piece of the function that begins
 * at @p function. UNSUPPORTED: it is not an instruction, it is a breakpoint, or the process has other bytes
 * there. */
OT_MUST_CHECK struct ot_err *vp_pid_code_site(struct vp_pid_code *code, const struct vp_pid_piece *piece,
					      uint64_t function, uint64_t at, struct vp_batch_site *ret);

/** UNSUPPORTED: a part of the piece is not in the guest's memory; the message has the remedy. NULL: all of it
 * is. */
OT_MUST_CHECK struct ot_err *vp_pid_piece_check(const struct vp_pid_code *code,
						const struct vp_pid_piece *piece);

#endif
