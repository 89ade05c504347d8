/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the metrics of several programs into one text: a family of several programs appears once, with the
 * rows of all, each with a label `program`.
 *
 * The files of programs' processes are not trusted. Anything that would make the whole text invalid for its
 * reader is omitted and counted: families of another type or name, lines that are not samples, and names that
 * the output does not use.
 */
#ifndef FLEET_SERVE_STANDING_FAMILIES_H
#define FLEET_SERVE_STANDING_FAMILIES_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

#define FL_FAMILIES_MAX 4096u
#define FL_FAMILY_NAME  256u
/* Prefix of outsight-serve's own metrics, which no program's have. */
#define FL_OWN_METRICS  "outsight_serve_"

struct fl_family {
	struct ot_buf text; /* its HELP and TYPE, and its rows */
	char type[16];
};

struct fl_families {
	struct fl_family *items[FL_FAMILIES_MAX]; /* in order of their first program */
	size_t count;
	struct ot_map names; /* of families and of histograms' series → family */
};

void fl_families_init(struct fl_families *f);
void fl_families_deinit(struct fl_families *f);

/** Add @p program's text. @p ret_refused: the number of omitted families and lines. */
OT_MUST_CHECK struct ot_err *fl_families_take(struct fl_families *f, const char *program, const char *text,
					      size_t len, uint64_t *ret_refused);
/** Append all metrics. */
void fl_families_put(const struct fl_families *f, struct ot_buf *out);

#endif
