/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": distances by their definition, and which words are near enough to be named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/near.h"

static unsigned distance(const char *a, const char *b, unsigned limit)
{
	unsigned d = ot_near_distance(a, strlen(a), b, strlen(b), limit);

	assert_int_equal(d, ot_near_distance(b, strlen(b), a, strlen(a), limit));
	return d;
}

static void distances(void **state)
{
	(void)state;
	assert_int_equal(distance("", "", 3), 0);
	assert_int_equal(distance("abc", "", 3), 3);
	assert_int_equal(distance("guest", "guests", 3), 1);
	assert_int_equal(distance("guset", "guest", 3), 1); /* two neighbours exchanged */
	assert_int_equal(distance("xy", "yx", 1), 1);
	assert_int_equal(distance("kitten", "sitting", 5), 3);
	assert_int_equal(distance("EXECNAME", "execname", 3), 0);
	assert_int_equal(distance("kitten", "sitting", 2), 3); /* the limit, and one */
	assert_int_equal(distance("abcdef", "uvwxyz", 2), 3);
	assert_int_equal(distance("abcdefgh", "a", 2), 3);
}

static void long_words(void **state)
{
	char a[OT_NEAR_MAX + 2], b[OT_NEAR_MAX + 2];

	(void)state;
	memset(a, 'a', sizeof(a));
	memcpy(b, a, sizeof(a));
	b[7] = 'b';
	assert_int_equal(ot_near_distance(a, OT_NEAR_MAX, b, OT_NEAR_MAX, 3), 1);
	assert_int_equal(ot_near_distance(a, OT_NEAR_MAX + 1, b, OT_NEAR_MAX + 1, 3), 4);
}

static const char *nearest(const char *word, const char *const *words, size_t n)
{
	struct ot_near near;

	ot_near_init(&near, word);
	for (size_t i = 0; i < n; i++)
		ot_near_offer(&near, words[i]);
	return ot_near_best(&near);
}

static void best(void **state)
{
	static const char *const verbs[] = { "run", "guests", "attach", "detach", "compare", "doctor" };
	size_t n = OT_ARRAY_SIZE(verbs);

	(void)state;
	assert_string_equal(nearest("guest", verbs, n), "guests");
	assert_string_equal(nearest("atach", verbs, n), "attach");
	assert_string_equal(nearest("dettach", verbs, n), "detach");
	assert_string_equal(nearest("RUN", verbs, n), "run");
	assert_null(nearest("nonesuch", verbs, n));
	assert_null(nearest("", verbs, n));
	assert_null(nearest("rn", verbs, n)); /* of two letters none may be wrong */
	assert_null(nearest("web01", NULL, 0));
}

/* A later word replaces an earlier one only if it is nearer. */
static void ties(void **state)
{
	static const char *const words[] = { "vfs_reaxy", "vfs_reada", "vfs_readb", "vfs_read" };

	(void)state;
	assert_string_equal(nearest("vfs_readx", words, 3), "vfs_reada");
	assert_string_equal(nearest("vfs_raed", words, 4), "vfs_read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(long_words),
		cmocka_unit_test(best),
		cmocka_unit_test(ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
