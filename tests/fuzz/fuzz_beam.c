/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with Erlang's machine, written over: four bytes of the input are a place in its memory and a byte
 * that is put there. The invariant: the search ends after a
 * bounded number of reads, and finds nothing but what the file refers to.
 */
#include <stdlib.h>

#include "tests/fuzz/seed.h"
#include "tests/unit/beam_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATCH     4u
#define READS_MAX 4000u /* places, each with 64 modules; all schedulers there can be */

static struct beam_image image;
static bool found;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vp_user_reader m = { beam_image_read, &image };
	struct vp_beam b;
	const char *why;

	beam_image_init(&image);
	for (size_t i = 0; i + PATCH <= size; i += PATCH)
		image.bytes[(data[i] | data[i + 1] << 8 | data[i + 2] << 16) % BI_SIZE] = data[i + 3];
	found = vp_beam_find(&m, &image.file, BI_BASE, &b, &why) == VP_BEAM_FOUND;
	if (image.reads > READS_MAX ||
	    (found && b.modules - BI_BASE != BI_TABLES && b.modules - BI_BASE != BI_TABLES - 8))
		abort();
	return 0;
}

bool fuzz_seed_reached(void)
{
	return found;
}
