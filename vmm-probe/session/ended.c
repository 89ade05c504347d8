/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a guest, which is the session's if no other one is traced. Its engine reports it in shared
 * memory, after stopping the session, and serves until the data has been fetched. An end that neither VMM nor
 * engine detects, because a kernel started another one (kexec, a reset), is detected in the guest's memory:
 * its banner has disappeared, or its state went back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/readings.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"

/* A kernel that restarts stays in this state at most that long: then the other one runs. */
#define RESTART_NS (3 * OT_NS_PER_SEC)

/* A machine whose memory changes runs again within this time, even if it loads a state from a slow disk. One
 * that is paused does not. */
#define STATE_NS (20 * OT_NS_PER_SEC)
#define POLL_NS  10000000

/* A process that ends closes its sockets before its end is visible. */
#define END_NS (2 * OT_NS_PER_SEC)

static const char *end_text(enum vp_guest_end how)
{
	static const char *const texts[VP_GUEST_ENDS] = {
		[VP_GUEST_POWERED_OFF] = "powered off",
		[VP_GUEST_RESET] = "rebooted: the kernel that was traced has ended",
		[VP_GUEST_TRIPLE_FAULT] = "had a triple fault",
		[VP_GUEST_FAILED] = "can't continue: see its VMM's messages",
		[VP_GUEST_UNREACHABLE] = "has ended, or is no longer reachable",
		[VP_GUEST_DETACHED] = "was detached: `outsight detach` removed its engine",
		[VP_GUEST_SAVED] =
		    "is being migrated or saved: its probes are out, -g traces it again afterwards",
		[VP_GUEST_CHANGED] =
		    "was given other memory or vCPUs: its probes are removed, -g traces it again",
		[VP_GUEST_LOADED] = "continued from a saved state: the traced kernel has ended",
	};

	return texts[how];
}

/* --- the kernel's own view ------------------------------------------------------------------- */

/* system_state; false: this kernel has none with known numbers. */
static bool read_state(const struct vp_guest_link *link, uint32_t *ret)
{
	struct vp_gva at;
	struct ot_err *err = vp_guest_symbol(link->guest, "system_state", &at);

	if (!err)
		err = vp_guest_read_once(link->guest, &vp_readings[VP_READ_WATCH], at, ret, sizeof(*ret));
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

/* A VMM that ended without a reason: was its guest shutting down? */
static enum vp_guest_end guess(const struct vp_guest_link *link, enum vp_guest_end how)
{
	uint32_t state;

	if ((how != VP_GUEST_STOPPED && how != VP_GUEST_RUNS) || !link->guest || !read_state(link, &state))
		return how;
	if (is_state(link, state, "SYSTEM_POWER_OFF"))
		return VP_GUEST_POWERED_OFF;
	return is_state(link, state, "SYSTEM_RESTART") ? VP_GUEST_RESET : how;
}

/* --- recording it ------------------------------------------------------------------------------ */

/* Feeds of guests that keep the session alive at this one's end: those in which something is enabled, or all
 * if nothing is in any, as with BEGIN and ticks only. */
static bool others_go_on(const struct vp_session *s)
{
	bool any_work = false;

	for (uint32_t i = 1; i < s->nfeeds; i++)
		any_work |= s->feeds[i].has_work;
	for (uint32_t i = 1; i < s->nfeeds; i++)
		if (!s->feeds[i].ended && (s->feeds[i].has_work || !any_work))
			return true;
	return false;
}

static bool is_lost(enum vp_guest_end how)
{
	return how != VP_GUEST_POWERED_OFF && how != VP_GUEST_RESET;
}

static void describe(const struct vp_feed *feed, enum vp_guest_end how, char *out, size_t size)
{
	const struct vp_client *c = &feed->link->client;
	const char *text = end_text(how);

	if (*feed->broke)
		snprintf(out, size, "guest %s is no longer traced: %s", c->guest_name, feed->broke);
	else if (text)
		snprintf(out, size, "guest %s %s", c->guest_name, text);
	else if (how == VP_GUEST_HUNG_UP)
		snprintf(
		    out, size,
		    "guest %s: the engine in its VMM (PID %u) has closed the connection; the VMM still runs",
		    c->guest_name, c->pid);
	else
		snprintf(out, size, "guest %s: its VMM (PID %u) has ended", c->guest_name, c->pid);
}

static void report(struct vp_session *s, const struct vp_feed *feed)
{
	const struct vp_guest_news news = { .guest = (uint32_t)(feed - s->feeds) - 1,
					    .name = feed->link->client.guest_name,
					    .how = feed->end,
					    .text = s->end.gone_text };

	if (s->sink.guest)
		s->sink.guest(s->sink.arg, &news);
}

/* The last guest's end is the session's, unless others may join; each other one is reported when it is
 * detected. The end of a guest that a pattern selected is not a loss: such guests come and go. */
static void note(struct vp_session *s, struct vp_feed *feed, enum vp_guest_end how)
{
	char text[sizeof(s->end.gone_text) + 48];

	if (feed->ended)
		return;
	feed->ended = true;
	feed->end = how;
	if (!feed->link->may_end) {
		if (!s->end.guest_ended || !is_lost(s->end.guest_end))
			s->end.guest_end = how;
		s->end.guest_ended = true;
	}
	describe(feed, how, s->end.gone_text, sizeof(s->end.gone_text));
	report(s, feed);
	bool others = others_go_on(s);
	if (!others && !s->awaits) {
		s->end.gone_reason = s->end.gone_text;
		return;
	}
	snprintf(text, sizeof(text), "%s; %s", s->end.gone_text,
		 others ? "the others go on" : "the session waits for the next one");
	vp_session_say(s, text);
}

/* --- the VMM's view ---------------------------------------------------------------------------- */

/* Has the VMM reset its machine, loaded a state into it, or changed it, and has it run since? VP_GUEST_RUNS:
 * none of them. False: unknown. */
static bool read_change(const struct vp_guest_link *link, enum vp_guest_end *ret)
{
	struct vp_inject_states now;

	if (!link->hooked || !vp_inject_states_read((pid_t)link->client.pid, &now))
		return false;
	*ret = now.resets != link->states.resets     ? VP_GUEST_RESET
	       : now.loads != link->states.loads     ? VP_GUEST_LOADED
	       : now.changes != link->states.changes ? VP_GUEST_CHANGED
						     : VP_GUEST_RUNS;
	return true;
}

bool vp_kernel_replaced(const struct vp_feed *feed)
{
	enum vp_guest_end how = feed->end;

	if (how == VP_GUEST_RUNS && (!feed->link || !read_change(feed->link, &how)))
		return false;
	return how == VP_GUEST_RESET || how == VP_GUEST_LOADED;
}

static enum vp_guest_end reported_by(const struct vp_feed *feed)
{
	if (!feed->opened || !feed->ncpus)
		return VP_GUEST_RUNS;
	uint64_t how = __atomic_load_n(&vp_feed_status(feed)->guest_end, __ATOMIC_ACQUIRE);
	return how < VP_GUEST_ENDS ? (enum vp_guest_end)how : VP_GUEST_RUNS;
}

/* The reason why a guest ended, or broke its connection @waited ago. False: not known yet. This never waits,
 * because other guests' data must be fetched.
 *
 * QEMU changes the memory of a machine before it resets it, or loads another state: its next run shows which
 * of them it was. */
static bool explain(const struct vp_guest_link *link, enum vp_guest_end reported, uint64_t waited,
		    enum vp_guest_end *ret)
{
	if (reported == VP_GUEST_CHANGED) {
		bool known = read_change(link, ret);
		if (known && *ret != VP_GUEST_RUNS)
			return true;
		if (known && waited < STATE_NS)
			return false;
		*ret = vp_vmm_has_ended(link, 0) ? guess(link, VP_GUEST_RUNS) : VP_GUEST_CHANGED;
		return true;
	}
	/* an engine in this process ends with its guest's VMM, or its stub */
	if (reported == VP_GUEST_RUNS && !link->source.client && !vp_vmm_has_ended(link, 0)) {
		*ret = VP_GUEST_HUNG_UP;
		return waited >= END_NS;
	}
	*ret = guess(link, reported);
	return true;
}

/* --- an error of the connection ---------------------------------------------------------------- */

void vp_feed_release(struct vp_session *s, struct vp_feed *feed)
{
	struct dif_dynvars *dv = s->apart ? NULL : s->feeds[0].shared.dynvars;

	for (uint32_t cpu = 0; dv && cpu < feed->ncpus; cpu++)
		dif_dynvars_vcpu_gone(dv, feed->open.first_cpu + cpu);
	if (!s->apart && feed->opened)
		vp_specs_engine_gone((uint64_t *)(void *)(feed->shared.mem + feed->open.specs_offset),
				     feed->open.nspec, feed->open.engine);
}

void vp_feed_gone(struct vp_session *s, struct vp_feed *feed)
{
	feed->gone = true;
	feed->asked.waiting = feed->asked.silent = false;
	vp_feed_release(s, feed);
}

void vp_note_broken(struct vp_session *s, struct vp_feed *feed, const char *why)
{
	snprintf(feed->broke, sizeof(feed->broke), "%s", why);
	vp_feed_gone(s, feed);
}

struct ot_err *vp_note_gone(struct vp_session *s, struct vp_feed *feed, struct ot_err *err)
{
	bool broken = err && s->apart && feed->link->client.broken;

	if (!err || (!broken && ot_err_code(err) != OT_ERR_GUEST_GONE))
		return err;
	if (broken)
		vp_note_broken(s, feed, ot_err_message(err));
	else
		vp_feed_gone(s, feed);
	ot_err_destroy(err);
	return NULL;
}

/* --- detecting it -------------------------------------------------------------------------------- */

bool vp_kernel_is_another(const struct vp_guest_link *link)
{
	const struct vp_kernel *kernel = vp_guest_kernel(link->guest);
	char now[sizeof(kernel->banner)];
	size_t len = strlen(kernel->banner);
	struct ot_err *err =
	    vp_guest_read_once(link->guest, &vp_readings[VP_READ_WATCH], kernel->banner_addr, now, len);

	/* A VMM's memory that is no longer readable is another case. */
	bool changed = err ? ot_err_code(err) == OT_ERR_FAULT : memcmp(now, kernel->banner, len) != 0;
	ot_err_destroy(err);
	return changed;
}

/* SYSTEM_SUSPEND, the last one, returns to SYSTEM_RUNNING; every other return means a new kernel. */
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
		return true; /* and still at the second check */
	w->state = state;
	w->known = true;
	return restarting && now - w->restart_ns > RESTART_NS;
}

/* @broken: only for broken connections. False: for one of them the reason is not known yet. */
static bool resolve(struct vp_session *s, uint64_t now, bool broken)
{
	bool all = true;

	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];
		enum vp_guest_end reported = reported_by(feed), how;
		if (feed->ended || (!feed->gone && (broken || reported == VP_GUEST_RUNS)))
			continue;
		if (!feed->noticed_ns)
			feed->noticed_ns = now;
		if (*feed->broke)
			note(s, feed, VP_GUEST_HUNG_UP);
		else if (explain(feed->link, reported, now - feed->noticed_ns, &how))
			note(s, feed, how);
		else
			all = false;
	}
	return all;
}

void vp_ends_poll(struct vp_session *s, uint64_t now)
{
	(void)resolve(s, now, false);
}

void vp_ends_settle(struct vp_session *s)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };

	while (!resolve(s, ot_now_ns(), true))
		nanosleep(&pause, NULL);
}

/* The memory is read while the guest runs and changes its page tables: one check is not enough to end it. */
bool vp_kernels_check(struct vp_session *s, uint64_t now)
{
	bool sure = true;

	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];
		if (!feed->started || feed->gone || feed->ended || !feed->link->guest)
			continue;
		bool another = vp_kernel_is_another(feed->link) || went_back(feed->link, &feed->watch, now);
		if (another && feed->watch.doubted)
			note(s, feed, VP_GUEST_RESET);
		feed->watch.doubted = another;
		sure &= !another;
	}
	return sure;
}
