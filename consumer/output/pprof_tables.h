/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a profile, to whose entries its samples refer by number: strings, and places in code. */
#ifndef CONSUMER_OUTPUT_PPROF_TABLES_H
#define CONSUMER_OUTPUT_PPROF_TABLES_H

#include "base/map.h"
#include "consumer/output/print.h"
#include "consumer/output/protobuf.h"

struct con_pprof_tables {
	struct ot_map strings;   /* in the order of their numbers, from 0 on: "" is the first */
	struct ot_map mappings;  /* module → number from 1 on */
	struct ot_map functions; /* module and name → the same */
	struct ot_map locations; /* address and text → the same */
	struct con_pb pb;        /* the messages of all but the strings */
	bool failed;             /* no memory */
};

void con_pprof_tables_init(struct con_pprof_tables *t);
void con_pprof_tables_deinit(struct con_pprof_tables *t);

/** The number of a string, which may be any bytes. */
uint64_t con_pprof_string(struct con_pprof_tables *t, const char *s, size_t len);

/** The number of a frame's location. @p has_pc: its address is one, of a process or of a kernel. */
uint64_t con_pprof_location(struct con_pprof_tables *t, const struct con_frame *frame, bool user,
			    bool has_pc);

/** The time between two samples, in ns, if all clauses with stacks are of profile probes of one rate; else 0.
 */
uint64_t con_pprof_period(const struct dif_program *prog);

#endif
