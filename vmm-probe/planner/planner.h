/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trap planner: for each site of a guest whose text is modified, it selects a trap, or gives the reason
 * why none is possible. A site in a process has a debug register, regardless of the wish. It decides by the
 * instruction's bytes, the kinds that the engine supports (VP_TRAPS_*), the operator's wish (-x trap), and
 * the places that the kernel patches or blacklists (places.h).
 *
 * A trap covers exactly one instruction, or a ret and the int3 after it, which is never executed. A jump to
 * the first covered byte hits the trap as it should; a jump into the middle must not exist. The latter is
 * checked by provider/fbt_sites.c, which knows the whole function; the planner is given one instruction.
 *
 * Runs in the operator's process, so the engine checks its decisions again as far as it can. For one thread.
 */
#ifndef VP_PLANNER_PLANNER_H
#define VP_PLANNER_PLANNER_H

#include <stdbool.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/vmm.h"

struct vp_guest;
struct vp_planner;

/* -x trap */
enum vp_trap_wish {
	VP_WISH_AUTO, /* native, emulate, step: the first that is possible */
	VP_WISH_TEXT, /* never step */
	VP_WISH_STEP, /* step wherever possible; for comparison */
	VP_WISH_HW,   /* debug registers: VP_HW_SITES sites in a guest, whose text is not changed */
};

enum vp_plan_kind {
	VP_PLAN_REFUSE,
	VP_PLAN_NATIVE,  /* a nop: no work after the hit */
	VP_PLAN_EMULATE, /* the instruction is emulated (vmm-probe/arch/x86/insn) */
	VP_PLAN_STEP,
	VP_PLAN_HW,
};

struct vp_verdict {
	enum vp_plan_kind kind;
	uint8_t covers;  /* bytes of text that the trap replaces; 0: none (HW, REFUSE) */
	const char *why; /* REFUSE: the reason, for messages; owned by the planner. Else NULL */
};

/** Parse the value of -x trap ("auto" …); false: not a valid one. */
bool vp_trap_wish_parse(const char *word, enum vp_trap_wish *ret);

/**
 * Check that an engine with @p traps (VP_TRAPS_*) can fulfil @p wish. UNSUPPORTED: the message names the
 * missing part.
 */
OT_MUST_CHECK struct ot_err *vp_planner_check(uint32_t traps, enum vp_trap_wish wish);

/** Create a planner and read the guest's places. @p guest is borrowed; NULL: no places, decisions by bytes
 * only. */
OT_MUST_CHECK struct ot_err *vp_planner_create(struct vp_guest *guest, uint32_t traps, enum vp_trap_wish wish,
					       struct vp_planner **ret);
/** A module has come: read the places again, with its own. After an error they are unchanged. */
OT_MUST_CHECK struct ot_err *vp_planner_read_again(struct vp_planner *planner);
void vp_planner_destroy(struct vp_planner *planner);

/** Decide about @p site: gva, target, length, room and bytes are input, trap is set; room may become less. */
struct vp_verdict vp_planner_site(struct vp_planner *planner, struct vp_batch_site *site);

/** The reason why the @p n sites of one probe can't be trapped together, even if each alone can; NULL: they
 * can. The text is the planner's. */
const char *vp_planner_together(struct vp_planner *planner, const struct vp_batch_site *sites, uint32_t n);

/** Bytes of text that a trap at @p site replaces. */
uint8_t vp_planner_covers(const struct vp_batch_site *site);

/** The reason why no site of the function at @p gva may be trapped, regardless of its bytes (static); NULL:
 * some may. */
const char *vp_planner_function(const struct vp_planner *planner, uint64_t gva);

/** "native" … Static. */
const char *vp_plan_kind_name(enum vp_plan_kind kind);

#endif
