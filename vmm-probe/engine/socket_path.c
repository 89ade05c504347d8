/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/engine/socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MAX_LEN 16 /* of /PID.sock */

struct ot_err *vp_socket_dir(char *ret, size_t size)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	int n = base && *base == '/' ? snprintf(ret, size, "%s/outsight", base)
				     : snprintf(ret, size, VP_SOCKET_SYSTEM_DIR);

	if (n < 0 || (size_t)n + NAME_MAX_LEN >= size)
		return ot_err_new(OT_ERR_LIMIT, "XDG_RUNTIME_DIR is too long a path for a socket in it");
	return NULL;
}

struct ot_err *vp_socket_dir_make(char *ret, size_t size)
{
	OT_TRY(vp_socket_dir(ret, size));
	if (mkdir(ret, 0700) && errno != EEXIST)
		return ot_err_os(errno, "%s can't be made", ret);
	return NULL;
}

struct ot_err *vp_socket_path(pid_t pid, char *ret, size_t size)
{
	OT_TRY(vp_socket_dir(ret, size));
	size_t len = strlen(ret);
	snprintf(ret + len, size - len, "/%d.sock", (int)pid);
	return NULL;
}

struct ot_err *vp_socket_path_libvirt(const char *cache_home, char *ret, size_t size)
{
	static const char cache[] = "/.cache";
	size_t len = cache_home ? strlen(cache_home) : 0, n = strlen(cache);

	if (len <= n || *cache_home != '/' || strcmp(cache_home + len - n, cache) != 0)
		return ot_err_new(OT_ERR_NOT_FOUND, "libvirt gave this QEMU no directory of its own");
	int written = snprintf(ret, size, "%.*s/outsight.sock", (int)(len - n), cache_home);
	if (written < 0 || (size_t)written >= size)
		return ot_err_new(OT_ERR_LIMIT,
				  "the domain's directory is too long a path for a socket in it");
	return NULL;
}
