/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that start while a session runs and match a pattern: the program is compiled for their kernels and
 * enabled in them. A thread attaches them (vmm-probe/attach/newcomers.h); everything here runs in the
 * session's thread, between two polls.
 *
 *   con_joining_create ─► con_joining_attach … ─► con_joining_await ─► session enabled and started ─►
 * con_joining_start ─► con_joining_take after each poll … ─► con_joining_stop ─► session destroyed ─►
 * con_joining_destroy
 */
#ifndef CONSUMER_JOINING_H
#define CONSUMER_JOINING_H

#include "consumer/compile.h"

struct con_joining;

/* Whose session it is; all of it is borrowed. */
struct con_joining_config {
	struct vp_session *session;
	struct con_compilation *comp;
	/** con_compile_joining() into @p comp: a guest runs a kernel that no other runs. An error's text is
	 * the reason why it is not traced. */
	struct ot_err *(*compile)(void *arg);
	/** A guest has joined: guest number @p guest of the session, named @p name. */
	void (*joined)(void *arg, uint32_t guest, const char *name);
	/** May a guest of this name be traced? Any thread. NULL: all may. */
	bool (*may)(void *arg, const char *name);
	/** A sentence on a guest that is not traced. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

OT_MUST_CHECK struct ot_err *con_joining_create(const struct con_joining_config *config,
						struct con_joining **ret);

/** Attach the guests that match @p pattern (borrowed) now, as con_attach_guests() does. */
OT_MUST_CHECK struct ot_err *con_joining_attach(struct con_joining *j, const char *pattern);

/** Let guests that match later join; before the session is enabled. Without this none does. */
OT_MUST_CHECK struct ot_err *con_joining_await(struct con_joining *j);
/** Was that called? @p j NULL: no. */
bool con_joining_awaits(const struct con_joining *j);

/** Start the thread that searches for them; nothing without con_joining_await(). @p j NULL is fine, also in
 * the functions below. */
OT_MUST_CHECK struct ot_err *con_joining_start(struct con_joining *j);
/** Add the guests that were found to the session. For a guest that can't be added, @p say gets the reason. */
void con_joining_take(struct con_joining *j);
/** Stop the search; waits for an attempt that is under way. */
void con_joining_stop(struct con_joining *j);
/** Stop, and free. After the session was destroyed, which owns the guests that joined. */
void con_joining_destroy(struct con_joining *j);

#endif
