/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses in the keys of aggregations. Two keys are equal if the names of their addresses are: sym() of two
 * addresses in one function, and stack() in two guests whose kernels lie at different addresses.
 *
 * In an entry's tuple an address is replaced by a representative of its name. With one guest that is the
 * first address that had the name. With several, no address would be right for all, so it is a number, which
 * the printer resolves in the guest whose name came first (CON_GUEST_NAMED). A process's addresses stay with
 * their guest.
 */
#ifndef CONSUMER_AGG_NAMES_H
#define CONSUMER_AGG_NAMES_H

#include "base/arena.h"
#include "base/map.h"
#include "consumer/output/print.h"

struct con_agg_entry;

struct con_agg_names {
	struct ot_map addresses;        /* address as sent → the representative of its name, a uint64_t */
	struct ot_map names;            /* name → that */
	struct con_named_place *places; /* by number - 1 */
	size_t nplaces, cap;
	struct ot_account *account; /* of the entry whose keys are being replaced */
	struct ot_arena arena;
};

void con_agg_names_init(struct con_agg_names *names);
void con_agg_names_deinit(struct con_agg_names *names);

/** Have keys addresses of a kernel, of a process? */
bool con_agg_names_kernel(const struct dif_clause *clause, const struct dif_agg_layout *layout);
bool con_agg_names_process(const struct dif_clause *clause, const struct dif_agg_layout *layout);

/** Replace the addresses in the keys of a new entry, which is p->guest's; p->places is set. LIMIT: the
 * account of the entry's source has no room for a new name. */
OT_MUST_CHECK struct ot_err *con_agg_names_apply(struct con_agg_names *names, struct con_printer *p,
						 struct con_agg_entry *e);

#endif
