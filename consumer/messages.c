/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All texts of faults and drops, and how messages are written. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "consumer/messages.h"
#include "consumer/terminal.h"

#define CLEAR_LINE "\r\033[K"

static void vmessage(const char *fmt, va_list ap)
{
	char *text, shortened[512]; /* without memory a message may be truncated, but it is printed */
	va_list again;

	va_copy(again, ap);
	con_progress(NULL, NULL);
	fflush(NULL); /* data first: both may go to one terminal or file */
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		vsnprintf(shortened, sizeof(shortened), fmt, again);
	}
	va_end(again);
	fprintf(stderr, "dtrace: %s\n", text ? text : shortened);
	free(text);
}

void con_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmessage(fmt, ap);
	va_end(ap);
}

void con_notice(const struct dif_options *opts, const char *fmt, ...)
{
	va_list ap;

	if (opts->quiet)
		return;
	va_start(ap, fmt);
	vmessage(fmt, ap);
	va_end(ap);
}

void con_hint(const struct dif_options *opts, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (opts && opts->errtags)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "  (%s)\n", text);
}

int con_fail(struct ot_err *err, const char *context, ...)
{
	char text[4096] = "";
	va_list ap;

	if (context) {
		va_start(ap, context);
		vsnprintf(text, sizeof(text), context, ap);
		va_end(ap);
	}
	con_error("%s%s%s", text, context ? ": " : "", ot_err_message(err));
	ot_err_destroy(err);
	return CON_EXIT_ERROR;
}

static void describe_probe(const struct vp_enabled *ecb, char *buf, size_t size)
{
	const struct vp_probe *probe = ecb->probe;

	snprintf(buf, size, "error on enabled probe ID %u (ID %u: %s:%s:%s:%s)", ecb->epid, probe->id,
		 probe->provider, probe->module, probe->function, probe->name);
}

bool con_is_unread(FILE *fp)
{
	struct pollfd pfd = { .fd = con_terminal_fileno(fp) };

	return poll(&pfd, 1, 0) > 0 && (pfd.revents & (POLLERR | POLLHUP));
}

static int fail_output(FILE *fp, const char *name)
{
	int reason = errno ? errno : EIO;

	if (reason == EPIPE || con_is_unread(fp))
		return CON_EXIT_ERROR;
	return con_fail(ot_err_os(reason, "failed to write to %s", name), NULL);
}

int con_finish_output(FILE *fp, const char *name)
{
	errno = 0;
	return fflush(fp) == EOF || ferror(fp) ? fail_output(fp, name) : CON_EXIT_OK;
}

/* The text after "error on enabled probe …: ". */
static void describe_fault(const struct vp_fault_info *fault, bool with_address, char *buf, size_t size)
{
	char where[32], address[32] = "", offset[32] = "";

	if (fault->action)
		snprintf(where, sizeof(where), "action #%u", fault->action);
	else
		strcpy(where, "predicate");
	if (with_address && dif_fault_has_address(fault->fault))
		snprintf(address, sizeof(address), " (0x%llx)", (unsigned long long)fault->address);
	if (fault->offset >= 0)
		snprintf(offset, sizeof(offset), " at DIF offset %d", fault->offset);
	snprintf(buf, size, "%s%s in %s%s", dif_fault_text(fault->fault), address, where, offset);
}

void con_fault_text(const struct vp_fault_info *fault, uint64_t count, bool same_address, char *buf,
		    size_t size)
{
	char probe[1024], what[256], times[48] = "";

	describe_probe(fault->ecb, probe, sizeof(probe));
	describe_fault(fault, same_address, what, sizeof(what));
	if (count > 1)
		snprintf(times, sizeof(times), ": %llu more times", (unsigned long long)count);
	snprintf(buf, size, "%s: %s%s", probe, what, times);
}

void con_report_fault(const struct vp_fault_info *fault)
{
	char text[1536];

	con_fault_text(fault, 1, true, text, sizeof(text));
	con_error("%s", text);
}

void con_report_faults(const struct vp_fault_info *fault, uint64_t count, bool same_address)
{
	char text[1536];

	con_fault_text(fault, count, same_address, text, sizeof(text));
	con_error("%s", text);
}

void con_library_fault_text(const struct vp_enabled *ecb, const char *what, char *buf, size_t size)
{
	char probe[1024];

	describe_probe(ecb, probe, sizeof(probe));
	snprintf(buf, size, "%s: %s", probe, what);
}

static const struct {
	const char *tag;
	const char *text; /* before it: the count; after it: "s" */
	const char *tail;
	bool per_cpu;
} drops[] = {
	[VP_DROP_PRINCIPAL] = { "PRINCIPAL", "drop", "", true },
	[VP_DROP_AGGREGATION] = { "AGGREGATION", "aggregation drop", "", true },
	[VP_DROP_DYNAMIC] = { "DYNAMIC", "dynamic variable drop", "", false },
	[VP_DROP_DYNRINSE] = { "DYNRINSE", "dynamic variable drop", " with non-empty rinsing list", false },
	[VP_DROP_DYNDIRTY] = { "DYNDIRTY", "dynamic variable drop", " with non-empty dirty list", false },
	[VP_DROP_SPEC] = { "SPEC", "speculative drop", "", false },
	[VP_DROP_DBLERROR] = { "DBLERROR", "error", " in ERROR probe enabling", false },
	[VP_DROP_STKSTROVERFLOW] = { "STKSTROVERFLOW", "jstack()/ustack() string table overflow", "", false },
	[VP_DROP_SPECBUSY] = { "SPECBUSY", "failed speculation", "", false },
	[VP_DROP_SPECUNAVAIL] = { "SPECUNAVAIL", "failed speculation", "", false },
	[VP_DROP_AGENT] = { "AGENT", "event", " lost in the guest's agent", true },
	[VP_DROP_MISSED] = { "MISSED", "kprobe hit", " missed by the guest", false },
	[VP_DROP_REFUSED] = { "REFUSED", "probe", " refused by the guest", false },
	[VP_DROP_RECORD] = { "RECORD", "record", " of resident probes lost (see -x injectsize)", true },
	[VP_DROP_SITES] = { "SITES", "probe site", " lost: the guest changed its text there", false },
	[VP_DROP_MODULES] = { "MODULES", "module load", " not seen from the beginning", false },
};

void con_drop_text(enum vp_drop_kind kind, uint32_t cpu, uint64_t count, char *buf, size_t size)
{
	char where[32] = "", tail[64];
	const char *plural = count == 1 ? "" : "s";

	*buf = '\0';
	if ((size_t)kind >= OT_ARRAY_SIZE(drops))
		return;
	if (drops[kind].per_cpu)
		snprintf(where, sizeof(where), " on CPU %u", cpu);
	if (kind == VP_DROP_SPECBUSY)
		snprintf(tail, sizeof(tail), " (available buffer%s still busy)", plural);
	else if (kind == VP_DROP_SPECUNAVAIL)
		snprintf(tail, sizeof(tail), " (no speculative buffer available)");
	else
		snprintf(tail, sizeof(tail), "%s", drops[kind].tail);
	snprintf(buf, size, "%llu %s%s%s%s", (unsigned long long)count, drops[kind].text, plural, tail,
		 where);
}

void con_report_drop(const struct dif_options *opts, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	char tag[64] = "", text[256];

	if ((size_t)kind >= OT_ARRAY_SIZE(drops))
		return;
	if (opts->droptags)
		snprintf(tag, sizeof(tag), "[DTRACEDROP_%s] ", drops[kind].tag);
	con_drop_text(kind, cpu, count, text, sizeof(text));
	con_error("%s%s", tag, text);
}

void con_report_patching(uint64_t windows, uint64_t out_ns)
{
	if (windows)
		con_error("probes were removed %llu time%s, for %.1f ms in all, while the guest patched its "
			  "own text",
			  (unsigned long long)windows, windows == 1 ? "" : "s", (double)out_ns / 1e6);
}

void con_overload_text(const struct vp_overload_info *o, char *buf, size_t size)
{
	const struct vp_probe *p = o->ecb->probe;
	char more[64] = "";

	if (o->taken > 1)
		snprintf(more, sizeof(more), " and %u more probe%s", o->taken - 1, o->taken > 2 ? "s" : "");
	snprintf(buf, size,
		 "overload: %u %% of vCPU time in probes (limit %u %%): %s:%s:%s:%s (EPID %u)%s %s removed; "
		 "-x maxcost=PCT changes the limit",
		 o->percent, o->limit, p->provider, p->module, p->function, p->name, o->ecb->epid, more,
		 o->taken > 1 ? "were" : "was");
}

void con_report_overload(const struct vp_overload_info *o)
{
	char text[2048];

	con_overload_text(o, text, sizeof(text));
	con_error("%s", text);
}

void con_report_entering(const char *guest, uint32_t pid, const char *why)
{
	con_error(
	    "guest %s: injecting the engine into its VMM (PID %u; `outsight detach %u` disables it): %s",
	    guest, pid, pid, why);
}

void con_progress(void *arg, const char *what)
{
	static struct timespec started;
	static bool shown;
	struct timespec now;

	(void)arg;
	if (!what) {
		if (shown)
			con_terminal_raw(stderr, CLEAR_LINE, strlen(CLEAR_LINE));
		shown = false;
		started.tv_sec = 0;
		return;
	}
	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!started.tv_sec)
		started = now;
	if (now.tv_sec - started.tv_sec < 1)
		return;
	con_terminal_raw(stderr, CLEAR_LINE, strlen(CLEAR_LINE));
	fprintf(stderr, "%s ...", what);
	fflush(stderr);
	shown = true;
}
