/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of a process's probes: a provider that ends with a number, "pid123" before all. There is no
 * such provider here, but an error in the description itself, or about the process, is reported as if there
 * were.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dif/lang/check/sugar.h"
#include "dif/lang/types/world.h"

static bool is_pattern(const char *s)
{
	return !*s || strpbrk(s, "*?[\\");
}

/* The digits that end @provider; NULL: none, or there is a pattern in front of them. */
static const char *pid_digits(const char *provider)
{
	const char *p = provider + strlen(provider);

	while (p > provider && isdigit((unsigned char)p[-1]))
		p--;
	return *p && p > provider && !is_pattern(provider) ? p : NULL;
}

/* entry, return, or an offset in hexadecimal. */
static bool name_ok(const char *name)
{
	char *end;

	if (is_pattern(name) || !strcmp(name, "entry") || !strcmp(name, "return") || !strcmp(name, "-"))
		return true;
	strtoull(name, &end, 16);
	return !*end;
}

/* The pid provider's errors about the fields. */
static bool check_fields(struct dif_compiler *c, const struct dif_probedesc *desc, uint32_t line)
{
	if (!strcmp(desc->function, "-")) {
		if (is_pattern(desc->module))
			return dif_fail(c, DIF_D_PROC_LIB, line,
					"no library specified for probe with function '-'");
		if (is_pattern(desc->name) || !isxdigit((unsigned char)*desc->name))
			return dif_fail(c, DIF_D_PROC_NAME, line,
					"only individual address probes allowed with function '-'");
	}
	if (!name_ok(desc->name))
		return dif_fail(c, DIF_D_PROC_NAME, line, "invalid probe name: %s", desc->name);
	return true;
}

void dif_hint_target(struct dif_compiler *c)
{
	dif_hint(c, "$target is the process that -p or -W names; without them it is 0");
}

bool dif_check_process(struct dif_compiler *c, const struct dif_probedesc *desc, uint32_t line)
{
	const char *digits = desc->id ? NULL : pid_digits(desc->provider);
	long long pid;

	if (!c->world->has_process)
		return true;
	if (!desc->id && !strcmp(desc->provider, "user"))
		return check_fields(c, desc, line) &&
		       dif_fail(c, DIF_D_PROC_NODEV, line, "user provider is not installed on this system");
	if (!digits)
		return true;
	pid = strlen(digits) > 10 ? 0 : strtoll(digits, NULL, 10);
	if (pid <= 0 || pid > INT32_MAX) {
		dif_fail(c, DIF_D_PROC_BADPID, line, "%s contains an invalid pid", desc->provider);
		dif_hint_target(c);
		return false;
	}
	if (!c->world->has_process(c->world->env, pid))
		return dif_fail(c, DIF_D_PROC_GRAB, line, "failed to grab process %lld", pid);
	/* another provider may appear with a program that has one: that is not an error, but has no probes */
	if (strncmp(desc->provider, "pid", 3) != 0 || desc->provider + 3 != digits)
		return true;
	return check_fields(c, desc, line) &&
	       dif_fail(c, DIF_D_PROC_NODEV, line, "pid provider is not installed on this system");
}
