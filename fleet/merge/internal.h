/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merger's parts, shared by the files of this folder and by its tests.
 *
 *   merge.c    the operator's link, the rounds, the end
 *   members.c  MEMBER, invitations and answers, until a host has a link
 *   relay.c    what one host says, as OF(…); what waits until something refers to it
 *   kept.c     hosts' PROGRAMs, each once
 *   fold.c     aggregations: which keys are one, and numbers of names
 *   sums.c     … and what goes out of them, as the merger's own
 */
#ifndef FLEET_MERGE_INTERNAL_H
#define FLEET_MERGE_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "fleet/host/gather.h"
#include "fleet/host/names.h"
#include "fleet/host/records.h"
#include "fleet/merge/merge.h"
#include "fleet/operator/internal.h"
#include "fleet/trust/sign.h"

#define FL_MERGE_HOLD \
	(8u << 20) /* bytes sent to the operator and not acknowledged, beyond which hosts wait */
#define FL_MERGE_FLIGHT   (1u << 20)   /* … and beyond which no sums are added */
#define FL_MERGE_AT_ONCE  (4u << 20)   /* bytes of sums until others have their turn */
#define FL_MERGE_ENDINGS  100000000ull /* ends of hosts within this time follow the same sums */
#define FL_MERGE_ANSWER   4000000000ull
#define FL_MERGE_PROGRAMS (256u << 20) /* bytes of all hosts' distinct programs */
/* The merger's own programs: fewer than an operator accepts from one host. An aggregation without room here
 * is not folded, and is passed on as its host's. */
#define FL_MERGE_OWN      (FL_PROGRAMS_MAX - 1)

/* A PROGRAM as it came. */
struct fl_kept {
	uint8_t digest[FL_DIGEST];
	const uint8_t *data;
	size_t len;
	bool sent; /* to the operator, as some host's */
	/* As the merger's own program: by clause, whether it has an EPID, which is first_epid + the clause's
	 * number. NULL: it was not sent. */
	uint8_t *announced;
	uint32_t first_epid, nclauses;
	struct fl_printed_keys printed; /* as_name NULL: not known yet */
};

struct fl_keeping {
	struct ot_map programs; /* digest → struct fl_kept */
	struct ot_arena arena;
	size_t bytes;
};

enum fl_member_state {
	FL_MEMBER_NONE,
	FL_MEMBER_INVITED,
	FL_MEMBER_JOINED, /* it has a link, and a struct fl_host */
	FL_MEMBER_OVER,
};

struct fl_member_here {
	enum fl_member_state state;
	uint32_t number;
	const char *name;
	uint8_t key[FL_PUBLIC];
	struct ot_buf run; /* empty once it was sent */

	struct ot_buf invitations[FL_INVITATIONS_MAX];
	uint32_t ninvitations, next; /* of those, the next to be sent */
	uint8_t digest[FL_DIGEST];   /* of the last one */
	struct fl_carrier *carrier;  /* the message that waits for its host */
	uint64_t until_ns;           /* deadline of its answer */

	struct fl_host *host;
	struct fl_kept *programs[FL_PROGRAMS_MAX]; /* as host->programs */
	/* The part that the operator has received: */
	uint32_t nprograms;
	size_t nnames;
	struct ot_map enabled;

	unsigned ending;    /* FL_ENDED or FL_GONE, to be sent after the sums; 0: neither */
	struct ot_buf last; /* … and its body */
	bool told;          /* the operator has received its end */
};

/* The clause whose keys others match: it defines the aggregation's data for the operator. */
struct fl_pattern {
	struct vp_enabled ecb;
	const struct dif_agg_layout *layout;
	const struct dif_action *action;
};

/* An aggregation of a host's clause. */
struct fl_folded {
	const struct fl_pattern *pattern; /* NULL: its host's alone */
	struct fl_places places;
};

struct fl_fold {
	struct fl_gather gather;
	struct fl_names names;
	struct fl_losses losses;
	struct ot_map layouts;  /* struct dif_agg_layout * → struct fl_folded */
	struct ot_map patterns; /* the properties that keys have in common → struct fl_pattern */
	struct ot_arena arena;
	struct ot_buf tuple, likeness;
	uint32_t nown, next_epid;
	uint64_t sent_ns;   /* when sums were last sent; 0: never */
	bool alone;         /* data of one host only was received since this was cleared */
	bool said_overflow; /* of the names */
};

/* One struct with many fields: each file of this folder keeps its own part of the session here. */
struct fl_merge {
	const struct fl_merge_config *config;
	struct fl_link *link; /* the operator's */
	uint64_t lease_ns;
	int signals;             /* a descriptor; -1 */
	char operator_name[256]; /* the operator's name for itself */
	struct dif_options opts; /* the options of RUN that concern a merger */
	struct con_texts none;
	struct fl_fleet *fleet;
	struct fl_tap tap;
	struct fl_inbox *answers;
	char reply[FL_BROKER_SUBJECT];
	uint64_t answer_ns; /* how long to wait for one: FL_MERGE_ANSWER */
	unsigned forged;    /* forged or replayed answers */

	struct fl_member_here members[FL_MEMBERS_MAX];
	struct fl_member_here *by_host[FL_MEMBERS_MAX]; /* by index of struct fl_host */
	struct fl_keeping kept;
	struct fl_fold fold;
	bool has_fold;
	struct dif_program prog; /* the operator's */
	struct ot_arena arena;
	struct ot_buf of, list; /* being written */
	uint64_t endings_ns;    /* when the first of the waiting ends was received; 0: none waits */

	bool greeted, stopped; /* HELLO, STOP were received from the operator */
	bool broken;           /* its link broke */
	bool closing;          /* nothing is passed on from now on */
	int signal;            /* the signal that ended it; 0: none */
};

/* merge.c */
OT_MUST_CHECK struct ot_err *fl_merge_create(struct fl_link *link, const struct fl_merge_config *config,
					     struct fl_merge **ret);
void fl_merge_destroy(struct fl_merge *m);
/** Do everything that is possible now. Never waits. */
OT_MUST_CHECK struct ot_err *fl_merge_step(struct fl_merge *m);
/** Send a message. A failure of the link is kept in m->broken, and is not returned. */
OT_MUST_CHECK struct ot_err *fl_merge_send(struct fl_merge *m, enum fl_kind kind, const void *data,
					   size_t len);
/** The same for the message in the buffer. */
OT_MUST_CHECK struct ot_err *fl_merge_send_buf(struct fl_merge *m, enum fl_kind kind,
					       const struct ot_buf *body);
/** Keep the operator's lease while hosts deliver much at once. */
void fl_merge_keep_alive(struct fl_merge *m);
OT_MUST_CHECK struct ot_err *fl_merge_say(struct fl_merge *m, const char *text);

/* members.c */
/** Handle MEMBER. BAD_DATA: it is malformed, or a duplicate. */
OT_MUST_CHECK struct ot_err *fl_members_take(struct fl_merge *m, const void *data, size_t len);
/** Take answers, and invite those that have not answered in time. */
OT_MUST_CHECK struct ot_err *fl_members_step(struct fl_merge *m);
/** When the next attempt is due; UINT64_MAX: none. */
uint64_t fl_members_due_ns(const struct fl_merge *m);
/** It has connected: @p carrier and @p seal (NULL) become the fleet's. */
OT_MUST_CHECK struct ot_err *fl_members_join(struct fl_merge *m, struct fl_member_here *member,
					     struct fl_carrier *carrier, struct fl_seal *seal);
/** It ended as in @p ending, which is sent after the sums. */
void fl_members_end(struct fl_merge *m, struct fl_member_here *member, enum fl_kind ending, const void *body,
		    size_t len);
/** The same as GONE. */
void fl_members_lose(struct fl_merge *m, struct fl_member_here *member, const char *why);
void fl_members_deinit(struct fl_merge *m);

/* relay.c */
void fl_relay_init(struct fl_merge *m);
/** Pass on a member's message unchanged. */
OT_MUST_CHECK struct ot_err *fl_relay_pass(struct fl_merge *m, const struct fl_member_here *member,
					   enum fl_kind kind, const void *data, size_t len);
/** Handle OF: START or STOP for a member. BAD_DATA: something else. */
OT_MUST_CHECK struct ot_err *fl_relay_take(struct fl_merge *m, const void *data, size_t len);
/** Send the waiting ends, after the sums. */
OT_MUST_CHECK struct ot_err *fl_relay_endings(struct fl_merge *m);

/* kept.c */
void fl_keeping_init(struct fl_keeping *k);
void fl_keeping_deinit(struct fl_keeping *k);
/** The single copy of a PROGRAM. LIMIT: there are too many. */
OT_MUST_CHECK struct ot_err *fl_keeping_put(struct fl_keeping *k, const void *data, size_t len,
					    struct fl_kept **ret);

/* fold.c */
OT_MUST_CHECK struct ot_err *fl_fold_init(struct fl_merge *m);
void fl_fold_deinit(struct fl_fold *fold);
struct vp_sink fl_fold_sink(struct fl_merge *m);
/** The treatment of an aggregation. */
OT_MUST_CHECK struct ot_err *fl_fold_of(struct fl_merge *m, const struct vp_enabled *ecb,
					const struct dif_agg_layout *layout, const struct fl_folded **ret);

/* sums.c */
/** Give the merger's own clause of this program, @p p of host @p h, an EPID for the operator; 0: no room for
 * it. */
OT_MUST_CHECK struct ot_err *fl_sums_epid(struct fl_merge *m, struct fl_host *h, struct fl_program_there *p,
					  struct fl_kept *kept, uint32_t clause, uint32_t *ret);
/** Send names that were not sent yet, if they have @p least bytes. */
OT_MUST_CHECK struct ot_err *fl_sums_names(struct fl_merge *m, size_t least);
/** Send sums, if they are due, or @p now, and the link has room. */
OT_MUST_CHECK struct ot_err *fl_sums_send(struct fl_merge *m, bool now);
/** When they are due; UINT64_MAX: there are none. */
uint64_t fl_sums_due_ns(const struct fl_merge *m);

#endif
