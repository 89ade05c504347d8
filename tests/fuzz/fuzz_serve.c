/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What outsight-serve reads besides signed messages: serve.conf, a file of hosts, a standing program's
 * limits, a session's ticket, and RUN as a session takes it. The first byte says which. Files are this
 * process's own: who may have written them is not looked for here.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/host/run.h"
#include "fleet/serve/conf.h"
#include "fleet/serve/standing/limits.h"
#include "fleet/serve/ticket.h"
#include "fleet/trust/known.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool was_read;

bool fuzz_seed_reached(void)
{
	return was_read;
}

/* A file with the input, by a path. */
static const char *file_of(const uint8_t *data, size_t len)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		if (fd < 0 || fchmod(fd, 0600))
			abort();
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, len, 0) != (ssize_t)len)
		abort();
	return path;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_patterns(const struct fl_patterns *p)
{
	must(p->count && p->count < FL_WORDS_MAX);
	for (size_t i = 0; i < p->count; i++)
		must(*p->items[i] && !strpbrk(p->items[i], " \t\n"));
}

static struct ot_err *read_conf(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_conf conf;

	OT_TRY(fl_conf_read(file_of(data, len), arena, &conf));
	must(fl_name_is_valid(conf.name) && conf.noperators <= FL_OPERATORS_MAX);
	must(conf.workers && conf.workers <= FL_WORKERS_MAX && *conf.key == '/' && *conf.state == '/');
	for (size_t i = 0; i < conf.noperators; i++) {
		const struct fl_conf_operator *o = &conf.operators[i];

		must(fl_name_is_valid(o->name) && fl_conf_find(&conf, o->key) == o && o->maxcost <= 100);
		check_patterns(&o->guests);
		check_patterns(&o->providers);
		must(fl_conf_same_rights(o, o));
	}
	return NULL;
}

static struct ot_err *read_hosts(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_known known;

	OT_TRY(fl_known_read(file_of(data, len), arena, &known));
	must(known.count <= FL_KNOWN_MAX);
	for (size_t i = 0; i < known.count; i++)
		must(fl_name_is_valid(known.items[i].name));
	return NULL;
}

static struct ot_err *read_limits(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_limits limits;

	OT_TRY(fl_limits_read(file_of(data, len), arena, &limits));
	must(limits.guests.count && limits.guests.count <= FL_GUESTS_MAX && limits.ttl_s);
	must(limits.maxcost && limits.maxcost <= 100 && limits.series && limits.series <= FL_SERIES_MAX);
	return NULL;
}

static struct ot_err *read_ticket(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_ticket ticket;

	OT_TRY(fl_ticket_get(data, len, arena, &ticket));
	must(strlen(ticket.session) <= FL_SESSION_TEXT && strlen(ticket.reply) <= FL_TEXT_MAX);
	return NULL;
}

static struct ot_err *read_run(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_run_here run;

	(void)arena;
	fl_run_here_init(&run);
	struct ot_err *err = fl_run_here_read(&run, data, len);

	if (!err) {
		must(run.texts.count && run.texts.count <= FL_TEXTS_MAX && run.args.count);
		for (size_t i = 0; i < run.texts.count; i++)
			must(run.texts.items[i].arg && run.texts.items[i].len <= FL_SOURCE_MAX);
	}
	fl_run_here_deinit(&run);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ot_err *(*const readers[])(const uint8_t *, size_t,
						 struct ot_arena *) = { read_conf, read_hosts, read_limits,
									read_ticket, read_run };
	struct ot_arena arena;

	if (!size)
		return 0;
	uint8_t *own = malloc(size); /* to the byte */

	must(own);
	memcpy(own, data + 1, size - 1);
	ot_arena_init(&arena);
	struct ot_err *err = readers[data[0] % OT_ARRAY_SIZE(readers)](own, size - 1, &arena);

	was_read = !err;
	ot_err_destroy(err);
	ot_arena_deinit(&arena);
	free(own);
	return 0;
}
