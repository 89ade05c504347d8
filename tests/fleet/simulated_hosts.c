/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many simulated hosts in one process, behind a NATS server:
 *
 *   simulated_hosts --nats URL --operator KEY --state FOLDER --known FILE [--hosts N] [--keys K] [--seconds
 * S]
 *                   [--rate MS] [--records R] [--loss P] [--lease MS] [--die HOST:S] [--slow HOST:MS]
 *                   [--hostile HOST:epid|tuple|program|name|order]
 *
 * They are h1 to hN, each with a guest "web"; FILE gets their keys, as an operator's file of hosts has them.
 * "ready" is printed when they can be asked, "done" when each that lives has handed over its S seconds and
 * nothing is under way. SIGTERM ends it, and prints a line of JSON: what each host has handed over in its
 * last session, what was sent, and the CPU time that it took.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/signals.h"
#include "tests/fleet/simulated.h"

#define HOSTS_MAX 16384u
#define SCAN_NS   5000000ull /* how late something that is due may be done */
#define EVENTS    256
#define AT_ONCE   16

enum source { FROM_WHO, FROM_RUN, FROM_SIGNAL, FROM_SESSION };

static struct {
	struct sim_options options;
	const char *nats, *operator_key, *state, *known;
	uint32_t nhosts;
	struct sim_host *hosts;
	struct fl_conf_operator operator;
	const char *everything[1];
	struct fl_broker *broker;
	struct fl_inbox *who, *run;
	struct sim_session **sessions;
	size_t nsessions, sessions_cap;
	struct sim_counts counts;
	int set, signals;
	uint64_t next_scan;
	bool said_done;
} sim = { .options = { .keys = 1000,
		       .seconds = 60,
		       .records = 1,
		       .rate_ns = 1000000000ull,
		       .lease_ns = FL_LEASE_NS },
	  .nhosts = 20,
	  .everything = { "*" } };

static OT_NORETURN void die(const char *what)
{
	fprintf(stderr, "simulated_hosts: %s\n", what);
	exit(1);
}

static void must(struct ot_err *err)
{
	if (err)
		die(ot_err_message(err));
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* --- options ------------------------------------------------------------------------------------------ */

static struct sim_host *host_called(const char *name, size_t len)
{
	char digits[8] = "";

	if (len < 2 || len > 6 || *name != 'h')
		return NULL;
	memcpy(digits, name + 1, len - 1);
	const unsigned long n = strtoul(digits, NULL, 10);

	return n && n <= sim.nhosts ? &sim.hosts[n - 1] : NULL;
}

static enum sim_mischief mischief_called(const char *word)
{
	static const char *const words[] = { "", "epid", "tuple", "program", "name", "order" };

	for (size_t i = 1; i < OT_ARRAY_SIZE(words); i++)
		if (!strcmp(words[i], word))
			return (enum sim_mischief)i;
	die("an unknown kind of hostility");
}

/* HOST:VALUE, of one of the last three options. */
static void set_host(int option, const char *arg)
{
	const char *colon = strchr(arg, ':');
	struct sim_host *h = colon ? host_called(arg, (size_t)(colon - arg)) : NULL;

	if (!h)
		die("no such host");
	if (option == 'D')
		h->dies_after = strtoul(colon + 1, NULL, 10);
	else if (option == 'W')
		h->slow_ns = strtoul(colon + 1, NULL, 10) * 1000000u;
	else
		h->mischief = mischief_called(colon + 1);
}

static const struct option long_options[] = {
	{ "nats", required_argument, NULL, 'n' },
	{ "operator", required_argument, NULL, 'o' },
	{ "state", required_argument, NULL, 's' },
	{ "known", required_argument, NULL, 'f' },
	{ "hosts", required_argument, NULL, 'h' },
	{ "keys", required_argument, NULL, 'k' },
	{ "seconds", required_argument, NULL, 't' },
	{ "rate", required_argument, NULL, 'r' },
	{ "records", required_argument, NULL, 'R' },
	{ "loss", required_argument, NULL, 'l' },
	{ "lease", required_argument, NULL, 'L' },
	{ "die", required_argument, NULL, 'D' },
	{ "slow", required_argument, NULL, 'W' },
	{ "hostile", required_argument, NULL, 'H' },
	{ 0 },
};

static void set_text(int option, const char *arg)
{
	const char **texts[] = { &sim.nats, &sim.operator_key, &sim.state, &sim.known };

	*texts[strchr("nosf", option) - "nosf"] = arg;
}

static void set_number(int option, const char *arg)
{
	const unsigned long n = strtoul(arg, NULL, 10);

	switch (option) {
	case 'h':
		sim.nhosts = (uint32_t)n;
		break;
	case 'k':
		sim.options.keys = (uint32_t)n;
		break;
	case 't':
		sim.options.seconds = (uint32_t)n;
		break;
	case 'R':
		sim.options.records = (uint32_t)n;
		break;
	case 'r':
		sim.options.rate_ns = n * 1000000u;
		break;
	default:
		sim.options.lease_ns = n * 1000000u;
	}
}

/* Twice: what is said of one host needs to know how many there are. */
static void read_options(int argc, char **argv, bool of_hosts)
{
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		const bool is_hosts = strchr("DWH", option);

		if (option == '?')
			die("usage: see the comment at the beginning of simulated_hosts.c");
		if (is_hosts && of_hosts)
			set_host(option, optarg);
		else if (strchr("nosf", option))
			set_text(option, optarg);
		else if (option == 'l')
			sim.options.loss = strtod(optarg, NULL);
		else if (!is_hosts)
			set_number(option, optarg);
	}
	if (!sim.nats || !sim.operator_key || !sim.state || !sim.known || !sim.nhosts ||
	    sim.nhosts > HOSTS_MAX || !sim.options.keys || !sim.options.rate_ns)
		die("an option is missing, or impossible");
}

/* --- hosts -------------------------------------------------------------------------------------------- */

static void log_line(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "%s\n", line);
}

static bool put_guests(void *arg, const struct fl_conf_operator *operator, const char * pattern,
		       struct ot_buf *out)
{
	(void)arg;
	(void)operator;
	(void)pattern;
	fl_body_put_presence(out, &(struct fl_presence){ "web", "6.1.0-simulated" });
	return true;
}

static unsigned count_sessions(void *arg)
{
	return ((struct sim_host *)arg)->nsessions;
}

/* A key that everybody can know: it protects nothing. */
static void make_identity(struct sim_host *h)
{
	uint8_t seed[crypto_sign_SEEDBYTES] = { 0 };

	memcpy(seed, &h->number, sizeof(h->number));
	crypto_sign_seed_keypair(h->identity.public, h->identity.secret, seed);
}

static void make_host(struct sim_host *h, uint32_t number)
{
	ot_auto_free char *folder = NULL;

	h->number = number;
	snprintf(h->name, sizeof(h->name), "h%u", number);
	make_identity(h);
	if (asprintf(&folder, "%s/%s", sim.state, h->name) < 0)
		die("no memory");
	if (mkdir(folder, 0700) && errno != EEXIST)
		die(folder);
	h->conf =
	    (struct fl_conf){ .name = h->name, .workers = 8, .operators = &sim.operator, .noperators = 1 };
	h->gate = (struct fl_gate){ .conf = &h->conf,
				    .identity = &h->identity,
				    .log = log_line,
				    .guests = put_guests,
				    .running = count_sessions,
				    .arg = h };
	must(fl_replay_open(folder, (uint64_t)time(NULL), &h->gate.replay));
}

static void make_hosts(void)
{
	sim.operator.name = "alice";
	sim.operator.guests = sim.operator.providers =(struct fl_patterns){ sim.everything, 1 };
	if (!fl_public_parse(sim.operator_key, sim.operator.key))
		die("--operator has no key");
	for (uint32_t i = 0; i < sim.nhosts; i++)
		make_host(&sim.hosts[i], i + 1);
}

static void write_known(void)
{
	ot_auto_file FILE *f = fopen(sim.known, "w");
	char key[FL_PUBLIC_TEXT];

	if (!f)
		die(sim.known);
	for (uint32_t i = 0; i < sim.nhosts; i++) {
		fl_public_text(sim.hosts[i].identity.public, key);
		fprintf(f, "%s %s\n", sim.hosts[i].name, key);
	}
}

/* --- requests ----------------------------------------------------------------------------------------- */

static void watch(int fd, enum source from, uint64_t what)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = what << 2 | from };

	if (epoll_ctl(sim.set, EPOLL_CTL_ADD, fd, &ev) < 0)
		die("epoll_ctl");
}

static void begin_session(struct sim_host *h, const struct fl_gate_result *result)
{
	struct sim_session *s;
	short events;

	must(sim_session_begin(h, sim.broker, result, &sim.options, &sim.counts, &s));
	if (!ot_grow(&sim.sessions, &sim.sessions_cap, sim.nsessions + 1, sizeof(struct sim_session *)))
		die("no memory");
	sim.sessions[sim.nsessions++] = s;
	watch(fl_link_fd(s->link, &events), FROM_SESSION, (uint64_t)(uintptr_t)s >> 2);
}

static void take_request(struct sim_host *h, const struct fl_broker_message *m)
{
	struct fl_gate_result result;
	struct ot_arena arena;

	if (h->is_dead)
		return;
	ot_arena_init(&arena);
	must(fl_gate_take(&h->gate, m->data, m->len, (uint64_t)time(NULL), &arena, &result));
	if (result.run)
		begin_session(h, &result);
	if (result.answer.len) /* behind the subscription, on the same connection */
		ot_err_destroy(
		    fl_broker_publish(sim.broker, m->reply, NULL, result.answer.data, result.answer.len));
	fl_gate_result_deinit(&result);
	ot_arena_deinit(&arena);
}

/* What it is signed with is held against the keys by the gates; here, only who need look at it. */
static void take_question(const struct fl_broker_message *m)
{
	struct fl_request request;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = fl_request_open(m->data, m->len, &arena, &request);

	for (uint32_t i = 0; !err && m->reply && i < sim.nhosts; i++)
		if (fl_request_means(&request, sim.hosts[i].name))
			take_request(&sim.hosts[i], m);
	ot_err_destroy(err);
	ot_arena_deinit(&arena);
}

/* A few: sessions that there are don't wait until all others have begun. */
static void take_requests(void)
{
	struct fl_broker_message m;

	if (fl_inbox_next(sim.who, &m))
		take_question(&m);
	for (unsigned i = 0; i < AT_ONCE && fl_inbox_next(sim.run, &m); i++) {
		const char *name = strrchr(m.subject, '.') + 1;
		struct sim_host *h = host_called(name, strlen(name));

		if (h && m.reply)
			take_request(h, &m);
	}
}

/* --- sessions ----------------------------------------------------------------------------------------- */

static void remove_session(size_t i)
{
	struct sim_session *s = sim.sessions[i];
	short events;

	epoll_ctl(sim.set, EPOLL_CTL_DEL, fl_link_fd(s->link, &events), NULL);
	sim.sessions[i] = sim.sessions[--sim.nsessions];
	sim_session_destroy(s);
}

static void scan(uint64_t now)
{
	for (size_t i = 0; i < sim.nsessions;) {
		struct sim_session *s = sim.sessions[i];

		if (!s->is_over && sim_session_due(s) <= now)
			sim_session_step(s, now);
		if (s->is_over)
			remove_session(i);
		else
			i++;
	}
}

static void look_whether_done(void)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < sim.nhosts; i++) {
		const struct sim_host *h = &sim.hosts[i];

		done += h->is_done;
		if (!h->is_done && !h->is_dead && !h->mischief)
			return;
	}
	if (done && !sim.said_done)
		say("done");
	sim.said_done = done;
}

/* False: it is to end. */
static bool turn(void)
{
	struct epoll_event events[EVENTS];
	const int n = epoll_wait(sim.set, events, EVENTS, ot_ms_until(sim.next_scan));
	const uint64_t now = ot_now_ns();
	bool asked = false;

	for (int i = 0; i < n; i++) {
		const enum source from = events[i].data.u64 & 3;

		if (from == FROM_SIGNAL)
			return false;
		if (from == FROM_SESSION)
			sim_session_step((struct sim_session *)(uintptr_t)(events[i].data.u64 >> 2 << 2),
					 now);
		else
			asked = true;
	}
	if (asked)
		take_requests();
	if (now >= sim.next_scan) {
		scan(now);
		look_whether_done();
		sim.next_scan = now + SCAN_NS;
	}
	return true;
}

/* --- the whole ---------------------------------------------------------------------------------------- */

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void report(void)
{
	const struct sim_counts *c = &sim.counts;
	struct rusage used;

	while (sim.nsessions)
		remove_session(0);
	getrusage(RUSAGE_SELF, &used);
	printf(
	    "{\"cpu\": %.3f, \"sessions\": %llu, \"elements\": %llu, \"records\": %llu, \"packets\": %llu, "
	    "\"bytes\": %llu, \"again\": %llu, \"expired\": %llu, \"hosts\": {",
	    seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime), (unsigned long long)c->sessions,
	    (unsigned long long)c->elements, (unsigned long long)c->records, (unsigned long long)c->packets,
	    (unsigned long long)c->bytes, (unsigned long long)c->again, (unsigned long long)c->expired);
	for (uint32_t i = 0; i < sim.nhosts; i++)
		printf("%s\"%s\": [%u, %s]", i ? ", " : "", sim.hosts[i].name, sim.hosts[i].ticks,
		       sim.hosts[i].has_ended ? "true" : "false");
	say("}}");
}

static void open_all(void)
{
	static const int signals[] = { SIGTERM, SIGINT };
	const struct fl_broker_config to = { .url = sim.nats, .name = "simulated", .patient = true };
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	must(fl_trust_start());
	make_hosts();
	write_known();
	must(ot_signals_open(signals, OT_ARRAY_SIZE(signals), &sim.signals));
	must(fl_broker_connect(&to, &sim.broker));
	must(fl_inbox_open(sim.broker, "os.v1.who", &sim.who));
	must(fl_inbox_open(sim.broker, "os.v1.run.*", &sim.run));
	sim.set = epoll_create1(EPOLL_CLOEXEC);
	watch(sim.signals, FROM_SIGNAL, 0);
	watch(fl_inbox_fd(sim.who), FROM_WHO, 0);
	watch(fl_inbox_fd(sim.run), FROM_RUN, 0);
	if (!fl_broker_flush(sim.broker, 5000))
		die("the broker does not answer");
}

static void close_all(void)
{
	fl_inbox_close(sim.who);
	fl_inbox_close(sim.run);
	fl_broker_unref(sim.broker);
	for (uint32_t i = 0; i < sim.nhosts; i++)
		fl_replay_close(sim.hosts[i].gate.replay);
	free(sim.sessions);
	free(sim.hosts);
	close(sim.set);
	close(sim.signals);
}

int main(int argc, char **argv)
{
	sim.hosts = calloc(HOSTS_MAX, sizeof(*sim.hosts));
	if (!sim.hosts)
		die("no memory");
	read_options(argc, argv, false);
	read_options(argc, argv, true);
	open_all();
	say("ready");
	while (turn())
		;
	report();
	close_all();
	return 0;
}
