/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session's side of an engine. */
#ifndef VP_SESSION_FEED_H
#define VP_SESSION_FEED_H

#include "base/buf.h"
#include "dif/vm/dynvar.h"
#include "vmm-probe/attach/link.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/shared.h"
#include "vmm-probe/provider/sentinels.h"
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

/* The guest's modules, as this session follows them. */
struct vp_feed_modules {
	bool followed; /* the engine reports them */
	bool asked; /* the engine was asked since the session started, and no module it named is still to be
		       read */
	uint64_t seen; /* number of the last event that was handled */
	uint32_t late; /* came, and ran before their probes were planted */
	bool ended;    /* there were too many, and no more are read */
};

/* The guest's agent, as this session uses it. */
struct vp_feed_agent {
	bool gone;                  /* the guest has unloaded it */
	bool moved;                 /* … and loaded it again */
	struct vp_clock_mark clock; /* as last reported while it was known */
	uint64_t missed;            /* hits that its kprobes missed before the session */
};

/* The memory that an engine shares with this process: two memfds, mapped one behind the other (share.c).
 * Offsets in `open` count from the start of the first. */
struct vp_feed_shared {
	int common_fd; /* variables and speculations, which it may have in common with the host engine; -1:
			  none yet */
	int own_fd;    /* status and buffers, which no other engine gets; -1: none yet */
	uint64_t common, size;       /* bytes of the first, and of both */
	uint8_t *mem;                /* NULL: not mapped */
	struct dif_dynvars *dynvars; /* NULL: there are none, or they are the host engine's */
	struct dif_dynvar_drops dynvars_seen;
};

/* An exchange of buffers that its engine was asked for (exchange.c). */
struct vp_feed_asked {
	bool waiting;        /* it has not answered */
	bool take;           /* an exchange; else only its status */
	bool busy;           /* another request of this session's waits for its reply */
	bool silent;         /* it has not answered for so long that it was reported */
	uint64_t since_ns;   /* when it was asked */
	uint64_t covered_ns; /* its data is complete up to this time */
};

/* A source of data: an engine, with the buffers that it writes. One struct with many fields: each file of the
 * session keeps its own part of an engine's state here. */
struct vp_feed {
	struct vp_session *session;
	struct vp_guest_link *link; /* NULL: the host engine */
	uint32_t guest;             /* index, for records; 0 for the host engine */
	uint32_t ncpus;
	struct vp_msg_open open;
	struct vp_feed_shared shared;
	struct vp_session_memory memory;
	bool opened;
	bool started;
	bool gone;           /* its connection broke, or was closed after its guest's end */
	uint64_t noticed_ns; /* when its guest's end was noticed, the reason may come later; 0: not noticed */
	bool ended;          /* its guest has: */
	enum vp_guest_end end; /* … in this way; else VP_GUEST_RUNS */
	bool read_out;         /* gone, and its data has been read */
	bool left;             /* ended, and only names are kept */
	bool damaged;          /* its engine has delivered invalid data, which was reported */
	char broke[160];       /* the error of its engine that ended its part of the session; "" */
	struct vp_feed_asked asked;
	bool has_work;         /* something is enabled here */
	bool follows_programs; /* arrivals.c's: their probes are enabled when they begin */
	struct vp_kernel_watch watch;
	struct vp_vcpu_status *seen; /* the last status read of each vCPU, for differences */
	struct vp_patching patching; /* as last reported by the engine */
	uint64_t lost_seen;          /* … of which this many lost sites were reported */
	struct ot_buf batch_probes, batch_sites, batch_ecbs, batch_strings, batch_agent;
	struct vp_batch_programs batch_programs;
	struct vp_feed_agent agent;
	struct vp_feed_modules modules;
	struct vp_sentinels_wish sentinels;     /* in the batch */
	struct vp_sentinels_wish planted;       /* in earlier batches, for this one to leave out */
	uint64_t registers[VP_HW_SITES];        /* addresses of sites with a debug register; 0: none … */
	uint64_t registers_before[VP_HW_SITES]; /* … those of earlier batches */
};

/** session.c: give a guest's engine its variables, have it plant its sites, and let its probes fire, if it
 * has any. */
OT_MUST_CHECK struct ot_err *vp_feed_start(struct vp_session *s, struct vp_feed *feed);
/** While a reply of this engine's is waited for, the others' data is taken. Once the session runs. */
void vp_feed_share_wait(struct vp_feed *feed);

/* Can its engine take a request? It answers one at a time, and others wait for a pending one. */
static inline bool vp_feed_can_ask(const struct vp_feed *feed)
{
	return feed->started && !feed->gone && !feed->noticed_ns && !feed->asked.waiting && !feed->asked.busy;
}

/* Of its vCPU 0. The engine may be writing there. Only while shared.mem is mapped. */
static inline struct vp_vcpu_status *vp_feed_status(const struct vp_feed *feed)
{
	return (struct vp_vcpu_status *)(void *)(feed->shared.mem + feed->open.status_offset);
}

#endif
