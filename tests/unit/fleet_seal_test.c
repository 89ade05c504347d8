/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/link/seal.c: what was not sealed by the other end for this session does not open, and a link is not
 * disturbed. */
#include <sodium.h>

#include "fleet/link/seal.h"
#include "tests/unit/fleet_net.h"

struct keys {
	uint8_t public[FL_KEY], secret[FL_KEY];
};

static void make_keys(struct keys *k)
{
	assert_true(sodium_init() >= 0);
	crypto_kx_keypair(k->public, k->secret);
}

static struct fl_seal *seal_of(const struct keys *own, const struct keys *other, bool is_operator)
{
	struct fl_seal *seal;

	assert_null(fl_seal_create(own->public, own->secret, other->public, is_operator, &seal));
	return seal;
}

static void assert_opens(struct fl_seal *seal, const struct ot_buf *sealed, const char *text)
{
	struct ot_buf out = { 0 };

	ot_buf_puts(&out, "what was there before");
	assert_true(fl_seal_open(seal, sealed->data, sealed->len, &out));
	assert_int_equal(out.len, strlen(text));
	assert_memory_equal(out.data ? out.data : "", text, out.len);
	ot_buf_deinit(&out);
}

static void assert_refused(struct fl_seal *seal, const void *data, size_t len)
{
	struct ot_buf out = { 0 };
	uint64_t before = fl_seal_refused(seal);

	ot_buf_puts(&out, "what was there before");
	assert_false(fl_seal_open(seal, data, len, &out));
	assert_int_equal(out.len, 0);
	assert_int_equal(fl_seal_refused(seal), before + 1);
	ot_buf_deinit(&out);
}

static void test_both_ways(void **state)
{
	struct keys o, h;
	struct ot_buf sealed = { 0 }, again = { 0 };

	(void)state;
	make_keys(&o);
	make_keys(&h);
	struct fl_seal *sealer = seal_of(&o, &h, true), *host = seal_of(&h, &o, false);

	fl_seal_close(sealer, "run", 3, &sealed);
	assert_int_equal(sealed.len, 3 + FL_SEAL_OVERHEAD);
	assert_opens(host, &sealed, "run");
	assert_opens(host, &sealed, "run"); /* repeated: the link's matter */
	ot_buf_clear(&sealed);
	fl_seal_close(host, "ready", 5, &sealed);
	assert_opens(sealer, &sealed, "ready");
	/* The same again is sealed otherwise. */
	fl_seal_close(host, "ready", 5, &again);
	assert_memory_not_equal(again.data, sealed.data, sealed.len);
	/* Appended to what is there. */
	fl_seal_close(host, "", 0, &again);
	assert_int_equal(again.len, 5 + 2 * FL_SEAL_OVERHEAD);
	assert_int_equal(fl_seal_refused(sealer), 0);
	fl_seal_destroy(sealer);
	fl_seal_destroy(host);
	ot_buf_deinit(&sealed);
	ot_buf_deinit(&again);
}

static void test_refused(void **state)
{
	struct keys o, h, other;
	struct ot_buf sealed = { 0 };

	(void)state;
	make_keys(&o);
	make_keys(&h);
	make_keys(&other);
	struct fl_seal *sealer = seal_of(&o, &h, true), *host = seal_of(&h, &o, false);
	struct fl_seal *stranger = seal_of(&h, &other, false), *session = seal_of(&other, &h, true);

	fl_seal_close(sealer, "run", 3, &sealed);
	assert_refused(sealer, sealed.data, sealed.len);   /* reflected */
	assert_refused(stranger, sealed.data, sealed.len); /* another operator's */
	for (size_t i = 0; i < sealed.len * 8; i++) {
		sealed.data[i / 8] ^= (char)(1 << i % 8);
		assert_refused(host, sealed.data, sealed.len);
		sealed.data[i / 8] ^= (char)(1 << i % 8);
	}
	for (size_t len = 0; len < sealed.len; len++)
		assert_refused(host, sealed.data, len);
	assert_opens(host, &sealed, "run");
	/* The same host, an operator's other session: its keys are others. */
	ot_buf_clear(&sealed);
	fl_seal_close(session, "run", 3, &sealed);
	assert_refused(host, sealed.data, sealed.len);
	assert_opens(stranger, &sealed, "run");
	fl_seal_destroy(sealer);
	fl_seal_destroy(host);
	fl_seal_destroy(stranger);
	fl_seal_destroy(session);
	ot_buf_deinit(&sealed);
}

/* A key with which everybody would agree on the same. */
static void test_bad_key(void **state)
{
	struct keys o, none = { 0 };
	struct fl_seal *seal;

	(void)state;
	make_keys(&o);
	struct ot_err *err = fl_seal_create(o.public, o.secret, none.public, true, &seal);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	ot_err_destroy(err);
}

/* A broker that loses, repeats, reorders, reflects and forges packets: every message arrives once, in order.
 */
static void test_hostile_broker(void **state)
{
	struct net net;
	struct keys o, h;
	struct fl_link *links[2];
	struct fl_seal *seals[2];
	unsigned sent = 0, got = 0;
	uint8_t forged[300];

	(void)state;
	make_keys(&o);
	make_keys(&h);
	net_init(&net);
	net.lost = net.doubled = net.late = 20;
	seals[0] = seal_of(&o, &h, true);
	seals[1] = seal_of(&h, &o, false);
	for (unsigned i = 0; i < 2; i++)
		assert_null(fl_link_create(&net.ends[i].base, seals[i], net_now, &net, &links[i]));
	while (got < 1000) {
		enum fl_kind kind;
		const void *data;
		size_t len;

		if (sent < 1000) {
			assert_null(fl_link_send(links[1], FL_RECORDS, &sent, sizeof(sent)));
			sent++;
		}
		randombytes_buf(forged, sizeof(forged));
		net_inject(&net.ends[1], forged, sizeof(forged));
		if (net.ends[0].last.len)
			net_inject(&net.ends[1], net.ends[0].last.data, net.ends[0].last.len); /* reflected */
		for (unsigned i = 0; i < 2; i++)
			assert_null(fl_link_poll(links[i]));
		while (fl_link_receive(links[0], &kind, &data, &len)) {
			assert_int_equal(len, sizeof(got));
			assert_memory_equal(data, &got, sizeof(got));
			got++;
		}
		net_step(&net, links);
		net.now += NET_MS; /* what is injected has to be taken, too */
	}
	assert_true(fl_seal_refused(seals[0]) > 1000);
	assert_true(net.ends[1].largest <= FL_PACKET_MAX);
	/* What nobody has sealed does not keep a session alive. */
	net.ends[1].is_deaf = true;
	uint64_t until = net.now + 2 * FL_LEASE_NS;
	while (net.now < until) {
		net_inject(&net.ends[1], forged, sizeof(forged));
		assert_null(fl_link_poll(links[0]));
		assert_null(fl_link_poll(links[1]));
		net_step(&net, links);
	}
	assert_true(fl_link_silence_ns(links[0]) > FL_LEASE_NS);
	fl_link_destroy(links[0]);
	fl_link_destroy(links[1]);
	net_deinit(&net);
}

/* The largest packets of a link have room for the seal. */
static void test_largest(void **state)
{
	struct net net;
	struct keys o, h;
	struct fl_link *links[2];
	uint8_t *data = malloc(3 * FL_PACKET_MAX);
	enum fl_kind kind;
	const void *bytes;
	size_t len;

	(void)state;
	assert_non_null(data);
	memset(data, 'x', 3 * FL_PACKET_MAX); /* zeros would not travel */
	make_keys(&o);
	make_keys(&h);
	net_init(&net);
	assert_null(fl_link_create(&net.ends[0].base, seal_of(&o, &h, true), net_now, &net, &links[0]));
	assert_null(fl_link_create(&net.ends[1].base, seal_of(&h, &o, false), net_now, &net, &links[1]));
	assert_null(fl_link_send(links[0], FL_PROGRAM, data, 3 * FL_PACKET_MAX));
	do {
		for (unsigned i = 0; i < 2; i++)
			assert_null(fl_link_poll(links[i]));
		net_step(&net, links);
	} while (!fl_link_receive(links[1], &kind, &bytes, &len));
	assert_int_equal(len, 3 * FL_PACKET_MAX);
	assert_int_equal(net.ends[0].largest, FL_PACKET_MAX);
	fl_link_destroy(links[0]);
	fl_link_destroy(links[1]);
	net_deinit(&net);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bad_key),   cmocka_unit_test(test_hostile_broker),
		cmocka_unit_test(test_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
