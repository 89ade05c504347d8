/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an operator and a host tell each other before they have a link, as a hostile broker may change it:
 * requests, answers, verdicts, lists of guests. The first byte says which; all but the last two have a
 * signature, whose bodies are read before it is checked.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/trust/sign.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool was_read;

bool fuzz_seed_reached(void)
{
	return was_read;
}

/* A signature that nobody made must not hold: what is opened was a seed's. */
static void read_request(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_request request;
	struct ot_err *err = fl_request_open(data, len, arena, &request);

	was_read = !err;
	if (!err && (!request.nhosts || request.nhosts > FL_REQUEST_HOSTS))
		abort();
	if (!err)
		ot_err_destroy(fl_request_check(&request, "h1", 1800000000));
	ot_err_destroy(err);
}

static void read_answer(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	static const uint8_t key[FL_PUBLIC], digest[FL_DIGEST], secret[FL_PUBLIC];
	struct fl_answer answer;
	const char *host;
	struct ot_err *err = fl_answer_host(data, len, arena, &host);

	was_read = !err;
	if (!err && !fl_name_is_valid(host))
		abort();
	ot_err_destroy(err);
	err = fl_answer_open(data, len, key, digest, key, secret, arena, &answer);
	if (!err) /* nobody has that key */
		abort();
	ot_err_destroy(err);
}

static void read_verdict(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_verdict verdict;
	struct ot_err *err = fl_body_get_verdict((struct fl_bytes){ data, (uint32_t)len }, arena, &verdict);

	was_read = !err;
	ot_err_destroy(err);
}

static void read_guests(const uint8_t *data, size_t len, struct ot_arena *arena)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_presence presence;

	while (fl_body_next_presence(&r, arena, &presence))
		if (strlen(presence.guest) > FL_TEXT_MAX || strlen(presence.kernel) > FL_TEXT_MAX)
			abort();
	was_read = !r.failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const uint8_t *, size_t,
				       struct ot_arena *) = { read_request, read_answer, read_verdict,
							      read_guests };
	struct ot_arena arena;

	if (!size)
		return 0;
	struct ot_err *err = fl_trust_start();
	uint8_t *own = malloc(size); /* to the byte */

	if (err || !own)
		abort();
	memcpy(own, data + 1, size - 1);
	ot_arena_init(&arena);
	readers[data[0] % OT_ARRAY_SIZE(readers)](own, size - 1, &arena);
	ot_arena_deinit(&arena);
	free(own);
	return 0;
}
