/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operators' rights: matches names with the patterns of serve.conf. */
#include "fleet/serve/policy.h"

#include <string.h>

#include "dif/obj/program.h"

static bool matches(const struct fl_patterns *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!strcmp(patterns->items[i], "all") || dif_glob_match(patterns->items[i], name))
			return true;
	return false;
}

bool fl_policy_guest(const struct fl_conf_operator *operator, const char * name)
{
	return matches(&operator->guests, name);
}

bool fl_policy_provider(const struct fl_conf_operator *operator, const char * provider)
{
	return !strcmp(provider, "dtrace") || matches(&operator->providers, provider);
}

static bool guest(void *arg, const char *name)
{
	return fl_policy_guest(arg, name);
}

static bool provider(void *arg, const char *name)
{
	return fl_policy_provider(arg, name);
}

struct fl_rights fl_policy_rights(const struct fl_conf_operator *operator)
{
	return (struct fl_rights){
		.guest = guest,
		.provider = provider,
		/* the callbacks only read it */
		.arg = (void *)(uintptr_t) operator,
		.destructive = operator->destructive,
		.user_memory = operator->user_memory,
		.maxcost = operator->maxcost,
		.ttl_s = operator->ttl_s,
		.bytes_per_s = operator->bytes_per_s,
	};
}
