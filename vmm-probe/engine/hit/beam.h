/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of the Erlang process that the vCPU's thread interprets. Erlang's machine has a stack of its own
 * for each of its processes, in the process's heap; return addresses are the words of it that lie in a
 * module's code. Hit path. All data is the process's, and hostile: fuel bounds a walk.
 */
#ifndef VP_ENGINE_HIT_BEAM_H
#define VP_ENGINE_HIT_BEAM_H

#include "vmm-probe/engine/hit/helper.h"
#include "vmm-probe/engine/hit/texts.h"
#include "vmm-probe/engine/wire/runtimes.h"

#define VP_BEAM_CHUNK 64u /* words of the stack that are read at once */

struct vp_beam_walk {
	struct vp_vcpu_session *v;
	struct vp_beam in;          /* a copy: the message is its sender's memory */
	uint32_t fuel;              /* loads that are left */
	uint64_t process;           /* of the scheduler whose thread this is */
	uint64_t modules, nmodules; /* the table in use */
	uint64_t instruction;       /* of the innermost frame, until that was taken; 0: unknown */
	uint64_t next, end;         /* of the stack: the part that was not read yet */
	uint64_t last;              /* the return address before, or the instruction */
	uint64_t words[VP_BEAM_CHUNK];
	uint32_t used, held; /* of words */
};

struct vp_beam_frame {
	uint64_t pc;       /* an address in its function: the instruction, or one before the return address */
	uint64_t module;   /* where its module's code begins */
	uint64_t index;    /* of its function in the module … */
	uint64_t function; /* … and where that begins */
};

/** Find the Erlang process that the thread runs, for texts of @p room bytes about its frames. False: the
 * thread is not a scheduler's, or runs none. */
bool vp_beam_begin(struct vp_beam_walk *w, struct vp_vcpu_session *v, const struct vp_beam *in, size_t room);

/** Find the frame of the thread's own stack that interprets it, *ret, and the process's stack. False: there
 * is none, or the position of that stack can't be known there. */
bool vp_beam_enter(struct vp_beam_walk *w, const struct vp_user_stack *stack, uint32_t *ret);

/** The next frame, the innermost first; one that calls itself from one place again and again is one, as in
 * Erlang's own stack traces. False: there are no more. */
bool vp_beam_frame(struct vp_beam_walk *w, struct vp_beam_frame *ret);

/** Append "module:function/arity (file:line)", with '?' for unreadable parts; code that was compiled without
 * lines has no file. */
void vp_beam_text(struct vp_beam_walk *w, const struct vp_beam_frame *frame, struct vp_texts *texts);

/* For beam_text.c: */
bool vp_beam_load(struct vp_beam_walk *w, uint64_t gva, void *dst, size_t len);
/** The last of @p n entries of @p size bytes each, at @p at, whose first words grow, with a first word of at
 * most @p pc: its number. False: there is none, or it can't be read. */
bool vp_beam_search(struct vp_beam_walk *w, uint64_t at, uint64_t n, uint32_t size, uint64_t pc,
		    uint64_t *ret);

#endif
