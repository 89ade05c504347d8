/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of messages, for errors. */
#include "fleet/wire/kind.h"

#include "base/compiler.h"

const char *fl_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[FL_HELLO] = "HELLO",     [FL_RUN] = "RUN",
		[FL_REFUSED] = "REFUSED", [FL_PROGRAM] = "PROGRAM",
		[FL_ENABLED] = "ENABLED", [FL_READY] = "READY",
		[FL_START] = "START",     [FL_STARTED] = "STARTED",
		[FL_NAMES] = "NAMES",     [FL_AGGREGATES] = "AGGREGATES",
		[FL_RECORDS] = "RECORDS", [FL_FAULTS] = "FAULTS",
		[FL_DROPS] = "DROPS",     [FL_OVERLOAD] = "OVERLOAD",
		[FL_GUEST] = "GUEST",     [FL_SAY] = "SAY",
		[FL_STOP] = "STOP",       [FL_ENDED] = "ENDED",
		[FL_MEMBER] = "MEMBER",   [FL_OF] = "OF",
		[FL_GONE] = "GONE",
	};

	return kind < OT_ARRAY_SIZE(names) && names[kind] ? names[kind] : "?";
}
