/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of code that HotSpot, OpenJDK's virtual machine, has made: no file has rules for it. Hit path. All
 * data is the process's, and hostile: each load is checked, their number for a frame is bounded, and the
 * stack only goes up.
 */
#ifndef VP_ENGINE_HIT_HOTSPOT_H
#define VP_ENGINE_HIT_HOTSPOT_H

#include "vmm-probe/engine/hit/texts.h"
#include "vmm-probe/engine/hit/unwind.h"
#include "vmm-probe/engine/hit/user_frames.h"

enum vp_hotspot_frame {
	VP_HOTSPOT_OTHER,       /* it is in no such code */
	VP_HOTSPOT_INTERPRETED, /* of a method, by the interpreter */
	VP_HOTSPOT_CODE,        /* of a compiled method, or of a stub */
	VP_HOTSPOT_UNREADABLE,  /* the stack can't be followed from there */
};

struct vp_hotspot_walk {
	struct vp_vcpu_session *v;
	const struct vp_process_frames *frames; /* borrowed; NULL: the process has no such machine */
	struct vp_hotspot in;                   /* a copy: the message is its sender's memory */
	/* The frame that was entered last. */
	enum vp_hotspot_frame frame;
	bool first;                        /* … is the innermost one of the stack */
	uint64_t caller, method, bytecode; /* INTERPRETED */
	uint64_t blob;                     /* CODE: the address of its CodeBlob */
};

/** Before a walk of the vCPU's process, whose @p frames are borrowed until its end; NULL: it has none. */
void vp_hotspot_begin(struct vp_hotspot_walk *w, struct vp_vcpu_session *v,
		      const struct vp_process_frames *frames);

/** Locate @p f; @p first: it is the innermost frame. True: it is in such code, and vp_hotspot_step() leads to
 * its caller. The return address of a deoptimised method is replaced: f->ip is set to the original one. */
bool vp_hotspot_enter(struct vp_hotspot_walk *w, struct vp_user_frame *f, bool first);

/** Put a note (wire/notes.h) of the frame that was entered, without the NUL behind it; nothing if it is
 * neither INTERPRETED nor CODE. */
void vp_hotspot_note(const struct vp_hotspot_walk *w, struct vp_texts *texts);

/** From the frame that was entered to its caller. False: the walk ends. */
bool vp_hotspot_step(struct vp_hotspot_walk *w, struct vp_user_frame *f);

#endif
