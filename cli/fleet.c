/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line with guests of other hosts: -g ssh://HOST/GUESTS, and with -x fleet=nats://… -g
 * HOSTS/GUESTS. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "cli/hints.h"
#include "cli/trace.h"
#include "cli/tracing.h"
#include "consumer/messages.h"
#include "fleet/operator/fleet.h"

static const char *option(const struct cli_invocation *inv, const char *name)
{
	return ot_map_gets(&inv->opts.set, name);
}

bool cli_fleet_means(const struct cli_invocation *inv, const char *spec)
{
	return fl_is_remote(spec) || (option(inv, "fleet") && fl_is_behind_broker(spec));
}

bool cli_fleet_is_asked(const struct cli_invocation *inv)
{
	for (size_t i = 0; i < inv->guests.count; i++)
		if (cli_fleet_means(inv, inv->guests.items[i]))
			return true;
	return false;
}

/* Is a lost or absent host allowed? */
static bool loss_is_ok(const struct cli_invocation *inv)
{
	const char *loss = option(inv, "hostloss");

	return loss && !strcmp(loss, "ok");
}

/* --- before there is a connection ------------------------------------------------------------------------ */

/* An option that is about one host's guests, and must be used there. NULL: none. */
static const char *only_there(const struct cli_invocation *inv)
{
	if (inv->mode == CLI_MODE_LIST)
		return "-l";
	if (inv->mode == CLI_MODE_HEADER)
		return "-h";
	if (inv->mode == CLI_MODE_DUMP_SYMBOLS)
		return "--dump-symbols";
	if (inv->mode == CLI_MODE_DUMP_MAPS)
		return "--dump-maps";
	if (inv->compile_only)
		return "-e";
	if (inv->plan)
		return "--plan";
	if (inv->opts.verbose)
		return "-S";
	if (inv->save_dof)
		return "--save-dof";
	if (inv->load_dof)
		return "--dof";
	if (inv->compare)
		return "compare";
	if (inv->pids.count)
		return "-p";
	if (ot_map_gets(&inv->opts.set, "waitfor"))
		return "-x waitfor";
	return inv->libdirs.count ? "-L" : NULL;
}

/* A merger reaches its hosts through a broker, and gets the program by an invitation. */
static int check_mergers(const struct cli_invocation *inv)
{
	if (!option(inv, "fleetmergers"))
		return CLI_GO_ON;
	if (!option(inv, "fleet")) {
		con_error("-x fleetmergers: mergers are reached through a broker, and there is none");
		con_hint(&inv->opts, "-x fleet=nats://HOST names one");
		return CON_EXIT_USAGE;
	}
	for (size_t i = 0; i < inv->guests.count; i++)
		if (fl_is_remote(inv->guests.items[i])) {
			con_error("-x fleetmergers: mergers can't collect from %s, a host of ssh",
				  inv->guests.items[i]);
			con_hint(&inv->opts, "-g HOSTS/GUESTS reaches hosts through the broker");
			return CON_EXIT_USAGE;
		}
	return CLI_GO_ON;
}

int cli_fleet_check(struct cli_invocation *inv)
{
	const char *what;

	if (check_mergers(inv) != CLI_GO_ON)
		return CON_EXIT_USAGE;
	if (!cli_fleet_is_asked(inv))
		return CLI_GO_ON;
	what = only_there(inv);
	if (!what)
		return cli_check(
		    inv); /* errors that are independent of guests are reported before a host is contacted */
	con_error("%s is about the guests of one host, and -g ssh:// names another one", what);
	con_hint(&inv->opts, "there it works: ssh HOST outsight -g GUEST %s …", what);
	return CON_EXIT_USAGE;
}

/* --- connecting, and compiling there ---------------------------------------------------------------------- */

static void say(void *arg, const char *text, const char *hint)
{
	const struct cli_run *r = arg;

	con_error("%s", text);
	if (hint)
		con_hint(&r->inv->opts, "%s", hint);
}

static void progress(const char *what, const char *of)
{
	char text[320];

	snprintf(text, sizeof(text), "%s %s", what ? what : "", of ? of : "");
	con_progress(NULL, what ? text : NULL);
}

int cli_fleet_open(struct cli_run *r)
{
	const struct cli_invocation *inv = r->inv;
	const struct fl_fleet_config config = {
		.texts = &r->fleet_texts,
		.opts = &r->inv->opts,
		.say = say,
		.progress = progress,
		.arg = r,
		.nats = option(inv, "fleet") ? &r->fleet_nats : NULL,
	};
	struct ot_err *err;

	if (!cli_fleet_is_asked(inv))
		return CLI_GO_ON;
	r->fleet_nats = (struct fl_nats_config){
		.url = option(inv, "fleet"),
		.credentials = option(inv, "fleetcreds"),
		.key = option(inv, "fleetkey"),
		.hosts = option(inv, "fleethosts"),
		.mergers = option(inv, "fleetmergers"),
		.without_silent = loss_is_ok(inv),
	};
	r->fleet_texts = cli_texts_of(r->inv);
	err = fl_fleet_create(&config, &r->fleet);
	for (size_t i = 0; !err && i < inv->guests.count; i++)
		if (cli_fleet_means(inv, inv->guests.items[i]))
			err = fl_fleet_add(r->fleet, inv->guests.items[i]);
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}

static struct ot_err *expect(void *arg, struct dif_compiler *comp)
{
	return fl_fleet_expect(arg, comp);
}

int cli_fleet_prepare(struct cli_run *r)
{
	struct ot_err *err;

	if (!r->fleet)
		return CLI_GO_ON;
	r->comp.expect = expect;
	r->comp.expect_arg = r->fleet;
	err = fl_fleet_prepare(r->fleet, -1);
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}

uint64_t cli_fleet_matched(const struct cli_run *r)
{
	return r->fleet ? fl_fleet_matched(r->fleet) : 0;
}

uint64_t cli_fleet_matched_by(const struct cli_run *r, size_t text)
{
	return r->fleet ? fl_fleet_matched_by(r->fleet, text) : 0;
}

/* --- tracing ------------------------------------------------------------------------------------------------ */

struct ot_err *cli_fleet_bind(struct cli_run *r, struct vp_sink *sink)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (!r->fleet)
		return NULL;
	fl_fleet_names(r->fleet, &r->consumer.out->printer.symbols);
	r->consumer.out->printer.asks_names = false; /* each host decides for itself */
	OT_TRY(fl_fleet_bind(r->fleet, &r->comp.prog, sink, vp_session_nguests(r->session)));
	*sink = fl_fleet_sink(r->fleet);
	if (epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, fl_fleet_fd(r->fleet), &ev) < 0)
		return ot_err_os(errno, "epoll");
	return NULL;
}

struct ot_err *cli_fleet_start(struct cli_run *r)
{
	return r->fleet ? fl_fleet_start(r->fleet) : NULL;
}

struct ot_err *cli_fleet_take(struct cli_run *r)
{
	bool exited;
	int status = 0;

	if (!r->fleet)
		return NULL;
	OT_TRY(fl_fleet_take(r->fleet, &exited, &status));
	r->fleet_over = exited || (fl_fleet_has_ended(r->fleet) && !vp_session_nguests(r->session));
	if (exited)
		r->fleet_status = status;
	return NULL;
}

struct ot_err *cli_fleet_stop(struct cli_run *r)
{
	return r->fleet ? fl_fleet_stop(r->fleet, cli_run_is_impatient, r) : NULL;
}

bool cli_fleet_report(struct cli_run *r)
{
	struct ot_buf text;
	bool whole;

	if (!r->fleet || r->interrupts > 1) /* hosts that the operator did not wait for are not lost */
		return true;
	ot_buf_init(&text);
	whole = fl_fleet_report(r->fleet, &text);
	if (text.len) /* under quiet too */
		con_error("%s", ot_buf_str(&text));
	ot_buf_deinit(&text);
	return whole || loss_is_ok(r->inv);
}
