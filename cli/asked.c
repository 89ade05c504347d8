/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of a command line that need neither a guest nor the compiler. */
#include "cli/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/hints.h"
#include "consumer/messages.h"

int cli_check_asked(const struct cli_invocation *inv)
{
	if (inv->mode != CLI_MODE_TRACE || inv->nprograms || inv->load_dof || inv->compile_only ||
	    inv->opts.grabanon || inv->opts.zdefs)
		return CLI_GO_ON;
	con_error("no probes specified");
	cli_hint_words(inv);
	return CON_EXIT_ERROR;
}

static struct ot_err *check_readable(const char *path)
{
	return access(path, R_OK) ? ot_err_os(errno, "failed to open %s", path) : NULL;
}

/* The file is created when there is data to write. */
static struct ot_err *check_writable(const char *path)
{
	ot_auto_free char *dir = strdup(path);
	ot_auto_close int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);

	if (!dir)
		return ot_err_nomem();
	if (fd >= 0 || errno == ENXIO) /* a FIFO without a reader */
		return NULL;
	if (errno == ENOENT && !access(dirname(dir), W_OK | X_OK))
		return NULL;
	return ot_err_os(errno, "failed to open output file '%s'", path);
}

int cli_check_files(const struct cli_invocation *inv)
{
	struct ot_err *err = inv->load_dof ? check_readable(inv->load_dof) : NULL;

	for (size_t i = 0; !err && i < inv->nprograms; i++)
		if (inv->programs[i].is_script)
			err = check_readable(inv->programs[i].arg);
	if (!err && inv->out && inv->mode != CLI_MODE_HEADER)
		err = check_writable(inv->out);
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}
