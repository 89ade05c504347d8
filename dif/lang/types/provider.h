/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `provider name { probe … };`: what a program declares for the probes of an application, for -h. */
#ifndef DIF_LANG_TYPES_PROVIDER_H
#define DIF_LANG_TYPES_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dif/lang/core/stability.h"

struct dif_compiler;
struct dif_provider;

/** The @p i-th provider declared, in order; borrowed from the compiler. NULL: behind the last. */
const struct dif_provider *dif_compiler_provider(const struct dif_compiler *comp, size_t i);

const char *dif_provider_name(const struct dif_provider *provider);

/** The name of its @p i-th probe as written ("__" has not become "-"). NULL: behind the last. */
const char *dif_provider_probe(const struct dif_provider *provider, size_t i);

uint32_t dif_provider_nargs(const struct dif_provider *provider, size_t i);

/** Append the type of argument @p n < nargs of probe @p i as C has it: a string is a char *. */
void dif_provider_arg(struct dif_compiler *comp, const struct dif_provider *provider, size_t i, uint32_t n,
		      struct ot_buf *out);

/** The attributes of `#pragma D attributes … provider NAME PART` in this session; false: none. */
bool dif_compiler_provider_attribute(const struct dif_compiler *comp, const char *provider,
				     enum dif_attr_part part, struct dif_attribute *ret);

#endif
