/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host decides by itself: serve.conf, rights, the invitations that it has taken; and an operator's
 * file of hosts, whose lines are of the same kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "fleet/serve/policy.h"
#include "fleet/serve/replay.h"
#include "fleet/trust/known.h"
#include "tests/unit/fleet_folder.h"

#define ALICE "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define BOB   "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
#define NOW   1800000000ull

struct test {
	struct folder folder;
	struct ot_arena arena;
};

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	folder_make(&t->folder);
	ot_arena_init(&t->arena);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	ot_arena_deinit(&t->arena);
	folder_remove(&t->folder);
	free(t);
	return 0;
}

static struct ot_err *read_conf(struct test *t, const char *text, struct fl_conf *ret)
{
	char path[FOLDER_PATH];

	folder_put(&t->folder, "conf", text, strlen(text), 0644, path);
	const char *kept = ot_arena_strdup(&t->arena, path);

	return fl_conf_read(kept, &t->arena, ret);
}

/* The message without the folder. */
static void expect(struct ot_err *err, enum ot_err_code code, const char *message)
{
	assert_non_null(err);
	const char *text = strstr(ot_err_message(err), "conf:");

	if (!text)
		text = strstr(ot_err_message(err), "hosts:");
	assert_int_equal(ot_err_code(err), code);
	if (code == OT_ERR_SYNTAX)
		assert_string_equal(text ? text : ot_err_message(err), message);
	else if (!strstr(ot_err_message(err), message))
		fail_msg("%s", ot_err_message(err));
	ot_err_destroy(err);
}

/* --- serve.conf ----------------------------------------------------------------------------------------- */

/* Who may have hosts merged has a key, and that is all; what else a line says is still held against what can
 * stand there. */
static void merger(void **state)
{
	static const char text[] = "name m1\noperator alice " ALICE "\noperator bob " BOB "\nguests web*\n";
	struct test *t = *state;
	char path[FOLDER_PATH];
	struct fl_conf conf;

	expect(read_conf(t, text, &conf), OT_ERR_SYNTAX,
	       "conf:2: operator alice has no line \"guests\", and may trace nothing");
	folder_put(&t->folder, "conf", text, strlen(text), 0644, path);
	assert_null(fl_conf_read_merger(path, &t->arena, &conf));
	assert_int_equal(conf.noperators, 2);
	assert_string_equal(conf.key, FL_MERGE_KEY_PATH);
	assert_string_equal(conf.state, FL_MERGE_STATE_PATH);
	folder_put(&t->folder, "conf", "operator alice x\n", 17, 0644, path);
	expect(fl_conf_read_merger(path, &t->arena, &conf), OT_ERR_SYNTAX,
	       "conf:1: x is not a public key, as outsight-serve --show-key prints it");
}

static void whole_conf(void **state)
{
	struct test *t = *state;
	struct fl_conf conf;

	assert_null(read_conf(t,
			      "# of this host\n"
			      "name h1\n"
			      "nats nats://broker:4222 # the only one\r\n"
			      "\n"
			      "credentials /etc/outsight/nats.creds\n"
			      "key /etc/outsight/key\n"
			      "state /var/lib/o\n"
			      "workers 3\n"
			      "operator alice " ALICE "\n"
			      "\tguests web* db1\n"
			      "\tproviders syscall profile\n"
			      "\tdestructive yes\n"
			      "\tuser-memory yes\n"
			      "\tmaxcost 10%\n"
			      "\tttl 10m\n"
			      "\tbytes-per-second 64k\n"
			      "operator bob " BOB "\n"
			      "\tguests all\n"
			      "\tproviders *",
			      &conf));
	assert_string_equal(conf.name, "h1");
	assert_string_equal(conf.nats, "nats://broker:4222");
	assert_string_equal(conf.credentials, "/etc/outsight/nats.creds");
	assert_string_equal(conf.key, "/etc/outsight/key");
	assert_string_equal(conf.state, "/var/lib/o");
	assert_int_equal(conf.workers, 3);
	assert_int_equal(conf.noperators, 2);

	const struct fl_conf_operator *alice = &conf.operators[0], *bob = &conf.operators[1];
	uint8_t key[FL_PUBLIC];

	assert_string_equal(alice->name, "alice");
	assert_int_equal(alice->line, 9);
	assert_int_equal(alice->guests.count, 2);
	assert_string_equal(alice->guests.items[1], "db1");
	assert_true(alice->destructive && alice->user_memory);
	assert_int_equal(alice->maxcost, 10);
	assert_int_equal(alice->ttl_s, 600);
	assert_int_equal(alice->bytes_per_s, 65536);
	assert_false(bob->destructive || bob->user_memory);
	assert_int_equal(bob->maxcost + bob->ttl_s + bob->bytes_per_s, 0);
	assert_true(fl_public_parse(BOB, key));
	assert_ptr_equal(fl_conf_find(&conf, key), bob);
	key[31] ^= 1;
	assert_null(fl_conf_find(&conf, key));
}

static void defaults(void **state)
{
	struct test *t = *state;
	struct fl_conf conf;

	assert_null(read_conf(t, "", &conf));
	assert_true(fl_name_is_valid(conf.name)); /* this machine's */
	assert_null(conf.nats);
	assert_null(conf.credentials);
	assert_string_equal(conf.key, FL_HOST_KEY_PATH);
	assert_string_equal(conf.state, FL_STATE_PATH);
	assert_int_equal(conf.workers, FL_WORKERS);
	assert_int_equal(conf.noperators, 0);
}

static void addresses(void **state)
{
	static const struct {
		const char *text, *host;
		int family;
		uint16_t port;
	} cases[] = {
		{ "9464", "127.0.0.1", AF_INET, 9464 },
		{ "0", "127.0.0.1", AF_INET, 0 },
		{ "10.0.0.7:80", "10.0.0.7", AF_INET, 80 },
		{ "[::1]:65535", "::1", AF_INET6, 65535 },
	};
	struct test *t = *state;
	char line[64], host[INET6_ADDRSTRLEN];
	struct fl_conf conf;

	assert_null(read_conf(t, "", &conf));
	assert_int_equal(conf.metrics.any.sa_family, 0);
	assert_string_equal(conf.standing, "/etc/outsight/standing.d");
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		bool v6 = cases[i].family == AF_INET6;

		snprintf(line, sizeof(line), "metrics %s\nstanding /s", cases[i].text);
		assert_null(read_conf(t, line, &conf));
		assert_int_equal(conf.metrics.any.sa_family, cases[i].family);
		assert_int_equal(ntohs(v6 ? conf.metrics.v6.sin6_port : conf.metrics.v4.sin_port),
				 cases[i].port);
		inet_ntop(cases[i].family,
			  v6 ? (void *)&conf.metrics.v6.sin6_addr : (void *)&conf.metrics.v4.sin_addr, host,
			  sizeof(host));
		assert_string_equal(host, cases[i].host);
	}
	assert_string_equal(conf.standing, "/s");
}

static void wrong_addresses(void **state)
{
	static const char *const cases[] = { "65536", "-1",       "localhost:80", ":80",  "::1:80",
					     "[::1]", "1.2.3.4:", "1.2.3:80",     "[]:1", "[1.2.3.4]:80",
					     "1x",    "[::1]:1x", "[:1",          "x" };
	struct test *t = *state;
	struct fl_conf conf;
	char line[64], message[128];

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof(line), "metrics %s", cases[i]);
		snprintf(message, sizeof(message),
			 "conf:1: metrics: %s is neither a port nor ADDRESS:PORT, [ADDRESS]:PORT", cases[i]);
		expect(read_conf(t, line, &conf), OT_ERR_SYNTAX, message);
	}
}

static void wrong_lines(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "nane h1", "conf:1: there is no setting nane, did you mean name" },
		{ "\n\n frobnicate", "conf:3: there is no setting frobnicate" },
		{ "name", "conf:1: name needs one value" },
		{ "name a b", "conf:1: name needs one value" },
		{ "name a.b", "conf:1: a.b is not a host's name: letters, digits, '-' and '_', at most 63" },
		{ "name a\nname b", "conf:2: name a second time" },
		{ "nats http://x",
		  "conf:1: http://x is not the address of a broker: nats://HOST:PORT, tls://HOST:PORT" },
		{ "key host.key", "conf:1: key: host.key is not an absolute path" },
		{ "standing standing.d", "conf:1: standing: standing.d is not an absolute path" },
		{ "metrics 1 2", "conf:1: metrics needs one value" },
		{ "workers 0", "conf:1: workers: 0 is not a number from 1 to 256" },
		{ "workers 257", "conf:1: workers: 257 is not a number from 1 to 256" },
		{ "workers 99999999999999999999",
		  "conf:1: workers: 99999999999999999999 is not a number from 1 to 256" },
		{ "guests web*",
		  "conf:1: guests belongs to an operator: it must follow a line \"operator\"" },
		{ "operator alice", "conf:1: operator needs a name and a public key" },
		{ "operator alice x",
		  "conf:1: x is not a public key, as outsight-serve --show-key prints it" },
		{ "operator a/b " ALICE,
		  "conf:1: a/b is not a name: letters, digits, '-' and '_', at most 63" },
		{ "operator alice " ALICE,
		  "conf:1: operator alice has no line \"guests\", and may trace nothing" },
		{ "operator alice " ALICE "\nguests *\noperator bob " BOB,
		  "conf:1: operator alice has no line \"providers\", and may trace nothing" },
		{ "operator alice " ALICE "\nguests *\nname h1",
		  "conf:3: name belongs to the host: it must precede the first operator" },
		{ "operator alice " ALICE "\nguests", "conf:2: guests needs at least one pattern" },
		{ "operator alice " ALICE "\nguests a\nguests b", "conf:3: guests a second time" },
		{ "operator alice " ALICE "\nguests a\nproviders *\noperator bob " ALICE,
		  "conf:4: operator alice, line 1, has the same key" },
		{ "operator alice " ALICE "\nguests a\nproviders *\noperator alice " BOB,
		  "conf:4: there is an operator alice already, line 1" },
		{ "operator alice " ALICE "\ndestructive maybe",
		  "conf:2: destructive: maybe is neither yes nor no" },
		{ "operator alice " ALICE "\nmaxcost 101",
		  "conf:2: maxcost: 101 is not a share from 1% to 100%" },
		{ "operator alice " ALICE "\nmaxcost 0%",
		  "conf:2: maxcost: 0% is not a share from 1% to 100%" },
		{ "operator alice " ALICE "\nttl 10ms",
		  "conf:2: ttl: 10ms is not a time of a second or more, such as 90s, 10m, 1h" },
		{ "operator alice " ALICE "\nttl 1hz",
		  "conf:2: ttl: 1hz is not a time of a second or more, such as 90s, 10m, 1h" },
		{ "operator alice " ALICE "\nttl -1",
		  "conf:2: ttl: -1 is not a time of a second or more, such as 90s, 10m, 1h" },
		{ "operator alice " ALICE "\nbytes-per-second 1t",
		  "conf:2: bytes-per-second: 1t is not a number of bytes, such as 500000, 64k, 1m" },
		{ "operator alice " ALICE "\nbytes-per-second 18446744073709551615k",
		  "conf:2: bytes-per-second: 18446744073709551615k is not a number of bytes, such as 500000, "
		  "64k, 1m" },
		{ "operator alice " ALICE "\nbytes-per-second 0",
		  "conf:2: bytes-per-second: 0 is not a number of bytes, such as 500000, 64k, 1m" },
	};
	struct test *t = *state;
	struct fl_conf conf;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++)
		expect(read_conf(t, cases[i].text, &conf), OT_ERR_SYNTAX, cases[i].message);
}

static void limits(void **state)
{
	struct test *t = *state;
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	char path[FOLDER_PATH], key[FL_PUBLIC_TEXT];
	struct fl_conf conf;

	ot_buf_init(&text);
	ot_buf_puts(&text, "name");
	for (unsigned i = 0; i < FL_WORDS_MAX; i++)
		ot_buf_puts(&text, " a");
	expect(read_conf(t, ot_buf_str(&text), &conf), OT_ERR_SYNTAX, "conf:1: more than 64 words");
	ot_buf_clear(&text);
	for (unsigned i = 0; i <= FL_OPERATORS_MAX; i++) {
		uint8_t bytes[FL_PUBLIC] = { (uint8_t)i };

		fl_public_text(bytes, key);
		ot_buf_printf(&text, "operator o%u %s\nguests *\nproviders *\n", i, key);
	}
	expect(read_conf(t, ot_buf_str(&text), &conf), OT_ERR_SYNTAX, "conf:193: more than 64 operators");
	folder_put(&t->folder, "conf", "name\0h1", 7, 0644, path);
	struct ot_err *err = fl_conf_read(path, &t->arena, &conf);

	assert_non_null(strstr(ot_err_message(err), "it contains a byte 0"));
	ot_err_destroy(err);
	ot_buf_clear(&text);
	ot_buf_zero(&text, FL_LINES_MAX + 1);
	memset(text.data, '\n', text.len);
	folder_put(&t->folder, "conf", text.data, text.len, 0644, path);
	expect(fl_conf_read(path, &t->arena, &conf), OT_ERR_LIMIT, "larger than");
}

/* A file that others can write says nothing. */
static void who_wrote_it(void **state)
{
	struct test *t = *state;
	char path[FOLDER_PATH];
	struct fl_conf conf;

	folder_put(&t->folder, "conf", "name h1", 7, 0664, path);
	expect(fl_conf_read(path, &t->arena, &conf), OT_ERR_PERMISSION, "others may change it");
	chmod(path, 0646);
	expect(fl_conf_read(path, &t->arena, &conf), OT_ERR_PERMISSION, "others may change it");
	chmod(path, 0644);
	if (!geteuid()) {
		assert_int_equal(chown(path, 1234, 0), 0);
		expect(fl_conf_read(path, &t->arena, &conf), OT_ERR_PERMISSION, "belongs to uid 1234");
		assert_int_equal(chown(path, 0, 0), 0);
	}
	assert_null(fl_conf_read(path, &t->arena, &conf));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect(fl_conf_read(path, &t->arena, &conf), OT_ERR_PERMISSION, "not a plain file");
}

/* --- rights --------------------------------------------------------------------------------------------- */

static void rights(void **state)
{
	struct test *t = *state;
	struct fl_conf conf;

	assert_null(read_conf(t,
			      "operator alice " ALICE
			      "\nguests web* db[12]\nproviders syscall sched*\nmaxcost 5\n"
			      "operator bob " BOB "\nguests all\nproviders all\ndestructive yes\nttl 1h",
			      &conf));
	struct fl_rights a = fl_policy_rights(&conf.operators[0]), b = fl_policy_rights(&conf.operators[1]);

	assert_true(a.guest(a.arg, "web01") && a.guest(a.arg, "web") && a.guest(a.arg, "db2"));
	assert_false(a.guest(a.arg, "db3") || a.guest(a.arg, "xweb") || a.guest(a.arg, "db") ||
		     a.guest(a.arg, ""));
	assert_true(a.provider(a.arg, "syscall") && a.provider(a.arg, "sched") &&
		    a.provider(a.arg, "dtrace"));
	assert_false(a.provider(a.arg, "fbt") || a.provider(a.arg, "syscalls") ||
		     a.provider(a.arg, "dtrace2"));
	assert_int_equal(a.maxcost, 5);
	assert_false(a.destructive || a.user_memory);
	assert_true(b.guest(b.arg, "anything") && b.provider(b.arg, "fbt"));
	assert_true(b.destructive);
	assert_int_equal(b.ttl_s, 3600);
}

/* Each line of an operator makes a difference, and its name and place make none. */
static void same_rights(void **state)
{
	static const char *const others[] = {
		"guests web*\nproviders syscall",
		"guests web* db1\nproviders *",
		"guests web*\nproviders *\ndestructive yes",
		"guests web*\nproviders *\nuser-memory yes",
		"guests web*\nproviders *\nmaxcost 5",
		"guests web*\nproviders *\nttl 1h",
		"guests web*\nproviders *\nbytes-per-second 1m",
	};
	struct test *t = *state;
	struct fl_conf conf;

	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++) {
		char text[512];

		snprintf(text, sizeof(text),
			 "operator alice " ALICE "\nproviders *\nguests web*\noperator bob " BOB "\n%s",
			 others[i]);
		assert_null(read_conf(t, text, &conf));
		assert_false(fl_conf_same_rights(&conf.operators[0], &conf.operators[1]));
		assert_true(fl_conf_same_rights(&conf.operators[1], &conf.operators[1]));
	}
	assert_null(read_conf(t,
			      "operator alice " ALICE "\nproviders *\nguests web*\noperator bob " BOB
			      "\nguests web*\nproviders *\ndestructive no",
			      &conf));
	assert_true(fl_conf_same_rights(&conf.operators[0], &conf.operators[1]));
}

/* --- invitations ---------------------------------------------------------------------------------------- */

static struct fl_request invitation(uint8_t signer, uint64_t nonce, uint64_t not_after)
{
	struct fl_request r = { .not_after = not_after };

	memset(r.signer, signer, FL_PUBLIC);
	memcpy(r.nonce, &nonce, sizeof(nonce));
	return r;
}

static struct ot_err *take(struct fl_replay *replay, uint8_t signer, uint64_t nonce, uint64_t not_after,
			   uint64_t now)
{
	struct fl_request r = invitation(signer, nonce, not_after);

	return fl_replay_take(replay, &r, now);
}

static void each_is_taken_once(void **state)
{
	struct test *t = *state;
	struct fl_replay *replay;

	assert_null(fl_replay_open(t->folder.path, NOW, &replay));
	assert_null(take(replay, 1, 7, NOW + 10, NOW));
	expect(take(replay, 1, 7, NOW + 10, NOW), OT_ERR_PERMISSION, "used before");
	expect(take(replay, 1, 7, NOW + 99, NOW + 10), OT_ERR_PERMISSION, "used before");
	assert_null(take(replay, 2, 7, NOW + 10, NOW)); /* another operator's */
	assert_null(take(replay, 1, 8, NOW + 10, NOW));
	assert_null(take(replay, 1, 7, NOW + 99, NOW + 11)); /* expired, so forgotten */
	fl_replay_close(replay);
}

/* So many bytes fit into a file; more do not, as on a full disk. */
static void set_room(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What is not on the disk is not allowed, neither then nor later; once there is room again others are, and a
 * restart knows all that were. */
static void full_disk(void **state)
{
	struct test *t = *state;
	struct fl_replay *replay;
	uint8_t data[4096];

	assert_null(fl_replay_open(t->folder.path, NOW, &replay));
	assert_null(take(replay, 1, 1, NOW + 100, NOW));
	set_room(56 + 20);
	expect(take(replay, 1, 2, NOW + 100, NOW), OT_ERR_OS, "replayed");
	expect(take(replay, 1, 2, NOW + 100, NOW), OT_ERR_PERMISSION, "used before");
	expect(take(replay, 1, 3, NOW + 100, NOW), OT_ERR_OS, "replayed");
	set_room(RLIM_INFINITY);
	expect(take(replay, 1, 3, NOW + 100, NOW), OT_ERR_PERMISSION, "used before");
	assert_null(take(replay, 1, 4, NOW + 100, NOW));
	assert_null(take(replay, 1, 5, NOW + 100, NOW));
	assert_int_equal(folder_get(&t->folder, "replayed", data, sizeof(data)), 5 * 56);
	fl_replay_close(replay);
	assert_null(fl_replay_open(t->folder.path, NOW, &replay));
	for (uint64_t nonce = 1; nonce <= 5; nonce++)
		expect(take(replay, 1, nonce, NOW + 100, NOW), OT_ERR_PERMISSION, "used before");
	fl_replay_close(replay);
}

static void restarts_forget_nothing(void **state)
{
	struct test *t = *state;
	struct fl_replay *replay, *second;
	char path[FOLDER_PATH];
	uint8_t data[4096];

	assert_null(fl_replay_open(t->folder.path, NOW, &replay));
	assert_null(take(replay, 1, 7, NOW + 10, NOW));
	assert_null(take(replay, 1, 8, NOW + 100, NOW));
	expect(fl_replay_open(t->folder.path, NOW, &second), OT_ERR_BUSY, "another outsight-serve");
	fl_replay_close(replay);
	assert_null(fl_replay_open(t->folder.path, NOW + 10, &replay));
	expect(take(replay, 1, 7, NOW + 10, NOW), OT_ERR_PERMISSION, "used before");
	expect(take(replay, 1, 8, NOW + 100, NOW), OT_ERR_PERMISSION, "used before");
	fl_replay_close(replay);
	/* what expired is gone from the file too */
	assert_null(fl_replay_open(t->folder.path, NOW + 11, &replay));
	assert_int_equal(folder_get(&t->folder, "replayed", data, sizeof(data)), 56);
	assert_null(take(replay, 1, 9, NOW + 100, NOW + 11));
	fl_replay_close(replay);
	/* killed while it wrote: that one was not acted upon, the others stay */
	size_t len = folder_get(&t->folder, "replayed", data, sizeof(data));

	assert_int_equal(len, 112);
	for (size_t cut = 57; cut < len; cut++) {
		folder_put(&t->folder, "replayed", data, cut, 0600, path);
		assert_null(fl_replay_open(t->folder.path, NOW + 11, &replay));
		expect(take(replay, 1, 8, NOW + 100, NOW + 11), OT_ERR_PERMISSION, "used before");
		assert_null(take(replay, 1, 9, NOW + 100, NOW + 11));
		fl_replay_close(replay);
		assert_null(fl_replay_open(t->folder.path, NOW + 11, &replay));
		expect(take(replay, 1, 9, NOW + 100, NOW + 11), OT_ERR_PERMISSION, "used before");
		fl_replay_close(replay);
	}
}

/* One operator's invitations take no room of another's, and time gives it back. */
static void room_of_each(void **state)
{
	struct test *t = *state;
	struct fl_replay *replay;
	struct stat st;
	char path[FOLDER_PATH];

	assert_null(fl_replay_open(t->folder.path, NOW, &replay));
	for (unsigned round = 0; round < 5; round++) {
		uint64_t now = NOW + 100 * round;

		for (unsigned i = 0; i < FL_REPLAY_EACH; i++)
			assert_null(take(replay, 1, i, now + 50, now));
		expect(take(replay, 1, FL_REPLAY_EACH, now + 50, now), OT_ERR_LIMIT, "have not expired");
		assert_null(take(replay, 2, round, now + 50, now));
	}
	/* and the file does not grow without end */
	assert_int_equal(stat(folder_path(&t->folder, "replayed", path), &st), 0);
	assert_true(st.st_size <= (off_t)(3 * FL_REPLAY_EACH + 3) * 56);
	fl_replay_close(replay);
}

static void no_folder(void **state)
{
	struct fl_replay *replay;

	(void)state;
	expect(fl_replay_open("/nowhere/at/all", NOW, &replay), OT_ERR_OS, "No such file");
}

/* --- known hosts ---------------------------------------------------------------------------------------- */

static struct ot_err *read_hosts(struct test *t, const char *text, struct fl_known *ret)
{
	char path[FOLDER_PATH];

	folder_put(&t->folder, "hosts", text, strlen(text), 0644, path);
	return fl_known_read(ot_arena_strdup(&t->arena, path), &t->arena, ret);
}

static void known_hosts(void **state)
{
	struct test *t = *state;
	struct fl_known known;

	assert_null(read_hosts(t, "# rack 1\nh1 " ALICE " # new\nh2 " BOB "\n", &known));
	assert_int_equal(known.count, 2);
	assert_string_equal(known.items[1].name, "h2");
	assert_int_equal(known.items[1].key[5], 1);
	assert_null(read_hosts(t, "", &known));
	assert_int_equal(known.count, 0);
	expect(read_hosts(t, "h1\n", &known), OT_ERR_SYNTAX, "hosts:1: a line is a host's name and its key");
	expect(read_hosts(t, "h1 " ALICE "\nh2 abc", &known), OT_ERR_SYNTAX,
	       "hosts:2: abc is not a public key, as outsight-serve --show-key prints it");
	expect(read_hosts(t, "h* " ALICE, &known), OT_ERR_SYNTAX,
	       "hosts:1: h* is not a host's name: letters, digits, '-' and '_', at most 63");
	expect(read_hosts(t, "h1 " ALICE "\nh2 " BOB "\nh1 " BOB, &known), OT_ERR_SYNTAX,
	       "hosts: h1 has two lines");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(merger, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_conf, setup, teardown),
		cmocka_unit_test_setup_teardown(defaults, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(limits, setup, teardown),
		cmocka_unit_test_setup_teardown(who_wrote_it, setup, teardown),
		cmocka_unit_test_setup_teardown(rights, setup, teardown),
		cmocka_unit_test_setup_teardown(same_rights, setup, teardown),
		cmocka_unit_test_setup_teardown(each_is_taken_once, setup, teardown),
		cmocka_unit_test_setup_teardown(full_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(restarts_forget_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(room_of_each, setup, teardown),
		cmocka_unit_test_setup_teardown(no_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(known_hosts, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
