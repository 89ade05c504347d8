/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session's parts, shared by the files of this folder only. Functions that the files share are in batch.h,
 * agent.h, memory.h, drain.h and ended.h.
 *
 *   session ─┬─ guest links   what was attached: connection, symbols, types, probes
 *            ├─ feeds         engines that hand out data: feed 0 is the host engine in this
 *            │                process, then one for each guest
 *            ├─ enabled[]     EPID → clause, probe, layout
 *            └─ pending       records received, not yet covered by every feed
 */
#ifndef VP_SESSION_INTERNAL_H
#define VP_SESSION_INTERNAL_H

#include "vmm-probe/guest/process/processes.h"
#include "vmm-probe/session/feed.h"
#include "vmm-probe/session/host_symbols.h"
#include "vmm-probe/session/host_types.h"
#include "vmm-probe/session/kernels.h"
#include "vmm-probe/session/user_frames.h"
#include "vmm-probe/session/user_symbols.h"

/* A tick-n, or a profile-n without a guest: fired by this process. */
struct vp_tick {
	uint32_t probe_id;
	uint64_t interval_ns;
	uint64_t next_ns;
};

/* A record or fault, copied out of a half. */
struct vp_pending {
	uint64_t time_ns;
	uint64_t order; /* of arrival: keeps per-CPU order between equal times */
	uint32_t feed;
	uint32_t cpu;
	const struct vp_enabled *ecb;
	bool fault; /* struct vp_fault_record, about ecb */
	uint8_t *data;
	uint32_t size;
};

/* A program, laid out and matched. */
struct vp_session_program {
	struct dif_program *prog; /* its clauses: the user's, then those of each guest's probes; of a guest
				     that joins, behind these */
	struct dif_layout_opts layout_opts;
	bool aggregates;                   /* by at least one clause */
	bool dynamic;                      /* it has dynamic variables */
	struct dif_var_layout vars;        /* as it is now */
	struct dif_clause_layout *layouts; /* by clause */
	struct vp_enabled **enabled;       /* by EPID - 1; each stays where it is */
	size_t nenabled, enabled_cap;
};

/* The variables as BEGIN left them, for guests that have their own (variables.c). */
struct vp_session_begun {
	bool known;
	struct dif_var_layout vars; /* of … */
	const uint8_t *globals;
	struct ot_buf cells; /* struct begun_cell, key, value: of associative arrays */
	uint32_t value_size;
};

struct vp_session_pending {
	struct vp_pending *items;
	size_t n, cap;
	uint64_t bytes; /* of records in it */
	uint64_t next_order;
};

struct vp_session_ticks {
	struct vp_tick *items;
	size_t n, cap;
};

/* Times of the next, or last, periodic actions: setopt() may change the rates meanwhile; 0: never. */
struct vp_session_due {
	uint64_t next_agent_ns, next_arrivals_ns, next_clean_ns, next_kernel_ns;
	uint64_t last_switch_ns, last_agg_ns, last_status_ns;
};

/* How a session ends. */
struct vp_session_end {
	bool exited;
	int exit_status;
	const char *gone_reason;             /* the last guest's, in gone_text; NULL: one still runs */
	char gone_text[VP_GUEST_NAME + 192]; /* the reason of a broken connection has up to 160 bytes */
	bool guest_ended;                    /* at least one has: */
	enum vp_guest_end guest_end; /* … the first that was lost, or else the last one, in this way */
};

/* The process of a guest that $target is. */
struct vp_session_target {
	struct vp_guest *guest;  /* borrowed */
	struct vp_processes *ps; /* owned; NULL: its processes can't be read */
	struct vp_guest_process process;
	bool is_watched;
	bool is_doubted;  /* it was not there the last time */
	uint64_t next_ns; /* when it is checked again */
};

/* The state before a guest joins. */
struct vp_session_joining {
	uint32_t nclauses, nkernels, nfeeds;
	size_t nenabled;
};

/* The probes that this process itself fires, BEGIN, END and ticks; and the world of programs without a
 * guest. */
struct vp_session_host {
	struct vp_engine *engine;
	struct vp_engine_session *es;
	struct vp_probes *probes; /* when there is no guest … */
	struct vp_host_types types;
	struct vp_host_symbols symbols; /* … of processes */
};

struct vp_session {
	struct vp_session_config config;
	struct dif_options *options;

	struct vp_links links;
	struct vp_session_kernels kernels; /* of them */
	bool said_args;                    /* that a late probe was left out because of its args[] */
	struct vp_session_host host;
	struct vp_user_symbols user_symbols[VP_GUESTS_MAX]; /* of the guests' processes; user_seen.h */
	struct vp_frames_known
	    frames[VP_GUESTS_MAX]; /* the rules for these processes' stacks that engines have */

	struct vp_feed *feeds; /* room for 1 + VP_GUESTS_MAX: they stay where they are */
	uint32_t nfeeds;

	struct vp_session_program program;
	struct vp_sink sink;
	struct ot_buf unsaid;  /* sentences for the future sink, each with its NUL */
	struct ot_arena arena; /* layouts */
	bool apart;            /* each guest has variables of its own */
	bool awaits;           /* guests may join: the last one's end is not the session's */
	bool draining;         /* while a request waits for its reply */
	struct vp_session_begun begun;
	struct vp_session_joining joining;
	struct vp_session_ticks ticks;
	struct vp_session_pending pending;
	struct vp_session_due due;
	struct vp_session_end end;
	struct vp_session_target target;
};

/* A sentence for the operator, if the session's sink takes them. */
static inline void vp_session_say(const struct vp_session *s, const char *text)
{
	if (s->sink.say)
		s->sink.say(s->sink.arg, text);
}

/** The same of @p session for the layers below. Sentences while the program is compiled, before there is a
 * sink, are kept until vp_session_say_kept(). */
void vp_session_say_of(void *session, const char *text);
void vp_session_say_kept(struct vp_session *s);

/** world.c: set k->world, which the compiler asks for types, symbols and probes. */
/* Without a guest of this session a profile fires on this host, unless there are guests of other hosts. */
static inline bool vp_session_fires(const struct vp_session *s, const struct vp_probe *probe)
{
	return s->links.n || !s->config.has_others || probe->kind == VP_PROBE_HOST ||
	       probe->kind == VP_PROBE_ERROR;
}

void vp_world_init(struct vp_session_kernel *k);

#endif
