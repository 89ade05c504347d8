/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The consumer of a session's data: splits records, merges aggregations, counts faults; an output
 * (output/output.h) prints them. One for each session; its sink is passed to vp_session_enable().
 */
#ifndef CONSUMER_CONSUMER_H
#define CONSUMER_CONSUMER_H

#include "consumer/faults.h"
#include "consumer/formats.h"
#include "consumer/output/output.h"
#include "consumer/replaced.h"

/*
 * An observer that gets records and data before they are written, and may suppress them: a library's caller.
 * For each record record(); for each datum, in order, datum() and, when its output was written, written();
 * then record_end(). Several data may be one statement, printf()'s arguments, of which only the first is
 * passed. An error ends the session's poll.
 */
struct con_watcher {
	/** *ret_shown false: nothing of the record is written, and no more of it is passed. */
	struct ot_err *(*record)(void *arg, const struct vp_record *r, bool *ret_shown);
	/** *ret_shown false: this datum is not written; the next one is passed on its own. */
	struct ot_err *(*datum)(void *arg, const struct vp_record *r, const struct con_datum *d,
				bool *ret_shown);
	struct ot_err *(*written)(void *arg, const struct vp_record *r, const struct con_datum *d);
	struct ot_err *(*record_end)(void *arg, const struct vp_record *r);
};

struct con_consumer {
	struct con_output *out; /* owned */
	struct dif_options *opts;
	const char *out_name;      /* for messages: -o's file or "<stdout>" */
	struct con_replaced *file; /* of -o, if the output renews it; borrowed; NULL: it doesn't */
	uint64_t shown_ns;         /* when interval() was called; UINT64_MAX: for the last time */
	struct con_aggs aggs;
	bool compare;           /* set before the first data: aggregations are separate for each view */
	struct con_aggs inside; /* … the view of the guest's agent */
	struct con_formats formats;
	bool has_error_clause;
	struct con_faults faults;
	int saved_fd; /* the output before freopen(); -1: not reopened */

	/* A record that the output needs together with the next one. */
	struct vp_record held;
	uint8_t *held_data;
	size_t held_cap;

	/* Called periodically while data is delivered; true: the user does not want to wait. */
	bool (*impatient)(void *arg);
	void *impatient_arg;
	unsigned since_asked;

	const struct con_watcher *watcher; /* NULL: everything is written */
	void *watcher_arg;

	/* Gets sentences about things that are not traced or failed; @p hint NULL: there is none. Initially
	 * set to a function that prints them as messages. */
	void (*say)(void *arg, const char *text, const char *hint);
	void *say_arg;

	struct vp_session *session; /* borrowed; whose names the printer shows */
};

/** Data is written by @p ops to @p fp. @p opts is read at every record (setopt() changes it); @p prog and @p
 * fp are borrowed. To be deinited after an error too. */
OT_MUST_CHECK struct ot_err *con_consumer_init(struct con_consumer *c, struct dif_options *opts,
					       const struct dif_program *prog,
					       const struct con_output_ops *ops, FILE *fp);
void con_consumer_deinit(struct con_consumer *c);

struct vp_sink con_consumer_sink(struct con_consumer *c);

/** The printer's names for addresses, guests and vCPUs are those of @p s, whose guests are attached;
 * borrowed. */
void con_consumer_names(struct con_consumer *c, struct vp_session *s);

/** At the end of a wake-up: print what was held back, aggregations too if the output shows them at each
 * aggrate, and write everything out. OS: the output can't be written. */
OT_MUST_CHECK struct ot_err *con_consumer_flush(struct con_consumer *c);

/** The aggregations that no printa() has printed. */
OT_MUST_CHECK struct ot_err *con_consumer_finish(struct con_consumer *c);

/** The same for a comparison: the aggregations of both views side by side, and @p window, which has ended. @p
 * tables false: the user does not want to wait for the aggregations. */
OT_MUST_CHECK struct ot_err *con_consumer_compare(struct con_consumer *c, const struct con_window *window,
						  bool tables);

/** libact.c: carry out an action of a record. @p run is one statement's @p n data. */
OT_MUST_CHECK struct ot_err *con_libact(struct con_consumer *c, const struct vp_enabled *ecb,
					const struct con_datum *run, unsigned n);
OT_MUST_CHECK struct ot_err *con_system(struct con_consumer *c, const struct dif_format *fmt,
					const struct con_datum *args, unsigned nargs);
OT_MUST_CHECK struct ot_err *con_freopen(struct con_consumer *c, const struct vp_enabled *ecb,
					 const struct dif_format *fmt, const struct con_datum *args,
					 unsigned nargs);

#endif
