/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trap planner: for each site, how it can be trapped in a guest whose text has to be changed for it, or
 * why it can't be. It decides by the instruction's bytes, by what the engine can plant there (VP_TRAPS_*), by
 * what the operator wants (-x trap) and by what the kernel itself does with its text (places.h).
 *
 * A trap covers exactly one instruction, or a ret and the int3 behind it, which is never executed. A jump to
 * the beginning of what is covered is as good as running into it; one into its middle must not exist. Who
 * knows the whole function looks for that (provider/fbt_sites.c); what the planner sees is one instruction.
 *
 * In the operator's process: whatever it says, the engine checks again what it can. For one thread.
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
	VP_WISH_AUTO, /* native, emulate, step: the first that can be */
	VP_WISH_TEXT, /* never step */
	VP_WISH_STEP, /* step whatever may be stepped; for comparison */
	VP_WISH_HW,   /* debug registers: VP_HW_SITES places in a guest, its text stays as it is */
};

enum vp_plan_kind {
	VP_PLAN_REFUSE,
	VP_PLAN_NATIVE,  /* a nop: nothing is to be done after the hit */
	VP_PLAN_EMULATE, /* the instruction is done in the guest's place (vmm-probe/insn) */
	VP_PLAN_STEP,
	VP_PLAN_HW,
};

struct vp_verdict {
	enum vp_plan_kind kind;
	uint8_t covers;  /* bytes of text that the trap takes; 0: none (HW, REFUSE) */
	const char *why; /* REFUSE: a phrase for humans, the planner's; else NULL */
};

/** "auto" … of -x trap; false: none of them. */
bool vp_trap_wish_parse(const char *word, enum vp_trap_wish *ret);

/**
 * Can an engine that does @p traps (VP_TRAPS_*) do what @p wish asks for at all? UNSUPPORTED says what it
 * lacks.
 */
OT_MUST_CHECK struct ot_err *vp_planner_check(uint32_t traps, enum vp_trap_wish wish);

/** @p guest is borrowed; NULL: bytes only, no place is refused. The places are read here. */
OT_MUST_CHECK struct ot_err *vp_planner_create(struct vp_guest *guest, uint32_t traps, enum vp_trap_wish wish,
					       struct vp_planner **ret);
void vp_planner_destroy(struct vp_planner *planner);

/** Decide about @p site, of which gva, length, room and bytes are read and trap is set. */
struct vp_verdict vp_planner_site(struct vp_planner *planner, struct vp_batch_site *site);

/** Bytes of text that a trap on @p site takes. */
uint8_t vp_planner_covers(const struct vp_batch_site *site);

/** Why no site of the function at @p gva can be trapped, whatever stands there (static); NULL: not so. */
const char *vp_planner_function(const struct vp_planner *planner, uint64_t gva);

/** "native" … Static. */
const char *vp_plan_kind_name(enum vp_plan_kind kind);

#endif
