/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reporting sizes and rates that the session reduced. */
#include "cli/resized.h"

#include "base/units.h"
#include "consumer/messages.h"

struct cli_sizes cli_sizes_of(const struct dif_options *o)
{
	return (struct cli_sizes){ o->bufsize, o->aggsize, o->specsize, o->dynvarsize, o->cleanrate_ns };
}

static void report_lowered(const char *what, uint64_t was, uint64_t is)
{
	static const char units[] = " kmgtpe";
	unsigned unit = 0;

	if (!is || is + sizeof(uint64_t) >= was)
		return;
	while (unit + 1 < sizeof(units) - 1 && is >> (10 * (unit + 1)))
		unit++;
	if (unit && !(is & ((1ull << (10 * unit)) - 1)))
		con_error("%s lowered to %llu%c", what, (unsigned long long)is >> (10 * unit), units[unit]);
	else
		con_error("%s lowered to %llu bytes", what, (unsigned long long)is);
}

static void report_rate(const char *what, uint64_t was_ns, uint64_t is_ns)
{
	const char *how = is_ns > was_ns ? "reduced" : "increased";

	if (is_ns == was_ns || !is_ns)
		return;
	if (is_ns <= OT_NS_PER_SEC)
		con_error("%s %s to %llu hz", what, how, (unsigned long long)(OT_NS_PER_SEC / is_ns));
	else
		con_error("%s %s to once every %llu seconds", what, how,
			  (unsigned long long)(is_ns / OT_NS_PER_SEC));
}

void cli_sizes_report(const struct dif_options *opts, const struct cli_sizes *was)
{
	const struct cli_sizes is = cli_sizes_of(opts);

	if (!opts->quietresize) {
		report_lowered("buffer size", was->buf, is.buf);
		report_lowered("aggregation size", was->agg, is.agg);
		report_lowered("speculation size", was->spec, is.spec);
		report_lowered("dynamic variable size", was->dynvar, is.dynvar);
	}
	report_rate("cleaning rate", was->clean_ns, is.clean_ns);
}

#define MIB(bytes) ((double)(bytes) / (1 << 20))

void cli_memory_report(const struct dif_options *opts, const struct vp_session *session, bool all)
{
	struct vp_session_memory m;

	for (uint32_t i = 0; i < vp_session_nguests(session); i++) {
		const char *name = vp_session_guest_name(session, i);
		if (!vp_session_memory(session, i, &m))
			continue;
		if (m.limited)
			con_notice(
			    opts,
			    "guest %s: tracing takes up to %.1f MiB of its VMM's memory, which has %.1f "
			    "MiB left of %.1f MiB",
			    name, MIB(m.taken), MIB(m.room.room), MIB(m.room.limit));
		else if (all)
			con_notice(opts, "guest %s: tracing takes up to %.1f MiB of its VMM's memory", name,
				   MIB(m.taken));
		if (!opts->quietresize)
			report_lowered("scratch size", m.scratch_asked, m.scratch);
	}
}
