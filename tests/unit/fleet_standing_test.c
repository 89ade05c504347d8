/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing programs: their limits, their texts put together, and when they begin and end. What stands in for
 * outsight is a shell script that does what a program's name says. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "fleet/serve/standing/families.h"
#include "fleet/serve/standing/http.h"
#include "fleet/serve/standing/internal.h"
#include "tests/unit/fleet_folder.h"

#define SECOND OT_NS_PER_SEC

struct test {
	struct folder programs, run, bin;
	struct ot_arena arena;
	char exe[FOLDER_PATH];
	struct ot_buf log, page;
	struct fl_counts counts;
	struct fl_standing *standing;
};

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	folder_make(&t->programs);
	folder_make(&t->run);
	folder_make(&t->bin);
	ot_arena_init(&t->arena);
	ot_buf_init(&t->log);
	ot_buf_init(&t->page);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	fl_standing_destroy(t->standing);
	folder_remove(&t->programs);
	folder_remove(&t->run);
	folder_remove(&t->bin);
	ot_arena_deinit(&t->arena);
	ot_buf_deinit(&t->log);
	ot_buf_deinit(&t->page);
	free(t);
	return 0;
}

/* --- limits --------------------------------------------------------------------------------------------- */

static struct ot_err *read_limits(struct test *t, const char *text, struct fl_limits *ret)
{
	char path[FOLDER_PATH];

	folder_put(&t->programs, "conf", text, strlen(text), 0644, path);
	const char *kept = ot_arena_strdup(&t->arena, path);

	return fl_limits_read(kept, &t->arena, ret);
}

static void limits(void **state)
{
	struct test *t = *state;
	struct fl_limits l;

	assert_null(fl_limits_read("/nonexistent/conf", &t->arena, &l));
	assert_int_equal(l.guests.count, 1);
	assert_string_equal(l.guests.items[0], "*");
	assert_int_equal(l.maxcost, 5);
	assert_int_equal(l.ttl_s, 3600);
	assert_int_equal(l.series, 1000);
	assert_int_equal(l.bytes, 1 << 20);
	assert_null(read_limits(t, "guests web* db1 # two\nmaxcost 2%\nttl 5m\nseries 7\nbytes 64k\n", &l));
	assert_int_equal(l.guests.count, 2);
	assert_string_equal(l.guests.items[1], "db1");
	assert_int_equal(l.maxcost, 2);
	assert_int_equal(l.ttl_s, 300);
	assert_int_equal(l.series, 7);
	assert_int_equal(l.bytes, 65536);
}

static void bad_limits(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "series 10001", ":1: series: 10001 is not a number from 1 to 10000" },
		{ "\nbytes 17m", ":2: bytes: 17m is more than 16m" },
		{ "bytes 0", ":1: bytes: 0 is not a number of bytes, such as 500000, 64k, 1m" },
		{ "maxcost 0", ":1: maxcost: 0 is not a share from 1% to 100%" },
		{ "ttl 5hz", ":1: ttl: 5hz is not a time of a second or more, such as 90s, 10m, 1h" },
		{ "ttl 1s\nttl 2s", ":2: ttl a second time" },
		{ "guests", ":1: guests needs at least one pattern" },
		{ "ttl 1s 2s", ":1: ttl needs one value" },
		{ "guests 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", ":1: more than 16 patterns" },
		{ "providers fbt",
		  ":1: a program has no setting providers; there are guests, maxcost, ttl, series, bytes" },
	};
	struct test *t = *state;
	struct fl_limits l;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct ot_err *err = read_limits(t, cases[i].text, &l);

		assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
		assert_string_equal(strstr(ot_err_message(err), ":"), cases[i].message);
		ot_err_destroy(err);
	}
}

/* --- texts ---------------------------------------------------------------------------------------------- */

#define HEAD(name, type) "# HELP " name " h.\n# TYPE " name " " type "\n"

static uint64_t add(struct fl_families *f, const char *program, const char *text)
{
	uint64_t refused;

	assert_null(fl_families_take(f, program, text, strlen(text), &refused));
	return refused;
}

static void expect_text(const struct fl_families *f, const char *text)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	fl_families_put(f, &out);
	assert_string_equal(ot_buf_str(&out), text);
}

static void together(void **state)
{
	struct fl_families f;

	(void)state;
	fl_families_init(&f);
	assert_int_equal(
	    add(&f, "a",
		HEAD("outsight_n_total", "counter") "outsight_n_total 1\n" HEAD(
		    "outsight_h", "histogram") "outsight_h_bucket{k=\"x\\\"}\\\\\\n\",le=\"+Inf\"} 2\n"
					       "outsight_h_count{k=\"x\\\"}\\\\\\n\"} 2\n"),
	    0);
	assert_int_equal(add(&f, "b",
			     HEAD("outsight_g", "gauge") "outsight_g{program=\"p\"} -3\n" HEAD(
				 "outsight_n_total", "counter") "outsight_n_total{guest=\"w\"} 4\n"),
			 0);
	expect_text(
	    &f,
	    HEAD("outsight_n_total",
		 "counter") "outsight_n_total{program=\"a\"} 1\n"
			    "outsight_n_total{program=\"b\",guest=\"w\"} 4\n" HEAD(
				"outsight_h",
				"histogram") "outsight_h_bucket{program=\"a\",k=\"x\\\"}\\\\\\n\",le=\"+"
					     "Inf\"} 2\n"
					     "outsight_h_count{program=\"a\",k=\"x\\\"}\\\\\\n\"} 2\n" HEAD(
						 "outsight_g", "gauge") "outsight_g{program=\"b\",exported_"
									"program=\"p\"} -3\n");
	fl_families_deinit(&f);
}

/* A reader refuses a text in which one family is two, or that has a line that is no sample. */
static void left_out(void **state)
{
	static const char *const bad[] = {
		HEAD("outsight_n_total", "gauge") "outsight_n_total 1\n",
		HEAD("outsight_h_count", "gauge") "outsight_h_count 1\n",
		HEAD("outsight_n", "summary"),
		HEAD("up", "gauge") "up 1\n",
		HEAD("outsight_serve_sessions_running", "gauge") "outsight_serve_sessions_running 99\n",
		"# HELP outsight_x h\\.\n# TYPE outsight_x gauge\n",
		"# HELP outsight_x\n# TYPE outsight_x gauge\n",
		"# HELP outsight_x h.\n# TYPE outsight_y gauge\n",
		"# HELP outsight_x h.\n# TYPE outsight_x gauge",
		HEAD("outsight_x\"", "gauge"),
		"\xff",
		"# HELP outsight_x \xc3\n",
	};
	static const char *const lines[] = {
		"outsight_g 1 2\n",
		"outsight_g\n",
		"outsight_g \n",
		"outsight_g -\n",
		"outsight_g 1.5\n",
		"outsight_g_count 1\n",
		"outsight_other 1\n",
		"outsight_g{ 1\n",
		"outsight_g{a=\"1\" 1\n",
		"outsight_g{a=1} 1\n",
		"outsight_g{a=\"\\x\"} 1\n",
		"outsight_g{=\"1\"} 1\n",
		"outsight_g{1=\"1\"} 1\n",
		"outsight_g{a=\"1\"b=\"2\"} 1\n",
		"outsight_g{a=\"1\"}1\n",
		"outsight_g{a=\"1\\\n",
		"outsight_g{a=\"1\"\n",
		"# EOF\n",
		"\n",
		"outsight_g{a\n",
	};
	struct fl_families f;
	char text[256];

	(void)state;
	fl_families_init(&f);
	add(&f, "a",
	    HEAD("outsight_n_total", "counter") HEAD("outsight_h", "histogram") HEAD("outsight_g", "gauge"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		assert_int_equal(add(&f, "b", bad[i]), 1);
	/* one bad line is left out; those around it are not */
	for (size_t i = 0; i < OT_ARRAY_SIZE(lines); i++) {
		snprintf(text, sizeof(text), "%soutsight_g 1\n%soutsight_g{a=\"2\",} 2\n",
			 HEAD("outsight_g", "gauge"), lines[i]);
		if (add(&f, "b", text) != 1)
			fail_msg("taken: %s", lines[i]);
	}
	assert_int_equal(f.count, 3);
	assert_null(strstr(ot_buf_str(&f.items[2]->text), "} 1.5"));
	for (const char *at = ot_buf_str(&f.items[2]->text); (at = strstr(at, "\noutsight_g")); at++)
		assert_true(!strncmp(at, "\noutsight_g{program=\"b\"} 1\n", 27) ||
			    !strncmp(at, "\noutsight_g{program=\"b\",a=\"2\"} 2\n", 33));
	fl_families_deinit(&f);
}

static void too_many_families(void **state)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	struct fl_families f;

	(void)state;
	ot_buf_init(&text);
	for (unsigned i = 0; i < FL_FAMILIES_MAX + 3; i++)
		ot_buf_printf(&text, "# HELP outsight_n%u h\n# TYPE outsight_n%u gauge\noutsight_n%u 1\n", i,
			      i, i);
	fl_families_init(&f);
	assert_int_equal(add(&f, "a", ot_buf_str(&text)), 3);
	assert_int_equal(f.count, FL_FAMILIES_MAX);
	fl_families_deinit(&f);
}

/* --- beginning and ending ------------------------------------------------------------------------------- */

/* Its last argument is FILE.d, the one behind -o its file. */
static const char fake[] =
    "#!/bin/sh\n"
    "all=\"$*\"\n"
    "while [ \"$1\" != -o ]; do shift; done\n"
    "out=$2\n"
    "while [ $# -gt 1 ]; do shift; done\n"
    "case $(basename \"$1\") in\n"
    "good*) echo \"# HELP outsight_up h\n# TYPE outsight_up gauge\noutsight_up 1\" > $out.x\n"
    "	mv $out.x $out; echo \"ran $all\" >&2; exec sleep 1000;;\n"
    "bad*) echo 'no such probe' >&2; exit 1;;\n"
    "crash*) kill -SEGV $$;;\n"
    "deaf*) trap '' TERM; echo listening >&2; while :; do sleep 0.1; done;;\n"
    "big*) head -c 70000 /dev/zero > $out; echo wrote >&2; exec sleep 1000;;\n"
    "loud*) for i in $(seq 50); do echo \"line $i\" >&2; done; exec sleep 1000;;\n"
    "*) exit 0;;\n"
    "esac\n";

static void log_line(void *arg, const char *line)
{
	struct test *t = arg;

	ot_buf_printf(&t->log, "%s\n", line);
}

static void put_program(struct test *t, const char *name, const char *conf)
{
	char file[80], path[FOLDER_PATH];

	snprintf(file, sizeof(file), "%s.d", name);
	folder_put(&t->programs, file, "BEGIN", 5, 0644, path);
	snprintf(file, sizeof(file), "%s.conf", name);
	folder_put(&t->programs, file, conf, strlen(conf), 0644, path);
}

static void start_all(struct test *t)
{
	folder_put(&t->bin, "outsight", fake, sizeof(fake) - 1, 0755, t->exe);
	const struct fl_standing_config config = { .folder = t->programs.path,
						   .run = t->run.path,
						   .exe = t->exe,
						   .counts = &t->counts,
						   .log = log_line,
						   .arg = t };

	assert_null(fl_standing_create(&config, SECOND, &t->standing));
}

/* At one time, until the log has @p text. */
static void until_log(struct test *t, uint64_t now, const char *text)
{
	for (unsigned i = 0; i < 2000 && !strstr(ot_buf_str(&t->log), text); i++) {
		fl_standing_step(t->standing, now);
		poll(NULL, 0, 10);
	}
	if (!strstr(ot_buf_str(&t->log), text))
		fail_msg("the log has no \"%s\":\n%s", text, ot_buf_str(&t->log));
}

static struct fl_program *program(const struct test *t, const char *name)
{
	for (size_t i = 0; i < t->standing->count; i++)
		if (!strcmp(t->standing->programs[i]->name, name))
			return t->standing->programs[i];
	return NULL;
}

static void until_state(struct test *t, uint64_t now, const char *name, enum fl_program_state state)
{
	for (unsigned i = 0; i < 2000 && program(t, name)->state != state; i++) {
		fl_standing_step(t->standing, now);
		poll(NULL, 0, 10);
	}
	assert_int_equal(program(t, name)->state, state);
}

static bool page_has(struct test *t, uint64_t now, const char *text)
{
	ot_buf_clear(&t->page);
	assert_null(fl_standing_metrics(t->standing, now, &t->page));
	return strstr(ot_buf_str(&t->page), text) != NULL;
}

static void runs(void **state)
{
	struct test *t = *state;

	put_program(t, "good", "guests web* db1\nmaxcost 3\nseries 9\n");
	start_all(t);
	until_log(t, SECOND, "program=good: ran");
	assert_non_null(strstr(ot_buf_str(&t->log), "-q -g web* -g db1 -o "));
	assert_non_null(strstr(ot_buf_str(&t->log), "-x oformat=prom -x maxcost=3 -x promseries=9 -s "));
	assert_true(page_has(t, SECOND, "outsight_up{program=\"good\"} 1\n"));
	assert_true(page_has(t, SECOND, "outsight_serve_program_up{program=\"good\"} 1\n"));
	assert_true(page_has(t, SECOND, "outsight_serve_scrapes_total 3\n"));
	t->counts.refused = 7;
	assert_true(page_has(t, SECOND, "outsight_serve_requests_refused_total 7\n"));
	/* what it is due for is its ttl */
	assert_int_equal(fl_standing_step(t->standing, SECOND), 3601 * SECOND);
}

/* Pauses double up to a minute, and a failure that is known is not told again. */
static void fails(void **state)
{
	static const unsigned pauses[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
	struct test *t = *state;
	uint64_t now = SECOND;

	put_program(t, "bad", "");
	start_all(t);
	for (size_t i = 0; i < OT_ARRAY_SIZE(pauses); i++) {
		for (unsigned k = 0; k < 2000 && program(t, "bad")->failures == i; k++) {
			fl_standing_step(t->standing, now);
			poll(NULL, 0, 10);
		}
		assert_int_equal(program(t, "bad")->failures, i + 1);
		assert_int_equal(fl_standing_step(t->standing, now), now + pauses[i] * SECOND);
		now += pauses[i] * SECOND;
	}
	assert_string_equal(
	    ot_buf_str(&t->log),
	    "standing: program=bad: no such probe\n"
	    "standing: program=bad: failed with exit status 1; again in 1 s, then after longer pauses\n");
	assert_true(page_has(t, now, "outsight_serve_program_failing{program=\"bad\"} 1\n"));
	assert_true(page_has(t, now, "outsight_serve_program_failures_total{program=\"bad\"} 8\n"));
}

static void crashes(void **state)
{
	struct test *t = *state;

	put_program(t, "crash", "");
	start_all(t);
	until_log(t, SECOND, "ended by signal 11 (Segmentation fault); again in 1 s");
	assert_int_equal(fl_standing_step(t->standing, SECOND), 2 * SECOND);
	until_log(t, 2 * SECOND, "again in 2 s");
	assert_int_equal(program(t, "crash")->starts, 2);
}

static void ends_by_itself(void **state)
{
	struct test *t = *state;

	put_program(t, "exits", "");
	start_all(t);
	until_log(t, SECOND, "program=exits: has ended by itself");
	assert_int_equal(fl_standing_step(t->standing, 1000 * SECOND), UINT64_MAX);
	assert_int_equal(program(t, "exits")->starts, 1);
	assert_true(page_has(t, SECOND, "outsight_serve_program_failing{program=\"exits\"} 0\n"));
}

/* Stopped when nobody has read for its ttl; the next who reads has it begin again. */
static void idle(void **state)
{
	struct test *t = *state;

	put_program(t, "good", "ttl 60s\n");
	start_all(t);
	until_log(t, SECOND, "program=good: ran");
	assert_true(page_has(t, 50 * SECOND, "outsight_up{"));
	fl_standing_step(t->standing, 109 * SECOND);
	assert_int_equal(program(t, "good")->state, FL_PROGRAM_RUNNING);
	until_state(t, 110 * SECOND, "good", FL_PROGRAM_IDLE);
	assert_non_null(strstr(ot_buf_str(&t->log), "its metrics were not read for 60 s"));
	assert_int_equal(fl_standing_step(t->standing, 500 * SECOND), UINT64_MAX);
	assert_true(page_has(t, 500 * SECOND, "outsight_serve_program_idle{program=\"good\"} 1\n"));
	assert_null(strstr(ot_buf_str(&t->page), "outsight_up{"));
	until_state(t, 500 * SECOND, "good", FL_PROGRAM_RUNNING);
	assert_int_equal(program(t, "good")->starts, 2);
}

/* One that does not end when it is asked to is killed after ten seconds. */
static void deaf(void **state)
{
	struct test *t = *state;

	put_program(t, "deaf", "ttl 1s\n");
	start_all(t);
	until_log(t, SECOND, "listening");
	fl_standing_step(t->standing, 3 * SECOND);
	assert_int_equal(fl_standing_step(t->standing, 3 * SECOND), 13 * SECOND);
	until_state(t, 13 * SECOND, "deaf", FL_PROGRAM_IDLE);
}

static void too_large(void **state)
{
	struct test *t = *state;

	put_program(t, "big", "bytes 64k\n");
	start_all(t);
	until_log(t, SECOND, "wrote");
	assert_true(page_has(t, SECOND, "outsight_serve_program_left_out{program=\"big\"} 1\n"));
	assert_true(page_has(t, SECOND, "outsight_serve_program_left_out{program=\"big\"} 1\n"));
	const char *line = strstr(ot_buf_str(&t->log), "they exceed its limit of 65536 bytes");

	assert_non_null(line);
	assert_null(strstr(line + 1, "they exceed")); /* once */
}

static void loud(void **state)
{
	struct test *t = *state;

	put_program(t, "loud", "");
	start_all(t);
	until_log(t, SECOND, "line 20\n");
	for (unsigned i = 0; i < 500 && program(t, "loud")->untold < 30; i++) {
		fl_standing_step(t->standing, SECOND);
		poll(NULL, 0, 10);
	}
	assert_int_equal(program(t, "loud")->untold, 30);
	assert_null(strstr(ot_buf_str(&t->log), "line 21"));
}

/* Programs that came, were changed, and are gone. */
static void folder_is_read_again(void **state)
{
	char path[FOLDER_PATH];
	struct test *t = *state;

	put_program(t, "good1", "");
	put_program(t, "good2", "");
	folder_put(&t->programs, "no program.d", "x", 1, 0644, path);
	folder_put(&t->programs, "README", "x", 1, 0644, path);
	start_all(t);
	assert_int_equal(t->standing->count, 2);
	until_state(t, SECOND, "good1", FL_PROGRAM_RUNNING);
	until_state(t, SECOND, "good2", FL_PROGRAM_RUNNING);
	unlink(folder_path(&t->programs, "good1.d", path));
	put_program(t, "good2", "maxcost 1\n");
	put_program(t, "good3", "");
	fl_standing_load(t->standing, 2 * SECOND);
	until_log(t, 2 * SECOND, "maxcost=1 ");
	until_state(t, 2 * SECOND, "good3", FL_PROGRAM_RUNNING);
	for (unsigned i = 0; i < 2000 && program(t, "good1"); i++) {
		fl_standing_step(t->standing, 2 * SECOND);
		poll(NULL, 0, 10);
	}
	assert_null(program(t, "good1"));
	assert_int_equal(program(t, "good2")->starts, 2);
	/* nothing has changed */
	fl_standing_load(t->standing, 3 * SECOND);
	fl_standing_step(t->standing, 3 * SECOND);
	assert_int_equal(program(t, "good2")->starts, 2);
	assert_int_equal(program(t, "good2")->state, FL_PROGRAM_RUNNING);
}

/* What others could have written is not run. */
static void others_files(void **state)
{
	char path[FOLDER_PATH];
	struct test *t = *state;

	put_program(t, "good", "");
	put_program(t, "limits", "nonsense 1\n");
	assert_int_equal(chmod(folder_path(&t->programs, "good.d", path), 0666), 0);
	start_all(t);
	assert_int_equal(fl_standing_step(t->standing, SECOND), UINT64_MAX);
	assert_non_null(strstr(ot_buf_str(&t->log), "good.d has mode 666, and others may change it"));
	assert_non_null(strstr(ot_buf_str(&t->log), "limits.conf:1: a program has no setting nonsense"));
	assert_int_equal(program(t, "good")->starts + program(t, "limits")->starts, 0);
	assert_true(page_has(t, SECOND, "outsight_serve_program_failing{program=\"limits\"} 1\n"));
	assert_int_equal(chmod(folder_path(&t->programs, "good.d", path), 0644), 0);
	assert_int_equal(chmod(t->programs.path, 0777), 0);
	fl_standing_load(t->standing, SECOND);
	assert_non_null(strstr(ot_buf_str(&t->log), "no programs are read: "));
	assert_int_equal(program(t, "good")->starts, 0);
}

/* --- readers -------------------------------------------------------------------------------------------- */

static struct ot_err *one_line(void *arg, struct ot_buf *out)
{
	(*(unsigned *)arg)++;
	ot_buf_puts(out, "a 1\n");
	return NULL;
}

static int connect_to(const struct fl_http *http)
{
	union fl_address to = { .v4 = { .sin_family = AF_INET, .sin_port = htons(fl_http_port(http)) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, &to.any, sizeof(to.v4)), 0);
	return fd;
}

static void pump(struct fl_http *http)
{
	for (unsigned i = 0; i < 20; i++) {
		struct pollfd p = { fl_http_fd(http), POLLIN, 0 };

		poll(&p, 1, 5);
		fl_http_run(http);
	}
}

/* How many of them the other side has closed. */
static unsigned closed(const int *fds, unsigned n)
{
	unsigned count = 0;
	char c;

	for (unsigned i = 0; i < n; i++)
		count += recv(fds[i], &c, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
	return count;
}

/* Who connects and says nothing has a limited part of the room, and others go on being served. */
static void strangers(void **state)
{
	union fl_address at = { .v4 = { .sin_family = AF_INET } };
	unsigned pages = 0;
	const struct fl_http_config config = { .address = &at, .page = one_line, .arg = &pages };
	const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
	char answer[1024] = "";
	struct fl_http *http;
	int fds[12];

	(void)state;
	at.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_null(fl_http_create(&config, &http));
	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		fds[i] = connect_to(http);
	pump(http);
	errno = 0;
	assert_int_equal(closed(fds, OT_ARRAY_SIZE(fds)), 4);
	/* the time of those that are silent is limited, too */
	assert_in_range(fl_http_timeout_ms(http), 0, 10000);
	close(fds[0]);
	pump(http);
	fds[0] = connect_to(http);
	assert_int_equal(send(fds[0], request, sizeof(request) - 1, 0), sizeof(request) - 1);
	pump(http);
	assert_true(recv(fds[0], answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "200 OK"));
	assert_non_null(strstr(answer, "\r\n\r\na 1\n"));
	assert_int_equal(pages, 1);
	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		close(fds[i]);
	fl_http_destroy(http);
}

static void counts_are_shared(void **state)
{
	const struct fl_counts *read;
	struct fl_counts *own;
	int fd;

	(void)state;
	assert_null(fl_counts_create(&own, &fd));
	assert_null(fl_counts_map(fd, &read));
	own->begun = 5;
	assert_int_equal(read->begun, 5);
	close(fd);
	struct ot_err *err = fl_counts_map(fd, &read);

	assert_non_null(err);
	ot_err_destroy(err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(limits),
		TEST(bad_limits),
		TEST(together),
		TEST(left_out),
		TEST(too_many_families),
		TEST(runs),
		TEST(fails),
		TEST(crashes),
		TEST(ends_by_itself),
		TEST(idle),
		TEST(deaf),
		TEST(too_large),
		TEST(loud),
		TEST(folder_is_read_again),
		TEST(others_files),
		TEST(strangers),
		TEST(counts_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
