/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operator's side of a fleet, as its files share it. */
#ifndef FLEET_OPERATOR_INTERNAL_H
#define FLEET_OPERATOR_INTERNAL_H

#include "base/account.h"
#include "base/arena.h"
#include "base/map.h"
#include "fleet/operator/again.h"
#include "fleet/operator/channel.h"
#include "fleet/operator/fleet.h"
#include "fleet/operator/order.h"

/* Engines' EPIDs are below (4 Mi), so an EPID of a host's clause is never a local one. */
#define FL_EPID_BASE 10000000u

#define FL_WANTED_MAX 64u                 /* -g's that name hosts behind a broker */
#define FL_TABLE_MAX  (3u * FL_HOSTS_MAX) /* mergers too, and hosts that were reassigned twice */
#define FL_MOVES_MAX  64u                 /* migrations in a session; further ones are not followed */

/* Limits of what one host can make this side keep; room.c limits the memory. */
#define FL_ENABLED_MAX  (1u << 20)
#define FL_PROGRAMS_MAX (VP_GUESTS_MAX + 1)
#define FL_MERGED_MAX   1024u /* programs of a merger's own */
#define FL_SAYINGS_MAX  200u
#define FL_CALLED_MAX   ((1u << 20) + VP_GUESTS_MAX) /* names */

/* How long a host may take to compile, and, after STOP, to send the rest. */
#define FL_PREPARE_NS 30000000000ull
#define FL_ENDING_NS  60000000000ull
/* A host that sends its rest within this is not late. */
#define FL_LATE_NS    1000000000ull

enum fl_host_state {
	FL_HOST_WAITING,  /* for its turn at a merger */
	FL_HOST_GREETED,  /* HELLO is sent */
	FL_HOST_ASKED,    /* RUN */
	FL_HOST_READY,    /* … and answered */
	FL_HOST_STARTING, /* START */
	FL_HOST_RUNNING,
	FL_HOST_ENDED,    /* everything was received */
	FL_HOST_LOST,     /* … or was not */
	FL_HOST_LEFT_OUT, /* it was never there, or its guests have moved to another entry: not counted */
};

/* The name of an address in a host's guest. */
struct fl_called {
	const char *text, *note; /* note NULL: there is none */
};

/* One of -g's: which guests of which hosts behind a broker. */
struct fl_wanted {
	const char *hosts, *guests;
};

/* One PROGRAM of a host. A later one has the same clauses and more; enabled probes refer to their own. */
struct fl_program_there {
	struct dif_program prog;
	struct dif_layout_opts opts;
	struct ot_arena arena;
	struct dif_clause_layout **layouts; /* by clause; NULL: none of its probes is enabled */
	bool is_bound;
};

struct fl_guest_there {
	char *name; /* "h1/web01"; NULL: there is none */
	bool is_here;
	char uuid[40];     /* "": not known */
	uint64_t since_ns; /* start of its tracing, by this side's clock */
};

struct fl_move; /* follow.c: a guest that migrates from one host to another */

/* One struct with many fields: each file of the operator's side keeps its own part of a host here. */
struct fl_host {
	struct fl_fleet *fleet;
	uint32_t index;
	char *name;                 /* the operator's name for it */
	char *spec;                 /* … and ssh's */
	struct ot_buf guests;       /* patterns, with blanks between them */
	struct fl_channel *channel; /* NULL: not connected */
	int fd;                     /* in the fleet's set; -1 */
	short events;
	enum fl_host_state state;

	struct fl_guest_there there[VP_GUESTS_MAX];
	struct fl_program_there **programs;
	uint32_t nprograms;
	size_t programs_cap;
	struct ot_map enabled; /* the host's EPID → struct vp_enabled */
	struct ot_map names;   /* number → struct fl_called */
	struct ot_arena arena;
	struct ot_account meanings; /* programs, probes and names */
	struct ot_account keys;     /* of aggregations, which the consumer keeps */
	uint64_t drops_told;        /* elements without room */
	uint64_t drops_due;         /* when more of them are reported */

	int64_t clock_offset; /* offset of its records' times */
	bool has_clock;

	struct fl_ready ready;
	bool failed; /* it ended by an error, which was reported */
	bool by_ssh;
	const struct fl_move *follows; /* it is in the session for that guest alone; NULL */
	/* a guest left it, neither by its own end nor by a migration that is followed */
	bool lost_guest;
	bool has_moved;  /* it ended because its last guest migrated */
	char *left_text; /* the reason for which the last guest left; NULL */
	unsigned sayings;
	uint64_t heard_ns;   /* when anything was last received */
	uint64_t stopped_ns; /* when STOP was sent; 0: not yet */
	uint64_t ended_ns;

	struct fl_merger *merger;   /* it collects from others; NULL: it is a host */
	struct fl_invited *invited; /* nats.h: it is behind a broker, and may be invited again; NULL */
	bool is_again;              /* it was restarted after its merger was lost */
};

/* The part that passes on hosts' data: a merger (fleet/merge/). */
struct fl_tap {
	void *arg;
	/** RUN for @p h appended to @p out. */
	struct ot_err *(*run)(void *arg, const struct fl_host *h, struct ot_buf *out);
	/** A valid message of @p h's, after its data went to the sink; or its refusal, which ends it. */
	struct ot_err *(*took)(void *arg, struct fl_host *h, enum fl_kind kind, const void *data, size_t len);
	void (*lost)(void *arg, struct fl_host *h, const char *why);
};

struct fl_again; /* again.c */

/* One struct with many fields: each file of the operator's side keeps its own part of a fleet here. */
struct fl_fleet {
	struct fl_fleet_config config;
	const struct fl_tap *tap; /* NULL: none */
	const char *greeting;     /* the name in HELLO; NULL: this user's, on this machine */
	bool held;                /* hosts must wait: their links are kept alive, and nothing is read */
	struct fl_host **hosts, **linked; /* linked: those with a link of their own */
	uint64_t *upto; /* by host: the time, by this side's clock, up to which it delivered its records */
	uint32_t nhosts, nlinked;
	uint32_t nliving; /* hosts that have not ended */
	size_t hosts_cap, linked_cap, upto_cap;
	struct ot_map names, specs; /* of hosts that -g names → struct fl_host */
	struct fl_calling *calling; /* nats.h: where there are mergers; NULL */
	struct fl_restarts restarts;
	bool is_strict;         /* an error of one host ends all: */
	struct ot_err *refused; /* … the error; NULL */
	int set, timer;         /* epoll; a timer in it */
	struct ot_arena arena;
	struct fl_wanted wanted[FL_WANTED_MAX]; /* hosts that are invited when the program is known */
	size_t nwanted;

	const struct dif_program *prog; /* the operator's, once bound */
	struct vp_sink sink;            /* receiver of data: the order's or the consumer's */
	struct fl_order order;
	struct con_symbols others; /* fl_fleet_names() */
	uint32_t next_epid;
	struct ot_pool meanings, keys; /* of all hosts */
	unsigned may_act;              /* bits of trust.c: actions of the texts on this side */
	struct ot_buf qualified;
	struct ot_map said; /* messages of hosts, which are the same for one program */
	uint64_t *words;    /* an aggregation's, aligned */
	size_t words_cap;
	bool is_started, is_stopping;
	bool exited; /* a host's clause called exit(): */
	int status;
	bool has_guests;   /* there are some on this host, too */
	struct ot_buf run; /* of no guests, once it is kept */
	struct fl_move *moves[FL_MOVES_MAX];
	uint32_t nmoves;
};

/* hosts.c: hosts, independently of their messages. */
/** Create one, which waits; it is the fleet's. */
OT_MUST_CHECK struct ot_err *fl_host_create(struct fl_fleet *fleet, const char *name, const char *spec,
					    struct fl_host **ret);
void fl_host_destroy(struct fl_host *h);
/** Connect over @p channel, which becomes the host's, also after an error. */
OT_MUST_CHECK struct ot_err *fl_host_connect(struct fl_host *h, struct fl_channel *channel);
void fl_host_disconnect(struct fl_host *h);
/** End it, in that state. */
void fl_host_end(struct fl_host *h, enum fl_host_state state);
static inline uint64_t fl_host_due_ns(const struct fl_host *h)
{
	return fl_channel_is_link(h->channel) ? h->channel->ops->due_ns(h->channel) : UINT64_MAX;
}
/** The latest time at which a link of the fleet's must be polled. */
uint64_t fl_fleet_links_due_ns(const struct fl_fleet *fleet);

/* host.c: the state of one host, and its messages. */
/** A message for it from its merger's link. */
OT_MUST_CHECK struct ot_err *fl_host_hand(struct fl_host *h, enum fl_kind kind, const void *data, size_t len);
OT_MUST_CHECK struct ot_err *fl_host_take_hello(struct fl_host *h, const void *data, size_t len);
OT_MUST_CHECK struct ot_err *fl_host_take_refused(const void *data, size_t len);
/** Before the program runs, an error of one host is the error of all, which is kept: @p err is consumed. */
void fl_host_refuse(struct fl_host *h, struct ot_err *err);
/** Take received messages. An error is the sink's; an error of the host ends the host. */
OT_MUST_CHECK struct ot_err *fl_host_pump(struct fl_host *h);
/** The same before the program runs: an error of the host is returned. */
OT_MUST_CHECK struct ot_err *fl_host_pump_strictly(struct fl_host *h);
OT_MUST_CHECK struct ot_err *fl_host_send(struct fl_host *h, enum fl_kind kind, const struct ot_buf *body);
/** START, and STOP if it was not sent before. */
OT_MUST_CHECK struct ot_err *fl_host_begin(struct fl_host *h);
OT_MUST_CHECK struct ot_err *fl_host_ask_to_stop(struct fl_host *h);
/** It is lost: report @p why. */
void fl_host_lose(struct fl_host *h, const char *why);
static inline bool fl_host_is_over(const struct fl_host *h)
{
	return h->state >= FL_HOST_ENDED;
}
/** Make the fleet's descriptor wait for the link's events. */
OT_MUST_CHECK struct ot_err *fl_host_watch(struct fl_host *h);

/* spec.c */
/** Split "ssh://[USER@]HOST/GUESTS"; the texts are @p arena's. */
OT_MUST_CHECK struct ot_err *fl_spec_parse(const char *spec, struct ot_arena *arena, const char **ret_host,
					   const char **ret_guests);

/** Note "HOSTS/GUESTS" for fl_nats_invite(). */
OT_MUST_CHECK struct ot_err *fl_spec_want(struct fl_fleet *fleet, const char *spec);

/* run.c */
/** Freeze the contents of RUN: a clause may set options later, and a thread may need it. */
OT_MUST_CHECK struct ot_err *fl_run_keep(struct fl_fleet *fleet);
/** Append RUN for a host's @p guests to @p out; the same text each time, once the scripts are read. LIMIT: it
 * is too large to be sent. */
OT_MUST_CHECK struct ot_err *fl_run_put(const struct fl_fleet *fleet, const char *guests, struct ot_buf *out);

/* program.c: PROGRAM and ENABLED. */
OT_MUST_CHECK struct ot_err *fl_host_take_program(struct fl_host *h, const void *data, size_t len);
OT_MUST_CHECK struct ot_err *fl_host_take_enabled(struct fl_host *h, const void *data, size_t len);
/** Lay out clause number @p clause of its program @p p, once. BAD_DATA: its actions are not allowed. */
OT_MUST_CHECK struct ot_err *fl_host_lay_out(struct fl_host *h, struct fl_program_there *p, uint32_t clause);
/** Give its aggregations the numbers of the operator's program. */
OT_MUST_CHECK struct ot_err *fl_program_bind(struct fl_program_there *p, const struct dif_program *prog);
void fl_program_destroy(struct fl_program_there *p);

/* trust.c: what a host's clause can make the operator's process do. */
/** Bits for the actions in the texts, whose scripts are read. */
unsigned fl_trust_of(const struct con_texts *texts);
/** BAD_DATA: the clause has an action on this side that no text has, or that no guest's clause may have, or
 * an invalid format. */
OT_MUST_CHECK struct ot_err *fl_trust_clause(unsigned may_act, const struct dif_program *prog,
					     const struct dif_clause *clause);

/* data.c: RECORDS, AGGREGATES, FAULTS, DROPS, OVERLOAD. Errors of a host are BAD_DATA, other ones the sink's.
 */
OT_MUST_CHECK struct ot_err *fl_host_take_data(struct fl_host *h, enum fl_kind kind, const void *data,
					       size_t len);

/* qualify.c */
/** Put this host's name before its guest's in @p data, which has @p n data @p recs within it; valid until the
 * next call. */
OT_MUST_CHECK struct ot_err *fl_host_qualify(struct fl_host *h, const struct vp_enabled *ecb,
					     const struct dif_rec *recs, uint32_t n, struct fl_bytes *data);

/* news.c: GUEST and SAY. */
OT_MUST_CHECK struct ot_err *fl_host_take_guest(struct fl_host *h, const void *data, size_t len);
OT_MUST_CHECK struct ot_err *fl_host_take_say(struct fl_host *h, const void *data, size_t len);
/** Print a message about a host, after its name. The text is untrusted, and is reduced to one line. */
void fl_host_say(struct fl_host *h, const char *text);
/** The same for a message of its carrier: @p arg is a struct fl_host. */
void fl_host_hear(void *arg, const char *line);
/** The same without a host, with a hint. */
void fl_fleet_say(struct fl_fleet *fleet, const char *text, const char *hint);
/** Replace controls in untrusted lines by '?', in place. */
void fl_tame_lines(char *text);

/* names.c */
OT_MUST_CHECK struct ot_err *fl_host_take_names(struct fl_host *h, const void *data, size_t len);
/** NULL: not a host's number, or not defined. */
const struct fl_called *fl_called_of(const struct fl_fleet *fleet, uint32_t guest, uint64_t number);
/** NULL: no such guest. */
struct fl_guest_there *fl_guest_of(const struct fl_fleet *fleet, uint32_t guest, struct fl_host **ret_host);

/* room.c: limits of what hosts can make this side keep. */
/** Set limits from the free memory, before the first host sends anything. */
void fl_room_find(struct fl_fleet *fleet);
/** Reserve @p bytes for programs, probes and names. BAD_DATA: no room, and the host's data can't be read any
 * more. */
OT_MUST_CHECK struct ot_err *fl_room_take(struct fl_host *h, uint64_t bytes);
/** Report dropped keys of the host's aggregations, at most once a second; @p now_ns UINT64_MAX: now. */
OT_MUST_CHECK struct ot_err *fl_room_tell(struct fl_host *h, uint64_t now_ns);

/* clocks.c */
/** Set the offset of the host's clock from @p there. */
void fl_host_take_clock(struct fl_host *h, const struct fl_clock *there);
uint64_t fl_host_time(const struct fl_host *h, uint64_t there);

/* fleet.c */
/** Open a further session with a host of the fleet: @p spec is ssh's name for it, @p name the operator's. */
OT_MUST_CHECK struct ot_err *fl_fleet_add_ssh(struct fl_fleet *fleet, const char *spec, const char *name,
					      const char *guests);

/* prepare.c */
/** Wait for @p fleet's descriptor until @p until_ns at most. *ret_woken: @p wake_fd is readable. */
OT_MUST_CHECK struct ot_err *fl_fleet_wait(struct fl_fleet *fleet, int wake_fd, uint64_t until_ns,
					   bool *ret_woken);

#endif
