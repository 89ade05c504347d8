/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of static probes (USDT) in an object of a process: the notes of its file, as far as they are
 * valid in this process. All of it comes from the guest: a place that is not a nop in the object's code is
 * refused; a semaphore outside the object's own writable data is ignored.
 */
#ifndef VP_PROVIDER_USDT_PLACES_H
#define VP_PROVIDER_USDT_PLACES_H

#include "vmm-probe/provider/pid_process.h"
#include "vmm-probe/provider/usdt_args.h"

#define VP_USDT_NAME_MAX 63u /* characters of a provider's and of a probe's name */
#define VP_USDT_NOT_READ (-1)

struct vp_usdt_place {
	const char *provider;      /* as the note has it: without the process's number */
	const char *name;          /* a dash for each two underscores of the note */
	const char *function;      /* "sub_1234": it has no symbol; "": unknown */
	const char *text;          /* the arguments, as the note has them */
	uint64_t addr;             /* as linked */
	struct vp_batch_site site; /* without its program */
	struct vp_usdt_args args;  /* of `text` */
	const char *refused;       /* the reason why no probe can be there; NULL: one can */
	uint64_t semaphore;        /* its address in the process; 0: it has none */
	int32_t raised;            /* the semaphore's value, or NOT_READ: its page is not in memory */
};

struct vp_usdt_places {
	struct vp_usdt_place *items; /* by provider, name, function and address, each of these once */
	size_t count;
	bool whole; /* all notes of the file could be read */
};

struct vp_usdt_reader {
	const struct vp_code_ops *code;
	struct vp_pid_processes *processes;
	struct vp_pid_process *process;
	struct vp_exprs *exprs; /* results live in their arena */
};

/** Read the places of @p object, whose symbols are read only if it has some. A note whose names D can't spell
 * is left out. LIMIT: the caller's budget. */
OT_MUST_CHECK struct ot_err *vp_usdt_places_read(const struct vp_usdt_reader *reader,
						 struct vp_pid_object *object, struct vp_usdt_places *ret);

/** Make of @p place, which was read in @p object of reader->process and has a site, that of its file: its
 * site's address and its semaphore's are offsets, its arguments are the same in whichever process. It has no
 * semaphore if that is behind the file's own data.
 * *ret false, with the place unchanged: it is not in the file. NO_MEMORY is the only error. */
OT_MUST_CHECK struct ot_err *vp_usdt_place_of_file(const struct vp_usdt_reader *reader,
						   struct vp_pid_object *object, struct vp_usdt_place *place,
						   bool *ret);

#endif
