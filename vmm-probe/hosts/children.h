/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short queries, each in a child process of its own: several at once, each killed after a deadline. */
#ifndef VP_HOSTS_CHILDREN_H
#define VP_HOSTS_CHILDREN_H

#include <stddef.h>
#include <stdint.h>

#define VP_CHILDREN_ANSWER 256u /* bytes of an answer, with its NUL */

/**
 * Run @p n queries, at most @p at_once of them at a time. @p ask runs in a child with the number of its
 * query, and stores the answer, a string, in @p ret ("" before). answers[i] is the i-th answer, "" if there
 * was none within @p ms of its start, or no child. One thread at a time; the caller's own memory does not
 * change.
 */
void vp_children_ask(size_t n, size_t at_once, uint32_t ms,
		     void (*ask)(void *arg, size_t i, char ret[VP_CHILDREN_ANSWER]), void *arg,
		     char (*answers)[VP_CHILDREN_ANSWER]);

#endif
