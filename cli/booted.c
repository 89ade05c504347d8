/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting until the kernel of a guest that was booted for this session can be read, or reporting why it never
 * can. */
#include <time.h>

#include "cli/signals.h"
#include "cli/trace.h"
#include "cli/tracing.h"
#include "consumer/messages.h"

/* How long a guest that was just booted may take until its kernel can be read. */
#define BOOT_SECONDS 120
/* A VMM that could not start its guest needs a moment to end. */
#define END_MS       500

/* Until the kernel is up, its data is absent or incomplete. */
static bool may_come(const struct ot_err *err)
{
	switch (ot_err_code(err)) {
	case OT_ERR_NOT_FOUND:
	case OT_ERR_BAD_DATA:
	case OT_ERR_FAULT:
	case OT_ERR_BUSY:
	case OT_ERR_GUEST_GONE: /* alive() decides: the firmware may be changing the machine */
		return true;
	default:
		return false;
	}
}

static struct ot_err *trouble(const struct cli_booted *booted, int wait_ms)
{
	return booted->trouble ? booted->trouble(booted->arg, wait_ms) : NULL;
}

/* Is waiting pointless? The reason then replaces @err. */
static bool gives_up(const struct cli_booted *booted, time_t deadline, struct ot_err **err)
{
	struct ot_err *why = NULL;

	if (cli_signals_pending())
		why = ot_err_new(OT_ERR_BUSY, "interrupted before the guest's kernel was up");
	else if (may_come(*err))
		why = trouble(booted, 0);
	else
		why = trouble(booted, END_MS);
	if (why) {
		ot_err_destroy(*err);
		*err = why;
		return true;
	}
	if (may_come(*err) && time(NULL) > deadline) {
		*err = ot_err_prefix(*err, "the guest's kernel could not be read within %d s", BOOT_SECONDS);
		return true;
	}
	return !may_come(*err) || !booted->alive(booted->arg);
}

struct ot_err *cli_run_attach_booted(struct cli_run *r)
{
	/* -A: as early as possible */
	struct timespec pause = { .tv_nsec = r->inv->from_boot ? 10000000 : 200000000 };
	time_t deadline = time(NULL) + BOOT_SECONDS;
	struct ot_err *err;

	while ((err = vp_session_attach(r->session, r->booted->socket))) {
		if (gives_up(r->booted, deadline, &err))
			return err;
		ot_err_destroy(err);
		con_progress(NULL, "waiting for the guest's kernel");
		nanosleep(&pause, NULL);
	}
	return NULL;
}
