/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a guest ends. Its engine says so in shared memory, having stopped the session, and serves until we have
 * taken what was collected. What neither VMM nor engine notices, a kernel that started another one (kexec,
 * a reset), is seen in the guest's memory: its banner has gone, or its state went back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/session/internal.h"

/* A kernel that goes down for another is in this state so long at least: then the other one runs. */
#define RESTART_NS (3 * OT_NS_PER_SEC)

static const char *end_text(enum vp_guest_end how)
{
	static const char *const texts[VP_GUEST_ENDS] = {
		[VP_GUEST_POWERED_OFF] = "powered off",
		[VP_GUEST_RESET] = "rebooted: the kernel that was traced has ended",
		[VP_GUEST_TRIPLE_FAULT] = "had a triple fault",
		[VP_GUEST_FAILED] = "can't run on: its VMM says why",
		[VP_GUEST_UNREACHABLE] = "has ended, or can't be reached any more",
	};

	return texts[how];
}

/* --- the kernel's own view ------------------------------------------------------------------- */

/* system_state; false: this kernel has none that we know the numbers of. */
static bool read_state(const struct vp_guest_link *link, uint32_t *ret)
{
	struct vp_gva at;
	struct ot_err *err = vp_guest_symbol(link->guest, "system_state", &at);

	if (!err)
		err = vp_guest_read_u32(link->guest, at, ret);
	bool ok = !err;
	ot_err_destroy(err);
	return ok;
}

static bool is_state(const struct vp_guest_link *link, uint32_t state, const char *name)
{
	struct vp_types *types = vp_probes_types(link->probes);
	struct dif_type *type;
	int64_t value;

	return types && vp_types_enumerator(types, name, &type, &value) && value == (int64_t)state;
}

/* A VMM that ended without saying how: had its guest been going down by itself? */
static enum vp_guest_end guess(const struct vp_guest_link *link, enum vp_guest_end how)
{
	uint32_t state;

	if ((how != VP_GUEST_STOPPED && how != VP_GUEST_RUNS) || !link->guest || !read_state(link, &state))
		return how;
	if (is_state(link, state, "SYSTEM_POWER_OFF"))
		return VP_GUEST_POWERED_OFF;
	return is_state(link, state, "SYSTEM_RESTART") ? VP_GUEST_RESET : how;
}

/* --- noting it --------------------------------------------------------------------------------- */

static void note(struct vp_session *s, const struct vp_client *c, enum vp_guest_end how)
{
	const char *text = end_text(how);

	if (s->gone_reason)
		return;
	if (text)
		snprintf(s->gone_text, sizeof(s->gone_text), "guest %s %s", c->guest_name, text);
	else
		snprintf(s->gone_text, sizeof(s->gone_text), "guest %s: its VMM (PID %u) has ended",
			 c->guest_name, c->pid);
	s->gone_reason = s->gone_text;
	s->guest_end = how;
}

struct ot_err *vp_note_gone(struct vp_session *s, struct vp_source *src, struct ot_err *err)
{
	if (!err || ot_err_code(err) != OT_ERR_GUEST_GONE)
		return err;
	ot_err_destroy(err);
	note(s, &src->link->client, guess(src->link, VP_GUEST_RUNS));
	src->gone = true;
	for (uint32_t cpu = 0; s->dynvars && cpu < src->ncpus; cpu++)
		dif_dynvars_vcpu_gone(s->dynvars, src->open.first_cpu + cpu);
	if (s->shared && src->opened)
		vp_specs_engine_gone((uint64_t *)(void *)(s->shared + src->open.specs_offset),
				     src->open.nspec, src->open.engine);
	return NULL;
}

/* --- looking for it ------------------------------------------------------------------------------ */

static bool banner_changed(const struct vp_guest_link *link)
{
	const struct vp_kernel *kernel = vp_guest_kernel(link->guest);
	char now[sizeof(kernel->banner)];
	size_t len = strlen(kernel->banner);
	struct ot_err *err = vp_guest_read(link->guest, kernel->banner_addr, now, len);

	/* That a VMM's memory can't be read any more is another matter. */
	bool changed = err ? ot_err_code(err) == OT_ERR_FAULT : memcmp(now, kernel->banner, len) != 0;
	ot_err_destroy(err);
	return changed;
}

/* SYSTEM_SUSPEND, the last one, is left for SYSTEM_RUNNING; every other way back is a new kernel's. */
static bool went_back(const struct vp_guest_link *link, struct vp_kernel_watch *w, uint64_t now)
{
	uint32_t state, before = w->state;

	if (!read_state(link, &state))
		return false;
	bool restarting = is_state(link, state, "SYSTEM_RESTART");
	if (!restarting)
		w->restart_ns = 0;
	else if (!w->restart_ns)
		w->restart_ns = now;
	if (w->known && state < before && !is_state(link, before, "SYSTEM_SUSPEND"))
		return true; /* and still when it is looked at again */
	w->state = state;
	w->known = true;
	return restarting && now - w->restart_ns > RESTART_NS;
}

void vp_ends_look(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nsources && !s->gone_reason; i++) {
		const struct vp_source *src = &s->sources[i];
		if (!src->opened || !src->ncpus || src->gone)
			continue;
		const struct vp_vcpu_status *first = (const void *)(s->shared + src->open.status_offset);
		uint64_t how = __atomic_load_n(&first->guest_end, __ATOMIC_ACQUIRE);
		if (how && how < VP_GUEST_ENDS)
			note(s, &src->link->client, guess(src->link, (enum vp_guest_end)how));
	}
}

/* A session ends by this, and the guest's memory is read while it runs and changes its page tables: one look
 * is no proof. */
bool vp_kernels_look(struct vp_session *s, uint64_t now)
{
	bool sure = true;

	for (uint32_t i = 1; i < s->nsources && !s->gone_reason; i++) {
		struct vp_source *src = &s->sources[i];
		if (!src->started || src->gone || !src->link->guest)
			continue;
		bool another = banner_changed(src->link) || went_back(src->link, &src->watch, now);
		if (another && src->watch.doubted)
			note(s, &src->link->client, VP_GUEST_RESET);
		src->watch.doubted = another;
		sure &= !another;
	}
	return sure;
}
