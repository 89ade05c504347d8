/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends the sums of all hosts, as the merger's own PROGRAM, ENABLED, NAMES and AGGREGATES: definitions
 * first. */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/merge/internal.h"

/* --- what they mean --------------------------------------------------------------------------------------- */

static bool aggregates(const struct dif_clause *clause)
{
	for (uint32_t i = 0; i < clause->nactions; i++)
		if (clause->actions[i].aggid)
			return true;
	return false;
}

/* A clause that the operator would reject from a host it would reject from a merger: it is omitted. */
static struct ot_err *check(struct fl_host *h, struct fl_program_there *p, uint32_t clause, bool *ret)
{
	*ret = false;
	if (!aggregates(&p->prog.clauses[clause]))
		return NULL;
	struct ot_err *err = fl_host_lay_out(h, p, clause);

	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	*ret = !err && p->layouts[clause]->naggs;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *put_enabled(struct fl_merge *m, const struct fl_kept *kept, uint32_t clause)
{
	/* of no single probe; the guest is the one that stands for the merger */
	const struct fl_enabled e = { kept->first_epid + clause, clause, 0, 0, "", "", "", "" };

	fl_put_enabled(&m->list, &e);
	if (m->list.failed)
		return ot_err_nomem();
	if (m->list.len < FL_BATCH)
		return NULL;
	struct ot_err *err = fl_merge_send_buf(m, FL_ENABLED, &m->list);

	ot_buf_clear(&m->list);
	return err;
}

/* Once for each program: give each of its aggregating clauses an EPID. */
static struct ot_err *announce(struct fl_merge *m, struct fl_host *h, struct fl_program_there *p,
			       struct fl_kept *kept)
{
	bool is_right;

	kept->announced = ot_arena_alloc(&m->fold.arena, p->prog.nclauses + 1);
	if (!kept->announced)
		return ot_err_nomem();
	memset(kept->announced, 0, p->prog.nclauses);
	kept->nclauses = p->prog.nclauses;
	kept->first_epid = m->fold.next_epid;
	m->fold.next_epid += kept->nclauses;
	m->fold.nown++;
	OT_TRY(fl_merge_send(m, FL_PROGRAM, kept->data, kept->len));
	ot_buf_clear(&m->list);
	for (uint32_t i = 0; i < kept->nclauses; i++) {
		OT_TRY(check(h, p, i, &is_right));
		if (!is_right)
			continue;
		kept->announced[i] = true;
		OT_TRY(put_enabled(m, kept, i));
	}
	struct ot_err *err = m->list.len ? fl_merge_send_buf(m, FL_ENABLED, &m->list) : NULL;

	ot_buf_clear(&m->list);
	return err;
}

struct ot_err *fl_sums_epid(struct fl_merge *m, struct fl_host *h, struct fl_program_there *p,
			    struct fl_kept *kept, uint32_t clause, uint32_t *ret)
{
	*ret = 0;
	if (!kept->announced && m->fold.nown == FL_MERGE_OWN)
		return NULL;
	if (!kept->announced)
		OT_TRY(announce(m, h, p, kept));
	if (clause < kept->nclauses && kept->announced[clause])
		*ret = kept->first_epid + clause;
	return NULL;
}

struct ot_err *fl_sums_names(struct fl_merge *m, size_t least)
{
	struct fl_names *names = &m->fold.names;

	if (names->fresh.failed)
		return ot_err_nomem();
	if (names->fresh.len < least)
		return NULL;
	struct ot_err *err = fl_merge_send_buf(m, FL_NAMES, &names->fresh);

	ot_buf_clear(&names->fresh);
	if (err || m->fold.said_overflow || !fl_names_overflowed(names))
		return err;
	m->fold.said_overflow = true;
	return fl_merge_say(m, "there are too many names in the hosts' stacks and symbols: further ones "
			       "are " FL_NAMES_OTHER);
}

/* --- the sums --------------------------------------------------------------------------------------------- */

static struct ot_err *send_batch(void *arg, const struct ot_buf *batch)
{
	return fl_merge_send_buf(arg, FL_AGGREGATES, batch);
}

static struct ot_err *send_losses(struct fl_merge *m)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	if (!m->fold.losses.n)
		return NULL;
	ot_buf_init(&out);
	fl_losses_take(&m->fold.losses, &out);
	return fl_merge_send_buf(m, FL_DROPS, &out);
}

static bool is_full(const struct fl_merge *m)
{
	return !m->broken && fl_link_pending(m->link) >= FL_MERGE_FLIGHT;
}

struct ot_err *fl_sums_send(struct fl_merge *m, bool now)
{
	struct fl_fold *fold = &m->fold;

	if (!m->has_fold || is_full(m) || (!now && ot_now_ns() < fold->sent_ns + m->opts.aggrate_ns))
		return NULL;
	OT_TRY(send_losses(m));
	if (!fold->gather.nkeys)
		return NULL;
	fold->sent_ns = ot_now_ns();
	OT_TRY(fl_sums_names(m, 1));
	return fl_gather_take(&fold->gather, FL_MERGE_AT_ONCE, send_batch, m);
}

uint64_t fl_sums_due_ns(const struct fl_merge *m)
{
	/* a full link wakes its user when it has room */
	if (!m->has_fold || is_full(m) || (!m->fold.gather.nkeys && !m->fold.losses.n))
		return UINT64_MAX;
	return m->fold.sent_ns + m->opts.aggrate_ns;
}
