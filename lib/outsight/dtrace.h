/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * liboutsight: D programs on guest VMs, by the names and structures of DTrace's library, so that programs
 * written for that one build with this. dtrace_open(3) and the pages that it names describe each function;
 * liboutsight(3) has a complete program.
 *
 * A handle is used by one thread at a time; several handles may be used by several threads at once. The
 * functions return -1 or NULL for an error, whose number dtrace_errno() has and whose text dtrace_errmsg()
 * has. The library prints nothing, ends no process and changes no signal's disposition but SIGBUS's while a
 * session runs (liboutsight(3)).
 */
#ifndef OUTSIGHT_DTRACE_H
#define OUTSIGHT_DTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <outsight/dtrace_data.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DTRACE_VERSION 3 /* for dtrace_open() */

typedef struct dtrace_hdl dtrace_hdl_t;   /* a session, from dtrace_open() to dtrace_close() */
typedef struct dtrace_prog dtrace_prog_t; /* a text that was compiled; it lives as long as its handle */

/* --- handles: dtrace_open(3) ---------------------------------------------------------------------------- */

#define DTRACE_O_NODEV \
	0x01 /* no guest, unless the option names one: programs are compiled, and BEGIN, END, ticks fire */
#define DTRACE_O_NOSYS 0x02 /* has no effect */
#define DTRACE_O_LP64  0x04 /* has no effect: guests are 64-bit */
#define DTRACE_O_ILP32 0x08 /* is refused */
#define DTRACE_O_MASK  0x0f

/** A new handle. @p version: DTRACE_VERSION. NULL: *@p errp, unless @p errp is NULL, is the error's number.
 */
dtrace_hdl_t *dtrace_open(int version, int flags, int *errp);
/** End the session, which leaves its guests as they were, and free what the handle has given out. Not from a
 * callback. NULL is fine. */
void dtrace_close(dtrace_hdl_t *h);

/** The last error of @p h; 0: there was none. */
int dtrace_errno(dtrace_hdl_t *h);
/** What error @p error means; of the last error of @p h all that is known. Valid until the next call with @p
 * h, which may be NULL. */
const char *dtrace_errmsg(dtrace_hdl_t *h, int error);

/** Set an option: one of outsight(1)'s -x, or guest, vmlinux, symbols, sysroot, which are the command's -g,
 * --vmlinux … A guest's name may be a pattern; each call adds one. @p value NULL: none. 0, or -1. */
int dtrace_setopt(dtrace_hdl_t *h, const char *name, const char *value);

/* --- programs: dtrace_program_strcompile(3) ------------------------------------------------------------- */

/* What a text that is only a word means. */
typedef enum dtrace_probespec {
	DTRACE_PROBESPEC_NONE = -1,
	DTRACE_PROBESPEC_PROVIDER,
	DTRACE_PROBESPEC_MOD,
	DTRACE_PROBESPEC_FUNC,
	DTRACE_PROBESPEC_NAME
} dtrace_probespec_t;

/* Flags of a compilation: options of the handle from then on. Others have no effect. */
#define DTRACE_C_EMPTY  0x0002 /* -x empty */
#define DTRACE_C_ZDEFS  0x0004 /* -x zdefs: descriptions may match nothing */
#define DTRACE_C_KNODEF 0x0020 /* -x knodefs */
#define DTRACE_C_UNODEF 0x0040 /* -x unodefs */
#define DTRACE_C_PSPEC  0x0080 /* -x pspec */
#define DTRACE_C_ETAGS  0x0100 /* -x errtags */
#define DTRACE_C_ARGREF 0x0200 /* -x argref */
#define DTRACE_C_DEFARG 0x0800 /* -x defaultargs */
#define DTRACE_C_NOLIBS 0x1000 /* -x nolibs */
#define DTRACE_C_MASK   0x3bff

typedef struct dtrace_attribute {
	dtrace_stability_t dtat_name, dtat_data;
	dtrace_class_t dtat_class;
} dtrace_attribute_t;

typedef struct dtrace_proginfo {
	dtrace_attribute_t dpi_descattr; /* the least that the program uses */
	dtrace_attribute_t dpi_stmtattr; /* the same */
	uint_t dpi_aggregates;           /* aggregating actions */
	uint_t dpi_recgens;              /* clauses that record something */
	uint_t dpi_matches;              /* probes, in all guests */
	uint_t dpi_speculations;         /* clauses that speculate */
} dtrace_proginfo_t;

/** Compile @p text. The first call attaches the guests and reads them: from then on their options stay. $0,
 * $1 … are @p argv's @p argc items. NULL: an error, of which dtrace_errmsg() has what the compiler says. */
dtrace_prog_t *dtrace_program_strcompile(dtrace_hdl_t *h, const char *text, dtrace_probespec_t spec,
					 uint_t flags, int argc, char *const argv[]);
/** dtrace_go() is to enable @p prog; what was compiled only is not enabled. @p info, unless NULL, is filled
 * in. 0, or -1. */
int dtrace_program_exec(dtrace_hdl_t *h, dtrace_prog_t *prog, dtrace_proginfo_t *info);

/* --- tracing: dtrace_go(3) ------------------------------------------------------------------------------ */

/** Enable all programs and fire BEGIN. May inject an engine into a guest's VMM. 0, or -1. Once for a handle.
 */
int dtrace_go(dtrace_hdl_t *h);
/** Take the probes out, fire END, and keep what is left for the next dtrace_work(). 0, or -1. */
int dtrace_stop(dtrace_hdl_t *h);
/** Wait until there may be something to do; returns at once when tracing has stopped, or outsight_wake() was
 * called. */
void dtrace_sleep(dtrace_hdl_t *h);

#define DTRACE_STATUS_NONE    0 /* not tracing yet */
#define DTRACE_STATUS_OKAY    1
#define DTRACE_STATUS_EXITED  2 /* exit() was called, or a fill buffer is full: tracing has stopped */
#define DTRACE_STATUS_FILLED  3 /* is not returned: see EXITED */
#define DTRACE_STATUS_STOPPED 4 /* by dtrace_stop(), or the last guest has ended */

int dtrace_status(dtrace_hdl_t *h);

typedef enum { DTRACEFLOW_ENTRY, DTRACEFLOW_RETURN, DTRACEFLOW_NONE } dtrace_flowkind_t;

/* A record, as callbacks get it. */
typedef struct dtrace_probedata {
	dtrace_hdl_t *dtpda_handle;
	dtrace_eprobedesc_t *dtpda_edesc; /* both live as long as the handle */
	dtrace_probedesc_t *dtpda_pdesc;
	processorid_t dtpda_cpu; /* the vCPU */
	caddr_t dtpda_data; /* the record, aligned to 8, or the datum in it; the last byte of a text is a NUL.
			     Valid during the call */
	dtrace_flowkind_t dtpda_flow; /* DTRACEFLOW_NONE */
	const char *dtpda_prefix;     /* NULL */
	int dtpda_indent;             /* 0 */
} dtrace_probedata_t;

/* What these callbacks return. */
#define DTRACE_CONSUME_ERROR -1
#define DTRACE_CONSUME_THIS  0 /* go on; the datum's text is written */
#define DTRACE_CONSUME_NEXT  1 /* leave this record, or this datum, out */
#define DTRACE_CONSUME_ABORT 2 /* dtrace_work() ends with an error */

/** Of each record. */
typedef int dtrace_consume_probe_f(const dtrace_probedata_t *data, void *arg);
/** Of each datum of it, and once behind the last with @p rec NULL. */
typedef int dtrace_consume_rec_f(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg);

typedef enum {
	DTRACE_WORKSTATUS_ERROR = -1,
	DTRACE_WORKSTATUS_OKAY,
	DTRACE_WORKSTATUS_DONE
} dtrace_workstatus_t;

/** Hand out the records that are there, as the rates say; never waits. Their text goes to @p fp, or, if that
 * is NULL, to the function of dtrace_handle_buffered(). Either callback may be NULL. DONE: tracing has
 * stopped and all was handed out. */
dtrace_workstatus_t dtrace_work(dtrace_hdl_t *h, FILE *fp, dtrace_consume_probe_f *probe,
				dtrace_consume_rec_f *rec, void *arg);

/* --- handlers: dtrace_handle_buffered(3) ---------------------------------------------------------------- */

#define DTRACE_HANDLE_ABORT -1
#define DTRACE_HANDLE_OK    0

typedef struct dtrace_aggdata dtrace_aggdata_t;

/* Text that was written with no stream to go to. */
typedef struct dtrace_bufdata {
	dtrace_hdl_t *dtbda_handle;
	const char *dtbda_buffered;            /* valid during the call */
	dtrace_probedata_t *dtbda_probe;       /* the record; NULL for dtrace_aggregate_print() */
	const dtrace_recdesc_t *dtbda_recdesc; /* the first datum of the statement; NULL */
	const dtrace_aggdata_t *dtbda_aggdata; /* NULL */
	uint32_t dtbda_flags;                  /* 0 */
} dtrace_bufdata_t;

typedef int dtrace_handle_buffered_f(const dtrace_bufdata_t *data, void *arg);
/** 0, or -1 where there is a handler already. */
int dtrace_handle_buffered(dtrace_hdl_t *h, dtrace_handle_buffered_f *handler, void *arg);

/* A fault of a clause. */
typedef struct dtrace_errdata {
	dtrace_hdl_t *dteda_handle;
	dtrace_eprobedesc_t *dteda_edesc;
	dtrace_probedesc_t *dteda_pdesc;
	processorid_t dteda_cpu;
	int dteda_action; /* 0: the predicate */
	int dteda_offset; /* of the DIF instruction; -1: not known */
	int dteda_fault;
	uint64_t dteda_addr;
	const char *dteda_msg; /* dtrace(1)'s message; valid during the call */
} dtrace_errdata_t;

typedef int dtrace_handle_err_f(const dtrace_errdata_t *data, void *arg);
/** Without a handler the dtrace_work() that meets a fault returns an error. 0, or -1 where there is one
 * already. */
int dtrace_handle_err(dtrace_hdl_t *h, dtrace_handle_err_f *handler, void *arg);

typedef enum {
	DTRACEDROP_PRINCIPAL,
	DTRACEDROP_AGGREGATION,
	DTRACEDROP_DYNAMIC,
	DTRACEDROP_DYNRINSE,
	DTRACEDROP_DYNDIRTY,
	DTRACEDROP_SPEC,
	DTRACEDROP_SPECBUSY,
	DTRACEDROP_SPECUNAVAIL,
	DTRACEDROP_STKSTROVERFLOW,
	DTRACEDROP_DBLERROR,
	DTRACEDROP_GUEST /* Outsight's: something in the guest was missed; the message says what */
} dtrace_dropkind_t;

/* Data that were lost. */
typedef struct dtrace_dropdata {
	dtrace_hdl_t *dtdda_handle;
	processorid_t dtdda_cpu;
	dtrace_dropkind_t dtdda_kind;
	uint64_t dtdda_drops; /* since the last report */
	uint64_t dtdda_total; /* of this kind */
	const char *dtdda_msg;
} dtrace_dropdata_t;

typedef int dtrace_handle_drop_f(const dtrace_dropdata_t *data, void *arg);
/** As dtrace_handle_err(). */
int dtrace_handle_drop(dtrace_hdl_t *h, dtrace_handle_drop_f *handler, void *arg);

/* --- aggregations: dtrace_aggregate_snap(3) ------------------------------------------------------------- */

#define DTRACE_AGGWALK_ERROR       -1
#define DTRACE_AGGWALK_NEXT        0
#define DTRACE_AGGWALK_ABORT       1 /* the walk ends with an error */
#define DTRACE_AGGWALK_CLEAR       2 /* the value becomes 0 */
#define DTRACE_AGGWALK_NORMALIZE   3 /* dtada_normal, which the callback may set, holds from now on */
#define DTRACE_AGGWALK_DENORMALIZE 4
#define DTRACE_AGGWALK_REMOVE      5

/* An element of an aggregation. */
struct dtrace_aggdata {
	dtrace_hdl_t *dtada_handle;
	dtrace_aggdesc_t *dtada_desc;     /* this and the next two live as long as the handle */
	dtrace_eprobedesc_t *dtada_edesc; /* of the clause that had it first */
	dtrace_probedesc_t *dtada_pdesc;
	caddr_t dtada_data;    /* valid during the call, aligned to 8 */
	uint64_t dtada_normal; /* 1: not normalised */
	size_t dtada_size;
	caddr_t dtada_delta; /* this and the next two are NULL */
	caddr_t *dtada_percpu;
	caddr_t *dtada_percpu_delta;
};

typedef int dtrace_aggregate_f(const dtrace_aggdata_t *agg, void *arg);
typedef int dtrace_aggregate_walk_f(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg);

/** Take over what guests have aggregated, once in each aggrate (a second). 0, or -1. */
int dtrace_aggregate_snap(dtrace_hdl_t *h);
/** Call @p func for each element, variable by variable: as they came; by value; by key. 0, or -1. */
int dtrace_aggregate_walk(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg);
int dtrace_aggregate_walk_valsorted(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg);
int dtrace_aggregate_walk_keysorted(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg);
/** All values become 0; the keys stay. */
void dtrace_aggregate_clear(dtrace_hdl_t *h);
/** Write what no printa() has printed, as dtrace(1) does at its end; @p func is not used. @p fp as of
 * dtrace_work(). 0, or -1. */
int dtrace_aggregate_print(dtrace_hdl_t *h, FILE *fp, dtrace_aggregate_walk_f *func);

/* --- addresses: dtrace_addr2str(3) ---------------------------------------------------------------------- */

/* Strings live as long as the handle. */
typedef struct dtrace_syminfo {
	const char *dts_object; /* the module: "vmlinux" */
	const char *dts_name;
	unsigned long dts_id; /* 0 */
} dtrace_syminfo_t;

/** The symbol of a guest's kernel at @p addr. Either result may be NULL; of @p sym st_value is set. 0, or -1:
 * there is none. */
int dtrace_lookup_by_addr(dtrace_hdl_t *h, GElf_Addr addr, GElf_Sym *sym, dtrace_syminfo_t *info);
/** "module`symbol+0x12", or the number, into @p buf: of a guest's kernel; of its process @p pid. Returns the
 * bytes that the whole text takes with its NUL; @p size 0: nothing is written. In a callback the guest is the
 * data's; else it is the first one. */
int dtrace_addr2str(dtrace_hdl_t *h, uint64_t addr, char *buf, int size);
int dtrace_uaddr2str(dtrace_hdl_t *h, pid_t pid, uint64_t addr, char *buf, int size);

#ifdef __cplusplus
}
#endif

#endif
