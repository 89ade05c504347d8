/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of outsight-serve. */
#include <stdio.h>

#include "base/log.h"
#include "fleet/serve/serve.h"

static bool verbose;

void fl_serve_log_verbosely(void)
{
	verbose = true;
}

bool fl_serve_log_is_verbose(void)
{
	return verbose;
}

void fl_serve_log(const char *line)
{
	if (!ot_log_send(line, true) || verbose)
		fprintf(stderr, "outsight-serve: %s\n", line);
}

int fl_serve_fail(struct ot_err *err)
{
	fprintf(stderr, "outsight-serve: %s\n", ot_err_message(err));
	ot_err_destroy(err);
	return FL_EXIT_FAILED;
}
