/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of D's functions as tables. */
#include "dif/obj/functions.h"

#include "base/compiler.h"
#include "dif/obj/names.h"

const struct dif_function dif_subrs[] = {
#define X(num, fn, res, req, opt, version, stab, tr, evaluation, low) \
	{ .name = #fn,                                                \
	  .id = num,                                                  \
	  .result = res,                                              \
	  .required = req,                                            \
	  .optional = opt,                                            \
	  .since = version,                                           \
	  .stability = DIF_NAME_##stab,                               \
	  .trait = DIF_TRAIT_##tr,                                    \
	  .lowering = DIF_LOWER_##low },
	DIF_SUBRS(X)
#undef X
};

const struct dif_function dif_action_names[] = {
#define X(fn, kind, var, res, req, opt, version, stab, low) \
	{ .name = #fn,                                      \
	  .id = DIF_ACT_##kind,                             \
	  .variant = DIF_LIBACT_##var,                      \
	  .result = res,                                    \
	  .required = req,                                  \
	  .optional = opt,                                  \
	  .since = version,                                 \
	  .stability = DIF_NAME_##stab,                     \
	  .lowering = DIF_LOWER_##low },
	DIF_ACTION_NAMES(X)
#undef X
};

const struct dif_function dif_aggs[] = {
#define X(num, fn, req, opt, version, stab, low) \
	{ .name = #fn,                           \
	  .id = num,                             \
	  .result = "void",                      \
	  .required = req,                       \
	  .optional = opt,                       \
	  .since = version,                      \
	  .stability = DIF_NAME_##stab,          \
	  .lowering = DIF_LOWER_##low },
	DIF_AGGS(X)
#undef X
};

const size_t dif_nsubrs = OT_ARRAY_SIZE(dif_subrs);
const size_t dif_naction_names = OT_ARRAY_SIZE(dif_action_names);
const size_t dif_naggs = OT_ARRAY_SIZE(dif_aggs);

/* Places in dif_subrs[]. */
enum {
#define X(num, name, ...) AT_##name,
	DIF_SUBRS(X)
#undef X
};

const struct dif_function *dif_subr_find(unsigned subr)
{
	switch (subr) {
#define X(num, name, ...) \
	case num:         \
		return &dif_subrs[AT_##name];
		DIF_SUBRS(X)
#undef X
	}
	return NULL;
}
