/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of liboutsight: a handle without a guest, where BEGIN, END and ticks fire. */
#ifndef TESTS_UNIT_LIB_FIXTURE_H
#define TESTS_UNIT_LIB_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <outsight/outsight.h>

/* All that was written, for tests that look at it as a whole. */
struct lib_text {
	char text[4096];
	size_t len;
	unsigned calls;
};

static inline int lib_keep_text(const dtrace_bufdata_t *data, void *arg)
{
	struct lib_text *t = arg;

	t->calls++;
	t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s", data->dtbda_buffered);
	assert_true(t->len < sizeof(t->text));
	return DTRACE_HANDLE_OK;
}

static inline dtrace_hdl_t *lib_open(void)
{
	int error = 0;
	dtrace_hdl_t *h = dtrace_open(DTRACE_VERSION, 0, &error);

	assert_non_null(h);
	assert_int_equal(error, 0);
	assert_int_equal(dtrace_setopt(h, "guest", "none"), 0);
	return h;
}

static inline void lib_ok(dtrace_hdl_t *h, int result)
{
	if (result)
		fail_msg("%d: %s", dtrace_errno(h), dtrace_errmsg(h, dtrace_errno(h)));
}

static inline void lib_program(dtrace_hdl_t *h, const char *text)
{
	dtrace_prog_t *prog = dtrace_program_strcompile(h, text, DTRACE_PROBESPEC_NAME, 0, 0, NULL);

	lib_ok(h, prog ? 0 : -1);
	lib_ok(h, dtrace_program_exec(h, prog, NULL));
}

/* Trace until the program calls exit(). */
static inline void lib_run(dtrace_hdl_t *h, dtrace_consume_probe_f *probe, dtrace_consume_rec_f *rec,
			   void *arg)
{
	dtrace_workstatus_t status;

	lib_ok(h, dtrace_go(h));
	while ((status = dtrace_work(h, NULL, probe, rec, arg)) == DTRACE_WORKSTATUS_OKAY)
		dtrace_sleep(h);
	lib_ok(h, status == DTRACE_WORKSTATUS_DONE ? 0 : -1);
}

#endif
