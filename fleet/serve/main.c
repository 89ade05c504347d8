/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight-serve: what runs on a host of a fleet, and keys. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fleet/host/worker.h"
#include "fleet/serve/serve.h"

static const char usage[] =
    "Usage: outsight-serve [--merge] [--conf FILE] [--nats URL] [--verbose]\n"
    "       outsight-serve --check [--merge] [--conf FILE]\n"
    "       outsight-serve --stdio\n"
    "       outsight-serve --make-key FILE | --show-key FILE\n"
    "       outsight-serve --help | --version\n"
    "\n"
    "Without --stdio: serve the guests of this host to the operators of serve.conf, through a NATS server.\n"
    "\n"
    "  --merge          trace no guests: add up the aggregations of an operator's hosts\n"
    "  --conf FILE      read this file instead of " FL_CONF_PATH ", or " FL_MERGE_CONF_PATH " with --merge\n"
    "  --nats URL       use this NATS server instead of the file's: nats://HOST:PORT\n"
    "  --verbose        also write log messages to standard error\n"
    "  --check          check serve.conf and the host's key, and report errors\n"
    "  --stdio          serve one session on standard input and output, with the rights of its user:\n"
    "                   `outsight -g ssh://HOST/GUEST` runs this on HOST\n"
    "  --make-key FILE  generate a secret key, of this host or of an operator, and print its public part\n"
    "  --show-key FILE  print the public part of a key\n";

static int serve_stdio(void)
{
	char host[256] = "";
	const struct fl_worker_config config = { .host = host,
						 .vmlinux = fl_serve_vmlinux(),
						 .lease_ns = fl_serve_lease_ns() };
	struct fl_carrier *carrier;
	struct fl_link *link;

	gethostname(host, sizeof(host) - 1);
	struct ot_err *err = fl_pipe_create(STDIN_FILENO, STDOUT_FILENO, &carrier);
	if (!err)
		err = fl_link_create(carrier, NULL, NULL, NULL, &link);
	if (err)
		return fl_serve_fail(err);
	int status = fl_worker_run(link, &config);
	fl_link_destroy(link);
	return status;
}

static int print_key(struct ot_err *err, struct fl_identity *id)
{
	char text[FL_PUBLIC_TEXT];

	if (err)
		return fl_serve_fail(err);
	fl_public_text(id->public, text);
	fl_identity_wipe(id);
	return puts(text) == EOF || fflush(stdout) ? FL_EXIT_FAILED : FL_EXIT_OK;
}

static int make_key(const char *path)
{
	struct fl_identity id;
	struct ot_err *err = fl_identity_make(path, &id);

	return print_key(ot_err_prefix(err, "no key is made"), &id);
}

static int show_key(const char *path)
{
	struct fl_identity id;

	return print_key(fl_identity_read(path, &id), &id);
}

static struct ot_err *check_files(const char *path, bool merges, struct ot_arena *arena, struct fl_conf *conf)
{
	struct fl_identity id;

	OT_TRY((merges ? fl_conf_read_merger : fl_conf_read)(path, arena, conf));
	if (!merges && !conf->nats && conf->metrics.any.sa_family)
		return NULL; /* this host's key is not needed */
	OT_TRY(fl_identity_read(conf->key, &id));
	fl_identity_wipe(&id);
	return NULL;
}

/* A merger does not check what a host allows an operator. */
static void tell_useless(const char *path, const struct fl_conf *conf)
{
	for (size_t i = 0; i < conf->noperators; i++) {
		const struct fl_conf_operator *o = &conf->operators[i];

		if (o->guests.count || o->providers.count || o->destructive || o->user_memory || o->maxcost ||
		    o->ttl_s || o->bytes_per_s)
			printf("%s:%u: operator %s: lines about guests have no effect on a merger\n", path,
			       o->line, o->name);
	}
	if (conf->metrics.any.sa_family)
		printf("%s: a merger serves no metrics\n", path);
}

static int check(const char *path, bool merges)
{
	struct fl_conf conf;
	struct ot_arena arena;
	int status = FL_EXIT_OK;

	ot_arena_init(&arena);
	struct ot_err *err = check_files(path, merges, &arena, &conf);

	if (err) {
		status = fl_serve_fail(err);
	} else {
		printf("%s: %s, %zu operators, %s\n", path, conf.name, conf.noperators,
		       conf.nats ? conf.nats : "no broker");
		if (merges)
			tell_useless(path, &conf);
	}
	ot_arena_deinit(&arena);
	return status;
}

enum {
	OPT_CONF = 256,
	OPT_NATS,
	OPT_VERBOSE,
	OPT_MERGE,
	OPT_CHECK,
	OPT_STDIO,
	OPT_MAKE,
	OPT_SHOW,
	OPT_HELP,
	OPT_VERSION
};

static const struct option options[] = {
	{ "conf", required_argument, NULL, OPT_CONF },
	{ "nats", required_argument, NULL, OPT_NATS },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "stdio", no_argument, NULL, OPT_STDIO },
	{ "make-key", required_argument, NULL, OPT_MAKE },
	{ "show-key", required_argument, NULL, OPT_SHOW },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "merge", no_argument, NULL, OPT_MERGE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static int misused(void)
{
	fputs(usage, stderr);
	return FL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *conf = NULL, *nats = NULL, *file = NULL;
	bool merges = false;
	int opt, what = 0;

	if (argc == 4 && !strcmp(argv[1], "--session")) /* the daemon's own: workers.c */
		return fl_serve_session(argv[2], argv[3]);
	if (argc == 2 && !strcmp(argv[1], "--list")) /* the same: guests.c */
		return fl_serve_list();
	if (argc >= 3 && !strcmp(argv[1], "--standing")) { /* the same: metrics.c */
		if (argc > 3)
			fl_serve_log_verbosely();
		return fl_serve_metrics(argv[2]);
	}
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == OPT_CONF)
			conf = optarg;
		else if (opt == OPT_NATS)
			nats = optarg;
		else if (opt == OPT_MERGE)
			merges = true;
		else if (opt == OPT_VERBOSE)
			fl_serve_log_verbosely();
		else if (opt == '?' || what)
			return misused();
		else
			what = opt, file = optarg;
	}
	if (optind != argc || (what && what != OPT_CHECK && argc > 2 + !!file))
		return misused();
	if (!conf)
		conf = merges ? FL_MERGE_CONF_PATH : FL_CONF_PATH;
	switch (what) {
	case OPT_STDIO:
		return serve_stdio();
	case OPT_MAKE:
		return make_key(file);
	case OPT_SHOW:
		return show_key(file);
	case OPT_CHECK:
		return check(conf, merges);
	case OPT_HELP:
		return fputs(usage, stdout) == EOF;
	case OPT_VERSION:
		return puts("outsight-serve " OUTSIGHT_VERSION) == EOF;
	default:
		return fl_serve_daemon(conf, nats, merges);
	}
}
