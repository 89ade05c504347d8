/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/engine/socket_path.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

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

/* A name that is in no file system (unix(7), abstract): whoever's uid it is, there is one, and it goes with
 * its last descriptor. */
struct ot_err *vp_vmm_claim(pid_t pid, int *ret_fd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int n = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "outsight-claim-%d", (int)pid);
	ot_auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return ot_err_os(errno, "socket");
	if (bind(fd, (struct sockaddr *)&addr, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n))) {
		if (errno == EADDRINUSE)
			return ot_err_new(
			    OT_ERR_BUSY,
			    "another outsight looks at process %d from beside it, or attaches to it",
			    (int)pid);
		return ot_err_os(errno, "the claim on process %d", (int)pid);
	}
	*ret_fd = ot_move_fd(fd);
	return NULL;
}
