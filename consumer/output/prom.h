/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Prometheus' families. A counter's ends in _total; a histogram's is the beginning of its series'
 * names (_bucket, _count). Two aggregations never share one: @a = count() and @a_total = max(…) would both be
 * outsight_a_total, and a reader refuses such a file.
 */
#ifndef CONSUMER_OUTPUT_PROM_H
#define CONSUMER_OUTPUT_PROM_H

#include "consumer/agg_view.h"

/* Families that are no aggregation's. */
#define CON_PROM_DROPS    "outsight_session_drops_total"
#define CON_PROM_FAULTS   "outsight_session_faults_total"
#define CON_PROM_TAKEN    "outsight_session_probes_taken_total"
#define CON_PROM_LEFT_OUT "outsight_session_rows_left_out"

#define CON_PROM_NAME_MAX 256

struct con_prom_family {
	char name[CON_PROM_NAME_MAX];
	const char *type;
};

struct con_prom_names {
	struct con_prom_family *families; /* by id - 1; those before `count` have names */
	uint32_t count;
	size_t cap;
};

/** The family of aggregation @p id (from 1, each once before the next one's first), which @p view has. Its
 * type is constant, except that a sum is a counter until a value is below 0. @p ret is valid until the next
 * call. */
OT_MUST_CHECK struct ot_err *con_prom_name(struct con_prom_names *names, const struct con_agg_view *view,
					   uint32_t id, const struct con_prom_family **ret);
void con_prom_names_deinit(struct con_prom_names *names);

#endif
