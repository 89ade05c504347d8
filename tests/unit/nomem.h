/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that runs out when a test says so. All that is linked into the test (its CMake entry says NOMEM)
 * allocates by way of here: the linker's --wrap. Shared libraries don't. Each thread for itself.
 */
#ifndef TESTS_UNIT_NOMEM_H
#define TESTS_UNIT_NOMEM_H

#include <stdbool.h>
#include <stddef.h>

/** The @p n-th allocation from now on fails, and no other; @p n is at least 1. */
void nomem_at(unsigned n);

/** From now on none fails. Whether one did since nomem_at(): false says that there were fewer than n. */
bool nomem_end(void);

/** Forget how much was allocated until now. */
void nomem_count(void);

/** Bytes that were allocated at one time at most since nomem_count(), by what was allocated since. */
size_t nomem_most(void);

#endif
