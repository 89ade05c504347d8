/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "ssh://[USER@]HOST/GUESTS", and "HOSTS/GUESTS" where a broker is named. */
#include <string.h>

#include "fleet/operator/internal.h"

static const char prefix[] = "ssh://";

bool fl_is_remote(const char *spec)
{
	return !strncmp(spec, prefix, strlen(prefix));
}

struct ot_err *fl_spec_parse(const char *spec, struct ot_arena *arena, const char **ret_host,
			     const char **ret_guests)
{
	const char *host = spec + strlen(prefix), *slash;

	if (!fl_is_remote(spec))
		return ot_err_new(OT_ERR_SYNTAX, "%s names no host: ssh://HOST/GUESTS does", spec);
	slash = strchr(host, '/');
	if (!slash || slash == host || !slash[1])
		return ot_err_new(OT_ERR_SYNTAX,
				  "%s: ssh://HOST/GUESTS names a host and, as -g does there, its "
				  "guests: ssh://h1/web01, 'ssh://h1/*'",
				  spec);
	if (slash[1] != '/' && strchr(slash + 1, '/')) /* a path is a socket's */
		return ot_err_new(OT_ERR_SYNTAX, "%s: a guest's name has no /", spec);
	if (strchr(slash + 1, ' '))
		return ot_err_new(OT_ERR_SYNTAX, "%s: a guest's name has no blank", spec);
	*ret_host = ot_arena_strndup(arena, host, (size_t)(slash - host));
	*ret_guests = ot_arena_strdup(arena, slash + 1);
	return *ret_host && *ret_guests ? NULL : ot_err_nomem();
}

/* --- behind a broker -------------------------------------------------------------------------------------- */

bool fl_is_behind_broker(const char *spec)
{
	const char *slash = strchr(spec, '/');

	/* neither a socket's path nor "gdb:…" or "dump:…" */
	return slash && slash != spec && slash[1] && !strchr(slash + 1, '/') && !strpbrk(spec, ": ") &&
	       *spec != '.';
}

struct ot_err *fl_spec_want(struct fl_fleet *fleet, const char *spec)
{
	const char *slash = strchr(spec, '/');

	if (!fl_is_behind_broker(spec))
		return ot_err_new(OT_ERR_SYNTAX,
				  "%s: HOSTS/GUESTS names hosts and guests of theirs: 'h*/web*'", spec);
	if (fleet->nwanted == FL_WANTED_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u -g of other hosts", FL_WANTED_MAX);
	struct fl_wanted *w = &fleet->wanted[fleet->nwanted];
	w->hosts = ot_arena_strndup(&fleet->arena, spec, (size_t)(slash - spec));
	w->guests = ot_arena_strdup(&fleet->arena, slash + 1);
	if (!w->hosts || !w->guests)
		return ot_err_nomem();
	fleet->nwanted++;
	return NULL;
}
