/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that C, bpftrace, SystemTap and other systems' DTraces have, and D here does not. */
#ifndef DIF_LANG_TYPES_ELSEWHERE_H
#define DIF_LANG_TYPES_ELSEWHERE_H

#include <stdbool.h>

/** What is written here in place of function (@p is_function) or variable @p name: a sentence without its
 * full stop; NULL: it is not known from elsewhere. */
const char *dif_name_elsewhere(const char *name, bool is_function);

#endif
