/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of D text: script files, through cpp with -C, and the D libraries. */
#ifndef CONSUMER_SOURCE_H
#define CONSUMER_SOURCE_H

#include "base/buf.h"
#include "consumer/texts.h"

/** Read a script, run cpp on it under -C. OS, LIMIT: it can't be read. SYNTAX: cpp failed. */
OT_MUST_CHECK struct ot_err *con_source_read(const struct con_texts *texts, const char *path,
					     struct ot_buf *ret);

/** Give @p program, a script, its text: read in the same way, but once only, because it may come from a pipe
 * and be compiled for several kernels. */
OT_MUST_CHECK struct ot_err *con_source_script(const struct con_texts *texts, struct con_program *program);

/** Compile the D libraries: the system's, then those of -L, each after those it depends on. Their names and
 * options are for the texts that follow in @p prog; their clauses are not enabled. On a D error *ret_diag is
 * the error, *ret_path its file. */
OT_MUST_CHECK struct ot_err *con_libraries_compile(const struct con_texts *texts, struct dif_compiler *comp,
						   struct dif_program *prog, const struct dif_diag **ret_diag,
						   const char **ret_path);

#endif
