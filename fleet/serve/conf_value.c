/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of serve.conf. */
#include "fleet/serve/conf_value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

struct ot_err *fl_value_path(const struct fl_lines *lines, const char **ret)
{
	if (lines->words[1][0] != '/')
		return fl_lines_error(lines, "%s: %s is not an absolute path", lines->words[0],
				      lines->words[1]);
	*ret = lines->words[1];
	return NULL;
}

/* A number and its suffix. */
static bool split(const char *text, uint64_t *ret, const char **unit)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);

	*ret = v;
	*unit = end;
	return !errno;
}

struct ot_err *fl_value_number(const struct fl_lines *lines, uint32_t least, uint32_t most, uint32_t *ret)
{
	const char *unit;
	uint64_t v;

	if (!split(lines->words[1], &v, &unit) || *unit || v < least || v > most)
		return fl_lines_error(lines, "%s: %s is not a number from %u to %u", lines->words[0],
				      lines->words[1], least, most);
	*ret = (uint32_t)v;
	return NULL;
}

struct ot_err *fl_value_yes(const struct fl_lines *lines, bool *ret)
{
	bool yes = !strcmp(lines->words[1], "yes");

	if (!yes && strcmp(lines->words[1], "no") != 0)
		return fl_lines_error(lines, "%s: %s is neither yes nor no", lines->words[0],
				      lines->words[1]);
	*ret = yes;
	return NULL;
}

struct ot_err *fl_value_percent(const struct fl_lines *lines, uint32_t *ret)
{
	const char *unit;
	uint64_t v;

	if (!split(lines->words[1], &v, &unit) || (*unit && strcmp(unit, "%") != 0) || v < 1 || v > 100)
		return fl_lines_error(lines, "%s: %s is not a share from 1%% to 100%%", lines->words[0],
				      lines->words[1]);
	*ret = (uint32_t)v;
	return NULL;
}

struct ot_err *fl_value_seconds(const struct fl_lines *lines, uint32_t *ret)
{
	const char *unit;
	uint64_t v, ns;

	if (!split(lines->words[1], &v, &unit) || !strcasecmp(unit, "hz") || !ot_time_ns(v, unit, "s", &ns) ||
	    ns < OT_NS_PER_SEC || ns / OT_NS_PER_SEC > UINT32_MAX)
		return fl_lines_error(lines, "%s: %s is not a time of a second or more, such as 90s, 10m, 1h",
				      lines->words[0], lines->words[1]);
	*ret = (uint32_t)(ns / OT_NS_PER_SEC);
	return NULL;
}

struct ot_err *fl_value_bytes(const struct fl_lines *lines, uint64_t *ret)
{
	static const char units[] = "kmg";
	const char *unit, *found;
	unsigned shift = 0;
	uint64_t v;

	if (!split(lines->words[1], &v, &unit))
		goto bad;
	if (*unit) {
		found = strchr(units, tolower((unsigned char)*unit));
		if (!found || unit[1])
			goto bad;
		shift = 10 * (unsigned)(found - units + 1);
	}
	if (!v || v > UINT64_MAX >> shift)
		goto bad;
	*ret = v << shift;
	return NULL;
bad:
	return fl_lines_error(lines, "%s: %s is not a number of bytes, such as 500000, 64k, 1m",
			      lines->words[0], lines->words[1]);
}

struct ot_err *fl_value_patterns(const struct fl_lines *lines, struct ot_arena *arena,
				 struct fl_patterns *ret)
{
	size_t n = lines->nwords - 1;
	const char **items = ot_arena_alloc(arena, n * sizeof(*items));

	if (!items)
		return ot_err_nomem();
	for (size_t i = 0; i < n; i++)
		items[i] = lines->words[i + 1];
	*ret = (struct fl_patterns){ items, n };
	return NULL;
}

/* @host: numeric, because others control what a name resolves to. */
static bool parse_address(const char *host, size_t len, bool brackets, uint16_t port, union fl_address *ret)
{
	char text[INET6_ADDRSTRLEN];

	if (len >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)len, host);
	memset(ret, 0, sizeof(*ret));
	if (brackets) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		return inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	return inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1;
}

struct ot_err *fl_value_address(const struct fl_lines *lines, union fl_address *ret)
{
	const char *text = lines->words[1], *colon = strrchr(text, ':'), *unit;
	const char *host = colon ? text : "127.0.0.1";
	size_t len = colon ? (size_t)(colon - text) : strlen(host);
	bool brackets = len > 2 && host[0] == '[' && host[len - 1] == ']';
	uint64_t port;

	if (!split(colon ? colon + 1 : text, &port, &unit) || *unit || port > UINT16_MAX ||
	    !parse_address(host + brackets, len - 2 * brackets, brackets, (uint16_t)port, ret))
		return fl_lines_error(lines, "%s: %s is neither a port nor ADDRESS:PORT, [ADDRESS]:PORT",
				      lines->words[0], text);
	return NULL;
}
