/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of the Python program that the vCPU's process interprets, of its running thread. Hit path. All
 * data is the process's, and hostile: fuel bounds a walk.
 */
#ifndef VP_ENGINE_HIT_PYTHON_H
#define VP_ENGINE_HIT_PYTHON_H

#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/hit/texts.h"
#include "vmm-probe/engine/wire/runtimes.h"

struct vp_python_walk {
	struct vp_vcpu_session *v;
	struct vp_python in; /* a copy: the message is its sender's memory */
	uint32_t fuel;       /* loads that are left */
	uint64_t record;     /* with VP_PYTHON_RECORDS: of the run that is next, or being walked */
	uint64_t frame;      /* the next one; 0: there is none */
	bool run_over;
};

struct vp_python_frame {
	uint64_t code;        /* its code object */
	uint64_t instruction; /* the one that it executes */
};

/** Find the running thread's frames, for texts of @p room bytes. False: it has none, or it is not one of the
 * interpreter's threads. */
bool vp_python_begin(struct vp_python_walk *w, struct vp_vcpu_session *v, const struct vp_python *in,
		     size_t room);

/** The next run, the innermost first: a place in the frame on the C stack of the function that interprets
 * it, or UINT64_MAX if that can't be known. False: there are no more. */
bool vp_python_run(struct vp_python_walk *w, uint64_t *ret_place);

/** The next frame of the run, the innermost first. False: the run is over. */
bool vp_python_frame(struct vp_python_walk *w, struct vp_python_frame *ret);

/** Append "file:line (function)", with '?' for unreadable parts. */
void vp_python_text(struct vp_python_walk *w, const struct vp_python_frame *frame, struct vp_texts *texts);

/* For python_line.c: */
bool vp_python_load(struct vp_python_walk *w, uint64_t gva, void *dst, size_t len);
/** The line of the instruction with that number in a code object. False: it has none, or it can't be read. */
bool vp_python_line(struct vp_python_walk *w, uint64_t code, uint64_t instruction, uint32_t *ret);

#endif
