/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of guests' names. */
#ifndef CONSUMER_GUEST_PATTERNS_H
#define CONSUMER_GUEST_PATTERNS_H

#include "vmm-probe/hosts/machines.h"
#include "vmm-probe/session/session.h"

/** Does -g's argument mean guests by a pattern, or all? */
bool con_is_guest_pattern(const char *spec);

/* Whose guests a pattern means. */
struct con_guest_owner {
	enum vp_rank rank;
	uint32_t uid;
};

/* Which of the guests that a pattern means may be traced, and who hears of those that can't be. */
struct con_guest_filter {
	bool (*may)(void *arg, const char *name); /* any thread; NULL: all of them may */
	void (*say)(void *arg, const char *text);
	void *arg;
};

/** Attach every running guest that @p pattern means and that is not attached yet: of several owners those of
 * the highest rank (enum vp_rank), in *ret_owner. One that can't be attached is left out, and
 * filter->say gets a sentence; one that may not be traced is meant by no pattern. NOT_FOUND: there is none.
 */
OT_MUST_CHECK struct ot_err *con_attach_guests(struct vp_session *s, const char *pattern,
					       const struct con_guest_filter *filter,
					       struct con_guest_owner *ret_owner);

/** Does @p pattern mean this guest, which started later? An error: it does, but it is another owner's.
 * Any thread. */
OT_MUST_CHECK struct ot_err *con_is_guest_meant(const char *pattern, const struct con_guest_filter *filter,
						const struct con_guest_owner *owner,
						const struct vp_machine *m, bool *ret);

#endif
