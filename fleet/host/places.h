/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in records and keys addresses are that are shown as names. Only this host can name them, so they are
 * replaced before data leaves (names.h).
 *
 * What a stack() or sym() records is always shown by name. A number is, where a format has %a or %A for it. A
 * key has its format in a printa() elsewhere in the program: it counts if every printa() shows it by name.
 */
#ifndef FLEET_HOST_PLACES_H
#define FLEET_HOST_PLACES_H

#include "dif/obj/layout.h"

enum fl_place_kind {
	FL_PLACE_DATUM,  /* of an action that records addresses: the kind determines the form */
	FL_PLACE_KERNEL, /* an integer, an address of the kernel */
	FL_PLACE_USER,   /* of an unknown process */
};

struct fl_place {
	enum fl_place_kind kind;
	const struct dif_action *action;
	uint32_t offset, size;
};

struct fl_places {
	struct fl_place *items;
	uint32_t n;
};

/* Which keys printa() shows by name: a bit for each of the first 64, by aggregation - 1. */
struct fl_printed_keys {
	uint64_t *as_name, *otherwise;
	uint32_t naggs;
};

/** The places of all clauses of @p prog; from @p arena. Invalid formats are skipped: the consumer reports
 * them. */
OT_MUST_CHECK struct ot_err *fl_printed_keys(const struct dif_program *prog, struct ot_arena *arena,
					     struct fl_printed_keys *ret);

OT_MUST_CHECK struct ot_err *fl_places_of_record(const struct dif_clause *clause,
						 const struct dif_clause_layout *layout,
						 struct ot_arena *arena, struct fl_places *ret);
OT_MUST_CHECK struct ot_err *fl_places_of_keys(const struct dif_clause *clause,
					       const struct dif_agg_layout *layout,
					       const struct fl_printed_keys *printed, struct ot_arena *arena,
					       struct fl_places *ret);

#endif
