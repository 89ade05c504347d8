/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User addresses of a guest's processes as text. Processes and files are read when the first record with
 * their address arrives, and kept: a process that ends later, or calls exec(), keeps its names. One thread.
 */
#ifndef VP_SESSION_USER_SYMBOLS_H
#define VP_SESSION_USER_SYMBOLS_H

#include "base/map.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/session/session.h"
#include "vmm-probe/session/user_notes.h"

struct vp_maps;
struct vp_processes;
struct vp_user_object;

struct vp_user_symbols {
	struct vp_guest *guest; /* borrowed; NULL: its processes can't be read */
	const char *sysroot;    /* borrowed; NULL: none */
	struct vp_processes *ps;
	struct ot_map processes;    /* by PID */
	struct ot_map objects;      /* by struct vp_file_id */
	uint64_t size;              /* bytes that both take, nearly */
	uint64_t round;             /* number of the current one */
	uint64_t generations;       /* times that a process's mappings were read */
	struct vp_budget budget;    /* of the round */
	bool has_budget;            /* once something was read in it */
	bool said_over;             /* that a round's was used up */
	struct vp_user_notes notes; /* texts of frames that have notes */
	bool noted; /* reported that processes can't be read, or that there is too much to keep */
	/* Receives the reasons why names are missing; may be NULL. */
	void (*say)(void *arg, const char *text);
	void *say_arg;
};

/** @p guest NULL: no kernel was found. */
void vp_user_symbols_init(struct vp_user_symbols *us, struct vp_guest *guest, const char *sysroot,
			  void (*say)(void *arg, const char *text), void *say_arg);
/** Also of a zeroed one. */
void vp_user_symbols_deinit(struct vp_user_symbols *us);

/** Begin a round: all reading until the next one has one budget, and each process is read once. */
void vp_user_symbols_round(struct vp_user_symbols *us);

/** Each piece of reading is between these two, of the round's budget. False: it has no more. */
OT_MUST_CHECK bool vp_user_symbols_read_begin(struct vp_user_symbols *us);
void vp_user_symbols_read_end(struct vp_user_symbols *us);

/** Can processes of the guest be read? If not, the reason is reported once. */
bool vp_user_symbols_can_read(struct vp_user_symbols *us);

/** A record with that address has arrived: read the data to name it, while its process exists. Without memory
 * or within no budget, the address will have no name. */
void vp_user_symbols_see(struct vp_user_symbols *us, uint64_t pid, uint64_t addr);

/** The mappings of process @p pid in this round; borrowed until the next one. *ret_number changes each time
 * that they are read. NULL: it can't be read. */
const struct vp_maps *vp_user_symbols_maps(struct vp_user_symbols *us, uint64_t pid, uint64_t *ret_number);

/** The file @p file of these maps; borrowed. NULL: it can't be read; *ret_later: the round has no budget
 * left, but the next one may. */
struct vp_user_object *vp_user_symbols_object(struct vp_user_symbols *us, uint64_t pid, uint32_t file,
					      bool *ret_later);

/** Text of @p addr into @p buf, always NUL-terminated: object`symbol+0x12, object`sub_1234+0x5,
 * object`0xaddr, or 0xaddr if no file is known to be mapped there. */
void vp_user_symbols_text(struct vp_user_symbols *us, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
			  char *buf, size_t size);

#endif
