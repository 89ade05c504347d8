/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of serve.conf: the words after the keyword of a line. SYNTAX, with the line, for an invalid one. */
#ifndef FLEET_SERVE_CONF_VALUE_H
#define FLEET_SERVE_CONF_VALUE_H

#include "fleet/serve/conf.h"
#include "fleet/trust/file.h"

/** An absolute path. */
OT_MUST_CHECK struct ot_err *fl_value_path(const struct fl_lines *lines, const char **ret);
OT_MUST_CHECK struct ot_err *fl_value_number(const struct fl_lines *lines, uint32_t least, uint32_t most,
					     uint32_t *ret);
/** "yes" or "no". */
OT_MUST_CHECK struct ot_err *fl_value_yes(const struct fl_lines *lines, bool *ret);
/** 1 to 100, with or without '%'. */
OT_MUST_CHECK struct ot_err *fl_value_percent(const struct fl_lines *lines, uint32_t *ret);
/** A time in D's units, of a second at least; seconds without one. */
OT_MUST_CHECK struct ot_err *fl_value_seconds(const struct fl_lines *lines, uint32_t *ret);
/** A number of bytes, with k, m or g. */
OT_MUST_CHECK struct ot_err *fl_value_bytes(const struct fl_lines *lines, uint64_t *ret);
/** PORT, of 127.0.0.1, or ADDRESS:PORT, [ADDRESS]:PORT of IPv6. */
OT_MUST_CHECK struct ot_err *fl_value_address(const struct fl_lines *lines, union fl_address *ret);
/** All words behind the first. */
OT_MUST_CHECK struct ot_err *fl_value_patterns(const struct fl_lines *lines, struct ot_arena *arena,
					       struct fl_patterns *ret);

#endif
