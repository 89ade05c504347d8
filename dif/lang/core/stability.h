/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stability attributes (how much one may rely on a name, on what it means, and where it is
 * the same) and version bindings (since which version of D a name exists). Both are texts in
 * pragmas and options, and properties of every name.
 */
#ifndef DIF_LANG_CORE_STABILITY_H
#define DIF_LANG_CORE_STABILITY_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/* X(NAME, Text), from the least to the most stable. */
#define DIF_STABILITIES(X)                                                                           \
	X(INTERNAL, Internal) X(PRIVATE, Private) X(OBSOLETE, Obsolete) X(EXTERNAL, External)        \
	X(UNSTABLE, Unstable) X(EVOLVING, Evolving) X(STABLE, Stable) X(STANDARD, Standard)
#define DIF_CLASSES(X)                                                                               \
	X(UNKNOWN, Unknown) X(CPU, CPU) X(PLATFORM, Platform) X(GROUP, Group) X(ISA, ISA)            \
	X(COMMON, Common)
/* clang-format on */

enum {
#define X(name, text) DIF_STABILITY_##name,
	DIF_STABILITIES(X)
#undef X
};

enum {
#define X(name, text) DIF_CLASS_##name,
	DIF_CLASSES(X)
#undef X
};

struct dif_attribute {
	uint8_t name, data, class;
};

/* For names without attributes of their own. */
#define DIF_ATTRIBUTE_DEFAULT \
	((struct dif_attribute){ DIF_STABILITY_STABLE, DIF_STABILITY_STABLE, DIF_CLASS_COMMON })
/* The guest's own names and types: they may change at any time. */
#define DIF_ATTRIBUTE_PRIVATE \
	((struct dif_attribute){ DIF_STABILITY_PRIVATE, DIF_STABILITY_PRIVATE, DIF_CLASS_UNKNOWN })

/* Parts of a provider that have attributes of their own. */
enum dif_attr_part {
	DIF_ATTR_PROVIDER,
	DIF_ATTR_MODULE,
	DIF_ATTR_FUNCTION,
	DIF_ATTR_NAME,
	DIF_ATTR_ARGS,
	DIF_ATTR_PARTS
};

/** "Evolving", "ISA". */
const char *dif_stability_text(uint8_t stability);
const char *dif_class_text(uint8_t class);

/** "Name/Data/Class", in any case; false when it is not that. */
bool dif_attribute_parse(const char *text, struct dif_attribute *ret);
/** Field by field the lesser one. */
struct dif_attribute dif_attribute_min(struct dif_attribute a, struct dif_attribute b);
/** Is any field of @p a less than the same one of @p least? */
bool dif_attribute_below(struct dif_attribute a, struct dif_attribute least);

/* Versions as -V and __SUNW_D_VERSION count: major << 24 | minor << 12 | micro. */
#define DIF_VERSION(major, minor, micro) ((uint32_t)(major) << 24 | (minor) << 12 | (micro))
#define DIF_VERSION_LATEST               DIF_VERSION(1, 13, 0)

/** "1.2" or "1.2.1"; false when malformed or too large. */
bool dif_version_parse(const char *text, uint32_t *ret);
/** Was there ever such a version? */
bool dif_version_exists(uint32_t version);

#endif
