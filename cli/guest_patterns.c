/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -g 'web*' and -g all: the guests that run when the session begins. */
#include "cli/guest_patterns.h"

#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "dif/obj/program.h"
#include "vmm-probe/hosts/machines.h"

bool cli_is_guest_pattern(const char *spec)
{
	/* a source ("dump:ram[1]") and a socket's path are no names */
	return !strcmp(spec, "all") || (dif_glob_is_pattern(spec) && !strpbrk(spec, ":/"));
}

static const char *name_of(const struct vp_machine *m)
{
	return *m->domain_name ? m->domain_name : m->guest.name;
}

/* Whose name is taken is not asked: a pattern means every guest of that name. */
static bool is_meant(const char *pattern, const struct vp_machine *m)
{
	if (!m->guest.pid || m->guest.rank == VP_RANK_PID ||
	    (m->how != VP_HOW_NOW && m->how != VP_HOW_ATTACH))
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
static const struct vp_machine *find_first(const char *pattern, const struct vp_machines *machines)
{
	const struct vp_machine *first = NULL;

	for (size_t i = 0; i < machines->count; i++) {
		const struct vp_machine *m = &machines->items[i];

		if (is_meant(pattern, m) && (!first || m->guest.rank < first->guest.rank))
			first = m;
	}
	return first;
}

/* Guests of one session share its variables. Whom the operator trusts is one owner, of the others each user
 * is. */
static bool is_one_owner(const struct vp_guest_info *a, const struct vp_guest_info *b)
{
	return a->rank == b->rank && (a->rank == VP_RANK_OWN || a->uid == b->uid);
}

/* One that can't be traced does not keep the others from it. */
static struct ot_err *attach(struct vp_session *s, const struct vp_machine *m, uint32_t *attached)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", m->guest.pid);
	struct ot_err *err = vp_session_attach(s, pid);

	if (!err) {
		++*attached;
		return NULL;
	}
	/* what a guest's own bytes exceed is its own limit */
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || vp_session_nguests(s) == VP_GUESTS_MAX)
		return err;
	cli_error("%s is not traced: %s", name_of(m), ot_err_message(err));
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *attach_all(struct vp_session *s, const char *pattern,
				 const struct vp_machines *machines)
{
	const struct vp_machine *first = find_first(pattern, machines);
	uint32_t attached = 0;

	for (size_t i = 0; i < machines->count; i++) {
		const struct vp_machine *m = &machines->items[i];

		if (!is_meant(pattern, m))
			continue;
		if (is_attached(s, m->guest.pid))
			attached++;
		else if (is_one_owner(&m->guest, &first->guest))
			OT_TRY(attach(s, m, &attached));
		else /* it shares the session's variables with the others, and its owner may have chosen the
			name for that */
			cli_error("%s (PID %u) belongs to uid %u, and is not traced with the others: -g %u "
				  "means it",
				  name_of(m), m->guest.pid, m->guest.uid, m->guest.pid);
	}
	if (attached)
		return NULL;
	return ot_err_new(
	    OT_ERR_NOT_FOUND,
	    "-g %s: no running guest that can be traced has such a name; 'outsight guests' lists all",
	    pattern);
}

struct ot_err *cli_attach_guests(struct vp_session *s, const char *pattern)
{
	struct vp_machines machines;

	OT_TRY(vp_machines_list(NULL, &machines));
	struct ot_err *err = attach_all(s, pattern, &machines);

	vp_machines_deinit(&machines);
	return err;
}
