/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes and versions: what their texts say, and how they compare. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "dif/lang/core/stability.h"

static void attributes(void **state)
{
	static const char *const bad[] = { "",
					   "Stable",
					   "Stable/Stable",
					   "Stable/Stable/",
					   "Stable/Stable/Common/",
					   "Good/Stable/Common",
					   "/Stable/Common",
					   "Stable/Stable/Stable",
					   "Stabl/Stable/Common" };
	struct dif_attribute a;
	(void)state;

	assert_true(dif_attribute_parse("Private/evolving/ISA", &a));
	assert_string_equal(dif_stability_text(a.name), "Private");
	assert_string_equal(dif_stability_text(a.data), "Evolving");
	assert_string_equal(dif_class_text(a.class), "ISA");
	assert_true(dif_attribute_parse("internal/STANDARD/Unknown", &a));
	assert_int_equal(a.name, DIF_STABILITY_INTERNAL);
	assert_int_equal(a.data, DIF_STABILITY_STANDARD);
	assert_int_equal(a.class, DIF_CLASS_UNKNOWN);
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		assert_false(dif_attribute_parse(bad[i], &a));
	/* a number from elsewhere is never read past the table */
	assert_string_equal(dif_stability_text(200), "Internal");
	assert_string_equal(dif_class_text(200), "Unknown");
}

static void comparisons(void **state)
{
	const struct dif_attribute a = { DIF_STABILITY_STABLE, DIF_STABILITY_PRIVATE, DIF_CLASS_COMMON };
	const struct dif_attribute b = { DIF_STABILITY_EVOLVING, DIF_STABILITY_STABLE, DIF_CLASS_ISA };
	struct dif_attribute least = dif_attribute_min(a, b);
	(void)state;

	assert_int_equal(least.name, DIF_STABILITY_EVOLVING);
	assert_int_equal(least.data, DIF_STABILITY_PRIVATE);
	assert_int_equal(least.class, DIF_CLASS_ISA);
	assert_true(dif_attribute_below(a, b));
	assert_true(dif_attribute_below(b, a));
	assert_false(dif_attribute_below(a, a));
	assert_false(dif_attribute_below(a, least));
	assert_true(dif_attribute_below(least, a));
}

static void versions(void **state)
{
	static const char *const bad[] = { "",    "1",   "1.",    "1.2.",   "1.2.3.4",
					   "a.b", "1.x", "256.0", "1.4096", "1.2 " };
	uint32_t v;
	(void)state;

	assert_true(dif_version_parse("1.12.1", &v));
	assert_int_equal(v, DIF_VERSION(1, 12, 1));
	assert_true(dif_version_exists(v));
	assert_true(dif_version_parse("1.0", &v));
	assert_true(dif_version_exists(v));
	assert_true(dif_version_exists(DIF_VERSION_LATEST));
	assert_true(dif_version_parse("1.99", &v));
	assert_false(dif_version_exists(v));
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		assert_false(dif_version_parse(bad[i], &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
