/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session's parts, shared by the files of this folder only.
 *
 *   session ─┬─ guest links   what was attached: connection, symbols, types, probes
 *            ├─ sources       engines that hand out data: source 0 is the host engine in this
 *            │                process, then one for each guest
 *            ├─ enabled[]     EPID → clause, probe, layout
 *            └─ pending       records that came, not yet in the past of every source
 */
#ifndef VP_SESSION_INTERNAL_H
#define VP_SESSION_INTERNAL_H

#include "base/buf.h"
#include "dif/vm/dynvar.h"
#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/backend/gdb/gdb.h"
#include "vmm-probe/backend/peek/peek.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/shared.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/inject/inject.h"
#include "vmm-probe/session/host_symbols.h"
#include "vmm-probe/session/host_types.h"
#include "vmm-probe/session/session.h"

#define VP_GUESTS_MAX 16

struct vp_guest_link {
	struct vp_client client; /* sock -1: a dump, in which nothing runs */
	struct vp_phys *phys;
	struct vp_dump *dump; /* NULL: a running guest */
	struct vp_gdb *gdb;   /* the engine of a guest behind a gdb stub, in this process; NULL: in another */
	struct vp_peek *peek; /* the same of one that is looked at from beside its VMM */
	bool tentative;       /* looked at, and when a program needs more, one is put there */
	const struct vp_probe *needed_for; /* … which it does, for this one first; NULL: it does not */
	char *no_engine;                   /* why none could work there; NULL: one could */
	char *unread;                      /* why no kernel was found; NULL: it was */
	bool unread_fault;                 /* … some of its memory was missing */
	char *fell_back; /* looked at, and why there is nothing better; NULL: that was what was wanted */
	bool file_fault; /* its kernel could not be read because of --vmlinux or --symbols */
	struct vp_guest *guest; /* NULL: looked at, and no kernel was found */
	struct vp_probes *probes;
	struct vp_facts facts;
	int orc_fd;                     /* unwind table; -1: none */
	bool hooked;                    /* its engine is in a VMM that is not ours, and told … */
	struct vp_inject_states states; /* … this when it was attached */
};

/* NULL: no kernel was found in this guest. */
static inline const struct vp_symtab *vp_link_symtab(const struct vp_guest_link *link)
{
	return link->guest ? vp_guest_symtab(link->guest) : NULL;
}

/* What tells whether a guest's kernel is still the one that was attached. */
struct vp_kernel_watch {
	bool known;
	uint32_t state;      /* its system_state when last looked */
	uint64_t restart_ns; /* since when it is SYSTEM_RESTART; 0: it is not */
	bool doubted;        /* when last looked, another kernel seemed to run */
};

/* Where data comes from: an engine, with the buffers it writes. */
struct vp_source {
	struct vp_guest_link *link; /* NULL: the host engine */
	uint32_t guest;             /* index, for records; 0 for the host engine */
	uint32_t ncpus;
	struct vp_msg_open open;
	uint64_t shared_size; /* from open.status_offset on: bytes of shared memory that are its own */
	struct vp_session_memory memory;
	bool opened;
	bool started;
	bool gone;     /* its VMM has ended */
	bool read_out; /* and what it had written was read */
	bool has_work; /* something is enabled here */
	struct vp_kernel_watch watch;
	struct vp_vcpu_status *seen; /* what was last read of each vCPU, for differences */
	struct vp_patching patching; /* as the engine last said */
	uint64_t lost_seen;          /* … of which so many sites were reported */
	struct ot_buf batch_probes, batch_sites, batch_ecbs, batch_strings, batch_agent;
	bool agent_gone;                  /* the guest has unloaded its agent */
	bool agent_moved;                 /* … and loaded it again */
	struct vp_clock_mark agent_clock; /* as last told while it was known */
	uint64_t agent_missed;            /* hits that its kprobes had missed before the session */
};

/* A tick-n, or a profile-n where there is no guest: fired by this process. */
struct vp_tick {
	uint32_t probe_id;
	uint64_t interval_ns;
	uint64_t next_ns;
};

/* A record or fault, copied out of a half. */
struct vp_pending {
	uint64_t time_ns;
	uint64_t order; /* of arrival: keeps per-CPU order between equal times */
	uint32_t source;
	uint32_t cpu;
	uint8_t *data;
	uint32_t size;
};

struct vp_session {
	struct vp_session_config config;
	struct dif_options *options;
	struct dif_world world;

	struct vp_guest_link *links[VP_GUESTS_MAX];
	uint32_t nlinks;
	bool used_address;             /* a program was given the address of a symbol */
	struct vp_probes *host_probes; /* when there is no guest */
	struct vp_host_types host_types;
	struct vp_host_symbols host_symbols; /* of processes, when there is no guest */

	struct vp_engine *host_engine;
	struct vp_es *host_es;
	struct vp_source *sources;
	uint32_t nsources;

	struct dif_program *prog;
	struct vp_sink sink;
	struct ot_arena arena; /* layouts */
	struct dif_layout_opts layout_opts;
	bool aggregates;                   /* some clause does */
	struct dif_clause_layout *layouts; /* by clause */
	struct vp_enabled *enabled;        /* by EPID - 1 */
	size_t nenabled, enabled_cap;

	int shared_fd;
	uint8_t *shared;
	uint64_t shared_size;
	struct dif_dynvars *dynvars;
	struct dif_dynvar_drops dynvar_seen;
	struct vp_tick *ticks;
	size_t nticks, ticks_cap;

	struct vp_pending *pending;
	size_t npending, pending_cap;
	uint64_t pending_bytes; /* of records in it */
	uint64_t next_order;

	uint64_t next_agent_ns;
	/* when last, for setopt() changes the rates meanwhile; 0: never */
	uint64_t last_switch_ns, last_agg_ns, last_status_ns;
	uint64_t next_clean_ns, next_kernel_ns;
	bool exited;
	int exit_status;
	const char *gone_reason; /* gone_text; NULL: none is gone */
	char gone_text[VP_GUEST_NAME + 128];
	enum vp_guest_end guest_end; /* with it */
};

/* attach.c */
/** BUSY: the guest of that VMM is in the session already. */
OT_MUST_CHECK struct ot_err *vp_check_once(const struct vp_session *s, pid_t pid);
/** Probes, and which of them can be had where the guest's text has to be changed for them. */
OT_MUST_CHECK struct ot_err *vp_link_list_probes(struct vp_session *s, struct vp_guest_link *link);
void vp_link_destroy(struct vp_guest_link *link);
/** Connect to the engine that listens at @p path, and read its guest. */
OT_MUST_CHECK struct ot_err *vp_link_attach_engine(struct vp_session *s, struct vp_guest_link *link,
						   const char *path);
/** Has the VMM's process ended? Waits that long for it. */
bool vp_vmm_has_ended(const struct vp_guest_link *link, int wait_ms);
/** The client is connected to an engine: note what its guest went through until now. */
void vp_link_note_states(struct vp_guest_link *link);
/** Registers by the client, and by them the kernel in @p phys. */
OT_MUST_CHECK struct ot_err *vp_link_read(struct vp_session *s, struct vp_guest_link *link,
					  const struct vp_phys *phys);
/** The unwind table, in a memfd for the engine. A kernel without one is unwound by frame pointers. */
OT_MUST_CHECK struct ot_err *vp_link_unwind_table(struct vp_guest_link *link);
void vp_session_progress(struct vp_session *s, const char *what);

/* beside.c: guests that are looked at from beside their VMM */
/** Connect @p link to an engine in this process for the guest that @p spec (a PID or a name) means, and read
 * it. A kernel that can't be read is done without: link->unread says why, link->guest is NULL. As
 * vp_peek_open(); BUSY: another outsight looks at it, or there is an engine in it. */
OT_MUST_CHECK struct ot_err *vp_beside_attach(struct vp_session *s, struct vp_guest_link *link,
					      const char *spec);
/** As it was before, but for link->file_fault. */
void vp_beside_close(struct vp_guest_link *link);
/** A probe of a guest is enabled. Where looking does not do for it, that is noted, or UNSUPPORTED: no engine
 * is to be put there. */
OT_MUST_CHECK struct ot_err *vp_beside_take(const struct vp_session *s, struct vp_guest_link *link,
					    const struct vp_probe *probe);

/* absent.c: guests in whose VMM there is no engine */
/** *ret_unknown: @p name means nothing that runs here. */
OT_MUST_CHECK struct ot_err *vp_absent_attach(struct vp_session *s, struct vp_guest_link *link,
					      const char *name, bool *ret_unknown);
/** Put an engine into the VMM of each guest of which something was enabled that needs one. */
OT_MUST_CHECK struct ot_err *vp_absent_enter(struct vp_session *s);

/* world.c */
void vp_world_init(struct vp_session *s);

/* batch.c: what is enabled, into enabled[] and each source's batch. Needs layouts and sources. */
OT_MUST_CHECK struct ot_err *vp_batches_make(struct vp_session *s);
bool vp_clause_wants_guest(const struct vp_session *s, const struct dif_clause *clause, uint32_t guest);
/** LIMIT when so many places in a guest are more than debug registers. */
OT_MUST_CHECK struct ot_err *vp_check_debug_registers(size_t places);
/** Look up the sites of a guest's batch again: its text is not what was read of it. */
OT_MUST_CHECK struct ot_err *vp_batch_reread(struct vp_session *s, struct vp_source *src);
/* enable.c: what the batch of a guest's source holds goes to its engine. */
OT_MUST_CHECK struct ot_err *vp_batch_send(struct vp_source *src);

/* agent.c: which views a probe is enabled on, by -x view and by what there is: VP_VIEW_*, never none. */
enum { VP_VIEW_OUTSIDE = 1, VP_VIEW_INSIDE = 2 };
unsigned vp_views_of(const struct vp_session *s, uint32_t guest, const struct vp_probe *probe);
/** @p bp as the agent has it. vp_views_of() has said that it has. */
void vp_batch_inside(const struct vp_source *src, const struct vp_probe *probe, struct vp_batch_probe *bp);
/** What an engine must know of the guest's agent, if something of it is enabled. */
OT_MUST_CHECK struct ot_err *vp_batch_add_agent(struct vp_source *src);
/** Report how many probes the guest's agent would not turn on; and, at the end, how many hits its kprobes
 * missed. */
OT_MUST_CHECK struct ot_err *vp_agents_started(struct vp_session *s);
OT_MUST_CHECK struct ot_err *vp_agents_stopped(struct vp_session *s);
/** The guest has unloaded its agent: if there is another now, go on with that one. */
OT_MUST_CHECK struct ot_err *vp_agents_look(struct vp_session *s);
/** The sites of the agent's calls, appended to the batch. */
OT_MUST_CHECK struct ot_err *vp_batch_agent_sites(struct vp_source *src, struct vp_batch_probe *bp);

/** The message that ENABLE carries, appended to @p out. */
OT_MUST_CHECK struct ot_err *vp_batch_assemble(struct vp_source *src, struct ot_buf *out);

/* sizes.c: run-time sizes and rates that can be had, written back to the options. Needs layouts and sources.
 */
OT_MUST_CHECK struct ot_err *vp_sizes_fit(struct vp_session *s);

/* memory.c: whose memory a session takes */
/** How much of each VMM's, and whether that has room for it; @p parts: what is the same for all engines.
 * LIMIT with the figures. Needs batches, and each source's OPEN, whose scratch_max it sets. */
OT_MUST_CHECK struct ot_err *vp_memory_fit(struct vp_session *s, const struct vp_private_parts *parts);
/** Have the pages that engines in other processes will write charged to this one. */
OT_MUST_CHECK struct ot_err *vp_memory_make_pages(const struct vp_session *s);

/* share.c: one memfd for globals, dynamic variables and every engine's buffers. */
OT_MUST_CHECK struct ot_err *vp_share_create(struct vp_session *s);
void vp_share_destroy(struct vp_session *s);

/* drain.c */
enum {
	VP_DRAIN_STATUS = 1, /* tell of drops, ask engines how it is going */
	VP_DRAIN_TAKE = 2,   /* exchange halves: aggregations go to the sink, records wait */
	VP_DRAIN_GIVE = 4,   /* records of a time that all engines have covered go to the sink */
	VP_DRAIN_ALL = 8,    /* with that: all of them */
};
/** What @p what says, in that order. */
OT_MUST_CHECK struct ot_err *vp_drain(struct vp_session *s, unsigned what);
bool vp_exit_called(struct vp_session *s);
void vp_pending_free(struct vp_session *s);

/* tick.c */
uint64_t vp_ticks_next(const struct vp_session *s);
void vp_ticks_fire(struct vp_session *s, uint64_t now);
OT_MUST_CHECK bool vp_tick_add(struct vp_session *s, const struct vp_probe *probe);

/* ended.c */
/* A guest's VMM ended: remember it, go on without the guest. Other errors come back. */
OT_MUST_CHECK struct ot_err *vp_note_gone(struct vp_session *s, struct vp_source *src, struct ot_err *err);
/* Has an engine said that its guest ended? */
void vp_ends_look(struct vp_session *s);
/* Are the guests' kernels still those that were attached? Reads their memory: once a second is enough. False:
 * it seems that one is not, which is to be looked at again soon; the second such look believes it. */
bool vp_kernels_look(struct vp_session *s, uint64_t now);

#endif
