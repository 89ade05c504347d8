/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output formats. The consumer splits records and carries out their actions; all printing is behind one table
 * of functions, an output. An output is one file with one `struct con_output_ops` and its name in
 * CON_OUTPUTS.
 *
 * Order of calls: a record is record(), then value(), text() or aggregation() for each statement that shows
 * something, in program order, then record_end(). Between records come fault(), drop(), overload() and
 * guest(). At the end: interrupted() if the user ended the session, the records of END, stopped(),
 * aggregation() for those that no printa() has shown, or comparison(); then end(). All are called in the
 * consumer's thread. Errors of writing stay in the stream, where the consumer finds them; only what allocates
 * returns an error.
 *
 * An output of aggregations as they grow has interval(), which gets all of them, printed or not.
 *
 * A stack has no function of its own: it is a value, a key and an argument of printf(). con_frames_next()
 * (print.h) gives its frames.
 */
#ifndef CONSUMER_OUTPUT_OUTPUT_H
#define CONSUMER_OUTPUT_OUTPUT_H

#include "consumer/agg_view.h"
#include "consumer/comparison.h"
#include "consumer/hidden.h"

/* An output's own state begins with this. */
struct con_output {
	const struct con_output_ops *ops;
	struct con_printer printer; /* the stream, names for addresses, the options */
	bool directory_explained;   /* con_text_fault() */
};

/* The treatment of -o's file if it is a regular one, or does not exist yet. */
enum con_output_file {
	CON_FILE_APPENDED,
	CON_FILE_REPLACED, /* replaced by the session's output, at its end */
	CON_FILE_RENEWED,  /* replaced by interval()'s output, each time; a stream is written at the end only
			    */
};

struct con_output_ops {
	const char *option; /* of `outsight compare`, that selects it; NULL: none */
	const char *format; /* the word of -x oformat that selects it; NULL: none */
	bool has_pretty;    /* … and that word with ",pretty" */
	const char *suffix; /* of -o's file (".prom"), that selects it if -x oformat doesn't; NULL: none */
	enum con_output_file file;
	bool binary; /* nothing for a terminal */
	size_t size; /* of its state, which starts as zeros behind struct con_output */

	/** Probes of @p prog are enabled, BEGIN has fired; its records are yet to come. NULL: not needed. */
	void (*started)(struct con_output *o, const struct dif_program *prog);
	/** Does the form of this record depend on the next one? The consumer then holds it back. NULL:
	 * never. */
	bool (*awaits_next)(const struct con_output *o, const struct vp_record *r);
	/** @p next: the next record of the same CPU, if awaits_next() requested it and there is one; else
	 * NULL. */
	void (*record)(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next);
	/** One datum: trace(), print(), tracemem(), a stack or a symbol. */
	void (*value)(struct con_output *o, const struct con_datum *d);
	/** printf(): @p fmt applied to @p args. */
	void (*text)(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		     unsigned nargs);
	/** printa() in the form @p fmt, or in the output's own where @p fmt is NULL. The view->rest of an
	 * aggregation comes at the end of a session, outside of any record. */
	struct ot_err *(*aggregation)(struct con_output *o, const struct con_agg_view *view,
				      const struct dif_format *fmt);
	void (*record_end)(struct con_output *o);

	/** All aggregations as they are now: at each aggrate, and after all records. NULL: not needed. */
	struct ot_err *(*interval)(struct con_output *o, struct con_aggs *aggs, bool last);

	/** @p count equal faults, but for their addresses if these are not @p same_address. 1: as it
	 * occurred, else a summary of those that followed it. */
	void (*fault)(struct con_output *o, const struct vp_fault_info *fault, uint64_t count,
		      bool same_address);
	void (*drop)(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count);
	void (*overload)(struct con_output *o, const struct vp_overload_info *overload);
	/** A guest has joined the session or left it; messages say it too. NULL: not needed. */
	void (*guest)(struct con_output *o, const struct vp_guest_news *news);

	/** The user ended the session: only records of END follow. */
	void (*interrupted)(struct con_output *o);
	/** All records were written. */
	void (*stopped)(struct con_output *o);
	/** Nothing follows, however the session ended: close what is open. May be called again. */
	struct ot_err *(*end)(struct con_output *o);

	/** The result of `outsight compare` with a program. */
	struct ot_err *(*comparison)(struct con_output *o, const struct con_comparison *c);
	/** The result of `outsight compare --tasks` and `--modules`. @p ways: those that were available. */
	struct ot_err *(*hidden)(struct con_output *o, const struct con_hidden_kind *kind,
				 const struct con_hidden *h, uint32_t ways);
};

/* Every output: the name of its table, con_output_NAME. */
#define CON_OUTPUTS(X)                                          \
	X(text)     /* the default: what dtrace(1) prints */    \
	X(json)     /* results of `outsight compare` as JSON */ \
	X(document) /* -x oformat=json */                       \
	X(xml)      /* -x oformat=xml */                        \
	X(jsonl)    /* -x oformat=jsonl */                      \
	X(folded)   /* -x oformat=folded */                     \
	X(flame)    /* -x oformat=flame */                      \
	X(heatmap)  /* -x oformat=heatmap */                    \
	X(prom)     /* -x oformat=prom, -o FILE.prom */         \
	X(pprof)    /* -x oformat=pprof, -o FILE.pprof */       \
	X(perfetto) /* -x oformat=perfetto, -o FILE.pftrace */

#define CON_OUTPUT_DECLARE(name) extern const struct con_output_ops con_output_##name;
CON_OUTPUTS(CON_OUTPUT_DECLARE)
#undef CON_OUTPUT_DECLARE

/** The output that @p option ("--json") of `outsight compare` selects; NULL: none. */
const struct con_output_ops *con_output_find(const char *option);
/** The output that -x oformat selects, or, without that, the suffix of -o's @p file (NULL: none). */
const struct con_output_ops *con_output_of(const struct dif_options *opts, const char *file);
/** The output of a word of -x oformat; NULL: there is none. */
const struct con_output_ops *con_output_by_format(const char *word);
/** All words of -x oformat, as "text|json|json,pretty", appended to @p out. */
void con_output_formats(struct ot_buf *out);

/** An output to @p fp. @p opts is read at every use (setopt() changes it); both are borrowed. */
OT_MUST_CHECK struct ot_err *con_output_create(const struct con_output_ops *ops,
					       const struct dif_options *opts, FILE *fp,
					       struct con_output **ret);
/** Ends it, and frees it; the stream is the caller's. NULL is fine. */
void con_output_destroy(struct con_output *o);

/** printa() of the aggregations @p ids; @p fmt NULL: the output's own form. They count as printed from then
 * on. */
OT_MUST_CHECK struct ot_err *con_printa(struct con_output *o, struct con_aggs *aggs, const uint32_t *ids,
					unsigned nids, const struct dif_format *fmt);

/** Aggregations that no printa() has printed, at the end of a session. */
OT_MUST_CHECK struct ot_err *con_print_rest(struct con_output *o, struct con_aggs *aggs);

#endif
