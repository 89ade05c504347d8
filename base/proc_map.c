/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing a line of /proc/PID/maps. */
#include "base/proc_map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ot_take_number(const char **p, int base, char end, uint64_t *ret)
{
	char *behind;

	if (!isxdigit((unsigned char)**p)) /* no space, no sign */
		return false;
	errno = 0;
	*ret = strtoull(*p, &behind, base);
	if (behind == *p || errno || *behind != end)
		return false;
	*p = behind + (end != '\0');
	return true;
}

bool ot_proc_map_parse(char *line, struct ot_proc_map *ret)
{
	struct ot_proc_map m = { 0 };
	const char *p = line;
	uint64_t major, minor;

	line[strcspn(line, "\n")] = '\0';
	if (!ot_take_number(&p, 16, '-', &m.start) || !ot_take_number(&p, 16, ' ', &m.end) ||
	    strnlen(p, 5) < 5 || p[4] != ' ')
		return false;
	memcpy(m.perms, p, 4);
	p += 5;
	if (!ot_take_number(&p, 16, ' ', &m.offset) || !ot_take_number(&p, 16, ':', &major) ||
	    !ot_take_number(&p, 16, ' ', &minor))
		return false;
	/* spaces behind the inode, and a name, are not always there */
	if (!ot_take_number(&p, 10, strchr(p, ' ') ? ' ' : '\0', &m.inode))
		return false;
	m.major = (uint32_t)major;
	m.minor = (uint32_t)minor;
	m.path = line + (p - line) + strspn(p, " ");
	*ret = m;
	return true;
}
