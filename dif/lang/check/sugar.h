/* SPDX-License-Identifier: GPL-2.0-or-later */
/* if and else, and descriptions of processes' probes: what a clause is checked for before its expressions. */
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

/** process.c: whether a description that matches nothing is one of a process's probes, and what is wrong
 * with it then (D_PROC_*); true: it is not, or nothing is. */
bool dif_check_process(struct dif_compiler *c, const struct dif_probedesc *desc, uint32_t line);
/** The hint to D_PROC_BADPID. */
void dif_hint_target(struct dif_compiler *c);

#endif
