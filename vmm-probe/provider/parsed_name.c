/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses numbers in the names of probes: see parsed_name.h. */
#include "vmm-probe/provider/parsed_name.h"

bool vp_parsed_name_number(const char **text, uint64_t *ret)
{
	const char *p = *text;
	uint64_t n = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	*text = p;
	*ret = n;
	return true;
}

/* Does a description's field match the empty string, which all these probes have there? */
static bool matches_empty(const char *pattern)
{
	return !pattern || dif_glob_match(pattern, "");
}

bool vp_parsed_name_is_new(struct vp_probes *probes, const struct vp_provider *self,
			   const struct dif_probedesc *desc)
{
	return desc->name && matches_empty(desc->module) && matches_empty(desc->function) &&
	       !vp_probes_has(probes, self, desc->name);
}
