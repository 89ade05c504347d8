/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Globs of probe descriptions. Only the last star is retried, which suffices because a later star can match
 * anything that an earlier one could have left. So time is bounded by pattern × text.
 */
#include <string.h>

#include "dif/obj/program.h"

bool dif_glob_is_pattern(const char *pattern)
{
	return strpbrk(pattern, "*?[\\") != NULL;
}

/* Match the set whose '[' is at @p; *end becomes the position after its ']'. Without a ']' it is an ordinary
 * '['. */
static bool match_set(const char *p, char c, const char **end)
{
	const char *q = p + 1;
	bool negate = *q == '!', found = false;

	if (negate)
		q++;
	for (bool first = true; *q && (first || *q != ']'); first = false) {
		if (*q == '\\' && q[1])
			q++;
		char lo = *q++, hi = lo;
		if (*q == '-' && q[1] && q[1] != ']') {
			q++;
			if (*q == '\\' && q[1])
				q++;
			hi = *q++;
		}
		if ((unsigned char)lo <= (unsigned char)c && (unsigned char)c <= (unsigned char)hi)
			found = true;
	}
	if (*q != ']') {
		*end = p + 1;
		return c == '[';
	}
	*end = q + 1;
	return found != negate;
}

/* Match one element of the pattern, other than a star, against @c. */
static bool match_one(const char *p, char c, const char **end)
{
	switch (*p) {
	case '?':
		*end = p + 1;
		return true;
	case '[':
		return match_set(p, c, end);
	case '\\':
		if (p[1])
			p++;
		break;
	}
	*end = p + 1;
	return *p == c;
}

bool dif_glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL, *end;

	if (!*pattern)
		return true;
	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (*pattern && match_one(pattern, *text, &end)) {
			pattern = end;
			text++;
		} else if (star) {
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
