/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The consumer of a session's data: splits records, merges aggregations, counts faults; an output
 * (output/output.h) prints them. One for each session; its sink is passed to vp_session_enable().
 */
#ifndef CLI_CONSUMER_H
#define CLI_CONSUMER_H

#include "cli/faults.h"
#include "cli/output/output.h"
#include "cli/replaced.h"

struct cli_consumer {
	struct cli_output *out; /* owned */
	struct dif_options *opts;
	const char *out_name;      /* for messages: -o's file or "<stdout>" */
	struct cli_replaced *file; /* of -o, if the output renews it; borrowed; NULL: it doesn't */
	uint64_t shown_ns;         /* when interval() was called; UINT64_MAX: for the last time */
	struct cli_aggs aggs;
	bool compare;            /* set before the first data: aggregations are separate for each view */
	struct cli_aggs inside;  /* … the view of the guest's agent */
	struct ot_arena formats; /* parsed ones, and the map's values */
	struct ot_map by_action; /* action → its parsed format */
	bool has_error_clause;
	struct cli_faults faults;
	int saved_fd; /* the output before freopen(); -1: not reopened */

	/* A record that the output needs together with the next one. */
	struct vp_record held;
	uint8_t *held_data;
	size_t held_cap;

	/* Called periodically while data is delivered; true: the user does not want to wait. */
	bool (*impatient)(void *arg);
	void *impatient_arg;
	unsigned since_asked;
};

/** Data is written by @p ops to @p fp. @p opts is read at every record (setopt() changes it); @p prog and @p
 * fp are borrowed. To be deinited after an error too. */
OT_MUST_CHECK struct ot_err *cli_consumer_init(struct cli_consumer *c, struct dif_options *opts,
					       const struct dif_program *prog,
					       const struct cli_output_ops *ops, FILE *fp);
void cli_consumer_deinit(struct cli_consumer *c);

struct vp_sink cli_consumer_sink(struct cli_consumer *c);

/** At the end of a wake-up: print what was held back, aggregations too if the output shows them at each
 * aggrate, and write everything out. OS: the output can't be written. */
OT_MUST_CHECK struct ot_err *cli_consumer_flush(struct cli_consumer *c);

/** The aggregations that no printa() has printed. */
OT_MUST_CHECK struct ot_err *cli_consumer_finish(struct cli_consumer *c);

/** The same for a comparison: the aggregations of both views side by side, and @p window, which has ended. @p
 * tables false: the user does not want to wait for the aggregations. */
OT_MUST_CHECK struct ot_err *cli_consumer_compare(struct cli_consumer *c, const struct cli_window *window,
						  bool tables);

/** libact.c: carry out an action of a record. @p run is one statement's @p n data. */
OT_MUST_CHECK struct ot_err *cli_libact(struct cli_consumer *c, const struct vp_enabled *ecb,
					const struct cli_datum *run, unsigned n);
OT_MUST_CHECK struct ot_err *cli_system(struct cli_consumer *c, const struct dif_format *fmt,
					const struct cli_datum *args, unsigned nargs);
OT_MUST_CHECK struct ot_err *cli_freopen(struct cli_consumer *c, const struct vp_enabled *ecb,
					 const struct dif_format *fmt, const struct cli_datum *args,
					 unsigned nargs);

#endif
