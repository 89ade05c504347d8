/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU at a site, on the stub's thread. The other vCPUs are stopped too: one that is at a site at the same
 * time has not executed it, and stops again once all are resumed, so every hit is counted once.
 */
#include <string.h>

#include "vmm-probe/arch/x86/insn/insn.h"
#include "vmm-probe/backend/gdb/internal.h"

/* A repeated string instruction makes as many steps as it has iterations; no probed instruction is one. */
#define STEPS_MAX 64

/* --- instructions that fault ---------------------------------------------------------------------------- */

static bool same_registers(const struct vp_regs *a, const struct vp_regs *b)
{
	for (unsigned i = 0; i <= VP_REG_PC; i++)
		if (a->v[i] != b->v[i])
			return false;
	return true;
}

/* Is this the second arrival of a hit that has fired? */
static bool is_redo(struct vp_gdb *gdb, const struct vp_regs *regs)
{
	for (unsigned i = 0; i < VP_GDB_REDOS; i++)
		if (gdb->redo[i].used && same_registers(&gdb->redo[i].regs, regs)) {
			gdb->redo[i].used = false;
			return true;
		}
	return false;
}

/* After a step from @before to @after: did the CPU enter a handler instead? Then the interrupted RIP and RSP
 * are on the stack there, possibly after an error code. */
static bool was_interrupted(struct vp_gdb *gdb, const struct vp_regs *before, const struct vp_regs *after)
{
	uint64_t frame[6];
	struct ot_err *err = vp_gdb_read(&gdb->stub, false, after->v[VP_REG_SP], frame, sizeof(frame));
	bool read = !err;

	ot_err_destroy(err);
	for (unsigned i = 0; read && i < 2; i++)
		if (frame[i] == before->v[VP_REG_PC] && frame[i + 3] == before->v[VP_REG_SP])
			return true;
	return false;
}

/* --- stepping over the site ------------------------------------------------------------------------------ */

static struct ot_err *step(struct vp_gdb *gdb, uint32_t vcpu, const struct vp_regs *before)
{
	struct vp_regs after = *before;

	for (unsigned i = 0; i < STEPS_MAX && after.v[VP_REG_PC] == before->v[VP_REG_PC]; i++) {
		OT_TRY(vp_gdb_step(&gdb->stub, vcpu));
		vp_gdb_forget(gdb);
		OT_TRY(vp_gdb_read_regs(&gdb->stub, vcpu, &after));
	}
	if (after.v[VP_REG_SP] < before->v[VP_REG_SP] - 8 && was_interrupted(gdb, before, &after))
		gdb->redo[gdb->next_redo++ % VP_GDB_REDOS] = (struct vp_gdb_redo){ true, *before };
	return NULL;
}

/* A nop, with which most functions begin for the guest's own tracing, is skipped by advancing RIP. */
static struct ot_err *over(struct vp_gdb *gdb, uint32_t vcpu, const struct vp_gdb_planted *p,
			   const struct vp_regs *regs)
{
	struct vp_insn insn;
	bool done = false;

	if (vp_insn_decode(p->site->bytes, p->site->length, p->gva, &insn) && insn.op == VP_INSN_NOP)
		OT_TRY(vp_gdb_write_rip(&gdb->stub, vcpu, p->gva + insn.len, &done));
	if (done)
		return NULL;
	/* a stub may or may not step over a breakpoint of its own */
	OT_TRY(vp_gdb_break(&gdb->stub, p->kind, p->gva, false));
	struct ot_err *err = step(gdb, vcpu, regs);
	struct ot_err *again = vp_gdb_break(&gdb->stub, p->kind, p->gva, true);
	if (err)
		ot_err_destroy(again);
	return err ? err : again;
}

struct ot_err *vp_gdb_hit(struct vp_gdb *gdb, uint32_t vcpu)
{
	struct vp_regs regs;

	if (vcpu >= gdb->stub.nthreads)
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub does not say which vCPU stopped");
	OT_TRY(vp_gdb_read_regs(&gdb->stub, vcpu, &regs));
	const struct vp_gdb_planted *p = vp_gdb_planted_at(gdb, regs.v[VP_REG_PC]);
	if (!p)
		return NULL; /* it was removed, or belongs to another */
	if (!gdb->parted && !is_redo(gdb, &regs))
		vp_engine_hit(gdb->engine, vcpu, p->site, &regs);
	return over(gdb, vcpu, p, &regs);
}

/* --- samples -------------------------------------------------------------------------------------------- */

struct ot_err *vp_gdb_samples(struct vp_gdb *gdb)
{
	struct vp_regs regs;

	for (uint32_t i = 0; i < gdb->stub.nthreads; i++) {
		if (!__atomic_exchange_n(&gdb->sample_wanted[i], 0, __ATOMIC_ACQ_REL))
			continue;
		if (gdb->parted)
			continue;
		OT_TRY(vp_gdb_read_regs(&gdb->stub, i, &regs));
		vp_engine_sample(gdb->engine, i, &regs);
	}
	return NULL;
}
