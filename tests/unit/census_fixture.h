/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest with a few processes and modules, in 2 MiB of memory, with types of its own: just what
 * vmm-probe/guest/census*.c goes by.
 *
 *   init_task ─┬─ 1 (threads 1 and 5) ─┬─ 3
 *              │                       └─ 6, by thread 5        number 9 is only a group's
 *              └─ 2 ── 4
 *
 *   modules: loop, bridge, veth; sysfs has an entry without a module too
 */
#ifndef TESTS_UNIT_CENSUS_FIXTURE_H
#define TESTS_UNIT_CENSUS_FIXTURE_H

#include <stdint.h>

#include "vmm-probe/guest/census.h"

#define CENSUS_BASE 0xffffffff92000000ull
#define CENSUS_SIZE 0x6000u

/* Where things are. */
#define CENSUS_TASK(pid)   (CENSUS_BASE + 0x200u * (pid)) /* the thread's, by its number; 0: init_task */
#define CENSUS_SIGNAL(pid) (CENSUS_TASK(pid) + 0x180u)
#define CENSUS_PID(n)      (CENSUS_BASE + 0x2000u + 0x40u * (n))
#define CENSUS_NODE(n)     (CENSUS_BASE + 0x2800u + 0x40u * (n)) /* 0: the top; then by fours of numbers */
#define CENSUS_PID_NS      (CENSUS_BASE + 0x2c00u)
#define CENSUS_MODULE(n)   (CENSUS_BASE + 0x3000u + 0x200u * (n)) /* 0 to 2 */
#define CENSUS_KOBJ(n)     (CENSUS_BASE + 0x3800u + 0x80u * (n))  /* 3: what has no module */
#define CENSUS_MODULES     (CENSUS_BASE + 0x3c00u)
#define CENSUS_KSET        (CENSUS_BASE + 0x3c40u)
#define CENSUS_KSET_AT     (CENSUS_BASE + 0x3c80u) /* the pointer to it */
#define CENSUS_MOD_TREE    (CENSUS_BASE + 0x3cc0u)

/* Offsets. */
enum {
	CENSUS_TASKS = 0,
	CENSUS_PID_OF = 16,
	CENSUS_START = 24,
	CENSUS_COMM = 32,
	CENSUS_CHILDREN = 48,
	CENSUS_SIBLING = 64,
	CENSUS_SIGNAL_OF = 80,
	CENSUS_THREAD = 96,
	CENSUS_LINKS = 112,
	CENSUS_MODULE_LIST = 8,
	CENSUS_MODULE_NAME = 24,
	CENSUS_KOBJ_ENTRY = 8,
	CENSUS_KOBJ_MOD = 64,
};

struct census_guest;

struct census_guest *census_guest_create(void);
void census_guest_destroy(struct census_guest *cg);
struct vp_guest *census_guest(struct census_guest *cg);

/** All as it was at first. */
void census_guest_reset(struct census_guest *cg);
uint64_t *census_word(struct census_guest *cg, uint64_t gva);
/** Take a node out of its list. */
void census_unlink(struct census_guest *cg, uint64_t node);

#endif
