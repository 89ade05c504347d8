/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame.html, as the build has put it into the program. */
#ifndef CLI_OUTPUT_FLAME_PAGE_H
#define CLI_OUTPUT_FLAME_PAGE_H

/* The page, NUL-terminated; its rows go where it has "@ROWS@". */
extern const char cli_flame_page[];

#endif
