/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -g 'web*' and -g all: the guests of this host that match a pattern, and those that run when the session
 * begins. */
#include "consumer/guest_patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dif/obj/program.h"

bool con_is_guest_pattern(const char *spec)
{
	/* a source ("dump:ram[1]") and a socket's path are not names */
	return !strcmp(spec, "all") || (dif_glob_is_pattern(spec) && !strpbrk(spec, ":/"));
}

static const char *name_of(const struct vp_machine *m)
{
	return *m->domain_name ? m->domain_name : m->guest.name;
}

/* Duplicate names are allowed: a pattern selects every guest with the name. A guest that may not be traced
 * matches no pattern, and is not reported: its existence is not revealed. */
static bool matches(const char *pattern, const struct con_guest_filter *filter, const struct vp_machine *m)
{
	if (!m->guest.pid || m->guest.rank == VP_RANK_PID ||
	    (m->how != VP_HOW_NOW && m->how != VP_HOW_ATTACH))
		return false;
	if (filter->may && !filter->may(filter->arg, name_of(m)))
		return false;
	return !strcmp(pattern, "all") || dif_glob_match(pattern, name_of(m));
}

static bool is_attached(const struct vp_session *s, uint32_t pid)
{
	for (uint32_t i = 0; i < vp_session_nguests(s); i++)
		if (vp_session_guest_pid(s, i) == pid)
			return true;
	return false;
}

/* The first guest of the highest rank: its owner's are traced. */
static const struct vp_machine *find_first(const char *pattern, const struct con_guest_filter *filter,
					   const struct vp_machines *machines)
{
	const struct vp_machine *first = NULL;

	for (size_t i = 0; i < machines->count; i++) {
		const struct vp_machine *m = &machines->items[i];

		if (matches(pattern, filter, m) && (!first || m->guest.rank < first->guest.rank))
			first = m;
	}
	return first;
}

/* One guest's clause can end the session, and its owner chooses its name. The users whom the operator trusts
 * count as one owner, every other user as one each. */
static bool is_owners(const struct con_guest_owner *owner, const struct vp_guest_info *guest)
{
	return owner->rank == guest->rank && (owner->rank == VP_RANK_OWN || owner->uid == guest->uid);
}

static struct ot_err *of_another(const struct vp_machine *m)
{
	return ot_err_new(OT_ERR_PERMISSION,
			  "%s (PID %u) belongs to uid %u, and is not traced with the others: -g %u means it",
			  name_of(m), m->guest.pid, m->guest.uid, m->guest.pid);
}

/* The guest that is being attached, and the receiver of messages. */
struct attaching {
	struct vp_session *s;
	const char *pattern;
	const struct con_guest_filter *filter;
};

/* @why is consumed. */
static void report(const struct attaching *a, struct ot_err *why)
{
	a->filter->say(a->filter->arg, ot_err_message(why));
	ot_err_destroy(why);
}

/* A guest that can't be traced does not prevent tracing the others. */
static struct ot_err *attach(const struct attaching *a, const struct vp_machine *m, uint32_t *attached)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", m->guest.pid);
	struct ot_err *err = vp_session_attach(a->s, pid);

	if (!err) {
		++*attached;
		return NULL;
	}
	/* a limit that a guest's own bytes exceed is its own */
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || vp_session_nguests(a->s) == VP_GUESTS_MAX)
		return err;
	report(a, ot_err_prefix(err, "%s is not traced", name_of(m)));
	return NULL;
}

static struct ot_err *attach_all(const struct attaching *a, const struct vp_machines *machines,
				 struct con_guest_owner *ret_owner)
{
	const struct vp_machine *first = find_first(a->pattern, a->filter, machines);
	uint32_t attached = 0;

	if (first)
		*ret_owner = (struct con_guest_owner){ first->guest.rank, first->guest.uid };
	for (size_t i = 0; i < machines->count; i++) {
		const struct vp_machine *m = &machines->items[i];

		if (!matches(a->pattern, a->filter, m))
			continue;
		if (is_attached(a->s, m->guest.pid)) {
			attached++;
		} else if (!is_owners(ret_owner, &m->guest)) {
			report(a, of_another(m));
		} else {
			OT_TRY(attach(a, m, &attached));
		}
	}
	if (attached)
		return NULL;
	return ot_err_new(
	    OT_ERR_NOT_FOUND,
	    "-g %s: no running guest that can be traced has such a name; 'outsight guests' lists all",
	    a->pattern);
}

struct ot_err *con_attach_guests(struct vp_session *s, const char *pattern,
				 const struct con_guest_filter *filter, struct con_guest_owner *ret_owner)
{
	const struct attaching a = { s, pattern, filter };
	struct vp_machines machines;

	OT_TRY(vp_machines_list(NULL, &machines));
	struct ot_err *err = attach_all(&a, &machines, ret_owner);

	vp_machines_deinit(&machines);
	return err;
}

struct ot_err *con_guest_matches(const char *pattern, const struct con_guest_filter *filter,
				 const struct con_guest_owner *owner, const struct vp_machine *m, bool *ret)
{
	*ret = matches(pattern, filter, m);
	return *ret && !is_owners(owner, &m->guest) ? of_another(m) : NULL;
}
