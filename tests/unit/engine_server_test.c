/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket: a whole session over it, its order, a client or a guest that ends. */
#include "tests/unit/engine_client.h"

#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/engine/wire/user_frames.h"

static void whole_session(void **state)
{
	struct ef *f = ec_serve();
	struct ef_record r[8];
	struct stat st;
	(void)state;

	assert_int_equal(stat(ec_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(f->fake), ec_path));
	struct ec_client *c = ec_dial();
	ec_hello(c);
	const struct vp_msg_hello_reply *h = (const void *)c->reply;
	assert_int_equal(h->nvcpus, 2);
	assert_string_equal(h->backend, "fake");
	assert_string_equal(h->guest_name, "fake");
	assert_int_equal(h->can_profile, 1);
	assert_true(ec_ask_bare(c, VP_MSG_SNAPSHOT, NULL, 0));
	const struct vp_msg_snapshot_reply *s = (const void *)c->reply;
	assert_int_equal(s->nvcpus, 2);
	assert_int_equal(s->regs[1].v[VP_CS], 0x10);
	ec_open_session(f, c);
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 123);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_true(ec_ask_bare(c, VP_MSG_POLL, NULL, 0)); /* hands nothing over */
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_SWITCH_REPLY);
	assert_int_equal(ef_records(f, 0, r, 8), 0);
	assert_true(ec_ask_bare(c, VP_MSG_SWITCH, NULL, 0));
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_SWITCH_REPLY);
	assert_int_equal(ef_records(f, 0, r, 8), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 123);
	ec_simple(c, VP_MSG_STOP, 0);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	ec_drop(c);
	ec_unmap_shared(f);
	ef_destroy(f);
}

/* kill -9 of the client, at each point of a session. */
static void client_dies(void **state)
{
	(void)state;
	for (unsigned point = 0; point < 6; point++) {
		struct ef *f = ec_serve();
		struct ec_client *c = ec_dial();
		if (point > 0)
			ec_hello(c);
		if (point > 1)
			ec_open_session(f, c);
		if (point > 2)
			ec_enable(f, c);
		if (point > 3)
			ec_simple(c, VP_MSG_START, 0);
		if (point > 4)
			assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
		ec_drop(c);
		ec_wait_for_sites(f, 0);
		assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
		if (f->shared)
			ec_unmap_shared(f);
		ef_destroy(f);
	}
}

/* FRAMES belongs to a session, and has one sealed descriptor; what is refused changes nothing. */
static void frames(void **state)
{
	static const struct vp_frames_header none = { .magic = VP_FRAMES_MAGIC }, bad = { .magic = 1 };
	struct ef *f = ec_serve();
	int ends[2];
	(void)state;

	struct ec_client *c = ec_dial();
	int fds[] = { ec_memfd(&none, sizeof(none)), ec_memfd(&bad, sizeof(bad)) };

	assert_int_equal(pipe(ends), 0);
	ec_hello(c);
	assert_true(ec_ask_bare(c, VP_MSG_FRAMES, fds, 1));
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	ec_open_session(f, c);
	ec_simple(c, VP_MSG_FRAMES, OT_ERR_BAD_DATA);
	assert_true(ec_ask_bare(c, VP_MSG_FRAMES, fds, 2));
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	assert_true(ec_ask_bare(c, VP_MSG_FRAMES, &fds[1], 1));
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	assert_true(ec_ask_bare(c, VP_MSG_FRAMES, ends, 1));
	assert_int_not_equal(ec_reply_code(c), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(ec_ask_bare(c, VP_MSG_FRAMES, fds, 1));
		assert_int_equal(ec_reply_code(c), 0);
	}
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ec_drop(c);
	ec_wait_for_sites(f, 0);
	close(ends[0]);
	close(ends[1]);
	close(fds[0]);
	close(fds[1]);
	ec_unmap_shared(f);
	ef_destroy(f);
}

/* A request is sent and the client gone before the answer. */
static void client_does_not_wait(void **state)
{
	struct ef *f = ec_serve();
	struct vp_msg m = { VP_MSG_START, sizeof(m) };
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_open_session(f, c);
	ec_enable(f, c);
	EF_OK(ot_send_fds(c->sock, &m, sizeof(m), NULL, 0));
	ec_drop(c);
	/* the next one is served as ever */
	c = ec_dial();
	ec_hello(c);
	ec_drop(c);
	ec_wait_for_sites(f, 0);
	ec_unmap_shared(f);
	ef_destroy(f);
}

/* The guest is paused when the client dies: the engine tries again by itself until it is done. */
static void client_dies_while_busy(void **state)
{
	struct ef *f = ec_serve();
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_open_session(f, c);
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
	vp_fake_set_busy(f->fake, true);
	ec_drop(c);
	c = ec_dial(); /* answered behind the other's end */
	ec_hello(c);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A)); /* harmless */
	vp_fake_set_busy(f->fake, false);
	ec_wait_for_sites(f, 0);
	ec_drop(c);
	ec_unmap_shared(f);
	ef_destroy(f);
}

static void engine_dies_under_a_client(void **state)
{
	struct ef *f = ec_serve();
	struct vp_msg m = { VP_MSG_SWITCH, sizeof(m) };
	struct ot_err *err;
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_open_session(f, c);
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
	vp_fake_destroy_engine(f->fake);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	err = ot_send_fds(c->sock, &m, sizeof(m), NULL, 0);
	assert_non_null(err);
	ot_err_destroy(err);
	ec_drop(c);
	ec_unmap_shared(f);
	ef_destroy(f);
}

/* The guest ends: the session is stopped and notified, and served until it closes. */
static void guest_ends(void **state)
{
	struct ef *f = ec_serve();
	struct vp_engine *engine = vp_fake_engine(f->fake);
	struct ef_record r[8];
	(void)state;

	vp_engine_wait_drained(engine, 60000); /* nothing is open: at once */
	struct ec_client *c = ec_dial(), *late = ec_dial();
	ec_hello(c);
	ec_open_session(f, c);
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 7);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	vp_engine_guest_ended(engine, VP_GUEST_TRIPLE_FAULT);
	ec_wait_for_sites(f, 0);
	const struct vp_vcpu_status *first = (const void *)(f->shared + f->open.status_offset);
	while (__atomic_load_n(&first->guest_end, __ATOMIC_ACQUIRE) != VP_GUEST_TRIPLE_FAULT)
		sched_yield();
	vp_engine_wait_drained(engine, 1); /* it is not taken yet */
	assert_true(ec_ask_bare(c, VP_MSG_SWITCH, NULL, 0));
	assert_int_equal(ef_records(f, 0, r, 8), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 7);
	ec_simple(c, VP_MSG_STOP, 0);
	ec_drop(c);
	vp_engine_wait_drained(engine, 60000);
	ec_hello(late); /* the engine itself continues */
	ec_drop(late);
	ec_unmap_shared(f);
	ef_destroy(f);
}

/* One that was open and not started can't be any more. */
static void guest_ends_before_the_start(void **state)
{
	struct ef *f = ec_serve();
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_open_session(f, c);
	ec_enable(f, c);
	vp_engine_guest_ended(vp_fake_engine(f->fake), VP_GUEST_RESET);
	const struct vp_vcpu_status *first = (const void *)(f->shared + f->open.status_offset);
	while (__atomic_load_n(&first->guest_end, __ATOMIC_ACQUIRE) != VP_GUEST_RESET)
		sched_yield();
	ec_simple(c, VP_MSG_START, OT_ERR_GUEST_GONE);
	ec_drop(c);
	ec_unmap_shared(f);
	ef_destroy(f);
}

static void order_is_checked(void **state)
{
	struct ef *f = ec_serve();
	(void)state;

	struct ec_client *c = ec_dial();
	ec_simple(c, VP_MSG_SNAPSHOT, OT_ERR_BAD_DATA); /* before HELLO */
	ec_hello(c);
	static const uint32_t needs_session[] = { VP_MSG_ENABLE, VP_MSG_START, VP_MSG_SWITCH, VP_MSG_POLL,
						  VP_MSG_STOP };
	for (unsigned i = 0; i < OT_ARRAY_SIZE(needs_session); i++)
		ec_simple(c, needs_session[i], OT_ERR_BAD_DATA);
	ec_open_session(f, c);
	uint8_t *shared = f->shared;
	int fds[EC_OPEN_FDS];
	ec_open_fds(f, fds);
	assert_true(ec_ask(c, &f->open, sizeof(f->open), fds, EC_OPEN_FDS));
	assert_int_equal(ec_reply_code(c), OT_ERR_BUSY); /* one session a connection */
	ec_close_fds(fds, EC_OPEN_FDS);
	ec_simple(c, VP_MSG_ENABLE, OT_ERR_BAD_DATA); /* without its descriptor */
	f->shared = shared;
	ec_drop(c);
	ec_unmap_shared(f);
	ef_destroy(f);
}

static void other_version_is_refused(void **state)
{
	struct ef *f = ec_serve();
	struct vp_msg_hello m = { { VP_MSG_HELLO, sizeof(m) }, VP_PROTOCOL_VERSION + 1, 0 };
	(void)state;

	struct ec_client *c = ec_dial();
	assert_true(ec_ask(c, &m, sizeof(m), NULL, 0));
	assert_int_equal(ec_reply_code(c), OT_ERR_UNSUPPORTED);
	ec_drop(c);
	ef_destroy(f);
}

static uint32_t ask_cpc(struct ec_client *c, uint32_t type, uint64_t period)
{
	struct vp_msg_cpc m = { { VP_MSG_CPC, sizeof(m) }, { .type = type, .period = period } };

	assert_true(ec_ask(c, &m, sizeof(m), NULL, 0));
	return ec_reply_code(c);
}

/* The backend's answer about an event, before there is a session. */
static void events_are_asked_for(void **state)
{
	struct ef *f = ec_serve();
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	assert_int_equal(ask_cpc(c, PERF_TYPE_HARDWARE, VP_CPC_LEAST), 0);
	assert_int_equal(ask_cpc(c, PERF_TYPE_HW_CACHE, VP_CPC_LEAST), OT_ERR_UNSUPPORTED);
	assert_int_equal(ask_cpc(c, PERF_TYPE_HARDWARE, VP_CPC_LEAST - 1), OT_ERR_BAD_DATA);
	assert_int_equal(ask_cpc(c, PERF_TYPE_TRACEPOINT, VP_CPC_LEAST), OT_ERR_BAD_DATA);
	ec_drop(c);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_session),
		cmocka_unit_test(client_dies),
		cmocka_unit_test(frames),
		cmocka_unit_test(client_does_not_wait),
		cmocka_unit_test(client_dies_while_busy),
		cmocka_unit_test(guest_ends),
		cmocka_unit_test(guest_ends_before_the_start),
		cmocka_unit_test(engine_dies_under_a_client),
		cmocka_unit_test(order_is_checked),
		cmocka_unit_test(other_version_is_refused),
		cmocka_unit_test(events_are_asked_for),
	};

	return cmocka_run_group_tests(tests, ec_make_dir, ec_remove_dir);
}
