/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session: create, start, poll, stop, destroy. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/backend/none/none.h"
#include "vmm-probe/guest/elf_symbols.h"
#include "vmm-probe/session/agent.h"
#include "vmm-probe/session/arrivals.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"
#include "vmm-probe/session/modules.h"
#include "vmm-probe/session/variables.h"

/* An exit() in a guest is noticed within this time, at any rates. */
#define EXIT_POLL_NS    20000000ull
/* A guest that loads a module waits for us. */
#define MODULES_POLL_NS 5000000ull
#define RATE_FASTEST_NS 100000ull
#define RATE_NONE_NS    10000000ull

/* A kernel that seems to have been replaced is checked again after this. */
#define KERNEL_AGAIN_NS 100000000ull

/* A module that was unloaded in a trace may be loaded again. */
#define AGENT_POLL_NS 200000000ull

struct ot_err *vp_session_create(const struct vp_session_config *config, struct vp_session **ret)
{
	if (config->attach.vmlinux) /* before any guest is accessed */
		OT_TRY(vp_vmlinux_check(config->attach.vmlinux));
	struct vp_session *s = calloc(1, sizeof(*s));
	if (!s)
		return ot_err_nomem();
	s->config = *config;
	s->options = config->options;
	s->links.opts = config->attach;
	ot_arena_init(&s->arena);
	vp_host_symbols_init(&s->host.symbols);
	vp_kernels_group(s);
	*ret = s;
	return NULL;
}

/* Connections first: an engine removes its sites as soon as its connection closes. */
void vp_session_destroy(struct vp_session *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->links.n; i++)
		vp_client_close(&s->links.items[i]->client);
	vp_engine_session_close(s->host.es);
	vp_engine_destroy(s->host.engine);
	vp_share_destroy(s);
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		free(s->feeds[i].seen);
		vp_batch_clear(&s->feeds[i]);
	}
	free(s->feeds);
	for (uint32_t i = 0; i < s->links.n; i++)
		vp_link_destroy(s->links.items[i]);
	vp_probes_destroy(s->host.probes);
	vp_host_types_deinit(&s->host.types);
	vp_host_symbols_deinit(&s->host.symbols);
	for (uint32_t i = 0; i < VP_GUESTS_MAX; i++) {
		vp_frames_deinit(&s->frames[i]);
		vp_user_symbols_deinit(&s->user_symbols[i]);
	}
	vp_processes_close(s->target.ps);
	vp_pending_free(s);
	vp_variables_free(s);
	ot_buf_deinit(&s->unsaid);
	free(s->program.enabled);
	free(s->ticks.items);
	ot_arena_deinit(&s->arena);
	free(s);
}

static struct ot_err *drain_due(struct vp_session *s, uint64_t now, bool status);

/* Do everything that is due, for the other guests too: @arg's engine is being waited for. */
static struct ot_err *meanwhile(void *arg)
{
	struct vp_feed *feed = arg;
	struct vp_session *s = feed->session;

	if (s->config.waiting)
		s->config.waiting(s->config.attach.arg);
	if (s->draining)
		return NULL;
	s->draining = feed->asked.busy = true;
	vp_ticks_fire(s, ot_now_ns());
	struct ot_err *err = vp_exchange_late(s);
	if (!err)
		err = drain_due(s, ot_now_ns(), false);
	s->draining = feed->asked.busy = false;
	return err;
}

struct ot_err *vp_feed_start(struct vp_session *s, struct vp_feed *feed)
{
	if (!feed->has_work)
		return NULL;
	char note[VP_ERROR_TEXT], text[VP_ERROR_TEXT + VP_GUEST_NAME + 2];

	vp_variables_give(s, feed);
	OT_TRY(vp_note_gone(s, feed, vp_client_start(&feed->link->client, note, sizeof(note))));
	feed->started = true;
	if (*note) {
		snprintf(text, sizeof(text), "%s: %s", feed->link->client.guest_name, note);
		vp_session_say(s, text);
	}
	return vp_agent_started(s, feed);
}

/* From now on there is work while one of them does not answer. */
void vp_feed_share_wait(struct vp_feed *feed)
{
	feed->link->client.meanwhile = meanwhile;
	feed->link->client.meanwhile_arg = feed;
}

static struct ot_err *start_guests(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++)
		OT_TRY(vp_feed_start(s, &s->feeds[i]));
	for (uint32_t i = 1; i < s->nfeeds; i++)
		vp_feed_share_wait(&s->feeds[i]);
	return NULL;
}

/* BEGIN fires before any other probe can, and after exit() in it none ever will. */
struct ot_err *vp_session_start(struct vp_session *s)
{
	uint64_t none[10] = { 0 };

	OT_TRY(vp_engine_session_start(s->host.es));
	s->feeds[0].started = true;
	vp_engine_session_fire(s->host.es, DIF_PROBE_BEGIN, none);
	OT_TRY(vp_variables_keep(s));
	if (!vp_exit_called(s))
		OT_TRY(start_guests(s));

	uint64_t now = ot_now_ns();
	for (size_t i = 0; i < s->ticks.n; i++)
		s->ticks.items[i].next_ns = now + s->ticks.items[i].interval_ns;
	s->due.next_clean_ns = now + s->options->cleanrate_ns;
	s->due.next_kernel_ns = now + OT_NS_PER_SEC;
	return vp_modules_poll(s);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Rates have an upper limit; 0 means that no rate is set, for which the limit is used. */
static uint64_t interval(uint64_t rate)
{
	if (!rate)
		return RATE_NONE_NS;
	return rate > RATE_FASTEST_NS ? rate : RATE_FASTEST_NS;
}

static uint64_t next_of(uint64_t last, uint64_t rate)
{
	uint64_t next;

	return __builtin_add_overflow(last, interval(rate), &next) ? UINT64_MAX : next;
}

/* When something is due; with fill and ring buffers nothing is switched while tracing. */
static uint64_t next_due(struct vp_session *s, uint64_t now)
{
	const struct dif_options *o = s->options;
	uint64_t due = next_of(s->due.last_status_ns, o->statusrate_ns);

	if (!vp_exit_called(s))
		due = earliest(due, vp_ticks_next(s));
	if (o->bufpolicy == DIF_BUF_SWITCH)
		due = earliest(due, earliest(next_of(s->due.last_switch_ns, o->switchrate_ns),
					     next_of(s->due.last_agg_ns, o->aggrate_ns)));
	if (s->program.dynamic)
		due = earliest(due, s->due.next_clean_ns);
	if (s->links.n)
		due = earliest(due, now + (vp_modules_followed(s) ? MODULES_POLL_NS : EXIT_POLL_NS));
	return due;
}

/* Sleep until @due, or until @wake_fd or an engine's connection is readable. */
static struct ot_err *sleep_until(struct vp_session *s, uint64_t due, int wake_fd)
{
	struct pollfd fds[1 + VP_GUESTS_MAX] = { { .fd = wake_fd, .events = POLLIN } };
	nfds_t nfds = 1;
	uint64_t now = ot_now_ns();
	uint64_t left = due > now ? due - now : 0;
	const struct timespec ts = ot_timespec(left);

	for (uint32_t i = 1; i < s->nfeeds; i++)
		if (!s->feeds[i].gone)
			fds[nfds++] = (struct pollfd){ .fd = s->feeds[i].link->client.sock,
						       .events = s->feeds[i].asked.waiting ? POLLIN : 0 };
	int n = ppoll(fds, nfds, &ts, NULL);
	if (n < 0 && errno != EINTR)
		return ot_err_os(errno, "poll");
	for (nfds_t i = 1; n > 0 && i < nfds; i++) {
		if (!(fds[i].revents & (POLLHUP | POLLERR)))
			continue;
		for (uint32_t k = 1; k < s->nfeeds; k++) {
			struct vp_feed *feed = &s->feeds[k];
			if (!feed->gone && feed->link->client.sock == fds[i].fd)
				OT_TRY(vp_note_gone(s, feed,
						    ot_err_new(OT_ERR_GUEST_GONE,
							       "the guest's VMM (PID %u) has ended",
							       feed->link->client.pid)));
		}
	}
	return NULL;
}

/* Is *next past? Then set it to the next multiple of its rate. */
static bool is_due(uint64_t *next, uint64_t now, uint64_t rate)
{
	if (now < *next)
		return false;
	*next += rate;
	if (*next <= now)
		*next = now + rate;
	return true;
}

/* The same by the last time, for a rate that may change meanwhile. */
static bool is_over(uint64_t *last, uint64_t now, uint64_t rate)
{
	if (now < next_of(*last, rate))
		return false;
	*last = next_of(*last, rate);
	if (next_of(*last, rate) <= now)
		*last = now;
	return true;
}

/* exit() ends a session at the next status poll: immediately, unless the program has set that rate. */
static bool exit_waits(struct vp_session *s)
{
	return ot_map_gets(&s->options->set, "statusrate") != NULL;
}

/* Records received with aggregations wait for their own turn, but no more of them than one buffer. */
static bool has_room(const struct vp_session *s)
{
	return s->program.aggregates && s->pending.bytes <= s->options->bufsize;
}

/* Do everything that is due by the rates. */
static struct ot_err *drain_due(struct vp_session *s, uint64_t now, bool status)
{
	const struct dif_options *o = s->options;
	unsigned what = status ? VP_DRAIN_STATUS : 0;

	if (o->bufpolicy == DIF_BUF_SWITCH) {
		what |= is_over(&s->due.last_agg_ns, now, o->aggrate_ns) && has_room(s) ? VP_DRAIN_TAKE : 0;
		what |= is_over(&s->due.last_switch_ns, now, o->switchrate_ns) ? VP_DRAIN_TAKE | VP_DRAIN_GIVE
									       : 0;
	}
	return what ? vp_drain(s, what) : NULL;
}

struct ot_err *vp_session_snap(struct vp_session *s)
{
	const struct dif_options *o = s->options;

	if (o->bufpolicy != DIF_BUF_SWITCH || !has_room(s) ||
	    !is_over(&s->due.last_agg_ns, ot_now_ns(), o->aggrate_ns))
		return NULL;
	return vp_drain(s, VP_DRAIN_TAKE);
}

struct ot_err *vp_session_sleep(struct vp_session *s, int wake_fd)
{
	if (vp_exit_called(s) && !exit_waits(s))
		return NULL;
	return sleep_until(s, next_due(s, ot_now_ns()), wake_fd);
}

static void clean_variables(struct vp_session *s)
{
	for (uint32_t i = 0; i < s->nfeeds; i++)
		if (s->feeds[i].shared.dynvars)
			dif_dynvars_clean(s->feeds[i].shared.dynvars);
}

struct ot_err *vp_session_poll(struct vp_session *s, int wake_fd, enum vp_session_state *ret_state)
{
	OT_TRY(vp_session_sleep(s, wake_fd));
	return vp_session_take(s, ret_state);
}

struct ot_err *vp_session_take(struct vp_session *s, enum vp_session_state *ret_state)
{
	vp_ticks_fire(s, ot_now_ns());

	uint64_t now = ot_now_ns();
	vp_ends_poll(s, now);
	if (is_due(&s->due.next_kernel_ns, now, OT_NS_PER_SEC) && !vp_kernels_check(s, now))
		s->due.next_kernel_ns = now + KERNEL_AGAIN_NS;
	OT_TRY(vp_ended_leave(s));
	if (is_due(&s->due.next_agent_ns, now, AGENT_POLL_NS))
		OT_TRY(vp_agents_poll(s));
	OT_TRY(vp_modules_poll(s));
	if (is_due(&s->due.next_arrivals_ns, now, OT_NS_PER_SEC))
		OT_TRY(vp_arrivals_poll(s));
	bool status = is_over(&s->due.last_status_ns, now, s->options->statusrate_ns);
	bool noticed = status || !exit_waits(s);

	if (s->program.dynamic && is_due(&s->due.next_clean_ns, now, s->options->cleanrate_ns))
		clean_variables(s);
	OT_TRY(vp_exchange_late(s));
	if (!(noticed && vp_exit_called(s)) && !s->end.gone_reason)
		OT_TRY(drain_due(s, now, status));
	OT_TRY(vp_frames_send_wanted(s));

	*ret_state = noticed && vp_exit_called(s) ? VP_SESSION_EXITED
		     : s->end.gone_reason         ? VP_SESSION_GONE
						  : VP_SESSION_ACTIVE;
	return NULL;
}

static struct ot_err *stop_guests(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];
		if (!feed->started)
			continue;
		OT_TRY(vp_exchange_settle(s)); /* others were asked while one of them was waited for */
		if (!feed->gone)
			OT_TRY(vp_note_gone(s, feed, vp_client_stop(&feed->link->client)));
	}
	return NULL;
}

/* Remove sites, drain, fire END, drain. First poll the status of running engines: an engine that has stopped
 * no longer knows its guest's clock. */
struct ot_err *vp_session_stop(struct vp_session *s)
{
	const unsigned all = VP_DRAIN_STATUS | VP_DRAIN_TAKE | VP_DRAIN_GIVE | VP_DRAIN_WAIT;
	uint64_t none[10] = { 0 };

	if (s->links.n)
		OT_TRY(vp_drain(s, VP_DRAIN_STATUS | VP_DRAIN_WAIT));
	OT_TRY(vp_modules_last(s));
	OT_TRY(stop_guests(s));
	vp_ends_settle(s);
	OT_TRY(vp_agents_stopped(s));
	if (s->links.n)
		OT_TRY(vp_drain(s, all));
	if (s->host.es) {
		vp_exit_called(s); /* END's exit() overrides an earlier status */
		vp_engine_session_fire(s->host.es, DIF_PROBE_END, none);
	}
	struct ot_err *err = vp_drain(s, all | VP_DRAIN_ALL);
	vp_exit_called(s);
	vp_ends_settle(s);
	return err;
}

int vp_session_exit_status(const struct vp_session *s)
{
	return s->end.exit_status;
}

void vp_session_patching(const struct vp_session *s, uint64_t *ret_windows, uint64_t *ret_out_ns)
{
	*ret_windows = *ret_out_ns = 0;
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		*ret_windows += s->feeds[i].patching.windows;
		*ret_out_ns += s->feeds[i].patching.out_ns;
	}
}

const char *vp_session_gone_reason(const struct vp_session *s)
{
	return s->end.gone_reason;
}

bool vp_session_guest_end(const struct vp_session *s, enum vp_guest_end *ret)
{
	*ret = s->end.guest_end;
	return s->end.guest_ended;
}
