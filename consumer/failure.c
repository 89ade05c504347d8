/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason why a compilation failed, in words: for the command's messages, and for an operator on another
 * host. */
#include "consumer/compile.h"

/* An error of D. */
static void print_diag(const struct con_failure *failure, bool errtags, struct ot_buf *out)
{
	const struct dif_source *src = failure->in_source ? &failure->source : NULL;
	struct dif_diag shown = *failure->diag;

	/* dtrace numbers the lines of files only */
	if (src && src->kind == DIF_SOURCE_COMMAND_LINE && !shown.file)
		shown.line = 0;
	ot_buf_printf(out, "%s: ", failure->context ? failure->context : "D");
	dif_diag_print(&shown, errtags, out);
}

void con_failure_print(const struct con_failure *failure, const struct ot_err *err, bool errtags,
		       struct ot_buf *out)
{
	if (failure->diag)
		print_diag(failure, errtags, out);
	else if (failure->context)
		ot_buf_printf(out, "%s: %s", failure->context, ot_err_message(err));
	else
		ot_buf_puts(out, ot_err_message(err));
}
