/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the verifier's rules a test file lets pass and which it breaks. A test says which rules it is
 * about; what it then expects to verify, or not, counts for those. The last test holds the count against the
 * numbered list at the head of the verifier's source, which VERIFIER_SOURCE names.
 */
#ifndef TESTS_UNIT_DIF_RULES_H
#define TESTS_UNIT_DIF_RULES_H

#include <stdio.h>

#include "tests/unit/dif_fixture.h"

#define RULES_MAX 64u

static struct {
	unsigned first, last; /* the rules that the running test is about */
	bool passed[RULES_MAX], broken[RULES_MAX];
} rules;

static inline void about(unsigned first, unsigned last)
{
	rules.first = first;
	rules.last = last;
}

/* The verifier's verdict must be @rule ("rule 5 "), or NULL: no error. */
static inline void rule_expect(struct ot_err *err, const char *rule)
{
	if (!rule) {
		fx_no_error(err);
		for (unsigned i = rules.first; i && i <= rules.last; i++)
			rules.passed[i] = true;
		return;
	}
	fx_error(err, OT_ERR_BAD_DATA, rule);
	unsigned number = (unsigned)strtoul(rule + strlen("rule "), NULL, 10);
	assert_true(number < RULES_MAX);
	if (number >= rules.first && number <= rules.last)
		rules.broken[number] = true;
}

/* Each rule that the source lists was let pass and broken; each that the code names is listed. */
static inline void every_rule_has_both(void **state)
{
	bool listed[RULES_MAX] = { false };
	unsigned count = 0, number;
	FILE *fp = fopen(VERIFIER_SOURCE, "r");
	char line[256];
	(void)state;

	assert_non_null(fp);
	while (fgets(line, sizeof(line), fp)) {
		const char *use = strstr(line, "BAD(");
		use = use ? use : strstr(line, "bad(");
		if (sscanf(line, " *   %u  %*[^0-9]", &number) == 1 && number < RULES_MAX) {
			listed[number] = true;
			count++;
		} else if (use && sscanf(use + 4, "%u,", &number) == 1) {
			if (number >= RULES_MAX || !listed[number])
				fail_msg("rule %u is not in the list", number);
		}
	}
	fclose(fp);
	assert_true(count >= 15);
	for (number = 0; number < RULES_MAX; number++)
		if (listed[number] && (!rules.passed[number] || !rules.broken[number]))
			fail_msg("rule %u has no %s test", number,
				 rules.passed[number] ? "negative" : "positive");
}

#endif
