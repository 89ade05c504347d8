/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages on stderr. Every line starts with "dtrace: ", whatever argv[0] is: scripts search for it; a hint
 * is a line of its own behind one, indented. Data that was printed before a message is written out before it.
 */
#ifndef CONSUMER_MESSAGES_H
#define CONSUMER_MESSAGES_H

#include <stdio.h>

#include "dif/lang/core/options.h"
#include "vmm-probe/session/session.h"

enum { CON_EXIT_OK = 0, CON_EXIT_ERROR = 1, CON_EXIT_USAGE = 2 };

/** A message; the newline is added. */
void con_error(const char *fmt, ...) OT_PRINTF(1, 2);

/** The same, but not under quiet. */
void con_notice(const struct dif_options *opts, const char *fmt, ...) OT_PRINTF(2, 3);

/** Behind an error: the likely intention, or a remedy. A line of its own in brackets, so that dtrace's own
 * message stays as scripts know it; with errtags, for tools that compare messages, it is omitted.
 */
void con_hint(const struct dif_options *opts, const char *fmt, ...) OT_PRINTF(2, 3);

/** Print "context: error" (@p context NULL: the error alone), destroy @p err, return CON_EXIT_ERROR. */
int con_fail(struct ot_err *err, const char *context, ...) OT_PRINTF(2, 3);

/** Has the reader of @p fp closed it, like head(1) after its last line? */
bool con_is_unread(FILE *fp);

/** Flush @p fp, called @p name. Returns the exit status. A failure is reported with its reason, unless the
 * reader has closed the output. */
int con_finish_output(FILE *fp, const char *name);

/** The text of con_report_fault() behind "dtrace: " or, for @p count > 1, of con_report_faults(). */
void con_fault_text(const struct vp_fault_info *fault, uint64_t count, bool same_address, char *buf,
		    size_t size);
/** The text of con_report_drop(), without its tag. */
void con_drop_text(enum vp_drop_kind kind, uint32_t cpu, uint64_t count, char *buf, size_t size);

/** The text of con_report_overload(). */
void con_overload_text(const struct vp_overload_info *overload, char *buf, size_t size);

/** A fault of a probe. */
void con_report_fault(const struct vp_fault_info *fault);
/** The same for @p count faults that are equal to @p fault, but for their addresses if these are not @p
 * same_address.
 */
void con_report_faults(const struct vp_fault_info *fault, uint64_t count, bool same_address);
/** The text of a fault that occurred while a record was handled here: @p what is "couldn't set option …". */
void con_library_fault_text(const struct vp_enabled *ecb, const char *what, char *buf, size_t size);
/** Lost data; with its DTRACEDROP_ tag under droptags. */
void con_report_drop(const struct dif_options *opts, enum vp_drop_kind kind, uint32_t cpu, uint64_t count);
/** At the end: how often, and for how long in all, probes were removed from a guest while it patched its
 * text. Silent for 0. */
void con_report_patching(uint64_t windows, uint64_t out_ns);

/** Probes were removed from a guest because they cost it too much. */
void con_report_overload(const struct vp_overload_info *overload);

/** An engine is about to be injected into a VMM, for the reason @p why. Under quiet too: it concerns
 * others. */
void con_report_entering(const char *guest, uint32_t pid, const char *why);

/** A slow step has begun: shown on a terminal only, and only after a second. @p what NULL: it has ended,
 * clear the line. */
void con_progress(void *arg, const char *what);

#endif
