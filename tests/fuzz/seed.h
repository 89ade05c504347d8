/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fuzzer tells replay_main.c of a seed that was made for it. */
#ifndef TESTS_FUZZ_SEED_H
#define TESTS_FUZZ_SEED_H

#include <stdbool.h>

/**
 * Optional. Did the last input get as far as honest inputs do? A seed that no longer does tests nothing: its
 * replay fails then. libFuzzer does not call this.
 */
__attribute__((weak)) bool fuzz_seed_reached(void);

#endif
