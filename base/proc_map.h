/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of /proc/PID/maps, and the numbers that such files are made of. */
#ifndef OT_BASE_PROC_MAP_H
#define OT_BASE_PROC_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct ot_proc_map {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	char perms[5]; /* "rw-p" */
	char *path;    /* in the line that was parsed; "" when there is none */
};

/** Take a number without sign in @p base from *p, with character @p end behind it (0: the text's end), and
 * move *p behind both. False: there is none; *p is undefined. */
bool ot_take_number(const char **p, int base, char end, uint64_t *ret);

/** @p line as proc(5) has it, with or without its newline, which is cut off. False: it is no such line. */
bool ot_proc_map_parse(char *line, struct ot_proc_map *ret);

#endif
