/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight-serve: what runs on a host of a fleet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/host/worker.h"

enum { EXIT_USAGE = 2 };

static const char usage[] = "Usage: outsight-serve --stdio\n"
			    "       outsight-serve --help | --version\n"
			    "\n"
			    "One session of an operator, by messages on standard input and output: what\n"
			    "`outsight -g ssh://HOST/GUEST` runs on HOST. It has the rights of its user.\n";

/* How long an operator may be silent: a test can't wait for ten seconds each time. Never longer. */
static uint64_t lease_ns(void)
{
	const char *ms = getenv("OUTSIGHT_FLEET_LEASE_MS");
	const uint64_t ns = ms ? strtoull(ms, NULL, 10) * 1000000u : 0;

	return ns && ns < FL_LEASE_NS ? ns : FL_LEASE_NS;
}

static int fail(struct ot_err *err)
{
	fprintf(stderr, "outsight-serve: %s\n", ot_err_message(err));
	ot_err_destroy(err);
	return EXIT_FAILURE;
}

static int serve_stdio(void)
{
	char host[256] = "";
	const struct fl_worker_config config = {
		.host = host,
		.vmlinux =
		    getenv("OUTSIGHT_FLEET_VMLINUX"), /* for tests: their small guests have no symbols */
		.lease_ns = lease_ns(),
	};
	struct fl_carrier *carrier;
	struct fl_link *link;

	gethostname(host, sizeof(host) - 1);
	struct ot_err *err = fl_pipe_create(STDIN_FILENO, STDOUT_FILENO, &carrier);
	if (!err)
		err = fl_link_create(carrier, NULL, NULL, NULL, &link);
	if (err)
		return fail(err);
	int status = fl_worker_run(link, &config);
	fl_link_destroy(link);
	return status;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!strcmp(what, "--stdio"))
		return serve_stdio();
	if (!strcmp(what, "--help"))
		return fputs(usage, stdout) == EOF;
	if (!strcmp(what, "--version"))
		return puts("outsight-serve " OUTSIGHT_VERSION) == EOF;
	fputs(usage, stderr);
	return EXIT_USAGE;
}
