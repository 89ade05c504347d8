/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translators: how one struct's members are had from another's. */
#ifndef DIF_LANG_CHECK_XLATE_H
#define DIF_LANG_CHECK_XLATE_H

#include "dif/lang/core/compiler.h"

struct dif_xlmember {
	const char *name;
	struct dif_node *expr; /* not cooked */
	uint32_t line;
	struct dif_xlmember *next;
};

struct dif_xlator {
	struct dif_type *in, *out; /* out: the struct or union */
	const char *param;
	struct dif_xlmember *members;
	struct dif_xlator *next;
};

#endif
