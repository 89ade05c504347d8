/* SPDX-License-Identifier: GPL-2.0-or-later */
/* if and else, and descriptions of processes' probes: the checks of a clause before those of its
 * expressions. */
#ifndef DIF_LANG_CHECK_SUGAR_H
#define DIF_LANG_CHECK_SUGAR_H

#include "dif/lang/syntax/ast.h"

/* A piece of a clause without ifs: what becomes one struct dif_clause. */
struct dif_piece {
	struct dif_node *predicate;
	struct dif_node *body;
	struct dif_piece *next;
};

/** Cut a clause at its ifs. NULL after an error. */
struct dif_piece *dif_sugar(struct dif_compiler *c, struct dif_node *predicate, struct dif_node *body);

/** process.c: raise the error (D_PROC_*) of a description of a process's probes that matches nothing. True:
 * it is no such description, or there is no error. */
bool dif_check_process(struct dif_compiler *c, const struct dif_probedesc *desc, uint32_t line);
/** The hint to D_PROC_BADPID. */
void dif_hint_target(struct dif_compiler *c);

#endif
