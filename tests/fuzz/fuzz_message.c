/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fleet's message from a hostile operator or host: refused, or it says what its bytes say and nothing else.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/seed.h"
#include "tests/unit/fleet_messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool was_read;

bool fuzz_seed_reached(void)
{
	return was_read;
}

/* The first byte: which kind of message the rest claims to be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ot_buf again = { 0 };
	struct ot_arena arena;

	was_read = false;
	if (!size)
		return 0;

	const struct fleet_kind *k = &fleet_kinds[data[0] % FLEET_KINDS];
	uint8_t *own = malloc(size); /* to the byte */

	if (!own)
		abort();
	memcpy(own, data + 1, size - 1);
	ot_arena_init(&arena);

	struct ot_err *err = k->rewrite(own, size - 1, &arena, &again);
	/* Of another protocol's HELLO only the number was read. */
	bool is_other = k->kind == FL_HELLO && !err && (own[0] != FL_PROTOCOL || own[1] || own[2] || own[3]);

	was_read = !err;
	if (!err && !again.failed && !is_other &&
	    (again.len != size - 1 || (again.len && memcmp(again.data, own, again.len))))
		abort();
	ot_err_destroy(err);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&again);
	free(own);
	return 0;
}
