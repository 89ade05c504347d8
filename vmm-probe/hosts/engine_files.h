/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that carry the engine into a VMM: in $OUTSIGHT_PLUGIN_DIR, else where ot_installed_library()
 * finds them. */
#ifndef VP_HOSTS_ENGINE_FILES_H
#define VP_HOSTS_ENGINE_FILES_H

#include <stddef.h>

#include "base/err.h"

/** QEMU's plugin. NOT_FOUND; LIMIT: the path is longer than @p size. */
OT_MUST_CHECK struct ot_err *vp_plugin_file(char *ret, size_t size);

/** The library that is injected into a VMM, or preloaded. Errors as above. */
OT_MUST_CHECK struct ot_err *vp_hook_file(char *ret, size_t size);

/** Both, without symbolic links; the strings are the caller's to free. */
struct vp_engine_files {
	char *plugin, *hook;
};
OT_MUST_CHECK struct ot_err *vp_engine_files_find(struct vp_engine_files *ret);
void vp_engine_files_deinit(struct vp_engine_files *files);

#endif
