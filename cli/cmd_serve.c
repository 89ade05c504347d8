/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight serve: runs outsight-serve, a separate program, which lets operators on other machines trace this
 * host's guests. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"
#include "cli/commands.h"
#include "consumer/messages.h"

#define PROGRAM "outsight-serve"

int cli_cmd_serve(int argc, char **argv)
{
	char path[4096];

	(void)argc;
	if (!ot_installed_program(PROGRAM, path, sizeof(path)))
		return con_fail(ot_err_new(OT_ERR_NOT_FOUND, "this program's own folder is not known"),
				"serve");
	argv[0] = path;
	execv(path, argv);
	if (errno == ENOENT)
		return con_fail(ot_err_new(OT_ERR_UNSUPPORTED,
					   "%s is not installed here (Debian: apt install outsight-serve)",
					   PROGRAM),
				"serve");
	return con_fail(ot_err_os(errno, "%s", path), "serve");
}
