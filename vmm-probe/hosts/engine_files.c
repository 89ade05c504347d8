/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the plugin and the library. */
#include "vmm-probe/hosts/engine_files.h"

#include <limits.h>
#include <stdlib.h>

#include "base/installed.h"
#include "vmm-probe/hook/control.h"

#define PLUGIN_LIBRARY "liboutsight-tcg.so"

static struct ot_err *find(const char *what, const char *file, char *ret, size_t size)
{
	const char *dir = getenv("OUTSIGHT_PLUGIN_DIR");

	if (ot_installed_library(file, ret, size))
		return NULL;
	if (dir && *dir)
		return ot_err_new(OT_ERR_NOT_FOUND, "the %s %s is not there (OUTSIGHT_PLUGIN_DIR is %s)",
				  what, file, dir);
	return ot_err_new(OT_ERR_NOT_FOUND, "the %s %s is not there (set OUTSIGHT_PLUGIN_DIR)", what, file);
}

struct ot_err *vp_plugin_file(char *ret, size_t size)
{
	return find("QEMU plugin", PLUGIN_LIBRARY, ret, size);
}

struct ot_err *vp_hook_file(char *ret, size_t size)
{
	return find("library", VP_HOOK_LIBRARY, ret, size);
}

struct ot_err *vp_engine_files_find(struct vp_engine_files *ret)
{
	struct vp_engine_files files = { 0 };
	char path[PATH_MAX];
	struct ot_err *err = vp_plugin_file(path, sizeof(path));

	if (!err)
		files.plugin = realpath(path, NULL);
	if (!err)
		err = vp_hook_file(path, sizeof(path));
	if (!err)
		files.hook = realpath(path, NULL);
	if (!err && (!files.plugin || !files.hook))
		err = ot_err_nomem();
	if (err)
		vp_engine_files_deinit(&files);
	else
		*ret = files;
	return err;
}

void vp_engine_files_deinit(struct vp_engine_files *files)
{
	free(files->plugin);
	free(files->hook);
	*files = (struct vp_engine_files){ 0 };
}
