/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests of this host in the live view, and their activity since the last refresh. */
#ifndef CLI_TOP_GUESTS_H
#define CLI_TOP_GUESTS_H

#include "cli/top/counters.h"
#include "cli/top/table.h"
#include "vmm-probe/machines/qemu.h"

struct cli_top_guest {
	uint32_t pid; /* of its VMM */
	uint64_t began;
	char name[VP_GUEST_NAME];
	uint32_t nvcpus;
	struct cli_top_vmm vmm;
	struct cli_top_counters now, before;
	unsigned nread;  /* how often they were read: 2 is enough for a rate */
	bool listed;     /* it existed when VMMs were last listed */
	double syscalls; /* a second, inside; NAN: not counted */
};

/* Lists VMMs, as vp_qemu_list(): tests have their own. */
typedef struct ot_err *cli_top_list(struct vp_qemu **ret, size_t *ret_count);

struct cli_top_guests {
	struct cli_top_host host;
	cli_top_list *list;
	const char **patterns;       /* of -g; borrowed */
	size_t npatterns;            /* 0: all guests */
	struct cli_top_guest *items; /* owned */
	size_t count, cap;
	uint64_t listed_ns; /* when VMMs were listed last */
};

/* How often VMMs are listed: it reads each process's command line. One that has ended is gone at the next
 * refresh. */
#define CLI_TOP_LIST_NS 3000000000ull

void cli_top_guests_deinit(struct cli_top_guests *g);

/** Read all counters; guests that have begun are added, those that have ended are removed. */
OT_MUST_CHECK struct ot_err *cli_top_guests_refresh(struct cli_top_guests *g);

/** The guest of that PID; NULL: there is none. Valid until the next refresh. */
struct cli_top_guest *cli_top_guests_find(struct cli_top_guests *g, uint32_t pid);

/** Fill a table with their activity or (@p exits) with the kinds of their exits. A row's id is the VMM's
 * PID. */
OT_MUST_CHECK struct ot_err *cli_top_guests_table(const struct cli_top_guests *g, bool exits,
						  struct cli_top_table *t);

/* All guests together. */
struct cli_top_sums {
	size_t guests;
	unsigned vcpus;
	double cpu, steal; /* percent of one CPU */
};
struct cli_top_sums cli_top_guests_sums(const struct cli_top_guests *g);

#endif
