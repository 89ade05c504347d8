/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guard of a command's own standard streams; a library has none. */
#include <stdlib.h>
#include <unistd.h>

#include "consumer/terminal.h"

void con_terminal_guard_all(void)
{
	FILE *out = con_terminal_guard(stdout),
	     *err = isatty(STDERR_FILENO) ? con_terminal_guard(stderr) : stderr;

	if (!out || !err)
		abort(); /* before any work, for lack of a few bytes */
	if (err != stderr)
		setvbuf(err, NULL, _IONBF, 0);
	stdout = out;
	stderr = err;
}
