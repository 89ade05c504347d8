/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of metrics: the contents of programs' files, and this host's own. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "fleet/serve/standing/families.h"
#include "fleet/serve/standing/internal.h"

/* The present contents of the file; NULL: there is none yet. */
static struct ot_err *read_file(const struct fl_standing *s, const struct fl_program *p, char **ret,
				size_t *ret_len)
{
	ot_auto(ot_buf_deinit) struct ot_buf path = { 0 };
	struct stat st;

	ot_buf_init(&path);
	fl_program_metrics_path(s, p, &path);
	ot_auto_close int fd = open(ot_buf_str(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	*ret = NULL;
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &st))
		return ot_err_os(errno, "%s", ot_buf_str(&path));
	if (!S_ISREG(st.st_mode))
		return ot_err_new(OT_ERR_BAD_DATA, "%s is not a plain file", ot_buf_str(&path));
	if ((uint64_t)st.st_size > p->limits.bytes)
		return ot_err_new(OT_ERR_LIMIT,
				  "its metrics are left out: they exceed its limit of %" PRIu64 " bytes",
				  p->limits.bytes);
	return ot_read_fd(fd, ot_buf_str(&path), (size_t)p->limits.bytes, ret, ret_len);
}

static struct ot_err *take_program(const struct fl_standing *s, struct fl_program *p, struct fl_families *f)
{
	ot_auto_free char *text = NULL;
	bool was_whole = !p->refused;
	size_t len = 0;

	p->refused = 0;
	if (p->state != FL_PROGRAM_RUNNING)
		return NULL;
	struct ot_err *err = read_file(s, p, &text, &len);

	if (err) {
		p->refused = 1;
		if (was_whole)
			fl_standing_say(s, p, "%s", ot_err_message(err));
		ot_err_destroy(err);
		return NULL;
	}
	if (!text)
		return NULL;
	p->failing = false; /* it works again */
	OT_TRY(fl_families_take(f, p->name, text, len, &p->refused));
	if (p->refused && was_whole)
		fl_standing_say(s, p,
				"%" PRIu64
				" families or lines of its metrics are left out: another program has "
				"their names with another type, or they are none",
				p->refused);
	return NULL;
}

/* --- this host's own --------------------------------------------------------------------------------------
 */

static void put_head(struct ot_buf *out, const char *name, const char *type, const char *help)
{
	ot_buf_printf(out, "# HELP " FL_OWN_METRICS "%s %s\n# TYPE " FL_OWN_METRICS "%s %s\n", name, help,
		      name, type);
}

static void put_one(struct ot_buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
	put_head(out, name, type, help);
	ot_buf_printf(out, FL_OWN_METRICS "%s %" PRIu64 "\n", name, value);
}

static uint64_t is_up(const struct fl_program *p)
{
	return p->state == FL_PROGRAM_RUNNING;
}

static uint64_t is_idle(const struct fl_program *p)
{
	return p->state == FL_PROGRAM_IDLE || (p->state == FL_PROGRAM_ENDING && p->next == FL_PROGRAM_IDLE);
}

static uint64_t is_failing(const struct fl_program *p)
{
	return p->failing;
}

static uint64_t starts(const struct fl_program *p)
{
	return p->starts;
}

static uint64_t failures(const struct fl_program *p)
{
	return p->failures;
}

static uint64_t left_out(const struct fl_program *p)
{
	return p->refused;
}

static const struct {
	const char *name, *type, *help;
	uint64_t (*value)(const struct fl_program *p);
} of_programs[] = {
	{ "program_up", "gauge", "The standing program runs.", is_up },
	{ "program_idle", "gauge", "It was stopped because its metrics were not read for its ttl.", is_idle },
	{ "program_failing", "gauge", "Its files are not valid, or its last run failed.", is_failing },
	{ "program_starts_total", "counter", "Number of its starts.", starts },
	{ "program_failures_total", "counter", "Runs that failed or crashed.", failures },
	{ "program_left_out", "gauge", "Families and lines of its metrics that are left out.", left_out },
};

static void put_programs(const struct fl_standing *s, struct ot_buf *out)
{
	static const char cpu[] = "program_cpu_seconds_total";

	put_one(out, "programs", "gauge", "Standing programs.", s->count);
	if (!s->count)
		return;
	for (size_t k = 0; k < OT_ARRAY_SIZE(of_programs); k++) {
		put_head(out, of_programs[k].name, of_programs[k].type, of_programs[k].help);
		for (size_t i = 0; i < s->count; i++)
			ot_buf_printf(out, FL_OWN_METRICS "%s{program=\"%s\"} %" PRIu64 "\n",
				      of_programs[k].name, s->programs[i]->name,
				      of_programs[k].value(s->programs[i]));
	}
	put_head(out, cpu, "counter", "CPU time of its processes on this host.");
	for (size_t i = 0; i < s->count; i++) {
		uint64_t us = fl_program_cpu_us(s->programs[i]);

		ot_buf_printf(out, FL_OWN_METRICS "%s{program=\"%s\"} %" PRIu64 ".%02" PRIu64 "\n", cpu,
			      s->programs[i]->name, us / 1000000u, us % 1000000u / 10000u);
	}
}

static void put_sessions(const struct fl_standing *s, struct ot_buf *out)
{
	const struct fl_counts *c = s->config.counts;

	put_one(out, "scrapes_total", "counter", "Number of reads of the metrics.", s->scrapes);
	put_one(out, "requests_total", "counter", "Requests of operators.", c->requests);
	put_one(out, "requests_refused_total", "counter", "Requests that were refused.", c->refused);
	put_one(out, "sessions_total", "counter", "Sessions of operators that were started.", c->begun);
	put_one(out, "sessions_failed_total", "counter", "Sessions that failed or crashed.", c->failed);
	put_one(out, "sessions_running", "gauge", "Running sessions of operators.", c->running);
}

struct ot_err *fl_standing_metrics(struct fl_standing *s, uint64_t now_ns, struct ot_buf *out)
{
	struct fl_families f;
	struct ot_err *err = NULL;

	s->read_ns = now_ns;
	s->scrapes++;
	fl_families_init(&f);
	for (size_t i = 0; i < s->count && !err; i++) {
		err = take_program(s, s->programs[i], &f);
	}
	if (!err) {
		fl_families_put(&f, out);
		put_programs(s, out);
		put_sessions(s, out);
		err = out->failed ? ot_err_nomem() : NULL;
	}
	fl_families_deinit(&f);
	/* the previous page reported that they do not run */
	for (size_t i = 0; i < s->count; i++)
		if (is_idle(s->programs[i]))
			fl_program_begin(s->programs[i], now_ns);
	return err;
}
