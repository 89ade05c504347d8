/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, requests and answers: what holds, and everything that must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "fleet/trust/sign.h"
#include "tests/unit/fleet_folder.h"

#define NOW 1800000000ull

/* Two operators, two hosts, and a session's keys. */
struct people {
	struct folder folder;
	struct fl_identity alice, mallory, h1, h2;
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC];
	struct ot_arena arena;
};

static void make(struct people *p, const char *name, struct fl_identity *ret)
{
	char path[FOLDER_PATH];

	assert_null(fl_identity_make(folder_path(&p->folder, name, path), ret));
}

static int setup(void **state)
{
	struct people *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	folder_make(&p->folder);
	make(p, "alice", &p->alice);
	make(p, "mallory", &p->mallory);
	make(p, "h1", &p->h1);
	make(p, "h2", &p->h2);
	fl_ephemeral_make(p->public, p->secret);
	ot_arena_init(&p->arena);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct people *p = *state;

	ot_arena_deinit(&p->arena);
	folder_remove(&p->folder);
	free(p);
	return 0;
}

static void expect(struct ot_err *err, enum ot_err_code code, const char *part)
{
	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), part))
		fail_msg("%d, %s", ot_err_code(err), ot_err_message(err));
	ot_err_destroy(err);
}

/* --- keys ----------------------------------------------------------------------------------------------- */

static void key_files(void **state)
{
	struct people *p = *state;
	struct fl_identity again;
	char path[FOLDER_PATH], link[FOLDER_PATH], text[FL_PUBLIC_TEXT];
	uint8_t key[FL_PUBLIC];
	struct stat st;

	folder_path(&p->folder, "alice", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_null(fl_identity_read(path, &again));
	assert_memory_equal(&again, &p->alice, sizeof(again));
	assert_memory_not_equal(p->alice.public, p->h1.public, FL_PUBLIC);

	fl_public_text(p->alice.public, text);
	assert_int_equal(strlen(text), FL_PUBLIC_TEXT - 1);
	assert_true(fl_public_parse(text, key));
	assert_memory_equal(key, p->alice.public, FL_PUBLIC);
	text[0] = '?';
	assert_false(fl_public_parse(text, key));
	assert_false(fl_public_parse("", key));
	assert_false(fl_public_parse("YWJj", key));

	/* never over what is there */
	expect(fl_identity_make(path, &again), OT_ERR_OS, "File exists");
	folder_path(&p->folder, "link", link);
	assert_int_equal(symlink("nowhere", link), 0);
	expect(fl_identity_make(link, &again), OT_ERR_OS, "File exists");
	unlink(link);
	assert_int_equal(symlink(path, link), 0);
	expect(fl_identity_read(link, &again), OT_ERR_PERMISSION, "symbolic link");
	for (unsigned mode = 0; mode < 0100; mode++) {
		assert_int_equal(chmod(path, 0600 | mode), 0);
		if (mode)
			expect(fl_identity_read(path, &again), OT_ERR_PERMISSION, "chmod 600");
	}
	expect(fl_identity_read(p->folder.path, &again), OT_ERR_PERMISSION, "not a plain file");
	expect(fl_identity_read("/nowhere/key", &again), OT_ERR_NOT_FOUND, "no such file");
}

static void broken_key_files(void **state)
{
	struct people *p = *state;
	char path[FOLDER_PATH], text[256];
	struct fl_identity id;
	size_t len = folder_get(&p->folder, "alice", text, sizeof(text));

	for (size_t cut = 0; cut < len - 1; cut++) {
		folder_put(&p->folder, "cut", text, cut, 0600, path);
		expect(fl_identity_read(path, &id), OT_ERR_BAD_DATA, "not a secret key");
	}
	folder_put(&p->folder, "cut", text, len - 1, 0600, path); /* without its newline */
	assert_null(fl_identity_read(path, &id));
	assert_memory_equal(&id, &p->alice, sizeof(id));
	text[len - 1] = 'x';
	folder_put(&p->folder, "cut", text, len, 0600, path);
	expect(fl_identity_read(path, &id), OT_ERR_BAD_DATA, "not a secret key");
	text[len - 1] = '\0';
	folder_put(&p->folder, "cut", text, len, 0600, path);
	expect(fl_identity_read(path, &id), OT_ERR_BAD_DATA, "not a secret key");
}

static void names(void **state)
{
	char longest[FL_NAME_MAX + 2];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[FL_NAME_MAX] = '\0';
	assert_true(fl_name_is_valid("h1"));
	assert_true(fl_name_is_valid("kvm-host_7"));
	assert_true(fl_name_is_valid(longest));
	longest[FL_NAME_MAX] = 'a';
	longest[FL_NAME_MAX + 1] = '\0';
	assert_false(fl_name_is_valid(longest));
	static const char *const bad[] = {
		"", "h1.example", "h*", "a b", ">", "-h", "h/1", "h\n", "h\xc3\xa4"
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		assert_false(fl_name_is_valid(bad[i]));
}

/* --- requests ------------------------------------------------------------------------------------------- */

static const char *const to_h1[] = { "h1" };

static struct fl_request invitation(const struct people *p)
{
	struct fl_request r = {
		.protocol = FL_PROTOCOL,
		.asks = FL_ASKS_RUN,
		.operator= "alice@desk",
		.hosts = to_h1,
		.nhosts = 1,
		.guests = "web*",
		.not_before = NOW - 60,
		.not_after = NOW + 300,
	};

	memcpy(r.ephemeral, p->public, FL_PUBLIC);
	memset(r.nonce, 7, FL_NONCE);
	fl_digest("the program", 11, r.run);
	return r;
}

static void request_is_read_back(void **state)
{
	static const char *const hosts[] = { "h1", "db*" };
	struct people *p = *state;
	struct fl_request sent = invitation(p), got;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	uint8_t digest[FL_DIGEST];

	ot_buf_init(&out);
	sent.hosts = hosts;
	sent.nhosts = 2;
	fl_request_sign(&p->alice, &sent, &out);
	assert_false(out.failed);
	assert_null(fl_request_open(out.data, out.len, &p->arena, &got));
	assert_int_equal(got.protocol, FL_PROTOCOL);
	assert_int_equal(got.asks, FL_ASKS_RUN);
	assert_string_equal(got.operator, "alice@desk");
	assert_int_equal(got.nhosts, 2);
	assert_string_equal(got.hosts[1], "db*");
	assert_string_equal(got.guests, "web*");
	assert_memory_equal(got.run, sent.run, FL_DIGEST);
	assert_memory_equal(got.ephemeral, p->public, FL_PUBLIC);
	assert_memory_equal(got.nonce, sent.nonce, FL_NONCE);
	assert_int_equal(got.not_before, NOW - 60);
	assert_int_equal(got.not_after, NOW + 300);
	assert_memory_equal(got.signer, p->alice.public, FL_PUBLIC);
	fl_digest(out.data, out.len, digest);
	assert_memory_equal(got.digest, digest, FL_DIGEST);
	assert_null(fl_request_check(&got, "h1", NOW));
	assert_null(fl_request_check(&got, "db7", NOW));
	expect(fl_request_check(&got, "h10", NOW), OT_ERR_PERMISSION, "another host");
}

/* An invitation of a merger holds for as long as one of a host, and has neither program nor guests. */
static void request_to_merge(void **state)
{
	struct people *p = *state;
	struct fl_request sent = invitation(p), got;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	static const uint8_t nothing[FL_DIGEST];

	ot_buf_init(&out);
	sent.asks = FL_ASKS_MERGE;
	sent.guests = "";
	memset(sent.run, 0, FL_DIGEST);
	sent.not_after = sent.not_before + FL_INVITATION_MAX_S;
	fl_request_sign(&p->alice, &sent, &out);
	assert_null(fl_request_open(out.data, out.len, &p->arena, &got));
	assert_int_equal(got.asks, FL_ASKS_MERGE);
	assert_string_equal(got.guests, "");
	assert_memory_equal(got.run, nothing, FL_DIGEST);
	assert_null(fl_request_check(&got, "h1", NOW));
	got.not_after++;
	expect(fl_request_check(&got, "h1", NOW), OT_ERR_PERMISSION, "longer than 3600 s");
}

/* No byte can be left out, added or changed. */
static void request_as_it_was_signed(void **state)
{
	struct people *p = *state;
	struct fl_request sent = invitation(p), got;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	fl_request_sign(&p->alice, &sent, &out);
	for (size_t cut = 0; cut < out.len; cut++) {
		ot_auto_free char *part = malloc(cut + 1); /* so that a sanitizer sees a read behind it */

		memcpy(part, out.data, cut);
		expect(fl_request_open(part, cut, &p->arena, &got), OT_ERR_BAD_DATA, "");
	}
	for (size_t i = 0; i < out.len; i++)
		for (unsigned bit = 1; bit < 256; bit <<= 1) {
			out.data[i] = (char)(out.data[i] ^ bit);
			struct ot_err *err = fl_request_open(out.data, out.len, &p->arena, &got);

			assert_non_null(err);
			assert_true(ot_err_code(err) == OT_ERR_BAD_DATA ||
				    ot_err_code(err) == OT_ERR_PERMISSION);
			ot_err_destroy(err);
			out.data[i] = (char)(out.data[i] ^ bit);
		}
	assert_null(fl_request_open(out.data, out.len, &p->arena, &got));
	ot_buf_putc(&out, 0);
	expect(fl_request_open(out.data, out.len, &p->arena, &got), OT_ERR_BAD_DATA, "not whole");
	ot_buf_zero(&out, FL_REQUEST_MAX);
	expect(fl_request_open(out.data, out.len, &p->arena, &got), OT_ERR_BAD_DATA, "bytes");
}

/* One's own signature under another's name. */
static void wrong_key(void **state)
{
	struct people *p = *state;
	struct fl_request sent = invitation(p), got;
	struct fl_identity forged = p->mallory;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	memcpy(forged.public, p->alice.public, FL_PUBLIC);
	fl_request_sign(&forged, &sent, &out);
	expect(fl_request_open(out.data, out.len, &p->arena, &got), OT_ERR_PERMISSION, "not signed");
}

/* Well signed, and still no request. */
static void malformed_requests(void **state)
{
	struct people *p = *state;
	static const char *many[FL_REQUEST_HOSTS + 1];
	struct fl_request bad[4], got;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	for (size_t i = 0; i < OT_ARRAY_SIZE(many); i++)
		many[i] = "h";
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		bad[i] = invitation(p);
	bad[0].nhosts = 0;
	bad[1].hosts = many;
	bad[1].nhosts = OT_ARRAY_SIZE(many);
	bad[2].asks = FL_ASKS_MERGE + 1;
	bad[3].asks = 0;
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		ot_buf_clear(&out);
		fl_request_sign(&p->alice, &bad[i], &out);
		expect(fl_request_open(out.data, out.len, &p->arena, &got), OT_ERR_BAD_DATA, "not whole");
	}
	bad[1].nhosts = FL_REQUEST_HOSTS;
	ot_buf_clear(&out);
	fl_request_sign(&p->alice, &bad[1], &out);
	assert_null(fl_request_open(out.data, out.len, &p->arena, &got));
}

static void times_and_hosts(void **state)
{
	static const char *const nobody[] = { "" };
	struct people *p = *state;
	struct fl_request r = invitation(p);

	assert_null(fl_request_check(&r, "h1", NOW - 60));
	assert_null(fl_request_check(&r, "h1", NOW + 300));
	expect(fl_request_check(&r, "h1", NOW - 61), OT_ERR_PERMISSION, "becomes valid in 1 s");
	expect(fl_request_check(&r, "h1", NOW + 301), OT_ERR_PERMISSION, "expired, 1 s ago");
	r.not_after = r.not_before + FL_INVITATION_MAX_S;
	assert_null(fl_request_check(&r, "h1", NOW));
	r.not_after++;
	expect(fl_request_check(&r, "h1", NOW), OT_ERR_PERMISSION, "longer than 3600 s");
	r.not_after = UINT64_MAX;
	expect(fl_request_check(&r, "h1", NOW), OT_ERR_PERMISSION, "longer than");
	r.not_after = r.not_before - 1;
	expect(fl_request_check(&r, "h1", r.not_before), OT_ERR_PERMISSION, "longer than");
	r.not_after = r.not_before + FL_QUESTION_MAX_S + 1;
	r.asks = FL_ASKS_WHO;
	expect(fl_request_check(&r, "h1", r.not_before), OT_ERR_PERMISSION, "longer than 60 s");
	r.not_after--;
	assert_null(fl_request_check(&r, "h1", r.not_before));
	r.hosts = nobody;
	expect(fl_request_check(&r, "h1", r.not_before), OT_ERR_PERMISSION, "another host");
	r.protocol++;
	expect(fl_request_check(&r, "h1", r.not_before), OT_ERR_PERMISSION, "the operator speaks version");
}

/* --- answers -------------------------------------------------------------------------------------------- */

static void answer_sign(const struct people *p, const struct fl_identity *id, const char *host,
			const uint8_t digest[FL_DIGEST], struct ot_buf *out)
{
	ot_auto(ot_buf_deinit) struct ot_buf body = { 0 };
	struct fl_answer a = { .host = host };

	ot_buf_init(&body);
	fl_body_put_verdict(&body, &(struct fl_verdict){ false, FL_REASON_POLICY, "no guest of yours" });
	memcpy(a.request, digest, FL_DIGEST);
	memset(a.ephemeral, 9, FL_PUBLIC);
	a.body = (struct fl_bytes){ (const uint8_t *)body.data, (uint32_t)body.len };
	assert_null(fl_answer_sign(id, &a, p->public, out));
}

static struct ot_err *answer_open(struct people *p, const struct ot_buf *out, const uint8_t *key,
				  const uint8_t *digest, struct fl_answer *ret)
{
	return fl_answer_open(out->data, out->len, key, digest, p->public, p->secret, &p->arena, ret);
}

static void answer_is_read_back(void **state)
{
	struct people *p = *state;
	uint8_t digest[FL_DIGEST] = { 1, 2, 3 };
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct fl_verdict verdict;
	struct fl_answer got;
	const char *host;

	ot_buf_init(&out);
	answer_sign(p, &p->h1, "h1", digest, &out);
	assert_null(memmem(out.data, out.len, "no guest of yours", 17)); /* nothing for the broker */
	assert_null(fl_answer_host(out.data, out.len, &p->arena, &host));
	assert_string_equal(host, "h1");
	assert_null(answer_open(p, &out, p->h1.public, digest, &got));
	assert_string_equal(got.host, "h1");
	assert_int_equal(got.ephemeral[31], 9);
	assert_null(fl_body_get_verdict(got.body, &p->arena, &verdict));
	assert_false(verdict.accepted);
	assert_int_equal(verdict.reason, FL_REASON_POLICY);
	assert_string_equal(verdict.text, "no guest of yours");
	for (uint32_t cut = 0; cut < got.body.len; cut++)
		expect(fl_body_get_verdict((struct fl_bytes){ got.body.data, cut }, &p->arena, &verdict),
		       OT_ERR_BAD_DATA, "not whole");
}

/* Another host's, another question's, another asker's. */
static void mixed_up_answers(void **state)
{
	struct people *p = *state;
	uint8_t digest[FL_DIGEST] = { 1 }, other[FL_DIGEST] = { 2 }, public[FL_PUBLIC], secret[FL_PUBLIC];
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct fl_answer got;

	ot_buf_init(&out);
	answer_sign(p, &p->h2, "h1", digest, &out); /* h2 says that it is h1 */
	expect(answer_open(p, &out, p->h1.public, digest, &got), OT_ERR_PERMISSION, "not signed");
	ot_buf_clear(&out);
	answer_sign(p, &p->h1, "h1", digest, &out);
	expect(answer_open(p, &out, p->h1.public, other, &got), OT_ERR_NOT_FOUND, "another request");
	fl_ephemeral_make(public, secret);
	expect(fl_answer_open(out.data, out.len, p->h1.public, digest, public, secret, &p->arena, &got),
	       OT_ERR_BAD_DATA, "another key");
	/* a request is no answer, and the other way round */
	struct fl_request request = invitation(p);
	const char *host;

	expect(fl_request_open(out.data, out.len, &p->arena, &request), OT_ERR_BAD_DATA, "another kind");
	request = invitation(p);
	ot_buf_clear(&out);
	fl_request_sign(&p->h1, &request, &out);
	expect(fl_answer_host(out.data, out.len, &p->arena, &host), OT_ERR_BAD_DATA, "another kind");
	out.data[1] = 2; /* a signature holds for one kind only */
	expect(answer_open(p, &out, p->h1.public, digest, &got), OT_ERR_BAD_DATA, "not whole");
}

static void answer_as_it_was_signed(void **state)
{
	struct people *p = *state;
	uint8_t digest[FL_DIGEST] = { 1 };
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct fl_answer got;

	ot_buf_init(&out);
	answer_sign(p, &p->h1, "h1", digest, &out);
	for (size_t cut = 0; cut < out.len; cut++) {
		ot_auto_free char *part = malloc(cut + 1);
		const char *host;

		memcpy(part, out.data, cut);
		expect(fl_answer_host(part, cut, &p->arena, &host), OT_ERR_BAD_DATA, "");
		expect(fl_answer_open(part, cut, p->h1.public, digest, p->public, p->secret, &p->arena, &got),
		       OT_ERR_BAD_DATA, "");
	}
	for (size_t i = 0; i < out.len; i++) {
		out.data[i] ^= 0x10;
		struct ot_err *err = answer_open(p, &out, p->h1.public, digest, &got);

		assert_non_null(err);
		ot_err_destroy(err);
		out.data[i] ^= 0x10;
	}
	assert_null(answer_open(p, &out, p->h1.public, digest, &got));
}

/* Keys for which X25519 has no secret. */
static void weak_ephemeral_key(void **state)
{
	struct people *p = *state;
	uint8_t zero[FL_PUBLIC] = { 0 };
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct fl_answer a = { .host = "h1", .body = { (const uint8_t *)"x", 1 } };

	ot_buf_init(&out);
	expect(fl_answer_sign(&p->h1, &a, zero, &out), OT_ERR_BAD_DATA, "encrypted");
	assert_int_equal(out.len, 0);
}

static void presences(void **state)
{
	struct people *p = *state;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct fl_presence got = { 0 };

	ot_buf_init(&out);
	fl_body_put_presence(&out, &(struct fl_presence){ "web01", "6.1.0-9" });
	size_t first = out.len;

	fl_body_put_presence(&out, &(struct fl_presence){ "web02", "" });
	for (size_t cut = 0; cut <= out.len; cut++) {
		struct fl_reader r = fl_reader_of(out.data, cut);
		unsigned n = 0;

		while (fl_body_next_presence(&r, &p->arena, &got))
			n++;
		assert_int_equal(n, cut < first ? 0 : cut < out.len ? 1 : 2);
		assert_int_equal(r.failed, cut != 0 && cut != first && cut != out.len);
	}
	assert_string_equal(got.guest, "web02");
	assert_string_equal(got.kernel, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(key_files, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_key_files, setup, teardown),
		cmocka_unit_test(names),
		cmocka_unit_test_setup_teardown(request_is_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(request_to_merge, setup, teardown),
		cmocka_unit_test_setup_teardown(request_as_it_was_signed, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_key, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(times_and_hosts, setup, teardown),
		cmocka_unit_test_setup_teardown(answer_is_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(mixed_up_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(answer_as_it_was_signed, setup, teardown),
		cmocka_unit_test_setup_teardown(weak_ephemeral_key, setup, teardown),
		cmocka_unit_test_setup_teardown(presences, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
