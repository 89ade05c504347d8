/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the seeds of fuzz_trust: a message of each kind, as honest ends make it. trust_seeds DIRECTORY */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/trust/sign.h"
#include "tests/fuzz/seed_file.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void put_request(const struct fl_identity *id, enum fl_asks asks, struct ot_buf *out)
{
	static const char *const hosts[] = { "h1", "db*" };
	struct fl_request request = { .protocol = FL_PROTOCOL,
				      .asks = asks,
				      .operator= "alice@desk",
				      .hosts = hosts,
				      .nhosts = 2,
				      .guests = asks == FL_ASKS_RUN ? "web*" : "",
				      .not_before = 1799999990,
				      .not_after = 1800000100 };

	fl_put_u8(out, 0);
	fl_request_sign(id, &request, out);
}

static void put_answer(const struct fl_identity *id, struct ot_buf *out)
{
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC];
	struct fl_answer answer = { .host = "h1", .body = { (const uint8_t *)"body", 4 } };

	fl_ephemeral_make(public, secret);
	fl_put_u8(out, 1);
	if (fl_answer_sign(id, &answer, public, out))
		fail("an answer");
}

int main(int argc, char **argv)
{
	struct fl_identity id;
	struct ot_buf seeds[5] = { 0 };
	static const char *const names[] = { "request", "answer", "verdict", "guests", "merge" };

	if (argc != 2 || fl_trust_start())
		return 2;
	crypto_sign_keypair(id.public, id.secret);
	put_request(&id, FL_ASKS_RUN, &seeds[0]);
	put_request(&id, FL_ASKS_MERGE, &seeds[4]);
	put_answer(&id, &seeds[1]);
	fl_put_u8(&seeds[2], 2);
	fl_body_put_verdict(&seeds[2], &(struct fl_verdict){ false, FL_REASON_POLICY, "8 sessions run" });
	fl_put_u8(&seeds[3], 3);
	fl_body_put_presence(&seeds[3], &(struct fl_presence){ "web01", "6.1.0-9-amd64" });
	fl_body_put_presence(&seeds[3], &(struct fl_presence){ "web02", "" });
	for (unsigned i = 0; i < OT_ARRAY_SIZE(seeds); i++) {
		seed_write(argv[1], names[i], &seeds[i]);
		ot_buf_deinit(&seeds[i]);
	}
	return 0;
}
