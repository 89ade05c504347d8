/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile-N fires on every vCPU, tick-N once a session; N is a rate, or a time with a unit. A few exist from
 * the start; any other is created when a description names it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/near.h"
#include "base/units.h"
#include "vmm-probe/provider/parsed_name.h"
#include "vmm-probe/provider/profile_name.h"
#include "vmm-probe/provider/providers.h"

#define MIN_INTERVAL_NS 200000ull

bool vp_profile_parse(const char *name, bool *ret_tick, uint64_t *ret_ns)
{
	bool tick = !strncmp(name, "tick-", 5);
	uint64_t n, ns;

	if (tick)
		name += 5;
	else if (!strncmp(name, "profile-", 8))
		name += 8;
	else
		return false;
	if (!vp_parsed_name_number(&name, &n) || n == 0)
		return false;
	if (!ot_time_ns(n, name, "hz", &ns) || ns < MIN_INTERVAL_NS)
		return false;
	*ret_tick = tick;
	*ret_ns = ns;
	return true;
}

/* The word "tick" or "profile" that @name begins with, perhaps misspelt; *ret_rest is the text after the
 * hyphen. */
static const char *timer_word(const char *name, const char **ret_rest)
{
	const char *hyphen = strchr(name, '-');
	struct ot_near near;
	char word[16];

	if (!hyphen || (size_t)(hyphen - name) >= sizeof(word) || hyphen[1] < '0' || hyphen[1] > '9')
		return NULL;
	snprintf(word, sizeof(word), "%.*s", (int)(hyphen - name), name);
	ot_near_init(&near, word);
	ot_near_offer(&near, "tick");
	ot_near_offer(&near, "profile");
	*ret_rest = hyphen + 1;
	return ot_near_best(&near);
}

bool vp_profile_hint(const char *name, struct ot_buf *out)
{
	const char *rest = NULL, *unit, *word = timer_word(name, &rest);
	uint64_t n, ns;

	if (!word)
		return false;
	unit = rest;
	if (!vp_parsed_name_number(&unit, &n))
		ot_buf_printf(out, "%s is too large a number", rest);
	else if (!n)
		ot_buf_printf(out, "0 is no interval: %s-1s is one", word);
	else if (!ot_time_ns(n, unit, "hz", &ns))
		ot_buf_printf(out, "a number's unit is hz, ns, us, ms, s, m, h or d: %s-10ms", word);
	else if (ns < MIN_INTERVAL_NS)
		ot_buf_printf(out, "the shortest interval is %lluus, which is %lluhz: %s-%lluus",
			      MIN_INTERVAL_NS / 1000, OT_NS_PER_SEC / MIN_INTERVAL_NS, word,
			      MIN_INTERVAL_NS / 1000);
	else
		ot_buf_printf(out, "did you mean %s-%s?", word, rest);
	return true;
}

/* A probe's own data. */
struct timer {
	uint64_t interval_ns;
};

/* @p name must be valid and live as long as the registry. */
static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, const char *name)
{
	struct timer *own = vp_probes_alloc(probes, sizeof(*own));
	struct vp_probe probe = { .name = name, .module = "", .function = "", .own = own };
	bool tick;

	if (!own)
		return ot_err_nomem();
	if (!vp_profile_parse(name, &tick, &own->interval_ns))
		return ot_err_new(OT_ERR_INTERNAL, "%s is no profile probe", name);
	probe.kind = tick ? VP_PROBE_HOST : VP_PROBE_PROFILE;
	probe.args = tick ? VP_ARGS_NONE : VP_ARGS_PROFILE;
	return vp_probes_add(probes, self, &probe);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	static const char *const predefined[] = {
		"profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
		"profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
		"tick-500",     "tick-1000",    "tick-5000",
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(predefined); i++)
		OT_TRY(add(probes, self, predefined[i]));
	return NULL;
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	bool tick;
	uint64_t ns;
	char *name;

	if (!vp_parsed_name_is_new(probes, self, desc) || !vp_profile_parse(desc->name, &tick, &ns))
		return NULL;
	name = vp_probes_strdup(probes, desc->name);
	return name ? add(probes, self, name) : ot_err_nomem();
}

static void fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	const struct timer *own = probe->own;

	bp->interval_ns = own->interval_ns;
}

const struct vp_provider vp_provider_profile = {
	.name = "profile",
	.publish = publish,
	.provide = provide,
	.fill = fill,
};
