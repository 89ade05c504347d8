/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hosts that an operator knows: a file of lines "NAME KEY". A host must have the key of its name; a host
 * that is not in the file does not exist for the operator, even if a broker announces it.
 */
#ifndef FLEET_TRUST_KNOWN_H
#define FLEET_TRUST_KNOWN_H

#include "fleet/trust/file.h"
#include "fleet/trust/keys.h"

#define FL_KNOWN_MAX 16384u

struct fl_known_host {
	const char *name;
	uint8_t key[FL_PUBLIC];
};

struct fl_known {
	struct fl_known_host *items; /* in the file's order */
	size_t count;
};

/** Read @p path; the result is in @p arena. NOT_FOUND: there is no such file. SYNTAX, with the line: an
 * invalid name or key, or a duplicate name. */
OT_MUST_CHECK struct ot_err *fl_known_read(const char *path, struct ot_arena *arena, struct fl_known *ret);

#endif
