/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What liboutsight has besides DTrace's functions: guests, messages, the time of a record, and texts of data.
 * outsight_wake(3) describes it.
 */
#ifndef OUTSIGHT_OUTSIGHT_H
#define OUTSIGHT_OUTSIGHT_H

#include <outsight/dtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of errors, besides those of errno. */
enum outsight_error {
	OUTSIGHT_E_VERSION = 1000, /* dtrace_open(): a later version is asked for */
	OUTSIGHT_E_COMPILER,       /* an error in a text of D */
	OUTSIGHT_E_OPTION_NAME,    /* there is no such option */
	OUTSIGHT_E_OPTION_VALUE,
	OUTSIGHT_E_ACTIVE,      /* not while tracing runs, nor after it */
	OUTSIGHT_E_NO_BUFFERED, /* text has nowhere to go: neither a stream nor dtrace_handle_buffered() */
	OUTSIGHT_E_ABORTED,     /* a callback has ended it */
	OUTSIGHT_E_CALLBACK,    /* a callback has returned what it may not */
	OUTSIGHT_E_FAULT,       /* a clause had a fault, and there is no dtrace_handle_err() */
	OUTSIGHT_E_DROP,        /* data were lost, and there is no dtrace_handle_drop() */
	OUTSIGHT_E_NO_SYMBOL,   /* there is no symbol at that address */
	OUTSIGHT_E_GUEST,       /* a guest can't be found, read or traced, or has ended */
	OUTSIGHT_E_DATA,        /* a guest's or a VMM's data are wrong */
	OUTSIGHT_E_LIMIT,       /* something is too large */
	OUTSIGHT_E_UNSUPPORTED,
	OUTSIGHT_E_INTERNAL
};

/** Outsight's version, "0.1.0". */
const char *outsight_version(void);

/** Make the dtrace_sleep() that runs, or the next one, return at once. For any thread, and for signals'
 * handlers. */
void outsight_wake(dtrace_hdl_t *h);

/** Attach the guests that the options name, as the first dtrace_program_strcompile() does. 0, or -1. */
int outsight_attach(dtrace_hdl_t *h);
/** How many guests are attached, those that have left the session included; dtrace_work() may add some. */
unsigned outsight_guests(dtrace_hdl_t *h);
/** The name of guest @p i, from 0 on; NULL: there is none. Valid as long as the handle. */
const char *outsight_guest_name(dtrace_hdl_t *h, unsigned i);

/** exit()'s status, 0 before. */
int outsight_exit_status(dtrace_hdl_t *h);

typedef void outsight_message_f(const char *text, void *arg);
/** Have @p handler get what a user should know, a sentence each, without newline: that an engine is about to
 * be injected into a VMM, that a guest has joined or ended, what can't be traced. NULL: no one gets it, as at
 * first. */
void outsight_handle_message(dtrace_hdl_t *h, outsight_message_f *handler, void *arg);

/* In a callback of dtrace_work(), of the record; in one of a walk, of the element. */
/** When the probe fired, ns of CLOCK_MONOTONIC; 0 for an element. */
uint64_t outsight_time(dtrace_hdl_t *h);
/** The guest's name; "" without one, and for an element that several guests have. */
const char *outsight_guest(dtrace_hdl_t *h);
/** The text of datum @p rec at @p data (dtpda_data, or dtada_data + dtrd_offset), as trace() prints it: of a
 * stack a line for each frame. Into
 * @p buf; returns what snprintf() returns. */
int outsight_text(dtrace_hdl_t *h, const dtrace_recdesc_t *rec, const void *data, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
