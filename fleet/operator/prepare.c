/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for hosts: until all have compiled, have started, or have ended. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "consumer/source.h"
#include "fleet/operator/follow.h"
#include "fleet/operator/nats.h"

struct ot_err *fl_fleet_wait(struct fl_fleet *fleet, int wake_fd, uint64_t until_ns, bool *ret_woken)
{
	struct pollfd fds[2] = { { .fd = fleet->set, .events = POLLIN },
				 { .fd = wake_fd, .events = POLLIN } };
	uint64_t due = fl_fleet_links_due_ns(fleet);

	*ret_woken = false;
	if (poll(fds, 2, ot_ms_until(due < until_ns ? due : until_ns)) < 0)
		return errno == EINTR ? NULL : ot_err_os(errno, "poll");
	*ret_woken = fds[1].revents != 0;
	return NULL;
}

/* --- RUN ------------------------------------------------------------------------------------------------ */

/* The host to wait for; NULL: all have answered. *from: earlier hosts have. */
static struct fl_host *slowest(const struct fl_fleet *fleet, enum fl_host_state state, uint32_t *from)
{
	for (; *from < fleet->nhosts; (*from)++)
		if (fleet->hosts[*from]->state < state && !fleet->hosts[*from]->is_again)
			return fleet->hosts[*from];
	return NULL;
}

/* With a single host it is the error of a local session. */
static struct ot_err *named(const struct fl_host *h, struct ot_err *err)
{
	bool of_program = err && ot_err_code(err) == OT_ERR_SYNTAX;

	if (h->merger)
		return ot_err_prefix(err, "merger %s", h->name);
	return h->fleet->nliving == 1 && of_program ? err : ot_err_prefix(err, "host %s", h->name);
}

static struct ot_err *pump_all(struct fl_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->nlinked; i++)
		OT_TRY(named(fleet->linked[i], fl_host_pump_strictly(fleet->linked[i])));
	struct ot_err *err = fleet->refused;

	fleet->refused = NULL;
	return err;
}

static struct ot_err *read_scripts(const struct con_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (texts->items[i].is_script)
			OT_TRY(ot_err_prefix(con_source_script(texts, &texts->items[i]),
					     "failed to compile script %s", texts->items[i].arg));
	return NULL;
}

static struct ot_err *prepare(struct fl_fleet *fleet, int wake_fd)
{
	const uint64_t until = ot_now_ns() + FL_PREPARE_NS;
	const struct fl_host *said = NULL, *h;
	uint32_t from = 0;
	bool woken;

	OT_TRY(read_scripts(fleet->config.texts));
	fl_room_find(fleet);
	fleet->may_act = fl_trust_of(fleet->config.texts);
	if (fleet->nwanted)
		OT_TRY(fl_nats_invite(fleet, wake_fd));
	OT_TRY(pump_all(fleet));
	while ((h = slowest(fleet, FL_HOST_READY, &from))) {
		if (h != said && fleet->config.progress)
			fleet->config.progress("waiting for host", h->name);
		said = h;
		if (ot_now_ns() >= until)
			return ot_err_new(OT_ERR_NOT_FOUND, "host %s has not answered within half a minute",
					  h->name);
		OT_TRY(fl_fleet_wait(fleet, wake_fd, until, &woken));
		if (woken)
			return ot_err_new(OT_ERR_BUSY, "interrupted");
		OT_TRY(pump_all(fleet));
	}
	return NULL;
}

struct ot_err *fl_fleet_prepare(struct fl_fleet *fleet, int wake_fd)
{
	fleet->is_strict = true;
	struct ot_err *err = prepare(fleet, wake_fd);

	fleet->is_strict = false;
	if (fleet->config.progress)
		fleet->config.progress(NULL, NULL);
	return err;
}

/* --- START ---------------------------------------------------------------------------------------------- */

struct ot_err *fl_fleet_start(struct fl_fleet *fleet)
{
	const uint64_t until = ot_now_ns() + FL_PREPARE_NS;
	const struct fl_host *h;
	uint32_t from = 0;
	bool woken, exited;
	int status;

	OT_TRY(fl_run_keep(fleet));
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		if (!fl_host_is_over(fleet->hosts[i]))
			OT_TRY(named(fleet->hosts[i], fl_host_begin(fleet->hosts[i])));
	fleet->is_started = true;
	OT_TRY(pump_all(fleet));
	while ((h = slowest(fleet, FL_HOST_RUNNING, &from))) {
		if (ot_now_ns() >= until)
			return ot_err_new(OT_ERR_NOT_FOUND, "host %s has not started within half a minute",
					  h->name);
		OT_TRY(fl_fleet_wait(fleet, -1, until, &woken));
		OT_TRY(fl_fleet_take(fleet, &exited, &status));
	}
	return NULL;
}

/* --- STOP ----------------------------------------------------------------------------------------------- */

static struct ot_err *ask_to_stop(struct fl_fleet *fleet)
{
	fleet->is_stopping = true;
	OT_TRY(fl_fleet_end_again(fleet));
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		if (!fl_host_is_over(fleet->hosts[i]) && !fleet->hosts[i]->merger)
			OT_TRY(fl_host_ask_to_stop(fleet->hosts[i]));
	return NULL;
}

static void lose_slow(struct fl_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		if (!fl_host_is_over(fleet->hosts[i]) && !fleet->hosts[i]->merger)
			fl_host_lose(fleet->hosts[i], "it does not end");
}

/* All data has arrived, so a merger that does not end is waited for only briefly. */
static struct ot_err *stop_mergers(struct fl_fleet *fleet)
{
	const uint64_t until = ot_now_ns() + FL_PARTING_NS;
	uint32_t from = 0;
	bool woken, exited;
	int status;

	for (uint32_t i = 0; i < fleet->nlinked; i++)
		if (fleet->linked[i]->merger && !fl_host_is_over(fleet->linked[i]))
			OT_TRY(fl_host_ask_to_stop(fleet->linked[i]));
	while (slowest(fleet, FL_HOST_ENDED, &from) && ot_now_ns() < until) {
		OT_TRY(fl_fleet_wait(fleet, -1, until, &woken));
		OT_TRY(fl_fleet_take(fleet, &exited, &status));
	}
	return NULL;
}

struct ot_err *fl_fleet_stop(struct fl_fleet *fleet, bool (*impatient)(void *arg), void *arg)
{
	bool woken, exited;
	int status;

	if (!fleet->is_started)
		return NULL;
	const uint64_t until = ot_now_ns() + FL_ENDING_NS;
	OT_TRY(fl_follow_stop(fleet));
	OT_TRY(ask_to_stop(fleet));
	OT_TRY(fl_fleet_take(fleet, &exited, &status));
	while (!fl_fleet_has_ended(fleet) && !(impatient && impatient(arg))) {
		OT_TRY(fl_fleet_wait(fleet, -1, ot_now_ns() + 100000000, &woken));
		OT_TRY(fl_fleet_take(fleet, &exited, &status));
		if (ot_now_ns() > until)
			lose_slow(fleet);
	}
	if (fl_fleet_has_ended(fleet))
		OT_TRY(stop_mergers(fleet));
	fleet->order.waits = false;
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		OT_TRY(fl_room_tell(fleet->hosts[i], UINT64_MAX));
	return fl_order_release(&fleet->order, UINT64_MAX, ot_now_ns());
}
