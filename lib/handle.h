/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A handle of liboutsight: the options, a session of vmm-probe/session, and the consumer of its data, which
 * the outsight command has too. What is here is DTrace's view of these.
 *
 *   dtrace_open ─► options ─► lib_attach: session, guests ─► programs ─► dtrace_go: consumer ─► dtrace_work …
 * ─► dtrace_stop ─► dtrace_close
 */
#ifndef LIB_HANDLE_H
#define LIB_HANDLE_H

#include "consumer/compile.h"
#include "consumer/consumer.h"
#include "consumer/joining.h"
#include "consumer/journal.h"
#include "lib/outsight/outsight.h"

enum lib_state {
	LIB_IDLE,    /* options, programs */
	LIB_TRACING, /* from dtrace_go() on */
	LIB_STOPPED, /* nothing more comes; records may wait */
};

/* A text that was compiled; its number is its place in dtrace_hdl.progs. */
struct dtrace_prog {
	struct con_strings args; /* owned */
	dtrace_proginfo_t info;
	bool executed; /* dtrace_program_exec() was called */
};

/* What an EPID means, as DTrace's structures say it. */
struct lib_enabled {
	const struct dif_clause *clause;
	const struct dif_clause_layout *layout;
	uint32_t guest;
	dtrace_probedesc_t probe;
	dtrace_eprobedesc_t *desc; /* with its data */
};

/* The same of an aggregating action, and where its elements' data are laid out. */
struct lib_agg {
	dtrace_aggdesc_t *desc;
	struct lib_enabled *enabled;
};

/* A record from dtrace_stop(), kept until the caller consumes records. */
struct lib_kept {
	struct lib_kept *next;
	struct vp_record record; /* its data are behind this */
	uint8_t data[];
};

/* What a running callback is called for. */
struct lib_current {
	uint64_t time_ns;
	uint32_t guest; /* CON_GUEST_NAMED: several have it */
	bool is_set;
	struct con_agg_entry *entry; /* of a walk; NULL: a record */
	const struct lib_enabled *enabled;
};

struct lib_handlers {
	dtrace_handle_buffered_f *buffered;
	dtrace_handle_err_f *err;
	dtrace_handle_drop_f *drop;
	outsight_message_f *message;
	void *buffered_arg, *err_arg, *drop_arg, *message_arg;
};

/* The call of dtrace_work() that runs. */
struct lib_work {
	bool runs;
	FILE *fp;
	dtrace_consume_probe_f *probe;
	dtrace_consume_rec_f *rec;
	void *arg;
	dtrace_probedata_t data;       /* of the record that is being shown */
	const dtrace_recdesc_t *datum; /* … and the datum; NULL: none yet */
};

/* One struct with many fields: each file of the library keeps its own part of a handle here. */
struct dtrace_hdl {
	struct dif_options opts;
	struct ot_arena arena; /* texts, names and descriptions */
	bool no_guest;         /* DTRACE_O_NODEV */
	const char *vmlinux, *symbols, *sysroot;
	struct con_strings guests, cpp, libdirs, no_args;

	struct vp_session *session;  /* NULL: not attached */
	struct con_joining *joining; /* guests that patterns mean; NULL: there is no pattern */
	struct con_program *texts;
	struct dtrace_prog **progs;
	size_t nprogs, texts_cap, progs_cap;
	struct con_compilation comp;

	enum lib_state state;
	bool exited; /* by exit() */
	bool busy;   /* in a callback's caller: what polls the session is refused */
	struct con_consumer consumer;
	bool has_consumer;
	struct con_journal journal;
	struct ot_map enabled;      /* EPID → struct lib_enabled */
	struct ot_map aggs;         /* EPID, action → struct lib_agg */
	struct ot_map symbols_seen; /* names that dtrace_lookup_by_addr() gave out */
	struct lib_kept *kept, **kept_end;
	uint64_t drops[DTRACEDROP_GUEST + 1];

	struct lib_handlers handlers;
	struct lib_work work;
	struct lib_current current;
	FILE *text_stream; /* the output's; what it wrote is in: */
	char *text;
	size_t text_len;
	uint64_t *scratch; /* a datum or an element, aligned */
	size_t scratch_cap;
	int wake_fd;

	int error;
	char *message;     /* of it; NULL: that of its number */
	bool is_noted;     /* it is set, and a value stands for it on its way to lib_result() */
	int pending_error; /* met while data were handed out: the result of the call that does that; 0: none
			    */
	char *pending_message;
};

/* --- error.c -------------------------------------------------------------------------------------------- */

/** Make @p error, with its usual text, the last one of @p h. Returns -1. */
int lib_fail(dtrace_hdl_t *h, int error);
/** The same with a text of its own. */
int lib_fail_text(dtrace_hdl_t *h, int error, const char *fmt, ...) OT_PRINTF(3, 4);
/** The same by @p err, which is destroyed. NULL: 0 is returned and nothing else done. */
int lib_result(dtrace_hdl_t *h, struct ot_err *err);
/** An error of the library's own as a value, for lib_result(): @p error is its number. */
OT_MUST_CHECK struct ot_err *lib_err(dtrace_hdl_t *h, int error);
/** What no handler takes, or one has refused: the first such becomes the result of the call that hands out
 * the data, by lib_take_error(). */
void lib_keep_error(dtrace_hdl_t *h, int error, const char *text);
/** 0, or -1. */
int lib_take_error(dtrace_hdl_t *h);
/** To the handler of messages, if there is one. */
void lib_report(dtrace_hdl_t *h, const char *text);
/** The same for vp_session_notes(); @p arg is the handle. */
void lib_report_note(void *arg, bool missing, const char *text);
/** Around all code that reads guests, compiles or polls: handles take turns, as what they have in common (the
 * disassembler, libvirt's library) is not for several threads; and @p h is busy meanwhile. */
void lib_begin(dtrace_hdl_t *h);
void lib_end(dtrace_hdl_t *h);
/** May @p h be used to poll its session? Else the error is set, and -1 is returned: in a callback, or before
 * dtrace_go(). */
int lib_check_idle(dtrace_hdl_t *h);
int lib_check_going(dtrace_hdl_t *h);

/* --- attach.c ------------------------------------------------------------------------------------------- */

/** The session with the guests that the options name, if there is none yet. */
OT_MUST_CHECK struct ot_err *lib_attach(dtrace_hdl_t *h);

/* --- program.c ------------------------------------------------------------------------------------------ */

/** What is compiled, for the consumer; borrowed. */
struct con_texts lib_texts(dtrace_hdl_t *h);
/** Take the clauses from number @p first on out of the program whose text is not to be enabled. */
void lib_keep_executed(dtrace_hdl_t *h, uint32_t first);

/* --- describe.c ----------------------------------------------------------------------------------------- */

OT_MUST_CHECK struct ot_err *lib_enabled_of(dtrace_hdl_t *h, const struct vp_enabled *ecb,
					    struct lib_enabled **ret);
/** Of an element; its clause's lib_enabled_of() was called before. */
OT_MUST_CHECK struct ot_err *lib_agg_of(dtrace_hdl_t *h, const struct con_agg *agg,
					const struct con_agg_source *source, struct lib_agg **ret);
/** Does it record text, in a field that DTrace ends with a NUL? */
bool lib_is_text(const struct dif_action *action);
/** @p size bytes at h->scratch, and 8 zeros behind them. */
OT_MUST_CHECK struct ot_err *lib_scratch(dtrace_hdl_t *h, size_t size);

/* --- sink.c --------------------------------------------------------------------------------------------- */

/** The consumer of a session that is about to be enabled, and the sink in front of it. */
OT_MUST_CHECK struct ot_err *lib_consumer_begin(dtrace_hdl_t *h, struct vp_sink *ret);
void lib_consumer_end(dtrace_hdl_t *h);
/** Hand out the records that were kept. */
OT_MUST_CHECK struct ot_err *lib_give_kept(dtrace_hdl_t *h);

/* --- records.c ------------------------------------------------------------------------------------------ */

extern const struct con_watcher lib_watcher;
/** What the output has written since, to @p fp or the handler. @p probe, @p rec: what it is of; NULL. */
OT_MUST_CHECK struct ot_err *lib_write(dtrace_hdl_t *h, FILE *fp, dtrace_probedata_t *probe,
				       const dtrace_recdesc_t *rec);

/* --- output.c ------------------------------------------------------------------------------------------- */

extern const struct con_output_ops lib_output;
/** Of an output with those functions. */
void lib_output_init(struct con_output *o, dtrace_hdl_t *h);

#endif
