/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A clause uses a name: the effect on the clause's stability, and -x amin. */
#include "dif/lang/check/cook.h"

bool dif_use(struct dif_compiler *c, struct dif_attribute attr, const char *what, const char *name,
	     uint32_t line)
{
	if (!c->clause->desc || c->clause->hide_uses)
		return true;
	c->out.used = dif_attribute_min(c->out.used, attr);
	if (!c->opts->has_amin || !dif_attribute_below(attr, c->opts->amin))
		return true;
	return dif_fail(
	    c, DIF_D_ATTR_MIN, line, "attributes for %s %s (%s/%s/%s) are less than predefined minimum", what,
	    name, dif_stability_text(attr.name), dif_stability_text(attr.data), dif_class_text(attr.class));
}

bool dif_use_ident(struct dif_compiler *c, const struct dif_ident *id, uint32_t line)
{
	const char *what = "scalar";

	if (id->kind == DIF_ID_PARAM)
		return true; /* its text counts */
	if (id->func)
		what = id->kind == DIF_ID_AGGFUNC ? "aggregating function" : "function";
	else if (id->is_array)
		what = "array";
	else if (id->kind == DIF_ID_CONST)
		what = "enumerator";
	return dif_use(c, id->attr, what, id->name, line);
}
