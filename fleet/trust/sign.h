/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an operator and a host tell each other before they have a link, over a broker that neither trusts.
 *
 * A request, signed by the operator, asks hosts which guests they have (WHO), or invites one to a session
 * (RUN). The answer of each host is signed by that host, and has the request's digest: it can't be another
 * request's. Both name an ephemeral X25519 key, from which the ends of a session make their seal
 * (link/seal.h). What only the operator should read is encrypted for the request's ephemeral key, so a broker
 * reads no guest's name.
 *
 * Of RUN an invitation has the digest only: programs go through the sealed link, can be larger than a message
 * of a broker's, and are none of its business. The host runs nothing but what has that digest.
 *
 * Everything that is read here is hostile, and bounded; nothing is returned whose signature does not hold.
 */
#ifndef FLEET_TRUST_SIGN_H
#define FLEET_TRUST_SIGN_H

#include "base/arena.h"
#include "base/buf.h"
#include "fleet/trust/keys.h"
#include "fleet/wire/message.h"

#define FL_DIGEST           32
#define FL_NONCE            16
#define FL_SESSION_TEXT     33           /* with the NUL */
#define FL_REQUEST_MAX      (64u << 10)  /* bytes of a signed request */
#define FL_ANSWER_MAX       (256u << 10) /* of a signed answer */
#define FL_REQUEST_HOSTS    64u
#define FL_INVITATION_MAX_S 3600u /* maximum validity of an invitation */
#define FL_QUESTION_MAX_S   60u   /* the same of WHO, whose nonces no host keeps */

enum fl_asks {
	FL_ASKS_WHO = 1,
	FL_ASKS_RUN,
	FL_ASKS_MERGE, /* invites a merger: `run` and `guests` are empty */
};

struct fl_request {
	uint32_t protocol; /* FL_PROTOCOL */
	enum fl_asks asks;
	const char *operator;     /* the operator's name for itself, user@host: for logs only */
	const char *const *hosts; /* names or patterns of the hosts */
	uint32_t nhosts;
	const char *guests;     /* a pattern, as in RUN */
	uint8_t run[FL_DIGEST]; /* fl_digest() of RUN's message; of WHO, 0 */
	uint8_t ephemeral[FL_PUBLIC];
	uint8_t nonce[FL_NONCE];
	uint64_t not_before, not_after; /* seconds since 1970; both included */
	/* Set by fl_request_open(): */
	uint8_t signer[FL_PUBLIC];
	uint8_t digest[FL_DIGEST]; /* of the whole received request */
};

struct fl_answer {
	const char *host;
	uint8_t request[FL_DIGEST]; /* struct fl_request.digest */
	uint8_t ephemeral[FL_PUBLIC];
	struct fl_bytes body; /* fl_body_put_*() */
};

/* A body: of RUN. */
struct fl_verdict {
	bool accepted;
	uint32_t reason; /* enum fl_reason, if not */
	const char *text;
};

/* An element of a body: of WHO, a guest that the asker may trace. */
struct fl_presence {
	const char *guest, *kernel; /* kernel: its release; "" is unknown */
};

/** BLAKE2b. */
void fl_digest(const void *data, size_t len, uint8_t ret[FL_DIGEST]);
/** The name of an invitation's session in subjects: the beginning of its digest, in hex. */
void fl_session_text(const uint8_t digest[FL_DIGEST], char ret[FL_SESSION_TEXT]);
/** A key pair of X25519 for one session. */
void fl_ephemeral_make(uint8_t ret_public[FL_PUBLIC], uint8_t ret_secret[FL_PUBLIC]);

/** Append @p request, signed by @p id, to @p out; `signer` and `digest` are ignored. */
void fl_request_sign(const struct fl_identity *id, const struct fl_request *request, struct ot_buf *out);
/** Read a request; texts are copied to @p arena. BAD_DATA: malformed. PERMISSION: not signed by the named
 * key. The caller checks the signer's rights, and whether the request was used before. */
OT_MUST_CHECK struct ot_err *fl_request_open(const void *data, size_t len, struct ot_arena *arena,
					     struct fl_request *ret);
/** Does it name the host @p name? */
bool fl_request_means(const struct fl_request *request, const char *name);
/** Is it valid for the host @p name at @p now (seconds since 1970)? PERMISSION, with the reason: no. */
OT_MUST_CHECK struct ot_err *fl_request_check(const struct fl_request *request, const char *name,
					      uint64_t now);

/** Append @p answer, signed by @p id and its body encrypted for @p to, a request's ephemeral key, to @p out.
 * BAD_DATA: that key is not valid. */
OT_MUST_CHECK struct ot_err *fl_answer_sign(const struct fl_identity *id, const struct fl_answer *answer,
					    const uint8_t to[FL_PUBLIC], struct ot_buf *out);
/** The host that an answer claims to be from, to find its key; the text is copied to @p arena. */
OT_MUST_CHECK struct ot_err *fl_answer_host(const void *data, size_t len, struct ot_arena *arena,
					    const char **ret);
/** Read the answer of the host with @p key to the request with @p request; everything is copied to @p arena.
 * @p public and @p secret: the request's ephemeral pair. BAD_DATA, PERMISSION: not a valid answer; NOT_FOUND:
 * that host's answer to another, perhaps earlier request. */
OT_MUST_CHECK struct ot_err *fl_answer_open(const void *data, size_t len, const uint8_t key[FL_PUBLIC],
					    const uint8_t request[FL_DIGEST], const uint8_t public[FL_PUBLIC],
					    const uint8_t secret[FL_PUBLIC], struct ot_arena *arena,
					    struct fl_answer *ret);

void fl_body_put_verdict(struct ot_buf *out, const struct fl_verdict *verdict);
OT_MUST_CHECK struct ot_err *fl_body_get_verdict(struct fl_bytes body, struct ot_arena *arena,
						 struct fl_verdict *ret);
void fl_body_put_presence(struct ot_buf *out, const struct fl_presence *presence);
/** False at the end of the list, and after a malformed element; fl_reader_end() distinguishes them. */
bool fl_body_next_presence(struct fl_reader *r, struct ot_arena *arena, struct fl_presence *ret);

#endif
