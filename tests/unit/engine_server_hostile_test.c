/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hostile client: messages that are none, descriptors of the wrong kind, shared memory that it overwrites.
 */
#include "tests/unit/engine_client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

/* Messages that are none end the connection; the server serves on. */
static void malformed_messages(void **state)
{
	struct ef *f = ec_serve();
	uint32_t words[512] = { 0 };
	unsigned seed = 3;
	(void)state;

	for (unsigned round = 0; round < 500; round++) {
		size_t len = 1 + rand_r(&seed) % sizeof(words);
		for (unsigned i = 0; i < OT_ARRAY_SIZE(words); i++)
			words[i] = (uint32_t)rand_r(&seed) % (round % 2 ? 16 : 0x7fffffff);
		if (round % 3 == 0)
			words[1] = (uint32_t)len; /* the size is right, nothing else */
		if (round % 5 == 0)
			words[0] = 0xffffffff;
		struct ec_client *c = ec_dial();
		ec_hello(c);
		ec_ask(c, words, len, NULL, 0);
		ec_drop(c);
	}
	struct ec_client *c = ec_dial();
	ec_hello(c);
	assert_true(ec_ask(c, words, 3, NULL, 0) == false);
	ec_drop(c);
	ef_destroy(f);
}

/* Descriptors of the wrong kind: not sealed, no memory at all, empty. */
static void false_descriptors(void **state)
{
	struct ef *f = ec_serve();
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	int unsealed = memfd_create("unsealed", MFD_CLOEXEC), dir_fd = open("/", O_RDONLY | O_CLOEXEC),
	    good[EC_OPEN_FDS];
	assert_int_equal(ftruncate(unsealed, 1 << 20), 0);
	ec_open_fds(f, good);
	f->open.head = (struct vp_msg){ VP_MSG_OPEN, sizeof(f->open) };
	for (int at = 0; at < EC_OPEN_FDS; at++) {
		for (int kind = 0; kind < 2; kind++) {
			int fds[EC_OPEN_FDS] = { good[0], good[1], good[2], good[3] };
			fds[at] = kind ? dir_fd : unsealed;
			assert_true(ec_ask(c, &f->open, sizeof(f->open), fds, EC_OPEN_FDS));
			assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
		}
	}
	assert_true(ec_ask(c, &f->open, sizeof(f->open), good, EC_OPEN_FDS - 1));
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	int swapped[EC_OPEN_FDS] = { good[1], good[0], good[2], good[3] };
	assert_true(ec_ask(c, &f->open, sizeof(f->open), swapped, EC_OPEN_FDS));
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	int small[EC_OPEN_FDS] = { good[0], good[1], good[2], good[1] };
	assert_true(
	    ec_ask(c, &f->open, sizeof(f->open), small, EC_OPEN_FDS)); /* buffers larger than their memory */
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	int odd[EC_OPEN_FDS] = { good[0], good[1], good[1], good[3] };
	assert_true(ec_ask(c, &f->open, sizeof(f->open), odd,
			   EC_OPEN_FDS)); /* what all share is no number of pages */
	assert_int_equal(ec_reply_code(c), OT_ERR_BAD_DATA);
	/* after all this a good one is taken */
	assert_true(ec_ask(c, &f->open, sizeof(f->open), good, EC_OPEN_FDS));
	assert_int_equal(ec_reply_code(c), 0);
	ec_close_fds(good, EC_OPEN_FDS);
	close(unsealed);
	close(dir_fd);
	ec_drop(c);
	ef_destroy(f);
}

/* A consumer that overwrites all that it may write: the engine continues, and only the data is damaged. */
static void scribbling_consumer(void **state)
{
	struct ef *f = ec_serve();
	unsigned seed = 4;
	(void)state;

	f->open.bufpolicy = VP_BUF_RING; /* the policy that reads back what lies in shared memory */
	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_open_session(f, c);
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < 100; i++)
			f->shared[(unsigned)rand_r(&seed) % f->shared_size] = (uint8_t)rand_r(&seed);
		for (unsigned i = 0; i < 50; i++)
			assert_true(vp_fake_hit(f->fake, i % 2, EF_FUNC_A));
		assert_true(ec_ask_bare(c, VP_MSG_SWITCH, NULL, 0));
	}
	ec_drop(c);
	ec_wait_for_sites(f, 0);
	ec_unmap_shared(f);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_messages),
		cmocka_unit_test(false_descriptors),
		cmocka_unit_test(scribbling_consumer),
	};

	return cmocka_run_group_tests(tests, ec_make_dir, ec_remove_dir);
}
