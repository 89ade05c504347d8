/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a program that makes seeds writes one. */
#ifndef TESTS_FUZZ_SEED_FILE_H
#define TESTS_FUZZ_SEED_FILE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

/** Write @p seed to @p directory as @p name; what goes wrong ends the process. */
static inline void seed_write(const char *directory, const char *name, const struct ot_buf *seed)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *out = fopen(path, "we");

	if (!out || seed->failed || fwrite(seed->data, seed->len, 1, out) != 1 || fclose(out)) {
		perror(path);
		exit(1);
	}
}

#endif
