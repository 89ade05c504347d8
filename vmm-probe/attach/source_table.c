/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of sources, see vmm-probe/backend/source.h: one line each, which names its ops vp_NAME_source. */
#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/attach/internal.h"

#define SOURCES(X) \
	X(dump)    \
	X(gdb)     \
	X(peek)

#define DECLARE(name) extern const struct vp_source_ops vp_##name##_source;
#define REFER(name)   &vp_##name##_source,

SOURCES(DECLARE)

static const struct vp_source_ops *const sources[] = { SOURCES(REFER) };

const struct vp_source_ops *vp_source_find(const char *name, const char **ret_where)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(sources); i++) {
		size_t len = strlen(sources[i]->prefix);

		if (strncmp(name, sources[i]->prefix, len) != 0)
			continue;
		*ret_where = name + len;
		return sources[i];
	}
	return NULL;
}
