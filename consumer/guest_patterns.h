/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of guests' names. */
#ifndef CONSUMER_GUEST_PATTERNS_H
#define CONSUMER_GUEST_PATTERNS_H

#include "vmm-probe/hosts/machines.h"
#include "vmm-probe/session/session.h"

/** Is -g's argument a pattern of guests, or `all`? */
bool con_is_guest_pattern(const char *spec);

/* The owner of a pattern's guests. */
struct con_guest_owner {
	enum vp_rank rank;
	uint32_t uid;
};

/* Which of a pattern's guests may be traced, and the reporter of those that can't be. */
struct con_guest_filter {
	bool (*may)(void *arg, const char *name); /* any thread; NULL: all of them may */
	void (*say)(void *arg, const char *text);
	void *arg;
};

/** Attach every running guest that matches @p pattern and is not attached yet: of several owners those of the
 * highest rank (enum vp_rank), in *ret_owner. One that can't be attached is left out, and filter->say gets a
 * sentence; a guest that may not be traced matches no pattern. NOT_FOUND: there is none.
 */
OT_MUST_CHECK struct ot_err *con_attach_guests(struct vp_session *s, const char *pattern,
					       const struct con_guest_filter *filter,
					       struct con_guest_owner *ret_owner);

/** Does this guest, which started later, match @p pattern? An error: it does, but it is another owner's. Any
 * thread. */
OT_MUST_CHECK struct ot_err *con_guest_matches(const char *pattern, const struct con_guest_filter *filter,
					       const struct con_guest_owner *owner,
					       const struct vp_machine *m, bool *ret);

#endif
