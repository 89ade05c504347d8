/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Determines whether the kernel that was found runs. It may still be starting, or be left in RAM from before
 * a reset. */
#include <time.h>

#include "base/cleanup.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/readings.h"

#define TICKS   50 /* a running kernel's time has advanced after so many of these: */
#define TICK_NS 20000000

static bool knows_roots(const struct vp_regs *regs, size_t nregs)
{
	struct vp_page_root root;

	for (size_t i = 0; i < nregs; i++)
		if (vp_arch_native.page_root(&regs[i], &root))
			return true;
	return false;
}

static struct ot_err *read_jiffies(struct vp_guest *guest, uint64_t *ret)
{
	struct vp_gva at;
	struct ot_err *err = vp_guest_symbol(guest, "jiffies", &at);

	return err ? err : vp_guest_read_once(guest, &vp_readings[VP_READ_WATCH], at, ret, sizeof(*ret));
}

static bool is_ticking(struct vp_guest *guest)
{
	const struct timespec pause = { .tv_nsec = TICK_NS };
	uint64_t first, now;
	ot_auto_err struct ot_err *unknown = read_jiffies(guest, &first);

	for (unsigned i = 0; !unknown && i < TICKS; i++) {
		nanosleep(&pause, NULL);
		unknown = read_jiffies(guest, &now);
		if (!unknown && now != first)
			return true;
	}
	return unknown != NULL;
}

/* A reset leaves the kernel in RAM while firmware and boot loader run. No vCPU's page table maps it then, but
 * neither do those of a kernel whose vCPUs are all in guests of its own. The running kernel's time advances:
 * only where all CPUs are idle does it not, and these have its page table. An engine knows the registers of
 * every vCPU that runs; where a source does not, all that is known is the kernel in RAM. */
static struct ot_err *check_runs(struct vp_guest_link *link, const struct vp_regs *regs, size_t nregs)
{
	bool unknown = link->source.ops && !knows_roots(regs, nregs);

	if (!vp_guest_kernel(link->guest)->unmapped || unknown || is_ticking(link->guest))
		return NULL;
	link->starts = true;
	return ot_err_new(OT_ERR_BUSY, "the kernel in the guest's memory does not run: if the guest is being "
				       "booted, try again in a second");
}

/* A kernel that is still starting patches its own text, and its current tasks can't be determined yet: values
 * that are unknown now would stay unknown for the session. So this is checked before any of that is read. A
 * kernel without these names is not checked. */
static struct ot_err *check_started(struct vp_guest_link *link, bool from_boot)
{
	const struct vp_btf *btf = vp_guest_btf(link->guest);
	struct vp_gva at;
	int64_t running;
	uint32_t state;

	if (!btf || !vp_btf_enum_named(btf, "system_states", "SYSTEM_RUNNING", &running))
		return NULL;
	struct ot_err *err = vp_guest_symbol(link->guest, "system_state", &at);
	if (err) {
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(vp_guest_read_once(link->guest, &vp_readings[VP_READ_WATCH], at, &state, sizeof(state)));
	/* past SYSTEM_BOOTING, alternatives are applied and per-CPU areas exist: the minimum */
	if (state >= (from_boot ? 1 : (uint64_t)running))
		return NULL;
	link->starts = true;
	return ot_err_new(OT_ERR_BUSY, "the guest's kernel is still starting: try again in a second");
}

struct ot_err *vp_link_check_running(struct vp_guest_link *link, const struct vp_regs *regs, size_t nregs,
				     bool from_boot)
{
	OT_TRY(check_runs(link, regs, nregs));
	return check_started(link, from_boot);
}
