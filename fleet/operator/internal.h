/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operator's side of a fleet, as its files share it. */
#ifndef FLEET_OPERATOR_INTERNAL_H
#define FLEET_OPERATOR_INTERNAL_H

#include "base/account.h"
#include "base/arena.h"
#include "base/map.h"
#include "fleet/operator/fleet.h"
#include "fleet/operator/order.h"
#include "fleet/operator/relay.h"

/* Engines' EPIDs are below (4 Mi), so those of hosts' clauses are no local clause's. */
#define FL_EPID_BASE 10000000u

#define FL_MOVES_MAX 64u /* guests that migrate in a session; further ones are not followed */

#define FL_WANTED_MAX 64u /* -g's that name hosts behind a broker */

/* What one host may make this side keep; how much memory that may take, room.c decides. */
#define FL_ENABLED_MAX  (1u << 20)
#define FL_PROGRAMS_MAX (VP_GUESTS_MAX + 1)
#define FL_SAYINGS_MAX  200u
#define FL_CALLED_MAX   ((1u << 20) + VP_GUESTS_MAX) /* names */
#define FL_CALLED_BYTES (256u << 20)

/* How long a host may take to compile, and, after STOP, to hand over the rest. */
#define FL_PREPARE_NS 30000000000ull
#define FL_ENDING_NS  60000000000ull
/* A host that hands over its rest within this has not been waited for. */
#define FL_LATE_NS    1000000000ull

enum fl_host_state {
	FL_HOST_GREETED,  /* HELLO is sent */
	FL_HOST_ASKED,    /* RUN */
	FL_HOST_READY,    /* … and answered */
	FL_HOST_STARTING, /* START */
	FL_HOST_RUNNING,
	FL_HOST_ENDED, /* all is handed over */
	FL_HOST_LOST,  /* … or not */
};

/* What an address of a host's guest is called. */
struct fl_called {
	const char *text, *note; /* note NULL: there is none */
};

/* One of -g's: which guests of which hosts behind a broker. */
struct fl_wanted {
	const char *hosts, *guests;
};

/* One PROGRAM of a host. A later one has the same clauses and more; what was enabled refers to its own. */
struct fl_program_there {
	struct dif_program prog;
	struct dif_layout_opts opts;
	struct ot_arena arena;
	struct fl_bytes message;            /* as it came, where it is passed on */
	struct dif_clause_layout **layouts; /* by clause; NULL: none of its probes is enabled */
	bool is_bound;
};

struct fl_guest_there {
	char *name; /* "h1/web01"; NULL: there is none */
	bool is_here;
	char uuid[40];     /* "": not known */
	uint64_t since_ns; /* it is traced, by this side's clock */
};

struct fl_move; /* follow.c: a guest that migrates from one host to another */

struct fl_host {
	struct fl_fleet *fleet;
	uint32_t index;
	char *name;           /* as the operator calls it */
	char *spec;           /* … and as ssh does */
	struct ot_buf guests; /* patterns, with blanks between them */
	struct ot_buf run;    /* the message RUN, if it is given */
	struct fl_link *link; /* NULL: not any more */
	int fd;               /* in the fleet's set; -1 */
	short events;
	enum fl_host_state state;

	struct fl_guest_there there[VP_GUESTS_MAX];
	struct fl_program_there *programs[FL_PROGRAMS_MAX];
	uint32_t nprograms;
	struct ot_map enabled; /* the host's EPID → struct vp_enabled */
	struct ot_map names;   /* number → struct fl_called */
	struct ot_arena arena;
	struct ot_account meanings; /* programs, probes and names */
	struct ot_account keys;     /* of aggregations, which the consumer keeps */
	uint64_t drops_told;        /* of those that found no room */
	uint64_t drops_due;         /* when more of them are told */

	int64_t clock_offset; /* added to its records' times */
	bool has_clock;
	uint64_t upto_ns; /* it has handed over its records up to then, by this side's clock */

	struct fl_ready ready;
	bool exited;
	int status;
	bool failed; /* it has ended by an error, which was said */
	bool by_ssh;
	const struct fl_move *follows; /* it was asked for that guest alone; NULL */
	bool lost_guest;               /* a guest has left it, neither by its own end nor to be followed */
	bool has_moved;                /* it has ended because its last guest has migrated */
	char *left_text;               /* how the last one that left did; NULL */
	unsigned sayings;
	uint64_t heard_ns;   /* when anything came last */
	uint64_t stopped_ns; /* when STOP was sent; 0: it was not */
	uint64_t ended_ns;
};

/* Who passes on what hosts hand over: a merger (fleet/merge/). */
struct fl_tap {
	void *arg;
	/** RUN for @p h appended to @p out. */
	struct ot_err *(*run)(void *arg, const struct fl_host *h, struct ot_buf *out);
	/** A message of @p h's that was found right, after its data has gone to the sink; or that it refuses,
	 * which is the end of it. */
	struct ot_err *(*took)(void *arg, struct fl_host *h, enum fl_kind kind, const void *data, size_t len);
	void (*lost)(void *arg, struct fl_host *h, const char *why);
};

struct fl_fleet {
	struct fl_fleet_config config;
	const struct fl_tap *tap; /* NULL: none */
	bool held;                /* hosts are to wait: their links are kept alive, and nothing is taken */
	struct fl_host *hosts[FL_HOSTS_MAX];
	uint32_t nhosts;
	int set, timer; /* epoll; a timer in it */
	struct ot_arena arena;
	struct fl_wanted wanted[FL_WANTED_MAX]; /* hosts that are invited when the program is known */
	size_t nwanted;

	const struct dif_program *prog; /* the operator's, once bound */
	struct vp_sink sink;            /* where data goes: the order's or the consumer's */
	struct fl_order order;
	struct con_symbols others; /* fl_fleet_names() */
	uint32_t next_epid;
	struct ot_pool meanings, keys; /* of all hosts */
	unsigned may_act;              /* bits of trust.c: what the texts do on this side */
	struct ot_buf qualified;
	struct ot_map said; /* what hosts have said: of the program they say the same */
	uint64_t *words;    /* an aggregation's, aligned */
	size_t words_cap;
	bool is_started;
	bool has_guests;   /* of this host there are some too */
	struct ot_buf run; /* of no guests, once it is kept */
	struct fl_move *moves[FL_MOVES_MAX];
	uint32_t nmoves;
};

/* host.c: the state of one host, and its messages. */
OT_MUST_CHECK struct ot_err *fl_host_create(struct fl_fleet *fleet, const char *name, const char *spec,
					    struct fl_carrier *carrier, struct fl_seal *seal, uint32_t index,
					    struct fl_host **ret);
void fl_host_destroy(struct fl_host *h);
/** Take what has come. An error is the sink's: what is wrong with the host ends the host. */
OT_MUST_CHECK struct ot_err *fl_host_pump(struct fl_host *h);
/** The same before the program runs: what is wrong with the host is the error. */
OT_MUST_CHECK struct ot_err *fl_host_pump_strictly(struct fl_host *h);
OT_MUST_CHECK struct ot_err *fl_host_send(struct fl_host *h, enum fl_kind kind, const struct ot_buf *body);
/** START, and STOP if it was not sent before. */
OT_MUST_CHECK struct ot_err *fl_host_begin(struct fl_host *h);
OT_MUST_CHECK struct ot_err *fl_host_ask_to_stop(struct fl_host *h);
/** It is lost: @p why is said. */
void fl_host_lose(struct fl_host *h, const char *why);
static inline bool fl_host_is_over(const struct fl_host *h)
{
	return h->state == FL_HOST_ENDED || h->state == FL_HOST_LOST;
}
/** Have the fleet's descriptor wait for what the link does. */
OT_MUST_CHECK struct ot_err *fl_host_watch(struct fl_host *h);

/* spec.c */
/** Take "ssh://[USER@]HOST/GUESTS" apart; the texts are @p arena's. */
OT_MUST_CHECK struct ot_err *fl_spec_parse(const char *spec, struct ot_arena *arena, const char **ret_host,
					   const char **ret_guests);

/** Note "HOSTS/GUESTS" for fl_nats_invite(). */
OT_MUST_CHECK struct ot_err *fl_spec_want(struct fl_fleet *fleet, const char *spec);

/* run.c */
/** From now on RUN is what it is now: a clause may set options meanwhile, and a thread may ask for it. */
OT_MUST_CHECK struct ot_err *fl_run_keep(struct fl_fleet *fleet);
/** RUN for a host's @p guests appended to @p out: twice the same, if the scripts are read. LIMIT: it is too
 * large to be sent. */
OT_MUST_CHECK struct ot_err *fl_run_put(const struct fl_fleet *fleet, const char *guests, struct ot_buf *out);

/* program.c: PROGRAM and ENABLED. */
OT_MUST_CHECK struct ot_err *fl_host_take_program(struct fl_host *h, const void *data, size_t len);
OT_MUST_CHECK struct ot_err *fl_host_take_enabled(struct fl_host *h, const void *data, size_t len);
/** Lay out clause number @p clause of its program @p p, once. BAD_DATA: it may not do what it does. */
OT_MUST_CHECK struct ot_err *fl_host_lay_out(struct fl_host *h, struct fl_program_there *p, uint32_t clause);
/** Give its aggregations the numbers of the operator's program. */
OT_MUST_CHECK struct ot_err *fl_program_bind(struct fl_program_there *p, const struct dif_program *prog);
void fl_program_destroy(struct fl_program_there *p);

/* trust.c: what a host's clause may have the operator's process do. */
/** Bits for what the texts, whose scripts are read, name. */
unsigned fl_trust_of(const struct con_texts *texts);
/** BAD_DATA: the clause does something on this side that no text asks for, or that no guest's clause may, or
 * has a format that can't be printed by. */
OT_MUST_CHECK struct ot_err *fl_trust_clause(unsigned may_act, const struct dif_program *prog,
					     const struct dif_clause *clause);

/* data.c: RECORDS, AGGREGATES, FAULTS, DROPS, OVERLOAD. Errors of a host are BAD_DATA, other ones the sink's.
 */
OT_MUST_CHECK struct ot_err *fl_host_take_data(struct fl_host *h, enum fl_kind kind, const void *data,
					       size_t len);

/* qualify.c */
/** Put this host's name in front of its guest's in @p data, of which @p recs are @p n data and lie within;
 * valid until the next one. */
OT_MUST_CHECK struct ot_err *fl_host_qualify(struct fl_host *h, const struct vp_enabled *ecb,
					     const struct dif_rec *recs, uint32_t n, struct fl_bytes *data);

/* news.c: GUEST and SAY. */
OT_MUST_CHECK struct ot_err *fl_host_take_guest(struct fl_host *h, const void *data, size_t len);
OT_MUST_CHECK struct ot_err *fl_host_take_say(struct fl_host *h, const void *data, size_t len);
/** A sentence about a host, whose name is put in front of it; of another's choice, so it is made one line of
 * text. */
void fl_host_say(struct fl_host *h, const char *text);
/** The same for what its carrier says: @p arg is a struct fl_host. */
void fl_host_hear(void *arg, const char *line);
/** Lines of another's choice, in place: controls become '?'. */
void fl_tame_lines(char *text);

/* names.c */
OT_MUST_CHECK struct ot_err *fl_host_take_names(struct fl_host *h, const void *data, size_t len);
/** NULL: no name of a host's, or one that it has not sent. */
const struct fl_called *fl_called_of(const struct fl_fleet *fleet, uint32_t guest, uint64_t number);
/** NULL: no such guest. */
struct fl_guest_there *fl_guest_of(const struct fl_fleet *fleet, uint32_t guest, struct fl_host **ret_host);

/* room.c: what hosts may make this side keep. */
/** Of the memory that is free now: before the first host has said anything. */
void fl_room_find(struct fl_fleet *fleet);
/** Room for @p bytes of programs, probes and names. BAD_DATA: there is none, and the host can't be understood
 * any more. */
OT_MUST_CHECK struct ot_err *fl_room_take(struct fl_host *h, uint64_t bytes);
/** Tell what the host's aggregations had no room for: once a second, and when it is over. */
OT_MUST_CHECK struct ot_err *fl_room_tell(struct fl_host *h, uint64_t now_ns);

/* clocks.c */
/** What @p there says of the host's clock, now. */
void fl_host_take_clock(struct fl_host *h, const struct fl_clock *there);
uint64_t fl_host_time(const struct fl_host *h, uint64_t there);

/* follow.c */
/** Its memory was about to be migrated, or saved, at @p left_ns: it is looked for at other hosts. *ret false:
 * it is not, since the session ends, or guests have migrated too often in it. */
OT_MUST_CHECK struct ot_err *fl_follow_left(struct fl_host *h, const struct fl_guest_there *there,
					    uint64_t left_ns, bool *ret);
/** It is traced there. *ret: it is one that is looked for, and the line was said. */
OT_MUST_CHECK struct ot_err *fl_follow_joined(struct fl_host *h, const struct fl_guest_there *there,
					      bool *ret);
/** Take in hosts that were found, and give up guests that are not. */
OT_MUST_CHECK struct ot_err *fl_follow_poll(struct fl_fleet *fleet);
/** When that is to be done at the latest; UINT64_MAX. */
uint64_t fl_follow_due_ns(const struct fl_fleet *fleet);
/** Is a guest looked for? */
bool fl_follow_goes_on(const struct fl_fleet *fleet);
/** Give all of them up. */
OT_MUST_CHECK struct ot_err *fl_follow_stop(struct fl_fleet *fleet);
/** Is it @p h's guests' migrations alone that its session has ended by, with @p text? */
bool fl_follow_explains(const struct fl_host *h, const char *text);
/** … and one of them was not found again. */
bool fl_follow_lost(const struct fl_host *h);
void fl_follow_destroy(struct fl_fleet *fleet);

/* fleet.c */
/** A further session with a host of the fleet: @p spec as ssh has it, @p name as the operator does. */
OT_MUST_CHECK struct ot_err *fl_fleet_add_ssh(struct fl_fleet *fleet, const char *spec, const char *name,
					      const char *guests);

/* prepare.c */
/** A host that is ready begins. */
OT_MUST_CHECK struct ot_err *fl_host_start(struct fl_host *h);
/** Wait for @p fleet's descriptor until @p until_ns at most. *ret_woken: @p wake_fd is readable. */
OT_MUST_CHECK struct ot_err *fl_fleet_wait(struct fl_fleet *fleet, int wake_fd, uint64_t until_ns,
					   bool *ret_woken);

#endif
