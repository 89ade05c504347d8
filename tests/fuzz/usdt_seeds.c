/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes fuzz_usdt's seeds: arguments in the forms of real programs' probes. usdt_seeds DIRECTORY */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/usdt_specs.h"

int main(int argc, char **argv)
{
	static const char *const specs[] = {
#define X(text) text,
		USDT_SPECS(X)
#undef X
	};
	char path[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: usdt_seeds DIRECTORY\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%zu", argv[1], i);
		FILE *out = fopen(path, "we");
		if (!out || fputs(specs[i], out) < 0 || fclose(out)) {
			perror(path);
			return 1;
		}
	}
	return 0;
}
