/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session's parts, shared by the files of this folder only.
 *
 *   session ─┬─ guest links   what was attached: connection, symbols, types, probes
 *            ├─ feeds         engines that hand out data: feed 0 is the host engine in this
 *            │                process, then one for each guest
 *            ├─ enabled[]     EPID → clause, probe, layout
 *            └─ pending       records received, not yet covered by every feed
 */
#ifndef VP_SESSION_INTERNAL_H
#define VP_SESSION_INTERNAL_H

#include "base/buf.h"
#include "dif/vm/dynvar.h"
#include "vmm-probe/attach/link.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/shared.h"
#include "vmm-probe/session/host_symbols.h"
#include "vmm-probe/session/host_types.h"
#include "vmm-probe/session/session.h"

/* Data for detecting that a guest's kernel is no longer the attached one. */
struct vp_kernel_watch {
	bool known;
	uint32_t state;      /* its system_state at the last check */
	uint64_t restart_ns; /* start of SYSTEM_RESTART; 0: not in that state */
	bool doubted;        /* at the last check another kernel seemed to run */
};

/* The site programs of a batch. */
struct vp_batch_programs {
	struct dif_clause *list;
	size_t n, cap;
	struct ot_map index; /* by the registry's number: 1 + where it is in the list */
	struct ot_buf dof;   /* the list, as the batch has it */
};

/* A source of data: an engine, with the buffers that it writes. */
struct vp_feed {
	struct vp_guest_link *link; /* NULL: the host engine */
	uint32_t guest;             /* index, for records; 0 for the host engine */
	uint32_t ncpus;
	struct vp_msg_open open;
	uint64_t shared_size; /* from open.status_offset on: bytes of shared memory that are its own */
	struct vp_session_memory memory;
	bool opened;
	bool started;
	bool gone;             /* its VMM has ended */
	enum vp_guest_end end; /* of its guest, once noticed; else VP_GUEST_RUNS */
	bool read_out;         /* and its data has been read */
	bool has_work;         /* something is enabled here */
	struct vp_kernel_watch watch;
	struct vp_vcpu_status *seen; /* the last status read of each vCPU, for differences */
	struct vp_patching patching; /* as last reported by the engine */
	uint64_t lost_seen;          /* … of which this many lost sites were reported */
	struct ot_buf batch_probes, batch_sites, batch_ecbs, batch_strings, batch_agent;
	struct vp_batch_programs batch_programs;
	bool agent_gone;                  /* the guest has unloaded its agent */
	bool agent_moved;                 /* … and loaded it again */
	struct vp_clock_mark agent_clock; /* as last reported while it was known */
	uint64_t agent_missed;            /* hits that its kprobes missed before the session */
};

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
	uint8_t *data;
	uint32_t size;
};

/* A program, laid out and matched. */
struct vp_session_program {
	struct dif_program
	    *prog; /* its clauses: the user's, then those that must run before, then after them */
	uint32_t first_support, first_after;
	struct dif_layout_opts layout_opts;
	bool aggregates;                   /* by at least one clause */
	struct dif_clause_layout *layouts; /* by clause */
	struct vp_enabled *enabled;        /* by EPID - 1 */
	size_t nenabled, enabled_cap;
};

/* The memory that all engines of a session have (share.c). */
struct vp_session_shared {
	int fd;
	uint8_t *mem;
	uint64_t size;
	struct dif_dynvars *dynvars;
	struct dif_dynvar_drops dynvar_seen;
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
	uint64_t next_agent_ns, next_clean_ns, next_kernel_ns;
	uint64_t last_switch_ns, last_agg_ns, last_status_ns;
};

/* How a session ends. */
struct vp_session_end {
	bool exited;
	int exit_status;
	const char *gone_reason; /* gone_text; NULL: none is gone */
	char gone_text[VP_GUEST_NAME + 128];
	enum vp_guest_end guest_end; /* with it */
};

struct vp_session {
	struct vp_session_config config;
	struct dif_options *options;
	struct dif_world world;

	struct vp_links links;
	bool used_address;             /* a program holds the address of a symbol */
	struct vp_probes *host_probes; /* when there is no guest */
	struct vp_host_types host_types;
	struct vp_host_symbols host_symbols; /* of processes, when there is no guest */

	struct vp_engine *host_engine;
	struct vp_engine_session *host_es;
	struct vp_feed *feeds;
	uint32_t nfeeds;

	struct vp_session_program program;
	struct vp_sink sink;
	struct ot_arena arena; /* layouts */
	struct vp_session_shared shared;
	struct vp_session_ticks ticks;
	struct vp_session_pending pending;
	struct vp_session_due due;
	struct vp_session_end end;
};

/* world.c */
void vp_world_init(struct vp_session *s);

/* batch.c: what is enabled, into enabled[] and each feed's batch. Needs layouts and feeds. */
OT_MUST_CHECK struct ot_err *vp_batches_make(struct vp_session *s);
bool vp_clause_wants_guest(const struct vp_session *s, const struct dif_clause *clause, uint32_t guest);
/** LIMIT when so many places in a guest are more than debug registers. */
OT_MUST_CHECK struct ot_err *vp_check_debug_registers(size_t places);
/** Look up the sites of a guest's batch again: its text has changed since it was read. */
OT_MUST_CHECK struct ot_err *vp_batch_reread(struct vp_session *s, struct vp_feed *feed);
/* enable.c: send the batch of a guest's feed to its engine. */
OT_MUST_CHECK struct ot_err *vp_batch_send(struct vp_feed *feed);

/* agent.c: which views a probe is enabled on, by -x view and by availability: VP_VIEW_*, never none. */
enum { VP_VIEW_OUTSIDE = 1, VP_VIEW_INSIDE = 2 };
unsigned vp_views_of(const struct vp_session *s, uint32_t guest, const struct vp_probe *probe);
/** Add the engine's record of the guest's agent, if a probe of it is enabled. */
OT_MUST_CHECK struct ot_err *vp_batch_add_agent(struct vp_feed *feed);
/** Report how many probes the guest's agent did not enable; and, at the end, how many hits its kprobes
 * missed. */
OT_MUST_CHECK struct ot_err *vp_agents_started(struct vp_session *s);
OT_MUST_CHECK struct ot_err *vp_agents_stopped(struct vp_session *s);
/** The guest has unloaded its agent: if another is loaded now, continue with that one. */
OT_MUST_CHECK struct ot_err *vp_agents_look(struct vp_session *s);
/** The sites of the agent's calls, appended to the batch. */
OT_MUST_CHECK struct ot_err *vp_batch_agent_sites(struct vp_feed *feed, struct vp_batch_probe *bp);

/* programs.c: what sites and probes need besides the clauses that the user wrote. */
/** Replace the registry's numbers of programs in @p sites by the batch's, which has the programs from now on.
 */
OT_MUST_CHECK struct ot_err *vp_batch_add_programs(struct vp_feed *feed, struct vp_batch_site *sites,
						   uint32_t n);
/** Write feed->batch_programs.dof. */
OT_MUST_CHECK struct ot_err *vp_batch_write_programs(struct vp_feed *feed);
void vp_batch_programs_clear(struct vp_batch_programs *programs);
/** Append to the program what its probes need of clauses (vp_probes_support()); program.first_support and
 * first_after say where. */
OT_MUST_CHECK struct ot_err *vp_support_add(struct vp_session *s, struct dif_program *prog);

/** The message that ENABLE carries, appended to @p out. */
OT_MUST_CHECK struct ot_err *vp_batch_assemble(struct vp_feed *feed, struct ot_buf *out);

/* sizes.c: adjust run-time sizes and rates to the limits, and write them back to the options. Needs layouts
 * and feeds.
 */
OT_MUST_CHECK struct ot_err *vp_sizes_fit(struct vp_session *s);

/* memory.c: the memory of a session */
/** Compute the memory taken of each VMM, and check that the VMM has room for it; @p parts: those common to
 * all engines. LIMIT with the figures. Needs batches, and each feed's OPEN, whose scratch_max it sets. */
OT_MUST_CHECK struct ot_err *vp_memory_fit(struct vp_session *s, const struct vp_private_parts *parts);
/** Have the pages that engines in other processes will write charged to this one. */
OT_MUST_CHECK struct ot_err *vp_memory_make_pages(const struct vp_session *s);

/* share.c: one memfd for globals, dynamic variables and every engine's buffers. */
OT_MUST_CHECK struct ot_err *vp_share_create(struct vp_session *s);
void vp_share_destroy(struct vp_session *s);

/* drain.c */
enum {
	VP_DRAIN_STATUS = 1, /* report drops, poll engines */
	VP_DRAIN_TAKE = 2,   /* exchange halves: pass aggregations to the sink, queue records */
	VP_DRAIN_GIVE = 4,   /* pass records of the time that all engines have covered to the sink */
	VP_DRAIN_ALL = 8,    /* with GIVE: all records */
};
/** Carry out the actions in @p what, in that order. */
OT_MUST_CHECK struct ot_err *vp_drain(struct vp_session *s, unsigned what);
bool vp_exit_called(struct vp_session *s);
void vp_pending_free(struct vp_session *s);

/* tick.c */
uint64_t vp_ticks_next(const struct vp_session *s);
void vp_ticks_fire(struct vp_session *s, uint64_t now);
OT_MUST_CHECK bool vp_tick_add(struct vp_session *s, uint32_t probe_id, uint64_t interval_ns);

/* ended.c */
/* A guest's VMM ended: record it, continue without the guest. Other errors are returned. */
OT_MUST_CHECK struct ot_err *vp_note_gone(struct vp_session *s, struct vp_feed *feed, struct ot_err *err);
/* Has its guest rebooted, or continued from a saved state? Then the traced kernel has gone with all its text.
 */
bool vp_kernel_replaced(const struct vp_feed *feed);
/* Has an engine reported its guest's end? */
void vp_ends_look(struct vp_session *s);
/* Are the guests' kernels still the attached ones? Reads their memory: once a second is enough. False: one
 * seems to have been replaced, and must be checked again soon; the second such check in a row counts. */
bool vp_kernels_look(struct vp_session *s, uint64_t now);

#endif
