/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fleet: its hosts, its descriptor, and the data of all of them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/link/seal.h"
#include "fleet/operator/follow.h"
#include "fleet/operator/nats.h"

#define TIMER UINT32_MAX /* of the timer in the set, among hosts' indexes */

/* --- life ----------------------------------------------------------------------------------------------- */

static struct ot_err *open_set(struct fl_fleet *fleet)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = TIMER };

	fleet->set = epoll_create1(EPOLL_CLOEXEC);
	if (fleet->set < 0)
		return ot_err_os(errno, "epoll");
	fleet->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fleet->timer < 0 || epoll_ctl(fleet->set, EPOLL_CTL_ADD, fleet->timer, &ev) < 0)
		return ot_err_os(errno, "a timer");
	return NULL;
}

struct ot_err *fl_fleet_create(const struct fl_fleet_config *config, struct fl_fleet **ret)
{
	struct fl_fleet *fleet = calloc(1, sizeof(*fleet));
	struct ot_err *err;

	if (!fleet)
		return ot_err_nomem();
	*fleet = (struct fl_fleet){ .config = *config,
				    .set = -1,
				    .timer = -1,
				    .next_epid = FL_EPID_BASE,
				    .restarts.wait_ns = FL_LEASE_NS + FL_MARGIN_NS };
	if (!config->texts) /* their owners decide */
		fleet->may_act = UINT_MAX;
	ot_arena_init(&fleet->arena);
	ot_buf_init(&fleet->qualified);
	ot_buf_init(&fleet->run);
	ot_map_init(&fleet->said);
	ot_map_init(&fleet->names);
	ot_map_init(&fleet->specs);
	err = open_set(fleet);
	if (err) {
		fl_fleet_destroy(fleet);
		return err;
	}
	*ret = fleet;
	return NULL;
}

void fl_fleet_destroy(struct fl_fleet *fleet)
{
	if (!fleet)
		return;
	fl_follow_destroy(fleet);
	while (fleet->nhosts) /* members before their mergers */
		fl_host_destroy(fleet->hosts[--fleet->nhosts]);
	fl_calling_destroy(fleet->calling);
	ot_err_destroy(fleet->refused);
	fl_order_deinit(&fleet->order);
	if (fleet->timer >= 0)
		close(fleet->timer);
	if (fleet->set >= 0)
		close(fleet->set);
	ot_arena_deinit(&fleet->arena);
	ot_buf_deinit(&fleet->qualified);
	ot_buf_deinit(&fleet->run);
	ot_map_deinit(&fleet->said);
	ot_map_deinit(&fleet->names);
	ot_map_deinit(&fleet->specs);
	free(fleet->hosts);
	free(fleet->linked);
	free(fleet->upto);
	free(fleet->restarts.list);
	free(fleet->words);
	free(fleet);
}

/* --- hosts ---------------------------------------------------------------------------------------------- */

static struct ot_err *add_guests(struct fl_host *h, const char *guests)
{
	ot_buf_printf(&h->guests, "%s%s", h->guests.len ? " " : "", guests);
	if (h->guests.failed)
		return ot_err_nomem();
	return h->guests.len <= FL_TEXT_MAX ? NULL
					    : ot_err_new(OT_ERR_LIMIT, "too many -g for host %s", h->name);
}

static struct ot_err *add_host(struct fl_fleet *fleet, struct fl_carrier *carrier, struct fl_seal *seal,
			       const char *name, const char *spec, const char *guests)
{
	struct fl_channel *channel;
	struct fl_host *h;

	OT_TRY(fl_channel_open(carrier, seal, &channel));
	struct ot_err *err = fleet->nhosts < FL_HOSTS_MAX
				 ? fl_host_create(fleet, name, spec, &h)
				 : ot_err_new(OT_ERR_LIMIT, "more than %u hosts", FL_HOSTS_MAX);
	if (err) {
		fl_channel_destroy(channel);
		return ot_err_prefix(err, "host %s", name);
	}
	if (carrier->ops->listen) /* it is the channel's, which is h's */
		carrier->ops->listen(carrier, fl_host_hear, h);
	OT_TRY(ot_err_prefix(fl_host_connect(h, channel), "host %s", name));
	/* a guest's new host; until now the records of the single source were in order of arrival */
	if (fleet->is_started)
		fleet->order.waits = fleet->config.opts->temporal;
	return add_guests(h, guests);
}

/* Without the user, unless two hosts differ in it only. */
static const char *name_of(const struct fl_fleet *fleet, const char *spec)
{
	const char *at = strrchr(spec, '@'), *name = at ? at + 1 : spec;

	return ot_map_gets(&fleet->names, name) ? spec : name;
}

/* Both forms in which -g may name it again. */
static struct ot_err *note_names(struct fl_fleet *fleet, const char *name, const char *spec)
{
	struct fl_host *h = fleet->hosts[fleet->nhosts - 1];

	if (!ot_map_puts(&fleet->names, name, h) || !ot_map_puts(&fleet->specs, spec, h))
		return ot_err_nomem();
	return NULL;
}

struct ot_err *fl_fleet_add_ssh(struct fl_fleet *fleet, const char *spec, const char *name,
				const char *guests)
{
	struct fl_carrier *carrier;

	OT_TRY(ot_err_prefix(fl_ssh_create(spec, &carrier), "host %s", name));
	OT_TRY(add_host(fleet, carrier, NULL, name, spec, guests));
	fleet->hosts[fleet->nhosts - 1]->by_ssh = true;
	return NULL;
}

struct ot_err *fl_fleet_add(struct fl_fleet *fleet, const char *spec)
{
	const char *host, *guests;

	if (fleet->config.nats && !fl_is_remote(spec))
		return fl_spec_want(fleet, spec);
	OT_TRY(fl_spec_parse(spec, &fleet->arena, &host, &guests));
	struct fl_host *h = ot_map_gets(&fleet->specs, host);
	if (h)
		return add_guests(h, guests);
	const char *name = name_of(fleet, host);
	OT_TRY(fl_fleet_add_ssh(fleet, host, name, guests));
	return note_names(fleet, name, host);
}

struct ot_err *fl_fleet_add_carrier(struct fl_fleet *fleet, struct fl_carrier *carrier, const char *host,
				    const char *guests)
{
	return add_host(fleet, carrier, NULL, host, host, guests);
}

struct ot_err *fl_fleet_add_sealed(struct fl_fleet *fleet, struct fl_carrier *carrier, struct fl_seal *seal,
				   const char *host, const char *guests)
{
	return add_host(fleet, carrier, seal, host, host, guests);
}

/* --- programs ------------------------------------------------------------------------------------------- */

struct ot_err *fl_fleet_expect(const struct fl_fleet *fleet, struct dif_compiler *comp)
{
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		for (uint32_t k = 0; k < fleet->hosts[i]->nprograms; k++)
			OT_TRY(dif_compiler_expect(comp, &fleet->hosts[i]->programs[k]->prog));
	return NULL;
}

uint64_t fl_fleet_matched(const struct fl_fleet *fleet)
{
	uint64_t matched = 0;

	for (uint32_t i = 0; i < fleet->nhosts; i++)
		matched += fleet->hosts[i]->ready.matched;
	return matched;
}

uint64_t fl_fleet_matched_by(const struct fl_fleet *fleet, size_t text)
{
	uint64_t matched = 0;

	for (uint32_t i = 0; i < fleet->nhosts; i++)
		if (text < fleet->hosts[i]->ready.ntexts)
			matched += fleet->hosts[i]->ready.by_text[text];
	return matched;
}

struct ot_err *fl_fleet_bind(struct fl_fleet *fleet, const struct dif_program *prog,
			     const struct vp_sink *sink, uint32_t nguests)
{
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		for (uint32_t k = 0; k < fleet->hosts[i]->nprograms && !fl_host_is_over(fleet->hosts[i]); k++)
			OT_TRY(ot_err_prefix(fl_program_bind(fleet->hosts[i]->programs[k], prog), "host %s",
					     fleet->hosts[i]->name));
	fleet->prog = prog;
	fleet->sink = *sink;
	fleet->has_guests = nguests > 0;
	fl_order_init(&fleet->order, sink);
	/* the records of a single source arrive in order */
	fleet->order.waits = fleet->config.opts->temporal && fleet->nhosts + fleet->has_guests > 1;
	return NULL;
}

/* --- data ----------------------------------------------------------------------------------------------- */

static struct ot_err *local_record(void *arg, const struct vp_record *r)
{
	struct fl_fleet *fleet = arg;

	return fl_order_put(&fleet->order, r, ot_now_ns());
}

static struct ot_err *local_aggregate(void *arg, const struct vp_aggregate *agg)
{
	const struct vp_sink *sink = &((struct fl_fleet *)arg)->sink;

	return sink->aggregate(sink->arg, agg);
}

static struct ot_err *local_fault(void *arg, const struct vp_fault_info *fault)
{
	const struct vp_sink *sink = &((struct fl_fleet *)arg)->sink;

	return sink->fault(sink->arg, fault);
}

static struct ot_err *local_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	const struct vp_sink *sink = &((struct fl_fleet *)arg)->sink;

	return sink->drop(sink->arg, kind, cpu, count);
}

static struct ot_err *local_overload(void *arg, const struct vp_overload_info *overload)
{
	const struct vp_sink *sink = &((struct fl_fleet *)arg)->sink;

	return sink->overload(sink->arg, overload);
}

static void local_say(void *arg, const char *text)
{
	const struct vp_sink *sink = &((struct fl_fleet *)arg)->sink;

	if (sink->say)
		sink->say(sink->arg, text);
}

static void local_guest(void *arg, const struct vp_guest_news *news)
{
	const struct vp_sink *sink = &((struct fl_fleet *)arg)->sink;

	if (sink->guest)
		sink->guest(sink->arg, news);
}

struct vp_sink fl_fleet_sink(struct fl_fleet *fleet)
{
	return (struct vp_sink){ fleet,      local_record,   local_aggregate, local_fault,
				 local_drop, local_overload, local_say,       local_guest };
}

/* Every source has delivered its records up to this time. This host's guests do so at each switch of
 * buffers. */
static uint64_t complete_until(const struct fl_fleet *fleet, uint64_t now)
{
	const uint64_t rate = fleet->config.opts->switchrate_ns;
	uint64_t until = fleet->has_guests ? now - (now > rate ? rate : now) : now;

	for (uint32_t i = 0; i < fleet->nhosts; i++)
		if (fleet->upto[i] < until)
			until = fleet->upto[i];
	return until;
}

int fl_fleet_fd(const struct fl_fleet *fleet)
{
	return fleet->set;
}

static struct ot_err *set_timer(struct fl_fleet *fleet)
{
	const uint64_t links = fl_fleet_links_due_ns(fleet), again = fl_fleet_again_due_ns(fleet);
	const uint64_t follow = fl_follow_due_ns(fleet);
	uint64_t due = fl_order_due_ns(&fleet->order);

	due = links < due ? links : due;
	due = again < due ? again : due;
	due = follow < due ? follow : due;
	struct itimerspec at = { .it_value = ot_timespec(due && due < UINT64_MAX ? due : 1) };
	if (due == UINT64_MAX)
		at.it_value = (struct timespec){ 0 };
	return timerfd_settime(fleet->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0 ? ot_err_os(errno, "a timer")
									       : NULL;
}

/* Hosts whose link has data, or is due. */
static struct ot_err *pump_due(struct fl_fleet *fleet)
{
	struct epoll_event events[64];
	const int n = epoll_wait(fleet->set, events, OT_ARRAY_SIZE(events), 0);

	for (int i = 0; i < n; i++)
		if (events[i].data.u32 < fleet->nhosts)
			OT_TRY(fl_host_pump(fleet->hosts[events[i].data.u32]));
	/* Backwards: a host that is lost meanwhile is replaced by the last one. What is due at once is due at
	 * the link's present time, which is not before the question. */
	for (uint32_t i = fleet->nlinked; i-- > 0;)
		if (i < fleet->nlinked && fl_host_due_ns(fleet->linked[i]) <= ot_now_ns())
			OT_TRY(fl_host_pump(fleet->linked[i]));
	return NULL;
}

struct ot_err *fl_fleet_take(struct fl_fleet *fleet, bool *ret_exited, int *ret_status)
{
	*ret_exited = false;
	OT_TRY(pump_due(fleet));
	OT_TRY(fl_fleet_go_on_again(fleet));
	OT_TRY(fl_follow_poll(fleet));
	const uint64_t now = ot_now_ns();
	if (fleet->order.n)
		OT_TRY(fl_order_release(&fleet->order, complete_until(fleet, now), now));
	*ret_exited = fleet->exited;
	*ret_status = fleet->status;
	return set_timer(fleet);
}

bool fl_fleet_has_ended(const struct fl_fleet *fleet)
{
	return !fleet->nliving && !fl_follow_goes_on(fleet);
}
