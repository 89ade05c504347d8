/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes on the data of one host unchanged, after fl_host has checked it. PROGRAM, ENABLED and NAMES wait
 * until a message refers to them: a program that only aggregates costs the operator nothing for each probe of
 * each host. The end of a host waits for the sums that include its last data.
 */
#include <string.h>

#include "base/clock.h"
#include "fleet/merge/internal.h"

struct ot_err *fl_relay_pass(struct fl_merge *m, const struct fl_member_here *member, enum fl_kind kind,
			     const void *data, size_t len)
{
	const struct fl_of of = { member->number, kind, { data, (uint32_t)len } };

	if (m->closing)
		return NULL;
	ot_buf_clear(&m->of);
	fl_put_of(&m->of, &of);
	if (m->of.failed)
		return ot_err_nomem();
	return fl_merge_send(m, FL_OF, m->of.data, m->of.len);
}

/* --- what a message refers to -------------------------------------------------------------------------------- */

/* Hosts with the same kernel have the same program: the operator needs each one before it can compile its
 * own. */
static struct ot_err *take_program(struct fl_merge *m, struct fl_member_here *member, const void *data,
				   size_t len)
{
	const uint32_t n = member->host->nprograms;
	struct fl_kept *kept;

	OT_TRY(fl_keeping_put(&m->kept, data, len, &kept));
	member->programs[n - 1] = kept;
	if (kept->sent || m->has_fold)
		return NULL;
	kept->sent = true;
	member->nprograms = n;
	return fl_relay_pass(m, member, FL_PROGRAM, data, len);
}

/* The last one includes the clauses of the earlier ones. */
static struct ot_err *pass_program(struct fl_merge *m, struct fl_member_here *member)
{
	const uint32_t n = member->host->nprograms;

	if (member->nprograms == n)
		return NULL;
	member->nprograms = n;
	return fl_relay_pass(m, member, FL_PROGRAM, member->programs[n - 1]->data,
			     member->programs[n - 1]->len);
}

static struct ot_err *pass_list(struct fl_merge *m, const struct fl_member_here *member, enum fl_kind kind,
				struct ot_buf *list, size_t least)
{
	struct ot_err *err = NULL;

	if (list->failed)
		return ot_err_nomem();
	if (list->len < least)
		return NULL;
	err = fl_relay_pass(m, member, kind, list->data, list->len);
	ot_buf_clear(list);
	return err;
}

static struct ot_err *pass_names(struct fl_merge *m, struct fl_member_here *member)
{
	const struct ot_map *names = &member->host->names;

	ot_buf_clear(&m->list);
	for (; member->nnames < names->count; member->nnames++) {
		const struct ot_map_entry *entry = names->entries[member->nnames];
		const struct fl_called *called = entry->value;
		struct fl_name name = { .text = called->text, .note = called->note ? called->note : "" };

		memcpy(&name.number, entry->key, sizeof(name.number));
		fl_put_name(&m->list, &name);
		OT_TRY(pass_list(m, member, FL_NAMES, &m->list, FL_BATCH));
	}
	return pass_list(m, member, FL_NAMES, &m->list, 1);
}

/* Add the element of an EPID that the operator does not know to m->list. */
static struct ot_err *want(struct fl_merge *m, struct fl_member_here *member, uint32_t epid)
{
	const struct vp_enabled *ecb = ot_map_get(&member->host->enabled, &epid, sizeof(epid));

	if (!ecb || ot_map_get(&member->enabled, &epid, sizeof(epid)))
		return NULL;
	const struct fl_enabled e = {
		.epid = epid,
		.clause = ecb->clause_index,
		.guest = (ecb->guest - FL_GUEST_BASE) % VP_GUESTS_MAX,
		.probe = ecb->probe->id,
		.provider = ecb->probe->provider,
		.module = ecb->probe->module,
		.function = ecb->probe->function,
		.name = ecb->probe->name,
	};

	if (!ot_map_put(&member->enabled, &epid, sizeof(epid), member))
		return ot_err_nomem();
	fl_put_enabled(&m->list, &e);
	if (m->list.len < FL_BATCH)
		return NULL;
	OT_TRY(pass_program(m, member));
	return pass_list(m, member, FL_ENABLED, &m->list, 1);
}

static struct ot_err *pass_wanted(struct fl_merge *m, struct fl_member_here *member)
{
	if (m->list.len || m->list.failed) {
		OT_TRY(pass_program(m, member));
		OT_TRY(pass_list(m, member, FL_ENABLED, &m->list, 1));
	}
	return pass_names(m, member);
}

/* --- data ---------------------------------------------------------------------------------------------------- */

/* The message was checked before: its elements are valid. */
static struct ot_err *want_all(struct fl_merge *m, struct fl_member_here *member, enum fl_kind kind,
			       const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_overload overload;
	struct fl_record record;
	struct fl_clock clock;
	struct fl_fault fault;

	if (kind == FL_OVERLOAD) {
		OT_TRY(fl_get_overload(data, len, arena, &overload));
		return want(m, member, overload.epid);
	}
	if (kind == FL_FAULTS) {
		while (fl_next_fault(&r, arena, &fault))
			OT_TRY(want(m, member, fault.epid));
		return NULL;
	}
	fl_get_clock(&r, &clock);
	while (fl_next_record(&r, arena, &record))
		OT_TRY(want(m, member, record.epid));
	return NULL;
}

static struct ot_err *pass_data(struct fl_merge *m, struct fl_member_here *member, enum fl_kind kind,
				const void *data, size_t len)
{
	struct ot_arena arena;

	ot_arena_init(&arena);
	ot_buf_clear(&m->list);
	struct ot_err *err = want_all(m, member, kind, data, len, &arena);

	if (!err)
		err = pass_wanted(m, member);
	if (!err)
		err = fl_relay_pass(m, member, kind, data, len);
	ot_arena_deinit(&arena);
	return err;
}

/* Was it not folded? */
static struct ot_err *is_alone(struct fl_merge *m, struct fl_member_here *member,
			       const struct fl_aggregate *a, bool *ret)
{
	const struct vp_enabled *ecb = ot_map_get(&member->host->enabled, &a->epid, sizeof(a->epid));
	const struct fl_folded *folded;

	*ret = false;
	for (uint32_t i = 0; ecb && i < ecb->layout->naggs; i++) {
		if (ecb->layout->aggs[i].action != a->action)
			continue;
		OT_TRY(fl_fold_of(m, ecb, &ecb->layout->aggs[i], &folded));
		*ret = !folded->pattern;
		break;
	}
	return NULL;
}

/* The elements that were not folded, and the definitions that they refer to. */
static struct ot_err *pick_alone(struct fl_merge *m, struct fl_member_here *member, const void *data,
				 size_t len, struct ot_buf *out)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_aggregate a;
	struct ot_arena arena;
	struct ot_err *err = NULL;
	bool alone;

	ot_arena_init(&arena);
	ot_buf_clear(&m->list);
	while (!err && fl_next_aggregate(&r, &arena, &a)) {
		err = is_alone(m, member, &a, &alone);
		if (err || !alone)
			continue;
		fl_put_aggregate(out, &a);
		err = want(m, member, a.epid);
	}
	ot_arena_deinit(&arena);
	return err;
}

static struct ot_err *pass_alone(struct fl_merge *m, struct fl_member_here *member, const void *data,
				 size_t len)
{
	struct ot_buf out;

	if (!m->fold.alone)
		return NULL;
	m->fold.alone = false;
	ot_buf_init(&out);
	struct ot_err *err = pick_alone(m, member, data, len, &out);

	if (!err)
		err = pass_wanted(m, member);
	if (!err)
		err = pass_list(m, member, FL_AGGREGATES, &out, 1);
	ot_buf_deinit(&out);
	return err;
}

/* --- from a host ---------------------------------------------------------------------------------------------- */

static struct ot_err *run(void *arg, const struct fl_host *h, struct ot_buf *out)
{
	struct fl_merge *m = arg;
	struct fl_member_here *member = m->by_host[h->index];

	ot_buf_append(out, member->run.data, member->run.len);
	ot_buf_deinit(&member->run);
	return out->failed ? ot_err_nomem() : NULL;
}

static struct ot_err *took(void *arg, struct fl_host *h, enum fl_kind kind, const void *data, size_t len)
{
	struct fl_merge *m = arg;
	struct fl_member_here *member = m->by_host[h->index];

	if (m->closing || !member)
		return NULL;
	fl_merge_keep_alive(m);
	switch ((unsigned)kind) {
	case FL_PROGRAM:
		return take_program(m, member, data, len);
	case FL_ENABLED:
	case FL_NAMES:
		return NULL; /* the host's struct fl_host has them */
	case FL_AGGREGATES:
		return pass_alone(m, member, data, len);
	case FL_RECORDS:
	case FL_FAULTS:
	case FL_OVERLOAD:
		return pass_data(m, member, kind, data, len);
	case FL_ENDED:
		fl_members_end(m, member, FL_ENDED, data, len);
		return NULL;
	default:
		member->told |= kind == FL_REFUSED;
		return fl_relay_pass(m, member, kind, data, len);
	}
}

static void lost(void *arg, struct fl_host *h, const char *why)
{
	struct fl_merge *m = arg;

	if (m->by_host[h->index])
		fl_members_lose(m, m->by_host[h->index], why);
}

void fl_relay_init(struct fl_merge *m)
{
	m->tap = (struct fl_tap){ m, run, took, lost };
	m->fleet->tap = &m->tap;
}

/* --- from the operator ---------------------------------------------------------------------------------------- */

/* To a host whose link may just have failed. */
static struct ot_err *told(struct fl_host *h, struct ot_err *err)
{
	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	fl_host_lose(h, ot_err_message(err));
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *start(struct fl_merge *m, struct fl_host *h)
{
	if (!m->has_fold || !h || h->state < FL_HOST_READY ||
	    (h->state > FL_HOST_READY && !fl_host_is_over(h)))
		return ot_err_new(OT_ERR_BAD_DATA, "START out of order");
	if (fl_host_is_over(h))
		return NULL;
	return told(h, fl_host_begin(h));
}

static struct ot_err *stop(struct fl_merge *m, struct fl_member_here *member)
{
	struct fl_host *h = member->host;

	if (!h)
		fl_members_lose(m, member, "the operator stopped waiting for it");
	return h && !fl_host_is_over(h) ? told(h, fl_host_ask_to_stop(h)) : NULL;
}

struct ot_err *fl_relay_take(struct fl_merge *m, const void *data, size_t len)
{
	struct ot_arena arena;
	struct fl_of of;

	ot_arena_init(&arena);
	struct ot_err *err = fl_get_of(data, len, &arena, &of);

	ot_arena_deinit(&arena);
	OT_TRY(err);
	struct fl_member_here *member = &m->members[of.member];

	if (member->state == FL_MEMBER_NONE || of.body.len || (of.kind != FL_START && of.kind != FL_STOP))
		return ot_err_new(OT_ERR_BAD_DATA, "%s that is not for a host", fl_kind_name(of.kind));
	if (member->state == FL_MEMBER_OVER)
		return NULL; /* the operator is about to receive its end */
	return of.kind == FL_START ? start(m, member->host) : stop(m, member);
}

/* --- ends ------------------------------------------------------------------------------------------------------ */

static struct ot_err *pass_ending(struct fl_merge *m, struct fl_member_here *member)
{
	const unsigned ending = member->ending;

	if (member->last.failed)
		return ot_err_nomem();
	member->told = true;
	member->ending = 0;
	return ending == FL_GONE ? fl_merge_send(m, FL_GONE, member->last.data, member->last.len)
				 : fl_relay_pass(m, member, FL_ENDED, member->last.data, member->last.len);
}

/* May the end of another host follow soon? */
static bool is_any_left(const struct fl_merge *m)
{
	for (uint32_t i = 0; i < FL_MEMBERS_MAX; i++)
		if (m->members[i].state == FL_MEMBER_JOINED || m->members[i].state == FL_MEMBER_INVITED)
			return true;
	return false;
}

struct ot_err *fl_relay_endings(struct fl_merge *m)
{
	if (!m->endings_ns || (is_any_left(m) && ot_now_ns() < m->endings_ns + FL_MERGE_ENDINGS))
		return NULL;
	OT_TRY(fl_sums_send(m, true));
	if (m->has_fold && (m->fold.gather.nkeys || m->fold.losses.n))
		return NULL; /* when the link has room again */
	m->endings_ns = 0;
	for (uint32_t i = 0; i < FL_MEMBERS_MAX; i++)
		if (m->members[i].ending)
			OT_TRY(pass_ending(m, &m->members[i]));
	return NULL;
}
